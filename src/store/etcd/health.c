/* SPDX-License-Identifier: Apache-2.0 */
#include "store/etcd/health.h"

#include "base/text.h"
#include "store/etcd/endpoints.h"
#include "store/etcd/wire.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Each endpoint is asked for its status; the questions to any of them go to all, and one answer is enough. */
enum asks { ASKS_STATUS, ASKS_MEMBERS, ASKS_ALARMS, ASKS_MAJORITY, ASKS };

static const struct {
    const char *call, *body;
} calls[] = {[ASKS_STATUS] = {"/v3/maintenance/status", "{}"},
             [ASKS_MEMBERS] = {"/v3/cluster/member/list", "{}"},
             [ASKS_ALARMS] = {"/v3/maintenance/alarm", "{\"action\":\"GET\"}"},
             [ASKS_MAJORITY] = {"/v3/kv/range", "{\"key\":\"ZmV0dGxlL2hlYWQ=\"}"}}; /* fettle/head */

struct question {
    struct etcd_asking *asking;
    size_t endpoint;
    enum asks what;
};

struct etcd_asking {
    struct fetch *fetch;
    struct endpoints ends;
    etcd_health_fn *fn;
    void *arg;
    size_t open; /* questions without an answer */
    struct question questions[ETCD_ENDPOINTS_MAX * ASKS];
    struct etcd_health h;
};

static int status_take(struct etcd_endpoint *p, const char *body, size_t len, struct err *e)
{
    struct wire_status s;
    int r = wire_status_read(body, len, &s, e);
    if (r)
        return r;
    p->answers = true;
    memcpy(p->version, s.version, sizeof p->version);
    p->member = s.member;
    p->leader = s.leader;
    p->bytes = s.bytes;
    p->bytes_used = s.bytes_used;
    return 0;
}

static void members_take(struct etcd_health *h, const char *body, size_t len)
{
    struct wire_member members[ETCD_ENDPOINTS_MAX];
    size_t n;
    if (wire_members_read(body, len, members, ETCD_ENDPOINTS_MAX, &n, NULL) < 0)
        return;
    h->n_members = n;
    for (size_t i = 0; i < n; i++) {
        h->members[i].id = members[i].id;
        memcpy(h->members[i].name, members[i].name, sizeof h->members[i].name);
    }
}

static void alarms_take(struct etcd_health *h, const char *body, size_t len)
{
    bool no_space, corrupt;
    if (wire_alarms_read(body, len, &no_space, &corrupt, NULL) < 0)
        return;
    h->no_space = h->no_space || no_space;
    h->corrupt = h->corrupt || corrupt;
}

static void answer_take(const struct question *q, const char *body, size_t len)
{
    struct etcd_health *h = &q->asking->h;
    struct etcd_endpoint *p = &h->endpoints[q->endpoint];
    switch (q->what) {
    case ASKS_STATUS: status_take(p, body, len, &p->why); break;
    case ASKS_MEMBERS: members_take(h, body, len); break;
    case ASKS_ALARMS: alarms_take(h, body, len); break;
    case ASKS_MAJORITY: h->has_majority = true; break;
    case ASKS: break;
    }
}

static void on_answer(void *arg, int status, const char *body, size_t len, const struct err *why)
{
    const struct question *q = arg;
    struct etcd_asking *a = q->asking;
    struct etcd_endpoint *p = &a->h.endpoints[q->endpoint];
    bool definite;
    if (status == 200)
        answer_take(q, body, len);
    else if (q->what == ASKS_STATUS && status)
        wire_refusal(status, body, len, &definite, &p->why);
    else if (q->what == ASKS_STATUS)
        err_set(&p->why, -EAGAIN, "%s: %s", p->url, why->msg);
    if (--a->open)
        return;
    a->fn(a->arg, &a->h);
    etcd_asking_destroy(a);
}

static void endpoint_ask(struct etcd_asking *a, size_t endpoint, enum asks what)
{
    struct question *q = &a->questions[a->open++];
    *q = (struct question){a, endpoint, what};
    a->ends.at = endpoint;
    CLEANUP_FREE char *url = endpoints_url(&a->ends, calls[what].call);
    fetch_start(a->fetch, "POST", url, calls[what].body, on_answer, q);
}

struct etcd_asking *etcd_health_ask(uv_loop_t *loop, const struct etcd_options *o, etcd_health_fn *fn,
                                    void *arg)
{
    struct etcd_asking *a = mem_alloc(sizeof *a);
    int r = endpoints_init(&a->ends, o, NULL);
    assert(r == 0 && "the options were checked (etcd_check)");
    const struct fetch_options f = endpoints_fetch(&a->ends, a->ends.options.answered_ms);
    a->fetch = fetch_create(loop, &f);
    a->fn = fn;
    a->arg = arg;
    a->h.n_endpoints = a->ends.n;
    for (size_t i = 0; i < a->ends.n; i++) {
        a->h.endpoints[i].url = a->ends.urls[i];
        for (int what = 0; what < ASKS; what++)
            endpoint_ask(a, i, (enum asks)what);
    }
    return a;
}

void etcd_asking_destroy(struct etcd_asking *a)
{
    if (!a)
        return;
    fetch_destroy(a->fetch);
    endpoints_fini(&a->ends);
    free(a);
}
