/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the nodes of a class are, as their benchmarks said it. Judged is by what is recorded, so that a
 * new leader judges as the one before it. What a node came to is written down within a minute, together with
 * what others came to: so many writes as there are classes and benchmarks, however many nodes there are. What
 * a leader could not write down any more is measured again in due time.
 */
#include "base/digest.h"
#include "watch/conformity_inside.h"
#include "watch/inside.h"
#include "watch/measure_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { GATHER_S = 60 };

/* Of what is measured: with another one, or other arguments, values say nothing about each other. */
static uint64_t sum_of(const struct check *k)
{
    const char *probe = probe_row(k->probe)->name;
    uint64_t sum = digest_fnv(DIGEST_FNV_START, probe, strlen(probe) + 1);
    for (size_t i = 0; i < k->n_args; i++) {
        sum = digest_fnv(sum, k->args[i].key, strlen(k->args[i].key) + 1);
        sum = digest_fnv(sum, k->args[i].value, strlen(k->args[i].value) + 1);
    }
    return sum;
}

static char *what_of(const struct measure *one, char out[static FLOOR_WHAT_BYTES_MAX + 1])
{
    snprintf(out, FLOOR_WHAT_BYTES_MAX + 1, "%.*s %.*s", FLOOR_NAME_BYTES_MAX, one->name,
             FLOOR_NAME_BYTES_MAX, one->unit);
    return out;
}

/* --- judging ---------------------------------------------------------------------------------- */

/* What the nodes that are of m's class now came to, but m itself. */
static size_t gather_others(const struct watch *w, const struct member *m, const struct floor *f,
                            const char *what, int64_t out[static FLOOR_NODES_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct member *other = cluster_find(w->cluster, f->nodes[i].name);
        const struct floor_value *v = floor_value(&f->nodes[i], what);
        if (v && other && other != m && other->listed && other->class == m->class)
            out[n++] = v->value;
    }
    return n;
}

static void measure_check(const struct watch *w, const struct member *m, const struct check *k,
                          const struct floor *f, const struct measure *one, struct verdict *x)
{
    enum result r = k->severity < RESULT_DEGRADED ? k->severity : RESULT_DEGRADED; /* numbers are no proof */
    char what[FLOOR_WHAT_BYTES_MAX + 1];
    int64_t others[FLOOR_NODES_MAX];
    struct floor_verdict v;
    floor_judge(others, gather_others(w, m, f, what_of(one, what), others), one, &v);
    if (v.is_short && x->result < RESULT_DEGRADED)
        verdict_add(x, r, "", "", "%s %lld %s; half of %zu other nodes of its class come to %lld or %s",
                    one->name, (long long)one->value, one->unit, v.n, (long long)v.median,
                    one->less_is_better ? "less" : "more");
}

/* --- writing down ----------------------------------------------------------------------------- */

/* The nodes that are to be written down for this check; NULL when there are too many. */
static json_t *measure_gathered(struct watch *w, struct mono now, const char *class, const struct check *k)
{
    CLEANUP_TEXT struct text key = {0};
    char sum[20];
    text_printf(&key, "%s %s", class, k->name);
    snprintf(sum, sizeof sum, "%016" PRIx64, sum_of(k));
    w->measures.news = w->measures.news ? w->measures.news : json_object();
    if (json_object_size(w->measures.news) == 0)
        w->measures.from = now;
    json_t *set = json_object_get(w->measures.news, key.s);
    bool is_same = set && strcmp(json_string_value(json_object_get(set, "sum")), sum) == 0;
    if (!set && json_object_size(w->measures.news) == FLOORS_MAX)
        return NULL;
    if (!is_same) {
        set = json_pack("{s:s,s:s,s:s,s:{}}", "class", class, "check", k->name, "sum", sum, "nodes");
        json_object_set_new(w->measures.news, key.s, set);
    }
    json_t *nodes = json_object_get(set, "nodes");
    return json_object_size(nodes) < FLOOR_NODES_MAX ? nodes : NULL;
}

static void measure_note(struct watch *w, struct mono now, const struct member *m, const struct check *k,
                         const struct measure *all, size_t n)
{
    json_t *nodes = measure_gathered(w, now, class_of(w, m)->name, k), *values = json_object();
    for (size_t i = 0; i < n; i++) {
        char what[FLOOR_WHAT_BYTES_MAX + 1];
        json_object_set_new(values, what_of(&all[i], what), json_integer(all[i].value));
    }
    if (nodes)
        json_object_set(nodes, m->name, values);
    json_decref(values);
}

void measure_judge(struct watch *w, struct mono now, const struct member *m, const struct check *k,
                   struct verdict *x)
{
    struct measure all[FLOOR_MEASURES_MAX];
    if (probe_row(k->probe)->how != PROBE_BENCH || x->result < RESULT_OK)
        return;
    size_t n = measures_read(x->text, all);
    const struct floor *f = cluster_floor(w->cluster, class_of(w, m)->name, k->name);
    for (size_t i = 0; f && f->sum == sum_of(k) && i < n; i++)
        measure_check(w, m, k, f, &all[i], x);
    if (n > 0)
        measure_note(w, now, m, k, all, n);
}

/* What is not taken waits for the next sweep. */
void measures_end_sweep(struct watch *w)
{
    struct mono now = watch_awake(w, w->last_tick);
    const struct hostlist nobody = {0};
    const char *key;
    json_t *set;
    void *next;
    if (!w->measures.news || within(now, w->measures.from, GATHER_S))
        return;
    json_object_foreach_safe(w->measures.news, next, key, set)
    {
        CLEANUP_FREE char *text = json_write(set);
        if (w->sink.propose(w->sink.arg,
                            &(struct command){.kind = COMMAND_MEASURED, .nodes = &nobody, .set = text}))
            json_object_del(w->measures.news, key);
    }
}

void measures_destroy(struct watch *w)
{
    json_decref(w->measures.news);
}
