/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of baselines. One refers to lists of components by their fingerprints and holds on to them,
 * so that every version that is kept can be shown, compared and returned to.
 */
#include "cluster/record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One version as it stands in a record; the texts are the record's. */
struct version {
    uint64_t number, at;
    struct fingerprint id;
    const char *node, *by, *note;
};

static int read_version(const json_t *o, struct version *v, struct err *e)
{
    if (json_take_u64(o, "version", UINT32_MAX, &v->number, e) < 0 ||
        record_fingerprint(o, "fingerprint", &v->id, e) < 0 || json_take_string(o, "node", &v->node, e) < 0 ||
        json_take_string(o, "by", &v->by, e) < 0 || record_time(o, "at", &v->at, e) < 0 ||
        json_take_string(o, "note", &v->note, e) < 0)
        return -EINVAL;
    if (v->number == 0)
        return err_set(e, -EINVAL, "version 0; they count from 1");
    return record_name_check(v->node, e) < 0 ? -EINVAL : 0;
}

/* Versions that fall from one to the next; `below` is the one before. */
static int check_history(const json_t *history, uint64_t below, struct err *e)
{
    static const char *const keys[] = {"version", "fingerprint", "node", "by", "at", "note"};
    if (!json_is_array(history))
        return err_set(e, -EINVAL, "\"history\" is no array");
    if (json_array_size(history) > BASELINE_KEPT_MAX)
        return err_set(e, -EINVAL, "a history of %zu; it has %d at most", json_array_size(history),
                       BASELINE_KEPT_MAX);
    for (size_t i = 0; i < json_array_size(history); i++) {
        const json_t *o = json_array_get(history, i);
        struct version v;
        if (!json_is_object(o))
            return err_set(e, -EINVAL, "history %zu: no object", i + 1);
        if (json_only_keys(o, keys, 6, e) < 0 || read_version(o, &v, e) < 0)
            return err_wrap(e, -EINVAL, "history %zu", i + 1);
        if (v.number >= below)
            return err_set(e, -EINVAL, "history %zu: version %u is not older than the one before it", i + 1,
                           (unsigned)v.number);
        below = v.number;
    }
    return 0;
}

/* --- the rollout ----------------------------------------------------------------------------- */

static void rollout_free(struct cluster *c, struct rollout *r)
{
    if (!r)
        return;
    listing_unref(c->listings, r->to);
    free(r->node);
    free(r->nodes_text);
    free(r->by);
    free(r->note);
    free(r->by_name);
    hostlist_fini(&r->nodes);
    free(r);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool rollout_has(const struct rollout *r, const char *node)
{
    return r->nodes.n && bsearch(&node, r->by_name, r->nodes.n, sizeof *r->by_name, by_name);
}

static int read_rollout_nodes(const char *text, struct hostlist *nodes, struct err *e)
{
    if (hostlist_parse(text, nodes, e) < 0)
        return -EINVAL;
    if (nodes->n == 0)
        return err_set(e, -EINVAL, "a rollout on no node");
    for (size_t i = 0; i < nodes->n; i++)
        if (record_name_check(nodes->names[i], e) < 0)
            return -EINVAL;
    return 0;
}

/* NULL without a rollout. */
static int read_rollout(struct cluster *c, const json_t *o, struct rollout **out, struct err *e)
{
    static const char *const keys[] = {"fingerprint", "node", "nodes", "by", "at", "deadline", "note"};
    const char *node, *nodes, *by, *note;
    struct fingerprint id;
    uint64_t at, deadline;
    *out = NULL;
    if (json_is_null(o))
        return 0;
    if (!json_is_object(o))
        return err_set(e, -EINVAL, "\"rollout\" is neither null nor an object");
    if (json_only_keys(o, keys, 7, e) < 0 || record_fingerprint(o, "fingerprint", &id, e) < 0 ||
        json_take_string(o, "node", &node, e) < 0 || json_take_string(o, "nodes", &nodes, e) < 0 ||
        json_take_string(o, "by", &by, e) < 0 || record_time(o, "at", &at, e) < 0 ||
        record_time(o, "deadline", &deadline, e) < 0 || json_take_string(o, "note", &note, e) < 0 ||
        record_name_check(node, e) < 0)
        return err_wrap(e, -EINVAL, "rollout");
    CLEANUP_HOSTLIST struct hostlist list = {0};
    if (read_rollout_nodes(nodes, &list, e) < 0)
        return err_wrap(e, -EINVAL, "rollout");
    struct rollout *r = mem_alloc(sizeof *r);
    *r = (struct rollout){.to = listings_get(c->listings, &id),
                          .node = mem_dup(node),
                          .nodes_text = mem_dup(nodes),
                          .by = mem_dup(by),
                          .note = mem_dup(note),
                          .nodes = list,
                          .at = {(int64_t)at},
                          .deadline = {(int64_t)deadline}};
    list = (struct hostlist){0};
    r->by_name = mem_alloc(r->nodes.n * sizeof *r->by_name);
    memcpy(r->by_name, r->nodes.names, r->nodes.n * sizeof *r->by_name);
    qsort(r->by_name, r->nodes.n, sizeof *r->by_name, by_name);
    *out = r;
    return 0;
}

/* --- the baseline ---------------------------------------------------------------------------- */

static struct baseline_slot *find_baseline(const struct cluster *c, const char *class)
{
    struct baseline_slot *s;
    HASH_FIND_STR(c->baselines, class, s);
    return s;
}

const struct baseline_slot *baseline_slot(const struct cluster *c, const char *class)
{
    return find_baseline(c, class);
}

const struct baseline *cluster_baseline(const struct cluster *c, const char *class)
{
    const struct baseline_slot *s = find_baseline(c, class);
    return s ? &s->b : NULL;
}

bool cluster_is_unjudged(const struct cluster *c, const struct member *m)
{
    return !m->listed || !cluster_baseline(c, member_class(c, m)->name);
}

static void baseline_free(struct cluster *c, struct baseline_slot *s)
{
    if (!s)
        return;
    listing_unref(c->listings, s->b.listing);
    for (size_t i = 0; i < s->n_kept; i++) {
        listing_unref(c->listings, s->kept[i].listing);
        free(s->kept[i].node);
    }
    free(s->kept);
    rollout_free(c, s->b.rollout);
    free(s->b.class);
    free(s->b.node);
    free(s->b.by);
    free(s->b.note);
    free(s->b.history);
    free(s);
}

/* Puts a slot (NULL: nothing) in the place of the one of this class. The lists that both name stay. */
static void record_baseline_replace(struct cluster *c, const char *class, struct baseline_slot *s)
{
    struct baseline_slot *before = find_baseline(c, class);
    if (before) {
        HASH_DEL(c->baselines, before);
        c->sum -= before->sum;
    }
    if (s) {
        HASH_ADD_KEYPTR(hh, c->baselines, s->b.class, strlen(s->b.class), s);
        c->sum += s->sum;
    }
    baseline_free(c, before);
}

static void keep_history(struct cluster *c, struct baseline_slot *s, const json_t *history)
{
    s->n_kept = json_array_size(history);
    s->kept = mem_alloc((s->n_kept + 1) * sizeof *s->kept);
    for (size_t i = 0; i < s->n_kept; i++) {
        struct version v;
        read_version(json_array_get(history, i), &v, NULL); /* was checked */
        s->kept[i] = (struct kept){(uint32_t)v.number, listings_get(c->listings, &v.id), mem_dup(v.node)};
    }
    s->b.history = json_write(history);
}

int put_baseline(struct cluster *c, const char *class, const char *value, struct err *e)
{
    static const char *const keys[] = {"version", "fingerprint", "node",    "by",
                                       "at",      "note",        "history", "rollout"};
    if (*class == '\0' || strlen(class) > CLASS_NAME_BYTES_MAX)
        return err_set(e, -EILSEQ, "the name of a class has 1 to %d bytes", CLASS_NAME_BYTES_MAX);
    if (!value) {
        record_baseline_replace(c, class, NULL);
        return 0;
    }
    CLEANUP_JSON json_t *o = record_object(value, e);
    struct version v;
    struct rollout *rollout;
    if (!o || json_only_keys(o, keys, 8, e) < 0 || read_version(o, &v, e) < 0 ||
        check_history(json_object_get(o, "history"), v.number, e) < 0 ||
        read_rollout(c, json_object_get(o, "rollout"), &rollout, e) < 0)
        return -EILSEQ;

    struct baseline_slot *s = mem_alloc(sizeof *s);
    s->b = (struct baseline){.class = mem_dup(class),
                             .version = (uint32_t)v.number,
                             .listing = listings_get(c->listings, &v.id),
                             .node = mem_dup(v.node),
                             .by = mem_dup(v.by),
                             .note = mem_dup(v.note),
                             .at = {(int64_t)v.at},
                             .rollout = rollout};
    keep_history(c, s, json_object_get(o, "history"));
    CLEANUP_FREE char *text = json_write(o);
    s->sum = record_sum(class, text);
    record_baseline_replace(c, class, s);
    return 0;
}
