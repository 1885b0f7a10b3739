/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"

#include "agent/capacity.h"
#include "agent/checker/checker.h"
#include "agent/collect/collect.h"
#include "agent/credentials.h"
#include "agent/duties.h"
#include "agent/fingerprint/surveyor.h"
#include "agent/heartbeat.h"
#include "agent/home/home.h"
#include "agent/home/writer.h"
#include "agent/inventory.h"
#include "agent/operate/runner.h"
#include "agent/reporter.h"
#include "agent/uplink/body.h"
#include "agent/uplink/trust.h"
#include "agent/uplink/uplink.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "link/tls.h"
#include "probe/probe.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/*
 * Puts the parts of the agent together. The uplink says hello, and each frame that comes over it goes to
 * its part. Once the agent runs, its loop never touches a disk, here or below: child processes read and
 * write, and the part that needs the result waits for it. Each part that reads the node has its own
 * children, so a directory that hangs costs that part alone, and never a heartbeat.
 */

enum {
    CLOCK_OFF_S = 60, /* of two clocks that are both wrong by now */
    ONCE_TRIES = 3    /* of a single report, before it gives up */
};

struct agent {
    uv_loop_t *loop;
    agent_done_fn *done;
    void *arg;
    char *home, *run, *root; /* run: as home_run has it; NULL of `once` */
    bool once, stopping, failed;
    struct err why;

    const char *name; /* the node's boot id */
    char instance[17], boot[37];
    struct span default_interval;
    struct credentials *credentials;
    struct trust trust;
    struct uplink *uplink;
    struct collect *collect;
    struct surveyor *surveyor;
    struct heartbeat *heartbeat;
    struct reporter *reporter;
    struct duties *duties; /* NULL of `once` */
    uv_timer_t life;       /* never started; the agent is gone when its handle is closed */

    struct address_list learned; /* the controllers of this state, as one of them told */
    uint64_t survey_revision;    /* the hash of the order in force */
    bool started;                /* the uplink is */
    unsigned tries;              /* of `once` */
};

static void on_closed(uv_handle_t *handle)
{
    struct agent *a = handle->data;
    agent_done_fn *done = a->done;
    void *arg = a->arg;
    struct err why = a->why;
    bool failed = a->failed;
    free(a->home);
    free(a->run);
    free(a->root);
    free(a);
    done(arg, failed ? &why : NULL);
}

void agent_stop(struct agent *a)
{
    if (a->stopping)
        return;
    a->stopping = true;
    uplink_finish(a->uplink);
    collect_destroy(a->collect);
    surveyor_destroy(a->surveyor);
    duties_destroy(STEAL(a->duties));
    uplink_destroy(a->uplink);
    heartbeat_destroy(a->heartbeat);
    reporter_destroy(a->reporter);
    credentials_destroy(a->credentials);
    uv_close((uv_handle_t *)&a->life, on_closed);
}

static void agent_fail(struct agent *a, const struct err *why)
{
    if (!a->failed && why)
        a->why = *why;
    a->failed = true;
    agent_stop(a);
}

/* A single report ends when all that was owed is on its way. */
static void on_told(void *arg)
{
    struct agent *a = arg;
    if (a->once && !heartbeat_owes(a->heartbeat) && !reporter_owes(a->reporter) &&
        !surveyor_owes(a->surveyor) && uplink_is_up(a->uplink))
        uplink_finish(a->uplink);
}

static void on_settled(void *arg)
{
    struct agent *a = arg;
    if (a->duties)
        duties_settled(a->duties);
    on_told(a);
}

/* The uplink starts when the inventory is known, or cannot be. */
static void on_read(void *arg, const struct err *why)
{
    struct agent *a = arg;
    if (why && a->once && reporter_owes(a->reporter)) {
        agent_fail(a, why);
    } else if (!a->started) {
        a->started = true;
        uplink_start(a->uplink, credentials_tls(a->credentials));
    }
}

static void set_interval(struct agent *a, struct span interval)
{
    heartbeat_set_interval(a->heartbeat, interval);
    reporter_repeat(a->reporter, span_to_ms(interval) != 0); /* zero: report once and wait */
}

/* By it a controller learns that there is a later one, which may run on a restored backup of its state. */
static void add_heard(const struct agent *a, struct text *body)
{
    const char *origin;
    uint64_t term = uplink_heard(a->uplink, &origin);
    if (*origin)
        text_printf(body, ",\"heard\":{\"origin\":\"%s\",\"term\":%" PRIu64 "}", origin, term);
}

static void on_hello(void *arg, struct text *body)
{
    struct agent *a = arg;
    text_printf(body,
                "{\"protocol\":1,\"name\":\"%s\",\"version\":\"%s\",\"boot\":\"%s\",\"instance\":\"%s\"",
                a->name, FETTLE_VERSION, a->boot, a->instance);
    text_printf(body, ",\"now_ms\":%" PRId64, wall_now().ns / 1000000);
    add_heard(a, body);
    reporter_add_hello(a->reporter, body);
    if (a->once || credentials_begin_visit(a->credentials))
        text_add(body, ",\"once\":true");
    if (a->duties)
        duties_add_hello(a->duties, body);
    collect_add_hello(a->collect, body);
    text_add_char(body, '}');
}

/* The controllers of a state come and go; the configured ones stay known. */
static void learn_controllers(struct agent *a, const struct address_list *told)
{
    if (memcmp(&a->learned, told, sizeof *told) == 0)
        return;
    a->learned = *told;
    uplink_learn(a->uplink, told);
    if (a->duties)
        duties_keep_controllers(a->duties, told);
    log_info("the state has %zu controllers", told->n);
}

/* False: there is no such order, or it does not count; *out is empty then. */
static bool take_survey(struct agent *a, const json_t *order, struct body_survey *out)
{
    struct frame f;
    struct err why = {0};
    *out = (struct body_survey){0};
    if (!order)
        return false;
    heartbeat_shrink(a->heartbeat); /* reading certificates touches 2 MiB of OpenSSL */
    if (!trust_open(&a->trust, FRAME_SETTINGS, order, &f))
        return false;
    if (body_read_survey(&f, out, &why) < 0) {
        trust_refuse(&a->trust, FRAME_SETTINGS, &why);
        return false;
    }
    /* A number that rose once stays, also by an older order. */
    credentials_take_least(a->credentials, out->least);
    if (trust_is_newer(&a->trust, FRAME_SETTINGS, out->revision, &a->survey_revision)) {
        if (out->has_controllers)
            learn_controllers(a, &out->controllers);
        return true;
    }
    body_survey_fini(out);
    *out = (struct body_survey){0};
    return false;
}

static void compare_clocks(struct agent *a, struct wall controller)
{
    char off[32];
    if (!controller.ns)
        return;
    struct span ahead = {wall_now().ns - controller.ns}, off_by = {llabs(ahead.ns)};
    credentials_set_clock(a->credentials, ahead);
    if (a->duties)
        checker_clock(duties_checker(a->duties), controller);
    if (off_by.ns >= span_s(CLOCK_OFF_S).ns)
        log_warn("the clock of this node is %s %s that of the controller: one of them is wrong",
                 span_human(off_by, off), ahead.ns > 0 ? "ahead of" : "behind");
}

/* One that reports to a collector hears the controller's time when it is sent there. */
static void on_sent_away(void *arg, struct wall controller)
{
    compare_clocks(arg, controller);
}

static void on_welcome(void *arg, const struct body_welcome *w)
{
    struct agent *a = arg;
    struct body_welcome welcome = *w;
    struct body_survey survey;
    if (!w->has_interval)
        welcome.interval = a->default_interval;
    if (!take_survey(a, w->survey, &survey))
        welcome.survey = NULL;
    a->tries = 0;
    heartbeat_welcome(a->heartbeat);
    if (uplink_at_controller(a->uplink)) {
        compare_clocks(a, w->now);
        if (a->duties)
            duties_welcome(a->duties);
        collect_welcome(a->collect, &welcome);
        credentials_ask(a->credentials);
    } else {
        collect_stop(a->collect);
    }
    set_interval(a, welcome.interval);
    reporter_welcome(a->reporter, w->want);
    surveyor_welcome(a->surveyor, &survey);
    body_survey_fini(&survey);
    if (a->duties)
        duties_tell(a->duties);
    heartbeat_now(a->heartbeat);
    credentials_end_visit(a->credentials);
}

static int on_settings(struct agent *a, const struct frame *f, struct err *e)
{
    struct body_settings s;
    struct body_survey survey;
    int r = body_read_settings(f, &s, e);
    if (r)
        return r;
    bool taken = take_survey(a, s.survey, &survey);
    if (s.has_spread)
        uplink_set_spread(a->uplink, s.spread);
    uplink_set_waits(a->uplink, &s.waits);
    if (s.has_interval)
        set_interval(a, s.interval);
    surveyor_settings(a->surveyor, &survey);
    collect_settings(a->collect, s.has_interval ? &s.interval : NULL, &s.waits, taken ? s.survey : NULL);
    body_survey_fini(&survey);
    json_decref(s.survey);
    return 0;
}

static int on_share(struct agent *a, const struct frame *f, struct err *e)
{
    struct body_share share;
    struct err why = {0};
    if (a->once)
        return 0;
    int r = body_read_share(f, &share, e);
    if (r)
        return r;
    struct tls_context *tls = credentials_server_tls(a->credentials, &why);
    if (!tls || collect_share(a->collect, &share, tls, &why))
        log_error("cannot collect: %s", why.msg);
    hostlist_fini(&share.nodes);
    return 0;
}

static int on_ended_told(struct agent *a, const struct frame *f, struct err *e)
{
    CLEANUP_JSON json_t *body = json_read(f->body, f->len, e);
    if (!json_is_object(body))
        return err_set(e, -EINVAL, "ENDED: the body is no object");
    credentials_take_least(a->credentials, json_object_get(body, "least"));
    return 0;
}

static int read_want(const struct agent *a, const struct frame *f, struct body_want *want, struct err *e)
{
    int r = body_read_want(f, want, e);
    for (size_t i = 0; !r && !want->own && i < want->nodes.n; i++)
        want->own = strcmp(want->nodes.names[i], a->name) == 0;
    return r;
}

static int on_want(struct agent *a, const struct frame *f, struct err *e)
{
    struct body_want want;
    int r = read_want(a, f, &want, e);
    if (r)
        return r;
    if (want.own && want.components)
        surveyor_want(a->surveyor, &want.fingerprint);
    else if (want.own)
        reporter_send_whole(a->reporter);
    collect_want(a->collect, &want);
    hostlist_fini(&want.nodes);
    return 0;
}

static int on_recheck(struct agent *a, const struct frame *f, struct err *e)
{
    struct body_want want;
    int r = read_want(a, f, &want, e);
    if (r)
        return r;
    if (want.own)
        surveyor_recheck(a->surveyor);
    collect_recheck(a->collect, &want.nodes);
    hostlist_fini(&want.nodes);
    return 0;
}

static int on_pass(struct agent *a, const struct frame *f, struct err *e)
{
    struct body_pass pass;
    int r = body_read_pass(f, &pass, e);
    if (r)
        return r;
    collect_pass(a->collect, &pass);
    free(pass.body);
    return 0;
}

static int on_checklist(struct agent *a, const struct frame *f, struct err *e)
{
    return a->duties ? duties_checklist(a->duties, f, e) : 0;
}

static int on_act(struct agent *a, const struct frame *f, struct err *e)
{
    return a->duties ? duties_act(a->duties, f, e) : 0;
}

static int on_standing(struct agent *a, const struct frame *f, struct err *e)
{
    return a->duties ? duties_standing(a->duties, f, e) : 0;
}

static int on_heard(struct agent *a, const struct frame *f, struct err *e)
{
    collect_answered(a->collect);
    return 0;
}

static int on_renewed(struct agent *a, const struct frame *f, struct err *e)
{
    return credentials_renewed(a->credentials, f, e);
}

/* Frames that an agent takes and that the link itself does not handle (frame.tbl). */
typedef int agent_frame_fn(struct agent *a, const struct frame *f, struct err *e);
static agent_frame_fn *const frames[FRAME_TYPES] = {
    [FRAME_CHECKLIST] = on_checklist, [FRAME_ACT] = on_act,           [FRAME_STANDING] = on_standing,
    [FRAME_PASS] = on_pass,           [FRAME_SETTINGS] = on_settings, [FRAME_WANT] = on_want,
    [FRAME_RECHECK] = on_recheck,     [FRAME_SHARE] = on_share,       [FRAME_ENDED] = on_ended_told,
    [FRAME_HEARD] = on_heard,         [FRAME_RENEWED] = on_renewed,
};

/* A row of frame.tbl without a handler is our own mistake; the uplink hands on what fits alone. */
static void assert_frames_complete(void)
{
    for (int t = 0; t < FRAME_TYPES; t++) {
        bool fits = frame_sender_of((uint8_t)t, FRAME_TO_AGENT) > FRAME_FROM_STRANGER;
        assert(fits == (frames[t] || uplink_takes((uint8_t)t)));
    }
}

static int on_frame(void *arg, const struct frame *f, struct err *e)
{
    assert(f->type < FRAME_TYPES && frames[f->type]);
    return frames[f->type](arg, f, e);
}

static void on_lost(void *arg, bool welcomed, const struct err *why)
{
    struct agent *a = arg;
    bool told = welcomed && !heartbeat_owes(a->heartbeat) && !reporter_owes(a->reporter);
    heartbeat_lost(a->heartbeat);
    collect_lost(a->collect);
    if (a->duties)
        duties_lost(a->duties);
    credentials_lost(a->credentials);
    if (!a->once)
        return;
    if (told && !why)
        agent_stop(a);
    else if (++a->tries >= ONCE_TRIES)
        agent_fail(a, why);
}

/* A command that an older agent began keeps all its state on the disk, and so does this agent until it is
 * started again. */
static int choose_run(struct agent *a, struct err *e)
{
    CLEANUP_FREE char *running = NULL;
    if (!runner_find(a->home, &running))
        return home_run(a->home, &a->run, e);
    a->run = mem_dup(a->home);
    return 0;
}

static int agent_load(struct agent *a, struct address_list *controllers, struct err *e)
{
    uint64_t random;
    int r = credentials_load(a->home, &a->credentials, e);
    if (!r && !a->once)
        r = choose_run(a, e);
    if (!r && !controllers->n)
        r = home_load_controllers(a->home, controllers, e);
    if (!r && !controllers->n)
        r = err_set(e, -EINVAL, "no controller is known; name one with -c HOST");
    if (!r)
        r = probe_boot_id(a->root, a->boot, e);
    if (!r && getrandom(&random, sizeof random, 0) != sizeof random)
        r = err_set(e, -EIO, "no random numbers");
    if (r)
        return r;
    a->name = credentials_identity(a->credentials)->name;
    snprintf(a->instance, sizeof a->instance, "%016" PRIx64, random);
    setenv("FETTLE_NODE", a->name, 1); /* for plugins and for remedies' commands */
    return 0;
}

/* Without them it goes on with those that are configured, and is told again. */
static void load_learned(struct agent *a)
{
    struct err why;
    if (home_load_learned(a->home, &a->learned, &why) < 0) {
        log_warn("%s; it is written anew", why.msg);
        memset(&a->learned, 0, sizeof a->learned);
    }
    uplink_learn(a->uplink, &a->learned);
}

static void free_unstarted(struct agent *a)
{
    credentials_destroy(a->credentials);
    free(a->home);
    free(a->run);
    free(a->root);
    free(a);
}

static void warn_if_expired(const struct agent *a)
{
    struct span left;
    char ago[32];
    if (!tls_cert_left(credentials_identity(a->credentials)->cert, &left, NULL) && left.ns < 0)
        log_warn("the certificate of \"%s\" has expired, %s ago by the clock of this node; set the clock, or "
                 "join again",
                 a->name, span_human((struct span){-left.ns}, ago));
}

/* The parts, bottom to top. None of them calls back before the loop runs. */
static void create_parts(struct agent *a, const struct address_list *controllers, int collect_port)
{
    static const struct uplink_events events = {on_hello, on_sent_away, on_welcome, on_frame, on_lost};
    const struct home_identity *id = credentials_identity(a->credentials);
    assert_frames_complete();
    a->uplink = uplink_create(a->loop, controllers, &events, a);
    a->trust.uplink = a->uplink;
    a->trust.orders =
        (struct orders){.ca = id->ca, .node = a->name, .least = credentials_least(a->credentials)};
    a->collect = collect_create(a->loop, a->uplink, a->name, a->instance, collect_port);
    credentials_start(a->credentials, a->loop, a->uplink, a->collect);
    const struct heartbeat_settings heartbeat = {a->loop,   a->root,    a->name, a->boot, a->instance,
                                                 a->uplink, a->collect, on_told, a};
    a->heartbeat = heartbeat_create(&heartbeat);
    const struct reporter_settings report = {a->loop, a->root, a->instance, a->uplink,
                                             a->once, on_read, on_told,     a};
    a->reporter = reporter_create(&report);
    const struct surveyor_settings survey = {a->root, a->name, a->boot, a->uplink, a->once, on_settled, a};
    a->surveyor = surveyor_create(a->loop, &survey);
}

static void create_duties(struct agent *a)
{
    const struct duties_settings settings = {.loop = a->loop,
                                             .home = a->home,
                                             .run = a->run,
                                             .root = a->root,
                                             .node = a->name,
                                             .boot = a->boot,
                                             .uplink = a->uplink,
                                             .collect = a->collect,
                                             .surveyor = a->surveyor,
                                             .heartbeat = a->heartbeat,
                                             .trust = &a->trust};
    a->duties = duties_create(&settings);
    heartbeat_set_checker(a->heartbeat, duties_checker(a->duties));
    reporter_set_checker(a->reporter, duties_checker(a->duties));
}

int agent_start(uv_loop_t *loop, const struct agent_settings *settings, agent_done_fn *done, void *arg,
                struct agent **out, struct err *e)
{
    struct address_list controllers = *settings->controllers;
    struct agent *a = mem_alloc(sizeof *a);
    a->loop = loop;
    a->done = done;
    a->arg = arg;
    a->home = mem_dup(settings->home);
    a->root = mem_dup(settings->root);
    a->once = settings->once;
    a->default_interval = settings->interval;
    int r = agent_load(a, &controllers, e);
    if (r) {
        free_unstarted(a);
        return r;
    }
    warn_if_expired(a);
    uv_timer_init(loop, &a->life);
    a->life.data = a;
    create_parts(a, &controllers, settings->collect_port);
    load_learned(a);
    if (!a->once)
        create_duties(a);
    reporter_start(a->reporter);
    *out = a;
    return 0;
}
