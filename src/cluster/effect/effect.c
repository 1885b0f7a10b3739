/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outbox: what drivers are to bring about, and the results. There is one record of a kind for each
 * node, so an effect that was not carried out is replaced by what is wanted now.
 *
 * A driver writes what it is about to do into the record before it does it (`done`, pending). A record with
 * nothing done can go at once; a record with something done stays until the driver says that nothing is
 * left. The record of what a product does is in that product's words (product/product.h).
 */
#include "cluster/effect/effect.h"

#include "node/action.h"
#include "product/product.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { REBOOTS_COUNT_S = 7 * 24 * 3600 };

const char *member_outside_name(const struct member *m)
{
    return product_node_name(m->name, m->spec.xname);
}

bool cluster_is_told(const struct cluster *c, const struct member *m)
{
    return c->tells_drift && member_outside_name(m);
}

static const struct effect *find_effect(const struct cluster *c, enum product_effect effect,
                                        const struct member *m)
{
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "effect/%s%s", product_record(effect)->key, m->name);
    return cluster_effect(c, key.s);
}

static json_t *effect_object(const struct effect *f)
{
    return f ? json_read(f->value, strlen(f->value), NULL) : NULL;
}

static json_t *effect_decimal(struct wall at)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "%lld", (long long)at.ns);
    return json_string(t.s);
}

static void set_id(json_t *o, struct wall at)
{
    json_object_set_new(o, "id", effect_decimal(at));
}

static void add_effect(struct decision *d, enum product_effect effect, const struct member *m,
                       const json_t *o)
{
    CLEANUP_TEXT struct text prefix = {0};
    text_printf(&prefix, "effect/%s", product_record(effect)->key);
    decision_add(d, prefix.s, m->name, o ? json_write(o) : NULL);
}

/* --- drift ----------------------------------------------------------------------------------- */

static void tell_of_drift(const struct cluster *c, const struct member *m, const struct drift *drift,
                          struct wall at, struct decision *d)
{
    if (!cluster_is_told(c, m))
        return;
    CLEANUP_TEXT struct text components = {0};
    drift_summary(drift->named, drift->count, &components);
    const struct product_drift told = {.class = drift->class,
                                       .version = drift->version,
                                       .severity = drift->severity,
                                       .components = components.len ? components.s : "",
                                       .expected = &drift->expected,
                                       .actual = &drift->actual};
    CLEANUP_JSON json_t *was = effect_object(find_effect(c, PRODUCT_DRIFT, m)), *o = json_object();
    set_id(o, at);
    if (product_tell_drift(o, was, member_outside_name(m), &told))
        add_effect(d, PRODUCT_DRIFT, m, o);
}

static void tell_of_none(const struct cluster *c, const struct member *m, struct wall at, struct decision *d)
{
    CLEANUP_JSON json_t *o = effect_object(find_effect(c, PRODUCT_DRIFT, m));
    const json_t *want = json_object_get(o, "want");
    if (!o || json_is_null(want))
        return;
    if (json_is_null(json_object_get(o, "done"))) {
        add_effect(d, PRODUCT_DRIFT, m, NULL);
        return;
    }
    set_id(o, at);
    json_object_set_new(o, "want", json_null());
    add_effect(d, PRODUCT_DRIFT, m, o);
}

void effect_tell(const struct cluster *c, const struct member *m, const struct drift *drift, struct wall at,
                 struct decision *d)
{
    if (drift)
        tell_of_drift(c, m, drift, at, d);
    else
        tell_of_none(c, m, at, d);
}

bool cluster_drift_untold(const struct cluster *c, const struct member *m)
{
    const struct drift *drift = member_drift(m);
    if (!drift || drift->state == DRIFT_REMEDIED || !cluster_is_told(c, m))
        return false;
    const struct effect *f = find_effect(c, PRODUCT_DRIFT, m);
    return !f || !f->wants;
}

/* --- reboots --------------------------------------------------------------------------------- */

/* Times after now count too: the clock was set. */
unsigned cluster_reboots(const struct member *m, struct wall now)
{
    const struct reboots *r = m->past ? m->past->reboots : NULL;
    unsigned n = 0;
    for (size_t i = 0; r && i < r->n; i++)
        n += r->at[i].ns > now.ns - REBOOTS_COUNT_S * INT64_C(1000000000);
    return n;
}

bool cluster_reboot_wanted(const struct member *m, const char *boot)
{
    const struct reboots *r = m->past ? m->past->reboots : NULL;
    return r && r->boot[0] && strcmp(r->boot, boot) == 0;
}

static json_t *times_with(const struct member *m, struct wall at)
{
    const struct reboots *r = m->past ? m->past->reboots : NULL;
    json_t *times = json_array();
    for (size_t i = r && r->n == REBOOTS_KEPT_MAX; r && i < r->n; i++)
        json_array_append_new(times, effect_decimal(r->at[i]));
    json_array_append_new(times, effect_decimal(at));
    return times;
}

void effect_reboot(const struct cluster *c, const struct member *m, const char *boot, struct wall at,
                   struct decision *d)
{
    assert(boot && *boot);
    CLEANUP_JSON json_t *o = json_object();
    set_id(o, at);
    product_ask_reboot(o, member_outside_name(m), boot, member_class(c, m), times_with(m, at));
    add_effect(d, PRODUCT_REBOOT, m, o);
}

void effect_no_reboot(const struct cluster *c, const struct member *m, struct decision *d)
{
    CLEANUP_JSON json_t *o = effect_object(find_effect(c, PRODUCT_REBOOT, m));
    if (!o || json_is_null(json_object_get(o, "boot")))
        return;
    json_object_set_new(o, "boot", json_null());
    add_effect(d, PRODUCT_REBOOT, m, o);
}

/* --- what came of an effect ------------------------------------------------------------------ */

/* The key without "effect/"; "" for the key of another record. */
static const char *effect_rest(const char *key)
{
    return strncmp(key, "effect/", 7) == 0 ? key + 7 : "";
}

const char *effect_node(const char *key)
{
    const char *dot = strchr(effect_rest(key), '.');
    return dot ? dot + 1 : NULL;
}

/* The verdict of a check is JSON, and says itself in the repair. */
static void say_operation(const json_t *record, struct text *t)
{
    CLEANUP_OPERATION struct operation o = {0};
    operation_read(&o, record);
    bool is_verdict = action_of(o.run).kind == ACTION_CHECK && o.state == OPERATION_DONE;
    const char *state = operation_state_name(o.state);
    if (json_object_get(record, "by"))
        text_printf(t, "%s by %s: %s", o.run, json_text(record, "by"), state);
    else
        text_printf(t, "%s: %s", o.of, state);
    if (*o.text && !is_verdict)
        text_printf(t, ": %.256s", o.text);
}

/* The result of an earlier reboot says nothing about this one. */
static bool is_of_another(const json_t *o, const json_t *done)
{
    const json_t *id = json_object_get(done, "id");
    return id && !json_equal(id, json_object_get(o, "id"));
}

/* The driver of a product writes what came of an order into "done". */
static int take_done(const struct product_record *row, const char *key, json_t *o, json_t *done,
                     struct decision *d, struct text *said, struct err *e)
{
    if (!o || json_equal(json_object_get(o, "done"), done) || is_of_another(o, done))
        return 0; /* it is gone, or known */
    CLEANUP_JSON json_t *was = json_copy(o);
    json_object_set(o, "done", done);
    if (effect_check(effect_rest(key), o, e) < 0)
        return -EINVAL;
    bool over = json_is_null(done) && json_is_null(json_object_get(o, "want"));
    decision_add(d, "", key, over ? NULL : json_write(o));
    row->say(was, o, said);
    return 0;
}

/* A result that cannot be of this operation is of one before. */
static bool is_late(const json_t *was, const json_t *now)
{
    CLEANUP_OPERATION struct operation before = {0}, is = {0};
    operation_read(&before, was);
    operation_read(&is, now);
    return !operation_may_follow(before.state, is.state);
}

/* Which operation it is of, which repair that is of, and what it came to. */
static void operated_about(const struct cluster *c, const char *key, const json_t *o, struct decision *d)
{
    struct entry_fields *f = &d->fields;
    const struct member *m = cluster_find(c, effect_node(key));
    const char *id = json_text(o, "id");
    decision_about(d, ENTRY_OPERATIONS, id);
    const struct repair *r = m && m->past ? m->past->repair : NULL;
    f->outcome = entry_outcome_find(json_text(json_object_get(o, "done"), "state"));
    if (!r || strcmp(r->operation, id) != 0)
        return;
    decision_about(d, ENTRY_REPAIRS, r->id);
    if (strcmp(r->remedy, json_text(o, "of")) == 0)
        memcpy(f->remedy, r->remedy, sizeof f->remedy);
}

static int take_operated(const struct cluster *c, const char *key, json_t *o, json_t *done,
                         struct decision *d, struct text *said, struct err *e)
{
    CLEANUP_JSON json_t *now = json_copy(o);
    if (!o || is_of_another(o, done))
        return 0;
    json_object_set(now, "done", done);
    if (effect_check(effect_rest(key), now, e) < 0)
        return -EINVAL;
    if (is_late(o, now))
        return 0;
    decision_add(d, "", key, json_write(now));
    operated_about(c, key, now, d);
    say_operation(now, said);
    return 0;
}

/* Only the driver knows what Fettle has written into the scheduler. */
int effect_take_note(const struct cluster *c, const char *key, const json_t *done, struct wall at,
                     struct decision *d, struct text *said, struct err *e)
{
    const char *rest = effect_rest(key);
    const struct product_record *row = product_record_find(rest);
    assert(row && row->is_note);
    CLEANUP_JSON json_t *o = effect_object(cluster_effect(c, key));
    if (json_is_null(done)) {
        if (effect_check(rest, NULL, e) < 0)
            return -EINVAL;
        if (!o)
            return 0;
        decision_add(d, "", key, NULL);
        decision_about(d, ENTRY_CLAIMS, json_text(o, "claim"));
        row->say(o, NULL, said);
        return 0;
    }
    CLEANUP_JSON json_t *now = json_object();
    set_id(now, at);
    if (o)
        json_object_set(now, "id", json_object_get(o, "id"));
    if (!json_is_object(done) || json_object_get(done, "id"))
        return err_set(e, -EINVAL, "\"done\" is neither null nor an object without id");
    CLEANUP_JSON json_t *copy = json_deep_copy(done);
    json_object_update(now, copy);
    if (effect_check(rest, now, e) < 0)
        return -EINVAL;
    if (json_equal(o, now))
        return 0;
    decision_add(d, "", key, json_write(now));
    decision_about(d, ENTRY_CLAIMS, o ? json_text(o, "claim") : NULL);
    decision_about(d, ENTRY_CLAIMS, json_text(now, "claim"));
    row->say(o, now, said);
    return 0;
}

static json_t *read_done(const char *done, struct err *e)
{
    return strcmp(done, "null") == 0 ? json_null() : json_read(done, strlen(done), e);
}

int decide_effect(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    const char *key = cmd->effect.key;
    CLEANUP_TEXT struct text said = {0};
    CLEANUP_JSON json_t *done = read_done(cmd->effect.done, e);
    if (!done)
        return -EINVAL;
    CLEANUP_JSON json_t *o = effect_object(cluster_effect(c, key));
    const struct product_record *row = product_record_find(effect_rest(key));
    int rc = 0; /* a result of a kind that this version does not know has no record */
    if (row && row->is_note)
        rc = effect_take_note(c, key, done, cmd->at, d, &said, e);
    else if (row)
        rc = take_done(row, key, o, done, d, &said, e);
    else if (operate_key_node(key) || power_key_node(key))
        rc = take_operated(c, key, o, done, d, &said, e);
    if (rc == 0 && d->n_ops) {
        hostlist_add(&d->changed, effect_node(key));
        d->text = text_take(&said);
    }
    return rc;
}
