/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/outbox.h"

#include "base/json.h"
#include "base/loop.h"
#include "controller/results.h"
#include "controller/scheduler.h"
#include "driver/slurm_view.h"
#include "driver/slurm_work.h"
#include "driver/smd_held.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOG_BYTES_MAX = 600, /* of a BMC's */
    JOBS_EVERY_S = 5,    /* between two readings of whose jobs run; */
    JOBS_NODES_MAX = 1024,
    JOBS_AFTER_S = 60 /* where Slurm did not answer */
};

enum driver { ALL_DRIVERS, ACTORS, OCHAMI, SLURM, OPERATE };

struct outbox {
    struct outbox_setup with;
    struct results *results;
    struct actors *actors;
    struct powers *powers;
    struct smd_held *smd_held; /* NULL while no State Manager is configured */
    struct ochami *ochami;     /* NULL while no service is configured */
    struct slurm *slurm;       /* NULL without scontrol */
    struct operate *operate;
    enum driver only; /* who is told of effects */
    bool *seen;       /* nodes of the reading of Slurm under way, by member id */
    size_t n_seen;
    bool any_known;               /* it says something of anybody */
    struct err strange;           /* a word that it has for a node and that is not known */
    size_t n_strange;             /* nodes with such a word */
    bool slurm_fails;             /* as its driver said last */
    struct slurm_conf slurm_conf; /* as configured last; borrowed */
    struct slurm_work *jobs;      /* the reading under way of whose jobs run on `jobless`; NULL */
    struct hostlist jobless;
    struct mono jobs_next;
    struct hostlist mute; /* nodes whose BMC did not do what it was asked last */
};

static void on_result(void *arg, const char *key, const char *done)
{
    const struct outbox *o = arg;
    results_add(o->results, key, done);
}

static void outbox_answered(const struct outbox *o, enum counterpart which, const char *nodes,
                            const struct err *why)
{
    if (why)
        counterpart_failed(o->with.counterparts, which, nodes, why);
    else
        counterpart_succeeded(o->with.counterparts, which);
}

static bool outbox_hears(const struct outbox *o, enum driver d)
{
    return o->only == ALL_DRIVERS || o->only == d;
}

/* A boot that follows was asked for. */
static void note_power(const struct outbox *o, const char *key, const char *value)
{
    struct member *m = cluster_find(o->with.cluster, power_key_node(key));
    CLEANUP_JSON json_t *record = value ? json_read(value, strlen(value), NULL) : NULL;
    if (m && strcmp(json_text(json_object_get(record, "done"), "state"), "begun") == 0)
        watch_expect_boot(o->with.watch, mono_now(), m);
    powers_effect(o->powers, key, record);
}

static void on_effect(void *arg, const char *key, const char *value)
{
    const struct outbox *o = arg;
    if (power_key_node(key) && outbox_hears(o, OPERATE))
        note_power(o, key, value);
    if (outbox_hears(o, ACTORS))
        actors_effect(o->actors, key, value);
    if (o->operate && outbox_hears(o, OPERATE))
        operate_effect(o->operate, key, value);
    if (o->slurm && outbox_hears(o, SLURM))
        slurm_effect(o->slurm, key, value);
    if (o->ochami && outbox_hears(o, OCHAMI))
        ochami_effect(o->ochami, key, value);
}

/* A new driver is told of the effects that are there. */
static void outbox_feed(struct outbox *o, enum driver d)
{
    o->only = d;
    cluster_on_effect(o->with.cluster, on_effect, o);
    o->only = ALL_DRIVERS;
}

/* --- OpenCHAMI ------------------------------------------------------------------------------- */

static int may_reboot(void *arg, const char *node, const char *boot, struct err *e)
{
    const struct outbox *o = arg;
    const struct member *m = cluster_find(o->with.cluster, node);
    if (!m)
        return err_set(e, -ENOENT, "no node \"%s\"", node);
    return watch_may_reboot(o->with.watch, mono_now(), m, boot, e);
}

static void on_ochami_trouble(void *arg, const char *service, const struct err *why)
{
    static const enum counterpart services[] = {COUNTERPART_SMD, COUNTERPART_BSS, COUNTERPART_PCS};
    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++)
        if (strcmp(counterpart_name(services[i]), service) == 0)
            outbox_answered(arg, services[i], "", why);
}

/* Whether somebody holds a node there. */
static void on_smd_held(void *arg, const char *node, const char *how, bool out, const struct err *why)
{
    struct outbox *o = arg;
    struct member *m = cluster_find(o->with.cluster, node);
    struct elsewhere is = {.where = ELSEWHERE_OCHAMI};
    outbox_answered(o, COUNTERPART_SMD, "", why);
    if (how) {
        is.how = how;
        is.out = out;
        is.state = ELSEWHERE_HELD;
    } else if (why) {
        is.state = ELSEWHERE_UNKNOWN;
        is.since = wall_now();
    }
    if (m)
        watch_elsewhere(o->with.watch, mono_now(), m, &is);
}

static void configure_ochami(struct outbox *o, const struct ochami_conf *conf)
{
    const struct ochami_sink sink = {o, on_result, may_reboot, on_ochami_trouble};
    counterpart_configure(o->with.counterparts, COUNTERPART_SMD, conf->smd);
    counterpart_configure(o->with.counterparts, COUNTERPART_BSS, conf->bss);
    counterpart_configure(o->with.counterparts, COUNTERPART_PCS, conf->pcs);
    smd_held_destroy(STEAL(o->smd_held));
    if (conf->smd)
        o->smd_held = smd_held_create(o->with.loop, conf, on_smd_held, o);
    if (!conf->smd && !conf->bss && !conf->pcs) {
        ochami_destroy(STEAL(o->ochami));
    } else if (o->ochami) {
        ochami_configure(o->ochami, conf);
    } else {
        o->ochami = ochami_create(o->with.loop, conf, &sink);
        outbox_feed(o, OCHAMI);
    }
}

/* --- whose jobs run --------------------------------------------------------------------------- */

static void tell_jobs(const struct outbox *o, struct member *m, const struct slurm_jobs *jobs)
{
    struct incident_job list[INCIDENT_JOBS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < jobs->n && n < INCIDENT_JOBS_MAX; i++) {
        const struct slurm_job *j = &jobs->list[i];
        bool is_here = false;
        for (size_t k = 0; k < j->nodes.n && !is_here; k++)
            is_here = strcmp(j->nodes.names[k], m->name) == 0;
        if (!is_here)
            continue;
        snprintf(list[n].id, sizeof list[n].id, "%s", j->id);
        snprintf(list[n++].user, sizeof list[n].user, "%s", j->user);
    }
    watch_jobs(o->with.watch, mono_now(), m, list, n);
}

static void on_jobs(void *arg, const struct slurm_jobs *jobs, const struct err *why)
{
    struct outbox *o = arg;
    o->jobs = NULL;
    if (why)
        o->jobs_next = mono_add(mono_now(), span_s(JOBS_AFTER_S));
    for (size_t i = 0; jobs && i < o->jobless.n; i++) {
        struct member *m = cluster_find(o->with.cluster, o->jobless.names[i]);
        if (m)
            tell_jobs(o, m, jobs);
    }
    hostlist_fini(&o->jobless);
}

static void on_jobless(void *arg, struct member *m)
{
    struct outbox *o = arg;
    if (o->jobless.n < JOBS_NODES_MAX)
        hostlist_add(&o->jobless, m->name);
}

/* One squeue for all of them, and no more than one in a while. */
static void read_jobs(struct outbox *o, struct mono now)
{
    CLEANUP_TEXT struct text list = {0};
    if (!o->slurm || o->jobs || now.ns < o->jobs_next.ns)
        return;
    o->jobs_next = mono_add(now, span_s(JOBS_EVERY_S));
    watch_jobless(o->with.watch, now, on_jobless, o);
    if (o->jobless.n == 0)
        return;
    slurm_write_list((const char *const *)o->jobless.names, o->jobless.n, &list);
    if (slurm_work_read(o->with.loop, &o->slurm_conf, list.s, on_jobs, o, &o->jobs, NULL) < 0)
        hostlist_fini(&o->jobless);
}

static void stop_jobs(struct outbox *o)
{
    slurm_work_cancel(STEAL(o->jobs));
    hostlist_fini(&o->jobless);
}

/* --- Slurm ----------------------------------------------------------------------------------- */

static void on_wanted(void *arg, const char *node, struct slurm_want *out)
{
    const struct outbox *o = arg;
    const struct member *m = cluster_find(o->with.cluster, node);
    *out = (struct slurm_want){0};
    if (m)
        scheduler_wanted(m, out);
}

/* A reading is over: nodes that it does not have are none of Slurm's. One that failed says nothing of
 * anybody. */
static void end_reading(struct outbox *o)
{
    for (uint32_t id = 0; o->any_known && id < cluster_count(o->with.cluster); id++)
        if (id >= o->n_seen || !o->seen[id])
            watch_unscheduled(o->with.watch, cluster_by_id(o->with.cluster, id));
    free(STEAL(o->seen));
    o->n_seen = 0;
    if ((o->any_known || o->n_strange) && !o->slurm_fails)
        outbox_answered(o, COUNTERPART_SLURM, "", o->n_strange ? &o->strange : NULL);
    o->any_known = false;
    o->n_strange = 0;
}

/* A word that this Fettle does not know: nothing follows of it, and a person is to know. */
static void note_strange(struct outbox *o, const struct slurm_node *n)
{
    if (n->known || !n->state || !*n->state)
        return;
    if (o->n_strange++ == 0)
        err_set(&o->strange, -EPROTO,
                "it says \"%s\" of %s, which is not known: nothing is done to such a node", n->state,
                n->name);
}

/* m: NULL, nobody knows it here. */
static void note_seen(struct outbox *o, const struct member *m, bool known)
{
    o->any_known |= known;
    if (!o->seen) {
        o->n_seen = cluster_count(o->with.cluster);
        o->seen = mem_alloc(o->n_seen);
    }
    if (m && m->id < o->n_seen)
        o->seen[m->id] = true;
}

static void on_saw(void *arg, const struct slurm_node *n)
{
    struct outbox *o = arg;
    struct member *m = n ? cluster_find(o->with.cluster, n->name) : NULL;
    if (!n) {
        end_reading(o);
        return;
    }
    if (!n->alone) {
        note_seen(o, m, n->known);
        note_strange(o, n);
    }
    if (m)
        scheduler_saw(o->with.watch, m, n);
}

static void on_maintained(void *arg, const struct slurm_maintenance *list, size_t n)
{
    const struct outbox *o = arg;
    scheduler_maintained(o->with.watch, o->with.cluster, list, n);
}

static void on_overridden(void *arg, const char *node, const char *claim, const char *who)
{
    const struct outbox *o = arg;
    CLEANUP_TEXT struct text t = {0}, key = {0};
    const char *by = *who ? who : "somebody";
    text_printf(&t, "%s took it back in Slurm, while claim %s rests on it", by, claim);
    o->with.notice(o->with.arg, "slurm.overridden", node, t.s);
    text_printf(&key, "effect/slurm.%s", node);
    results_overridden(o->results, key.s, by);
}

/* The watch sees it in the record. */
static void on_refused(void *arg, const char *node, const char *claim)
{
    const struct outbox *o = arg;
    CLEANUP_TEXT struct text t = {0};
    text_printf(
        &t,
        "somebody deleted its reservation in Slurm, while claim %s rests on it: it is not examined, and "
        "stays drained",
        claim);
    o->with.notice(o->with.arg, "slurm.overridden", node, t.s);
}

static void on_restored(void *arg, const char *node, const char *reason, const struct err *why)
{
    const struct outbox *o = arg;
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "somebody wrote to it in Slurm in the moment of Fettle's own write, which undid that: ");
    if (why)
        text_printf(&t, "it could not be put back (%s), their reason was: %s", why->msg, reason);
    else
        text_printf(&t, "it is put back in their words: %s", reason);
    o->with.notice(o->with.arg, "slurm.restored", node, t.s);
}

static void on_slurm_trouble(void *arg, const struct err *why)
{
    struct outbox *o = arg;
    o->slurm_fails = why != NULL;
    outbox_answered(o, COUNTERPART_SLURM, "", why);
}

/* Who is wanted out of service already: Slurm is asked for each of them by name, if need be. */
static void tell_wanted(const struct outbox *o)
{
    struct hostlist wanted = {0};
    for (uint32_t id = 0; id < cluster_count(o->with.cluster); id++) {
        const struct member *m = cluster_by_id(o->with.cluster, id);
        struct slurm_want want;
        scheduler_wanted(m, &want);
        if (want.drain)
            hostlist_add(&wanted, m->name);
    }
    slurm_changed(o->slurm, &wanted);
    hostlist_fini(&wanted);
}

static void configure_slurm(struct outbox *o, const struct slurm_conf *read)
{
    struct slurm_conf conf = *read;
    conf.owner = o->with.owner;
    const struct slurm_sink sink = {o,          on_wanted,     on_result,
                                    on_saw,     on_maintained, on_overridden,
                                    on_refused, on_restored,   on_slurm_trouble};
    counterpart_configure(o->with.counterparts, COUNTERPART_SLURM, conf.scontrol);
    stop_jobs(o);
    o->slurm_conf = conf;
    if (!conf.scontrol) {
        o->slurm_fails = false;
        slurm_destroy(STEAL(o->slurm));
        for (uint32_t id = 0; id < cluster_count(o->with.cluster); id++)
            watch_unscheduled(o->with.watch, cluster_by_id(o->with.cluster, id));
        scheduler_maintained(o->with.watch, o->with.cluster, NULL, 0);
    } else if (o->slurm) {
        scheduler_begin(o->with.watch, o->with.cluster);
        slurm_configure(o->slurm, &conf);
    } else {
        scheduler_begin(o->with.watch, o->with.cluster);
        o->slurm = slurm_create(o->with.loop, &conf, &sink);
        outbox_feed(o, SLURM);
        tell_wanted(o);
    }
}

/* --- power ----------------------------------------------------------------------------------- */

static int may_operate(void *arg, const char *node, const char *operation, struct err *e)
{
    const struct outbox *o = arg;
    const struct member *m = cluster_find(o->with.cluster, node);
    if (!m)
        return err_set(e, -EBUSY, "no node \"%s\"", node);
    return watch_may_operate(o->with.watch, mono_now(), m, operation, e);
}

/* All that do not answer are one alarm: a switch that is down makes hundreds. */
static void say_mute(struct outbox *o, const struct err *why)
{
    CLEANUP_FREE char *nodes = hostlist_fold((const char *const *)o->mute.names, o->mute.n);
    outbox_answered(o, COUNTERPART_BMCS, nodes, o->mute.n ? why : NULL);
}

static void mute_remove(struct outbox *o, const char *node)
{
    struct hostlist rest = {0};
    for (size_t i = 0; i < o->mute.n; i++)
        if (strcmp(o->mute.names[i], node) != 0)
            hostlist_add(&rest, o->mute.names[i]);
    hostlist_fini(&o->mute);
    o->mute = rest;
}

static void on_asked(void *arg, const char *node, const struct err *why)
{
    struct outbox *o = arg;
    struct err e = {0};
    mute_remove(o, node);
    if (why)
        hostlist_add(&o->mute, node);
    if (why)
        err_set(&e, why->code, "%s: %s", node, why->msg);
    else if (o->mute.n)
        err_set(&e, -EIO, "%zu nodes' BMCs did not do what they were asked last", o->mute.n);
    say_mute(o, &e);
}

/* A BMC that is no longer configured is asked no more. */
static void forget_mute(struct outbox *o)
{
    size_t n = o->mute.n;
    for (size_t i = n; i-- > 0;)
        if (operate_can(o->operate, o->mute.names[i], "power.on", NULL) < 0)
            mute_remove(o, o->mute.names[i]);
    if (n && !o->mute.n)
        say_mute(o, NULL);
}

static void configure_operate(struct outbox *o, const struct config *conf)
{
    const struct operate_sink sink = {o, on_result, may_operate, on_asked};
    const char *program = conf->text[SETTING_REPLACE_PROGRAM];
    const struct operate_with with = {conf->bmcs, *program ? program : NULL, conf->slurm};
    counterpart_configure(o->with.counterparts, COUNTERPART_BMCS, conf->bmcs);
    if (o->operate) {
        operate_configure(o->operate, &with);
        forget_mute(o);
        return;
    }
    o->operate = operate_create(o->with.loop, &with, &sink);
    outbox_feed(o, OPERATE);
}

/* --- all of them ----------------------------------------------------------------------------- */

void outbox_configure(struct outbox *o, const struct config *conf)
{
    configure_ochami(o, &conf->ochami);
    configure_slurm(o, &conf->slurm);
    configure_operate(o, conf);
}

struct outbox *outbox_create(const struct outbox_setup *setup, const struct config *conf)
{
    struct outbox *o = mem_alloc(sizeof *o);
    o->with = *setup;
    o->results = results_create(setup->committer);
    o->powers = powers_create();
    const struct actors_setup actors = {.cluster = setup->cluster,
                                        .watch = setup->watch,
                                        .term = setup->term,
                                        .instance = setup->instance,
                                        .arg = setup->arg,
                                        .send = setup->send,
                                        .result_arg = o,
                                        .result = on_result};
    o->actors = actors_create(&actors);
    outbox_feed(o, ACTORS);
    outbox_configure(o, conf);
    return o;
}

static void on_unread(void *arg, struct member *m, enum elsewhere_where where)
{
    const struct outbox *o = arg;
    if (where == ELSEWHERE_SLURM && o->slurm)
        slurm_look(o->slurm, m->name);
    if (where == ELSEWHERE_OCHAMI && o->smd_held && member_xname(m))
        smd_held_look(o->smd_held, m->name, member_xname(m));
}

/* The node of which a BMC is asked. */
struct unheard {
    struct watch *watch;
    struct member *m;
    bool tells; /* more than where the power is */
};

/* NULL: it has no such thing; "": it does not say now. */

static void add_version(struct components *c, const char *name, const char *version)
{
    enum component_state state = !version ? COMPONENT_ABSENT : *version ? COMPONENT_VALUE : COMPONENT_UNKNOWN;
    if (components_add(c, name, state,
                       state == COMPONENT_UNKNOWN ? "the BMC does not say it"
                       : version                  ? version
                                                  : "",
                       NULL) < 0)
        components_add(c, name, COMPONENT_UNKNOWN, "what the BMC says is no text", NULL);
}

static void on_looked(void *arg, const struct bmc_look *said, const struct err *why)
{
    CLEANUP_FREE struct unheard *u = arg;
    struct components firmware = {0};
    CLEANUP_FREE char *line = mem_line(why ? why->msg : said->log ? said->log : "", LOG_BYTES_MAX);
    struct bmc_said is = {.answered = !why, .none = !u->tells, .text = line};
    if (said) {
        is.on = said->is_on;
        is.watchdog = said->watchdog;
        is.locked = said->locked;
    }
    if (said && said->tells_firmware) {
        add_version(&firmware, COMPONENT_REDFISH "bmc.firmware", said->firmware);
        add_version(&firmware, COMPONENT_REDFISH "bios.version", said->bios);
        components_sort(&firmware, NULL);
        is.firmware = &firmware;
    }
    watch_bmc(u->watch, mono_now(), u->m, &is);
    components_fini(&firmware);
}

static void on_bmc_to_ask(void *arg, struct member *m)
{
    const struct outbox *o = arg;
    struct err e = {0};
    if (operate_can(o->operate, m->name, "power.on", &e) < 0) {
        const struct bmc_said none = {.none = true, .text = e.msg};
        watch_bmc(o->with.watch, mono_now(), m, &none);
        return;
    }
    struct unheard *u = mem_alloc(sizeof *u);
    *u = (struct unheard){o->with.watch, m, operate_tells(o->operate, m->name)};
    operate_look(o->operate, m->name, on_looked, u);
}

void outbox_turn(struct outbox *o, struct mono now)
{
    LOOP_DOES("effects");
    watch_bmcs_to_ask(o->with.watch, now, on_bmc_to_ask, o);
    watch_unread(o->with.watch, on_unread, o);
    read_jobs(o, now);
    results_turn(o->results, now);
    actors_turn(o->actors, now, wall_now());
}

void outbox_changed(struct outbox *o, const struct hostlist *nodes)
{
    if (!o->slurm)
        return;
    for (size_t i = 0; i < nodes->n; i++)
        if (!slurm_lacks(o->slurm, nodes->names[i]))
            scheduler_changed(o->with.watch, o->with.cluster, nodes->names[i]);
    slurm_changed(o->slurm, nodes);
}

size_t outbox_waiting(const struct outbox *o)
{
    return (o->ochami ? ochami_waiting(o->ochami) : 0) + (o->slurm ? slurm_waiting(o->slurm) : 0);
}

size_t outbox_waits_for(const struct outbox *o, enum counterpart which)
{
    if (which == COUNTERPART_SLURM)
        return o->slurm ? slurm_waiting(o->slurm) : 0;
    if (which == COUNTERPART_SMD || which == COUNTERPART_BSS || which == COUNTERPART_PCS)
        return o->ochami ? ochami_waiting(o->ochami) : 0;
    return which == COUNTERPART_BMCS && o->operate ? operate_waiting(o->operate) : 0;
}

struct actors *outbox_actors(const struct outbox *o)
{
    return o->actors;
}

struct powers *outbox_powers(const struct outbox *o)
{
    return o->powers;
}

struct operate *outbox_operate(const struct outbox *o)
{
    return o->operate;
}

void outbox_stop(struct outbox *o)
{
    if (!o)
        return;
    ochami_destroy(STEAL(o->ochami));
    smd_held_destroy(STEAL(o->smd_held));
    stop_jobs(o);
    slurm_destroy(STEAL(o->slurm));
    operate_destroy(STEAL(o->operate));
}

void outbox_destroy(struct outbox *o)
{
    if (!o)
        return;
    actors_destroy(o->actors);
    free(o->seen);
    hostlist_fini(&o->mute);
    powers_destroy(o->powers);
    results_destroy(o->results);
    free(o);
}
