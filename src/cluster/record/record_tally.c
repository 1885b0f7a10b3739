/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that nodes share: causes of findings on many nodes, results of remedies, switches, and the times
 * of isolations.
 */
#include "cluster/record/record.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- shared causes ---------------------------------------------------------------------------- */

static void shared_drop(struct cluster *c, struct shared_slot *s)
{
    if (!s)
        return;
    CLEANUP_FREE char *record = shared_record(&s->s);
    c->sum -= record_sum(s->s.key, record);
    HASH_DEL(c->shared, s);
    free(s->s.key);
    free(s->s.nodes);
    free(s->s.why);
    free(s);
}

static struct shared_slot *find_shared(const struct cluster *c, const char *key)
{
    struct shared_slot *s;
    HASH_FIND_STR(c->shared, key, s);
    return s;
}

char *shared_record(const struct shared_cause *s)
{
    struct text t = {0};
    text_add(&t, "{\"nodes\":");
    text_add_json(&t, s->nodes);
    text_add(&t, ",\"why\":");
    text_add_json(&t, s->why);
    text_printf(&t, ",\"since\":\"%lld\",\"severity\":\"%s\"}", (long long)s->since.ns,
                result_name(s->severity));
    return text_take(&t);
}

static int by_key(const struct shared_slot *a, const struct shared_slot *b)
{
    return strcmp(a->s.key, b->s.key);
}

static int read_shared(const json_t *o, struct shared_cause *out, struct err *e)
{
    static const char *const keys[] = {"nodes", "why", "since", "severity"};
    const char *nodes, *why;
    uint64_t since;
    if (json_only_keys(o, keys, 4, e) < 0 || json_take_string(o, "nodes", &nodes, e) < 0 ||
        json_take_clause(o, "why", REASON_BYTES_MAX, &why, e) < 0 || record_time(o, "since", &since, e) < 0 ||
        record_result(o, "severity", &out->severity, e) < 0)
        return -EINVAL;
    CLEANUP_HOSTLIST struct hostlist list = {0};
    if (hostlist_parse(nodes, &list, e) < 0)
        return -EINVAL;
    if (list.n == 0)
        return err_set(e, -EINVAL, "a shared cause on no node");
    out->since.ns = (int64_t)since;
    out->nodes = mem_dup(nodes);
    out->why = mem_dup(why);
    return 0;
}

int put_shared(struct cluster *c, const char *key, const char *value, struct err *e)
{
    if (!value) {
        shared_drop(c, find_shared(c, key));
        return 0;
    }
    if (*key == '\0' || strlen(key) > SHARED_KEY_BYTES_MAX)
        return err_set(e, -EILSEQ, "a key of %zu bytes; it has 1 to %d", strlen(key), SHARED_KEY_BYTES_MAX);
    CLEANUP_JSON json_t *o = record_object(value, e);
    struct shared_cause read = {0};
    if (!o || read_shared(o, &read, e) < 0)
        return -EILSEQ;
    shared_drop(c, find_shared(c, key));
    struct shared_slot *s = mem_alloc(sizeof *s);
    s->s = read;
    s->s.key = mem_dup(key);
    HASH_ADD_KEYPTR(hh, c->shared, s->s.key, strlen(s->s.key), s);
    HASH_SORT(c->shared, by_key);
    CLEANUP_FREE char *record = shared_record(&s->s);
    c->sum += record_sum(key, record);
    return 0;
}

void cluster_each_shared(const struct cluster *c, shared_fn *fn, void *arg)
{
    for (const struct shared_slot *s = c->shared; s; s = s->hh.next)
        fn(arg, &s->s);
}

const struct shared_cause *cluster_shared(const struct cluster *c, const char *key)
{
    const struct shared_slot *s = find_shared(c, key);
    return s ? &s->s : NULL;
}

/* --- what came of remedies -------------------------------------------------------------------- */

static struct tally *find_tally(const struct cluster *c, const char *remedy)
{
    struct tally *t;
    HASH_FIND_STR(c->tallies, remedy, t);
    return t;
}

static void tally_fini(struct tally *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->rows[i].key);
    free(t->rows);
    free(t->remedy);
}

static int row_order(const void *a, const void *b)
{
    return strcmp(((const struct tally_row *)a)->key, ((const struct tally_row *)b)->key);
}

static int key_order(const void *key, const void *row)
{
    return strcmp(key, ((const struct tally_row *)row)->key);
}

static struct tally_row *tally_find(const struct tally *t, const char *key)
{
    return t && t->n ? bsearch(key, t->rows, t->n, sizeof *t->rows, key_order) : NULL;
}

static char *tally_record(const struct tally *t)
{
    struct text out = {0};
    text_add(&out, "{\"counts\":{");
    for (size_t i = 0; i < t->n; i++) {
        text_add(&out, i ? "," : "");
        text_add_json(&out, t->rows[i].key);
        text_printf(&out, ":[%u,%u]", t->rows[i].of.helped, t->rows[i].of.failed);
    }
    text_add(&out, "}}");
    return text_take(&out);
}

static void tally_drop(struct cluster *c, struct tally *t)
{
    if (!t)
        return;
    CLEANUP_FREE char *record = tally_record(t);
    c->sum -= record_sum(t->remedy, record);
    HASH_DEL(c->tallies, t);
    tally_fini(t);
    free(t);
}

static int read_count(const json_t *pair, size_t i, uint32_t *out)
{
    const json_t *n = json_array_get(pair, i);
    if (!json_is_integer(n) || json_integer_value(n) < 0 || json_integer_value(n) > UINT32_MAX)
        return -EINVAL;
    *out = (uint32_t)json_integer_value(n);
    return 0;
}

static int read_row(const char *key, const json_t *pair, struct tally_row *out, struct err *e)
{
    const char *blank = strchr(key, ' ');
    size_t fault = blank ? (size_t)(blank - key) : 0;
    if (fault == 0 || fault > FAULT_BYTES_MAX || strlen(blank + 1) > CLASS_NAME_BYTES_MAX ||
        !text_is_clean(key))
        return err_set(e, -EINVAL, "\"%.120s\" is no fault and class", key);
    if (!json_is_array(pair) || json_array_size(pair) != 2 || read_count(pair, 0, &out->of.helped) < 0 ||
        read_count(pair, 1, &out->of.failed) < 0)
        return err_set(e, -EINVAL, "%.120s: not two counts", key);
    out->key = mem_dup(key);
    return 0;
}

static int read_tally(const json_t *o, struct tally *out, struct err *e)
{
    static const char *const keys[] = {"counts"};
    json_t *counts = json_object_get(o, "counts");
    if (json_only_keys(o, keys, 1, e) < 0)
        return -EINVAL;
    if (!json_is_object(counts) || json_object_size(counts) > TALLIES_A_REMEDY_MAX)
        return err_set(e, -EINVAL, "\"counts\" is no object of at most %d", TALLIES_A_REMEDY_MAX);
    out->rows = mem_alloc((json_object_size(counts) + 1) * sizeof *out->rows);
    const char *key;
    json_t *pair;
    json_object_foreach (counts, key, pair) {
        if (read_row(key, pair, &out->rows[out->n], e) < 0)
            return -EINVAL;
        out->n++;
    }
    qsort(out->rows, out->n, sizeof *out->rows, row_order);
    return 0;
}

int put_tally(struct cluster *c, const char *remedy, const char *value, struct err *e)
{
    if (!value) {
        tally_drop(c, find_tally(c, remedy));
        return 0;
    }
    if (*remedy == '\0' || strlen(remedy) > REMEDY_NAME_BYTES_MAX)
        return err_set(e, -EILSEQ, "the name of a remedy has 1 to %d bytes", REMEDY_NAME_BYTES_MAX);
    CLEANUP_JSON json_t *o = record_object(value, e);
    struct tally read = {0};
    if (!o || read_tally(o, &read, e) < 0) {
        tally_fini(&read);
        return -EILSEQ;
    }
    tally_drop(c, find_tally(c, remedy));
    struct tally *t = mem_alloc(sizeof *t);
    *t = read;
    t->remedy = mem_dup(remedy);
    HASH_ADD_KEYPTR(hh, c->tallies, t->remedy, strlen(t->remedy), t);
    CLEANUP_FREE char *record = tally_record(t);
    c->sum += record_sum(remedy, record);
    return 0;
}

struct outcomes cluster_outcomes(const struct cluster *c, const char *fault, const char *remedy,
                                 const char *class)
{
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "%s %s", fault, class);
    const struct tally_row *row = tally_find(find_tally(c, remedy), key.s);
    return row ? row->of : (struct outcomes){0, 0};
}

bool tally_edit_has(const struct tally_edit *x, const char *remedy)
{
    for (size_t i = 0; i < x->n; i++)
        if (strcmp(x->list[i].remedy, remedy) == 0)
            return true;
    return false;
}

/* The copy that is being changed; made when there is none. */
static struct tally *edit_of(const struct cluster *c, struct tally_edit *x, const char *remedy)
{
    const struct tally *is = find_tally(c, remedy);
    for (size_t i = 0; i < x->n; i++)
        if (strcmp(x->list[i].remedy, remedy) == 0)
            return &x->list[i];
    x->list = mem_grow(x->list, (x->n + 1) * sizeof *x->list);
    struct tally *t = &x->list[x->n++];
    *t = (struct tally){.remedy = mem_dup(remedy), .n = is ? is->n : 0};
    t->rows = mem_alloc((TALLIES_A_REMEDY_MAX + 1) * sizeof *t->rows);
    for (size_t i = 0; i < t->n; i++)
        t->rows[i] = (struct tally_row){mem_dup(is->rows[i].key), is->rows[i].of};
    return t;
}

static void count_one(struct tally *t, const char *key, bool helped, bool back)
{
    assert(t->n <= TALLIES_A_REMEDY_MAX);
    struct tally_row *row = tally_find(t, key);
    if (!row && !back && t->n < TALLIES_A_REMEDY_MAX) {
        t->rows[t->n++] = (struct tally_row){.key = mem_dup(key)};
        qsort(t->rows, t->n, sizeof *t->rows, row_order);
        row = tally_find(t, key);
    }
    uint32_t *n = !row ? NULL : helped ? &row->of.helped : &row->of.failed;
    if (n)
        *n += back ? -(uint32_t)(*n > 0)
                   : *n < UINT32_MAX; /* the highest count stays; it does not begin again */
}

void tally_count(const struct cluster *c, struct tally_edit *x, const char *remedy, const char *class,
                 const char *fault, bool helped, bool back)
{
    assert(remedy && class && fault);
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "%s %s", fault, class);
    count_one(edit_of(c, x, remedy), key.s, helped, back);
}

void tally_edit_put(struct tally_edit *x, struct decision *d)
{
    for (size_t i = 0; i < x->n; i++) {
        decision_add(d, "tally/", x->list[i].remedy, tally_record(&x->list[i]));
        tally_fini(&x->list[i]);
    }
    free(x->list);
    *x = (struct tally_edit){0};
}

/* --- switches --------------------------------------------------------------------------------- */

bool switch_known(const char *name)
{
    return strcmp(name, "stop") == 0 || strcmp(name, "latch") == 0;
}

char *switch_record(const char *by, struct wall at, const char *why)
{
    struct text t = {0};
    text_add(&t, "{\"on\":true,\"by\":");
    text_add_json(&t, by);
    text_printf(&t, ",\"at\":\"%lld\",\"why\":", (long long)at.ns);
    text_add_json(&t, why);
    text_add_char(&t, '}');
    return text_take(&t);
}

static struct switch_slot *find_switch(const struct cluster *c, const char *name)
{
    struct switch_slot *s;
    HASH_FIND_STR(c->switches, name, s);
    return s;
}

static uint64_t switch_sum(const struct switch_slot *s)
{
    CLEANUP_FREE char *record = switch_record(s->by, s->at, s->why);
    return record_sum(s->name, record);
}

static void switch_drop(struct cluster *c, struct switch_slot *s)
{
    if (!s)
        return;
    c->sum -= switch_sum(s);
    HASH_DEL(c->switches, s);
    free(s->name);
    free(s->by);
    free(s->why);
    free(s->words);
    free(s);
}

int put_switch(struct cluster *c, const char *name, const char *value, struct err *e)
{
    static const char *const keys[] = {"on", "by", "at", "why"};
    if (!value) {
        switch_drop(c, find_switch(c, name));
        return 0;
    }
    CLEANUP_JSON json_t *o = record_object(value, e);
    const char *by, *why;
    uint64_t at;
    bool on;
    if (!switch_known(name))
        return err_set(e, -EILSEQ, "\"%.40s\" is no switch that this version knows", name);
    if (!o || json_only_keys(o, keys, 4, e) < 0 || json_take_bool(o, "on", &on, e) < 0 ||
        json_take_string(o, "by", &by, e) < 0 || record_time(o, "at", &at, e) < 0 ||
        json_take_clause(o, "why", REASON_BYTES_MAX, &why, e) < 0)
        return -EILSEQ;
    if (!on)
        return err_set(e, -EILSEQ, "a switch that is off has no record");
    switch_drop(c, find_switch(c, name));
    struct switch_slot *s = mem_alloc(sizeof *s);
    s->name = mem_dup(name);
    s->by = mem_dup(by);
    s->why = mem_dup(why);
    s->at.ns = (int64_t)at;
    struct text words = {0};
    text_printf(&words, *why ? "%s: %s" : "%s", by, why);
    s->words = text_take(&words);
    HASH_ADD_KEYPTR(hh, c->switches, s->name, strlen(s->name), s);
    c->sum += switch_sum(s);
    return 0;
}

const char *cluster_switch(const struct cluster *c, const char *name)
{
    const struct switch_slot *s = find_switch(c, name);
    return s ? s->words : NULL;
}

/* --- isolations ------------------------------------------------------------------------------- */

static char *surge_record(const struct wall *at, size_t n)
{
    struct text t = {0};
    text_add(&t, "{\"at\":[");
    for (size_t i = 0; i < n; i++)
        text_printf(&t, "%s\"%lld\"", i ? "," : "", (long long)at[i].ns);
    text_add(&t, "]}");
    return text_take(&t);
}

static uint64_t surge_sum(const struct cluster *c)
{
    CLEANUP_FREE char *record = surge_record(c->isolated, c->n_isolated);
    return c->n_isolated ? record_sum("surge/isolated", record) : 0;
}

static void take_isolations(struct cluster *c, struct wall *at, size_t n)
{
    c->sum -= surge_sum(c);
    free(c->isolated);
    c->isolated = at;
    c->n_isolated = n;
    c->sum += surge_sum(c);
}

static int read_isolations(const json_t *list, struct wall *out, struct err *e)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        uint64_t ns;
        if (!text || text_parse_u64(text, 0, INT64_MAX, &ns, NULL) < 0)
            return err_set(e, -EILSEQ, "at: %zu is no time", i + 1);
        out[i].ns = (int64_t)ns;
    }
    return 0;
}

int put_surge(struct cluster *c, const char *name, const char *value, struct err *e)
{
    static const char *const keys[] = {"at"};
    if (strcmp(name, "isolated") != 0)
        return err_set(e, -EILSEQ, "\"%.40s\" is nothing of a surge that this version knows", name);
    if (!value) {
        take_isolations(c, NULL, 0);
        return 0;
    }
    CLEANUP_JSON json_t *o = record_object(value, e);
    if (!o || json_only_keys(o, keys, 1, e) < 0)
        return -EILSEQ;
    const json_t *list = json_object_get(o, "at");
    size_t n = json_array_size(list);
    if (n == 0 || n > ISOLATIONS_KEPT_MAX)
        return err_set(e, -EILSEQ, "\"at\" is no array of 1 to %d", ISOLATIONS_KEPT_MAX);
    CLEANUP_FREE struct wall *at = mem_alloc(n * sizeof *at);
    if (read_isolations(list, at, e) < 0)
        return -EILSEQ;
    take_isolations(c, STEAL(at), n);
    return 0;
}

size_t cluster_isolations(const struct cluster *c, const struct wall **out)
{
    *out = c->isolated;
    return c->n_isolated;
}

char *surge_record_with(const struct cluster *c, struct wall at, uint64_t keep)
{
    assert(keep > 0);
    keep = keep < ISOLATIONS_KEPT_MAX ? keep : ISOLATIONS_KEPT_MAX;
    size_t old = c->n_isolated < keep ? c->n_isolated : (size_t)keep - 1;
    CLEANUP_FREE struct wall *all = mem_alloc((old + 1) * sizeof *all);
    if (old)
        memcpy(all, c->isolated + c->n_isolated - old, old * sizeof *all);
    all[old] = at;
    return surge_record(all, old + 1);
}

void health_forget(struct cluster *c)
{
    take_isolations(c, NULL, 0);
    struct shared_slot *s, *next_shared;
    HASH_ITER (hh, c->shared, s, next_shared)
        shared_drop(c, s);
    struct tally *t, *next_tally;
    HASH_ITER (hh, c->tallies, t, next_tally)
        tally_drop(c, t);
    struct switch_slot *w, *next_switch;
    HASH_ITER (hh, c->switches, w, next_switch)
        switch_drop(c, w);
}
