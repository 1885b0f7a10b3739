/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * bond        "bond NAME STATUS", "member BOND NAME STATUS"
 * conntrack   "connections USED MOST"
 * reach       "connected MS", or "failed WHY"
 */

/* --- bond ----------------------------------------------------------------------------------- */

struct bond {
    const char *name;
    char member[64]; /* "" before the first */
    struct text *out;
};

/* The first "MII Status" is the bond's, the one after each "Slave Interface" that member's. */
static bool on_line(const char *line, void *arg)
{
    static const char interface[] = "Slave Interface: ", status[] = "MII Status: ";
    struct bond *b = arg;
    if (strncmp(line, interface, sizeof interface - 1) == 0)
        snprintf(b->member, sizeof b->member, "%s", line + sizeof interface - 1);
    else if (strncmp(line, status, sizeof status - 1) == 0 && *b->member)
        fact_add(b->out, "member", "%s %s %s", b->name, b->member, line + sizeof status - 1);
    else if (strncmp(line, status, sizeof status - 1) == 0)
        fact_add(b->out, "bond", "%s %s", b->name, line + sizeof status - 1);
    return true;
}

void gather_BOND(const struct look *l, struct text *out)
{
    static const char path[] = "proc/net/bonding";
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    CLEANUP_FD int dir = sys_open_dir(root, path);
    struct sys_names names = {0};
    int r = dir < 0 ? dir : sys_names_read(&names, dir);
    if (r < 0)
        fact_cannot(root, out, path, r);
    else if (names.n == 0)
        fact_add(out, "unsupported", "there is no bond");
    sys_names_sort(&names);
    for (size_t i = 0; i < names.n; i++) {
        struct bond b = {.name = names.names[i], .out = out};
        size_t before = out->len;
        if (sys_each_line(dir, names.names[i], on_line, &b) < 0 || out->len == before)
            fact_add(out, "unknown", "the bond %s is not understood", names.names[i]);
    }
    sys_names_fini(&names);
}

void judge_BOND(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    struct span most;
    if (!want_span(l, "Down", span_s(DOWN_S), &most, v))
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        words_of(line.value, &w);
        bool bond = strcmp(line.key, "bond") == 0, member = strcmp(line.key, "member") == 0;
        bool down = (bond || member) && strcmp(w.w[bond ? 1 : 2], "up") != 0;
        enum result r = bond || member ? down_result(l, w.w[bond ? 0 : 1], down, most) : RESULT_OK;
        if (down && bond)
            verdict_add(v, r, w.w[0], "", "the bond %s is %s", w.w[0], w.w[1]);
        else if (down)
            verdict_add(v, r < RESULT_DEGRADED ? r : RESULT_DEGRADED, w.w[1], "", "%s of the bond %s is %s",
                        w.w[1], w.w[0], w.w[2]);
    }
}

/* --- conntrack ------------------------------------------------------------------------------ */

void gather_CONNTRACK(const struct look *l, struct text *out)
{
    static const char used[] = "proc/sys/net/netfilter/nf_conntrack_count";
    static const char most[] = "proc/sys/net/netfilter/nf_conntrack_max";
    CLEANUP_FD int root = look_root(l, out);
    uint64_t n, max;
    if (root < 0)
        return;
    int r = sys_u64(root, used, &n);
    if (r == 0)
        r = sys_u64(root, most, &max);
    if (r < 0)
        fact_cannot(root, out, used, r);
    else
        fact_add(out, "connections", "%" PRIu64 " %" PRIu64, n, max);
}

void judge_CONNTRACK(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    struct words w;
    uint64_t used, most;
    unsigned warn;
    if (!want_percent(l, "Warn", 90, &warn, v))
        return;
    words_of(fact_find(facts, "connections", &line) ? line.value : "", &w);
    if (!word_u64(&w, 0, &used) || !word_u64(&w, 1, &most))
        verdict_cannot(v, RESULT_UNKNOWN, "the number of tracked connections is not understood");
    else if (percent_of(used, most) > warn)
        verdict_add(v, RESULT_WARN, "conntrack", "",
                    "%" PRIu64 " of %" PRIu64 " tracked connections, of at most %u %%", used, most, warn);
}

/* --- reach ---------------------------------------------------------------------------------- */

enum { RESERVE_MS = 200 };

/* 0, or why not. */
static int connect_to(const struct addrinfo *a, struct mono until)
{
    CLEANUP_FD int fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
    if (fd < 0)
        return errno;
    if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return errno;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int64_t left = span_to_ms(mono_sub(until, mono_now()));
    if (left <= 0 || poll(&p, 1, (int)left) <= 0)
        return ETIMEDOUT;
    int why = EIO;
    socklen_t len = sizeof why;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &len) < 0 ? errno : why;
}

void gather_REACH(const struct look *l, struct text *out)
{
    const char *host = check_arg(l->check, "Host"), *port = check_arg(l->check, "Port");
    if (!host || !port) {
        fact_add(out, "unknown", "the record has no %s", host ? "Port" : "Host");
        return;
    }
    struct mono began = mono_now(), until = mono_add(began, l->check->deadline);
    until.ns -= span_ms(RESERVE_MS).ns;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    int r = getaddrinfo(host, port, &hints, &list);
    if (r != 0) {
        fact_add(out, "failed", "%s", gai_strerror(r));
        return;
    }
    int why = EADDRNOTAVAIL;
    for (const struct addrinfo *a = list; a && why != 0; a = a->ai_next)
        why = connect_to(a, until);
    freeaddrinfo(list);
    if (why != 0)
        fact_add(out, "failed", "%s", strerror(why));
    else
        fact_add(out, "connected", "%" PRId64, span_to_ms(mono_sub(mono_now(), began)));
}

void judge_REACH(struct look *l, const char *facts, struct verdict *v)
{
    const char *host = check_arg(l->check, "Host"), *port = check_arg(l->check, "Port");
    struct fact_line failed;
    struct span slow;
    uint64_t ms;
    char device[FINDING_DEVICE_BYTES_MAX + 1];
    snprintf(device, sizeof device, "%s:%s", host ? host : "", port ? port : "");
    if (!want_span(l, "Slow", span_s(2), &slow, v))
        return;
    if (fact_find(facts, "failed", &failed))
        verdict_add(v, RESULT_DEGRADED, device, "", "no connection to %s: %s", device, failed.value);
    else if (!fact_u64(facts, "connected", &ms))
        verdict_cannot(v, RESULT_UNKNOWN, "it is not known whether %s was reached", device);
    else if (ms > (uint64_t)span_to_ms(slow))
        verdict_add(v, RESULT_WARN, device, "",
                    "the connection to %s took %" PRIu64 " ms, of at most %" PRId64, device, ms,
                    span_to_ms(slow));
}
