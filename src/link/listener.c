/* SPDX-License-Identifier: Apache-2.0
 *
 * Listening sockets.
 *
 * When the process has no descriptor left, a pending connection keeps the listening socket readable
 * and the loop would spin. So one descriptor is kept in reserve: it is given up to accept the
 * connection and close it, which its peer understands, and taken back. Should even that fail, the
 * listener looks away for a while.
 */
#include "base/loop.h"
#include "base/text.h"
#include "link/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { ACCEPTS_PER_TURN = 256, BACKLOG = 4096, PAUSE_MS = 100 };

struct listener {
    uv_poll_t poll;
    uv_timer_t retry;
    unsigned handles;
    int fd;
    int spare; /* a descriptor in reserve, -1 while there is none */
    bool closed;
    char *path; /* the path of a local socket */
    uint16_t port;
    uint64_t dropped;
    listener_fn *fn;
    void *arg;
};

static int spare_open(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct listener *l = handle->data;
    if (--l->handles > 0)
        return;
    free(l->path);
    free(l);
}

static void on_readable(uv_poll_t *poll, int status, int events);

static void on_retry(uv_timer_t *timer)
{
    struct listener *l = timer->data;
    if (l->spare < 0)
        l->spare = spare_open();
    uv_poll_start(&l->poll, UV_READABLE, on_readable);
}

/* Accepts and closes one connection when descriptors are short. False when that fails too. */
static bool drop_one(struct listener *l)
{
    if (l->spare < 0)
        return false;
    close(l->spare);
    int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0) {
        close(fd);
        l->dropped++;
    }
    l->spare = spare_open();
    return fd >= 0;
}

/* False when nothing waits to be accepted. */
static bool accept_one(struct listener *l)
{
    int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        l->fn(l->arg, fd);
        return true;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        if (drop_one(l))
            return true;
        uv_poll_stop(&l->poll);
        uv_timer_start(&l->retry, on_retry, PAUSE_MS, 0);
        return false;
    }
    /* A peer that left while it waited does not stop the listener. */
    return errno != EAGAIN && errno != EBADF && errno != EINVAL;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    LOOP_DOES("new connections");
    struct listener *l = poll->data;
    for (int i = 0; i < ACCEPTS_PER_TURN && !l->closed; i++)
        if (!accept_one(l))
            return;
}

static int listener_start(uv_loop_t *loop, int fd, listener_fn *fn, void *arg, struct listener **out,
                          struct err *e)
{
    struct listener *l = mem_alloc(sizeof *l);
    int r = listen(fd, BACKLOG) < 0 ? -errno : uv_poll_init(loop, &l->poll, fd);
    if (r < 0) {
        free(l);
        return err_set(e, r, "%s", strerror(-r));
    }
    uv_timer_init(loop, &l->retry);
    l->poll.data = l->retry.data = l;
    l->handles = 2;
    l->fd = fd;
    l->spare = spare_open();
    l->fn = fn;
    l->arg = arg;
    uv_poll_start(&l->poll, UV_READABLE, on_readable);
    *out = l;
    return 0;
}

static int tcp_bind(int fd, const struct sockaddr_storage *at, socklen_t len)
{
    int one = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    return bind(fd, (const struct sockaddr *)at, len) < 0 ? -errno : 0;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_in6 at = {0}; /* the port is in the same place as that of IPv4 */
    socklen_t len = sizeof at;
    getsockname(fd, (struct sockaddr *)&at, &len);
    return ntohs(at.sin6_port);
}

int listener_open_tcp(uv_loop_t *loop, const char *address, uint16_t port, listener_fn *fn, void *arg,
                      struct listener **out, struct err *e)
{
    struct sockaddr_storage at = {0};
    socklen_t len;
    if (uv_ip4_addr(address, port, (struct sockaddr_in *)&at) == 0)
        len = sizeof(struct sockaddr_in);
    else if (uv_ip6_addr(address, port, (struct sockaddr_in6 *)&at) == 0)
        len = sizeof(struct sockaddr_in6);
    else
        return err_set(e, -EINVAL, "\"%s\" is no address to listen on", address);
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_set(e, -errno, "listen on %s:%u: %s", address, port, strerror(errno));
    int r = tcp_bind(fd, &at, len);
    if (r < 0)
        err_set(e, r, "%s", strerror(-r));
    else
        r = listener_start(loop, fd, fn, arg, out, e);
    if (r < 0) {
        close(fd);
        return err_wrap(e, r, "listen on %s:%u", address, port);
    }
    (*out)->port = port_of(fd);
    return 0;
}

/* Whether a process still answers at the address. A full backlog counts as an answer. */
static bool listener_answers(const struct sockaddr_un *at)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return true;
    bool yes = connect(fd, (const struct sockaddr *)at, sizeof *at) == 0 || errno != ECONNREFUSED;
    close(fd);
    return yes;
}

/* /run is empty after a boot, and systemd has not made the directory when a person starts the program by
 * hand. */
static void make_directory(const char *path)
{
    const char *end = strrchr(path, '/');
    CLEANUP_FREE char *directory = mem_dup_len(path, end ? (size_t)(end - path) : 0);
    if (mkdir(directory, 0777) == 0)
        chmod(directory, 0755); /* whatever the umask says: anybody may connect */
}

static int local_bind(int fd, const struct sockaddr_un *at, struct err *e)
{
    if (bind(fd, (const struct sockaddr *)at, sizeof *at) == 0)
        return 0;
    if (errno == ENOENT)
        make_directory(at->sun_path);
    if (bind(fd, (const struct sockaddr *)at, sizeof *at) == 0)
        return 0;
    if (errno != EADDRINUSE)
        return err_set(e, -errno, "%s: %s", at->sun_path, strerror(errno));
    struct stat st;
    if (lstat(at->sun_path, &st) == 0 && !S_ISSOCK(st.st_mode))
        return err_set(e, -EEXIST, "%s: is there and is no socket", at->sun_path);
    if (listener_answers(at))
        return err_set(e, -EBUSY, "%s: another process listens there", at->sun_path);
    if (unlink(at->sun_path) < 0 || bind(fd, (const struct sockaddr *)at, sizeof *at) < 0)
        return err_set(e, -errno, "%s: %s", at->sun_path, strerror(errno));
    return 0;
}

char *listener_local_path(const char *path)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof target);
    return n > 0 && n < (ssize_t)sizeof target && *target == '/' ? mem_dup_len(target, (size_t)n)
                                                                 : mem_dup(path);
}

int listener_open_local(uv_loop_t *loop, const char *path, listener_fn *fn, void *arg, struct listener **out,
                        struct err *e)
{
    CLEANUP_FREE char *target = listener_local_path(path);
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(target) >= sizeof at.sun_path)
        return err_set(e, -ENAMETOOLONG, "%s: a socket's path has at most %zu bytes", target,
                       sizeof at.sun_path - 1);
    memcpy(at.sun_path, target, strlen(target));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_set(e, -errno, "%s: %s", target, strerror(errno));
    int r = local_bind(fd, &at, e);
    if (r < 0) {
        close(fd);
        return r;
    }
    r = chmod(target, 0666) < 0 ? err_set(e, -errno, "%s", strerror(errno))
                                : listener_start(loop, fd, fn, arg, out, e);
    if (r < 0) {
        close(fd);
        unlink(target);
        return err_wrap(e, r, "%s", target);
    }
    (*out)->path = STEAL(target);
    return 0;
}

uint16_t listener_port(const struct listener *l)
{
    return l->port;
}

uint64_t listener_dropped(const struct listener *l)
{
    return l->dropped;
}

void listener_close(struct listener *l)
{
    if (!l || l->closed)
        return;
    l->closed = true;
    uv_close((uv_handle_t *)&l->poll, on_handle_closed);
    uv_close((uv_handle_t *)&l->retry, on_handle_closed);
    close(l->fd);
    if (l->spare >= 0)
        close(l->spare);
    if (l->path)
        unlink(l->path);
}
