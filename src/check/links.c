/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Asks the kernel for all network interfaces at once: sysfs has ten files for each, and they are looked at
 * each second. The counters alone cost a fifth of all attributes, so the other attributes are kept until
 * the kernel says that they changed (RTMGRP_LINK). The sockets stay open; after any error the next look
 * opens new ones.
 */

enum { BYTES = 32 << 10 /* the most that the kernel puts into one answer */ };

static struct {
    pid_t pid;         /* whose descriptors they are */
    int fd, events;    /* -1 for none */
    uint32_t number;   /* the sequence number of the last request */
    bool current;      /* list is what the kernel has, but for what events tells of */
    size_t n, room;    /* the capacity of list */
    size_t counted;    /* the interfaces in this answer about counters */
    struct link *list; /* by index, as the kernel reports them */
} kept = {.fd = -1, .events = -1};

static void links_drop(void)
{
    if (kept.fd >= 0 && kept.pid == getpid())
        close(kept.fd);
    if (kept.events >= 0 && kept.pid == getpid())
        close(kept.events);
    kept.fd = kept.events = -1;
    kept.current = false;
}

static int open_kept(void)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};
    if (kept.pid != getpid()) {
        kept.fd = kept.events = -1;
        kept.current = false;
    }
    kept.pid = getpid();
    if (kept.fd >= 0)
        return 0;
    kept.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    kept.events = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (kept.fd < 0 || kept.events < 0 ||
        bind(kept.events, (const struct sockaddr *)&address, sizeof address) < 0)
        return -errno;
    return 0;
}

/* 1: the kernel told of a change, or of more than it could keep; 0; -errno. */
static int links_changed(void)
{
    char byte;
    int r = 0;
    for (;;) {
        ssize_t n = recv(kept.events, &byte, sizeof byte, MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
            return r;
        if (n < 0 && errno != ENOBUFS)
            return -errno;
        r = 1;
    }
}

/* --- what an answer says -------------------------------------------------------------------- */

/* A card that belongs to a bond has the bond's attributes there, and no kind. */
static bool has_kind(const struct rtattr *a, size_t len)
{
    for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
        if ((a->rta_type & NLA_TYPE_MASK) == IFLA_INFO_KIND)
            return true;
    return false;
}

static void take_counters(const void *bytes, size_t len, struct link *l)
{
    memcpy(&l->stats, bytes, len < sizeof l->stats ? len : sizeof l->stats);
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
        take_counters(bytes, len, l);
}

static void take_link(const struct nlmsghdr *head)
{
    const struct ifinfomsg *of = NLMSG_DATA(head);
    if (head->nlmsg_type != RTM_NEWLINK || head->nlmsg_len < NLMSG_LENGTH(sizeof *of))
        return;
    struct link l = {.type = of->ifi_type, .index = of->ifi_index};
    size_t len = IFLA_PAYLOAD(head);
    for (const struct rtattr *a = IFLA_RTA(of); RTA_OK(a, len); a = RTA_NEXT(a, len))
        take_attribute(a, &l);
    if (!*l.name)
        return;
    if (kept.n == kept.room) {
        kept.room = kept.room ? 2 * kept.room : 8;
        kept.list = mem_grow(kept.list, kept.room * sizeof *kept.list);
    }
    kept.list[kept.n++] = l;
}

/* Mostly they come in the order of the list. */
static struct link *find_link(int index)
{
    for (size_t i = 0; i < kept.n; i++) {
        struct link *l = &kept.list[(kept.counted + i) % kept.n];
        if (l->index == index)
            return l;
    }
    return NULL;
}

static void take_stats(const struct nlmsghdr *head)
{
    const struct if_stats_msg *of = NLMSG_DATA(head);
    if (head->nlmsg_type != RTM_NEWSTATS || head->nlmsg_len < NLMSG_LENGTH(sizeof *of))
        return;
    struct link *l = find_link((int)of->ifindex);
    kept.current &= l != NULL;
    if (!l)
        return;
    size_t len = head->nlmsg_len - NLMSG_LENGTH(sizeof *of);
    const struct rtattr *a = (const struct rtattr *)((const char *)of + NLMSG_ALIGN(sizeof *of));
    for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
        if (a->rta_type == IFLA_STATS_LINK_64)
            take_counters(RTA_DATA(a), RTA_PAYLOAD(a), l);
    kept.counted++;
}

/* --- asking --------------------------------------------------------------------------------- */

typedef void message_fn(const struct nlmsghdr *head);

/* 0: more comes; 1: that was all; -EINTR: something changed meanwhile, and it may be incomplete; -errno. */
static int links_take(const char *bytes, size_t len, message_fn *fn)
{
    const struct nlmsghdr *head = (const struct nlmsghdr *)bytes;
    for (; NLMSG_OK(head, len); head = NLMSG_NEXT(head, len)) {
        const struct nlmsgerr *error = NLMSG_DATA(head);
        if (head->nlmsg_seq != kept.number)
            continue;
        if (head->nlmsg_flags & NLM_F_DUMP_INTR)
            return -EINTR;
        if (head->nlmsg_type == NLMSG_ERROR)
            return error->error ? error->error : -EIO;
        if (head->nlmsg_type == NLMSG_DONE)
            return 1;
        fn(head);
    }
    return 0;
}

/* The body is short; the kernel reads the missing rest as 0. */
static int links_ask(uint16_t type, const void *body, size_t size, message_fn *fn)
{
    _Alignas(struct nlmsghdr) static char bytes[BYTES];
    struct {
        struct nlmsghdr head;
        char body[32];
    } request = {.head = {.nlmsg_len = (uint32_t)NLMSG_LENGTH(size),
                          .nlmsg_type = type,
                          .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                          .nlmsg_seq = ++kept.number}};
    memcpy(request.body, body, size);
    int r = send(kept.fd, &request, request.head.nlmsg_len, 0) < 0 ? -errno : 0;
    while (!r) {
        ssize_t n = recv(kept.fd, bytes, sizeof bytes, MSG_DONTWAIT); /* the kernel answers in the call */
        r = n < 0 ? -errno : links_take(bytes, (size_t)n, fn);
    }
    return r < 0 ? r : 0;
}

static int ask_links(void)
{
    const struct ifinfomsg all = {.ifi_family = AF_UNSPEC};
    kept.n = 0;
    return links_ask(RTM_GETLINK, &all, sizeof all, take_link);
}

/* Kernels before 4.7 do not know the question. */
static void ask_stats(void)
{
    const struct if_stats_msg all = {.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64)};
    kept.counted = 0;
    if (links_ask(RTM_GETSTATS, &all, sizeof all, take_stats) < 0 || kept.counted < kept.n)
        kept.current = false;
}

static int links_renew(void)
{
    int r = open_kept();
    if (!r)
        r = links_changed();
    if (r < 0)
        return r;
    kept.current &= r == 0;
    if (kept.current)
        ask_stats();
    r = kept.current ? 0 : ask_links();
    kept.current = r == 0;
    return r;
}

int links_each(link_fn *fn, void *arg)
{
    int r = links_renew();
    if (r < 0)
        links_drop(); /* with the bytes that are left in it */
    for (size_t i = 0; !r && i < kept.n; i++)
        fn(&kept.list[i], arg);
    return r;
}
