/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the rooms from the bottom to the top, gives them time, and closes them from the top to the bottom. */
#include "controller/controller_inside.h"

#include "base/digest.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/notify.h"
#include "controller/guard.h"

#include <stdlib.h>

/* --- time ------------------------------------------------------------------------------------ */

static void note_lag(struct controller *c, struct mono now)
{
    double ms = (double)(mono_sub(now, c->last_tick).ns - span_ms(WATCH_TICK_MS).ns) / 1e6;
    if (ms > 1000)
        log_warn("the loop stood still for %.0f ms; that time does not count as silence", ms);
    c->last_tick = now;
}

/* A turn's share of the sweep. It ends by the clock: no table of what nodes cost stays true. */
static void controller_sweep(struct controller *c)
{
    enum { SWEEP_MS = 1, NODES_A_STEP = 100 };
    LOOP_DOES("sweep");
    struct mono until = loop_share(span_ms(SWEEP_MS));
    while (watch_step(c->watch, NODES_A_STEP))
        if (mono_now().ns >= until.ns)
            return;
    uv_idle_stop(&c->sweep);
}

static void on_sweep(uv_idle_t *idle)
{
    controller_sweep(idle->data);
}

static void controller_watch(struct controller *c, struct mono now)
{
    LOOP_DOES("watch");
    watch_tick(c->watch, now, wall_now());
    uv_idle_start(&c->sweep, on_sweep);
}

/* A leader's own observations, or what a follower is told of them: while that is cut, time stands still
 * there. */
static bool controller_observes(const struct controller *c, struct mono now)
{
    struct span age;
    return wiring_acts(c) || (c->observer && observer_age(c->observer, now, &age, NULL) == 0);
}

static void on_tick(uv_timer_t *t)
{
    LOOP_DOES("tick");
    struct controller *c = t->data;
    struct mono now = mono_now();
    note_lag(c, now);
    if (c->observer)
        observer_turn(c->observer, now);
    if (controller_observes(c, now))
        controller_watch(c, now);
    if (c->teller)
        teller_turn(c->teller, now);
    events_turn(c->events);
    committer_turn(c->committer, now);
    if (c->auditor)
        auditor_turn(c->auditor, now);
    if (wiring_acts(c)) {
        outbox_turn(c->outbox, now);
        trials_turn(c->trials, now);
        contacts_turn(c->contacts, now);
        backups_turn(c->backups, now);
    }
    quorum_turn(c, now);
    if (c->watchdog.ns && mono_sub(now, c->last_watchdog).ns >= c->watchdog.ns) {
        c->last_watchdog = now;
        notify_watchdog();
    }
}

/* --- opening --------------------------------------------------------------------------------- */

static void start_ticking(struct controller *c)
{
    c->last_tick = mono_now();
    c->watchdog = notify_watchdog_interval();
    uv_timer_init(c->loop, &c->tick);
    uv_idle_init(c->loop, &c->sweep);
    c->tick.data = c->sweep.data = c;
    uv_timer_start(&c->tick, on_tick, WATCH_TICK_MS, WATCH_TICK_MS);
    account_start(&c->account, c->loop);
    c->ticking = true;
}

/* The only controller of its state leads from the start. */
static int open_single(struct controller *c, uint64_t *revision, struct err *e)
{
    int rc = leadership_take(c, c->state_dir, revision, e);
    if (rc < 0)
        return rc;
    log_debug(LOG_INIT, "state in %s: revision %llu", c->state_dir, (unsigned long long)*revision);
    rc = agreement_start(c, revision, e);
    if (rc == 0)
        rc = leadership_certify(c, e);
    if (rc == 0)
        rc = leadership_record(c, revision, e);
    if (rc == 0)
        rc = leadership_audit(c, *revision, e);
    if (rc < 0)
        return rc;
    wiring_decisions(c, *revision);
    return wiring_lead(c, e);
}

/* One of several. The configuration that is agreed decides, not this controller's own files. */
static int open_follower(struct controller *c, uint64_t *revision, struct err *e)
{
    int rc = quorum_open(c, revision, e);
    if (rc == 0)
        rc = leadership_certify(c, e);
    if (rc < 0)
        return rc;
    wiring_decisions(c, *revision);
    quorum_mirror(c);
    wiring_follow(c);
    return 0;
}

int controller_open(uv_loop_t *loop, const char *config_path, const char *state_dir, struct controller **out,
                    struct err *e)
{
    struct controller *c = mem_alloc(sizeof *c);
    c->loop = loop;
    c->began = mono_now();
    c->state_dir = mem_dup(state_dir);
    uint64_t revision = 0;
    digest_random(&c->instance, sizeof c->instance);
    c->cluster = cluster_create();
    c->events = events_create(c->instance);
    int rc = config_read(config_path, &c->conf, e);
    if (rc == 0) {
        log_set_flags(c->conf.debug_flags);
        log_debug(LOG_INIT, "%s is read: %zu nodes, %zu collectors", config_path, c->conf.roster.n,
                  c->conf.collectors.n);
        reload_warn(c->conf.warnings.s, NULL);
        rc = guard_config(&c->conf, e);
    }
    if (rc == 0)
        rc = guard_state(state_dir, e);
    if (rc == 0)
        rc = *c->conf.text[SETTING_STORE] ? open_follower(c, &revision, e) : open_single(c, &revision, e);
    if (rc == 0)
        rc = interface_open(c, e);
    if (rc < 0) {
        controller_close(c);
        return rc;
    }
    start_ticking(c);
    log_info("fettled " FETTLE_VERSION ": revision %llu, %zu nodes; HTTPS on port %u, local socket %s",
             (unsigned long long)revision, cluster_count(c->cluster), (unsigned)http_server_port(c->http),
             c->conf.text[SETTING_API_SOCKET]);
    if (c->quorum)
        quorum_follow(c, revision);
    *out = c;
    return 0;
}

/* What is agreed a follower has from the leader: it reads its own parameters. */
void controller_reload(struct controller *c)
{
    if (c->quorum && c->term == 0)
        c->revised = true;
    else
        reload_config(c, &(struct shell_reload){.actor = "SIGHUP"}, NULL, NULL);
}

enum controller_end controller_ended(const struct controller *c)
{
    return c->end;
}

/* From the top down: nobody asks any more, then nobody reports, then nothing is committed. */
void controller_close(struct controller *c)
{
    if (!c)
        return;
    c->closing = true;
    if (c->ticking) {
        account_stop(&c->account);
        uv_close((uv_handle_t *)&c->tick, NULL);
        uv_close((uv_handle_t *)&c->sweep, NULL);
    }
    quorum_stop(c);
    http_server_destroy(c->http);
    issuer_destroy(c->issuer);
    logins_destroy(c->logins);
    wiring_rest(c);
    observer_destroy(STEAL(c->observer));
    backups_stop(c->backups);
    searches_destroy(c->searches);
    auditor_destroy(c->auditor);
    treefile_close(c->tree);
    committer_destroy(c->committer);
    backups_destroy(c->backups);
    quorum_resign(c);
    contacts_close(c->contacts);
    uv_run(c->loop, UV_RUN_DEFAULT);
    proposals_destroy(c->proposals);
    outbox_destroy(c->outbox);
    trials_destroy(c->trials);
    broker_destroy(c->broker);
    api_destroy(c->api);
    watch_destroy(c->watch);
    events_destroy(c->events);
    tls_context_destroy(c->agents_tls);
    tls_context_destroy(c->api_tls);
    tls_context_destroy(c->peer_tls);
    signer_destroy(c->signer);
    authority_close(c->authority);
    cluster_destroy(c->cluster);
    store_close(c->store);
    quorum_close(c);
    config_fini(&c->conf);
    free(c->state_dir);
    free(c);
}
