/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of conformance to state: what nodes were seen to be, drift, lists of components, effects. As in
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

/* One of "times", -EINVAL behind the last. */
static int take_time(const json_t *times, size_t i, uint64_t *out, struct err *e)
{
    const char *at = json_string_value(json_array_get(times, i));
    if (!at)
        return err_set(e, -EINVAL, "times: %zu is no string", i + 1);
    return text_parse_u64(at, 0, INT64_MAX, out, e) < 0 ? err_wrap(e, -EINVAL, "times") : 0;
}

/* o is the checked object of its effect's record, NULL when that is gone. */
static void take_reboots(struct member *m, const json_t *o)
{
    if (m->past)
        free(STEAL(m->past->reboots));
    if (o) {
        struct reboots *r = member_past(m)->reboots = mem_alloc(sizeof *r);
        const char *boot = json_string_value(json_object_get(o, "boot"));
        const json_t *times = json_object_get(o, "times");
        snprintf(r->boot, sizeof r->boot, "%s", boot ? boot : "");
        for (uint64_t at; take_time(times, r->n, &at, NULL) == 0; r->n++)
            r->at[r->n].ns = (int64_t)at;
    }
    past_trim(m);
}

void member_forget_conform(struct cluster *c, struct member *m)
{
    take_seen(c, m, NULL, 0, NULL);
    take_drift(c, m, NULL);
    take_reboots(m, NULL);
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

/* --- effects --------------------------------------------------------------------------------- */

enum { TEXT, TEXT_OR_NULL };

static int check_texts(const json_t *o, const char *const *keys, size_t n, int kind, struct err *e)
{
    const char *text;
    for (size_t i = 0; i < n; i++) {
        if (kind == TEXT_OR_NULL && json_is_null(json_object_get(o, keys[i])))
            continue;
        if (json_take_string(o, keys[i], &text, e) < 0)
            return -EINVAL;
    }
    return 0;
}

/* The wanted or present state in the State Manager: the first `known` of these keys may occur; the first
 * four are texts. */
static int check_marks(const json_t *o, const char *key, size_t known, int kind, struct err *e)
{
    static const char *const keys[] = {"flag", "status", "group", "message", "pending", "error"};
    const json_t *marks = json_object_get(o, key), *pending = json_object_get(marks, "pending");
    if (json_is_null(marks))
        return 0;
    if (!json_is_object(marks))
        return err_set(e, -EINVAL, "\"%s\" is neither null nor an object", key);
    if (json_only_keys(marks, keys, known, e) < 0 || check_texts(marks, keys, 4, kind, e) < 0)
        return err_wrap(e, -EINVAL, "%s", key);
    if (pending && !json_is_true(pending))
        return err_set(e, -EINVAL, "%s: \"pending\" is not true", key);
    if (json_object_get(marks, "error") && check_texts(marks, keys + 5, 1, TEXT, e) < 0)
        return err_wrap(e, -EINVAL, "%s", key);
    size_t len = json_string_length(json_object_get(marks, "status"));
    if (len > OCHAMI_STATUS_BYTES_MAX)
        return err_set(e, -EINVAL, "%s: a status of %zu bytes; it has %d at most", key, len,
                       OCHAMI_STATUS_BYTES_MAX);
    return 0;
}

/* When it was wanted, and the node's name in OpenCHAMI. */
static int check_order(const json_t *o, struct err *e)
{
    const char *xname;
    uint64_t id;
    return record_time(o, "id", &id, e) < 0 || json_take_string(o, "xname", &xname, e) < 0 ? -EINVAL : 0;
}

static int check_ochami(const json_t *o, struct err *e)
{
    static const char *const keys[] = {"id", "xname", "want", "done"};
    if (check_order(o, e) < 0 || json_only_keys(o, keys, 4, e) < 0 ||
        check_marks(o, "want", 4, TEXT, e) < 0 || check_marks(o, "done", 6, TEXT_OR_NULL, e) < 0)
        return -EINVAL;
    return 0;
}

static int check_step(const json_t *done, struct err *e)
{
    static const struct {
        const char *step, *detail; /* beside the step itself */
        int kind;
    } steps[] = {{"image", NULL, TEXT},           {"asking", "after", TEXT},
                 {"asked", "transition", TEXT},   {"completed", NULL, TEXT},
                 {"failed", "why", TEXT_OR_NULL}, {"refused", "why", TEXT_OR_NULL}};
    const char *step;
    if (json_is_null(done))
        return 0;
    if (!json_is_object(done))
        return err_set(e, -EINVAL, "\"done\" is neither null nor an object");
    if (json_take_string(done, "step", &step, e) < 0)
        return -EINVAL;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const char *const keys[] = {"step", "id", steps[i].detail};
        size_t n = steps[i].detail ? 3 : 2;
        if (strcmp(step, steps[i].step) != 0)
            continue;
        return json_only_keys(done, keys, n, e) < 0 ? -EINVAL
                                                    : check_texts(done, keys + 2, n - 2, steps[i].kind, e);
    }
    return err_set(e, -EINVAL, "\"%s\" is no step of a reboot that this version knows", step);
}

/* There are none in a record that an earlier version made. */
static int check_times(const json_t *times, struct err *e)
{
    if (times && (!json_is_array(times) || json_array_size(times) > REBOOTS_KEPT_MAX))
        return err_set(e, -EINVAL, "\"times\" is no array of at most %d", REBOOTS_KEPT_MAX);
    for (size_t i = 0; i < json_array_size(times); i++) {
        uint64_t at;
        if (take_time(times, i, &at, e) < 0)
            return -EINVAL;
    }
    return 0;
}

static int check_reboot(const json_t *o, struct err *e)
{
    static const char *const keys[] = {"id", "xname", "boot", "image", "times", "done"};
    static const char *const images[] = {"kernel", "initrd", "params"};
    const json_t *image = json_object_get(o, "image");
    const char *boot = NULL;
    bool is_wanted = !json_is_null(json_object_get(o, "boot"));
    if (check_order(o, e) < 0 || json_only_keys(o, keys, 6, e) < 0 ||
        (is_wanted && json_take_string(o, "boot", &boot, e) < 0) ||
        check_times(json_object_get(o, "times"), e) < 0 || check_step(json_object_get(o, "done"), e) < 0)
        return -EINVAL;
    if (is_wanted && !boot_ok(boot))
        return err_set(e, -EINVAL, "\"%.80s\" is no boot id", boot);
    if (!json_is_null(image) && !json_is_object(image))
        return err_set(e, -EINVAL, "\"image\" is neither null nor an object");
    if (json_is_null(image))
        return 0;
    return json_only_keys(image, images, 3, e) < 0 ? -EINVAL : check_texts(image, images, 3, TEXT_OR_NULL, e);
}

int effect_check(const char *key, const json_t *o, struct err *e)
{
    static const struct {
        const char *prefix;
        int (*check)(const json_t *o, struct err *e);
    } kinds[] = {{"ochami.", check_ochami},
                 {"reboot.", check_reboot},
                 {"operate.", check_operate},
                 {"power.", check_power},
                 {"slurm.", check_slurm}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t len = strlen(kinds[i].prefix);
        if (strncmp(key, kinds[i].prefix, len) != 0)
            continue;
        if (record_name_check(key + len, e) < 0)
            return -EINVAL;
        return o ? kinds[i].check(o, e) : 0;
    }
    return err_set(e, -EINVAL, "\"%.80s\" is no kind of effect that this version knows", key);
}

static struct effect *find_effect(const struct cluster *c, const char *key)
{
    struct effect *f;
    HASH_FIND_STR(c->effects, key, f);
    return f;
}

const struct effect *cluster_effect(const struct cluster *c, const char *key)
{
    return find_effect(c, key);
}

const char *cluster_effect_value(const struct cluster *c, const char *key)
{
    const struct effect *f = find_effect(c, key);
    return f ? f->value : NULL;
}

static void effect_operation(const struct cluster *c, const char *prefix, const struct member *m,
                             struct operation *out)
{
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "%s%s", prefix, m->name);
    operation_parse(out, cluster_effect_value(c, key.s));
}

void cluster_operation(const struct cluster *c, const struct member *m, struct operation *out)
{
    effect_operation(c, OPERATE_KEY, m, out);
}

void cluster_power(const struct cluster *c, const struct member *m, struct operation *out)
{
    effect_operation(c, POWER_KEY, m, out);
}

static void effect_drop(struct cluster *c, struct effect *f)
{
    if (!f)
        return;
    c->sum -= record_sum(f->key, f->value);
    HASH_DEL(c->effects, f);
    free(f->key);
    free(f->value);
    free(f);
}

static void remember_reboots(struct cluster *c, const char *name, const json_t *o)
{
    struct member *m = o ? cluster_meet(c, name) : cluster_find(c, name);
    if (m)
        take_reboots(m, o);
}

/* Fettle's drain or reservation stands in Slurm until the driver read that it does not. */
static void note_slurm(struct cluster *c, const char *node, const json_t *o)
{
    static const char *const states[] = {"draining", "drained", "undraining", "reserved"};
    const char *state = "";
    struct member *m = o ? cluster_meet(c, node) : cluster_find(c, node);
    if (!m)
        return;
    m->held_in_slurm = false;
    if (o && json_take_string(o, "state", &state, NULL) == 0)
        for (size_t i = 0; i < sizeof states / sizeof *states; i++)
            m->held_in_slurm |= strcmp(state, states[i]) == 0;
}

int put_effect(struct cluster *c, const char *rest, const char *value, struct err *e)
{
    CLEANUP_JSON json_t *o = value ? record_object(value, e) : NULL;
    if ((value && !o) || effect_check(rest, o, e) < 0)
        return -EILSEQ;
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "effect/%s", rest);
    struct effect *f = find_effect(c, key.s);
    bool was = f != NULL;
    effect_drop(c, f);
    if (value) {
        f = mem_alloc(sizeof *f);
        f->key = mem_dup(key.s);
        f->value = json_write(o);
        f->wants = json_is_object(json_object_get(o, "want"));
        c->sum += record_sum(f->key, f->value);
        HASH_ADD_KEYPTR(hh, c->effects, f->key, strlen(f->key), f);
    }
    if (strncmp(rest, "reboot.", 7) == 0)
        remember_reboots(c, rest + 7, o);
    if (strncmp(rest, "slurm.", 6) == 0)
        note_slurm(c, rest + 6, o);
    if (c->on_effect && (was || value))
        c->on_effect(c->on_effect_arg, key.s, value);
    return 0;
}

void cluster_on_effect(struct cluster *c, cluster_effect_fn *fn, void *arg)
{
    c->on_effect = fn;
    c->on_effect_arg = arg;
    for (const struct effect *f = c->effects; fn && f; f = f->hh.next)
        fn(arg, f->key, f->value);
}

/* Members are the caller's to forget. */
void conform_forget(struct cluster *c)
{
    struct effect *f, *next_effect;
    c->on_effect = NULL;
    HASH_ITER (hh, c->effects, f, next_effect)
        effect_drop(c, f);
    struct baseline_slot *b, *next_baseline;
    HASH_ITER (hh, c->baselines, b, next_baseline)
        put_baseline(c, b->b.class, NULL, NULL);
    struct list_slot *s, *next_list;
    HASH_ITER (hh, c->lists, s, next_list)
        list_drop(c, s);
}
