/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commits in etcd beside raw puts of the same size on the same member, which is the floor: one at a time, and
 * in full batches, each command with a record and an entry.
 * usage: bench-etcd ENDPOINTS ONE_AT_A_TIME BATCHES
 */
#include "store/etcd/client.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_BYTES = 200, TEXT_BYTES = 120 };

struct times {
    int64_t *ns, total;
    size_t n;
};

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void times_add(struct times *t, struct mono begun)
{
    int64_t ns = mono_sub(mono_now(), begun).ns;
    t->ns[t->n++] = ns;
    t->total += ns;
}

static void times_print(const char *name, struct times *t, size_t commands_each)
{
    qsort(t->ns, t->n, sizeof *t->ns, ascending);
    int64_t p50 = t->ns[t->n / 2], p99 = t->ns[t->n * 99 / 100];
    printf("\"%s\":{\"p50_us\":%.0f,\"p99_us\":%.0f,\"per_s\":%.0f}", name, (double)p50 / 1e3,
           (double)p99 / 1e3, (double)(t->n * commands_each) * 1e9 / (double)t->total);
    free(t->ns);
}

static void must(int r, const struct err *e)
{
    if (r == 0)
        return;
    fprintf(stderr, "bench-etcd: %s\n", e->msg);
    exit(1);
}

static struct times puts_raw(const struct etcd_options *o, size_t n)
{
    CLEANUP_TEXT struct text body = {0}, out = {0};
    struct times t = {.ns = mem_alloc((n + 1) * sizeof *t.ns)};
    struct client c;
    struct err e = {0};
    text_add(&body, "{\"key\":\"YmVuY2g=\",\"value\":\"");
    for (size_t i = 0; i < RECORD_BYTES + TEXT_BYTES; i += 3)
        text_add(&body, "eHh4");
    text_add(&body, "\"}");
    must(client_init(&c, o, &e), &e);
    must(client_call(&c, "/v3/kv/put", body.s, &out, &e), &e);
    for (size_t i = 0; i < n; i++) {
        struct mono begun = mono_now();
        must(client_call(&c, "/v3/kv/put", body.s, &out, &e), &e);
        times_add(&t, begun);
    }
    client_fini(&c);
    return t;
}

/* Batches of `size` commands, of other nodes each time. */
static struct times commits(struct store *s, uint64_t term, size_t size, size_t n)
{
    struct times t = {.ns = mem_alloc((n + 1) * sizeof *t.ns)};
    struct store_op ops[STORE_OPS_MAX];
    struct store_entry entries[STORE_ENTRIES_MAX];
    char keys[STORE_OPS_MAX][32], value[RECORD_BYTES + 1], text[TEXT_BYTES + 1];
    struct err e = {0};
    uint64_t revision;
    memset(value, 'x', RECORD_BYTES);
    memset(text, 'x', TEXT_BYTES);
    value[RECORD_BYTES] = text[TEXT_BYTES] = '\0';
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j < size; j++) {
            snprintf(keys[j], sizeof keys[j], "claim/%zu", (i * size + j) % 10000);
            ops[j] = (struct store_op){keys[j], value};
            entries[j] =
                (struct store_entry){wall_now(), "root", "drain", "lx00042", text, keys[j], "\"bench\":1"};
        }
        const struct store_batch b = {size, ops, size, entries};
        struct mono begun = mono_now();
        must(store_commit(s, term, &b, &revision, &e), &e);
        if (i > 0) /* the first one makes the connection */
            times_add(&t, begun);
    }
    return t;
}

int main(int argc, char **argv)
{
    uint64_t one = 0, batches = 0, term = 0;
    struct store *s = NULL;
    struct err e = {0};
    if (argc != 4 || text_parse_u64(argv[2], 1, 1000000, &one, NULL) < 0 ||
        text_parse_u64(argv[3], 1, 1000000, &batches, NULL) < 0)
        return 2;
    const struct etcd_options o = {.endpoints = argv[1], .name = "bench"};
    must(etcd_open(&o, &s, &e), &e);
    must(store_campaign(s, &term, &e), &e);
    struct times raw = puts_raw(&o, one), single = commits(s, term, 1, one);
    struct times again = puts_raw(&o, one), full = commits(s, term, STORE_OPS_MAX, batches);
    printf("{");
    times_print("put", &raw, 1);
    printf(",");
    times_print("single", &single, 1);
    printf(",");
    times_print("put_again", &again, 1);
    printf(",");
    times_print("full", &full, STORE_OPS_MAX);
    printf("}\n");
    store_close(s);
    return 0;
}
