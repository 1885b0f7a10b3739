/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int last_rc;
static size_t last_parts;

static void roster_parse(const char *text, struct roster *r)
{
    CLEANUP_FREE char *copy = mem_dup(text);
    char *rest = copy;
    *r = (struct roster){.partition_max = 31};
    for (char *line; (line = strsep(&rest, ";"));) {
        line += strspn(line, " ");
        char *fields = line;
        char *list = strsep(&fields, " ");
        CLEANUP_HOSTLIST struct hostlist names = {0};
        if (!*list)
            continue;
        assert(hostlist_parse(list, &names, NULL) == 0);
        struct spec s;
        spec_init(&s);
        for (char *word; fields && (word = strsep(&fields, " "));) {
            enum field f;
            char *value = strchr(word, '=');
            *value++ = '\0';
            assert(field_find(word, &f, NULL) == 0);
            assert(spec_set(&s, f, value, 31, NULL) == 0);
        }
        r->nodes = mem_grow(r->nodes, (r->n + names.n) * sizeof *r->nodes);
        for (size_t i = 0; i < names.n; i++) {
            struct roster_node *n = &r->nodes[r->n++];
            n->name = mem_dup(names.names[i]);
            spec_init(&n->spec);
            spec_copy(&n->spec, &s);
        }
        spec_fini(&s);
    }
}

void world_configure(struct world *w, const char *roster, struct text *changes)
{
    struct roster r;
    roster_parse(roster, &r);
    cluster_configure(w->c, &r, changes);
}

static void record(struct world *w, const char *key, const char *value)
{
    size_t i = 0;
    while (i < w->n && strcmp(w->records[i].key, key) != 0)
        i++;
    if (i < w->n) {
        free(w->records[i].key);
        free(w->records[i].value);
        w->records[i] = w->records[--w->n];
    }
    if (!value)
        return;
    w->records = mem_grow(w->records, (w->n + 1) * sizeof *w->records);
    w->records[w->n].key = mem_dup(key);
    w->records[w->n++].value = mem_dup(value);
}

struct world *world_create(void)
{
    struct world *w = mem_alloc(sizeof *w);
    w->c = cluster_create();
    world_configure(w, "lx[01-06] CPUs=2", NULL);
    world_do(w, COMMAND_ADMIT, "fettled", "lx[01-06]", NULL, NULL);
    return w;
}

void world_destroy(struct world *w)
{
    cluster_destroy(w->c);
    for (size_t i = 0; i < w->n; i++) {
        free(w->records[i].key);
        free(w->records[i].value);
    }
    free(w->records);
    free(w);
}

/* One part: decided, shown, committed. */
static int one_part(struct world *w, const struct command *cmd, size_t *from, struct text *out)
{
    struct decision d = {0};
    struct err e = {0};
    uint64_t before = cluster_digest(w->c);
    int rc = cluster_decide(w->c, cmd, *from, &d, &e);
    assert(cluster_digest(w->c) == before); /* deciding changes nothing */
    if (rc < 0) {
        assert(d.n_ops == 0 && !d.text && d.changed.n == 0);
        text_add(out, e.msg);
        return rc;
    }
    assert((d.n_ops == 0) == (d.text == NULL));
    for (size_t i = 0; i < d.n_ops; i++) {
        text_printf(out, "%s = %s\n", d.ops[i].key, d.ops[i].value ? d.ops[i].value : "gone");
        record(w, d.ops[i].key, d.ops[i].value);
        if (cluster_put(w->c, d.ops[i].key, d.ops[i].value, &e) < 0)
            fprintf(stderr, "%s\n", e.msg), abort();
    }
    CLEANUP_FREE char *nodes = hostlist_fold((const char *const *)d.changed.names, d.changed.n);
    if (d.n_ops)
        text_printf(out, "%s: %s\n", nodes, d.text);
    *from = d.next;
    decision_fini(&d);
    return 0;
}

const char *world_do(struct world *w, enum command_kind kind, const char *actor, const char *nodes,
                     const char *arg, const char *claim)
{
    static char shown[65536];
    CLEANUP_HOSTLIST struct hostlist names = {0};
    CLEANUP_TEXT struct text out = {0};
    assert(hostlist_parse(nodes, &names, NULL) == 0);
    const struct command cmd = {.kind = kind,
                                .actor = actor,
                                .at = {1000},
                                .nodes = &names,
                                .claim = claim,
                                .reason = arg,
                                .set = arg,
                                .token = arg,
                                .expires = {2000}};
    size_t from = 0;
    text_add(&out, "");
    last_parts = 0;
    do {
        last_rc = one_part(w, &cmd, &from, &out);
        last_parts++;
    } while (last_rc == 0 && from < names.n);
    snprintf(shown, sizeof shown, "%s", out.len ? out.s : "nothing");
    return shown;
}

int world_rc(void)
{
    return last_rc;
}

size_t world_parts(void)
{
    return last_parts;
}

const char *world_claims(const struct world *w, const char *node)
{
    static char shown[4096];
    CLEANUP_TEXT struct text t = {0};
    const struct member *m = cluster_find(w->c, node);
    text_add(&t, "");
    for (size_t i = 0; m && i < m->n_claims; i++) {
        const struct claim *c = m->claims[i].claim;
        text_printf(&t, "%s%s %s by %s: %s%s", i ? "; " : "", c->id, claim_kind_name(c->kind), c->owner,
                    c->reason, m->claims[i].drained ? " (drained)" : "");
    }
    snprintf(shown, sizeof shown, "%s", t.s);
    return shown;
}

struct cluster *world_reload(const struct world *w, const char *roster, size_t rotation, bool backwards)
{
    struct world again = {.c = cluster_create()};
    for (size_t i = 0; i < w->n; i++) {
        size_t k = (backwards ? w->n - 1 - i : i) + rotation;
        struct err e;
        if (cluster_put(again.c, w->records[k % w->n].key, w->records[k % w->n].value, &e) < 0)
            fprintf(stderr, "%s\n", e.msg), abort();
    }
    world_configure(&again, roster, NULL);
    return again.c;
}
