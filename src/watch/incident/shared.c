/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared causes. The nodes with the same fault are one outbreak: one for the fault, and one for the fault and
 * the device's name, because a server that many nodes mount has the same name everywhere. When enough of the
 * nodes that got the fault within the window share something (the device's name, a Group, a class), that is
 * the cause for all of them, and no node is isolated for it. The cause is over when few nodes still have the
 * fault; these are then ill by themselves.
 *
 * Nodes that were isolated before the others got the fault are out already. They wait, and nothing is done to
 * them.
 *
 * A link that is down is a warning for minutes before it counts. When enough nodes have links that go down
 * within the window, these have one cause from then on (a switch, or a cable between switches), whatever
 * their share of all nodes is, because links do not fail so close together by chance. It is not announced
 * before one of the links counts.
 */
#include "base/table.h"
#include "health/argument.h"
#include "watch/health/health.h"
#include "watch/incident/incident.h"
#include "watch/incident/shared_inside.h"
#include "watch/outside/outside.h"
#include "watch/view/facts.h"
#include "watch/view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHARE_PERCENT = 5,
    RETELL_S = 5 /* the shortest time between two records of the nodes that have it */,
    OUTBREAK_KEY_MAX = FAULT_BYTES_MAX + FINDING_DEVICE_BYTES_MAX + 2
};

/* A node that has the fault. */
struct carrier {
    uint32_t member;
    struct mono came;
    UT_hash_handle hh;
};

enum sharing { SHARING_DEVICE, SHARING_GROUP, SHARING_CLASS };

struct cause {
    char key[OUTBREAK_KEY_MAX + 64];
    enum sharing sharing;
    unsigned number; /* of the Group or class */
    enum result severity;
    bool dirty;       /* the nodes that have it have changed since the last proposal */
    struct mono told; /* when it was last proposed */
    struct cause *next;
};

struct outbreak {
    char key[OUTBREAK_KEY_MAX];           /* the fault, or fault and device */
    char check[CHECK_NAME_BYTES_MAX + 1]; /* the check that finds it; "" when it is not known yet */
    char fault[FAULT_BYTES_MAX + 1];
    struct finding f; /* device and code; the worst result */
    bool by_device;
    struct carrier *carriers;
    struct cause *causes;
    UT_hash_handle hh;
};

static struct outbreak *outbreak_find(const struct watch *w, const char *key)
{
    struct outbreak *o;
    HASH_FIND_STR(w->shared->outbreaks, key, o);
    return o;
}

static void outbreak_key(char out[static OUTBREAK_KEY_MAX], const char *fault, const char *device)
{
    snprintf(out, OUTBREAK_KEY_MAX, "%.*s%s%.*s", FAULT_BYTES_MAX, fault, *device ? " " : "",
             FINDING_DEVICE_BYTES_MAX, device);
}

static struct outbreak *outbreak_of(struct watch *w, const char *fault, const char *device)
{
    char key[OUTBREAK_KEY_MAX];
    outbreak_key(key, fault, device);
    struct outbreak *o = outbreak_find(w, key);
    if (o)
        return o;
    o = mem_alloc(sizeof *o);
    memcpy(o->key, key, sizeof key);
    snprintf(o->fault, sizeof o->fault, "%s", fault);
    snprintf(o->f.device, sizeof o->f.device, "%s", device);
    o->by_device = *device != '\0';
    HASH_ADD_STR(w->shared->outbreaks, key, o);
    return o;
}

static void outbreak_drop(struct watch *w, struct outbreak *o)
{
    struct carrier *c, *next;
    HASH_ITER (hh, o->carriers, c, next) {
        HASH_DEL(o->carriers, c);
        free(c);
    }
    while (o->causes) {
        struct cause *one = o->causes;
        o->causes = one->next;
        free(one);
    }
    HASH_DEL(w->shared->outbreaks, o);
    free(o);
}

void shared_destroy(struct watch *w)
{
    struct outbreak *o, *next;
    HASH_ITER (hh, w->shared->outbreaks, o, next)
        outbreak_drop(w, o);
    free(w->shared->runners);
    w->shared->runners = NULL;
}

/* --- what the nodes share ---------------------------------------------------------------------------- */

static bool shared_belongs(const struct member *m, enum sharing s, unsigned number)
{
    return s == SHARING_DEVICE || (s == SHARING_GROUP ? m->spec.group == number : m->class == number);
}

/* Counts the nodes that got the fault within the window, or all of them (all). */
static unsigned count_carriers(const struct watch *w, struct mono now, const struct outbreak *o,
                               enum sharing s, unsigned number, bool all)
{
    unsigned n = 0;
    const struct carrier *c, *next;
    HASH_ITER (hh, o->carriers, c, next)
        n += shared_belongs(cluster_by_id(w->cluster, c->member), s, number) &&
             (all || mono_sub(now, c->came).ns <= w->policy.health.shared_window.ns);
    return n;
}

/* Whether the check has the argument Down: it gives a warning until a link has been down for long enough. */
static bool is_of_links(const struct watch *w, const char *check)
{
    size_t i = check_place(w, check);
    struct argument down;
    return i != SIZE_MAX && argument_find(check_at(w, i)->probe, "Down", &down);
}

bool shared_counts(const struct watch *w, const char *check, const struct finding *f)
{
    return f->result >= RESULT_DEGRADED || (f->result == RESULT_WARN && is_of_links(w, check));
}

static unsigned count_runners(const struct watch *w, size_t check, unsigned group)
{
    unsigned n = 0;
    for (size_t id = 0; id < health_states_count(w); id++) {
        const struct health_state *v = health_states_by_id(w, id);
        if (v && v->said && (v->said[check] & SAID_ASSIGNED))
            n += !group || cluster_by_id(w->cluster, (uint32_t)id)->spec.group == group;
    }
    return n;
}

static unsigned all_runners(struct watch *w, size_t check)
{
    if (!w->shared->runners)
        w->shared->runners = mem_alloc((check_count(w) + 1) * sizeof *w->shared->runners);
    if (!w->shared->runners[check])
        w->shared->runners[check] = count_runners(w, check, 0);
    return w->shared->runners[check];
}

static struct cause *cause_find(const struct outbreak *o, const struct member *m)
{
    for (struct cause *c = o->causes; c; c = c->next)
        if (shared_belongs(m, c->sharing, c->number))
            return c;
    return NULL;
}

static struct cause *cause_add(const struct watch *w, struct outbreak *o, enum sharing s, unsigned number)
{
    struct cause *c = mem_alloc(sizeof *c);
    c->sharing = s;
    c->number = number;
    c->dirty = true;
    if (s == SHARING_DEVICE)
        snprintf(c->key, sizeof c->key, "%s", o->key);
    else if (s == SHARING_GROUP)
        snprintf(c->key, sizeof c->key, "%s group %u", o->key, number);
    else
        snprintf(c->key, sizeof c->key, "%.*s class %s",
                 (int)(sizeof c->key - sizeof " class " - CLASS_NAME_BYTES_MAX - 1), o->key,
                 cluster_classes(w->cluster)->list[number].name);
    c->next = o->causes;
    o->causes = c;
    return c;
}

/* --- commands --------------------------------------------------------------------------------- */

static char *carriers_fold(const struct watch *w, const struct outbreak *o, const struct cause *cause)
{
    size_t n = 0;
    CLEANUP_FREE const char **names = mem_alloc((HASH_COUNT(o->carriers) + 1) * sizeof *names);
    const struct carrier *c, *next;
    HASH_ITER (hh, o->carriers, c, next) {
        const struct member *m = cluster_by_id(w->cluster, c->member);
        if (shared_belongs(m, cause->sharing, cause->number))
            names[n++] = m->name;
    }
    return hostlist_fold(names, n);
}

static void why_of(const struct watch *w, const struct outbreak *o, const struct cause *c, struct text *t)
{
    if (c->sharing == SHARING_DEVICE)
        text_printf(t, "%s fails on each of them at the same %s", o->fault, o->f.device);
    else if (c->sharing == SHARING_GROUP)
        text_printf(t, "%s on nodes of group %u", o->fault, c->number);
    else
        text_printf(t, "%s on nodes of class %s", o->fault,
                    cluster_classes(w->cluster)->list[c->number].name);
}

static bool propose_cause(struct watch *w, const struct outbreak *o, const struct cause *c, const char *nodes)
{
    const struct hostlist nobody = {0};
    CLEANUP_TEXT struct text why = {0};
    why_of(w, o, c, &why);
    return w->sink.propose(w->sink.arg, &(struct command){.kind = COMMAND_SHARED,
                                                          .nodes = &nobody,
                                                          .shared = {c->key, nodes, why.s, c->severity}});
}

static void shared_declare(struct watch *w, struct outbreak *o, struct cause *c)
{
    if (o->f.result < RESULT_DEGRADED)
        return; /* the sweep announces the cause when one of them counts */
    CLEANUP_FREE char *nodes = carriers_fold(w, o, c);
    c->severity = o->f.result;
    c->dirty = !propose_cause(w, o, c, nodes);
}

/* --- as it comes ------------------------------------------------------------------------------ */

/* The number of nodes on which the check can find the fault, in a Group; group 0: in the cluster. */
static unsigned runners_of(struct watch *w, const char *check, unsigned group)
{
    size_t i = check_place(w, check);
    if (lost_is(w, check))
        return lost_runners(w, group);
    if (outside_is(w, check))
        return outside_runners(w, check, group);
    return group ? count_runners(w, i, group) : all_runners(w, i);
}

static bool shared_enough(struct watch *w, struct mono now, const struct outbreak *o, const struct member *m,
                          enum sharing s, unsigned number)
{
    unsigned n = count_carriers(w, now, o, s, number, false);
    size_t check = check_place(w, o->check);
    bool known = check != SIZE_MAX || outside_is(w, o->check) || lost_is(w, o->check);
    if (n < w->policy.health.shared || !known)
        return false;
    if (is_of_links(w, o->check) || (uint64_t)n * 100 >= (uint64_t)runners_of(w, o->check, 0) * SHARE_PERCENT)
        return true;
    unsigned in_group = count_carriers(w, now, o, SHARING_GROUP, m->spec.group, false);
    return m->spec.group && in_group >= w->policy.health.shared &&
           in_group * 2 >= runners_of(w, o->check, m->spec.group);
}

static void shared_consider(struct watch *w, struct mono now, struct outbreak *o, const struct member *m)
{
    if (o->by_device) {
        if (shared_enough(w, now, o, m, SHARING_DEVICE, 0))
            shared_declare(w, o, cause_add(w, o, SHARING_DEVICE, 0));
    } else if (m->spec.group && shared_enough(w, now, o, m, SHARING_GROUP, m->spec.group)) {
        shared_declare(w, o, cause_add(w, o, SHARING_GROUP, m->spec.group));
    } else if (shared_enough(w, now, o, m, SHARING_CLASS, m->class)) {
        shared_declare(w, o, cause_add(w, o, SHARING_CLASS, m->class));
    }
}

static void shared_carry(struct watch *w, struct mono now, struct outbreak *o, const struct member *m,
                         const char *check, const struct finding *f)
{
    struct carrier *c;
    snprintf(o->check, sizeof o->check, "%s", check);
    memcpy(o->f.code, f->code, sizeof o->f.code);
    if (f->result > o->f.result)
        o->f.result = f->result;
    HASH_FIND(hh, o->carriers, &m->id, sizeof m->id, c);
    if (c)
        return;
    c = mem_alloc(sizeof *c);
    c->member = m->id;
    c->came = now;
    HASH_ADD(hh, o->carriers, member, sizeof c->member, c);
    struct cause *of = cause_find(o, m);
    if (of)
        of->dirty = true;
    else if (o->by_device ||
             !shared_excuses(w, m, check, f)) /* unless the cause by the device's name explains it already */
        shared_consider(w, now, o, m);
}

void shared_note(struct watch *w, struct mono now, const struct member *m, const char *check,
                 const struct finding *f)
{
    const char *fault = fault_of(check, f);
    if (!w->policy.health.shared)
        return;
    if (*f->device)
        shared_carry(w, now, outbreak_of(w, fault, f->device), m, check, f);
    shared_carry(w, now, outbreak_of(w, fault, ""), m, check, f);
}

void shared_note_outside(struct watch *w, struct mono now, const struct member *m)
{
    const struct health_state *v = health_state_find(w, m);
    for (const struct outside *x = v->outside; x; x = x->next) {
        if (outside_now(w, now, m, x) < RESULT_DEGRADED)
            continue;
        for (size_t i = 0; i < x->n; i++)
            if (x->findings[i].result >= RESULT_DEGRADED)
                shared_note(w, now, m, x->name, &x->findings[i]);
    }
}

/* --- what follows ----------------------------------------------------------------------------- */

static bool shared_carries(const struct watch *w, const char *key, const struct member *m)
{
    const struct outbreak *o = outbreak_find(w, key);
    const struct carrier *c = NULL;
    if (o && cause_find(o, m))
        HASH_FIND(hh, o->carriers, &m->id, sizeof m->id, c);
    return c != NULL;
}

bool shared_excuses(const struct watch *w, const struct member *m, const char *check, const struct finding *f)
{
    char key[OUTBREAK_KEY_MAX];
    outbreak_key(key, fault_of(check, f), f->device);
    if (shared_carries(w, key, m))
        return true;
    outbreak_key(key, fault_of(check, f), "");
    return shared_carries(w, key, m);
}

bool shared_holds(const struct watch *w, const struct member *m)
{
    const struct ailment *a = member_ailment(m);
    size_t n = 0;
    for (size_t i = 0; a && i < a->n_open; i++) {
        const struct incident *one = &a->open[i];
        if (!incident_counts(one))
            continue;
        n++;
        if (one->severity == RESULT_LOST && !lost_is(w, one->findings[0].check))
            return false;
        enum result worst =
            one->findings[0]
                .f.result; /* in an incident that recurrence raised, the worst finding may be a warning */
        enum result least = worst < RESULT_DEGRADED ? worst : RESULT_DEGRADED;
        for (size_t k = 0; k < one->n; k++)
            if (one->findings[k].f.result >= least &&
                !shared_excuses(w, m, one->findings[k].check, &one->findings[k].f))
                return false;
    }
    return n > 0;
}

/* --- what is over -------------------------------------------------------------------------------- */

/* Learns the check from a node's record, for an outbreak that is known from the records alone. */
static void learn_check(struct outbreak *o, const struct member *m)
{
    const struct ailment *a = member_ailment(m);
    for (size_t i = 0; a && !*o->check && i < a->n_open; i++)
        for (size_t k = 0; k < a->open[i].n; k++)
            if (strcmp(fault_of(a->open[i].findings[k].check, &a->open[i].findings[k].f), o->fault) == 0) {
                memcpy(o->check, a->open[i].findings[k].check, sizeof o->check);
                memcpy(o->f.code, a->open[i].findings[k].f.code, sizeof o->f.code);
            }
}

/* Whether the node reports that the fault is over. An outbreak of the fault alone is over on all devices. */
static bool shared_recovered(const struct watch *w, struct mono now, const struct outbreak *o,
                             const struct member *m)
{
    if (!*o->check)
        return true; /* no open incident of the node has the fault */
    if (o->by_device)
        return finding_gone(w, now, m, o->check, &o->f);
    const struct health_state *v = health_state_find(w, m);
    size_t i = check_place(w, o->check);
    if (lost_is(w, o->check))
        return watch_live(w, m);
    if (outside_is(w, o->check))
        return outside_recovered(w, now, m, o->check);
    if (i == SIZE_MAX)
        return true;
    if (!v || said_now(w, now, m, i) < RESULT_OK)
        return false;
    const struct saying *s = saying_find(v, i);
    for (size_t k = 0; s && k < s->n; k++)
        if (shared_counts(w, o->check, &s->findings[k]) &&
            strcmp(fault_of(o->check, &s->findings[k]), o->fault) == 0)
            return false;
    return true;
}

static void drop_recovered(struct watch *w, struct mono now, struct outbreak *o)
{
    struct carrier *c, *next;
    HASH_ITER (hh, o->carriers, c, next) {
        const struct member *m = cluster_by_id(w->cluster, c->member);
        if (!*o->check)
            learn_check(o, m);
        if (m->listed && !shared_recovered(w, now, o, m))
            continue;
        struct cause *of = cause_find(o, m);
        if (of)
            of->dirty = true;
        HASH_DEL(o->carriers, c);
        free(c);
    }
}

/* Returns true when the cause is over. */
static bool cause_sweep(struct watch *w, struct mono now, struct outbreak *o, struct cause *c)
{
    const struct shared_cause *is = cluster_shared(w->cluster, c->key);
    if (count_carriers(w, now, o, c->sharing, c->number, true) * 2 < w->policy.health.shared) {
        if (!is)
            return true;
        propose_cause(w, o, c, "");
        return false;
    }
    bool waits = c->told.ns && within(now, c->told, RETELL_S);
    if (o->f.result < RESULT_DEGRADED || (is && is->severity >= o->f.result && (!c->dirty || waits)))
        return false;
    CLEANUP_FREE char *nodes = carriers_fold(w, o, c);
    c->severity = o->f.result;
    if (is && strcmp(is->nodes, nodes) == 0 && is->severity == c->severity)
        c->dirty = false;
    else if (propose_cause(w, o, c, nodes))
        c->told = now;
    return false;
}

/* --- from the records ------------------------------------------------------------------------- */

struct loading {
    struct watch *w;
    struct mono now;
};

/* "FAULT DEVICE", "FAULT group N" or "FAULT class NAME": the text after the fault is what the nodes share. */
static struct cause *cause_parse(struct watch *w, const char *key, struct outbreak **out)
{
    CLEANUP_FREE char *fault = mem_dup(key);
    char *what = strchr(fault, ' ');
    uint64_t number;
    if (what)
        *what++ = '\0';
    if (what && strncmp(what, "group ", 6) == 0 &&
        text_parse_u64(what + 6, 1, GROUP_MAX, &number, NULL) == 0) {
        *out = outbreak_of(w, fault, "");
        return cause_add(w, *out, SHARING_GROUP, (unsigned)number);
    }
    const struct classes *classes = cluster_classes(w->cluster);
    for (size_t i = 0; what && i < classes->n; i++) {
        if (strncmp(what, "class ", 6) == 0 && strcmp(what + 6, classes->list[i].name) == 0) {
            *out = outbreak_of(w, fault, "");
            return cause_add(w, *out, SHARING_CLASS, (unsigned)i);
        }
    }
    *out = outbreak_of(w, fault, what ? what : "");
    return cause_add(w, *out, SHARING_DEVICE, 0);
}

/* A trial declared the cause; the next trial decides when it is over. */
static bool is_of_trial(const char *key)
{
    return strncmp(key, SHARED_BY_TRIAL, strlen(SHARED_BY_TRIAL)) == 0;
}

static bool is_known(const struct watch *w, const char *key)
{
    for (const struct outbreak *o = w->shared->outbreaks; o; o = o->hh.next)
        for (const struct cause *c = o->causes; c; c = c->next)
            if (strcmp(c->key, key) == 0)
                return true;
    return false;
}

static void load_one(void *arg, const struct shared_cause *s)
{
    const struct loading *l = arg;
    struct outbreak *o;
    if (is_of_trial(s->key) || is_known(l->w, s->key))
        return;
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    struct cause *c = cause_parse(l->w, s->key, &o);
    snprintf(c->key, sizeof c->key, "%s", s->key);
    c->severity = o->f.result = s->severity;
    c->dirty = false;
    if (hostlist_parse(s->nodes, &nodes, NULL) < 0)
        return;
    for (size_t i = 0; i < nodes.n; i++) {
        const struct member *m = cluster_find(l->w->cluster, nodes.names[i]);
        struct carrier *known = NULL;
        if (m)
            HASH_FIND(hh, o->carriers, &m->id, sizeof m->id, known);
        if (!m || known)
            continue;
        struct carrier *one = mem_alloc(sizeof *one);
        one->member = m->id;
        one->came = l->now;
        HASH_ADD(hh, o->carriers, member, sizeof one->member, one);
    }
}

void shared_load(struct watch *w, struct mono now)
{
    struct loading l = {w, now};
    cluster_each_shared(w->cluster, load_one, &l);
}

/* --- the sweep ---------------------------------------------------------------------------------- */

void shared_end_sweep(struct watch *w)
{
    struct mono now = watch_awake(w, w->last_tick);
    struct outbreak *o, *next;
    HASH_ITER (hh, w->shared->outbreaks, o, next) {
        drop_recovered(w, now, o);
        for (struct cause **at = &o->causes; *at;) {
            struct cause *c = *at;
            if (!cause_sweep(w, now, o, c)) {
                at = &c->next;
                continue;
            }
            *at = c->next;
            free(c);
        }
        if (!o->carriers && !o->causes)
            outbreak_drop(w, o);
    }
    shared_load(
        w, now); /* a cause that was proposed and was over here before its commit has to be ended there */
    free(w->shared->runners);
    w->shared->runners = NULL;
}
