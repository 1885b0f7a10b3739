/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd/commits.h"
#include "store/etcd/layout.h"
#include "store/etcd/wire.h"

#include <assert.h>
#include <string.h>

/* The first byte says what the others are: an answer of etcd's gateway, or a value of a key. */

static int on_entry(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    assert(entry->actor && entry->what && entry->nodes && entry->text && entry->about && entry->fields);
    return 0;
}

static bool on_commit(void *arg, struct store_change *c)
{
    uint64_t *revision = arg;
    assert(c->revision == ++*revision);
    change_destroy(c);
    return true;
}

/* What is read has its zeros, and lies in the answer's own memory. */
static void answer_check(struct wire_answer *a)
{
    for (size_t i = 0; i < a->n_found; i++)
        assert(a->found[i].first + a->found[i].n <= a->n_kvs);
    for (size_t i = 0; i < a->n_kvs; i++) {
        const struct wire_kv *kv = &a->kvs[i];
        assert(kv->key >= a->own.s && kv->key + strlen(kv->key) < a->own.s + a->own.cap);
        assert(!kv->value || (strlen(kv->value) == kv->len && kv->value + kv->len < a->own.s + a->own.cap));
    }
    wire_answer_fini(a);
}

/* The stream in two pieces. */
static void commits_feed(const char *bytes, size_t len)
{
    struct commits c;
    uint64_t revision = 0;
    commits_init(&c, 0);
    if (commits_take(&c, bytes, len / 2, on_commit, &revision, NULL) == 0)
        commits_take(&c, bytes + len / 2, len - len / 2, on_commit, &revision, NULL);
    assert(c.revision == revision);
    commits_fini(&c);
}

static void value_feed(const char *bytes, size_t len)
{
    CLEANUP_FREE char *text = mem_dup_len(bytes, len);
    const struct wire_kv kv = {"fettle/journal/00000000000000000001", text, strlen(text), 1, 1};
    char mark[LAYOUT_MARK_BYTES];
    struct layout_head head;
    struct layout_cluster cluster;
    struct layout_told told;
    uint64_t revision;
    layout_entries_read(&kv, 1, mark, on_entry, NULL, NULL);
    layout_head_read(&kv, &head, NULL);
    layout_cluster_read(&kv, &cluster, NULL);
    layout_told_read(&kv, &told, NULL);
    layout_journal_read(text, &revision, NULL);
}

static void others_feed(const char *bytes, size_t len)
{
    struct wire_status s;
    struct wire_member members[4];
    bool no_space, corrupt, definite;
    size_t n;
    struct err e = {0};
    wire_status_read(bytes, len, &s, NULL);
    assert(wire_members_read(bytes, len, members, 4, &n, NULL) < 0 || n <= 4);
    wire_alarms_read(bytes, len, &no_space, &corrupt, NULL);
    assert(wire_refusal(503, bytes, len, &definite, &e) == e.code && e.code < 0 && e.msg[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wire_answer a;
    if (size == 0)
        return 0;
    CLEANUP_FREE char *bytes = mem_dup_len((const char *)data + 1, size - 1);
    size_t len = size - 1;
    switch (data[0]) {
    case 't':
        if (wire_txn_read(bytes, len, &a, NULL) == 0)
            answer_check(&a);
        break;
    case 'r':
        if (wire_range_read(bytes, len, &a, NULL) == 0)
            answer_check(&a);
        break;
    case 'w': commits_feed(bytes, len); break;
    case 'v': value_feed(bytes, len); break;
    default: others_feed(bytes, len);
    }
    return 0;
}
