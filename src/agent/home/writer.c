/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/home/writer.h"

#include "agent/home/home.h"
#include "agent/process/child.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/*
 * A child writes all files that changed, from its copy of this process's memory. Files that change
 * meanwhile wait for the next child. A child that hangs in the kernel stays the only one; callers are told
 * at once then.
 */

enum { WRITE_MS = 5000, AGAIN_MS = 10000 };

struct file {
    struct file *next;
    char *name, *bytes; /* bytes NULL: the last contents are on the disk */
    bool under_way;     /* the child writes these very bytes */
};

struct waiter {
    struct waiter *next;
    writer_done_fn *done;
    void *arg;
};

struct writer {
    const char *home;
    struct child *child;
    uv_timer_t turn;
    struct file *files;
    struct waiter *waiting, *served; /* served: by the child that writes */
    bool under_way, destroyed;
};

static void turn_within(struct writer *w, uint64_t ms);

static int write_files(void *arg, struct text *out, struct err *e)
{
    const struct writer *w = arg;
    const struct file *f;
    LL_FOREACH (w->files, f) {
        int r = f->bytes ? home_write(w->home, f->name, f->bytes, true, e) : 0;
        if (r)
            return r;
    }
    return 0;
}

/* The callbacks may put another file, or cancel one another. */
static void writer_tell(struct writer *w, struct waiter **who, const struct err *why)
{
    for (struct waiter *n; (n = *who);) {
        struct waiter one = *n;
        LL_DELETE(*who, n);
        free(n);
        one.done(one.arg, why);
        if (w->destroyed)
            return;
    }
}

static void on_written(void *arg, char *text, size_t len, const struct err *why)
{
    struct writer *w = arg;
    struct file *f;
    bool more = false;
    w->under_way = false;
    LL_FOREACH (w->files, f) {
        if (f->under_way && !why)
            free(STEAL(f->bytes));
        f->under_way = false;
        more |= f->bytes != NULL;
    }
    if (more)
        turn_within(w, why && !w->waiting ? AGAIN_MS : 0);
    writer_tell(w, &w->served, why);
}

static void on_turn(uv_timer_t *timer)
{
    struct writer *w = timer->data;
    struct err why = {0};
    struct file *f;
    if (w->under_way)
        return; /* and on_written looks at what is left */
    int r = child_run(w->child, span_ms(WRITE_MS), write_files, on_written, w, &why);
    if (r) {
        if (r == -EBUSY)
            err_set(&why, r, "the write before it still hangs");
        turn_within(w, AGAIN_MS);
        writer_tell(w, &w->waiting, &why);
        return;
    }
    w->under_way = true;
    LL_FOREACH (w->files, f)
        f->under_way = f->bytes != NULL;
    LL_CONCAT(w->served, w->waiting);
    w->waiting = NULL;
}

static void turn_within(struct writer *w, uint64_t ms)
{
    if (!w->destroyed)
        uv_timer_start(&w->turn, on_turn, ms, 0);
}

struct writer *writer_create(uv_loop_t *loop, const char *home)
{
    struct writer *w = mem_alloc(sizeof *w);
    w->home = home;
    w->child = child_create(loop, ERR_MSG_BYTES_MAX + 1);
    uv_timer_init(loop, &w->turn);
    w->turn.data = w;
    return w;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void writer_destroy(struct writer *w)
{
    if (!w || w->destroyed)
        return;
    w->destroyed = true;
    child_destroy(w->child);
    for (struct file *f; (f = w->files);) {
        LL_DELETE(w->files, f);
        free(f->name);
        free(f->bytes);
        free(f);
    }
    LL_CONCAT(w->served, w->waiting);
    for (struct waiter *n; (n = w->served);) {
        LL_DELETE(w->served, n);
        free(n);
    }
    uv_close((uv_handle_t *)&w->turn, on_closed);
}

static struct file *file_of(struct writer *w, const char *name)
{
    struct file *f;
    LL_FOREACH (w->files, f)
        if (strcmp(f->name, name) == 0)
            return f;
    f = mem_alloc(sizeof *f);
    f->name = mem_dup(name);
    LL_PREPEND(w->files, f);
    return f;
}

void writer_put(struct writer *w, const char *file, const char *bytes, writer_done_fn *done, void *arg)
{
    struct file *f = file_of(w, file);
    free(f->bytes);
    f->bytes = mem_dup(bytes);
    f->under_way = false;
    if (done) {
        struct waiter *n = mem_alloc(sizeof *n);
        *n = (struct waiter){.done = done, .arg = arg};
        LL_APPEND(w->waiting, n);
    }
    turn_within(w, 0);
}

static void waiters_cancel(struct waiter **all, const void *arg)
{
    struct waiter *n, *next;
    LL_FOREACH_SAFE(*all, n, next)
    {
        if (n->arg == arg) {
            LL_DELETE(*all, n);
            free(n);
        }
    }
}

void writer_cancel(struct writer *w, const void *arg)
{
    waiters_cancel(&w->waiting, arg);
    waiters_cancel(&w->served, arg);
}
