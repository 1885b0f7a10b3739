/* SPDX-License-Identifier: Apache-2.0 */
#include "test/swarm/swarm.h"

#include "base/digest.h"
#include "probe/probe.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "usage: swarm -c HOST:PORT -a DIRECTORY [-n NODES] [-k COLLECTORS] [-i INTERVAL] "
                            "[-w SPAN] [-f KINDS] [-l] [-s SCRIPT] [-S SCRIPT] [-t SPAN]\n"
                            "  -a  directory with ca.pem and ca.key     -n  host list of agents to play\n"
                            "  -k  host list of collectors to play      -w  all connect within this time\n"
                            "  -s  script, see script.c                 -t  end after this time\n"
                            "  -f  nodes say fingerprints, and are of so many kinds\n"
                            "  -S  script that begins at SIGUSR1\n"
                            "  -l  nodes say what the checks of their list come to\n";

uint64_t swarm_random(struct swarm *s)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return s->random;
}

void swarm_hex(uint64_t n, char out[static 17])
{
    snprintf(out, 17, "%016" PRIx64, n);
}

void swarm_boot_id(struct swarm *s, char out[static 37])
{
    uint64_t a = swarm_random(s), b = swarm_random(s);
    snprintf(out, 37, "%08x-%04x-%04x-%04x-%012" PRIx64, (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xffff),
             (unsigned)(a & 0xffff), (unsigned)(b >> 48), b & UINT64_C(0xffffffffffff));
}

struct tls_context *swarm_identity(struct swarm *s, const char *name)
{
    struct identity id = {.kind = IDENTITY_NODE};
    struct err e;
    snprintf(id.name, sizeof id.name, "%s", name);
    CLEANUP_FREE char *pem = NULL;
    struct tls_context *tls = NULL;
    if (authority_sign(s->authority, s->csr, &id, NULL, span_s(86400), &pem, &e) < 0 ||
        tls_client_context(pem, s->key, authority_pem(s->authority), &tls, &e) < 0) {
        fprintf(stderr, "swarm: %s\n", e.msg);
        exit(1);
    }
    return tls;
}

json_t *swarm_inventory(struct swarm *s, const char *name, const char *instance)
{
    json_t *set = json_copy(s->inventory);
    json_object_set_new(set, "Name", json_string(name));
    return json_pack("{s:s,s:s,s:b,s:o}", "instance", instance, "hash", s->inventory_hash, "full", 1, "set",
                     set);
}

void swarm_send(struct peer *p, enum frame_type type, json_t *body)
{
    CLEANUP_FREE char *text = json_write(body);
    json_decref(body);
    if (p)
        peer_send(p, type, 0, text, strlen(text));
}

static void on_end(uv_timer_t *t)
{
    uv_stop(t->loop);
}

static void on_signal(uv_signal_t *sig, int signum)
{
    uv_stop(sig->loop);
}

static void on_begin(uv_signal_t *sig, int signum)
{
    struct err e;
    if (script_start(sig->loop->data, sig->data, &e) < 0)
        fprintf(stderr, "swarm: %s\n", e.msg);
}

static void print_totals(const struct swarm *s)
{
    size_t welcome = 0;
    for (size_t i = 0; i < s->n_players; i++)
        welcome += s->players[i].welcome;
    const struct totals *t = &s->totals;
    printf("{\"welcome\":%zu,\"connects\":%" PRIu64 ",\"welcomes\":%" PRIu64 ",\"heartbeats\":%" PRIu64
           ",\"refusals\":%" PRIu64 ",\"redirects\":%" PRIu64 ",\"closes\":%" PRIu64 ",\"wants\":%" PRIu64
           ",\"batches\":%" PRIu64 ",\"shares\":%" PRIu64 ",\"fingerprints\":%" PRIu64 ",\"lists\":%" PRIu64
           ",\"checks\":%" PRIu64 ",\"ills\":%" PRIu64 ",\"operations\":%" PRIu64 "}\n",
           welcome, t->connects, t->welcomes, t->heartbeats, t->refusals, t->redirects, t->closes, t->wants,
           t->batches, t->shares, t->fingerprints, t->lists, t->checks, t->ills, t->operations);
}

static int split_address(struct swarm *s, const char *address, struct err *e)
{
    const char *colon = strrchr(address, ':');
    uint64_t port;
    if (!colon || (size_t)(colon - address) >= sizeof s->host)
        return err_set(e, -EINVAL, "\"%s\" is not HOST:PORT", address);
    memcpy(s->host, address, (size_t)(colon - address));
    if (text_parse_u64(colon + 1, 1, UINT16_MAX, &port, e) < 0)
        return -EINVAL;
    s->port = (uint16_t)port;
    return 0;
}

struct options {
    const char *controller, *authority, *nodes, *collectors, *script, *later;
    struct span within, end;
};

static int parse(int argc, char **argv, struct options *o, struct swarm *s, struct err *e)
{
    int rc = 0;
    uint64_t kinds;
    for (int opt; rc == 0 && (opt = getopt(argc, argv, "c:a:n:k:i:w:f:ls:S:t:")) != -1;) {
        switch (opt) {
        case 'c':
            rc = split_address(s, optarg, e);
            o->controller = optarg;
            break;
        case 'a': o->authority = optarg; break;
        case 'n': o->nodes = optarg; break;
        case 'k': o->collectors = optarg; break;
        case 'i': rc = span_parse(optarg, &s->interval, e); break;
        case 'w': rc = span_parse(optarg, &o->within, e); break;
        case 'f':
            rc = text_parse_u64(optarg, 1, 100000, &kinds, e);
            s->kinds = rc == 0 ? (unsigned)kinds : 0;
            break;
        case 'l': s->has_checks = true; break;
        case 's': o->script = optarg; break;
        case 'S': o->later = optarg; break;
        case 't': rc = span_parse(optarg, &o->end, e); break;
        default: return err_set(e, -EINVAL, "see the usage");
        }
    }
    if (rc == 0 && (!o->controller || !o->authority || (!o->nodes && !o->collectors)))
        rc = err_set(e, -EINVAL, "-c, -a and one of -n and -k are needed");
    return rc;
}

static int start(struct swarm *s, const struct options *o, struct err *e)
{
    struct hostlist nodes = {0}, keepers = {0};
    int rc = authority_open(o->authority, &s->authority, e);
    if (rc == 0)
        rc = tls_new_request(&s->key, &s->csr, e);
    if (rc == 0 && o->nodes)
        rc = hostlist_parse(o->nodes, &nodes, e);
    if (rc == 0 && o->collectors)
        rc = hostlist_parse(o->collectors, &keepers, e);
    if (rc == 0)
        rc = probe_inventory("", "/tmp", &s->inventory, e);
    if (rc < 0)
        return rc;
    probe_hash(s->inventory, s->inventory_hash);
    s->players = mem_alloc(nodes.n * sizeof *s->players);
    s->keepers = mem_alloc(keepers.n * sizeof *s->keepers);
    for (size_t i = 0; i < nodes.n; i++)
        player_start(s, &s->players[s->n_players++], nodes.names[i], o->within);
    for (size_t i = 0; i < keepers.n; i++)
        keeper_start(s, &s->keepers[s->n_keepers++], keepers.names[i], o->within);
    hostlist_fini(&nodes);
    hostlist_fini(&keepers);
    return o->script ? script_start(s, o->script, e) : 0;
}

int main(int argc, char **argv)
{
    struct swarm *s = mem_alloc(sizeof *s);
    struct options o = {0};
    struct err e = {0};
    digest_random(&s->random, sizeof s->random);
    s->random |= 1;
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&s->loop);
    int rc = parse(argc, argv, &o, s, &e);
    if (rc == 0)
        rc = start(s, &o, &e);
    if (rc < 0) {
        fprintf(stderr, "swarm: %s\n%s", e.msg, usage);
        return 2;
    }
    uv_signal_t terminate;
    uv_signal_init(&s->loop, &terminate);
    uv_signal_start(&terminate, on_signal, SIGTERM);
    uv_signal_t begin = {.data = (void *)(uintptr_t)o.later};
    s->loop.data = s;
    uv_signal_init(&s->loop, &begin);
    if (o.later)
        uv_signal_start(&begin, on_begin, SIGUSR1);
    uv_timer_t end;
    uv_timer_init(&s->loop, &end);
    if (o.end.ns)
        uv_timer_start(&end, on_end, (uint64_t)span_to_ms(o.end), 0);
    uv_run(&s->loop, UV_RUN_DEFAULT);
    print_totals(s);
    fflush(stdout);
    _exit(0); /* ten thousand connections are closed by the exit */
}
