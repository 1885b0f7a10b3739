/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outbox: what drivers are to bring about, and the results. There is one record of a kind for each
 * node, so an effect that was not carried out is replaced by what is wanted now.
 *
 * A driver writes what it is about to do into the record before it does it (`done`, pending). A record with
 * nothing done can go at once; a record with something done stays until the driver says that nothing is
 * left.
 */
#include "cluster/effect/effect.h"

#include "node/action.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { REBOOTS_COUNT_S = 7 * 24 * 3600 };

static bool effect_digits(const char **p)
{
    size_t n = strspn(*p, "0123456789");
    *p += n;
    return n > 0;
}

/* As the State Manager names a node: x1000c0s0b0n0. */
static bool is_xname(const char *name)
{
    for (const char *part = "xcsbn"; *part; part++)
        if (*name++ != *part || !effect_digits(&name))
            return false;
    return *name == '\0';
}

const char *member_xname(const struct member *m)
{
    if (m->spec.xname)
        return m->spec.xname;
    return is_xname(m->name) ? m->name : NULL;
}

bool cluster_in_ochami(const struct cluster *c, const struct member *m)
{
    return c->tells_ochami && member_xname(m);
}

static const struct effect *find_effect(const struct cluster *c, const char *kind, const struct member *m)
{
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "effect/%s%s", kind, m->name);
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

static void add_effect(struct decision *d, const char *kind, const struct member *m, const json_t *o)
{
    assert(kind && m);
    CLEANUP_TEXT struct text prefix = {0};
    text_printf(&prefix, "effect/%s", kind);
    decision_add(d, prefix.s, m->name, o ? json_write(o) : NULL);
}

/* --- the State Manager ----------------------------------------------------------------------- */

static json_t *flag_for(const struct drift *drift)
{
    char hex[FINGERPRINT_HEX + 1];
    CLEANUP_TEXT struct text status = {0}, message = {0};
    text_printf(&status, "drift:%s:%.12s", severity_name(drift->severity),
                fingerprint_format(&drift->actual, hex));
    text_printf(&message, "conformance_drift: baseline %s %u: ", drift->class, drift->version);
    drift_summary(drift->named, drift->count, &message);
    text_add(&message, "; expected=");
    fingerprint_say(&drift->expected, &message);
    text_add(&message, ", actual=");
    fingerprint_say(&drift->actual, &message);
    json_t *flag = json_object();
    json_object_set_new(flag, "flag", json_string("Warning"));
    json_object_set_new(flag, "status", json_string(status.s));
    json_object_set_new(flag, "group", json_string("drifted"));
    json_object_set_new(flag, "message", json_string(message.s));
    return flag;
}

static void tell_of_drift(const struct cluster *c, const struct member *m, const struct drift *drift,
                          struct wall at, struct decision *d)
{
    const char *xname = member_xname(m);
    const struct effect *f = find_effect(c, "ochami.", m);
    if (!c->tells_ochami || !xname)
        return;
    CLEANUP_JSON json_t *was = effect_object(f);
    CLEANUP_JSON json_t *want = flag_for(drift);
    const json_t *done = json_object_get(was, "done");
    /* An effect under an earlier name of the node goes on there, so that it can be taken back. */
    if (done && !json_is_null(done))
        xname = json_string_value(json_object_get(was, "xname"));
    if (was && json_equal(json_object_get(was, "want"), want) &&
        strcmp(json_string_value(json_object_get(was, "xname")), xname) == 0)
        return;
    CLEANUP_JSON json_t *o = json_object();
    set_id(o, at);
    json_object_set_new(o, "xname", json_string(xname));
    json_object_set(o, "want", want);
    json_object_set_new(o, "done", done ? json_deep_copy(done) : json_null());
    add_effect(d, "ochami.", m, o);
}

static void tell_of_none(const struct cluster *c, const struct member *m, struct wall at, struct decision *d)
{
    CLEANUP_JSON json_t *o = effect_object(find_effect(c, "ochami.", m));
    const json_t *want = json_object_get(o, "want");
    if (!o || json_is_null(want))
        return;
    if (json_is_null(json_object_get(o, "done"))) {
        add_effect(d, "ochami.", m, NULL);
        return;
    }
    set_id(o, at);
    json_object_set_new(o, "want", json_null());
    add_effect(d, "ochami.", m, o);
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
    if (!c->tells_ochami || !drift || drift->state == DRIFT_REMEDIED || !member_xname(m))
        return false;
    const struct effect *f = find_effect(c, "ochami.", m);
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

static json_t *text_or_null(const char *s)
{
    return s ? json_string(s) : json_null();
}

static json_t *image_of(const struct node_class *k)
{
    if (!k->kernel && !k->initrd && !k->params)
        return json_null();
    json_t *image = json_object();
    json_object_set_new(image, "kernel", text_or_null(k->kernel));
    json_object_set_new(image, "initrd", text_or_null(k->initrd));
    json_object_set_new(image, "params", text_or_null(k->params));
    return image;
}

void effect_reboot(const struct cluster *c, const struct member *m, const char *boot, struct wall at,
                   struct decision *d)
{
    assert(boot && *boot);
    CLEANUP_JSON json_t *o = json_object();
    set_id(o, at);
    json_object_set_new(o, "xname", json_string(member_xname(m)));
    json_object_set_new(o, "boot", json_string(boot));
    json_object_set_new(o, "image", image_of(member_class(c, m)));
    json_object_set_new(o, "times", times_with(m, at));
    json_object_set_new(o, "done", json_null());
    add_effect(d, "reboot.", m, o);
}

void effect_no_reboot(const struct cluster *c, const struct member *m, struct decision *d)
{
    CLEANUP_JSON json_t *o = effect_object(find_effect(c, "reboot.", m));
    if (!o || json_is_null(json_object_get(o, "boot")))
        return;
    json_object_set_new(o, "boot", json_null());
    add_effect(d, "reboot.", m, o);
}

/* --- what came of an effect ------------------------------------------------------------------ */

const char *effect_node(const char *key)
{
    const char *dot = strncmp(key, "effect/", 7) == 0 ? strchr(key, '.') : NULL;
    return dot ? dot + 1 : NULL;
}

static void say_ochami(const json_t *done, struct text *t)
{
    const char *status = json_string_value(json_object_get(done, "status"));
    const char *error = json_string_value(json_object_get(done, "error"));
    if (json_is_null(done))
        text_add(t, "OpenCHAMI: taken back");
    else if (json_is_true(json_object_get(done, "pending")))
        text_add(t, "OpenCHAMI is being told");
    else
        text_add(t, status || !error ? "OpenCHAMI was told" : "OpenCHAMI was not told");
    if (status)
        text_printf(t, ": %.256s", status);
    if (error)
        text_printf(t, ": %.256s", error);
}

static void say_reboot(const json_t *done, struct text *t)
{
    const char *step = json_string_value(json_object_get(done, "step"));
    const char *why = json_string_value(json_object_get(done, "why"));
    const char *transition = json_string_value(json_object_get(done, "transition"));
    text_printf(t, "reboot: %s", step ? step : "not begun");
    if (transition)
        text_printf(t, ": %.256s", transition);
    if (why)
        text_printf(t, ": %.256s", why);
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

/* A person is told that their hold was lost for a moment, in the journal that everybody reads. */
static void say_lost(const json_t *was, const json_t *is, struct text *t)
{
    const json_t *before = json_object_get(was, "lost"), *now = json_object_get(is, "lost");
    if (now && !json_equal(before, now))
        text_printf(t, "; Fettle's write undid somebody's of that moment, which is to be put back: %s",
                    json_text(now, "reason"));
    else if (before && !now)
        text_printf(t, "; somebody holds it again, after a write of Fettle's undid this: %s",
                    json_text(before, "reason"));
}

/* is NULL: the record goes, and before it said `was`. */
static void say_slurm(const json_t *was, const json_t *is, struct text *t)
{
    static const char *const states[][2] = {
        {"draining", "is to be drained"},
        {"drained", "drained"},
        {"foreign", "held by somebody else: Fettle leaves it as it is"},
        {"overridden", "a person took Fettle's drain back"},
        {"undraining", "Fettle's drain is being taken back"},
        {"reserved", "reserved for Fettle"},
    };
    const char *before = was ? json_text(was, "state") : "", *state = is ? json_text(is, "state") : "";
    bool was_ours = strcmp(before, "foreign") != 0 && strcmp(before, "overridden") != 0;
    text_add(t, "Slurm: ");
    if (!is)
        text_add(t, was_ours ? "Fettle's drain is taken back" : "nothing of Fettle's is there");
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        if (strcmp(states[i][0], state) == 0)
            text_add(t, states[i][1]);
    if (is && json_is_true(json_object_get(is, "reservation")) && strcmp(state, "reserved") != 0)
        text_add(t, ", with a reservation for Fettle");
    if (is && json_is_true(json_object_get(is, "refused")))
        text_add(t, ", its reservation deleted by a person");
    say_lost(was, is, t);
}

/* The result of an earlier reboot says nothing about this one. */
static bool is_of_another(const json_t *o, const json_t *done)
{
    const json_t *id = json_object_get(done, "id");
    return id && !json_equal(id, json_object_get(o, "id"));
}

/* To OpenCHAMI. */
static int take_told(const char *key, json_t *o, json_t *done, struct decision *d, struct text *said,
                     struct err *e)
{
    assert(strncmp(key, "effect/", 7) == 0 || !o);
    const char *rest = key + strlen("effect/");
    if (!o || json_equal(json_object_get(o, "done"), done) || is_of_another(o, done))
        return 0; /* it is gone, or known */
    json_object_set(o, "done", done);
    if (effect_check(rest, o, e) < 0)
        return -EINVAL;
    bool over = json_is_null(done) && json_is_null(json_object_get(o, "want"));
    decision_add(d, "", key, over ? NULL : json_write(o));
    if (strncmp(rest, "reboot.", 7) == 0)
        say_reboot(done, said);
    else
        say_ochami(done, said);
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
    if (effect_check(key + strlen("effect/"), now, e) < 0)
        return -EINVAL;
    if (is_late(o, now))
        return 0;
    decision_add(d, "", key, json_write(now));
    operated_about(c, key, now, d);
    say_operation(now, said);
    return 0;
}

/* Only Slurm's driver knows what Fettle has written into Slurm. */
int effect_take_slurm(const struct cluster *c, const char *key, const json_t *done, struct wall at,
                      struct decision *d, struct text *said, struct err *e)
{
    assert(strncmp(key, "effect/slurm.", 13) == 0);
    CLEANUP_JSON json_t *o = effect_object(cluster_effect(c, key));
    const char *rest = key + strlen("effect/");
    if (json_is_null(done)) {
        if (effect_check(rest, NULL, e) < 0)
            return -EINVAL;
        if (!o)
            return 0;
        decision_add(d, "", key, NULL);
        decision_about(d, ENTRY_CLAIMS, json_text(o, "claim"));
        say_slurm(o, NULL, said);
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
    say_slurm(o, now, said);
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
    int rc;
    if (strncmp(key, "effect/slurm.", 13) == 0)
        rc = effect_take_slurm(c, key, done, cmd->at, d, &said, e);
    else if (operate_key_node(key) || power_key_node(key))
        rc = take_operated(c, key, o, done, d, &said, e);
    else
        rc = take_told(key, o, done, d, &said, e);
    if (rc == 0 && d->n_ops) {
        hostlist_add(&d->changed, effect_node(key));
        d->text = text_take(&said);
    }
    return rc;
}
