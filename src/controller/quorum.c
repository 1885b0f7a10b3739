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

enum {
    HEALTH_S = 10, /* between two questions about etcd's own health */
    AUDIT_S = 10   /* between two attempts to open the audit log */
};

struct quorum {
    char *endpoints, *ca, *cert, *key, *name, *address, *agents, *seen;
    struct etcd_options options; /* made of the texts above */
    struct follow *follow;
    struct etcd_asking *asking;
    struct mono asked;
    json_t *health; /* etcd's, as the status has it; NULL: not known yet */
    bool is_leader; /* the leader that etcd named last is this process */
    char leader[ETCD_NAME_BYTES_MAX + 1], leader_address[ETCD_ADDRESS_BYTES_MAX + 1]; /* "": nobody leads */
    bool is_resigned;
    struct mono audit_tried;
    struct err audit_why; /* why the audit log could not be opened; code 0: it was not tried yet */
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

/* Where others reach what listens on `on`: there, or at the name of this machine when that is all addresses.
 */
static void add_address(const char *on, unsigned port, const char *machine, struct text *t)
{
    bool is_all = strcmp(on, "0.0.0.0") == 0 || strcmp(on, "::") == 0;
    const char *host = is_all ? machine : on;
    text_printf(t, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, port);
}

/* "" when the system chooses the port, which is another one at each start. */
static void add_agents_address(const struct config *conf, const char *machine, struct text *t)
{
    unsigned port = (unsigned)conf->number[SETTING_MACH_STATUS_PORT];
    text_add(t, "");
    if (port)
        add_address(conf->text[SETTING_MACH_STATUS_ADDRESS], port, machine, t);
}

static void quorum_init(struct quorum *q, const struct config *conf, const char *machine,
                        const char *state_dir)
{
    struct text address = {0}, agents = {0}, seen = {0};
    add_agents_address(conf, machine, &agents);
    add_address(conf->text[SETTING_API_ADDRESS], (unsigned)conf->number[SETTING_API_PORT], machine, &address);
    text_printf(&seen, "%s/seen", state_dir);
    *q = (struct quorum){.endpoints = mem_dup(conf->text[SETTING_STORE] + strlen(STORE_SCHEME)),
                         .ca = text_or_null(conf, SETTING_STORE_CA),
                         .cert = text_or_null(conf, SETTING_STORE_CERTIFICATE),
                         .key = text_or_null(conf, SETTING_STORE_KEY),
                         .name = mem_dup(machine),
                         .address = text_take(&address),
                         .agents = text_take(&agents),
                         .seen = text_take(&seen)};
    q->options = (struct etcd_options){.endpoints = q->endpoints,
                                       .ca = q->ca,
                                       .cert = q->cert,
                                       .key = q->key,
                                       .name = q->name,
                                       .address = q->address,
                                       .agents = q->agents,
                                       .seen = q->seen};
    err_set(&q->behind, -EAGAIN, "etcd was not asked yet");
}

static void quorum_fini(struct quorum *q)
{
    char *const texts[] = {q->endpoints, q->ca, q->cert, q->key, q->name, q->address, q->agents, q->seen};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    json_decref(q->health);
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
        rc = admission_open(c, e);
    if (rc == 0)
        rc = take_agreed(c, e);
    return rc;
}

void quorum_mirror(struct controller *c)
{
    CLEANUP_TEXT struct text dir = {0};
    text_printf(&dir, "%s/mirror", c->state_dir);
    committer_mirror(c->committer, mirror_create(dir.s, etcd_cluster(c->store)));
    committer_audited(c->committer, 1); /* nothing leaves before the audit log has it */
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
    if (c->observer)
        observer_leader(c->observer, q->is_leader ? "" : q->leader_address);
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

/* --- the audit log: each controller has it, and all have the same leaves ---------------------------- */

static void hear_member(void *arg, const struct lease_member *m)
{
    struct controller *c = arg;
    if (strcmp(m->name, c->quorum->name) != 0)
        auditor_hear(c->auditor, m->name, m->audit);
}

/* Once there is a journal to read, a name, and what the others told last: a log that differs is not signed.
 */
static void audit_open(struct controller *c, struct mono now)
{
    struct quorum *q = c->quorum;
    struct committer_mirrored mirrored = {.complete = false};
    committer_mirrored(c->committer, &mirrored);
    if (!mirrored.complete || !*cluster_origin(c->cluster) || !lease_head(c->lease) ||
        (q->audit_tried.ns && mono_sub(now, q->audit_tried).ns < span_s(AUDIT_S).ns))
        return;
    q->audit_tried = now;
    if (leadership_tree(c, &q->audit_why) == 0)
        wiring_audit(c);
    else
        counterpart_failed(&c->counterparts, COUNTERPART_AUDIT, "", &q->audit_why);
}

static void audit_turn(struct controller *c, struct mono now)
{
    char head[AUDITOR_TOLD_BYTES];
    if (!c->auditor)
        audit_open(c, now);
    if (!c->auditor)
        return;
    lease_tell_audit(c->lease, auditor_tell(c->auditor, head));
    lease_members(c->lease, hear_member, c);
}

void quorum_audit_why(const struct controller *c, struct err *why)
{
    *why = c->quorum->audit_why;
    if (!why->code)
        err_set(why, -EAGAIN, "the audit log waits for this controller's copy of the journal; ask again");
}

/* One that was removed begins anew as one that was not admitted, and so waits. Of two that began a state at
 * the same moment, each with an authority of its own, only one named it. */
static void judge_membership(struct controller *c)
{
    struct err why;
    if (c->end != CONTROLLER_STOPPED)
        return;
    if (admission_is_over(c, &why)) {
        log_error("%s", why.msg);
        begin_anew(c);
    } else if (leadership_check_authority(c, &why) < 0) {
        log_error("%s", why.msg);
        c->end = CONTROLLER_ENDED;
        uv_stop(c->loop);
    }
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
    audit_turn(c, now);
    take_revised(c, now);
    levels_turn(c, now);
    judge_membership(c);
    members_turn(c);
    if (q->asking || (q->asked.ns && mono_sub(now, q->asked).ns < span_s(HEALTH_S).ns))
        return;
    q->asked = now;
    q->asking = etcd_health_ask(c->loop, &q->options, on_health, q);
}

const char *quorum_leader(const struct controller *c)
{
    return c->quorum ? c->quorum->leader : "";
}

static json_t *observed_status(const struct controller *c)
{
    struct span age = {-1};
    struct err why = {0};
    const int rc = wiring_observed(c, &age, &why);
    json_t *is =
        json_pack("{s:b,s:b,s:s,s:I}", "own", rc == SHELL_OBSERVES, "current", rc >= 0, "message",
                  rc < 0 ? why.msg : "", "readers", (json_int_t)(c->teller ? teller_readers(c->teller) : 0));
    if (rc != SHELL_OBSERVES && age.ns >= 0)
        json_object_set_new(is, "age_ms", json_integer((json_int_t)span_to_ms(age)));
    return is;
}

json_t *quorum_status(const struct controller *c)
{
    const struct quorum *q = c->quorum;
    json_t *members = members_list(c, q->leader);
    struct span age = {0};
    bool is_current = c->leads ? !c->deposed : !q->behind.code;
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
    json_object_set_new(is, "observed", observed_status(c));
    if (q->health)
        json_object_set(is, "etcd", q->health);
    return is;
}

static void on_resigned(void *arg)
{
    struct quorum *q = arg;
    q->is_resigned = true;
}

/* What others commit from now on is not taken over: the committer is about to close. */
void quorum_stop(struct controller *c)
{
    if (!c->quorum)
        return;
    follow_destroy(STEAL(c->quorum->follow));
    if (c->lease)
        lease_stand(c->lease, false);
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
