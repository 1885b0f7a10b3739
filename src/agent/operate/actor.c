/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/operate/actor.h"

#include "agent/checker/kernel.h"
#include "agent/operate/operation_record.h"
#include "agent/operate/runner.h"
#include "agent/process/child.h"
#include "base/log.h"
#include "node/action.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * An operation is written down as begun, then reported, then done. A command goes on when its agent ends
 * (runner.h): the next agent waits for it and reports its result, and does nothing else on the node
 * meanwhile. Where nobody can know the result, as with a check, the operation is unknown. It is never
 * repeated, because nobody knows how far it came. A refusal is written down for the same reason: a second
 * request must not do what was refused. Only the refusal of an old term is not written down, because a
 * controller that leads may ask for the same.
 *
 * Operations are written to memory at once, and the writer copies them to the disk. A new operation waits
 * for its copy, so that the next boot knows it, but no longer than the writer tries: a dead disk may be the
 * very fault that it repairs. A reboot while the disk hangs or fails is refused, because it would never
 * end; a BMC is then asked sooner. The kernel keeps programs in memory after their disk is gone, and
 * systemd begins a shutdown that it cannot end. The disk is therefore read past the kernel's memory.
 */

enum {
    MARGIN_MS = 2000, /* after a check's deadline, by which it should have been ended */
    DISK_MS = 5000,   /* to read a block */
    DISK_BYTES = 4096,
    SHUTDOWN_PART = 4,   /* the part of a reboot's deadline that the shutdown may take */
    SHUTDOWN_S_MAX = 180 /* and no more than this: twice what systemd gives a service to stop */
};

struct carried {
    struct actor *a; /* NULL: no caller waits for it */
    pid_t runner;    /* the runner of a command */
    int pidfd;       /* the runner's; -1 for none */
    uv_poll_t ended; /* its operation */
    uv_timer_t timer;
    int handles;
    bool reboots;
    struct mono until; /* 0 of what an agent before this one began: the runner knows */
    char id[BODY_WORD_BYTES_MAX + 1];
    char check[CHECK_NAME_BYTES_MAX + 1]; /* that is looked at; "" for another kind */
    struct body_act act;                  /* the callback of an operation that waits for its copy */
};

struct actor {
    uv_loop_t *loop;
    struct actor_settings settings;
    struct operation_records records;
    struct child *disk;  /* reads it before a reboot */
    struct carried *now; /* NULL while there is none */
};

static void actor_say(struct actor *a, const struct operation_record *k)
{
    CLEANUP_TEXT struct text body = {0};
    operation_record_write(k, &body);
    a->settings.say(a->settings.arg, body.s, body.len);
}

/* done is called when the copy is written; never where there is none. */
static int actor_keep(struct actor *a, writer_done_fn *done, void *arg, struct err *e)
{
    int r = operation_records_store(&a->records, a->settings.home, e);
    if (!r && a->settings.writer) {
        CLEANUP_TEXT struct text all = {0};
        operation_records_format(&a->records, &all);
        writer_put(a->settings.writer, OPERATION_RECORDS_FILE, all.s, done, arg);
    }
    return r;
}

static void actor_store(struct actor *a)
{
    struct err e = {0};
    if (actor_keep(a, NULL, NULL, &e))
        log_error("the outcome of an operation is not kept: %s", e.msg);
}

/* --- an operation's end --------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
    struct carried *o = handle->data;
    if (--o->handles > 0)
        return;
    if (o->pidfd >= 0)
        close(o->pidfd);
    free(o);
}

static void close_handle(void *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, on_closed);
}

static void let_go(struct carried *o)
{
    if (o->a->settings.writer)
        writer_cancel(o->a->settings.writer, o);
    o->a = NULL;
    close_handle(&o->timer);
    if (o->ended.type == UV_POLL)
        close_handle(&o->ended);
}

static void has_cured(struct actor *a, const struct operation_record *k, enum operation_state state)
{
    if (state == OPERATION_DONE)
        checker_cured(a->settings.checker, k->cures ? k->cures : "", KERNEL_ALL);
}

static void actor_finish(struct carried *o, enum operation_state state, const char *text, const char *verdict)
{
    struct actor *a = o->a;
    struct operation_record *k = operation_records_find(&a->records, o->id);
    log_info("operation %s: %s", o->id, operation_state_name(state));
    a->now = NULL;
    let_go(o);
    if (!k)
        return;
    if (!verdict)
        has_cured(a, k, state);
    operation_record_set(k, state, text, verdict);
    actor_store(a);
    actor_say(a, k);
}

static uint64_t left_ms(const struct carried *o)
{
    int64_t left = span_to_ms(mono_sub(o->until, mono_now()));
    return left > 0 ? (uint64_t)left : 0;
}

static void on_same_boot(uv_timer_t *timer)
{
    actor_finish(timer->data, OPERATION_UNKNOWN, "the node still runs on the same boot", NULL);
}

/* That of a reboot which was taken up is the end of this boot, or the deadline. */
static void on_over(struct carried *o)
{
    struct runner_end end;
    if (!runner_take_end(o->a->settings.home, o->id, &end))
        actor_finish(o, OPERATION_UNKNOWN, "its process ended without a result", NULL);
    else if (o->reboots && end.good)
        uv_timer_start(&o->timer, on_same_boot, left_ms(o), 0);
    else
        actor_finish(o, end.good ? OPERATION_DONE : OPERATION_FAILED, end.text, NULL);
    free(end.text);
}

static void on_ended(uv_poll_t *ended, int status, int events)
{
    struct carried *o = ended->data;
    waitpid(o->runner, NULL, WNOHANG); /* it may be the child of an agent that is no more */
    uv_poll_stop(ended);
    on_over(o);
}

/* --- commands ------------------------------------------------------------------------------- */

static struct carried *new_operation(struct actor *a, const char *id)
{
    struct carried *o = mem_alloc(sizeof *o);
    o->a = a;
    o->pidfd = -1;
    uv_timer_init(a->loop, &o->timer);
    o->ended.data = o->timer.data = o;
    snprintf(o->id, sizeof o->id, "%s", id);
    o->handles = 1;
    return o;
}

/* The runner's result is in the file when the runner is gone. */
static int actor_follow(struct carried *o, pid_t runner)
{
    o->runner = runner;
    o->pidfd = pidfd_open(runner, 0);
    if (o->pidfd < 0)
        return -errno;
    int r = uv_poll_init(o->a->loop, &o->ended, o->pidfd);
    if (!r) {
        o->handles++;
        r = uv_poll_start(&o->ended, UV_READABLE, on_ended);
    }
    return r;
}

static void run_command(struct carried *o, const char *command, struct span deadline, const char *trigger)
{
    struct err e = {0};
    const struct runner_job job = {o->id, o->a->settings.writer ? o->a->settings.disk : NULL, command,
                                   deadline, trigger};
    pid_t runner = runner_start(o->a->settings.home, &job, &e);
    int r = runner < 0 ? runner : actor_follow(o, runner);
    if (runner < 0)
        actor_finish(o, OPERATION_FAILED, e.msg, NULL);
    else if (r)
        actor_finish(o, OPERATION_UNKNOWN, strerror(-r), NULL);
}

/* The time that a shutdown may take. The rest is for the boot. */
static struct span shutdown_deadline(struct span deadline)
{
    struct span part = {deadline.ns / SHUTDOWN_PART}, most = span_s(SHUTDOWN_S_MAX);
    return part.ns < most.ns ? part : most;
}

static void reboot_node(struct carried *o, struct span deadline)
{
    const char *root = o->a->settings.root;
    CLEANUP_TEXT struct text path = {0}, trigger = {0};
    o->reboots = true;
    text_printf(&trigger, "%s/proc/sysrq-trigger", root);
    if (*root)
        text_printf(&path, "%s/sbin/reboot", root);
    else
        text_add(&path, "systemctl reboot || reboot");
    run_command(o, path.s, shutdown_deadline(deadline), trigger.s);
}

/* --- checks --------------------------------------------------------------------------------- */

static void on_looked(void *arg, const struct verdict *v, struct span took)
{
    struct carried *o = arg;
    CLEANUP_TEXT struct text verdict = {0};
    verdict_write(v, &verdict);
    actor_finish(o, OPERATION_DONE, result_name(v->result), verdict.s);
}

static void on_no_look(uv_timer_t *timer)
{
    struct carried *o = timer->data;
    checker_cancel(o->a->settings.checker, o);
    actor_finish(o, OPERATION_UNKNOWN, "it was not looked at in time", NULL);
}

static void run_check(struct carried *o, const struct body_act *act, const char *name)
{
    struct err e = {0};
    const struct company with = {act->nodes[0] ? act->nodes : NULL, act->rank};
    if (checker_look(o->a->settings.checker, name, act->deadline, &with, on_looked, o, &e))
        actor_finish(o, OPERATION_FAILED, e.msg, NULL);
    else /* its own deadline is this one at most; a look that waits for another one has none */
        uv_timer_start(&o->timer, on_no_look, (uint64_t)span_to_ms(act->deadline) + MARGIN_MS, 0);
}

/* --- asking --------------------------------------------------------------------------------- */

/* Why not; NULL when it may be done. */
static const char *why_not(const struct actor *a, const struct body_act *act, enum refusal *code)
{
    struct action action = action_of(act->run);
    bool is_known = action.kind == ACTION_REBOOT ||
                    ((action.kind == ACTION_COMMAND || action.kind == ACTION_CHECK) && *action.rest);
    *code = REFUSAL_BOOT;
    if (strcmp(act->boot, a->settings.boot) != 0)
        return "it is for another boot";
    *code = REFUSAL_UNKNOWN;
    if (!is_known)
        return "the agent knows no such operation";
    if (action.kind == ACTION_CHECK && !checks_find(checker_checks(a->settings.checker), action.rest))
        return "the node runs no such check";
    *code = REFUSAL_BUSY;
    return a->now ? "another operation is under way" : NULL;
}

static void actor_refuse(struct actor *a, const struct body_act *act, bool keep, enum refusal code,
                         const char *why)
{
    struct operation_record once = {0};
    struct operation_record *k = &once;
    log_info("operation %s is refused: %s", act->id, why);
    if (keep)
        k = operation_records_add(&a->records, act->id, act->boot, false, OPERATION_REFUSED);
    else
        operation_record_init(k, act->id, act->boot);
    operation_record_set(k, OPERATION_REFUSED, why, NULL);
    k->op.refusal = code;
    if (keep)
        actor_store(a);
    actor_say(a, k);
    operation_record_fini(&once);
}

static void carry_out(struct carried *o)
{
    const struct body_act *act = &o->act;
    struct action action = action_of(act->run);
    struct operation_record *k = operation_records_find(&o->a->records, o->id);
    log_info("operation %s: %s", o->id, act->run);
    if (k)
        actor_say(o->a, k);
    o->until = mono_add(mono_now(), act->deadline);
    if (action.kind == ACTION_COMMAND)
        run_command(o, action.rest, act->deadline, NULL);
    else if (action.kind == ACTION_CHECK)
        run_check(o, act, action.rest);
    else
        reboot_node(o, act->deadline);
}

/* --- the disk, before a reboot -------------------------------------------------------------- */

/* To go down, a node runs programs of its root disk and writes to it: while that hangs or fails it never
 * would. */
static void refuse_for_disk(struct carried *o, const struct err *why)
{
    CLEANUP_TEXT struct text said = {0};
    struct operation_record *k = operation_records_find(&o->a->records, o->id);
    text_printf(&said, "%s: %s", refusal_what(REFUSAL_DISK), why->msg);
    if (k)
        k->op.refusal = REFUSAL_DISK;
    actor_finish(o, OPERATION_REFUSED, said.s, NULL);
}

/* Without such a program, or on a file system that cannot bypass the kernel's memory, the disk's state is
 * not known. */
static int read_disk(void *arg, struct text *out, struct err *e)
{
    static _Alignas(DISK_BYTES) char bytes[DISK_BYTES];
    const struct actor *a = arg;
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "%s/sbin/reboot", a->settings.root);
    CLEANUP_FD int fd = open(path.s, O_RDONLY | O_DIRECT | O_CLOEXEC);
    bool good = fd < 0 ? errno != EIO : read(fd, bytes, sizeof bytes) >= 0 || errno == EINVAL;
    return good ? 0 : err_set(e, -errno, "%s: %s", path.s, strerror(errno));
}

static void on_disk_read(void *arg, char *text, size_t len, const struct err *why)
{
    struct actor *a = arg;
    if (why)
        refuse_for_disk(a->now, why);
    else
        carry_out(a->now);
}

static void go_on(struct carried *o)
{
    struct err e = {0};
    if (action_of(o->act.run).kind != ACTION_REBOOT) {
        carry_out(o);
        return;
    }
    int r = child_run(o->a->disk, span_ms(DISK_MS), read_disk, on_disk_read, o->a, &e);
    if (r == -EBUSY) /* it hung before */
        refuse_for_disk(o, &e);
    else if (r)
        carry_out(o);
}

static void on_copied(void *arg, const struct err *why)
{
    struct carried *o = arg;
    bool hangs = why && (why->code == -ETIMEDOUT || why->code == -EBUSY);
    if (hangs && action_of(o->act.run).kind == ACTION_REBOOT) {
        refuse_for_disk(o, why);
        return;
    }
    if (why)
        log_warn("operation %s begins, and is not on the disk: %s", o->id, why->msg);
    go_on(o);
}

static void actor_begin(struct actor *a, const struct body_act *act)
{
    struct action action = action_of(act->run);
    struct err e = {0};
    struct operation_record *k =
        operation_records_add(&a->records, act->id, act->boot, action.kind == ACTION_REBOOT, OPERATION_BEGUN);
    struct carried *o = new_operation(a, act->id);
    k->cures = mem_dup(act->cures);
    o->act = *act;
    snprintf(o->check, sizeof o->check, "%s", action.kind == ACTION_CHECK ? action.rest : "");
    a->now = o;
    if (actor_keep(a, on_copied, o, &e)) {
        k->op.refusal = REFUSAL_STORAGE;
        actor_finish(o, OPERATION_REFUSED, e.msg, NULL);
    } else if (!a->settings.writer)
        go_on(o);
}

/* Nothing runs, and to be told twice does no harm: it is not kept among the operations, and waits for none.
 */
static void actor_forget(struct actor *a, const struct body_act *act)
{
    bool other_boot = strcmp(act->boot, a->settings.boot) != 0;
    struct operation_record k;
    operation_record_init(&k, act->id, act->boot);
    if (!other_boot) {
        log_info("by order %s every check is looked at anew; over before line %" PRIu64
                 " of the kernel's log: %s",
                 act->id, act->until, *act->cures ? act->cures : "nothing");
        checker_cured(a->settings.checker, act->cures, act->until);
    }
    operation_record_set(&k, other_boot ? OPERATION_REFUSED : OPERATION_DONE,
                         other_boot ? "it is for another boot" : "", NULL);
    actor_say(a, &k);
    operation_record_fini(&k);
}

void actor_heard(struct actor *a, const char *origin, uint64_t term)
{
    struct operation_records *d = &a->records;
    bool is_same_state = strcmp(origin, d->origin) == 0;
    if (!*origin || (is_same_state && term <= d->term))
        return;
    d->term = term;
    snprintf(d->origin, sizeof d->origin, "%s", origin);
    actor_store(a);
}

uint64_t actor_remembers(const struct actor *a, const char **origin)
{
    *origin = a->records.origin;
    return a->records.term;
}

void actor_act(struct actor *a, const struct body_act *act)
{
    const struct operation_record *known = operation_records_find(&a->records, act->id);
    bool is_same_state = strcmp(act->origin, a->records.origin) == 0;
    if (is_same_state && act->term < a->records.term) {
        actor_refuse(a, act, false, REFUSAL_TERM, "a controller of a later term was heard");
        return;
    }
    a->records.term = act->term;
    memcpy(a->records.origin, act->origin, sizeof act->origin);
    enum refusal code;
    const char *why = why_not(a, act, &code);
    if (known)
        actor_say(a, known);
    else if (strcmp(act->run, "forget") == 0)
        actor_forget(a, act);
    else if (why)
        actor_refuse(a, act, true, code, why);
    else
        actor_begin(a, act);
}

void actor_ask(struct actor *a, const struct body_act *act, const char *nonce)
{
    const struct operation_record *known = operation_records_find(&a->records, act->id);
    CLEANUP_TEXT struct text body = {0};
    if (known) {
        actor_say(a, known);
        return;
    }
    text_printf(&body, "{\"id\":\"%s\",\"boot\":\"%s\",\"state\":\"asks\",\"nonce\":\"%s\"}", act->id,
                act->boot, nonce);
    a->settings.say(a->settings.arg, body.s, body.len);
}

void actor_end(struct actor *a, uint64_t term, const char *check)
{
    struct carried *o = a->now;
    if (!o || term < a->records.term || strcmp(o->check, check) != 0)
        return;
    checker_cancel(a->settings.checker, o);
    checker_end(a->settings.checker, check);
    actor_finish(o, OPERATION_UNKNOWN, "it was ended: it is not wanted any more", NULL);
}

void actor_tell(struct actor *a)
{
    for (size_t i = 0; i < a->records.n; i++)
        actor_say(a, &a->records.list[i]);
}

/* --- its life ------------------------------------------------------------------------------- */

/* The command of an agent before this one. */
static void actor_adopt(struct actor *a, const char *id, pid_t runner)
{
    const struct operation_record *k = operation_records_find(&a->records, id);
    log_info("operation %s is still under way", id);
    a->now = new_operation(a, id);
    a->now->reboots = k && k->reboot;
    if (actor_follow(a->now, runner))
        on_over(a->now); /* just now */
}

/* Reports the results of operations that ended while no agent ran, where they are known. */
static bool take_ends(struct actor *a)
{
    bool any = false;
    for (size_t i = 0; i < a->records.n; i++) {
        struct operation_record *k = &a->records.list[i];
        struct runner_end end;
        if (k->op.state != OPERATION_BEGUN || !runner_take_end(a->settings.home, k->op.id, &end))
            continue;
        if (!k->reboot || !end.good) {
            operation_record_set(k, end.good ? OPERATION_DONE : OPERATION_FAILED, end.text, NULL);
            has_cured(a, k, k->op.state);
            any = true;
        }
        free(end.text);
    }
    return any;
}

struct actor *actor_create(uv_loop_t *loop, const struct actor_settings *settings)
{
    struct actor *a = mem_alloc(sizeof *a);
    CLEANUP_FREE char *running = NULL;
    struct err e = {0};
    a->loop = loop;
    a->settings = *settings;
    a->disk = child_create(loop, ERR_MSG_BYTES_MAX + 1);
    if (operation_records_load(&a->records, settings->home, &e))
        log_error("earlier operations of this node are forgotten: %s", e.msg);
    pid_t runner = runner_find(settings->home, &running);
    bool ended = take_ends(a);
    if (operation_records_settle(&a->records, settings->boot, running) || ended)
        actor_store(a);
    if (runner)
        actor_adopt(a, running, runner);
    return a;
}

void actor_destroy(struct actor *a)
{
    if (!a)
        return;
    child_destroy(a->disk);
    if (a->now) {
        checker_cancel(a->settings.checker, a->now);
        let_go(a->now); /* it goes on, and no caller waits for it */
    }
    operation_records_fini(&a->records);
    free(a);
}
