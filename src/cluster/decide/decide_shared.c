/* SPDX-License-Identifier: Apache-2.0 */
/* SHARED: many nodes have one cause of what is wrong with them, and remedies that were tried against it count
 * for nothing. */
#include "cluster/decide/decide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_BEFORE_S = 600 /* nodes that had a shared cause before it was known */ };

/* It was tried against the cause, since shortly before that was known. */
static bool is_against(const struct attempt_record *a, const struct shared_cause *s)
{
    char fault[FAULT_BYTES_MAX + 1];
    snprintf(fault, sizeof fault, "%.*s", (int)strcspn(s->key, " "), s->key); /* a fault has no blank */
    return a->verdict != '0' && a->at.ns >= s->since.ns - SHARED_BEFORE_S * INT64_C(1000000000) &&
           text_has_word(a->fault, ',', fault);
}

/* The record of an attempt has the faults with commas between. */
static void tally_take_back(const struct cluster *c, const struct attempt_record *a, struct tally_edit *x)
{
    CLEANUP_FREE char *list = mem_dup(a->counted);
    for (char *save, *one = strtok_r(list, ",", &save); one; one = strtok_r(NULL, ",", &save))
        tally_count(c, x, a->remedy, a->class, one, a->verdict == '+', true);
}

/* Attempts against a shared cause do not count as tries, and a node that was queued meanwhile was queued
 * for it. True when anything changes. */
static bool give_back(const struct cluster *c, const struct shared_cause *s, struct repair *r,
                      struct tally_edit *x)
{
    bool any = false;
    for (size_t i = 0; i < r->n_attempts; i++) {
        struct attempt_record *a = &r->attempts[i];
        if (!is_against(a, s))
            continue;
        tally_take_back(c, a, x); /* once, as the verdict goes with it */
        a->counted[0] = a->class[0] = '\0';
        a->verdict = '0';
        any = true;
    }
    if (r->step == STEP_QUEUE && !r->manual && !r->shared &&
        r->began.ns >= s->since.ns - SHARED_BEFORE_S * INT64_C(1000000000))
        any = r->shared = true;
    return any;
}

/* Records that this node would add, at most. */
static size_t ops_of(const struct repair *r, const struct shared_cause *s, const struct tally_edit *x)
{
    size_t n = 1;
    for (size_t i = 0; i < r->n_attempts; i++)
        n += is_against(&r->attempts[i], s) && !tally_edit_has(x, r->attempts[i].remedy);
    return n;
}

static const char *nodes_word(size_t n)
{
    return n == 1 ? "node" : "nodes";
}

static void say_given(size_t nodes, struct text *t)
{
    if (nodes)
        text_printf(t, "; the attempts against it on %zu %s count no more, nor in the tally of remedies",
                    nodes, nodes_word(nodes));
}

/* The nodes of the cause that are not in `left`, as many as one commit takes. The others are added to
 * `rest` for another commit. */
static size_t let_go(const struct cluster *c, const struct shared_cause *s, const struct hostlist *left,
                     struct hostlist *rest, struct decision *d)
{
    CLEANUP_HOSTLIST struct hostlist was = {0};
    CLEANUP_FREE bool *stays = mem_alloc(c->n + 1);
    struct tally_edit x = {0};
    size_t n = 0;
    hostlist_parse(s->nodes, &was, NULL);
    for (size_t i = 0; i < left->n; i++)
        if (cluster_find(c, left->names[i]))
            stays[cluster_find(c, left->names[i])->id] = true;
    for (size_t i = 0; i < was.n; i++) {
        const struct member *m = cluster_find(c, was.names[i]);
        struct repair r;
        if (!m || stays[m->id] || !member_repairs(m))
            continue;
        if (d->n_ops + x.n + ops_of(member_repairs(m), s, &x) >= OPS_MAX) {
            hostlist_add(rest, m->name);
            continue;
        }
        repair_copy(&r, member_repairs(m));
        if (give_back(c, s, &r, &x)) {
            decision_add(d, "repair/", m->name, repair_record(&r));
            hostlist_add(&d->changed, m->name);
            n++;
        }
        repair_fini(&r);
    }
    tally_edit_put(&x, d);
    return n;
}

static int end_shared(const struct cluster *c, const char *key, struct decision *d)
{
    static const struct hostlist nobody;
    const struct shared_cause *was = cluster_shared(c, key);
    CLEANUP_HOSTLIST struct hostlist rest = {0};
    if (!was)
        return 0;
    size_t given = let_go(c, was, &nobody, &rest, d);
    struct text t = {0};
    if (rest.n) { /* the cause ends with the last node */
        CLEANUP_FREE char *folded = hostlist_fold((const char *const *)rest.names, rest.n);
        struct shared_cause now = *was;
        now.nodes = folded;
        decision_add(d, "shared/", key, shared_record(&now));
        text_printf(&t, "no shared cause any more on %zu %s: %s", given, nodes_word(given), key);
    } else {
        hostlist_fini(&d->changed);
        hostlist_parse(was->nodes, &d->changed, NULL);
        decision_add(d, "shared/", key, NULL);
        text_printf(&t, "no shared cause any more: %s", key);
    }
    say_given(given, &t);
    d->text = text_take(&t);
    return 0;
}

int decide_shared(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    const struct shared_command *says = &cmd->shared;
    if (!decide_key_ok(says->key, SHARED_KEY_BYTES_MAX))
        return err_set(e, -EINVAL, "the key of a shared cause has 1 to %d printable ASCII characters",
                       SHARED_KEY_BYTES_MAX);
    if (*says->nodes == '\0')
        return end_shared(c, says->key, d);
    const struct shared_cause *was = cluster_shared(c, says->key);
    if (decide_check_clause("why", says->why, e) < 0 || hostlist_parse(says->nodes, &d->changed, e) < 0)
        return -EINVAL;
    if (d->changed.n == 0)
        return err_set(e, -EINVAL, "a shared cause on no node");
    CLEANUP_HOSTLIST struct hostlist left = d->changed, rest = {0};
    d->changed = (struct hostlist){0};
    size_t given = was ? let_go(c, was, &left, &rest, d) : 0, n = left.n;
    hostlist_add_all(&d->changed, &left);
    hostlist_add_all(&left, &rest); /* they are released with the next news of the cause */
    CLEANUP_FREE char *folded = hostlist_fold((const char *const *)left.names, left.n);
    if (was && d->n_ops == 0 && strcmp(was->nodes, folded) == 0 && strcmp(was->why, says->why) == 0 &&
        was->severity == says->severity) {
        hostlist_fini(&d->changed);
        return 0;
    }
    CLEANUP_FREE char *why = mem_dup(says->why);
    const struct shared_cause now = {
        .nodes = folded, .why = why, .since = was ? was->since : cmd->at, .severity = says->severity};
    decision_add(d, "shared/", says->key, shared_record(&now));
    struct text t = {0};
    text_printf(&t, "one cause on %zu %s: %s (%s)", n, nodes_word(n), says->key, says->why);
    say_given(given, &t);
    d->text = text_take(&t);
    return 0;
}
