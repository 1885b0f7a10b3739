/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/outbox/outbox.h"

#include "base/json.h"
#include "base/loop.h"
#include "controller/outbox/outbox_inside.h"
#include "driver/smd_held.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOG_BYTES_MAX = 600 /* the answer of a BMC */
};

enum driver { ALL_DRIVERS, ACTORS, OCHAMI, SLURM, OPERATE };

struct outbox {
    struct outbox_setup with;
    struct results *results;
    struct actors *actors;
    struct powers *powers;
    struct smd_held *smd_held; /* NULL while no State Manager is configured */
    struct ochami *ochami;     /* NULL while no service is configured */
    struct outbox_slurm slurm;
    struct operate *operate;
    enum driver only;     /* the functions that are told of effects */
    struct hostlist mute; /* nodes whose BMC did not do what it was asked last */
};

static void on_result(void *arg, const char *key, const char *done)
{
    const struct outbox *o = arg;
    results_add(o->results, key, done);
}

static bool outbox_hears(const struct outbox *o, enum driver d)
{
    return o->only == ALL_DRIVERS || o->only == d;
}

/* A boot that follows was asked for. */
static void note_power(const struct outbox *o, const char *key, const char *value)
{
    struct member *m = cluster_find(o->with.cluster, power_key_node(key));
    CLEANUP_OPERATION struct operation is = {0};
    operation_parse(&is, value);
    if (m && is.state == OPERATION_BEGUN)
        watch_expect_boot(o->with.watch, mono_now(), m);
    powers_effect(o->powers, key, &is);
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
    if (outbox_hears(o, SLURM))
        outbox_slurm_effect(&o->slurm, key, value);
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
    const struct outbox *o = arg;
    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++)
        if (strcmp(counterpart_name(services[i]), service) == 0)
            counterpart_answered(o->with.counterparts, services[i], "", why);
}

/* Whether somebody holds a node there. */
static void on_smd_held(void *arg, const char *node, const char *how, bool out, const struct err *why)
{
    struct outbox *o = arg;
    struct member *m = cluster_find(o->with.cluster, node);
    struct elsewhere is = {.where = ELSEWHERE_OCHAMI};
    counterpart_answered(o->with.counterparts, COUNTERPART_SMD, "", why);
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
    counterpart_answered(o->with.counterparts, COUNTERPART_BMCS, nodes, o->mute.n ? why : NULL);
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
        err_set(&e, -EIO, "the BMCs of %zu nodes did not carry out their last command", o->mute.n);
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
    if (outbox_slurm_configure(&o->slurm, &conf->slurm)) {
        outbox_feed(o, SLURM);
        outbox_slurm_tell_wanted(&o->slurm);
    }
    configure_operate(o, conf);
}

struct outbox *outbox_create(const struct outbox_setup *setup, const struct config *conf)
{
    struct outbox *o = mem_alloc(sizeof *o);
    o->with = *setup;
    o->results = results_create(setup->committer);
    o->powers = powers_create();
    outbox_slurm_init(&o->slurm, &o->with, o->results);
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
    if (where == ELSEWHERE_SLURM)
        outbox_slurm_look(&o->slurm, m->name);
    if (where == ELSEWHERE_OCHAMI && o->smd_held && member_outside_name(m))
        smd_held_look(o->smd_held, m->name, member_outside_name(m));
}

/* The node whose BMC is asked. */
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
        components_add(c, name, COMPONENT_UNKNOWN, "the answer of the BMC is no text", NULL);
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
    outbox_slurm_turn(&o->slurm, now);
    results_turn(o->results, now);
    actors_turn(o->actors, now, wall_now());
}

void outbox_changed(struct outbox *o, const struct hostlist *nodes)
{
    outbox_slurm_changed(&o->slurm, nodes);
}

size_t outbox_waiting(const struct outbox *o)
{
    return (o->ochami ? ochami_waiting(o->ochami) : 0) + outbox_slurm_waiting(&o->slurm);
}

size_t outbox_waits_for(const struct outbox *o, enum counterpart which)
{
    if (which == COUNTERPART_SLURM)
        return outbox_slurm_waiting(&o->slurm);
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
    outbox_slurm_stop(&o->slurm);
    operate_destroy(STEAL(o->operate));
}

void outbox_destroy(struct outbox *o)
{
    if (!o)
        return;
    actors_destroy(o->actors);
    outbox_slurm_fini(&o->slurm);
    hostlist_fini(&o->mute);
    powers_destroy(o->powers);
    results_destroy(o->results);
    free(o);
}
