/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd/lab_test.h"

#include "store/etcd/client.h"
#include "store/fixture_test.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_PORT = 20000, LAST_PORT = 31999, STARTED_MS = 60000 };

/* Runs a line of the shell, and gives its exit status. */
static int run_line(const char *line)
{
    int status = 0;
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void lab_need(void)
{
    if (run_line("command -v etcd >/dev/null 2>&1 && command -v etcdctl >/dev/null 2>&1") == 0)
        return;
    fprintf(stderr, "needs etcd (Debian's etcd-server)\n");
    exit(77);
}

static bool port_is_free(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bool is = bind(fd, (struct sockaddr *)&at, sizeof at) == 0;
    close(fd);
    return is;
}

int lab_port(void)
{
    static int next;
    if (!next)
        next = FIRST_PORT + (int)(getpid() * 37 % (LAST_PORT - FIRST_PORT));
    do {
        next = next == LAST_PORT ? FIRST_PORT : next + 1;
    } while (!port_is_free(next));
    return next;
}

static void run_shell(const char *dir, const char *command)
{
    CLEANUP_TEXT struct text line = {0};
    text_printf(&line, "cd %s && { %s; } >>shell.log 2>&1", dir, command);
    int r = run_line(line.s);
    assert(r == 0);
}

/* An authority, a certificate for the members, one for controllers, and one of another authority. */
static void lab_certify(struct lab *l)
{
    static const char make[] = "ca() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
                               "-keyout $1.key -out $1.pem "
                               "-subj /CN=$1 -days 2; }; "
                               "leaf() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
                               "-keyout $2.key -out $2.csr -subj "
                               "/CN=$2; printf 'subjectAltName=IP:127.0.0.1\\n' >$2.ext; "
                               "openssl x509 -req -in $2.csr -CA $1.pem -CAkey $1.key -CAcreateserial -out "
                               "$2.pem -days 2 -extfile $2.ext; }; "
                               "ca ca; ca other; leaf ca member; leaf ca controller; leaf other stranger";
    run_shell(l->dir, make);
    l->ca = fixture_path(l->dir, "ca.pem");
    l->cert = fixture_path(l->dir, "controller.pem");
    l->key = fixture_path(l->dir, "controller.key");
    l->stranger_cert = fixture_path(l->dir, "stranger.pem");
    l->stranger_key = fixture_path(l->dir, "stranger.key");
}

static void add_url(const struct lab *l, struct text *out, int port)
{
    text_printf(out, "%s://127.0.0.1:%d", l->tls ? "https" : "http", port);
}

static void member_exec(const struct lab *l, size_t i)
{
    CLEANUP_TEXT struct text client = {0}, peer = {0}, all = {0}, data = {0}, ca = {0}, cert = {0}, key = {0};
    char name[8];
    snprintf(name, sizeof name, "m%zu", i);
    add_url(l, &client, l->members[i].client);
    text_printf(&peer, "http://127.0.0.1:%d", l->members[i].peer);
    for (size_t j = 0; j < l->n; j++)
        text_printf(&all, "%sm%zu=http://127.0.0.1:%d", j ? "," : "", j, l->members[j].peer);
    text_printf(&data, "%s/data/%s", l->dir, name);
    text_printf(&ca, "%s/ca.pem", l->dir);
    text_printf(&cert, "%s/member.pem", l->dir);
    text_printf(&key, "%s/member.key", l->dir);
    const char *argv[40] = {"etcd",   "--name",
                            name,     "--data-dir",
                            data.s,   "--listen-client-urls",
                            client.s, "--advertise-client-urls",
                            client.s, "--listen-peer-urls",
                            peer.s,   "--initial-advertise-peer-urls",
                            peer.s,   "--initial-cluster",
                            all.s,    "--heartbeat-interval",
                            "50",     "--election-timeout",
                            "500",    "--logger",
                            "zap"};
    size_t n = 21;
    if (l->quota) {
        argv[n++] = "--quota-backend-bytes";
        argv[n++] = l->quota;
    }
    const char *const secure[] = {"--trusted-ca-file", ca.s,  "--cert-file",       cert.s,
                                  "--key-file",        key.s, "--client-cert-auth"};
    if (l->tls)
        memcpy(argv + n, secure, sizeof secure);
    char **const args = (char **)(void *)argv;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp("etcd", args);
    _exit(127);
}

void lab_run(struct lab *l, size_t i)
{
    char log[16];
    assert(l->members[i].pid == 0);
    snprintf(log, sizeof log, "m%zu.log", i);
    CLEANUP_FREE char *path = fixture_path(l->dir, log);
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid == 0) {
        int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2(fd, 1);
        dup2(fd, 2);
        member_exec(l, i);
    }
    l->members[i].pid = pid;
}

void lab_signal(struct lab *l, size_t i, int signal)
{
    int r = kill(l->members[i].pid, signal);
    assert(r == 0);
}

void lab_kill(struct lab *l, size_t i)
{
    if (!l->members[i].pid)
        return;
    kill(l->members[i].pid, SIGKILL);
    waitpid(l->members[i].pid, NULL, 0);
    l->members[i].pid = 0;
}

char *lab_endpoints(const struct lab *l)
{
    struct text t = {0};
    for (size_t i = 0; i < l->n; i++) {
        text_add(&t, i ? "," : "");
        add_url(l, &t, l->members[i].client);
    }
    return text_take(&t);
}

struct etcd_options lab_options(const struct lab *l, const char *endpoints, const char *name)
{
    return (struct etcd_options){.endpoints = endpoints,
                                 .ca = l->ca,
                                 .cert = l->cert,
                                 .key = l->key,
                                 .name = name,
                                 .address = "127.0.0.1:7777",
                                 .lease = span_ms(LAB_LEASE_MS),
                                 .answered_ms = 20000};
}

void lab_ask(struct lab *l, const char *call, const char *body, struct text *out)
{
    CLEANUP_FREE char *endpoints = lab_endpoints(l);
    struct etcd_options o = lab_options(l, endpoints, "lab");
    struct client c;
    struct err e = {0};
    o.answered_ms = STARTED_MS;
    int r = client_init(&c, &o, &e);
    assert(r == 0);
    r = client_call(&c, call, body, out, &e);
    if (r)
        fprintf(stderr, "%s: %s\n", call, e.msg);
    assert(r == 0);
    client_fini(&c);
}

void lab_put(struct lab *l, const char *key, const char *value)
{
    CLEANUP_TXN struct wire_txn t = {0};
    CLEANUP_TEXT struct text body = {0}, out = {0}, end = {0};
    text_add(&end, key);
    end.s[end.len - 1]++;
    if (value)
        wire_put(&t.success, key, value, strlen(value));
    else
        wire_delete(&t.success, key, end.s);
    wire_txn_write(&t, &body);
    lab_ask(l, "/v3/kv/txn", body.s, &out);
}

void lab_wipe(struct lab *l)
{
    lab_put(l, "fettle/", NULL);
}

struct lab *lab_create(size_t n, bool tls, const char *quota)
{
    struct lab *l = mem_alloc(sizeof *l);
    *l = (struct lab){.dir = fixture_dir(), .n = n, .tls = tls, .quota = quota};
    if (tls)
        lab_certify(l);
    for (size_t i = 0; i < n; i++) {
        l->members[i].client = lab_port();
        l->members[i].peer = lab_port();
    }
    for (size_t i = 0; i < n; i++)
        lab_run(l, i);
    lab_wipe(l);
    return l;
}

static void lab_disarm(struct lab *l)
{
    CLEANUP_TEXT struct text line = {0};
    text_printf(&line, "ETCDCTL_API=3 etcdctl --endpoints 127.0.0.1:%d alarm disarm", l->members[0].client);
    run_shell(l->dir, line.s);
}

void lab_make_room(struct lab *lab)
{
    CLEANUP_TEXT struct text out = {0}, body = {0};
    lab_ask(lab, "/v3/kv/range", "{\"key\":\"YQ==\"}", &out);
    const char *revision = strstr(out.s, "\"revision\":\"") + 12;
    text_printf(&body, "{\"revision\":\"%.*s\",\"physical\":true}", (int)strspn(revision, "0123456789"),
                revision);
    lab_ask(lab, "/v3/kv/compaction", body.s, &out);
    lab_ask(lab, "/v3/maintenance/defragment", "{}", &out);
    lab_disarm(lab);
}

void lab_copy(struct lab *l, const char *from, const char *to)
{
    CLEANUP_TEXT struct text command = {0};
    for (size_t i = 0; i < l->n; i++)
        lab_kill(l, i);
    text_printf(&command, "rm -rf %s && cp -a %s %s", to, from, to);
    run_shell(l->dir, command.s);
    for (size_t i = 0; i < l->n; i++)
        lab_run(l, i);
}

void lab_destroy(struct lab *l)
{
    for (size_t i = 0; i < l->n; i++)
        lab_kill(l, i);
    fixture_remove(l->dir);
    free(l->ca);
    free(l->cert);
    free(l->key);
    free(l->stranger_cert);
    free(l->stranger_key);
    free(l);
}
