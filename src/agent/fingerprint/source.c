/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/fingerprint/source.h"

#include <stdalign.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

bool source_open(struct source *s, uv_loop_t *loop, int fd, uv_poll_cb ready, void (*closed)(void *owner),
                 void *owner)
{
    s->owner = owner;
    s->closed = closed;
    s->fd = fd;
    if (fd < 0)
        return false;
    uv_poll_init(loop, &s->poll, fd);
    s->poll.data = s;
    uv_poll_start(&s->poll, UV_READABLE, ready);
    return true;
}

static void on_closed(uv_handle_t *handle)
{
    struct source *s = handle->data;
    close(s->fd);
    s->closed(s->owner);
}

void source_close(struct source *s)
{
    if (s->fd >= 0)
        uv_close((uv_handle_t *)&s->poll, on_closed);
}

static bool is_on_the_way(const struct hostlist *paths, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < paths->n; i++)
        for (const char *p = strchr(paths->names[i], '/'); p; p = strchr(p + 1, '/'))
            if (strncmp(p + 1, name, len) == 0 && (p[1 + len] == '/' || p[1 + len] == '\0'))
                return true;
    return false;
}

static bool event_matters(const struct hostlist *paths, const struct inotify_event *event)
{
    if (event->mask & IN_IGNORED) /* a watch has ended; why was told before */
        return false;
    return event->len == 0 || is_on_the_way(paths, event->name);
}

bool source_tells_of(const struct source *s, const struct hostlist *paths)
{
    alignas(struct inotify_event) char buffer[4096];
    bool any = false;
    for (ssize_t n; (n = read(s->fd, buffer, sizeof buffer)) > 0;)
        for (const char *p = buffer; p < buffer + n;) {
            const struct inotify_event *event = (const struct inotify_event *)p;
            any |= event_matters(paths, event);
            p += sizeof *event + event->len;
        }
    return any;
}

void source_drain(const struct source *s)
{
    char buffer[4096];
    while (read(s->fd, buffer, sizeof buffer) > 0)
        continue;
}
