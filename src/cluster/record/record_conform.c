/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of conformance to state: what nodes were seen to be, drift, lists of components. As in
 * record.c, a record is read whole before anything changes. A list/ record is believed only when it hashes
 * to its key; a list that a baseline names may come before or after the baseline.
 */
#include "cluster/record/record.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const drift_state_names[] = {[DRIFT_OPEN] = "open",
                                                [DRIFT_PERSISTS] = "persists",
                                                [DRIFT_OVERDUE] = "overdue",
                                                [DRIFT_REMEDIED] = "remedied"};

const char *drift_state_name(enum drift_state s)
{
    return drift_state_names[s];
}

/* --- what several records have -------------------------------------------------------------- */

/* --- seen ------------------------------------------------------------------------------------ */

static int check_sight(const json_t *o, struct err *e)
{
    static const char *const keys[] = {"fingerprint", "since", "named", "count"};
    struct fingerprint id;
    uint64_t since, count;
    const char *named;
    if (!json_is_object(o))
        return err_set(e, -EINVAL, "an entry of the history is no object");
    if (json_only_keys(o, keys, 4, e) < 0 || record_fingerprint(o, "fingerprint", &id, e) < 0 ||
        record_time(o, "since", &since, e) < 0 || record_named(o, &named, e) < 0 ||
        json_take_u64(o, "count", UINT32_MAX, &count, e) < 0)
        return -EINVAL;
    return 0;
}

static int check_history(const json_t *history, struct err *e)
{
    if (!json_is_array(history))
        return err_set(e, -EINVAL, "\"history\" is no array");
    if (json_array_size(history) > SEEN_KEPT_MAX)
        return err_set(e, -EINVAL, "a history of %zu; it has %d at most", json_array_size(history),
                       SEEN_KEPT_MAX);
    for (size_t i = 0; i < json_array_size(history); i++)
        if (check_sight(json_array_get(history, i), e) < 0)
            return err_wrap(e, -EINVAL, "history %zu", i + 1);
    return 0;
}

/* The seen record's part of the sum. */
static uint64_t seen_sum(const struct member *m)
{
    char hex[FINGERPRINT_HEX + 1];
    if (!m->seen)
        return 0;
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "%s %lld %s", fingerprint_format(&m->seen->id, hex), (long long)m->seen_since.ns,
                m->past && m->past->history ? m->past->history : "[]");
    return record_sum(m->name, t.s);
}

/* Takes history over. */
static void take_seen(struct cluster *c, struct member *m, const struct fingerprint *id, uint64_t since,
                      char *history)
{
    c->sum -= seen_sum(m);
    struct listing *before = m->seen;
    m->seen = id ? listings_get(c->listings, id) : NULL;
    m->seen_since = (struct wall){(int64_t)since};
    listing_unref(c->listings, before);
    if (m->past)
        free(STEAL(m->past->history));
    if (history)
        member_past(m)->history = history;
    past_trim(m);
    c->sum += seen_sum(m);
}

int put_seen(struct cluster *c, const char *name, const char *value, struct err *e)
{
    static const char *const keys[] = {"fingerprint", "since", "history"};
    if (record_name_check(name, e) < 0)
        return -EILSEQ;
    if (!value) {
        struct member *m = cluster_find(c, name);
        if (m)
            take_seen(c, m, NULL, 0, NULL);
        return 0;
    }
    CLEANUP_JSON json_t *o = record_object(value, e);
    struct fingerprint id;
    uint64_t since;
    if (!o || json_only_keys(o, keys, 3, e) < 0 || record_fingerprint(o, "fingerprint", &id, e) < 0 ||
        record_time(o, "since", &since, e) < 0)
        return -EILSEQ;
    const json_t *history = json_object_get(o, "history");
    if (check_history(history, e) < 0)
        return -EILSEQ;
    take_seen(c, cluster_meet(c, name), &id, since, json_array_size(history) ? json_write(history) : NULL);
    return 0;
}

/* --- drift ----------------------------------------------------------------------------------- */

const struct drift *member_drift(const struct member *m)
{
    return m->past ? m->past->drift : NULL;
}

void drift_fini(struct drift *d)
{
    free(d->class);
    free(d->named);
    *d = (struct drift){0};
}

int drift_check(const struct drift *d, struct err *e)
{
    if (*d->class == '\0' || strlen(d->class) > CLASS_NAME_BYTES_MAX)
        return err_set(e, -EINVAL, "the name of a class has 1 to %d bytes", CLASS_NAME_BYTES_MAX);
    if (d->severity == SEVERITY_IGNORE)
        return err_set(e, -EINVAL, "\"%s\" is no severity of drift", severity_name(d->severity));
    if (d->version == 0)
        return err_set(e, -EINVAL, "version 0; they count from 1");
    return record_named_check(d->named, e);
}

/* *out is the caller's to give to drift_fini after success. */
static int drift_read(const json_t *o, struct drift *out, struct err *e)
{
    const char *class, *severity, *named;
    uint64_t version, count;
    *out = (struct drift){0};
    if (json_take_string(o, "class", &class, e) < 0 ||
        json_take_u64(o, "version", UINT32_MAX, &version, e) < 0 ||
        record_fingerprint(o, "expected", &out->expected, e) < 0 ||
        record_fingerprint(o, "actual", &out->actual, e) < 0 ||
        json_take_string(o, "severity", &severity, e) < 0 || record_named(o, &named, e) < 0 ||
        json_take_u64(o, "count", UINT32_MAX, &count, e) < 0)
        return -EINVAL;
    if (!severity_parse(severity, &out->severity))
        return err_set(e, -EINVAL, "\"%s\" is no severity of drift", severity);
    out->version = (uint32_t)version;
    out->count = (uint32_t)count;
    out->class = mem_dup(class);
    out->named = mem_dup(named);
    int rc = drift_check(out, e);
    if (rc < 0)
        drift_fini(out);
    return rc;
}

char *drift_record(const struct drift *d)
{
    assert(d->class && d->named);
    char expected[FINGERPRINT_HEX + 1], actual[FINGERPRINT_HEX + 1];
    struct text t = {0};
    text_add(&t, "{\"class\":");
    text_add_json(&t, d->class);
    text_printf(&t, ",\"version\":%u,\"expected\":\"%s\",\"actual\":\"%s\",\"severity\":\"%s\",\"named\":",
                d->version, fingerprint_format(&d->expected, expected),
                fingerprint_format(&d->actual, actual), severity_name(d->severity));
    text_add_json(&t, d->named);
    text_printf(&t, ",\"count\":%u,\"since\":\"%lld\",\"boot\":\"%s\",\"state\":\"%s\"}", d->count,
                (long long)d->since.ns, d->boot, drift_state_name(d->state));
    return text_take(&t);
}

static int parse_state(const char *name, enum drift_state *out, struct err *e)
{
    for (int s = DRIFT_OPEN; s <= DRIFT_REMEDIED; s++) {
        if (strcmp(name, drift_state_name((enum drift_state)s)) == 0) {
            *out = (enum drift_state)s;
            return 0;
        }
    }
    return err_set(e, -EINVAL, "\"%s\" is no state of drift that this version knows", name);
}

/* The members that only the record has. */
static int read_standing(const json_t *o, struct drift *out, struct err *e)
{
    const char *boot, *state;
    uint64_t since;
    if (record_time(o, "since", &since, e) < 0 || json_take_string(o, "boot", &boot, e) < 0 ||
        json_take_string(o, "state", &state, e) < 0 || parse_state(state, &out->state, e) < 0)
        return -EINVAL;
    if (!boot_ok(boot))
        return err_set(e, -EINVAL, "\"%.80s\" is no boot id", boot);
    out->since = (struct wall){(int64_t)since};
    memcpy(out->boot, boot, strlen(boot) + 1);
    return 0;
}

static void take_drift(struct cluster *c, struct member *m, struct drift *d)
{
    if (member_drift(m)) {
        CLEANUP_FREE char *before = drift_record(m->past->drift);
        c->sum -= record_sum(m->name, before);
        drift_fini(m->past->drift);
        free(STEAL(m->past->drift));
    }
    if (d) {
        member_past(m)->drift = mem_alloc(sizeof *d);
        *m->past->drift = *d;
        CLEANUP_FREE char *now = drift_record(d);
        c->sum += record_sum(m->name, now);
    }
    past_trim(m);
}

int put_drift(struct cluster *c, const char *name, const char *value, struct err *e)
{
    static const char *const keys[] = {"class", "version", "expected", "actual", "severity",
                                       "named", "count",   "since",    "boot",   "state"};
    if (record_name_check(name, e) < 0)
        return -EILSEQ;
    if (!value) {
        struct member *m = cluster_find(c, name);
        if (m)
            take_drift(c, m, NULL);
        return 0;
    }
    CLEANUP_JSON json_t *o = record_object(value, e);
    struct drift d;
    if (!o || json_only_keys(o, keys, sizeof keys / sizeof keys[0], e) < 0 || drift_read(o, &d, e) < 0)
        return -EILSEQ;
    if (read_standing(o, &d, e) < 0) {
        drift_fini(&d);
        return -EILSEQ;
    }
    take_drift(c, cluster_meet(c, name), &d);
    return 0;
}

void member_forget_conform(struct cluster *c, struct member *m)
{
    take_seen(c, m, NULL, 0, NULL);
    take_drift(c, m, NULL);
    reboots_take(m, NULL);
}

/* --- lists ----------------------------------------------------------------------------------- */

static struct list_slot *find_list(const struct cluster *c, const struct fingerprint *id)
{
    struct list_slot *s;
    HASH_FIND(hh, c->lists, id, sizeof *id, s);
    return s;
}

bool cluster_has_list(const struct cluster *c, const struct fingerprint *id)
{
    return find_list(c, id) != NULL;
}

static void list_drop(struct cluster *c, struct list_slot *s)
{
    if (!s)
        return;
    char hex[FINGERPRINT_HEX + 1];
    c->sum -= record_sum("list/", fingerprint_format(&s->id, hex));
    HASH_DEL(c->lists, s);
    listing_unref(c->listings, s->listing);
    free(s);
}

static int read_list(const char *value, const struct fingerprint *id, struct components *out, struct err *e)
{
    static const char *const keys[] = {"components", "absent", "unknown"};
    CLEANUP_JSON json_t *o = record_object(value, e);
    if (!o || json_only_keys(o, keys, 3, e) < 0 || components_parse(out, o, e) < 0 ||
        components_sort(out, e) < 0)
        return -EILSEQ;
    struct fingerprint is = components_fingerprint(out);
    char hex[FINGERPRINT_HEX + 1];
    if (!fingerprint_equal(&is, id))
        return err_set(e, -EILSEQ, "the components have the fingerprint %s", fingerprint_format(&is, hex));
    return 0;
}

int put_list(struct cluster *c, const char *hex, const char *value, struct err *e)
{
    struct fingerprint id;
    if (!fingerprint_parse(hex, &id))
        return err_set(e, -EILSEQ, "\"%.80s\" is no fingerprint", hex);
    if (!value) {
        list_drop(c, find_list(c, &id));
        return 0;
    }
    struct components list = {0};
    int rc = read_list(value, &id, &list, e);
    if (rc == 0 && !find_list(c, &id)) {
        struct listing *g = listings_get(c->listings, &id);
        rc = listing_fill(c->listings, g, &list, e);
        if (rc == 0) {
            struct list_slot *s = mem_alloc(sizeof *s);
            s->id = id;
            s->listing = g;
            HASH_ADD(hh, c->lists, id, sizeof s->id, s);
            c->sum += record_sum("list/", hex);
        } else {
            listing_unref(c->listings, g);
        }
    }
    components_fini(&list);
    return rc < 0 ? -EILSEQ : 0;
}

/* Members are the caller's to forget. */
void conform_forget(struct cluster *c)
{
    struct baseline_slot *b, *next_baseline;
    HASH_ITER (hh, c->baselines, b, next_baseline)
        put_baseline(c, b->b.class, NULL, NULL);
    struct list_slot *s, *next_list;
    HASH_ITER (hh, c->lists, s, next_list)
        list_drop(c, s);
}
