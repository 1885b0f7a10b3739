/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drift response: which commands a node needs, by what is proven about it and what is agreed. Nothing
 * follows from silence, from a restart, or from something unknown.
 *
 * The brake: when more than a share of a class drifts at once, one event caused it (a package that was
 * pushed, a baseline that was accepted by mistake). Then these nodes are neither drained nor rebooted, nor do
 * they count as down. Sensitive nodes are drained all the same, because that ends no running work.
 */
#include "watch/conform/conform.h"
#include "watch/conform/conformity_inside.h"
#include "watch/conform/drift_inside.h"
#include "watch/conform/drifting_inside.h"
#include "watch/conform/proposal_inside.h"
#include "watch/conform/shell.h"
#include "watch/hold/hold.h"
#include "watch/view/alarm.h"
#include "watch/view/facts.h"
#include "watch/view/observed.h"
#include "watch/view/policy.h"
#include "watch/view/shell.h"
#include "watch/view/view.h"

#include <errno.h>
#include <string.h>

enum {
    SEEN_AT_ONCE = 4,     /* so many changes of a node are recorded at once; later ones after pauses */
    PAUSE_S = 10,         /* the first pause; each is twice as long as the one before */
    PAUSE_MAX_S = 1800,   /* the longest pause */
    FORGOTTEN_S = 3600,   /* after a rest this long the counting begins anew */
    SPENT_MAX = 15,       /* more than it takes to reach the longest pause */
    UPDATE_S = 600,       /* a node of a rollout that matches neither listing for this long is drifted */
    OWN_TIME_MIN_S = 600, /* the part of the time for remedying drift that this leader has to see itself */
    REBOOT_REST_S = 60    /* until a proposed reboot is proposed again */
};

/* --- what a node needs ----------------------------------------------------------------------- */

static bool drift_braked(const struct watch *w, const struct member *m)
{
    return w->conformity->classes[m->class].alarm;
}

/* Under the brake, and during an update, only sensitive nodes are kept from work. */
bool drift_lacks_claim(const struct watch *w, struct mono now, const struct member *m)
{
    return !member_held_by(m, CLAIM_DRIFT) &&
           cluster_drift_drains(w->cluster, m, w->conformity->known[m->id].kind->base.result.worst) &&
           (m->spec.sensitive || !(drift_braked(w, m) || conformity_rolls(w, now, m)));
}

/* An update goes package by package, so a node of a rollout that matches neither listing is drifted only when
 * that lasts. */
static bool drift_lasts(const struct watch *w, struct mono now, const struct member *m)
{
    const struct drifting *s = drifting_find(w, m);
    return !conformity_rolls(w, now, m) || (s && s->here && !within(now, s->came, UPDATE_S));
}

static int64_t pause_s(unsigned times)
{
    int64_t s = PAUSE_S;
    for (; times && s < PAUSE_MAX_S; times--)
        s *= 2;
    return s < PAUSE_MAX_S ? s : PAUSE_MAX_S;
}

/* The record differs from what is proven now. */
static bool drift_differs(const struct watch *w, const struct member *m, const struct drift *d)
{
    const struct kind *k = w->conformity->known[m->id].kind;
    return !fingerprint_equal(&d->actual, &k->listing->id) || d->severity != k->base.result.worst;
}

/* The difference does not wait: a person caused it, or the drift is worse. */
static bool differs_much(const struct watch *w, const struct member *m, const struct drift *d)
{
    const struct baseline *b = baseline_of(w, m);
    return d->version != b->version || strcmp(d->class, b->class) != 0 ||
           d->severity < w->conformity->known[m->id].kind->base.result.worst;
}

static bool calls_seen(struct watch *w, struct mono now, const struct member *m)
{
    const struct known *k = &w->conformity->known[m->id];
    if (!(k->flags & KNOWN_COUNTS) || m->seen == k->kind->listing)
        return false;
    if (!k->spent || !m->seen)
        return true;
    if (k->spent >= SEEN_AT_ONCE && within(now, watch_at(w, k->seen_ds), pause_s(k->spent - SEEN_AT_ONCE)))
        return false;
    return !conformity_trifle(w, k->kind, m->seen);
}

/* A node in a maintenance window is judged when the window is over. */
static bool is_drifted(const struct watch *w, const struct member *m)
{
    return w->conformity->known[m->id].proof == CONFORMANCE_DRIFTED && !window_of(w, m);
}

static bool calls_persists(struct watch *w, struct mono now, const struct member *m)
{
    const struct drift *d = drift_of(m);
    return is_drifted(w, m) && d && d->state != DRIFT_REMEDIED && strcmp(d->boot, w->seen[m->id].boot) != 0 &&
           drift_lasts(w, now, m);
}

static bool calls_drift(struct watch *w, struct mono now, const struct member *m)
{
    const struct drift *d = drift_of(m);
    if (!is_drifted(w, m) || calls_persists(w, now, m) || !drift_lasts(w, now, m))
        return false;
    if (!d || d->state == DRIFT_REMEDIED || differs_much(w, m, d))
        return true;
    const struct drifting *s = drifting_of(w, m);
    if (drift_lacks_claim(w, now, m) || cluster_drift_untold(w->cluster, m))
        return !(s->written && within(now, s->written_at, PAUSE_S));
    return drift_differs(w, m, d) && !(s->written && within(now, s->written_at, pause_s(s->rewrites)));
}

/* A node that is held without a record was found drifted by a command that was cut off in its middle. */
static bool calls_restored(struct watch *w, struct mono now, const struct member *m)
{
    const struct drift *d = drift_of(m);
    const struct known *k = &w->conformity->known[m->id];
    bool left = d ? d->state != DRIFT_REMEDIED
                  : member_held_by(m, CLAIM_DRIFT) && !m->spec.sensitive && !member_held_by(m, CLAIM_OVERDUE);
    return left && k->proof == CONFORMANCE_CONFORMANT && (!member_flaps(m) || drifting_rested(w, now, m));
}

static bool calls_overdue(struct watch *w, struct mono now, const struct member *m)
{
    const struct drift *d = drift_of(m);
    if (!d || !is_drifted(w, m) || d->state == DRIFT_OVERDUE || d->state == DRIFT_REMEDIED ||
        drift_braked(w, m) || conformity_rolls(w, now, m))
        return false;
    const struct drifting *s = drifting_of(w, m);
    const struct conformity_policy *p = &w->policy.conform;
    int64_t limit = m->spec.sensitive ? p->sensitive.ns : p->timeout.ns;
    int64_t own = limit < span_s(OWN_TIME_MIN_S).ns ? limit : span_s(OWN_TIME_MIN_S).ns;
    return s->dated && mono_sub(now, s->since_at).ns >= limit && mono_sub(now, s->dated_at).ns >= own;
}

static bool drained_for_drift(const struct member *m)
{
    if (!member_agreed(m).drained)
        return false;
    for (size_t i = 0; i < m->n_claims; i++)
        if (m->claims[i].claim->kind == CLAIM_DRIFT && m->claims[i].drained)
            return true;
    return false;
}

/* -EAGAIN: the obstacle may pass, or is not known; -EBUSY: no restart for this drift on this boot. */
static int may_restart(struct watch *w, struct mono now, const struct member *m, struct err *e)
{
    const struct drift *d = drift_of(m);
    const struct observed *o = watch_of(w, m);
    const struct known *k = &w->conformity->known[m->id];
    if (!class_of(w, m)->reboot)
        return err_set(e, -EBUSY, "its class asks for no reboot");
    if (!d || k->proof != CONFORMANCE_DRIFTED)
        return err_set(e, d && k->proof == CONFORMANCE_UNKNOWN ? -EAGAIN : -EBUSY,
                       "it is not proven that it is drifted now");
    if (k->kind->base.result.worst < SEVERITY_MAJOR || d->severity < SEVERITY_MAJOR)
        return err_set(e, -EBUSY, "its drift is minor");
    if (strcmp(d->boot, o->boot) != 0 || d->state != DRIFT_OPEN)
        return err_set(e, -EBUSY, "it was booted since its drift was found");
    if (!drained_for_drift(m))
        return err_set(e, -EAGAIN, "it is not drained");
    if (member_treated(m))
        return err_set(e, -EAGAIN, "a repair of it is under way");
    int rc = held_check(w, m, e);
    if (rc < 0)
        return rc;
    if (watch_work(w, m) != WORK_IDLE)
        return err_set(e, -EAGAIN, "%s",
                       watch_work(w, m) == WORK_BUSY ? "work runs on it"
                                                     : "it is not known whether work runs on it");
    if (o->beat.liveness != LIVENESS_LIVE)
        return err_set(e, -EAGAIN, "it is not heard");
    if (drift_braked(w, m))
        return err_set(e, -EAGAIN, "too many of its class are drifted at once");
    if (conformity_rolls(w, now, m))
        return err_set(e, -EAGAIN, "it is part of a rollout");
    return 0;
}

/* Reboots do not cure it. A reboot that is already wanted does not count as too many. */
static bool worn_out(struct watch *w, const struct member *m)
{
    return cluster_reboots(m, w->wall) >= REBOOTS_A_WEEK_MAX &&
           !cluster_reboot_wanted(m, watch_of(w, m)->boot);
}

static int may_reboot(struct watch *w, struct mono now, const struct member *m, struct err *e)
{
    int rc = may_restart(w, now, m, e);
    if (rc == 0 && worn_out(w, m))
        rc = err_set(e, -EBUSY, "it was rebooted %d times within a week", REBOOTS_A_WEEK_MAX);
    return rc;
}

/* A person is told once for each drift. */
static void alarm_worn_out(struct watch *w, const struct member *m)
{
    struct drifting *s = drifting_of(w, m);
    struct text t = {0};
    if (s->worn.ns == drift_of(m)->since.ns)
        return;
    s->worn = drift_of(m)->since;
    text_printf(&t, "drifts again after %d reboots within a week: a person is needed", REBOOTS_A_WEEK_MAX);
    alarms_raise(&w->alarms, ALARM_DRIFT, m->name, m->name, t.s, w->wall);
    text_fini(&t);
}

static bool calls_reboot(struct watch *w, struct mono now, const struct member *m)
{
    if (may_restart(w, now, m, NULL) < 0 || cluster_reboot_wanted(m, watch_of(w, m)->boot))
        return false;
    if (worn_out(w, m)) {
        alarm_worn_out(w, m);
        return false;
    }
    const struct drifting *s = drifting_of(w, m);
    return !(s->reboot && within(now, s->reboot_at, REBOOT_REST_S));
}

typedef bool calls_fn(struct watch *w, struct mono now, const struct member *m);

static const struct {
    enum command_kind kind;
    calls_fn *calls;
} calls[] = {{COMMAND_SEEN, calls_seen},         {COMMAND_DRIFT, calls_drift},
             {COMMAND_PERSISTS, calls_persists}, {COMMAND_RESTORED, calls_restored},
             {COMMAND_OVERDUE, calls_overdue},   {COMMAND_REBOOT, calls_reboot}};

enum { CALLS = sizeof calls / sizeof calls[0] };

static bool drift_calls(struct watch *w, struct mono now, const struct member *m, enum command_kind kind)
{
    size_t i = 0;
    while (calls[i].kind != kind)
        i++;
    return calls[i].calls(w, now, m);
}

static bool drift_is_news(struct watch *w, struct mono now, const struct member *m, enum command_kind kind)
{
    const struct drift *d = drift_of(m);
    return kind == COMMAND_SEEN || (kind == COMMAND_DRIFT && d && d->state != DRIFT_REMEDIED &&
                                    d->severity >= w->conformity->known[m->id].kind->base.result.worst &&
                                    !drift_lacks_claim(w, now, m));
}

static void drift_written(struct watch *w, struct mono now, const struct member *m, enum command_kind kind)
{
    struct known *k = &w->conformity->known[m->id];
    struct drifting *s = drifting_find(w, m);
    if (kind == COMMAND_SEEN) {
        k->spent = (k->spent < SPENT_MAX ? k->spent + 1u : SPENT_MAX) & SPENT_MAX;
        k->seen_ds = watch_ds(w, now);
    } else if (s) {
        s->rewrites += s->written && !fingerprint_equal(&s->what, &k->kind->listing->id);
        s->written = true;
        s->what = k->kind->listing->id;
        s->written_at = now;
    }
}

void drift_create(struct watch *w)
{
    static const struct group_rules rules = {drift_calls, drift_is_news, drift_written};
    groups_create(w, &rules);
}

/* --- in the sweep ---------------------------------------------------------------------------- */

/* For the brake: recorded drift that is not known to be gone counts too, because a restart would release the
 * brake otherwise. A node that counts as down is accounted for already. */
static void count_class(struct watch *w, struct mono now, const struct member *m)
{
    struct class_state *c = &w->conformity->classes[m->class];
    const struct drift *d = drift_of(m);
    if (conformity_rolls(w, now, m))
        return;
    c->n++;
    struct agreed a = member_agreed(m);
    if (a.overdue || a.silent || a.down)
        return;
    c->drifting +=
        w->conformity->known[m->id].proof == CONFORMANCE_DRIFTED ||
        (d && d->state != DRIFT_REMEDIED && w->conformity->known[m->id].proof == CONFORMANCE_UNKNOWN);
}

void drift_examine(struct watch *w, struct mono now, const struct member *m, bool judged)
{
    struct known *k = &w->conformity->known[m->id];
    drifting_look(w, now, m);
    if (k->spent && !within(now, watch_at(w, k->seen_ds), FORGOTTEN_S))
        k->spent = 0;
    count_class(w, now, m);
    if (!judged)
        return;
    bool seen = !(k->flags & KNOWN_COUNTS) || m->seen == k->kind->listing;
    if (seen && !drift_of(m) && k->proof != CONFORMANCE_DRIFTED && !m->n_claims)
        return;
    for (size_t i = 0; i < CALLS; i++)
        if (calls[i].calls(w, now, m))
            groups_add(w, now, calls[i].kind, m);
}

static void class_alarm(struct watch *w, enum alarm_kind kind, const struct class_state *c, bool stands,
                        const char *text)
{
    CLEANUP_TEXT struct text subject = {0};
    text_printf(&subject, "class %s", c->name);
    if (stands)
        alarms_raise(&w->alarms, kind, subject.s, "", text, w->wall);
    else
        alarms_end(&w->alarms, kind, subject.s, text);
}

/* At least three: in a class of five, one drifted node is a fifth, and no mass drift. */
static void judge_class(struct watch *w, struct class_state *c)
{
    bool many = c->drifting >= 3 &&
                (uint64_t)c->drifting * 100 > (uint64_t)c->n * w->policy.conform.drift_share_percent;
    struct text t = {0};
    c->alarm_n = c->n;
    c->alarm_drifting = c->drifting;
    c->n = c->drifting = 0;
    c->suggested = false;
    if (many == c->alarm)
        return;
    c->alarm = many;
    text_printf(&t, "%u of %u nodes of class \"%s\" are drifted%s", (unsigned)c->alarm_drifting,
                (unsigned)c->alarm_n, c->name, many ? " at once, more than " : "; they are judged again");
    if (many)
        text_printf(&t, "%u %%: none is rebooted or counts as down for it until it is fewer",
                    w->policy.conform.drift_share_percent);
    class_alarm(w, ALARM_DRIFT, c, many, t.s);
    text_fini(&t);
}

/* A rolling update that nobody ends is announced once. A person decides about it. */
static void judge_rollout(struct watch *w, struct class_state *c)
{
    bool overrun = c->rolls && watch_awake(w, w->last_tick).ns >= c->rolls_until.ns;
    if (overrun == c->overrun)
        return;
    c->overrun = overrun;
    struct text t = {0};
    text_printf(&t, "the rolling update of class \"%s\" is %s", c->name,
                overrun ? "past its deadline: accept or revert it; nodes that match neither are judged again"
                        : "not past its deadline any more");
    class_alarm(w, ALARM_ROLLOUT, c, overrun, t.s);
    text_fini(&t);
}

void drift_end_sweep(struct watch *w)
{
    for (size_t i = 0; i < w->conformity->n_classes; i++) {
        judge_class(w, &w->conformity->classes[i]);
        judge_rollout(w, &w->conformity->classes[i]);
    }
    groups_propose(w);
}

int watch_may_reboot(struct watch *w, struct mono now, const struct member *m, const char *boot,
                     struct err *e)
{
    struct member *about = cluster_by_id(w->cluster, m->id);
    conformity_look(w, watch_awake(w, now), about, true);
    const char *now_on = watch_of(w, m)->boot;
    if (!*now_on)
        return err_set(e, -EAGAIN, "it was not heard since this controller began");
    if (strcmp(now_on, boot) != 0)
        return err_set(e, -EBUSY, "it was booted since");
    int rc = may_reboot(w, watch_awake(w, now), m, e);
    return rc == 0 ? held_check_now(w, now, m, e) : rc;
}
