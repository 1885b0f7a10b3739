/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the nodes of a class are, as their benchmarks said it to this watch. It is memory alone: what a
 * new leader has not seen yet it does not judge by, and a class is known again when eight of its nodes were
 * examined.
 */
#include "health/floor.h"
#include "watch/inside.h"

#include <stdlib.h>
#include <string.h>

/* One measure of one check of one class. */
struct measured {
    char *key; /* "CLASS CHECK MEASURE UNIT" */
    struct floor *floor;
    UT_hash_handle hh;
};

enum { MEASURED_MAX = 4096 };

/* NULL when there are too many. */
static struct floor *floor_of(struct watch *w, const struct member *m, const struct check *k,
                              const struct measure *one)
{
    CLEANUP_TEXT struct text key = {0};
    struct measured *found;
    text_printf(&key, "%s %s %s %s", class_of(w, m)->name, k->name, one->name, one->unit);
    HASH_FIND_STR(w->measured, key.s, found);
    if (!found && HASH_COUNT(w->measured) < MEASURED_MAX) {
        found = mem_alloc(sizeof *found);
        found->key = mem_dup(key.s);
        found->floor = floor_create();
        HASH_ADD_KEYPTR(hh, w->measured, found->key, strlen(found->key), found);
    }
    return found ? found->floor : NULL;
}

void measure_judge(struct watch *w, const struct member *m, const struct check *k, struct verdict *x)
{
    struct measure all[FLOOR_MEASURES_MAX];
    if (probe_row(k->probe)->how != PROBE_BENCH || x->result < RESULT_OK)
        return;
    size_t n = measures_read(x->text, all);
    enum result r = k->severity < RESULT_DEGRADED ? k->severity : RESULT_DEGRADED; /* numbers are no proof */
    for (size_t i = 0; i < n; i++) {
        struct floor *f = floor_of(w, m, k, &all[i]);
        struct floor_verdict v;
        if (!f)
            continue;
        floor_judge(f, m->id, &all[i], &v);
        floor_note(f, m->id, all[i].value);
        if (v.is_short && x->result < RESULT_DEGRADED)
            verdict_add(x, r, "", "", "%s %lld %s; half of %zu other nodes of its class come to %lld or %s",
                        all[i].name, (long long)all[i].value, all[i].unit, v.n, (long long)v.median,
                        all[i].less_is_better ? "less" : "more");
    }
}

void measures_destroy(struct watch *w)
{
    struct measured *one, *tmp;
    HASH_ITER (hh, w->measured, one, tmp) {
        HASH_DEL(w->measured, one);
        floor_destroy(one->floor);
        free(one->key);
        free(one);
    }
}
