/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The election (election.h) on the loop. Each third of the lease one transaction is sent: a leader renews its
 * key, everybody tells of itself, and reads the leader key, the head, and what the others tell. Answers come
 * when they come, each with the moment at which its question was sent. A member of etcd that has not answered
 * by the next turn is passed over, and its answer still counts: a slow etcd costs nobody the leadership as
 * long as answers are younger than the lease.
 */
#include "store/etcd/lease.h"

#include "base/digest.h"
#include "base/loop.h"
#include "store/etcd/clocks.h"
#include "store/etcd/election.h"
#include "store/etcd/endpoints.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { MEMBERS_MAX = 64, ASKED_MAX = 8 };

/* What a question does before it reads. */
enum act {
    ACT_READ,
    ACT_CREATE,
    ACT_RENEW,
    ACT_REMOVE,   /* another controller's key, whose time is over */
    ACT_GIVE_BACK /* our own */
};

/* What it reads then. */
enum { READS_LEADER, READS_HEAD, READS_CLUSTER, READS_MEMBERS };

struct asked {
    struct lease *lease;
    enum act act;
    uint64_t created; /* of the key that is renewed or given back */
    size_t writes[2]; /* how many operations come before what is read: refused, and carried out */
    bool resigns;     /* lease_resign waits for its answer */
    struct mono sent; /* mono_boot */
    struct wall sent_at;
    struct asked *prev, *next;
};

struct member {
    struct layout_told told;
    struct mono changed; /* when it was first read so; mono_boot */
    struct clocks clocks;
};

struct lease {
    uv_timer_t turn, end; /* the next question; the end of the lease */
    unsigned open;        /* timers that are not closed */
    struct fetch *fetch;
    struct endpoints ends;
    struct lease_events events;
    struct election election;
    struct layout_cluster cluster; /* id "": not read yet */
    struct layout_told told;       /* of ourselves */
    bool stands, leads;
    uint64_t led;             /* the key under which it leads */
    bool no_space;            /* etcd takes no puts */
    bool again;               /* ask once more as soon as the present question is answered */
    size_t tries;             /* members that were asked in vain, one after another */
    struct asked *asked;      /* questions without an answer */
    const struct asked *last; /* the newest question, while it has no answer */
    size_t n_asked;
    struct mono answered; /* when etcd answered last */
    uint64_t revision;    /* of etcd, in the newest answer, */
    struct mono came;     /* which came then */
    struct wall asked_at; /* when the question of that answer was sent, and how long it took */
    struct span took;
    uint64_t head;
    int failing;      /* the error that on_etcd was told; 0: none */
    bool told_leader; /* on_leader was called, with this instance, or "" */
    char leader[LAYOUT_MARK_BYTES];
    char forgets[ETCD_NAME_BYTES_MAX + 1]; /* the controller whose key goes next; "": none */
    lease_done_fn *resigned;
    void *resigned_arg;
    size_t n_members;
    struct member members[MEMBERS_MAX];
};

static void lease_ask(struct lease *l);

static void on_turn(uv_timer_t *t)
{
    LOOP_DOES("the lease");
    struct lease *l = t->data;
    if (l->last) /* the member that was asked last has not answered */
        endpoints_next(&l->ends);
    l->tries = 0;
    l->no_space = false;
    if (l->n_asked < ASKED_MAX)
        lease_ask(l);
}

/* The next question in so many milliseconds, and the following ones each third of the lease. */
static void turn_in(struct lease *l, uint64_t ms)
{
    uint64_t period = (uint64_t)span_to_ms(l->election.lease) / 3;
    uv_timer_start(&l->turn, on_turn, ms, period);
}

static void turn_soon(struct lease *l)
{
    if (l->last)
        l->again = true;
    else
        turn_in(l, 0);
}

/* --- what the owner is told ----------------------------------------------------------------------- */

bool lease_holds(const struct lease *l)
{
    return l->leads && election_holds(&l->election, mono_boot());
}

static void lead_lose(struct lease *l, const char *why)
{
    struct err e = {0};
    if (!l->leads)
        return;
    l->leads = false;
    uv_timer_stop(&l->end);
    err_set(&e, -EPERM, "%s", why);
    l->events.on_lost(l->events.arg, &e);
}

static void on_end(uv_timer_t *t)
{
    struct lease *l = t->data;
    if (lease_holds(l)) /* the two clocks differ */
        uv_timer_start(t, on_end, 1, 0);
    else
        lead_lose(l, "the lease could not be renewed in time");
}

static void lead_judge(struct lease *l)
{
    struct mono now = mono_boot();
    if (l->leads && l->election.created != l->led)
        lead_lose(l, l->election.seen.told.name[0] ? "another controller leads" : "the leader key is gone");
    if (!election_holds(&l->election, now) || !l->cluster.id[0] || (!l->stands && !l->leads))
        return;
    int64_t left_ms = mono_sub(l->election.until, now).ns / 1000000;
    uv_timer_start(&l->end, on_end, (uint64_t)left_ms + 1, 0);
    if (l->leads)
        return;
    l->leads = true;
    l->led = l->election.created;
    l->events.on_lead(l->events.arg, l->election.created + l->cluster.term_base);
}

static void leader_judge(struct lease *l)
{
    const struct layout_told *now = &l->election.seen.told;
    if (l->told_leader && strcmp(now->instance, l->leader) == 0)
        return;
    l->told_leader = true;
    memcpy(l->leader, now->instance, sizeof l->leader);
    const struct lease_leader leader = {now->name, now->address, now->at,
                                        strcmp(now->instance, l->told.instance) == 0};
    l->events.on_leader(l->events.arg, l->election.seen.created ? &leader : NULL);
}

static void etcd_judge(struct lease *l, const struct err *why)
{
    int code = why ? why->code : 0;
    if (l->failing == code)
        return;
    l->failing = code;
    l->events.on_etcd(l->events.arg, why);
}

static void lease_resigned(struct lease *l)
{
    lease_done_fn *done = l->resigned;
    l->resigned = NULL;
    done(l->resigned_arg);
}

/* --- answers --------------------------------------------------------------------------------------- */

static int cluster_read(struct lease *l, const struct wire_kv *kv, struct err *e)
{
    struct layout_cluster c;
    if (!kv)
        return err_set(e, -EILSEQ, "etcd has no state of Fettle");
    int r = layout_cluster_read(kv, &c, e);
    if (!r && l->cluster.id[0] && strcmp(c.id, l->cluster.id) != 0)
        r = err_set(e, -EILSEQ, "etcd has the state of cluster %s, and had that of %s", c.id, l->cluster.id);
    if (!r)
        l->cluster = c;
    return r;
}

static const struct member *member_find(const struct lease *l, const struct layout_told *told)
{
    for (size_t i = 0; i < l->n_members; i++)
        if (strcmp(l->members[i].told.name, told->name) == 0 &&
            strcmp(l->members[i].told.instance, told->instance) == 0)
            return &l->members[i];
    return NULL;
}

/* What is new since the last answer was written after the question of that answer was read; its own way to
 * etcd is taken to be no longer than ours. */
static void member_take(const struct lease *l, struct member *m, struct mono now)
{
    const struct member *was = member_find(l, &m->told);
    bool is_same = was && was->told.count == m->told.count;
    m->changed = is_same ? was->changed : now;
    m->clocks = was ? was->clocks : (struct clocks){0};
    if (was && !is_same)
        clocks_take(&m->clocks, m->told.at, (struct wall){l->asked_at.ns - l->took.ns}, wall_now());
}

static void members_read(struct lease *l, const struct wire_answer *a, const struct wire_found *found,
                         struct mono now)
{
    struct member *members = mem_alloc(sizeof l->members);
    size_t n = 0;
    for (size_t i = 0; i < found->n && n < MEMBERS_MAX; i++) {
        const struct wire_kv *kv = &a->kvs[found->first + i];
        const char *name = layout_after(kv->key, LAYOUT_MEMBER);
        struct member *m = &members[n];
        if (!name || layout_told_read(kv, &m->told, NULL) < 0 || strcmp(m->told.name, name) != 0)
            continue;
        member_take(l, m, now);
        n++;
    }
    memcpy(l->members, members, sizeof l->members);
    l->n_members = n;
    free(members);
}

static int answer_read(struct lease *l, const struct asked *q, const struct wire_answer *a, struct mono now,
                       struct err *e)
{
    size_t at = q->writes[a->succeeded];
    struct layout_head head = {.revision = l->head};
    int r = 0;
    if (wire_first(a, at + READS_HEAD))
        r = layout_head_read(wire_first(a, at + READS_HEAD), &head, e);
    if (r || a->revision < l->revision) /* a newer answer has overtaken it */
        return r;
    l->revision = a->revision;
    l->came = now;
    l->head = head.revision;
    election_read(&l->election, wire_first(a, at + READS_LEADER), now);
    members_read(l, a, &a->found[at + READS_MEMBERS], now);
    l->asked_at = q->sent_at;
    l->took = mono_sub(now, q->sent);
    return 0;
}

/* Before anything else of it counts. */
static int answer_check(struct lease *l, const struct asked *q, const struct wire_answer *a, struct err *e)
{
    size_t at = q->writes[a->succeeded];
    int r = endpoints_same(&l->ends, a->cluster, e);
    if (!r && a->n_found != at + READS_MEMBERS + 1)
        r = err_set(e, -EPROTO, "etcd's answer does not have what was asked for");
    if (!r && a->revision < l->revision && q->sent.ns > l->came.ns)
        r = err_set(e, -EILSEQ, "etcd has gone back in its history: it was restored from an older backup");
    return r ? r : cluster_read(l, wire_first(a, at + READS_CLUSTER), e);
}

static void answer_take(struct lease *l, const struct asked *q, const struct wire_answer *a)
{
    if (!a->succeeded)
        return;
    if (q->act == ACT_CREATE)
        election_won(&l->election, a->revision, q->sent);
    if (q->act == ACT_RENEW && q->created == l->election.created)
        election_won(&l->election, q->created, q->sent);
    if (q->act == ACT_GIVE_BACK && q->created == l->election.created)
        election_lost(&l->election);
}

static int answer_judge(struct lease *l, const struct asked *q, int status, const char *body, size_t len,
                        const struct err *why, struct err *e)
{
    CLEANUP_ANSWER struct wire_answer a = {0};
    bool definite;
    if (!status)
        return err_set(e, -EAGAIN, "%s: %s", l->ends.urls[l->ends.at], why->msg);
    if (status != 200)
        return wire_refusal(status, body, len, &definite, e);
    int r = wire_txn_read(body, len, &a, e);
    if (!r)
        r = answer_check(l, q, &a, e);
    if (!r)
        answer_take(l, q, &a);
    return r ? r : answer_read(l, q, &a, mono_boot(), e);
}

/* The next member is asked at once; when all were, the next turn begins anew. */
static void answer_failed(struct lease *l, const struct err *why)
{
    bool silent = mono_sub(mono_boot(), l->answered).ns > l->election.lease.ns;
    bool had_space = !l->no_space;
    l->no_space = why->code == -ENOSPC;
    if (l->no_space && had_space)
        l->again = true; /* reading goes on */
    else if (!l->no_space) {
        endpoints_next(&l->ends);
        l->again = l->again || ++l->tries < l->ends.n;
    }
    if (silent || why->code != -EAGAIN)
        etcd_judge(l, why);
}

/* There is no leader key, and it is ours to make. */
static bool election_is_open(const struct lease *l)
{
    return l->stands && l->election.was_read && !l->election.created && !l->election.seen.created;
}

/* The turn that takes another's key away does not wait for its third of the lease. */
static void turn_when_due(struct lease *l)
{
    const struct election *n = &l->election;
    if (!l->stands || l->leads || n->created || !n->seen.created)
        return;
    int64_t due_ms = span_to_ms(election_due(n, mono_boot()));
    if (due_ms >= 0 && (uint64_t)due_ms + 1 < uv_timer_get_due_in(&l->turn))
        turn_in(l, (uint64_t)due_ms + 1);
}

/* Beside the turns, so that the count of members that were asked in vain goes on. */
static void ask_again(struct lease *l)
{
    turn_in(l, (uint64_t)span_to_ms(l->election.lease) / 3);
    if (l->n_asked < ASKED_MAX)
        lease_ask(l);
}

static void on_answer(void *arg, int status, const char *body, size_t len, const struct err *why)
{
    LOOP_DOES("the lease");
    struct asked *q = arg;
    struct lease *l = q->lease;
    struct err e = {0};
    bool resigns = q->resigns;
    DL_DELETE(l->asked, q);
    l->n_asked--;
    l->last = l->last == q ? NULL : l->last;
    int r = answer_judge(l, q, status, body, len, why, &e);
    free(q);
    if (r == -EILSEQ) { /* this is not our state */
        election_lost(&l->election);
        lead_lose(l, e.msg);
    }
    if (r) {
        answer_failed(l, &e);
    } else {
        l->answered = mono_boot();
        l->tries = 0;
        if (!l->no_space)
            etcd_judge(l, NULL);
        leader_judge(l);
        l->again = l->again || election_is_open(l);
    }
    lead_judge(l);
    if (l->again && !l->last) {
        l->again = false;
        ask_again(l);
    } else if (resigns && l->resigned) { /* the first answer counts; others are on their way */
        lease_resigned(l);
    } else {
        turn_when_due(l);
    }
}

/* --- questions ------------------------------------------------------------------------------------- */

static enum act act_now(const struct lease *l)
{
    const struct election *n = &l->election;
    if (n->created && !l->stands && !l->leads)
        return ACT_GIVE_BACK;
    if (!l->stands && !l->leads)
        return ACT_READ;
    switch (election_next(n, mono_boot())) {
    case ELECTION_CREATE: return ACT_CREATE;
    case ELECTION_REMOVE: return ACT_REMOVE;
    case ELECTION_RENEW: return ACT_RENEW;
    case ELECTION_WAIT:
    default: return ACT_READ;
    }
}

static void act_write(struct lease *l, struct asked *q, const struct text *told, struct wire_txn *t)
{
    switch (q->act) {
    case ACT_CREATE:
        wire_compare_created(t, LAYOUT_LEADER, 0);
        wire_put(&t->success, LAYOUT_LEADER, told->s, told->len);
        break;
    case ACT_RENEW:
        q->created = l->election.created;
        wire_compare_created(t, LAYOUT_LEADER, q->created);
        wire_put(&t->success, LAYOUT_LEADER, told->s, told->len);
        break;
    case ACT_REMOVE:
        wire_compare_modified(t, LAYOUT_LEADER, l->election.seen.modified);
        wire_delete(&t->success, LAYOUT_LEADER, NULL);
        break;
    case ACT_GIVE_BACK:
        q->created = l->election.created;
        wire_compare_created(t, LAYOUT_LEADER, q->created);
        wire_delete(&t->success, LAYOUT_LEADER, NULL);
        break;
    case ACT_READ: q->writes[true] = 0; return;
    }
    q->writes[true] = 1;
}

static void reads_write(struct lease *l, const struct text *told, struct text *list, size_t *writes)
{
    CLEANUP_TEXT struct text key = {0}, gone = {0};
    text_printf(&key, LAYOUT_MEMBER "%s", l->told.name);
    if (l->forgets[0]) {
        text_printf(&gone, LAYOUT_MEMBER "%s", l->forgets);
        wire_delete(list, gone.s, NULL);
        ++*writes;
    }
    if (!l->no_space) {
        wire_put(list, key.s, told->s, told->len);
        ++*writes;
    }
    wire_get(list, LAYOUT_LEADER, NULL);
    wire_get(list, LAYOUT_HEAD, NULL);
    wire_get(list, LAYOUT_CLUSTER, NULL);
    wire_get(list, LAYOUT_MEMBER, LAYOUT_MEMBER_END);
}

static void lease_ask(struct lease *l)
{
    CLEANUP_TXN struct wire_txn t = {0};
    CLEANUP_TEXT struct text body = {0}, told = {0};
    CLEANUP_FREE char *url = endpoints_url(&l->ends, "/v3/kv/txn");
    struct asked *q = mem_alloc(sizeof *q);
    *q = (struct asked){.lease = l, .act = act_now(l), .resigns = l->resigned != NULL};
    l->last = q;
    l->told.count++;
    l->told.at = wall_now();
    layout_told_write(&l->told, &told);
    act_write(l, q, &told, &t);
    reads_write(l, &told, &t.success, &q->writes[true]);
    reads_write(l, &told, &t.failure, &q->writes[false]);
    l->forgets[0] = '\0';
    wire_txn_write(&t, &body);
    DL_APPEND(l->asked, q);
    l->n_asked++;
    q->sent = mono_boot(); /* before anything of it can be carried out */
    q->sent_at = wall_now();
    fetch_start(l->fetch, "POST", url, body.s, on_answer, q);
}

/* --- its life -------------------------------------------------------------------------------------- */

struct lease *lease_create(uv_loop_t *loop, const struct etcd_options *o, const struct lease_events *events)
{
    struct lease *l = mem_alloc(sizeof *l);
    int r = endpoints_init(&l->ends, o, NULL);
    assert(r == 0 && "the options were checked (etcd_check)");
    o = &l->ends.options;
    const struct fetch_options f = endpoints_fetch(&l->ends, (unsigned)span_to_ms(o->lease));
    l->events = *events;
    l->fetch = fetch_create(loop, &f);
    l->answered = mono_boot();
    digest_random_hex(l->told.instance, (LAYOUT_MARK_BYTES - 1) / 2);
    memcpy(l->told.name, o->name, strlen(o->name) + 1);
    memcpy(l->told.address, o->address, strlen(o->address) + 1);
    memcpy(l->told.agents, o->agents, strlen(o->agents) + 1);
    l->told.lease_ms = (uint64_t)span_to_ms(o->lease);
    election_init(&l->election, l->told.instance, o->lease);
    uv_timer_init(loop, &l->turn);
    uv_timer_init(loop, &l->end);
    l->turn.data = l->end.data = l;
    l->open = 2;
    turn_in(l, 0);
    return l;
}

static void on_timer_closed(uv_handle_t *h)
{
    struct lease *l = h->data;
    if (--l->open == 0)
        free(l);
}

void lease_destroy(struct lease *l)
{
    if (!l)
        return;
    struct asked *q, *tmp;
    fetch_destroy(l->fetch);
    DL_FOREACH_SAFE(l->asked, q, tmp)
    free(q);
    endpoints_fini(&l->ends);
    uv_close((uv_handle_t *)&l->turn, on_timer_closed);
    uv_close((uv_handle_t *)&l->end, on_timer_closed);
}

void lease_stand(struct lease *l, bool ready)
{
    if (ready && !l->stands)
        turn_soon(l);
    l->stands = ready;
}

void lease_resign(struct lease *l, lease_done_fn *done, void *arg)
{
    assert(!l->resigned && done && "it is given back once");
    l->resigned = done;
    l->resigned_arg = arg;
    l->stands = l->leads = false;
    uv_timer_stop(&l->end);
    turn_in(l, 0); /* beside questions that are not answered yet */
}

void lease_look(struct lease *l)
{
    turn_soon(l);
}

void lease_tell(struct lease *l, uint64_t revision)
{
    l->told.revision = revision;
}

void lease_tell_audit(struct lease *l, const char *head)
{
    assert(strlen(head) <= ETCD_AUDIT_BYTES_MAX);
    snprintf(l->told.audit, sizeof l->told.audit, "%s", head);
}

void lease_forget(struct lease *l, const char *name)
{
    assert(strcmp(name, l->told.name) != 0 && strlen(name) < sizeof l->forgets);
    if (l->leads)
        memcpy(l->forgets, name, strlen(name) + 1);
}

void lease_tell_level(struct lease *l, uint64_t level)
{
    l->told.level = level;
}

uint64_t lease_head(const struct lease *l)
{
    return l->head;
}

void lease_members(const struct lease *l, lease_member_fn *fn, void *arg)
{
    struct mono now = mono_boot();
    for (size_t i = 0; i < l->n_members; i++) {
        const struct member *m = &l->members[i];
        struct lease_member told = {.name = m->told.name,
                                    .address = m->told.address,
                                    .at = m->told.at,
                                    .age = mono_sub(now, m->changed),
                                    .revision = m->told.revision,
                                    .level = m->told.level,
                                    .agents = m->told.agents,
                                    .audit = m->told.audit};
        bool is_self = strcmp(m->told.instance, l->told.instance) == 0;
        told.has_clock = !is_self && clocks_ahead(&m->clocks, &told.ahead, &told.within);
        fn(arg, &told);
    }
}
