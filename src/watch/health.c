/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What checks say of each node. Of a check that is ok a byte and a moment are kept, of others what they
 * found. A result counts as long as the node is live, on the boot of which it is, and not older than its
 * check's own time allows: whoever asks gets unknown otherwise.
 *
 * Findings are proposed as they come, and again in each sweep until the records say so. While a command about
 * a node is under way no other one is proposed for it: each is reckoned from the records, and the next from
 * those that the one before leaves.
 */
#include "base/digest.h"
#include "watch/boot_inside.h"
#include "watch/brake_inside.h"
#include "watch/budget_inside.h"
#include "watch/called_inside.h"
#include "watch/conformity_inside.h"
#include "watch/forget_inside.h"
#include "watch/health_inside.h"
#include "watch/incident_inside.h"
#include "watch/inside.h"
#include "watch/lost_inside.h"
#include "watch/measure_inside.h"
#include "watch/outcome_inside.h"
#include "watch/outside_inside.h"
#include "watch/repair_inside.h"
#include "watch/shared_inside.h"
#include "watch/trial_begin_inside.h"
#include "watch/trial_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STALE_MIN_S = 120,
    ASKED_S = 10, /* a command of which nothing is heard for so long is taken as lost */
    AGE_MAX_MS = 1000000000
};

/* --- records of checks ------------------------------------------------------------------------ */

size_t check_count(const struct watch *w)
{
    return w->health.n_checks;
}

const struct check *check_at(const struct watch *w, size_t i)
{
    return &w->policy.health.checks->list[i];
}

size_t check_place(const struct watch *w, const char *name)
{
    for (size_t i = 0; i < w->health.n_checks; i++)
        if (strcmp(w->health.check_names[i], name) == 0)
            return i;
    return SIZE_MAX;
}

bool check_repeats(const struct check *k)
{
    return (k->when & (CHECK_BOOT | CHECK_PERIODIC)) != 0;
}

bool check_runs(const struct watch *w, const struct member *m, size_t i)
{
    return check_applies(check_at(w, i), class_of(w, m)->name, m->name);
}

/* --- what is known of a node ------------------------------------------------------------------ */

struct vitals *vitals_find(const struct watch *w, const struct member *m)
{
    return m->id < w->health.n_vitals ? w->health.vitals[m->id] : NULL;
}

struct vitals *vitals_of(struct watch *w, const struct member *m)
{
    if (m->id >= w->health.n_vitals) {
        size_t n = cluster_count(w->cluster);
        w->health.vitals = mem_grow(w->health.vitals, n * sizeof *w->health.vitals);
        for (; w->health.n_vitals < n; w->health.n_vitals++)
            w->health.vitals[w->health.n_vitals] = NULL;
    }
    struct vitals **v = &w->health.vitals[m->id];
    if (!*v) {
        *v = mem_alloc(sizeof **v);
        memcpy((*v)->boot, watch_of(w, m)->boot, sizeof(*v)->boot);
        (*v)->anew = ANEW_ASKED;
    }
    return *v;
}

static void saying_fini(struct saying *s)
{
    free(s->text);
    free(s->findings);
}

static void sayings_drop(struct vitals *v)
{
    for (size_t i = 0; i < v->n_sayings; i++)
        saying_fini(&v->sayings[i]);
    v->n_sayings = 0;
}

static void vitals_destroy(struct watch *w, struct vitals *v)
{
    if (!v)
        return;
    sayings_drop(v);
    outside_drop(v);
    lost_drop(w, v);
    boot_drop(v);
    free(v->sayings);
    free(v->said);
    free(v->looked_ds);
    free(v);
}

/* Finds out anew which checks the node runs; what was said stays. */
static void assign(struct watch *w, const struct member *m, struct vitals *v)
{
    if (v->said && v->checks == w->health.generation && v->class == m->class)
        return;
    if (!v->said) {
        v->said = mem_alloc(w->health.n_checks + 1);
        v->looked_ds = mem_alloc((w->health.n_checks + 1) * sizeof *v->looked_ds);
    }
    for (size_t i = 0; i < w->health.n_checks; i++)
        v->said[i] = (uint8_t)((v->said[i] & ~SAID_ASSIGNED) | (check_runs(w, m, i) ? SAID_ASSIGNED : 0));
    v->checks = w->health.generation;
    v->class = m->class;
}

const struct saying *saying_find(const struct vitals *v, size_t i)
{
    for (size_t k = 0; k < v->n_sayings; k++)
        if (v->sayings[k].check == i)
            return &v->sayings[k];
    return NULL;
}

static void saying_remove(struct vitals *v, size_t i)
{
    for (size_t k = 0; k < v->n_sayings; k++) {
        if (v->sayings[k].check == i) {
            saying_fini(&v->sayings[k]);
            v->sayings[k] = v->sayings[--v->n_sayings];
            return;
        }
    }
}

void said_forget(struct vitals *v, size_t i)
{
    v->said[i] &= SAID_ASSIGNED;
    saying_remove(v, i);
}

/* What was said before the records changed, in the places of their checks now. */
static void rearrange(struct watch *w, struct vitals *v, const size_t *place, size_t was)
{
    uint8_t *said = mem_alloc(w->health.n_checks + 1);
    int32_t *looked = mem_alloc((w->health.n_checks + 1) * sizeof *looked);
    for (size_t i = 0; v->said && i < was; i++) {
        if (place[i] != SIZE_MAX) {
            said[place[i]] = v->said[i];
            looked[place[i]] = v->looked_ds[i];
        }
    }
    size_t kept = 0;
    for (size_t k = 0; k < v->n_sayings; k++) {
        size_t to = place[v->sayings[k].check];
        if (to == SIZE_MAX) {
            saying_fini(&v->sayings[k]);
            continue;
        }
        v->sayings[kept] = v->sayings[k];
        v->sayings[kept++].check = (uint16_t)to;
    }
    v->n_sayings = kept;
    free(v->said);
    free(v->looked_ds);
    v->said = said;
    v->looked_ds = looked;
    v->trial_known = false;
}

static uint64_t sum_of(const struct check *k)
{
    static const struct hostlist nobody;
    CLEANUP_TEXT struct text line = {0};
    check_format(k, &nobody, &line);
    return digest_fnv(DIGEST_FNV_START, line.s, line.len);
}

static struct check_rule rule_of(const struct check *k, uint32_t generation)
{
    int64_t age_ns = 3 * k->every.ns + k->deadline.ns;
    if (age_ns < span_s(STALE_MIN_S).ns)
        age_ns = span_s(STALE_MIN_S).ns;
    return (struct check_rule){check_ages(k) ? age_ns : INT64_MAX, check_repeats(k), sum_of(k), generation};
}

void health_reconfigure(struct watch *w)
{
    const struct checks *c = w->policy.health.checks;
    size_t n = c ? c->n : 0, was = w->health.n_checks;
    char **names = mem_alloc((n + 1) * sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = mem_dup(c->list[i].name);
    CLEANUP_FREE size_t *place = mem_alloc((was + 1) * sizeof *place);
    char **before = w->health.check_names;
    w->health.check_names = names;
    w->health.n_checks = n;
    CLEANUP_FREE struct check_rule *rules_before = w->health.rules;
    w->health.rules = mem_alloc((n + 1) * sizeof *w->health.rules);
    w->health.generation++;
    for (size_t i = 0; i < n; i++)
        w->health.rules[i] = rule_of(&c->list[i], w->health.generation);
    for (size_t i = 0; i < was; i++) {
        place[i] = check_place(w, before[i]);
        if (place[i] != SIZE_MAX && w->health.rules[place[i]].sum != rules_before[i].sum)
            place[i] = SIZE_MAX; /* what another record said is not said of this one */
        if (place[i] != SIZE_MAX)
            w->health.rules[place[i]].since = rules_before[i].since;
        free(before[i]);
    }
    free(before);
    for (size_t id = 0; id < w->health.n_vitals; id++)
        if (w->health.vitals[id])
            rearrange(w, w->health.vitals[id], place, was);
    shared_destroy(w); /* classes may have other numbers now: what is recorded is taken in anew */
    w->health.began = false;
    free(w->shared.runners);
    w->shared.runners = NULL;
    budgets_recount(w);
    trial_reconfigure(w);
}

void health_create(struct watch *w)
{
    health_reconfigure(w);
}

void health_destroy(struct watch *w)
{
    for (size_t i = 0; i < w->health.n_vitals; i++)
        vitals_destroy(w, w->health.vitals[i]);
    for (size_t i = 0; i < w->health.n_checks; i++)
        free(w->health.check_names[i]);
    free(w->health.check_names);
    free(w->health.rules);
    free(w->health.vitals);
    free(w->health.follow.ids);
    free(w->health.following.ids);
    free(w->shared.runners);
    shared_destroy(w);
    json_decref(w->measures.news);
    trials_fini(w);
    brake_destroy(w);
}

void health_open(struct watch *w, const struct member *m)
{
    struct vitals *v = vitals_find(w, m);
    if (!v)
        return;
    v->told = false;
    lost_drop(w, v);
    if (v->anew == ANEW_NOT)
        v->anew = ANEW_ASKED;
}

void health_stood_still(struct watch *w)
{
    w->resumed = watch_awake(w, w->last_tick);
    for (size_t id = 0; id < w->health.n_vitals; id++)
        if (w->health.vitals[id])
            w->health.vitals[id]->anew = ANEW_NOT;
}

bool told_anew(const struct vitals *v)
{
    return !v || !v->said || v->anew == ANEW_TOLD;
}

void health_boot(struct watch *w, const struct member *m)
{
    struct vitals *v = vitals_find(w, m);
    if (!v)
        return;
    memcpy(v->boot, watch_of(w, m)->boot, sizeof v->boot);
    v->told = false;
    v->log_next = 0;
    boot_drop(v);
    sayings_drop(v);
    outside_drop(v);
    for (size_t i = 0; v->said && i < w->health.n_checks; i++)
        v->said[i] &= SAID_ASSIGNED;
    health_changed(w, m);
}

/* --- what counts ------------------------------------------------------------------------------ */

bool watch_live(const struct watch *w, const struct member *m)
{
    return watch_observed(w, m)->beat.liveness == LIVENESS_LIVE;
}

bool check_ages(const struct check *k)
{
    return (k->when & CHECK_PERIODIC) && !(k->when & CHECK_IDLE) && probe_row(k->probe)->how != PROBE_FOLLOW;
}

struct mono said_looked(const struct watch *w, const struct vitals *v, size_t i)
{
    return mono_add(w->created, span_ms(INT64_C(100) * v->looked_ds[i]));
}

bool was_said(const struct vitals *v, size_t i)
{
    return v && v->said && (v->said[i] & SAID_RESULT) != 0;
}

bool said_assigned(const struct vitals *v, size_t i)
{
    return (v->said[i] & SAID_ASSIGNED) != 0;
}

bool speaks(const struct watch *w, const struct member *m, const struct vitals *v)
{
    return v && v->said && watch_live(w, m) && strcmp(v->boot, watch_observed(w, m)->boot) == 0;
}

enum result said_now(const struct watch *w, struct mono now, const struct member *m, size_t i)
{
    const struct vitals *v = vitals_find(w, m);
    return was_said(v, i) && speaks(w, m, v) ? said_of(w, now, v, i) : RESULT_UNKNOWN;
}

/* What the kernel has said on this boot stays said: of it, how old it was when it was told counts. */
bool said_fresh(const struct watch *w, struct mono now, const struct vitals *v, size_t i)
{
    const struct check *k = check_at(w, i);
    const struct saying *s = saying_find(v, i);
    if (!told_anew(v))
        return false;
    int64_t own = k->every.ns + k->deadline.ns, limit = w->policy.health.fresh.ns;
    struct mono at = s && !check_ages(k) ? s->told : now;
    return mono_sub(at, said_looked(w, v, i)).ns <= (own > limit ? own : limit);
}

enum work watch_work(const struct watch *w, const struct member *m)
{
    const struct observed *o = watch_observed(w, m);
    if (!o->scheduler)
        return o->work;
    if (o->work == WORK_BUSY || o->scheduled == WORK_BUSY)
        return WORK_BUSY;
    return o->work == WORK_IDLE && o->scheduled == WORK_IDLE ? WORK_IDLE : WORK_UNKNOWN;
}

void watch_scheduler(struct watch *w, struct member *m, enum work work, bool completing)
{
    struct observed *o = watch_of(w, m);
    enum work is = completing && work != WORK_UNKNOWN ? WORK_BUSY : work;
    if (o->scheduler && o->scheduled == is)
        return;
    o->scheduler = true;
    o->scheduled = is;
    row_refresh(w, m);
    if (member_repair(m))
        health_changed(w, m);
}

void watch_scheduler_word(struct watch *w, struct member *m, const struct scheduler_word *says)
{
    scheduler_word_set(&watch_of(w, m)->word, says);
}

void watch_slurmd(struct watch *w, struct member *m, enum slurmd is)
{
    watch_of(w, m)->slurmd = is;
}

void watch_away(struct watch *w, struct member *m, bool away)
{
    watch_of(w, m)->away = away;
}

void watch_unscheduled(struct watch *w, struct member *m)
{
    struct observed *o = watch_of(w, m);
    if (!o->scheduler)
        return;
    o->scheduler = o->away = false;
    o->slurmd = SLURMD_UNKNOWN;
    scheduler_word_fini(&o->word);
    elsewhere_set(&o->elsewhere[ELSEWHERE_SLURM].is, &(struct elsewhere){0});
    row_refresh(w, m);
    if (member_repair(m))
        health_changed(w, m);
}

/* --- CHECKS ----------------------------------------------------------------------------------- */

/* One check's word, read and not yet believed. */
struct heard {
    size_t place;
    enum result result;
    int64_t age_ms;
    struct saying saying;
};

struct heard_all {
    size_t n;
    struct heard *list;
};

static void heard_fini(struct heard_all *h)
{
    for (size_t i = 0; i < h->n; i++)
        saying_fini(&h->list[i].saying);
    free(h->list);
}

static void keep(const struct verdict *v, struct heard *h)
{
    struct saying *s = &h->saying;
    h->result = v->result;
    s->text = *v->text ? mem_dup(v->text) : NULL;
    s->more = v->more;
    s->n = v->n;
    s->findings = mem_alloc((s->n + 1) * sizeof *s->findings);
    for (size_t i = 0; i < v->n; i++)
        s->findings[i] = v->findings[i];
}

static int take_blind(const json_t *one, struct saying *s, struct err *e)
{
    const char *why = json_text(one, "blind");
    if (strlen(why) > FINDING_TEXT_BYTES_MAX)
        return err_set(e, -EINVAL, "\"blind\" has more than %d bytes", FINDING_TEXT_BYTES_MAX);
    if (!*why)
        return 0;
    free(s->text);
    s->text = mem_dup(why);
    s->blind = true;
    return 0;
}

static int read_one(const struct watch *w, const json_t *one, struct heard_all *out, struct verdict *v,
                    struct err *e)
{
    const char *name;
    uint64_t age = 0;
    if (!json_is_object(one))
        return err_set(e, -EINVAL, "a check is no object");
    int rc = json_take_string(one, "check", &name, e);
    if (rc == 0)
        rc = json_take_u64(one, "age_ms", UINT64_MAX >> 1, &age, e);
    if (rc < 0)
        return -EINVAL;
    rc = verdict_read(one, v, e);
    if (rc < 0)
        return err_wrap(e, rc, "check \"%.48s\"", name);
    size_t place = out->n ? out->list[out->n - 1].place + 1 : 0; /* they come in order of the records */
    if (place >= w->health.n_checks || strcmp(w->health.check_names[place], name) != 0)
        place = check_place(w, name);
    if (place == SIZE_MAX)
        return 0; /* of records that are not ours any more, or not yet */
    verdict_cap(v, check_at(w, place)->severity);
    struct heard *h = &out->list[out->n++];
    h->place = place;
    h->age_ms = (int64_t)(age < AGE_MAX_MS ? age : AGE_MAX_MS);
    keep(v, h);
    return take_blind(one, &h->saying, e);
}

static int read_all(const struct watch *w, const json_t *list, struct heard_all *out, struct err *e)
{
    CLEANUP_FREE struct verdict *v = mem_alloc(sizeof *v);
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n > CHECKS_MAX)
        return err_set(e, -EINVAL, "checks is no array of at most %d", CHECKS_MAX);
    out->list = mem_alloc((n + 1) * sizeof *out->list);
    for (size_t i = 0; i < n; i++)
        if (read_one(w, json_array_get(list, i), out, v, e) < 0)
            return -EINVAL;
    return 0;
}

static bool same_findings(const struct saying *a, const struct saying *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->findings[i].result != b->findings[i].result ||
            strcmp(a->findings[i].device, b->findings[i].device) != 0 ||
            strcmp(a->findings[i].code, b->findings[i].code) != 0)
            return false;
    return true;
}

static bool is_plain(enum result r, const struct saying *s)
{
    return r == RESULT_OK && !s->text && !s->n && !s->more;
}

/* Takes over what was heard of one check. */
static void believe(struct watch *w, struct mono now, struct vitals *v, struct heard *h)
{
    const struct saying *was = saying_find(v, h->place);
    uint8_t said = (uint8_t)(h->result + 1);
    int64_t ds = mono_sub(now, w->created).ns / span_ms(100).ns - h->age_ms / 100;
    struct mono since = now;
    if (was && (v->said[h->place] & SAID_RESULT) == said && same_findings(was, &h->saying))
        since = was->since;
    saying_remove(v, h->place);
    v->said[h->place] = (uint8_t)((v->said[h->place] & ~SAID_RESULT) | said);
    v->looked_ds[h->place] = (int32_t)ds;
    if (is_plain(h->result, &h->saying))
        return;
    v->sayings = mem_grow(v->sayings, (v->n_sayings + 1) * sizeof *v->sayings);
    struct saying *s = &v->sayings[v->n_sayings++];
    *s = h->saying;
    s->check = (uint16_t)h->place;
    s->since = since;
    s->told = now;
    h->saying = (struct saying){0};
}

static bool is_among(const struct heard_all *h, size_t place)
{
    if (place < h->n && h->list[place].place == place)
        return true;
    for (size_t i = 0; i < h->n; i++)
        if (h->list[i].place == place)
            return true;
    return false;
}

/* Of a check that is not among all nothing is said. The extensive ones are told by their operations. */
static void forget_others(struct watch *w, struct vitals *v, const struct heard_all *h)
{
    for (size_t i = 0; i < w->health.n_checks; i++) {
        if (is_among(h, i) || !check_repeats(check_at(w, i)))
            continue;
        said_forget(v, i);
    }
}

/* What a watch that begins on records finds in them, before anything follows from what is said. */
static void begin(struct watch *w, struct mono now)
{
    if (w->health.began)
        return;
    w->health.began = true;
    for (size_t i = 0; i < cluster_count(w->cluster); i++)
        if (member_repair(cluster_by_id(w->cluster, (uint32_t)i)) ||
            trial_holds(w, cluster_by_id(w->cluster, (uint32_t)i)))
            budget_patient(w, cluster_by_id(w->cluster, (uint32_t)i));
    shared_load(w, now);
    brake_load(w, now);
}

void health_heard(struct watch *w, struct mono now, struct wall wall, struct member *m)
{
    w->wall = wall;
    begin(w, now);
    health_look(w, now, m);
    row_refresh(w, m);
}

void watch_checklist(struct watch *w, const char *hash)
{
    snprintf(w->health.list, sizeof w->health.list, "%s", hash);
}

/* Whether it is by the list that agents are told now; "" is the node's own. */
static bool is_by_present_list(const struct watch *w, const json_t *body)
{
    const char *list = json_text(body, "list");
    return !*list || !*w->health.list || strcmp(list, w->health.list) == 0;
}

/* What an extensive look found before a person, or a new instance, answered for it, told once more. */
static bool is_answered(const struct watch *w, struct wall wall, const struct member *m,
                        const struct heard *h)
{
    const struct repair *r = member_repairs(m);
    return r && (r->step == STEP_PROVISION || r->step == STEP_NONE) &&
           !check_repeats(check_at(w, h->place)) && wall.ns - span_ms(h->age_ms).ns < r->since.ns;
}

int watch_checks(struct watch *w, struct mono now, struct wall wall, struct member *m, const json_t *body,
                 bool *want, struct err *e)
{
    const char *boot;
    uint64_t log_next = 0;
    bool full = false;
    *want = false;
    int rc = json_take_string(body, "boot", &boot, e);
    if (rc == 0 && json_object_get(body, "log_next"))
        rc = json_take_u64(body, "log_next", INT64_MAX, &log_next, e);
    if (rc == 0 && json_take_bool(body, "full", &full, e) == -EINVAL)
        rc = -EINVAL;
    struct heard_all h __attribute__((cleanup(heard_fini))) = {0};
    if (rc == 0)
        rc = read_all(w, json_object_get(body, "checks"), &h, e);
    if (rc < 0)
        return -EINVAL;
    struct mono at = watch_observed_at(w, now);
    if (strcmp(boot, watch_of(w, m)->boot) != 0)
        return 0; /* what was found before the last boot says nothing of this one */
    struct vitals *v = vitals_of(w, m);
    assign(w, m, v);
    if (is_by_present_list(w, body))
        v->list = w->health.generation;
    if (full)
        forget_others(w, v, &h);
    for (size_t i = 0; i < h.n; i++)
        if (w->health.rules[h.list[i].place].since <= v->list && !is_answered(w, wall, m, &h.list[i]) &&
            !trial_says(w, m, h.list[i].place))
            believe(w, at, v, &h.list[i]);
    v->told |= full;
    v->log_next = log_next > v->log_next ? log_next : v->log_next;
    if (full && v->anew == ANEW_ASKED)
        v->anew = ANEW_TOLD;
    *want = !v->told;
    health_heard(w, at, wall, m);
    return 0;
}

void said_note(struct watch *w, struct mono now, const struct member *m, size_t i, const struct verdict *x)
{
    struct vitals *v = vitals_of(w, m);
    struct heard h = {.place = i};
    assign(w, m, v);
    keep(x, &h);
    believe(w, now, v, &h);
    saying_fini(&h.saying);
}

/* --- the sweep -------------------------------------------------------------------------------- */

void health_propose(struct watch *w, struct mono now, const struct member *m, enum command_kind kind,
                    const char *reason, const json_t *set)
{
    CLEANUP_FREE char *text = json_write(set);
    CLEANUP_HOSTLIST struct hostlist one = {0};
    struct vitals *v = vitals_of(w, m);
    hostlist_add(&one, m->name);
    v->asked = true; /* before: it may be decided at once */
    v->asked_at = now;
    if (!w->sink.propose(w->sink.arg, kind, &one, reason, text))
        v->asked = false;
}

bool health_asked(const struct vitals *v, struct mono now)
{
    return v->asked && within(now, v->asked_at, ASKED_S);
}

void health_changed(struct watch *w, const struct member *m)
{
    struct vitals *v = vitals_find(w, m);
    if (!v && !member_ailment(m) && !member_repairs(m) && !member_maintenance(m))
        return;
    v = vitals_of(w, m);
    v->asked = false;
    budget_patient(w, m);
    if (v->follow)
        return;
    v->follow = true;
    called_add(&w->health.follow, m);
}

/* What of it is bad goes to whoever looks for shared causes. */
static void note_faults(struct watch *w, struct mono now, const struct member *m, const struct vitals *v)
{
    for (size_t i = 0; i < v->n_sayings; i++) {
        const struct check *k = check_at(w, v->sayings[i].check);
        if (k->observe || said_now(w, now, m, v->sayings[i].check) < RESULT_WARN)
            continue;
        for (size_t n = 0; n < v->sayings[i].n; n++)
            if (shared_counts(w, k->name, &v->sayings[i].findings[n]))
                shared_note(w, now, m, k->name, &v->sayings[i].findings[n]);
    }
}

void health_look(struct watch *w, struct mono now, const struct member *m)
{
    struct vitals *v = vitals_find(w, m);
    const struct ailment *a = member_ailment(m);
    bool ill = (v && (v->n_sayings || v->booted || outside_ill(v) || lost_finding(w, m))) ||
               (a && a->n_open) || member_repairs(m) || member_maintenance(m);
    bool comes_up = repair_comes_up(w, m);
    if (!m->listed || (!ill && !comes_up))
        return;
    v = vitals_of(w, m);
    assign(w, m, v);
    note_faults(w, now, m, v);
    outside_note_faults(w, now, m);
    if (lost_stands(w, m))
        shared_note(w, now, m, LOST_CHECK, lost_finding(w, m));
    if (health_asked(v, now))
        return;
    v->asked = false;
    repair_stage(w, now, m);
    forget_look(w, now, m);
    outside_look(now, m, v);
    if ((comes_up && repair_look(w, now, m)) || incident_look(w, now, m) || repair_look(w, now, m))
        return;
    outcome_look(w, now, m);
}

void health_tick(struct watch *w, struct mono now)
{
    begin(w, now);
    if (w->health.following.at < w->health.following.n)
        return; /* there was no time for them: they come first */
    struct called done = w->health.following;
    w->health.following = w->health.follow;
    w->health.follow = done;
    w->health.follow.n = w->health.follow.at = 0;
}

size_t health_step(struct watch *w, struct mono now, size_t nodes)
{
    struct called *c = &w->health.following;
    size_t looked = 0;
    for (; c->at < c->n && looked < nodes; looked++) {
        const struct member *m = cluster_by_id(w->cluster, c->ids[c->at++]);
        vitals_of(w, m)->follow = false;
        health_look(w, now, m);
    }
    return looked;
}
