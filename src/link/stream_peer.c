/* SPDX-License-Identifier: Apache-2.0 */
/* The peer of a stream: its address, and the credentials of a local one. */
#include "link/login.h"
#include "link/stream_internal.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static bool is_loopback(struct in_addr a)
{
    return ntohl(a.s_addr) >> 24 == IN_LOOPBACKNET;
}

static bool is_loopback6(const struct in6_addr *a)
{
    struct in_addr v4;
    memcpy(&v4, a->s6_addr + 12, sizeof v4);
    return IN6_IS_ADDR_LOOPBACK(a) || (IN6_IS_ADDR_V4MAPPED(a) && is_loopback(v4));
}

/* A listener for both families sees IPv4 as ::ffff:192.0.2.7. These addresses are not one network. */
static void network_format(struct stream *s, const struct in6_addr *a)
{
    struct in6_addr prefix = *a;
    char host[INET6_ADDRSTRLEN] = "?";
    if (IN6_IS_ADDR_V4MAPPED(a)) {
        snprintf(s->network, sizeof s->network, "%s", inet_ntop(AF_INET, a->s6_addr + 12, host, sizeof host));
        return;
    }
    memset(prefix.s6_addr + 8, 0, 8);
    snprintf(s->network, sizeof s->network, "%s/64", inet_ntop(AF_INET6, &prefix, host, sizeof host));
}

void stream_peer_look(struct stream *s)
{
    struct sockaddr_storage from = {0};
    socklen_t len = sizeof from;
    char host[INET6_ADDRSTRLEN] = "?";
    if (getpeername(s->wire.fd, (struct sockaddr *)&from, &len) < 0)
        from.ss_family = AF_UNSPEC;
    s->local = from.ss_family == AF_UNIX;
    if (s->local)
        s->came = login_ticks();
    if (from.ss_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, &from, sizeof v6);
        s->port = ntohs(v6.sin6_port);
        s->loopback = is_loopback6(&v6.sin6_addr);
        snprintf(s->address, sizeof s->address, "[%s]:%u",
                 inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof host), s->port);
        network_format(s, &v6.sin6_addr);
    } else if (from.ss_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, &from, sizeof v4);
        s->port = ntohs(v4.sin_port);
        s->loopback = is_loopback(v4.sin_addr);
        snprintf(s->network, sizeof s->network, "%s", inet_ntop(AF_INET, &v4.sin_addr, host, sizeof host));
        snprintf(s->address, sizeof s->address, "%s:%u", host, s->port);
    } else {
        snprintf(s->address, sizeof s->address, "%s", s->local ? "local" : "gone");
        memcpy(s->network, s->address, sizeof s->network);
    }
}

const struct identity *stream_peer(const struct stream *s)
{
    return &s->peer;
}

bool stream_peer_user(const struct stream *s, uid_t *uid, pid_t *pid)
{
    struct ucred who;
    socklen_t len = sizeof who;
    if (!s->local || getsockopt(s->wire.fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
        return false;
    *uid = who.uid;
    *pid = who.pid;
    return true;
}

uid_t stream_peer_login(const struct stream *s)
{
    uid_t uid;
    pid_t pid;
    return stream_peer_user(s, &uid, &pid) ? login_of_peer(s->wire.fd, pid, s->came) : STREAM_NO_LOGIN;
}

size_t stream_peer_groups(const struct stream *s, gid_t *groups, size_t max)
{
    struct ucred who;
    socklen_t len = sizeof who, room = (socklen_t)((max - 1) * sizeof *groups);
    if (!s->local || getsockopt(s->wire.fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
        return 0;
    groups[0] = who.gid; /* it need not be among the others */
    if (getsockopt(s->wire.fd, SOL_SOCKET, SO_PEERGROUPS, groups + 1, &room) < 0)
        return 1;
    return 1 + room / sizeof *groups;
}

const char *stream_peer_address(const struct stream *s)
{
    return s->address;
}

uint16_t stream_peer_port(const struct stream *s)
{
    return s->port;
}

bool stream_peer_loopback(const struct stream *s)
{
    return s->loopback;
}

const char *stream_peer_network(const struct stream *s)
{
    return s->network;
}
