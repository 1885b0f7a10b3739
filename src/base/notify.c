/* SPDX-License-Identifier: Apache-2.0 */
#include "base/notify.h"

#include "base/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void notify_say(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof to.sun_path)
        return;
    size_t n = strlen(path);
    memcpy(to.sun_path, path, n);
    if (path[0] == '@')
        to.sun_path[0] = 0; /* an abstract name */
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&to,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
    close(fd);
}

void notify_ready(void)
{
    notify_say("READY=1");
}

void notify_watchdog(void)
{
    notify_say("WATCHDOG=1");
}

void notify_stopping(void)
{
    notify_say("STOPPING=1");
}

struct span notify_watchdog_interval(void)
{
    const char *text = getenv("WATCHDOG_USEC");
    uint64_t us;
    if (!getenv("NOTIFY_SOCKET") || !text || text_parse_u64(text, 1, UINT64_MAX / 2000, &us, NULL))
        return (struct span){0};
    return (struct span){(int64_t)(us * 500)};
}
