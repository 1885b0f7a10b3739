/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Asks the kernel for all network interfaces at once: sysfs has ten files for each of them, and they are
 * looked at each second. The socket is kept open; after any trouble the next look has a new one.
 */

enum { BYTES = 32 << 10 }; /* the most that the kernel puts into one answer */

static struct {
    pid_t pid;       /* whose fd is */
    int fd;          /* -1 for none */
    uint32_t number; /* of the last request */
} kept = {.fd = -1};

static void drop(void)
{
    if (kept.fd >= 0 && kept.pid == getpid())
        close(kept.fd);
    kept.fd = -1;
}

static int open_kept(void)
{
    if (kept.pid != getpid())
        kept.fd = -1;
    if (kept.fd < 0)
        kept.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    kept.pid = getpid();
    return kept.fd < 0 ? -errno : 0;
}

static int ask(void)
{
    struct {
        struct nlmsghdr head;
        struct ifinfomsg of;
    } request = {.head = {.nlmsg_len = sizeof request,
                          .nlmsg_type = RTM_GETLINK,
                          .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                          .nlmsg_seq = ++kept.number}};
    return send(kept.fd, &request, sizeof request, 0) < 0 ? -errno : 0;
}

/* A card that is a member of a bond has attributes of that there, and no kind. */
static bool has_kind(const struct rtattr *a, size_t len)
{
    for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
        if ((a->rta_type & NLA_TYPE_MASK) == IFLA_INFO_KIND)
            return true;
    return false;
}

static void take_attribute(const struct rtattr *a, struct link *l)
{
    size_t len = RTA_PAYLOAD(a);
    const void *bytes = RTA_DATA(a);
    if (a->rta_type == IFLA_IFNAME && len > 0 && len <= sizeof l->name)
        memcpy(l->name, bytes, len - 1);
    else if (a->rta_type == IFLA_OPERSTATE && len >= 1)
        l->state = *(const uint8_t *)bytes;
    else if (a->rta_type == IFLA_CARRIER && len >= 1)
        l->carrier = *(const uint8_t *)bytes;
    else if (a->rta_type == IFLA_CARRIER_CHANGES && len >= sizeof l->changes)
        memcpy(&l->changes, bytes, sizeof l->changes);
    else if (a->rta_type == IFLA_PARENT_DEV_NAME)
        l->device = true;
    else if (a->rta_type == IFLA_LINKINFO)
        l->software = has_kind(bytes, len);
    else if (a->rta_type == IFLA_STATS64)
        memcpy(&l->stats, bytes, len < sizeof l->stats ? len : sizeof l->stats);
}

static bool take_link(const struct nlmsghdr *head, struct link *l)
{
    const struct ifinfomsg *of = NLMSG_DATA(head);
    if (head->nlmsg_type != RTM_NEWLINK || head->nlmsg_len < NLMSG_LENGTH(sizeof *of))
        return false;
    *l = (struct link){.type = of->ifi_type};
    size_t len = IFLA_PAYLOAD(head);
    for (const struct rtattr *a = IFLA_RTA(of); RTA_OK(a, len); a = RTA_NEXT(a, len))
        take_attribute(a, l);
    return *l->name;
}

/* 0: more comes; 1: that was all; -EINTR: something changed meanwhile, and it may be incomplete; -errno. */
static int take(const char *bytes, size_t len, link_fn *fn, void *arg)
{
    const struct nlmsghdr *head = (const struct nlmsghdr *)bytes;
    for (; NLMSG_OK(head, len); head = NLMSG_NEXT(head, len)) {
        const struct nlmsgerr *error = NLMSG_DATA(head);
        struct link l;
        if (head->nlmsg_seq != kept.number)
            continue;
        if (head->nlmsg_flags & NLM_F_DUMP_INTR)
            return -EINTR;
        if (head->nlmsg_type == NLMSG_ERROR)
            return error->error ? error->error : -EIO;
        if (head->nlmsg_type == NLMSG_DONE)
            return 1;
        if (take_link(head, &l))
            fn(&l, arg);
    }
    return 0;
}

static int ask_and_take(link_fn *fn, void *arg)
{
    _Alignas(struct nlmsghdr) static char bytes[BYTES];
    int r = open_kept();
    if (!r)
        r = ask();
    while (!r) {
        ssize_t n = recv(kept.fd, bytes, sizeof bytes, MSG_DONTWAIT); /* the kernel answers in the call */
        r = n < 0 ? -errno : take(bytes, (size_t)n, fn, arg);
    }
    return r;
}

int links_each(link_fn *fn, void *arg)
{
    int r = ask_and_take(fn, arg);
    if (r < 0)
        drop(); /* with what is left in it */
    return r < 0 ? r : 0;
}
