/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/kernel.h"

#include "agent/home/home.h"
#include "base/log.h"
#include "check/kernel_log.h"
#include "check/look.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * The copy on the disk is written without a sync. After a machine stopped, the copy is of another boot and
 * counts for nothing, so it only has to survive the end of this process. It is written before any of it is
 * reported (`unsaved`): a finding that was reported and not kept would be reported again as a new one, and
 * a finding that was cured would come back. Lines without a meaning only move the cursor. Reading them
 * again does no harm, so the cursor is written a while later.
 */

#define FILE_NAME "kernel-log"

enum {
    LINES_A_TURN = 256,
    TURNS_TO_END = 64,  /* more lines than a ring has */
    FILE_LOOK_MS = 100, /* in place of poll, for a file */
    SAVE_MS = 3000,
    REOPEN_MS = 60000,
    SAVED_BYTES_MAX = 256 << 10
};

struct kernel {
    uv_loop_t *loop;
    struct kernel_settings settings;
    struct kernel_log *log;
    struct kmsg_follow *follow; /* NULL: it cannot be read, because of why */
    struct err why;
    struct kmsg_cursor cursor;
    uv_poll_t poll;
    uv_timer_t look, save; /* look: at a file, or whether the log can be opened now */
    int handles;
    bool polls, destroyed;
    bool unsaved; /* something was found, or is over, that the file does not have */
    uint64_t lost;
};

static void kernel_begin(struct kernel *k);

static void kernel_save(struct kernel *k)
{
    CLEANUP_TEXT struct text all = {0};
    struct err e = {0};
    k->unsaved = false;
    if (!k->settings.home)
        return;
    kernel_log_save(k->log, mono_now(), k->follow ? kmsg_cursor(k->follow) : &k->cursor, &all);
    if (all.s && home_write(k->settings.home, FILE_NAME, all.s, false, &e))
        log_error("the findings of the kernel's log are not kept, and will be reported again: %s", e.msg);
}

static void on_save(uv_timer_t *timer)
{
    struct kernel *k = timer->data;
    kernel_save(k);
    if (k->lost)
        log_warn("%" PRIu64 " lines of the kernel's log were overwritten before they could be read", k->lost);
    k->lost = 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct kernel *k = handle->data;
    if (--k->handles > 0 || !k->destroyed)
        return;
    kernel_log_destroy(k->log);
    free(k);
}

static void stop_following(struct kernel *k)
{
    if (!k->follow)
        return;
    k->cursor = *kmsg_cursor(k->follow);
    if (k->polls)
        uv_close((uv_handle_t *)&k->poll, on_closed);
    k->polls = false;
    kmsg_close(STEAL(k->follow));
}

static void on_reopen(uv_timer_t *timer)
{
    struct kernel *k = timer->data;
    if (k->handles > 2) /* the handle of before is not closed yet */
        uv_timer_start(timer, on_reopen, REOPEN_MS, 0);
    else
        kernel_begin(k);
}

static void cannot_follow(struct kernel *k, const struct err *why)
{
    k->why = *why;
    log_debug(LOG_PROBE, "the kernel's log is not followed: %s", why->msg);
    stop_following(k);
    uv_timer_start(&k->look, on_reopen, REOPEN_MS, 0);
}

static void save_soon(struct kernel *k)
{
    if (k->settings.home && !uv_is_active((uv_handle_t *)&k->save))
        uv_timer_start(&k->save, on_save, SAVE_MS, 0);
}

/* True when there may be more in the next turn. */
static bool kernel_drain(struct kernel *k)
{
    struct kmsg record;
    struct err e = {0};
    struct mono now = mono_now();
    uint64_t before = kmsg_cursor(k->follow)->next, lost;
    bool news = false;
    int n = 0, r;
    do {
        r = kmsg_next(k->follow, &record, &lost, &e);
        k->lost += lost;
        news |= kernel_log_lose(k->log, now, lost);
        news |= r > 0 && kernel_log_take(k->log, now, &record);
    } while (r > 0 && ++n < LINES_A_TURN);
    if (kmsg_cursor(k->follow)->next != before)
        save_soon(k);
    k->unsaved |= news;
    if (r < 0)
        cannot_follow(k, &e);
    if (news)
        k->settings.on_news(k->settings.arg);
    return n == LINES_A_TURN;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    kernel_drain(poll->data);
}

static void on_look(uv_timer_t *timer)
{
    struct kernel *k = timer->data;
    bool more = kernel_drain(k);
    if (k->follow)
        uv_timer_start(&k->look, on_look, more ? 1 : FILE_LOOK_MS, 0);
}

static void kernel_begin(struct kernel *k)
{
    struct err e = {0};
    k->follow = kmsg_open(k->settings.root, &k->cursor, &e);
    if (!k->follow) {
        cannot_follow(k, &e);
        return;
    }
    k->why = (struct err){0};
    int fd = kmsg_fd(k->follow);
    k->polls = fd >= 0 && uv_poll_init(k->loop, &k->poll, fd) == 0;
    if (!k->polls) {
        uv_timer_start(&k->look, on_look, 1, 0);
        return;
    }
    k->poll.data = k;
    k->handles++;
    /* When the ring has overrun this reader, the kernel sets POLLERR and POLLPRI. libuv takes that for the
     * end of the device and stops polling, unless POLLPRI is asked for. */
    uv_poll_start(&k->poll, UV_READABLE | UV_PRIORITIZED, on_readable);
}

static void kernel_load(struct kernel *k)
{
    CLEANUP_FREE char *saved = NULL;
    if (k->settings.home && home_read(k->settings.home, FILE_NAME, SAVED_BYTES_MAX, &saved, NULL) == 0)
        kernel_log_load(k->log, saved, k->settings.boot, &k->cursor);
}

struct kernel *kernel_create(uv_loop_t *loop, const struct kernel_settings *settings,
                             const struct meanings *meanings)
{
    struct kernel *k = mem_alloc(sizeof *k);
    k->loop = loop;
    k->settings = *settings;
    k->log = kernel_log_create(meanings);
    kernel_log_root(k->log, settings->root);
    uv_timer_init(loop, &k->look);
    uv_timer_init(loop, &k->save);
    k->look.data = k->save.data = k;
    k->handles = 2;
    kernel_load(k);
    kernel_begin(k);
    return k;
}

void kernel_destroy(struct kernel *k)
{
    if (!k || k->destroyed)
        return;
    if (k->unsaved || uv_is_active((uv_handle_t *)&k->save))
        on_save(&k->save);
    k->destroyed = true;
    stop_following(k);
    uv_close((uv_handle_t *)&k->look, on_closed);
    uv_close((uv_handle_t *)&k->save, on_closed);
}

void kernel_mean(struct kernel *k, const struct meanings *meanings)
{
    kernel_log_mean(k->log, meanings);
}

bool kernel_is_followed(const struct kernel *k)
{
    return k->follow != NULL;
}

void kernel_facts(struct kernel *k, struct mono now, struct text *out)
{
    if (k->unsaved)
        kernel_save(k);
    if (k->follow)
        kernel_log_facts(k->log, now, out);
    else
        fact_add(out, k->why.code == -ENOENT ? "unsupported" : "unknown", "%s", k->why.msg);
}

uint64_t kernel_next(const struct kernel *k)
{
    return k->follow ? kmsg_cursor(k->follow)->next : k->cursor.next;
}

void kernel_forget(struct kernel *k, const char *words, uint64_t until)
{
    for (int i = 0; until == KERNEL_ALL && i < TURNS_TO_END && k->follow && kernel_drain(k); i++)
        ;
    if (!kernel_log_forget(k->log, words, until))
        return;
    kernel_save(k);
    k->settings.on_news(k->settings.arg);
}
