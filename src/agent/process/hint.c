/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/process/hint.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- mounts --------------------------------------------------------------------------------- */

struct mount_hint {
    uv_poll_t poll;
    int fd;
    hint_fn *fn;
    void *arg;
};

static void on_mounts(uv_poll_t *poll, int status, int events)
{
    struct mount_hint *h = poll->data;
    if (status == 0)
        h->fn(h->arg);
}

/* That of the first process, because ours may be that of a sandbox; else our own. */
struct mount_hint *mount_hint_create(uv_loop_t *loop, hint_fn *fn, void *arg)
{
    int fd = open("/proc/1/mountinfo", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    struct mount_hint *h = mem_alloc(sizeof *h);
    *h = (struct mount_hint){.fd = fd, .fn = fn, .arg = arg};
    if (uv_poll_init(loop, &h->poll, fd)) {
        close(fd);
        free(h);
        return NULL;
    }
    h->poll.data = h;
    uv_poll_start(&h->poll, UV_PRIORITIZED, on_mounts);
    return h;
}

static void on_mounts_closed(uv_handle_t *handle)
{
    struct mount_hint *h = handle->data;
    close(h->fd);
    free(h);
}

void mount_hint_destroy(struct mount_hint *h)
{
    if (h && !uv_is_closing((uv_handle_t *)&h->poll))
        uv_close((uv_handle_t *)&h->poll, on_mounts_closed);
}

/* --- a process ------------------------------------------------------------------------------ */

/* Its descriptor on the loop; one for each process watched, so that one can close while the next is open. */
struct pid_poll {
    uv_poll_t poll;
    int fd;
    struct process_hint *hint; /* NULL: no listener any more */
};

struct process_hint {
    uv_loop_t *loop;
    hint_fn *fn;
    void *arg;
    pid_t pid;
    struct pid_poll *poll; /* NULL while none is watched */
};

static void on_pid_closed(uv_handle_t *handle)
{
    struct pid_poll *p = handle->data;
    close(p->fd);
    free(p);
}

static void hint_unwatch(struct process_hint *h)
{
    struct pid_poll *p = STEAL(h->poll);
    h->pid = 0;
    if (!p)
        return;
    p->hint = NULL;
    uv_close((uv_handle_t *)&p->poll, on_pid_closed);
}

static void on_exit_of(uv_poll_t *poll, int status, int events)
{
    struct process_hint *h = ((struct pid_poll *)poll->data)->hint;
    if (!h)
        return;
    hint_unwatch(h);
    h->fn(h->arg);
}

struct process_hint *process_hint_create(uv_loop_t *loop, hint_fn *fn, void *arg)
{
    struct process_hint *h = mem_alloc(sizeof *h);
    *h = (struct process_hint){.loop = loop, .fn = fn, .arg = arg};
    return h;
}

void process_hint_destroy(struct process_hint *h)
{
    if (!h)
        return;
    hint_unwatch(h);
    free(h);
}

bool process_hint_watch(struct process_hint *h, pid_t pid)
{
    if (h->pid == pid)
        return true;
    hint_unwatch(h);
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return errno != ESRCH;
    struct pid_poll *p = mem_alloc(sizeof *p);
    p->fd = fd;
    if (uv_poll_init(h->loop, &p->poll, fd)) {
        close(fd);
        free(p);
        return true;
    }
    p->poll.data = p;
    p->hint = h;
    h->poll = p;
    h->pid = pid;
    uv_poll_start(&p->poll, UV_READABLE, on_exit_of);
    return true;
}

bool process_hint_stands(const struct process_hint *h)
{
    return h->poll != NULL;
}
