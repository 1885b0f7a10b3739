/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/fingerprint/surveyor.h"

#include "agent/fingerprint/glance.h"
#include "agent/fingerprint/node.h"
#include "agent/fingerprint/reading.h"
#include "agent/fingerprint/source.h"
#include "agent/fingerprint/uevent.h"
#include "agent/process/child.h"
#include "agent/process/hint.h"
#include "base/conf.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/*
 * Files in /proc and /sys, where nothing can hang, are looked at in the loop (survey_look): when inotify
 * says that one was written, when something was mounted, and from time to time. The survey itself runs in a
 * child, and so does every access to another path, which may lie on a disk that hangs or a server that is
 * gone. One child reads the configuration first. The two children set the inotify watches on a descriptor
 * that they share with their parent. Changes that inotify misses (a link that leads elsewhere, a file that
 * is written and not closed) are found by a second child from time to time (survey_stamp).
 *
 * Changes within GATHER_MS make one reading. Changes during a reading make another one after a pause, which
 * doubles while that goes on, so that an upgrade of a hundred packages does not keep a processor busy.
 *
 * A reading that began before `also` changed is not reported: it lacks components that the controller
 * compares.
 */

enum {
    ONCE_DEADLINE_MS = 5000,
    LOOK_MS = 10000, /* for changes that no event announces */
    LOOK_OFTEN_MS =
        900, /* where no event announces anything: with the reading and its way that takes a second */
    FILES_LOOK_MS = 30000,
    MODULES_MS = 60000, /* that a module may take from its first event until it is live */
    STAMP_DEADLINE_MS = 10000,
    CONF_DEADLINE_MS = 5000,
    STAMP_BYTES_MAX = 64,
    RECHECK_MS = 6 * 3600000, /* until the controller gives it */
    WHOLE_MS = 86400000,      /* between two readings that take nothing from the one before */
    GATHER_MS = 20,
    PAUSE_MS_MAX = 1000,
    RETRY_MS = 60000,             /* after a survey that failed */
    SEND_MS = 20,                 /* until more of a list is sent */
    QUEUED_BYTES_MAX = 256 << 10, /* in the uplink before that */
    TIMERS = 5
};

struct surveyor {
    uv_loop_t *loop;
    struct surveyor_settings settings;
    struct child *survey, *files_look;
    struct glance *glance;
    uv_timer_t gather, looks, recheck, whole, parts;
    struct source files, kernel, written; /* written: the paths that are looked at */
    struct mount_hint *mounts;            /* NULL: no event announces changes */
    int handles;
    bool destroyed;

    struct survey_conf conf; /* as it was when the last reading was begun */
    struct hostlist watched;
    struct survey_look *look; /* NULL: there is nothing to look at in the loop */
    uint64_t files_due_ms, modules_due_ms, modules_until_ms; /* by the loop's clock */

    struct reading reading;
    uint64_t stamp; /* of the files, when one of them was last found changed */
    struct span every;
    struct hostlist also;
    unsigned generation, read_generation; /* of the list `also` */
    bool under_way, again, gave_up, quiet;
    bool look_missed; /* there was a reason for one while a reading was under way */
    bool is_whole;    /* the next reading takes nothing from the one before */
    uint64_t pause_ms;
    surveyor_glance_fn *on_glance; /* NULL while no caller waits */
    void *glance_arg;
    bool is_other; /* a glance found something new, and the reading for it has not ended */

    bool sending;
    size_t sent; /* for reading_next_part */
};

static void surveyor_begin(struct surveyor *s);
static void on_part(uv_timer_t *timer);

static void add_also(struct survey_conf *conf, const struct hostlist *also)
{
    for (size_t i = 0; i < also->n; i++)
        survey_conf_name(conf, also->names[i]);
}

int surveyor_read(const char *root, const char *node, const struct hostlist *also, struct survey_cache *cache,
                  struct components *out, struct err *e)
{
    struct survey_conf conf = {0};
    CLEANUP_FREE char *path = node_path(root, NODE_CONF_PATH);
    int r = survey_conf_read(path, &conf, e);
    add_also(&conf, also);
    if (!r)
        r = node_read(root, node, &conf, cache, out, e);
    survey_conf_fini(&conf);
    return r;
}

static void watch_files(const struct surveyor *s)
{
    CLEANUP_HOSTLIST struct hostlist local = {0};
    survey_local(s->settings.root, &s->watched, &local);
    for (size_t i = 0; i < local.n; i++)
        node_watch(CHILD_KEPT_FD, s->settings.root, local.names[i]);
}

/* Watched first, so that what changes during the reading is seen to be new after it. An absent file is an
 * empty one. */
static int conf_work(void *arg, struct text *out, struct err *e)
{
    const struct surveyor *s = arg;
    CLEANUP_FREE char *path = node_path(s->settings.root, NODE_CONF_PATH);
    if (s->files.fd >= 0)
        node_watch(CHILD_KEPT_FD, s->settings.root, NODE_CONF_PATH);
    int r = conf_read_bytes(path, out, e);
    return r == -ENOENT ? 0 : r;
}

static int survey_work(void *arg, struct text *out, struct err *e)
{
    const struct surveyor *s = arg;
    struct survey_cache cache = {0};
    struct components list = {0};
    if (s->files.fd >= 0)
        watch_files(s);
    struct reading_stamps stamps = {
        .files = node_stamp(s->settings.root, &s->conf),
        .glance = survey_glance(s->settings.root, s->settings.node, &s->conf),
    };
    if (!s->is_whole)
        reading_packages(&s->reading, &cache);
    int r = node_read(s->settings.root, s->settings.node, &s->conf, &cache, &list, e);
    stamps.packages = cache.packages_stamp;
    if (!r)
        reading_report(&list, &stamps, out);
    return r;
}

static int stamp_answer(void *arg, const char *question, struct text *out, struct err *e)
{
    const struct surveyor *s = arg;
    text_printf(out, "%016" PRIx64, node_stamp(s->settings.root, &s->conf));
    return 0;
}

static void surveyor_say(struct surveyor *s)
{
    CLEANUP_TEXT struct text body = {0};
    if (uplink_is_up(s->settings.uplink) && reading_say(&s->reading, s->settings.boot, &body))
        uplink_send(s->settings.uplink, FRAME_FINGERPRINT, body.s, body.len);
}

static void on_gathered(uv_timer_t *timer)
{
    surveyor_begin(timer->data);
}

/* Reads within `ms`; later than that only when a reading is under way. */
static void read_within(struct surveyor *s, uint64_t ms)
{
    if (s->under_way)
        s->again = true;
    else if (!uv_is_active((uv_handle_t *)&s->gather) || uv_timer_get_due_in(&s->gather) > ms)
        uv_timer_start(&s->gather, on_gathered, ms, 0);
}

static void on_stamp(void *arg, char *text, size_t len, const struct err *why)
{
    struct surveyor *s = arg;
    uint64_t stamp;
    if (why || sscanf(text, "%16" SCNx64, &stamp) != 1) {
        log_debug(LOG_PROBE, "no look at the files: %s", why ? why->msg : text);
    } else if (stamp != s->stamp && !s->under_way) { /* else the reading sees it */
        s->stamp = stamp;
        log_debug(LOG_PROBE, "a file on the node is new");
        read_within(s, GATHER_MS);
    }
}

static bool is_due(const struct surveyor *s, uint64_t *due_ms, uint64_t every_ms)
{
    uint64_t now_ms = uv_now(s->loop);
    if (now_ms < *due_ms)
        return false;
    *due_ms = now_ms + every_ms;
    return true;
}

/* A module that an event told of may still be on its way in. */
static bool module_may_come(const struct surveyor *s)
{
    return s->kernel.fd < 0 || uv_now(s->loop) < s->modules_until_ms;
}

/* Modules and their components: each time while a module may be loading, or when no event announces them. */
static bool look_at_modules(struct surveyor *s)
{
    return is_due(s, &s->modules_due_ms, module_may_come(s) ? 0 : FILES_LOOK_MS);
}

/* Rarely: it takes a process, and inotify tells of nearly all. */
static uint64_t files_every_ms(const struct surveyor *s)
{
    return s->files.fd >= 0 ? FILES_LOOK_MS : 0;
}

static void on_look(uv_timer_t *timer);

static void arm_looks(struct surveyor *s)
{
    bool told = s->look && survey_look_told(s->look) && s->mounts && files_every_ms(s);
    if (!s->settings.once)
        uv_timer_start(&s->looks, on_look, told && !module_may_come(s) ? LOOK_MS : LOOK_OFTEN_MS, 0);
}

static void surveyor_look(struct surveyor *s)
{
    s->look_missed = s->under_way;
    if (s->under_way || !s->look || !survey_look(s->look, look_at_modules(s)))
        return;
    log_debug(LOG_PROBE, "something on the node is new");
    read_within(s, GATHER_MS);
}

static void on_look(uv_timer_t *timer)
{
    struct surveyor *s = timer->data;
    surveyor_look(s);
    if (!s->under_way && is_due(s, &s->files_due_ms, files_every_ms(s)))
        (void)child_ask(s->files_look, span_ms(STAMP_DEADLINE_MS), stamp_answer, s, "", on_stamp, s, NULL);
    arm_looks(s);
}

static void on_mounts(void *arg)
{
    surveyor_look(arg);
}

static void survey_failed(struct surveyor *s, const struct err *why)
{
    if (s->quiet)
        log_debug(LOG_PROBE, "the fingerprint is unknown: %s", why->msg);
    else
        log_warn("the fingerprint is unknown: %s", why->msg);
    s->quiet = s->gave_up = true;
    reading_forget(&s->reading);
    read_within(s, RETRY_MS);
}

static void survey_ended(struct surveyor *s, const struct err *why)
{
    if (s->read_generation != s->generation) {
        reading_forget(&s->reading);
        s->again = true;
    } else if (why) {
        survey_failed(s, why);
    } else {
        s->quiet = s->gave_up = false;
        s->stamp = s->reading.stamps.files;
        s->is_whole = false;
        surveyor_say(s);
    }
}

static void on_survey(void *arg, char *text, size_t len, const struct err *why)
{
    struct surveyor *s = arg;
    struct err e = {0};
    struct fingerprint before = s->reading.fingerprint;
    s->under_way = false;
    if (!why && reading_take(&s->reading, text, len, &e))
        why = &e;
    if (!fingerprint_equal(&before, &s->reading.fingerprint))
        s->sending = false; /* the rest of the old list is of no use */
    survey_ended(s, why);
    if (s->look_missed)
        surveyor_look(s);
    arm_looks(s);
    s->pause_ms = s->again ? s->pause_ms * 2 : GATHER_MS;
    if (s->pause_ms > PAUSE_MS_MAX)
        s->pause_ms = PAUSE_MS_MAX;
    if (s->again)
        read_within(s, s->pause_ms);
    else
        s->is_other = false;
    s->again = false;
    s->settings.on_settled(s->settings.arg); /* may end it all */
}

static struct span surveyor_deadline(const struct surveyor *s)
{
    return s->settings.once ? span_ms(ONCE_DEADLINE_MS) : survey_deadline(&s->conf);
}

static void surveyor_prepare(struct surveyor *s)
{
    add_also(&s->conf, &s->also);
    hostlist_fini(&s->watched);
    hostlist_add(&s->watched, NODE_CONF_PATH);
    survey_watched(&s->conf, &s->watched);
    s->read_generation = s->generation;
    if (s->settings.once)
        return;
    survey_look_close(s->look);
    s->look = survey_look_open(s->settings.root, &s->conf, s->written.fd);
    s->files_due_ms = uv_now(s->loop) + files_every_ms(s);
    child_dismiss(s->files_look); /* which knows the configuration of before */
    glance_renew(s->glance);
}

static void on_conf(void *arg, char *text, size_t len, const struct err *why)
{
    struct surveyor *s = arg;
    struct err e = {0};
    CLEANUP_FREE char *path = node_path(s->settings.root, NODE_CONF_PATH);
    survey_conf_fini(&s->conf);
    int r = why ? err_set(&e, why->code, "%s", why->msg) : survey_conf_parse(path, text, len, &s->conf, &e);
    surveyor_prepare(s);
    if (!r)
        r = child_run(s->survey, surveyor_deadline(s), survey_work, on_survey, s, &e);
    if (r)
        on_survey(s, NULL, 0, &e);
}

static void surveyor_begin(struct surveyor *s)
{
    struct err e = {0};
    uv_timer_stop(&s->gather);
    if (s->under_way)
        s->again = true;
    else if (child_run(s->survey, span_ms(CONF_DEADLINE_MS), conf_work, on_conf, s, &e))
        survey_failed(s, &e);
    else
        s->under_way = true;
}

static void on_recheck(uv_timer_t *timer)
{
    read_within(timer->data, 0);
}

void surveyor_recheck(struct surveyor *s)
{
    read_within(s, 0);
}

static void on_whole(uv_timer_t *timer)
{
    struct surveyor *s = timer->data;
    s->is_whole = true;
    read_within(s, 0);
}

uint64_t surveyor_turn_ms(const char *node, uint64_t every_ms, struct mono now)
{
    assert(every_ms > 0);
    uint64_t place_ms = digest_fnv(DIGEST_FNV_START, node, strlen(node)) % every_ms;
    uint64_t now_ms = (uint64_t)(now.ns / 1000000) % every_ms;
    return every_ms - (now_ms + place_ms) % every_ms;
}

static void take_turns(const struct surveyor *s, uv_timer_t *timer, uv_timer_cb fn, uint64_t ms)
{
    uv_timer_start(timer, fn, surveyor_turn_ms(s->settings.node, ms, mono_now()), ms);
}

static void set_every(struct surveyor *s, struct span every)
{
    uint64_t ms = (uint64_t)span_to_ms(every);
    if (every.ns == s->every.ns)
        return;
    s->every = every;
    uv_timer_stop(&s->recheck);
    if (ms)
        take_turns(s, &s->recheck, on_recheck, ms);
}

static bool equal_lists(const struct hostlist *a, const struct hostlist *b)
{
    bool equal = a->n == b->n;
    for (size_t i = 0; equal && i < a->n; i++)
        equal = strcmp(a->names[i], b->names[i]) == 0;
    return equal;
}

static void set_also(struct surveyor *s, const struct hostlist *also)
{
    if (equal_lists(&s->also, also))
        return;
    hostlist_fini(&s->also);
    hostlist_add_all(&s->also, also);
    s->generation++;
    reading_forget(&s->reading);
    read_within(s, 0);
}

void surveyor_settings(struct surveyor *s, const struct body_survey *how)
{
    if (how->has_recheck)
        set_every(s, how->recheck);
    if (how->has_also)
        set_also(s, &how->also);
}

void surveyor_welcome(struct surveyor *s, const struct body_survey *how)
{
    s->reading.told_any = false;
    s->sending = false;
    surveyor_settings(s, how);
    surveyor_say(s);
}

/* As much as the uplink takes; the rest follows. */
static void send_parts(struct surveyor *s)
{
    struct uplink *u = s->settings.uplink;
    const char *body;
    size_t len;
    while (s->sending && uplink_is_up(u) && uplink_queued(u) < QUEUED_BYTES_MAX) {
        body = reading_next_part(&s->reading, &s->sent, &len);
        if (body)
            uplink_send(u, FRAME_COMPONENTS, body, len);
        else
            s->sending = false;
    }
    if (s->sending)
        uv_timer_start(&s->parts, on_part, SEND_MS, 0);
}

static void on_part(uv_timer_t *timer)
{
    send_parts(timer->data);
}

void surveyor_want(struct surveyor *s, const struct fingerprint *wanted)
{
    if (!s->reading.known)
        return;
    if (!fingerprint_equal(wanted, &s->reading.fingerprint)) {
        s->reading.told_any = false;
        surveyor_say(s);
        return;
    }
    s->sending = true;
    s->sent = 0;
    send_parts(s);
}

bool surveyor_owes(const struct surveyor *s)
{
    return !s->gave_up && !(s->reading.known && s->reading.told_any);
}

static void on_glance(void *arg, const uint64_t *value)
{
    struct surveyor *s = arg;
    s->is_other = value && s->reading.known && *value != s->reading.stamps.glance;
    if (s->is_other)
        read_within(s, 0);
    STEAL(s->on_glance)(s->glance_arg, s->is_other);
}

void surveyor_glance(struct surveyor *s, surveyor_glance_fn *fn, void *arg)
{
    if (s->is_other) {
        fn(arg, true);
        return;
    }
    assert(!s->on_glance && "one glance at a time");
    s->on_glance = fn;
    s->glance_arg = arg;
    glance_take(s->glance, on_glance, s);
}

const struct fingerprint *surveyor_told(const struct surveyor *s)
{
    bool reads = s->under_way || uv_is_active((const uv_handle_t *)&s->gather);
    return !reads && s->reading.known && s->reading.told_any ? &s->reading.told : NULL;
}

static void on_files(uv_poll_t *poll, int status, int events)
{
    const struct source *source = poll->data;
    struct surveyor *s = source->owner;
    if (source_tells_of(source, &s->watched))
        read_within(s, GATHER_MS);
}

static void on_kernel(uv_poll_t *poll, int status, int events)
{
    const struct source *source = poll->data;
    struct surveyor *s = source->owner;
    if (!uevent_drain(source->fd))
        return;
    s->modules_due_ms = 0;
    s->modules_until_ms = uv_now(s->loop) + MODULES_MS;
    arm_looks(s);
    read_within(s, GATHER_MS);
}

/* Which file it was does not matter: a look finds out whether it says something else now. */
static void on_written(uv_poll_t *poll, int status, int events)
{
    const struct source *source = poll->data;
    source_drain(source);
    surveyor_look(source->owner);
}

static void on_one_closed(void *owner)
{
    struct surveyor *s = owner;
    if (--s->handles > 0)
        return;
    reading_fini(&s->reading);
    survey_look_close(s->look);
    survey_conf_fini(&s->conf);
    hostlist_fini(&s->watched);
    hostlist_fini(&s->also);
    free(s);
}

static void on_timer_closed(uv_handle_t *handle)
{
    on_one_closed(handle->data);
}

/* Without a source its part is looked at every time. */
static void add_source(struct surveyor *s, struct source *source, int fd, uv_poll_cb ready)
{
    if (source_open(source, s->loop, fd, ready, on_one_closed, s))
        s->handles++;
}

struct surveyor *surveyor_create(uv_loop_t *loop, const struct surveyor_settings *settings)
{
    struct surveyor *s = mem_alloc(sizeof *s);
    uv_timer_t *const timers[TIMERS] = {&s->gather, &s->looks, &s->recheck, &s->whole, &s->parts};
    s->loop = loop;
    s->settings = *settings;
    s->pause_ms = GATHER_MS;
    for (; s->handles < TIMERS; s->handles++) {
        uv_timer_init(loop, timers[s->handles]);
        timers[s->handles]->data = s;
    }
    s->survey = child_create(loop, READING_REPORT_BYTES_MAX);
    s->files_look = child_create(loop, STAMP_BYTES_MAX);
    s->glance = glance_create(loop, settings->root, settings->node, &s->conf);
    add_source(s, &s->files, settings->once ? -1 : inotify_init1(IN_CLOEXEC | IN_NONBLOCK), on_files);
    add_source(s, &s->written, settings->once ? -1 : inotify_init1(IN_CLOEXEC | IN_NONBLOCK), on_written);
    s->mounts = settings->once || *settings->root ? NULL : mount_hint_create(loop, on_mounts, s);
    add_source(s, &s->kernel, settings->once || *settings->root ? -1 : uevent_open(), on_kernel);
    child_keep(s->survey, s->files.fd);
    set_every(s, span_ms(RECHECK_MS));
    take_turns(s, &s->whole, on_whole, WHOLE_MS);
    surveyor_begin(s);
    return s;
}

void surveyor_destroy(struct surveyor *s)
{
    if (!s || s->destroyed)
        return;
    s->destroyed = true;
    child_destroy(s->survey);
    child_destroy(s->files_look);
    glance_destroy(s->glance);
    source_close(&s->files);
    source_close(&s->kernel);
    source_close(&s->written);
    mount_hint_destroy(s->mounts);
    uv_close((uv_handle_t *)&s->gather, on_timer_closed);
    uv_close((uv_handle_t *)&s->looks, on_timer_closed);
    uv_close((uv_handle_t *)&s->recheck, on_timer_closed);
    uv_close((uv_handle_t *)&s->whole, on_timer_closed);
    uv_close((uv_handle_t *)&s->parts, on_timer_closed);
}
