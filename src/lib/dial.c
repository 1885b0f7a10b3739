/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/dial.h"

#include "base/private.h"
#include "base/text.h"
#include "lib/buffer.h"
#include "link/blocking.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char SOCKET_DEFAULT[] = "/run/fettle/fettled.sock";
enum { PEM_BYTES_MAX = 1 << 20, TOKEN_FILE_BYTES_MAX = 8 << 10 };

struct dialled {
    int fd;
    struct blocking *tls; /* NULL on a local socket */
};

/* ---- the address ---- */

static const char *dial_choose(const char *given, const char *variable)
{
    const char *s = given ? given : getenv(variable);
    return s && *s ? s : NULL;
}

static int dial_copy(const char *s, size_t n, char **out, struct err *e)
{
    *out = strndup(s, n);
    return *out ? 0 : err_set(e, -ENOMEM, "no memory");
}

/* "host:port" or "[2001:db8::1]:port", perhaps with a slash at the end. */
static int parse_host(struct address *a, const char *s, struct err *e)
{
    size_t host = *s == '[' ? strcspn(s, "]") : strcspn(s, ":/");
    const char *after = s + host + (*s == '[' && s[host] == ']');
    size_t port = *after == ':' ? strspn(after + 1, "0123456789") : 0;
    const char *rest = after + 1 + port;
    if (host == 0 || port == 0 || port > 5 || (strcmp(rest, "") != 0 && strcmp(rest, "/") != 0))
        return err_set(e, -EINVAL, "controller address \"%s\" is not https://HOST:PORT", a->name);
    bool bracket = *s == '[';
    int r = dial_copy(s + bracket, host - bracket, &a->host, e);
    if (r == 0)
        r = dial_copy(after + 1, port, &a->port, e);
    uint64_t number;
    if (r == 0 && text_parse_u64(a->port, 1, UINT16_MAX, &number, NULL) < 0)
        r = err_set(e, -EINVAL, "controller address \"%s\" has no port from 1 to 65535", a->name);
    return r;
}

static int parse_path(struct address *a, const char *path, struct err *e)
{
    if (path[0] != '/')
        return err_set(e, -EINVAL, "controller address \"%s\" is neither a path nor https://HOST:PORT",
                       a->name);
    if (strlen(path) >= sizeof((struct sockaddr_un *)0)->sun_path)
        return err_set(e, -EINVAL, "the path \"%s\" is too long for a socket", path);
    return dial_copy(path, strlen(path), &a->path, e);
}

static int copy_file(const char *given, const char *variable, char **out, struct err *e)
{
    const char *s = dial_choose(given, variable);
    return s ? dial_copy(s, strlen(s), out, e) : 0;
}

static int address_read(struct address *a, const char *name, size_t len, const struct fettle_options *o,
                        struct err *e)
{
    *a = (struct address){0};
    int r = dial_copy(name, len, &a->name, e);
    if (r == 0 && strncmp(a->name, "https://", 8) == 0)
        r = parse_host(a, a->name + 8, e);
    else if (r == 0)
        r = parse_path(a, strncmp(a->name, "unix:", 5) == 0 ? a->name + 5 : a->name, e);
    if (r == 0)
        r = copy_file(o->cert, "FETTLE_CERT", &a->cert, e);
    if (r == 0)
        r = copy_file(o->key, "FETTLE_KEY", &a->key, e);
    if (r == 0)
        r = copy_file(o->ca, "FETTLE_CA", &a->ca, e);
    if (r == 0)
        r = copy_file(o->token, "FETTLE_TOKEN", &a->token, e);
    if (r < 0)
        address_fini(a);
    return r;
}

int address_init(struct address a[static ADDRESSES_MAX], const struct fettle_options *options, struct err *e)
{
    static const struct fettle_options none;
    const struct fettle_options *o = options ? options : &none;
    const char *names = dial_choose(o->controller, "FETTLE_CONTROLLER");
    int n = 0, r = 0;
    if (!names)
        names = SOCKET_DEFAULT;
    for (const char *name = names; r == 0 && name; name = strchr(name, ','), name += name ? 1 : 0) {
        if (n == ADDRESSES_MAX)
            r = err_set(e, -EINVAL, "more than %d controllers in \"%.200s\"", ADDRESSES_MAX, names);
        else if ((r = address_read(&a[n], name, strcspn(name, ","), o, e)) == 0)
            n++;
    }
    while (r < 0 && n > 0)
        address_fini(&a[--n]);
    return r < 0 ? r : n;
}

void address_fini(struct address *a)
{
    free(a->name);
    free(a->path);
    free(a->host);
    free(a->port);
    free(a->cert);
    free(a->key);
    free(a->ca);
    free(a->token);
    *a = (struct address){0};
}

/* ---- the token ---- */

/* Whether the bytes can stand in a header unchanged. */
static bool is_token(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] <= ' ' || s[i] > '~')
            return false;
    return n > 0;
}

int address_authorize(const struct address *a, struct buffer *to, struct err *e)
{
    char bytes[TOKEN_FILE_BYTES_MAX + 1];
    if (a->path || !a->token)
        return 0;
    int fd = private_open(a->token, e);
    if (fd < 0)
        return fd == -EACCES || fd == -EINVAL ? fd : err_wrap(e, -ENOENT, "the token");
    ssize_t n = read(fd, bytes, sizeof bytes);
    close(fd);
    size_t len = n > 0 ? (size_t)n : 0;
    while (len && strchr(" \t\r\n", bytes[len - 1]))
        len--;
    int r =
        len <= TOKEN_FILE_BYTES_MAX && is_token(bytes, len)
            ? 0
            : err_set(e, -EINVAL, "%s: not one token of at most %d bytes", a->token, TOKEN_FILE_BYTES_MAX);
    if (r == 0) {
        buffer_add(to, "Authorization: Bearer ");
        buffer_add_bytes(to, bytes, len);
        buffer_add(to, "\r\n");
    }
    explicit_bzero(bytes, sizeof bytes);
    return r;
}

/* ---- connecting ---- */

static int await_connect(int fd, struct mono until, struct err *e)
{
    int r = blocking_wait(fd, POLLOUT, until, e);
    int why = 0;
    socklen_t len = sizeof why;
    if (r == 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &len) < 0)
        why = errno;
    return why ? -why : r;
}

/* Returns a socket connected to the address, or a negative errno. When the backlog of a local socket is full
 * the answer is EAGAIN; only waiting helps. */
static int connect_to(const struct sockaddr *to, socklen_t len, struct mono until, struct err *e)
{
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    int r;
    while ((r = connect(fd, to, len) < 0 ? -errno : 0) == -EAGAIN && mono_sub(until, mono_now()).ns > 0)
        poll(NULL, 0, 5);
    if (r == -EINPROGRESS || r == -EINTR)
        r = await_connect(fd, until, e);
    if (r < 0)
        close(fd);
    return r < 0 ? r : fd;
}

static int no_controller(const struct address *a, int r, struct err *e)
{
    if (r == -ENOMEM)
        return err_set(e, r, "no memory");
    if (r == -ETIMEDOUT)
        return err_set(e, r, "no answer from the controller at %s in time", a->name);
    if (r == -EACCES)
        return err_set(e, r, "the controller's socket %s may not be used: %s", a->name, strerror(-r));
    return err_set(e, -ECONNREFUSED, "no controller at %s: %s", a->name, strerror(-r));
}

static int connect_local(const struct address *a, struct mono until, struct err *e)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    assert(strlen(a->path) < sizeof to.sun_path && "parse_path has refused a longer one");
    memcpy(to.sun_path, a->path, strlen(a->path) + 1);
    int fd = connect_to((struct sockaddr *)&to, sizeof to, until, e);
    return fd < 0 ? no_controller(a, fd, e) : fd;
}

static int connect_tcp(const struct address *a, struct mono until, struct err *e)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *found = NULL;
    int why = getaddrinfo(a->host, a->port, &hints, &found);
    if (why == EAI_MEMORY)
        return err_set(e, -ENOMEM, "no memory");
    if (why != 0)
        return err_set(e, -ECONNREFUSED, "no controller at %s: %s", a->name, gai_strerror(why));
    int fd = -ECONNREFUSED;
    for (struct addrinfo *i = found; i && fd < 0; i = i->ai_next)
        fd = connect_to(i->ai_addr, i->ai_addrlen, until, e);
    freeaddrinfo(found);
    return fd < 0 ? no_controller(a, fd, e) : fd;
}

/* ---- certificates ---- */

static int read_pem(const char *path, FILE *f, struct buffer *into, struct err *e)
{
    if (!f)
        return err_set(e, errno == EACCES || errno == ENOMEM ? -errno : -ENOENT, "%s: %s", path,
                       strerror(errno));
    char part[4096];
    size_t n;
    while (into->len <= PEM_BYTES_MAX && (n = fread(part, 1, sizeof part, f)) > 0)
        buffer_add_bytes(into, part, n);
    explicit_bzero(part, sizeof part);
    int r = ferror(f) ? err_set(e, -ENOENT, "%s: cannot be read", path) : buffer_check(into, e);
    fclose(f);
    if (r == 0 && (into->len > PEM_BYTES_MAX || into->len == 0 || strlen(into->s) != into->len))
        r = err_set(e, -EINVAL, "%s: not a file in PEM form", path);
    return r;
}

static int read_key(const char *path, struct buffer *into, struct err *e)
{
    int fd = private_open(path, e);
    if (fd < 0)
        return fd == -EACCES || fd == -EINVAL ? fd : -ENOENT;
    return read_pem(path, fdopen(fd, "r"), into, e);
}

static int make_context(const struct address *a, struct tls_context **out, struct err *e)
{
    struct buffer cert = {0}, key = {0}, ca = {0};
    int r = a->ca ? read_pem(a->ca, fopen(a->ca, "re"), &ca, e)
                  : err_set(e, -EINVAL,
                            "which authority signs controllers? (FETTLE_CA names its certificate's file)");
    if (r == 0 && !a->cert != !a->key)
        r = err_set(e, -EINVAL,
                    "a certificate needs its key, and a key its certificate (FETTLE_CERT, FETTLE_KEY)");
    if (r == 0 && a->cert)
        r = read_pem(a->cert, fopen(a->cert, "re"), &cert, e);
    if (r == 0 && a->key)
        r = read_key(a->key, &key, e);
    if (r == 0 && (r = tls_client_context(cert.s, key.s, ca.s, out, e)) < 0)
        err_wrap(e, r, "%s%s%s%s%s", a->ca, a->cert ? ", " : "", a->cert ? a->cert : "", a->key ? ", " : "",
                 a->key ? a->key : "");
    if (key.s)
        explicit_bzero(key.s, key.cap);
    buffer_fini(&cert);
    buffer_fini(&key);
    buffer_fini(&ca);
    return r;
}

static int start_tls(const struct address *a, struct dialled *d, struct mono until, struct err *e)
{
    struct tls_context *context = NULL;
    int r = make_context(a, &context, e);
    if (r < 0)
        return r;
    r = blocking_open(d->fd, context, until, &d->tls, e);
    tls_context_destroy(context);
    return r < 0 ? err_wrap(e, r, "%s", a->name) : 0;
}

int address_dial(const struct address *a, struct mono until, struct dialled **out, struct err *e)
{
    struct dialled *d = calloc(1, sizeof *d);
    if (!d)
        return err_set(e, -ENOMEM, "no memory");
    d->fd = a->path ? connect_local(a, until, e) : connect_tcp(a, until, e);
    int r = d->fd < 0 ? d->fd : 0;
    if (r == 0 && !a->path)
        r = start_tls(a, d, until, e);
    if (r < 0) {
        dial_close(d);
        return r;
    }
    *out = d;
    return 0;
}

void dial_close(struct dialled *d)
{
    if (!d)
        return;
    blocking_close(d->tls);
    if (d->fd >= 0)
        close(d->fd);
    free(d);
}

/* ---- bytes ---- */

static int dial_lost(struct err *e)
{
    return err_set(e, -ECONNREFUSED, "the connection to the controller was lost: %s", strerror(errno));
}

static ssize_t write_some(struct dialled *d, const char *bytes, size_t n, struct mono until, struct err *e)
{
    if (d->tls)
        return blocking_write(d->tls, bytes, n, until, e);
    for (;;) {
        ssize_t put = send(d->fd, bytes, n, MSG_NOSIGNAL);
        if (put >= 0)
            return put;
        if (errno != EAGAIN && errno != EINTR)
            return dial_lost(e);
        int r = blocking_wait(d->fd, POLLOUT, until, e);
        if (r < 0)
            return r;
    }
}

int dial_write(struct dialled *d, const char *bytes, size_t n, struct mono until, struct err *e)
{
    while (n > 0) {
        ssize_t put = write_some(d, bytes, n, until, e);
        if (put < 0)
            return (int)put;
        bytes += put;
        n -= (size_t)put;
    }
    return 0;
}

ssize_t dial_read(struct dialled *d, char *bytes, size_t n, struct mono until, struct err *e)
{
    if (d->tls)
        return blocking_read(d->tls, bytes, n, until, e);
    for (;;) {
        ssize_t got = recv(d->fd, bytes, n, 0);
        if (got >= 0)
            return got;
        if (errno != EAGAIN && errno != EINTR)
            return dial_lost(e);
        int r = blocking_wait(d->fd, POLLIN, until, e);
        if (r < 0)
            return r;
    }
}

bool dial_is_stale(const struct dialled *d)
{
    struct pollfd p = {.fd = d->fd, .events = POLLIN};
    return poll(&p, 1, 0) != 0;
}
