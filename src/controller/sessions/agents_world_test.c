/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/sessions/agents_world_test.h"

#include "base/log.h"
#include "controller/sessions/certificates.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

struct world w;

static int stderr_kept = -1;
static off_t log_from;

/* --- files ----------------------------------------------------------------------------------- */

static void path_of(char out[static 64], const char *name)
{
    snprintf(out, 64, "%s/%s", w.dir, name);
}

static void write_file(const char *name, const char *text)
{
    char path[64];
    path_of(path, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void write_configuration(const char *lines)
{
    struct text t = {0};
    text_printf(&t,
                "%s\nNodeSpecConf = %s/nodes\nPartitionConf = %s/partitions\nMachStatusPort = 0\n"
                "MachStatusAddress = 127.0.0.1\n",
                lines, w.dir, w.dir);
    write_file("conf", t.s);
    text_fini(&t);
}

void world_classes(const char *text)
{
    write_file("classes", text);
}

static void read_configuration(struct config *conf)
{
    char path[64];
    struct err e = {0};
    path_of(path, "conf");
    if (config_read(path, conf, &e) < 0)
        fail_msg("%s", e.msg);
}

static void log_begin(void)
{
    char path[64];
    path_of(path, "log");
    fflush(stderr);
    stderr_kept = dup(STDERR_FILENO);
    int fd = open(path, O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    dup2(fd, STDERR_FILENO);
    close(fd);
    log_from = 0;
}

static void log_end(void)
{
    fflush(stderr);
    dup2(stderr_kept, STDERR_FILENO);
    close(stderr_kept);
}

void world_log_clear(void)
{
    log_from = lseek(STDERR_FILENO, 0, SEEK_END);
}

bool world_logged(const char *text)
{
    struct text log = {0};
    off_t size = lseek(STDERR_FILENO, 0, SEEK_END);
    char *room = text_room(&log, (size_t)(size - log_from) + 1);
    ssize_t n = pread(STDERR_FILENO, room, (size_t)(size - log_from), log_from);
    room[n > 0 ? n : 0] = '\0';
    bool found = strstr(room, text) != NULL;
    text_fini(&log);
    return found;
}

static void remove_directory(void)
{
    DIR *d = opendir(w.dir);
    char path[512];
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", w.dir, e->d_name);
        unlink(path);
    }
    closedir(d);
    assert_int_equal(rmdir(w.dir), 0);
    snprintf(path, sizeof path, "%s-begun/state", w.dir); /* the store's note that it was there */
    unlink(path);
    snprintf(path, sizeof path, "%s-begun", w.dir);
    rmdir(path);
}

/* --- the controller's side ------------------------------------------------------------------- */

static bool on_propose(void *arg, const struct command *cmd)
{
    return true;
}

static void on_notice(void *arg, const char *what, const char *nodes, const char *text)
{
    log_info("%s %s: %s", what, nodes, text);
}

static void on_alarm(void *arg, const struct alarm *a, const char *over)
{
    log_info("alarm.%s %s: %s", over ? "over" : alarm_name(a->kind), over ? a->subject : a->nodes,
             over ? over : a->text);
}

static void on_entry(void *arg, const struct committed *c)
{
}

static void on_changed(void *arg, const struct hostlist *some)
{
}

static void on_trouble(void *arg, const struct err *why)
{
    if (why)
        fail_msg("%s", why->msg);
}

static int on_record(void *arg, const char *key, const char *value, struct err *e)
{
    return cluster_put(w.cluster, key, value, e);
}

static void on_tick(uv_timer_t *timer)
{
    watch_tick(w.watch, mono_now(), wall_now());
    while (watch_step(w.watch, 100))
        ;
}

static void open_store(uint64_t *revision)
{
    struct err e = {0};
    if (store_open_sqlite(w.dir, &w.store, &e) < 0 || store_campaign(w.store, &w.term, &e) < 0 ||
        store_load(w.store, on_record, NULL, revision, &e) < 0 || authority_open(w.dir, &w.authority, &e) < 0)
        fail_msg("%s", e.msg);
}

static char *certificate_for(enum identity_kind kind, const char *name)
{
    struct identity id = {.kind = kind};
    char *pem = NULL;
    snprintf(id.name, sizeof id.name, "%s", name);
    assert_int_equal(authority_sign(w.authority, w.request, &id, NULL, span_s(86400), &pem, NULL), 0);
    return pem;
}

char *world_certificate(const char *name)
{
    return certificate_for(IDENTITY_NODE, name);
}

struct tls_context *world_tls(const char *certificate)
{
    struct tls_context *tls = NULL;
    assert_int_equal(
        tls_client_context(certificate, certificate ? w.key : NULL, authority_pem(w.authority), &tls, NULL),
        0);
    return tls;
}

static void make_tls(void)
{
    assert_int_equal(tls_new_request(&w.key, &w.request, NULL), 0);
    CLEANUP_FREE char *pem = certificate_for(IDENTITY_CONTROLLER, "one");
    assert_int_equal(
        tls_server_context(pem, w.key, authority_pem(w.authority), TLS_PEER_OPTIONAL, &w.tls, NULL), 0);
    tls_context_judge(w.tls, certificate_judge, w.cluster);
    assert_int_equal(signer_create(pem, w.key, &w.signer, NULL), 0);
}

int world_setup(void **state)
{
    const char *lines = *state ? *state : "";
    w = (struct world){.dir = "/tmp/fettle-agents-XXXXXX"};
    assert_non_null(mkdtemp(w.dir));
    write_file("nodes", "Name=lx[1-20] CPUs=2\n");
    write_file("partitions", "");
    write_configuration(lines);
    log_begin();
    uv_loop_init(&w.loop);
    uint64_t revision = 0;
    w.cluster = cluster_create();
    read_configuration(&w.conf);
    open_store(&revision);
    cluster_configure(w.cluster, &w.conf.roster, NULL);
    const struct watch_sink sink = {NULL, on_propose, on_notice, on_alarm};
    const struct committer_events events = {NULL, on_entry, on_changed, on_trouble, on_trouble, on_trouble};
    const struct store_keep keep = {.bytes = UINT64_MAX, .directory = w.dir};
    w.watch = watch_create(w.cluster, &w.conf.watch, mono_now(), &sink);
    w.committer = committer_create(&w.loop, w.cluster, w.store, w.term, revision, &keep, &events);
    make_tls();
    const struct agents_setup setup = {.loop = &w.loop,
                                       .cluster = w.cluster,
                                       .watch = w.watch,
                                       .committer = w.committer,
                                       .authority = w.authority,
                                       .signer = w.signer,
                                       .tls = w.tls,
                                       .term = w.term,
                                       .instance = 0xc0,
                                       .notice = on_notice};
    struct err e = {0};
    if (agents_open(&setup, &w.conf, &w.agents, &e) < 0)
        fail_msg("%s", e.msg);
    uv_timer_init(&w.loop, &w.tick);
    uv_timer_start(&w.tick, on_tick, WATCH_TICK_MS, WATCH_TICK_MS);
    return 0;
}

void world_stop(void)
{
    if (!w.agents)
        return;
    uv_close((uv_handle_t *)&w.tick, NULL);
    agents_close(STEAL(w.agents));
    committer_destroy(w.committer);
    uv_run(&w.loop, UV_RUN_DEFAULT);
}

static void client_free(struct client *c)
{
    for (size_t i = 0; i < sizeof c->last / sizeof c->last[0]; i++)
        json_decref(c->last[i]);
    free(c);
}

int world_teardown(void **state)
{
    world_stop();
    log_end();
    while (w.clients) {
        struct client *c = w.clients;
        w.clients = c->next;
        assert_true(c->closed);
        client_free(c);
    }
    watch_destroy(w.watch);
    tls_context_destroy(w.tls);
    signer_destroy(w.signer);
    authority_close(w.authority);
    cluster_destroy(w.cluster);
    store_close(w.store);
    config_fini(&w.conf);
    free(w.key);
    free(w.request);
    remove_directory();
    return uv_loop_close(&w.loop);
}

void world_reload(const char *lines)
{
    struct config fresh;
    write_configuration(lines);
    read_configuration(&fresh);
    cluster_configure(w.cluster, &fresh.roster, NULL);
    config_fini(&w.conf);
    w.conf = fresh;
    watch_set_policy(w.watch, &w.conf.watch);
    agents_configure(w.agents, &w.conf);
}

void world_checks(const char *lines, const char *text)
{
    CLEANUP_TEXT struct text t = {0};
    write_file("checks", text);
    text_printf(&t, "%s\nCheckConf = %s/checks", lines, w.dir);
    world_reload(t.s);
}

void world_nodes(size_t n)
{
    struct roster r = {.n = n, .nodes = mem_alloc(n * sizeof *r.nodes), .partition_max = 31};
    for (size_t i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "lx%zu", i + 1);
        r.nodes[i].name = mem_dup(name);
        spec_init(&r.nodes[i].spec);
    }
    cluster_configure(w.cluster, &r, NULL);
}

static void on_token(void *arg, const struct outcome *o)
{
    *(int *)arg = o->rc ? o->rc : 1;
}

char *world_token(const char *nodes, int64_t expires_in_ms)
{
    char *token = NULL;
    CLEANUP_FREE char *hash = NULL;
    CLEANUP_HOSTLIST struct hostlist names = {0};
    int done = 0;
    assert_int_equal(hostlist_parse(nodes, &names, NULL), 0);
    join_make_token(w.agents, &token, &hash);
    const struct wall now = wall_now();
    const struct command cmd = {
        .kind = COMMAND_TOKEN_CREATE,
        .actor = "root",
        .at = now,
        .nodes = &names,
        .token_made = {
            .hash = hash, .expires = {now.ns + span_ms(expires_in_ms).ns}, .count = 1, .again = true}};
    committer_submit(w.committer, &cmd, on_token, &done);
    run_until(done);
    assert_int_equal(done, 1);
    return token;
}

/* --- clients --------------------------------------------------------------------------------- */

static void on_open(struct peer *p, void *arg)
{
    struct client *c = arg;
    c->open = true;
}

json_t *opened(const json_t *order)
{
    const char *text = NULL;
    struct err e = {0};
    if (order_open(authority_pem(w.authority), NULL, order, &text, &e) < 0)
        fail_msg("%s", e.msg);
    return json_read(text, strlen(text), NULL);
}

static void on_frame(struct peer *p, void *arg, const struct frame *f)
{
    struct client *c = arg;
    json_t *body = json_read(f->body, f->len, NULL);
    assert_non_null(body);
    json_decref(c->last[f->type]);
    c->last[f->type] = order_is(body) ? opened(body) : json_incref(body);
    json_decref(body);
    c->count[f->type]++;
}

static void on_close(struct peer *p, void *arg, const struct err *why)
{
    struct client *c = arg;
    c->closed = true;
    c->peer = NULL;
}

static const struct peer_events calls = {on_open, on_frame, on_close};

struct client *client_with(struct tls_context *tls)
{
    struct client *c = mem_alloc(sizeof *c);
    c->next = w.clients;
    w.clients = c;
    c->peer =
        peer_dial(&w.loop, "127.0.0.1", agents_port(w.agents), tls, "urn:fettle:controller:", &calls, c);
    tls_context_destroy(tls);
    run_until(c->open || c->closed);
    assert_true(c->open);
    return c;
}

struct client *client_new(const char *node)
{
    CLEANUP_FREE char *pem = node ? world_certificate(node) : NULL;
    return client_with(world_tls(pem));
}

void client_send(struct client *c, enum frame_type type, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *body = NULL;
    int len = vasprintf(&body, fmt, ap);
    va_end(ap);
    assert_true(len >= 0);
    if (c->peer)
        peer_send(c->peer, type, 0, body, (size_t)len);
    free(body);
}

static bool is_answered(const struct client *c)
{
    return c->closed || c->count[FRAME_WELCOME] || c->count[FRAME_REDIRECT] || c->count[FRAME_REFUSE];
}

struct client *client_hello(const char *node, const char *instance)
{
    struct client *c = client_new(node);
    client_send(c, FRAME_HELLO,
                "{\"protocol\":1,\"name\":\"%s\",\"version\":\"1\",\"boot\":\"" BOOT
                "\",\"instance\":\"%s\",\"inventory\":\"\"}",
                node, instance);
    run_until(is_answered(c));
    return c;
}

void client_heartbeat(struct client *c, const char *instance, unsigned seq)
{
    client_send(c, FRAME_HEARTBEAT,
                "{\"boot\":\"" BOOT "\",\"instance\":\"%s\",\"seq\":%u,\"work\":[],\"uptime_s\":9}", instance,
                seq);
}

void client_fingerprint(struct client *c, const char *fingerprint, const char *boot)
{
    client_send(c, FRAME_FINGERPRINT, "{\"fingerprint\":\"%s\",\"boot\":\"%s\"}", fingerprint, boot);
}

void client_components(struct client *c, const char *fingerprint)
{
    client_send(c, FRAME_COMPONENTS,
                "{\"fingerprint\":\"%s\",\"part\":0,\"parts\":2,\"components\":{\"os.id\":\"debian\"}}",
                fingerprint);
    client_send(
        c, FRAME_COMPONENTS,
        "{\"fingerprint\":\"%s\",\"part\":1,\"parts\":2,\"components\":{\"kernel.release\":\"6.1.0\"},"
        "\"absent\":[\"image.os\"]}",
        fingerprint);
}

struct client *collector_hello(const char *node, const char *instance, unsigned port, const char *nodes)
{
    struct client *c = client_new(node);
    client_send(c, FRAME_HELLO,
                "{\"name\":\"%s\",\"boot\":\"" BOOT
                "\",\"instance\":\"%s\",\"collector\":{\"port\":%u,\"epoch\":3,\"nodes\":\"%s\"}}",
                node, instance, port, nodes);
    run_until(is_answered(c));
    return c;
}

void client_cut(struct client *c)
{
    if (c->peer)
        stream_abort(peer_stream(c->peer), NULL);
    run_until(c->closed);
}

/* --- what is seen ---------------------------------------------------------------------------- */

struct member *node(const char *name)
{
    return cluster_find(w.cluster, name);
}

const struct observed *seen(const char *name)
{
    return watch_observed(w.watch, node(name));
}

struct standing standing_of(const char *name)
{
    struct standing s = {0};
    watch_standing(w.watch, mono_now(), node(name), &s, NULL);
    return s;
}

const char *fingerprint_of(const char *name)
{
    static char hex[FINGERPRINT_HEX + 1];
    struct standing s = standing_of(name);
    return s.listing ? fingerprint_format(&s.listing->id, hex) : "";
}

bool components_known(const char *name)
{
    struct standing s = standing_of(name);
    return s.listing && s.listing->known;
}

const char *text_in(const struct client *c, enum frame_type type, const char *key)
{
    const char *s = "(none)";
    json_take_string(c->last[type], key, &s, NULL);
    return s;
}

/* An inventory without a base is answered with WANT, after everything before it. */
void settle(struct client *c)
{
    unsigned before = c->count[FRAME_WANT];
    client_send(c, FRAME_INVENTORY, "{\"hash\":\"1\",\"set\":{}}");
    run_until(c->closed || c->count[FRAME_WANT] > before);
}
