/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration that decides becomes a revision: REVISE to records (state/revision.h). */
#include "cluster/decide/decide.h"

#include "base/digest.h"
#include "base/table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    COMMIT_BYTES_MAX = 512 << 10, /* the bytes of pieces in one commit, */
    COMMIT_OPS_MAX = 100          /* and of records beside the limits: below what the store takes (store.h) */
};

/* A piece of the command's texts. */
struct wanted {
    char hash[PIECE_HASH_BYTES + 1];
    UT_hash_handle hh;
};

/* The commit that is put together. */
struct revising {
    const struct revisions *r;
    struct decision *d;
    struct wanted *wanted; /* the pieces of the command */
    size_t bytes, n_late;  /* the bytes of pieces in this commit; the pieces that are left to the next one */
    struct text parts;     /* as the head has them */
};

static void revising_add(struct revising *v, const char *name, char *value)
{
    struct text key = {0};
    struct decision *d = v->d;
    text_printf(&key, "config/%s", name);
    d->ops = mem_grow(d->ops, (d->n_ops + 1) * sizeof *d->ops);
    d->ops[d->n_ops].key = text_take(&key);
    d->ops[d->n_ops++].value = value;
}

/* At most PIECE_BYTES_MAX, and no character is cut in two. */
static size_t piece_length(const char *text)
{
    enum { CHARACTER_BYTES_MAX = 4 };
    size_t len = strnlen(text, PIECE_BYTES_MAX);
    if (len < PIECE_BYTES_MAX)
        return len;
    while (((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    assert(len > PIECE_BYTES_MAX - CHARACTER_BYTES_MAX);
    return len;
}

static void piece_want(struct revising *v, const char *hash, const char *text, size_t len)
{
    struct wanted *p;
    HASH_FIND_STR(v->wanted, hash, p);
    if (p)
        return;
    p = mem_alloc(sizeof *p);
    memcpy(p->hash, hash, sizeof p->hash);
    HASH_ADD_STR(v->wanted, hash, p);
    if (revisions_have(v->r, hash))
        return;
    CLEANUP_FREE char *copy = mem_dup_len(text, len);
    struct text value = {0}, name = {0};
    text_add(&value, "{\"text\":");
    text_add_json(&value, copy);
    text_add_char(&value, '}');
    if (v->d->n_ops + 2 > COMMIT_OPS_MAX || (v->bytes && v->bytes + value.len > COMMIT_BYTES_MAX)) {
        v->n_late++;
        text_fini(&value);
        return;
    }
    v->bytes += value.len;
    text_printf(&name, "text.%s", hash);
    revising_add(v, name.s, text_take(&value));
    text_fini(&name);
}

static void part_want(struct revising *v, const struct revise_part *part)
{
    char hash[PIECE_HASH_BYTES + 1];
    text_add(&v->parts, v->parts.len ? ",{\"part\":" : "[{\"part\":");
    text_add_json(&v->parts, part->name);
    text_add(&v->parts, ",\"texts\":[");
    for (const char *at = part->text; *at;) {
        size_t len = piece_length(at);
        revision_piece_hash(at, len, hash);
        text_printf(&v->parts, "%s\"%s\"", at == part->text ? "" : ",", hash);
        piece_want(v, hash, at, len);
        at += len;
    }
    text_add(&v->parts, "]}");
}

static void head_want(struct revising *v, const struct command *cmd)
{
    const struct revision *was = revisions_head(v->r);
    char hash[65];
    digest_sha256(v->parts.s, v->parts.len, hash);
    if (strcmp(was->hash, hash) == 0)
        return;
    struct text head = {0}, said = {0};
    text_printf(&head, "{\"revision\":%llu,\"hash\":\"%s\",\"by\":", (unsigned long long)was->number + 1,
                hash);
    text_add_json(&head, cmd->actor);
    text_printf(&head, ",\"at\":\"%lld\",\"parts\":%s}", (long long)cmd->at.ns, v->parts.s);
    revising_add(v, "head", text_take(&head));
    text_printf(&said, "revision %llu of the configuration: %s", (unsigned long long)was->number + 1,
                cmd->revise.said);
    v->d->text = text_take(&said);
}

/* A piece that the command's revision does not have is removed. The rest of very many is left to the next
 * commit. */
static bool remove_other(void *arg, const char *hash)
{
    struct revising *v = arg;
    struct wanted *wanted;
    struct text name = {0};
    if (v->d->n_ops >= COMMIT_OPS_MAX)
        return false;
    HASH_FIND_STR(v->wanted, hash, wanted);
    if (wanted)
        return true;
    text_printf(&name, "text.%s", hash);
    revising_add(v, name.s, NULL);
    text_fini(&name);
    return true;
}

static void remove_others(struct revising *v)
{
    revisions_each_piece(v->r, remove_other, v);
    if (v->d->n_ops && !v->d->text)
        v->d->text = mem_dup("texts of other revisions of the configuration are removed");
}

int decide_revision(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    struct revising v = {.r = c->revisions, .d = d};
    const struct limits *limits = &cmd->revise.limits;
    assert(cmd->kind == COMMAND_REVISE && cmd->revise.n > 0);
    for (int s = 0; s < SCOPES; s++)
        if (limits->percent[s] > 100)
            return err_set(e, -EINVAL, "at most %u %% of a scope; 100 %% is all of it", limits->percent[s]);
    for (size_t i = 0; i < cmd->revise.n; i++)
        part_want(&v, &cmd->revise.parts[i]);
    text_add_char(&v.parts, ']');
    if (v.n_late) {
        struct text said = {0};
        text_printf(&said, "%zu texts of the next revision of the configuration, and %zu are to follow",
                    d->n_ops, v.n_late);
        d->text = text_take(&said);
    } else {
        head_want(&v, cmd);
        decide_limits(c, limits, d);
        remove_others(&v);
    }
    struct wanted *p, *next;
    HASH_ITER (hh, v.wanted, p, next) {
        HASH_DEL(v.wanted, p);
        free(p);
    }
    text_fini(&v.parts);
    return 0;
}
