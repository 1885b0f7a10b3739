/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several controllers with one state in etcd. Each loads the state, follows what the leader commits, and
 * stands for the leadership while it is current. The leader does what a single controller does
 * (leadership.c). A controller that loses the leadership begins anew, as if it had just been started: it
 * keeps nothing that it believed.
 */
#include "controller/controller_inside.h"

#include "base/log.h"
#include "store/etcd/follow.h"
#include "store/etcd/health.h"
#include "store/etcd/lease.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEALTH_S = 10 }; /* between two questions about etcd's own health */

struct quorum {
    char *endpoints, *ca, *cert, *key, *name, *address, *seen;
    struct etcd_options options; /* made of the texts above */
    struct follow *follow;
    struct etcd_asking *asking;
    struct mono asked;
    json_t *health; /* etcd's, as the status has it; NULL: not known yet */
    bool is_leader; /* the leader that etcd named last is this process */
    char leader[ETCD_NAME_BYTES_MAX + 1], leader_address[ETCD_ADDRESS_BYTES_MAX + 1]; /* "": nobody leads */
    bool is_resigned;
    struct err silent;    /* why etcd does not answer; code 0: it answers */
    struct err behind;    /* why this controller is not current; code 0: it is */
    struct err untaken;   /* why the agreed configuration is not the one in force here; code 0: it is */
    struct mono tried;    /* to take it */
    struct err old;       /* why this version may not lead; code 0: it may */
    struct mono levelled; /* when the level of features was looked at last */
};

/* --- the state in etcd --------------------------------------------------------------------------- */

static char *text_or_null(const struct config *conf, enum setting s)
{
    return *conf->text[s] ? mem_dup(conf->text[s]) : NULL;
}

static void quorum_init(struct quorum *q, const struct config *conf, const char *machine,
                        const char *state_dir)
{
    struct text address = {0}, seen = {0};
    text_printf(&address, "%s:%u", machine, (unsigned)conf->number[SETTING_API_PORT]);
    text_printf(&seen, "%s/seen", state_dir);
    *q = (struct quorum){.endpoints = mem_dup(conf->text[SETTING_STORE] + strlen(STORE_SCHEME)),
                         .ca = text_or_null(conf, SETTING_STORE_CA),
                         .cert = text_or_null(conf, SETTING_STORE_CERTIFICATE),
                         .key = text_or_null(conf, SETTING_STORE_KEY),
                         .name = mem_dup(machine),
                         .address = text_take(&address),
                         .seen = text_take(&seen)};
    q->options = (struct etcd_options){.endpoints = q->endpoints,
                                       .ca = q->ca,
                                       .cert = q->cert,
                                       .key = q->key,
                                       .name = q->name,
                                       .address = q->address,
                                       .seen = q->seen};
    err_set(&q->behind, -EAGAIN, "etcd was not asked yet");
}

static void quorum_fini(struct quorum *q)
{
    char *const texts[] = {q->endpoints, q->ca, q->cert, q->key, q->name, q->address, q->seen};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    json_decref(q->health);
}

/* The controllers of a state sign with one key, which etcd does not have. */
static int find_authority(const struct controller *c, struct err *e)
{
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "%s/ca.key", c->state_dir);
    if (*cluster_authority(c->cluster) && access(key.s, F_OK) < 0)
        return err_set(e, -ENOENT,
                       "the state in etcd has an authority already, and %s is missing; copy ca.key and "
                       "ca.pem of another "
                       "controller into %s",
                       key.s, c->state_dir);
    return 0;
}

/* Without an agreed configuration the one of the files stays: the first leader agrees it. */
static int take_agreed(struct controller *c, struct err *e)
{
    struct config is;
    int rc = agreement_read(c, &is, e);
    if (rc == -ENOENT)
        return 0;
    if (rc < 0)
        return err_wrap(e, rc, "the agreed configuration");
    config_fini(&c->conf);
    c->conf = is;
    return 0;
}

int quorum_open(struct controller *c, uint64_t *revision, struct err *e)
{
    char host[256];
    if (mkdir(c->state_dir, 0700) < 0 && errno != EEXIST)
        return err_set(e, -errno, "cannot make %s: %s", c->state_dir, strerror(errno));
    c->quorum = mem_alloc(sizeof *c->quorum);
    quorum_init(c->quorum, &c->conf, controller_machine(c, host), c->state_dir);
    int rc = etcd_open(&c->quorum->options, &c->store, e);
    if (rc == 0)
        rc = leadership_load(c, revision, e);
    if (rc == 0)
        rc = find_authority(c, e);
    if (rc == 0)
        rc = take_agreed(c, e);
    return rc;
}

/* --- following -------------------------------------------------------------------------------- */

/* What this process believes may be wrong. */
static void begin_anew(struct controller *c)
{
    c->end = CONTROLLER_ANEW;
    uv_stop(c->loop);
}

static void on_change(void *arg, struct store_change *change)
{
    struct controller *c = arg;
    committer_follow(c->committer, change);
}

/* Who decides by another configuration than the agreed one, or does not know the agreed features, does not
 * lead. */
static void quorum_stand(struct controller *c)
{
    const struct quorum *q = c->quorum;
    const bool is_old = cluster_level_check(c->cluster, NULL) < 0;
    lease_stand(c->lease, !q->behind.code && !q->untaken.code && !is_old);
}

static void on_current(void *arg, const struct err *why)
{
    struct controller *c = arg;
    c->quorum->behind = why ? *why : (struct err){0};
    quorum_stand(c);
}

static void on_end(void *arg, const struct err *why)
{
    struct controller *c = arg;
    log_warn("the state is loaded anew: %s", why->msg);
    begin_anew(c);
}

static void on_leader_key(void *arg)
{
    struct controller *c = arg;
    lease_look(c->lease);
}

/* --- leading ---------------------------------------------------------------------------------- */

static void on_lead(void *arg, uint64_t term)
{
    struct controller *c = arg;
    follow_destroy(STEAL(c->quorum->follow)); /* the committer asks the store for the last commits itself */
    leadership_begin(c, term);
}

/* While etcd is silent, reads go on: as long as the leader that it last named is this controller, there is
 * nothing to begin anew with. */
static void on_lost(void *arg, const struct err *why)
{
    struct controller *c = arg;
    log_error("this controller does not lead any more: %s", why->msg);
    wiring_rest(c);
    committer_depose(c->committer);
    lease_stand(c->lease, false);
    c->deposed = true;
    if (!c->quorum->is_leader)
        begin_anew(c);
}

static void on_leader(void *arg, const struct lease_leader *leader)
{
    struct controller *c = arg;
    struct quorum *q = c->quorum;
    q->is_leader = leader && leader->is_self;
    snprintf(q->leader, sizeof q->leader, "%s", leader ? leader->name : "");
    snprintf(q->leader_address, sizeof q->leader_address, "%s", leader ? leader->address : "");
    if (!leader)
        log_info("no controller leads");
    else if (!leader->is_self)
        log_info("%s leads", leader->name);
    if (c->deposed)
        begin_anew(c);
}

static void on_etcd(void *arg, const struct err *why)
{
    struct controller *c = arg;
    struct quorum *q = c->quorum;
    q->silent = why ? *why : (struct err){0};
    if (why)
        log_warn("etcd: %s", why->msg);
    counterpart_answered(&c->counterparts, COUNTERPART_STORE, "", why);
    if (!why && c->deposed)
        begin_anew(c);
}

void quorum_follow(struct controller *c, uint64_t revision)
{
    struct quorum *q = c->quorum;
    const struct lease_events leads = {
        .arg = c, .on_lead = on_lead, .on_lost = on_lost, .on_leader = on_leader, .on_etcd = on_etcd};
    const struct follow_events follows = {.arg = c,
                                          .on_change = on_change,
                                          .on_current = on_current,
                                          .on_end = on_end,
                                          .on_leader = on_leader_key};
    c->lease = lease_create(c->loop, &q->options, &leads);
    lease_tell_level(c->lease, LEVEL_KNOWN);
    q->follow = follow_create(c->loop, &q->options, revision, &follows);
}

int quorum_leads(const struct controller *c, struct err *e)
{
    const struct quorum *q = c->quorum;
    if (c->leads && !c->deposed)
        return 0;
    if (q->silent.code)
        return err_set(e, -EAGAIN, "no change is possible while etcd does not answer: %s", q->silent.msg);
    if (!*q->leader)
        return err_set(e, -EREMOTE, "no controller leads at the moment; try again");
    if (q->is_leader)
        return err_set(e, -EREMOTE, "this controller is about to lead; try again");
    return err_set(e, -EREMOTE, "%s leads, and this controller follows; ask https://%s", q->leader,
                   q->leader_address);
}

/* --- time and the end --------------------------------------------------------------------------- */

static json_t *endpoint_status(const struct etcd_endpoint *at, const struct etcd_health *h)
{
    const char *leader = "";
    for (size_t i = 0; i < h->n_members; i++)
        if (h->members[i].id == at->leader)
            leader = h->members[i].name;
    if (!at->answers)
        return json_pack("{s:s,s:b,s:s}", "url", at->url, "answers", 0, "message", at->why.msg);
    return json_pack("{s:s,s:b,s:s,s:s,s:I,s:I}", "url", at->url, "answers", 1, "version", at->version,
                     "leader", leader, "bytes", (json_int_t)at->bytes, "bytes_used",
                     (json_int_t)at->bytes_used);
}

static void on_health(void *arg, const struct etcd_health *h)
{
    struct quorum *q = arg;
    q->asking = NULL;
    json_t *endpoints = json_array();
    for (size_t i = 0; i < h->n_endpoints; i++)
        json_array_append_new(endpoints, endpoint_status(&h->endpoints[i], h));
    json_decref(q->health);
    q->health = json_pack("{s:b,s:b,s:b,s:o}", "majority", h->has_majority, "no_space", h->no_space,
                          "corrupt", h->corrupt, "endpoints", endpoints);
}

/* At once, and where a file of this controller's is wrong again until it is mended. */
static void take_revised(struct controller *c, struct mono now)
{
    struct quorum *q = c->quorum;
    struct err why = {0};
    bool again = q->untaken.code && mono_sub(now, q->tried).ns >= span_s(HEALTH_S).ns;
    if (!c->revised && !again)
        return;
    c->revised = false;
    q->tried = now;
    int rc = reload_agreed(c, &why);
    if (rc < 0)
        log_warn("%s", why.msg);
    q->untaken = rc == -EINVAL ? why : (struct err){0};
    quorum_stand(c);
}

/* --- features ------------------------------------------------------------------------------------- */

enum { MEMBERS_MAX = 64 };
struct levels {
    struct level_told told[MEMBERS_MAX];
    size_t n;
};

static void add_level(void *arg, const struct lease_member *m)
{
    struct levels *l = arg;
    assert(l->n < MEMBERS_MAX);
    l->told[l->n++] = (struct level_told){m->level, m->age};
}

/* Whether nothing came of it shows at the next look. */
static void on_levelled(void *arg, const struct outcome *o)
{
    if (o->rc < 0)
        log_warn("the level of features: %s", o->why->msg);
}

static void agree_level(struct controller *c)
{
    const struct hostlist nobody = {0};
    struct levels l = {0};
    lease_members(c->lease, add_level, &l);
    const uint64_t level = level_common(l.told, l.n);
    const struct command cmd = {.kind = COMMAND_FEATURES,
                                .actor = "fettled",
                                .at = wall_now(),
                                .nodes = &nobody,
                                .features = {level}};
    if (level > cluster_level(c->cluster))
        committer_submit(c->committer, &cmd, on_levelled, c);
}

static void levels_turn(struct controller *c, struct mono now)
{
    struct quorum *q = c->quorum;
    const bool was_old = q->old.code;
    q->old = (struct err){0};
    cluster_level_check(c->cluster, &q->old);
    if (was_old != (q->old.code != 0))
        quorum_stand(c);
    if (!was_old && q->old.code)
        log_error("%s", q->old.msg);
    if (!c->leads || c->deposed || (q->levelled.ns && mono_sub(now, q->levelled).ns < span_s(HEALTH_S).ns))
        return;
    q->levelled = now;
    agree_level(c);
}

void quorum_turn(struct controller *c, struct mono now)
{
    struct quorum *q = c->quorum;
    if (!q)
        return;
    lease_tell(c->lease, committer_revision(c->committer));
    take_revised(c, now);
    levels_turn(c, now);
    if (q->asking || (q->asked.ns && mono_sub(now, q->asked).ns < span_s(HEALTH_S).ns))
        return;
    q->asked = now;
    q->asking = etcd_health_ask(c->loop, &q->options, on_health, q);
}

static void add_member(void *arg, const struct lease_member *m)
{
    json_t *list = arg;
    json_array_append_new(list, json_pack("{s:s,s:s,s:I,s:I,s:I}", "name", m->name, "address", m->address,
                                          "revision", (json_int_t)m->revision, "level",
                                          (json_int_t)(m->level ? m->level : LEVEL_FIRST), "age_ms",
                                          (json_int_t)(m->age.ns / 1000000)));
}

json_t *quorum_status(const struct controller *c)
{
    const struct quorum *q = c->quorum;
    json_t *members = json_array();
    struct span age = {0};
    bool is_current = c->leads ? !c->deposed : !q->behind.code;
    lease_members(c->lease, add_member, members);
    json_t *is = json_pack("{s:s,s:s,s:o,s:I,s:I,s:b,s:s}", "leader", q->leader, "address", q->leader_address,
                           "members", members, "level", (json_int_t)cluster_level(c->cluster), "head",
                           (json_int_t)lease_head(c->lease), "current", is_current, "message",
                           q->silent.code    ? q->silent.msg
                           : q->old.code     ? q->old.msg
                           : q->untaken.code ? q->untaken.msg
                           : is_current      ? ""
                                             : q->behind.msg);
    if (q->follow && follow_age(q->follow, mono_now(), &age))
        json_object_set_new(is, "age_ms", json_integer((json_int_t)(age.ns / 1000000)));
    if (q->health)
        json_object_set(is, "etcd", q->health);
    return is;
}

static void on_resigned(void *arg)
{
    struct quorum *q = arg;
    q->is_resigned = true;
}

/* The leadership is given back after the last commit. */
void quorum_resign(struct controller *c)
{
    struct quorum *q = c->quorum;
    if (!q)
        return;
    if (c->lease) {
        lease_resign(c->lease, on_resigned, q);
        while (!q->is_resigned)
            uv_run(c->loop, UV_RUN_ONCE);
    }
    follow_destroy(STEAL(q->follow));
    etcd_asking_destroy(STEAL(q->asking));
    lease_destroy(STEAL(c->lease));
}

void quorum_close(struct controller *c)
{
    if (!c->quorum)
        return;
    quorum_fini(c->quorum);
    free(STEAL(c->quorum));
}
