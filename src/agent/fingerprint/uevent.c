/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/fingerprint/uevent.h"

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MESSAGES_A_TURN = 256, GROUP_KERNEL = 1 };

int uevent_open(void)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = GROUP_KERNEL};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
    if (fd < 0)
        return -errno;
    if (bind(fd, (const struct sockaddr *)&address, sizeof address)) {
        int r = -errno;
        close(fd);
        return r;
    }
    return fd;
}

bool uevent_drain(int fd)
{
    char message[UEVENT_BYTES_MAX];
    bool matters = false;
    for (int i = 0; i < MESSAGES_A_TURN; i++) {
        struct sockaddr_nl from = {0};
        socklen_t size = sizeof from;
        ssize_t n = recvfrom(fd, message, sizeof message, 0, (struct sockaddr *)&from, &size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return matters || errno == ENOBUFS;
        if (from.nl_pid == 0) /* the kernel itself */
            matters |= uevent_matters(message, (size_t)n);
    }
    return matters;
}

static bool is_one_of(const char *word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/* A message is lines that end in a zero byte: "ACTION@DEVPATH", then KEY=VALUE. */
bool uevent_matters(const char *message, size_t len)
{
    static const char *const actions[] = {"add", "remove", "bind", "unbind"};
    static const char *const kinds[] = {"module", "drivers", "pci", "net", "infiniband", "cxi", "nvme"};
    const char *action = "", *path = "", *kind = "";
    if (!len || message[len - 1])
        return false;
    for (const char *line = message; line < message + len; line += strlen(line) + 1) {
        if (strncmp(line, "ACTION=", 7) == 0)
            action = line + 7;
        else if (strncmp(line, "DEVPATH=", 8) == 0)
            path = line + 8;
        else if (strncmp(line, "SUBSYSTEM=", 10) == 0)
            kind = line + 10;
    }
    return is_one_of(action, actions, sizeof actions / sizeof *actions) &&
           is_one_of(kind, kinds, sizeof kinds / sizeof *kinds) &&
           strncmp(path, "/devices/virtual/", 17) != 0;
}
