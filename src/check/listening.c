/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Asks the kernel for the sockets that listen. /proc/net/tcp has all other sockets as well, and a reading
 * walks through a table as large as the machine's memory: 20 ms even without any connection.
 */

enum { LISTEN_STATE = 10 /* the kernel's TCP_LISTEN */, BYTES = 16 << 10 };

static int listening_ask(int fd, uint8_t family)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 of;
    } request = {
        .head = {.nlmsg_len = sizeof request,
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .of = {.sdiag_family = family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = 1U << LISTEN_STATE}};
    return send(fd, &request, sizeof request, 0) < 0 ? -errno : 0;
}

/* Reads one message. 1: the port is in it, 0: it is not; -errno. *end after the last message. */
static int listening_find(const struct nlmsghdr *head, size_t len, uint16_t port, bool *end)
{
    for (; NLMSG_OK(head, len); head = NLMSG_NEXT(head, len)) {
        const struct inet_diag_msg *of = NLMSG_DATA(head);
        const struct nlmsgerr *error = NLMSG_DATA(head);
        if (head->nlmsg_type == NLMSG_ERROR)
            return error->error ? error->error : -EIO;
        *end = head->nlmsg_type == NLMSG_DONE;
        if (*end)
            return 0;
        if (head->nlmsg_type == SOCK_DIAG_BY_FAMILY && ntohs(of->id.idiag_sport) == port)
            return 1;
    }
    return 0;
}

static int listening_look(uint8_t family, uint16_t port)
{
    _Alignas(struct nlmsghdr) char bytes[BYTES];
    CLEANUP_FD int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0)
        return -errno;
    int r = listening_ask(fd, family);
    for (bool end = false; r == 0 && !end;) {
        ssize_t n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT); /* the kernel answers in the call */
        r = n < 0 ? -errno : listening_find((const struct nlmsghdr *)bytes, (size_t)n, port, &end);
    }
    return r;
}

int port_listened(uint16_t port)
{
    static bool cannot; /* to ask again would look for a module again */
    if (cannot)
        return -EOPNOTSUPP;
    int four = listening_look(AF_INET, port);
    if (four > 0)
        return 1;
    int six = listening_look(AF_INET6, port);
    cannot = four < 0;
    return six > 0 ? 1 : four;
}
