/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/actor.h"

#include "agent/deeds.h"
#include "agent/oom.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * An operation is written down as begun, then told, then done. An agent that ends in between finds it begun
 * when it starts again, and says unknown; it never does it again, because nobody can know how far it came.
 * For the same reason a refusal is written down: a second asking must not do what was said not to be done.
 * Only a refusal of an old term is not, for a controller that leads may ask the same.
 *
 * Writing waits for the disk, in the loop: operations are rare, and one must not begin before.
 */

enum {
    KILLED_MS = 2000, /* after which a process that was killed and is still there is given up */
    READ_BYTES = 4096
};

struct operation {
    struct actor *a; /* NULL: nobody waits for it any more */
    uv_process_t process;
    uv_pipe_t output;
    uv_timer_t timer;
    int handles;
    bool runs;   /* the process exists */
    bool killed; /* it was out of time */
    bool reboots;
    struct span deadline;
    bool cures;
    char device[BODY_WORD_BYTES_MAX + 1];
    char id[BODY_WORD_BYTES_MAX + 1];
    char check[CHECK_NAME_BYTES_MAX + 1]; /* that is looked at; "" for another kind */
    struct text tail;
    char buffer[READ_BYTES];
};

struct actor {
    uv_loop_t *loop;
    struct actor_settings settings;
    struct deeds deeds;
    struct operation *now; /* NULL while there is none */
};

static void say(struct actor *a, const struct deed *k)
{
    CLEANUP_TEXT struct text body = {0};
    deed_write(k, &body);
    a->settings.say(a->settings.arg, body.s, body.len);
}

static void store(struct actor *a)
{
    struct err e = {0};
    if (deeds_store(&a->deeds, a->settings.home, &e))
        log_error("what came of an operation is not kept: %s", e.msg);
}

/* --- an operation's end --------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
    struct operation *o = handle->data;
    if (--o->handles > 0)
        return;
    text_fini(&o->tail);
    free(o);
}

static void close_handle(void *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, on_closed);
}

/* A process that could not be killed is left; its handle waits for it, and the loop for neither. */
static void let_go(struct operation *o)
{
    o->a = NULL;
    close_handle(&o->output);
    close_handle(&o->timer);
    if (o->process.type != UV_PROCESS)
        return;
    if (o->runs)
        uv_unref((uv_handle_t *)&o->process);
    else
        close_handle(&o->process);
}

static void finish(struct operation *o, enum deed_state state, const char *text, const char *verdict)
{
    struct actor *a = o->a;
    struct deed *k = deeds_find(&a->deeds, o->id);
    log_info("operation %s: %s", o->id, deed_state_name(state));
    if (state == DEED_DONE && o->cures)
        checker_cured(a->settings.checker, o->device);
    a->now = NULL;
    let_go(o);
    if (!k)
        return;
    deed_set(k, state, text, verdict);
    store(a);
    say(a, k);
}

static void add_output(struct operation *o, const char *bytes, size_t len)
{
    text_add_bytes(&o->tail, bytes, len);
    if (o->tail.len <= 2 * DEED_TEXT_BYTES_MAX)
        return;
    size_t rest = o->tail.len - DEED_TEXT_BYTES_MAX;
    memmove(o->tail.s, o->tail.s + rest, DEED_TEXT_BYTES_MAX + 1);
    o->tail.len = DEED_TEXT_BYTES_MAX;
}

/* What the process wrote last; what it started and left behind may hold the pipe open for ever. */
static void read_rest(struct operation *o)
{
    uv_os_fd_t fd;
    if (uv_fileno((uv_handle_t *)&o->output, &fd))
        return;
    for (int i = 0; i < 64; i++) {
        ssize_t n = read(fd, o->buffer, sizeof o->buffer);
        if (n <= 0)
            return;
        add_output(o, o->buffer, (size_t)n);
    }
}

static void finish_process(struct operation *o, int64_t status, int number)
{
    CLEANUP_TEXT struct text text = {0};
    char long_[32];
    if (o->killed)
        text_printf(&text, "no end in %s, and killed", span_human(o->deadline, long_));
    else if (number)
        text_printf(&text, "ended by signal %d", number);
    else if (status)
        text_printf(&text, "exit status %" PRId64, status);
    if (text.len && o->tail.len)
        text_add(&text, ": ");
    for (size_t i = 0; i < o->tail.len; i++)
        text_add_char(&text, o->tail.s[i] ? o->tail.s[i] : ' ');
    bool good = !o->killed && !number && !status;
    finish(o, good ? DEED_DONE : DEED_FAILED, text.s ? text.s : "", NULL);
}

static void on_exit_of(uv_process_t *process, int64_t status, int number)
{
    struct operation *o = process->data;
    o->runs = false;
    if (!o->a) {
        close_handle(&o->process);
        return;
    }
    read_rest(o);
    if (!o->reboots || o->killed || status || number)
        finish_process(o, status, number); /* else the end of this boot is its end, or the deadline */
}

static void on_given_up(uv_timer_t *timer)
{
    finish(timer->data, DEED_FAILED, "no end in time, and it could not be killed", NULL);
}

static void on_deadline(uv_timer_t *timer)
{
    struct operation *o = timer->data;
    if (!o->runs) {
        finish(o, DEED_UNKNOWN, "the node still runs on the same boot", NULL);
        return;
    }
    o->killed = true;
    kill(-o->process.pid, SIGKILL);
    uv_timer_start(&o->timer, on_given_up, KILLED_MS, 0);
}

/* --- commands ------------------------------------------------------------------------------- */

static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *buf)
{
    struct operation *o = handle->data;
    *buf = uv_buf_init(o->buffer, sizeof o->buffer);
}

static void on_output(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct operation *o = stream->data;
    if (n > 0)
        add_output(o, buf->base, (size_t)n);
    else if (n < 0)
        uv_read_stop(stream);
}

/* What is started inherits the score before anybody else could set its own, so the agent itself goes without
 * protection for so long. */
static int spawn_ordinary(struct operation *o, const uv_process_options_t *options)
{
    int before = OOM_ORDINARY;
    int ordinary = oom_score_set(OOM_ORDINARY, &before);
    int r = uv_spawn(o->process.loop, &o->process, options);
    int back = ordinary ? 0 : oom_score_set(before, NULL);
    if (back)
        log_error("when memory runs out, this agent is ended as any other process: %s", strerror(-back));
    return r;
}

/* In a session of its own, so that all of it can be ended, and nothing of it ends with the agent. */
static int spawn(struct operation *o, char **argv)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return -errno;
    (void)fcntl(ends[1], F_SETFL, 0);
    uv_stdio_container_t stdio[3] = {{.flags = UV_IGNORE},
                                     {.flags = UV_INHERIT_FD, .data.fd = ends[1]},
                                     {.flags = UV_INHERIT_FD, .data.fd = ends[1]}};
    uv_process_options_t options = {.exit_cb = on_exit_of,
                                    .file = argv[0],
                                    .args = argv,
                                    .cwd = "/",
                                    .flags = UV_PROCESS_DETACHED,
                                    .stdio_count = 3,
                                    .stdio = stdio};
    int r = spawn_ordinary(o, &options);
    close(ends[1]);
    if (r || uv_pipe_open(&o->output, ends[0])) {
        close(ends[0]);
        return r;
    }
    o->runs = true;
    return uv_read_start((uv_stream_t *)&o->output, on_room, on_output);
}

static struct operation *new_operation(struct actor *a, const struct body_act *act)
{
    struct operation *o = mem_alloc(sizeof *o);
    o->a = a;
    o->process.loop = a->loop;
    uv_pipe_init(a->loop, &o->output, 0);
    uv_timer_init(a->loop, &o->timer);
    o->process.data = o->output.data = o->timer.data = o;
    o->deadline = act->deadline;
    o->cures = act->cures;
    memcpy(o->device, act->device, sizeof o->device);
    memcpy(o->id, act->id, sizeof o->id);
    o->handles = 2;
    return o;
}

static void run(struct operation *o, char **argv)
{
    CLEANUP_TEXT struct text why = {0};
    int r = spawn(o, argv);
    o->handles += o->process.type == UV_PROCESS; /* a handle also when there is no process */
    if (!r) {
        uv_timer_start(&o->timer, on_deadline, (uint64_t)span_to_ms(o->deadline), 0);
        return;
    }
    text_printf(&why, "it could not be started: %s", uv_strerror(r));
    finish(o, DEED_FAILED, why.s, NULL);
}

static void run_command(struct operation *o, const char *command)
{
    CLEANUP_FREE char *copy = mem_dup(command);
    char shell[] = "/bin/sh", option[] = "-c";
    char *argv[] = {shell, option, copy, NULL};
    run(o, argv);
}

static void reboot_node(struct operation *o)
{
    const char *root = o->a->settings.root;
    CLEANUP_TEXT struct text path = {0};
    o->reboots = true;
    if (*root)
        text_printf(&path, "%s/sbin/reboot", root);
    else
        text_add(&path, "systemctl reboot || reboot");
    run_command(o, path.s);
}

/* --- checks --------------------------------------------------------------------------------- */

static void on_looked(void *arg, const struct verdict *v, struct span took)
{
    struct operation *o = arg;
    CLEANUP_TEXT struct text verdict = {0};
    verdict_write(v, &verdict);
    finish(o, DEED_DONE, result_name(v->result), verdict.s);
}

static void on_no_look(uv_timer_t *timer)
{
    struct operation *o = timer->data;
    checker_cancel(o->a->settings.checker, o);
    finish(o, DEED_UNKNOWN, "it was not looked at in time", NULL);
}

static void run_check(struct operation *o, const struct body_act *act, const char *name)
{
    struct err e = {0};
    const struct company with = {act->nodes[0] ? act->nodes : NULL, act->rank};
    snprintf(o->check, sizeof o->check, "%s", name);
    if (checker_look(o->a->settings.checker, name, o->deadline, &with, on_looked, o, &e))
        finish(o, DEED_FAILED, e.msg, NULL);
    else /* its own deadline is this one at most; a look that waits for another one has none */
        uv_timer_start(&o->timer, on_no_look, (uint64_t)span_to_ms(o->deadline) + KILLED_MS, 0);
}

/* --- asking --------------------------------------------------------------------------------- */

static const char *after(const char *run, const char *prefix)
{
    size_t len = strlen(prefix);
    return strncmp(run, prefix, len) == 0 && run[len] ? run + len : NULL;
}

/* Why not; NULL when it may be done. */
static const char *why_not(const struct actor *a, const struct body_act *act)
{
    const char *check = after(act->run, "check:");
    if (strcmp(act->boot, a->settings.boot) != 0)
        return "it is for another boot";
    if (strcmp(act->run, "reboot") != 0 && !after(act->run, "node:") && !check)
        return "the agent knows no such operation";
    if (check && !checks_find(checker_checks(a->settings.checker), check))
        return "the node runs no such check";
    return a->now ? "another operation is under way" : NULL;
}

static void refuse(struct actor *a, const struct body_act *act, bool keep, const char *why)
{
    struct deed once = {.text = NULL};
    struct deed *k = &once;
    log_info("operation %s is refused: %s", act->id, why);
    if (keep)
        k = deeds_add(&a->deeds, act->id, act->boot, false, DEED_REFUSED);
    else
        memcpy(once.id, act->id, sizeof once.id), memcpy(once.boot, act->boot, sizeof once.boot);
    deed_set(k, DEED_REFUSED, why, NULL);
    if (keep)
        store(a);
    say(a, k);
    free(once.text);
}

static void begin(struct actor *a, const struct body_act *act)
{
    const char *what;
    struct err e = {0};
    bool reboot = strcmp(act->run, "reboot") == 0;
    struct deed *k = deeds_add(&a->deeds, act->id, act->boot, reboot, DEED_BEGUN);
    if (deeds_store(&a->deeds, a->settings.home, &e)) {
        deed_set(k, DEED_REFUSED, e.msg, NULL);
        say(a, k);
        return;
    }
    log_info("operation %s: %s", act->id, act->run);
    say(a, k);
    a->now = new_operation(a, act);
    if (reboot)
        reboot_node(a->now);
    else if ((what = after(act->run, "node:")))
        run_command(a->now, what);
    else if ((what = after(act->run, "check:")))
        run_check(a->now, act, what);
}

void actor_act(struct actor *a, const struct body_act *act)
{
    const struct deed *known = deeds_find(&a->deeds, act->id);
    bool is_same_state = strcmp(act->origin, a->deeds.origin) == 0;
    if (is_same_state && act->term < a->deeds.term) {
        refuse(a, act, false, "a controller of a later term was heard");
        return;
    }
    a->deeds.term = act->term;
    memcpy(a->deeds.origin, act->origin, sizeof act->origin);
    const char *why = why_not(a, act);
    if (known)
        say(a, known);
    else if (why)
        refuse(a, act, true, why);
    else
        begin(a, act);
}

void actor_ask(struct actor *a, const struct body_act *act, const char *nonce)
{
    const struct deed *known = deeds_find(&a->deeds, act->id);
    CLEANUP_TEXT struct text body = {0};
    if (known) {
        say(a, known);
        return;
    }
    text_printf(&body, "{\"id\":\"%s\",\"boot\":\"%s\",\"state\":\"asks\",\"nonce\":\"%s\"}", act->id,
                act->boot, nonce);
    a->settings.say(a->settings.arg, body.s, body.len);
}

void actor_end(struct actor *a, uint64_t term, const char *check)
{
    struct operation *o = a->now;
    if (!o || term < a->deeds.term || strcmp(o->check, check) != 0)
        return;
    checker_cancel(a->settings.checker, o);
    checker_end(a->settings.checker, check);
    finish(o, DEED_UNKNOWN, "it was ended: it is not wanted any more", NULL);
}

void actor_tell(struct actor *a)
{
    for (size_t i = 0; i < a->deeds.n; i++)
        say(a, &a->deeds.list[i]);
}

/* --- its life ------------------------------------------------------------------------------- */

struct actor *actor_create(uv_loop_t *loop, const struct actor_settings *settings)
{
    struct actor *a = mem_alloc(sizeof *a);
    struct err e = {0};
    a->loop = loop;
    a->settings = *settings;
    if (deeds_load(&a->deeds, settings->home, &e))
        log_error("what this node was asked for before is forgotten: %s", e.msg);
    if (deeds_settle(&a->deeds, settings->boot))
        store(a);
    return a;
}

void actor_destroy(struct actor *a)
{
    if (!a)
        return;
    if (a->now) {
        checker_cancel(a->settings.checker, a->now);
        a->now->runs = false; /* it goes on, and nobody waits for it */
        let_go(a->now);
    }
    deeds_fini(&a->deeds);
    free(a);
}
