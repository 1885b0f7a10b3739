/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/fake_test.h"

#include "base/text.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MUST(x)                                                     \
    do {                                                            \
        if (!(x)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
            abort();                                                \
        }                                                           \
    } while (0)

enum { WAIT_MS = 20000 };

struct fake_link {
    struct fake *f;
    int index;
    bool collector; /* it came there */
};

static void on_open(struct peer *p, void *arg)
{
}

static void on_frame(struct peer *p, void *arg, const struct frame *frame)
{
    struct fake_link *k = arg;
    struct fake *f = k->f;
    MUST(f->n_frames < FAKE_FRAMES_MAX);
    json_t *body = json_read(frame->body, frame->len, NULL);
    MUST(body);
    f->frames[f->n_frames++] = (struct fake_frame){k->index, frame->type, k->collector, frame->len, body};
    if (frame->type == FRAME_HELLO && f->welcome)
        peer_send(p, FRAME_WELCOME, 0, f->welcome, strlen(f->welcome));
}

static void on_close(struct peer *p, void *arg, const struct err *why)
{
    struct fake_link *k = arg;
    k->f->peers[k->index] = NULL;
    free(k);
}

static const struct peer_events events = {on_open, on_frame, on_close};

static void accept_link(struct fake *f, int fd, bool collector)
{
    struct fake_link *k = mem_alloc(sizeof *k);
    MUST(f->n_peers < FAKE_PEERS_MAX);
    k->f = f;
    k->index = f->n_peers++;
    k->collector = collector;
    f->peers[k->index] = peer_accept(&f->loop, fd, collector ? f->collector_tls : f->tls, &events, k);
}

static void on_connection(void *arg, int fd)
{
    accept_link(arg, fd, false);
}

static void on_collector_connection(void *arg, int fd)
{
    accept_link(arg, fd, true);
}

static void make_certificate(struct fake *f, struct identity id, struct span valid, char **key, char **cert)
{
    CLEANUP_FREE char *csr = NULL;
    struct err e = {0};
    MUST(tls_new_request(key, &csr, &e) == 0);
    MUST(authority_sign(f->ca, csr, &id, NULL, valid, cert, &e) == 0);
}

void fake_open(struct fake *f)
{
    struct err e = {0};
    MUST(listener_open_tcp(&f->loop, "127.0.0.1", f->port, on_connection, f, &f->listener, &e) == 0);
    f->port = listener_port(f->listener);
}

void fake_close(struct fake *f)
{
    listener_close(STEAL(f->listener));
}

uint16_t fake_collect(struct fake *f, const char *node)
{
    struct identity id = {.kind = IDENTITY_NODE};
    struct err e = {0};
    CLEANUP_FREE char *key = NULL;
    CLEANUP_FREE char *cert = NULL;
    snprintf(id.name, sizeof id.name, "%s", node);
    make_certificate(f, id, span_s(3600), &key, &cert);
    MUST(tls_server_context(cert, key, authority_pem(f->ca), TLS_PEER_REQUIRED, &f->collector_tls, &e) == 0);
    MUST(listener_open_tcp(&f->loop, "127.0.0.1", 0, on_collector_connection, f, &f->collector, &e) == 0);
    return listener_port(f->collector);
}

void fake_init(struct fake *f)
{
    struct err e = {0};
    CLEANUP_FREE char *key = NULL;
    CLEANUP_FREE char *cert = NULL;
    *f = (struct fake){.dir = "/tmp/fettle-agent-test-XXXXXX"};
    MUST(mkdtemp(f->dir));
    uv_loop_init(&f->loop);
    uv_timer_init(&f->loop, &f->guard);
    uv_prepare_init(&f->loop, &f->prepare);
    f->prepare.data = f;
    f->guard.data = f;
    MUST(authority_open(f->dir, &f->ca, &e) == 0);
    make_certificate(f, (struct identity){.kind = IDENTITY_CONTROLLER, .name = "c1"}, span_s(3600), &key,
                     &cert);
    MUST(tls_server_context(cert, key, authority_pem(f->ca), TLS_PEER_OPTIONAL, &f->tls, &e) == 0);
    MUST(signer_create(cert, key, &f->signer, &e) == 0);
    fake_open(f);
}

uint16_t fake_port(const struct fake *f)
{
    return f->port;
}

static void on_guard(uv_timer_t *timer)
{
    ((struct fake *)timer->data)->late = true;
}

/* A timer may have made it true in this turn of the loop, which would wait for the next event now. */
static void on_prepare(uv_prepare_t *prepare)
{
    struct fake *f = prepare->data;
    if (f->cond(f->cond_arg))
        uv_stop(&f->loop);
}

bool fake_wait(struct fake *f, fake_cond_fn *cond, void *arg)
{
    f->late = false;
    f->cond = cond;
    f->cond_arg = arg;
    uv_timer_start(&f->guard, on_guard, WAIT_MS, 0);
    uv_prepare_start(&f->prepare, on_prepare);
    bool good;
    while (!(good = cond(arg)) && !f->late)
        uv_run(&f->loop, UV_RUN_ONCE);
    uv_prepare_stop(&f->prepare);
    uv_timer_stop(&f->guard);
    return good;
}

static void count_handle(uv_handle_t *handle, void *arg)
{
    ++*(int *)arg;
}

/* Nothing but guard and prepare is on the loop. */
static bool is_idle(void *arg)
{
    struct fake *f = arg;
    int handles = 0;
    uv_walk(&f->loop, count_handle, &handles);
    return handles <= 2;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    return remove(path);
}

void fake_fini(struct fake *f)
{
    if (f->listener)
        fake_close(f);
    if (f->collector)
        listener_close(f->collector);
    stream_abort_all(&f->loop);
    if (!fake_wait(f, is_idle, f)) /* a test failed and left its agents behind */
        return;
    uv_close((uv_handle_t *)&f->guard, NULL);
    uv_close((uv_handle_t *)&f->prepare, NULL);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    MUST(uv_loop_close(&f->loop) == 0);
    for (int i = 0; i < f->n_frames; i++)
        json_decref(f->frames[i].body);
    tls_context_destroy(f->tls);
    tls_context_destroy(f->collector_tls);
    signer_destroy(f->signer);
    authority_close(f->ca);
    nftw(f->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int fake_setup(void **state)
{
    struct fake *f = mem_alloc(sizeof *f);
    fake_init(f);
    *state = f;
    return 0;
}

int fake_teardown(void **state)
{
    struct fake *f = *state;
    fake_fini(f);
    free(f);
    return 0;
}

struct awaited {
    struct fake *f;
    uint8_t type;
    int from, n, index;
};

static bool has_frame(void *arg)
{
    struct awaited *w = arg;
    int n = 0;
    for (w->index = w->from; w->index < w->f->n_frames; w->index++)
        if (w->f->frames[w->index].type == w->type && ++n == w->n)
            return true;
    return false;
}

int fake_wait_frame(struct fake *f, uint8_t type, int from, int n)
{
    struct awaited w = {f, type, from, n, 0};
    return fake_wait(f, has_frame, &w) ? w.index : -1;
}

void fake_send(struct fake *f, int peer, enum frame_type type, const char *fmt, ...)
{
    char body[8192];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(body, sizeof body, fmt, ap);
    va_end(ap);
    MUST(n >= 0 && (size_t)n < sizeof body && f->peers[peer]);
    peer_send(f->peers[peer], type, 0, body, (size_t)n);
}

char *fake_order(const struct fake *f, const char *text)
{
    CLEANUP_JSON json_t *order = NULL;
    struct err e = {0};
    MUST(order_sign(f->signer, text, &order, &e) == 0);
    return json_write(order);
}

char *fake_home(struct fake *f, const char *node, struct span valid)
{
    struct text dir = {0};
    struct identity id = {.kind = IDENTITY_NODE};
    struct err e = {0};
    struct address_list list = {.n = 1};
    CLEANUP_FREE char *key = NULL;
    CLEANUP_FREE char *cert = NULL;
    snprintf(id.name, sizeof id.name, "%s", node);
    snprintf(list.at[0].host, sizeof list.at[0].host, "127.0.0.1");
    list.at[0].port = fake_port(f);
    make_certificate(f, id, valid, &key, &cert);
    text_printf(&dir, "%s/home-%s", f->dir, node);
    MUST(home_store(dir.s, key, cert, authority_pem(f->ca), &e) == 0);
    MUST(home_store_controllers(dir.s, &list, &e) == 0);
    return text_take(&dir);
}

struct signer *fake_node_signer(struct fake *f, const char *node)
{
    struct identity id = {.kind = IDENTITY_NODE};
    struct err e = {0};
    struct signer *signer;
    CLEANUP_FREE char *key = NULL;
    CLEANUP_FREE char *cert = NULL;
    snprintf(id.name, sizeof id.name, "%s", node);
    make_certificate(f, id, span_s(3600), &key, &cert);
    MUST(signer_create(cert, key, &signer, &e) == 0);
    return signer;
}

struct tls_context *fake_node_tls(struct fake *f, const char *node)
{
    struct identity id = {.kind = IDENTITY_NODE};
    struct err e = {0};
    struct tls_context *tls;
    CLEANUP_FREE char *key = NULL;
    CLEANUP_FREE char *cert = NULL;
    snprintf(id.name, sizeof id.name, "%s", node);
    make_certificate(f, id, span_s(3600), &key, &cert);
    MUST(tls_client_context(cert, key, authority_pem(f->ca), &tls, &e) == 0);
    return tls;
}

void fake_write(const char *dir, const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", dir, path);
    for (char *slash = strchr(whole + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(whole, 0755);
        *slash = '/';
    }
    int fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600); /* as an agent's state has to be */
    MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
}

char *fake_root(struct fake *f, const char *name)
{
    struct text dir = {0};
    text_printf(&dir, "%s/root-%s", f->dir, name);
    fake_write(dir.s, "proc/sys/kernel/random/boot_id", "6e8f4a52-0c1e-4c1b-9d3a-2f60c2a1b7de\n");
    fake_write(dir.s, "proc/uptime", "1234.56 2000.00\n");
    fake_write(dir.s, "proc/meminfo", "MemTotal:        2097152 kB\nSwapTotal:       1048576 kB\n");
    fake_write(dir.s, "proc/cmdline", "BOOT_IMAGE=/vmlinuz quiet\n");
    fake_write(dir.s, "run/fettle/work/job.1", "");
    return text_take(&dir);
}
