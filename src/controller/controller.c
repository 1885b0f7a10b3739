/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/controller.h"

#include "api/api.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/notify.h"
#include "controller/account.h"
#include "controller/commit/committer.h"
#include "controller/commit/proposals.h"
#include "controller/commit/search.h"
#include "controller/config/config.h"
#include "controller/contacts.h"
#include "controller/guard.h"
#include "controller/outbox/broker.h"
#include "controller/outbox/counterpart.h"
#include "controller/outbox/outbox.h"
#include "controller/outbox/trials.h"
#include "controller/sessions/agents.h"
#include "controller/sessions/certificates.h"
#include "driver/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* At the local socket, and at the HTTPS port. */
static const struct slots_limits api_door = {.all = 1024, .each = 128, .reserve = 64};

struct controller {
    uv_loop_t *loop;
    struct config conf; /* its roster is with the cluster */
    struct store *store;
    struct cluster *cluster;
    struct watch *watch;
    struct events *events;
    struct committer *committer;
    struct searches *searches;
    struct proposals *proposals;
    struct outbox *outbox;
    struct trials *trials;
    struct broker *broker;
    struct contacts *contacts;
    struct authority *authority;
    struct tls_context *agents_tls, *api_tls;
    struct signer *signer;
    struct agents *agents;
    struct http_server *http;
    struct api *api;
    uv_timer_t tick;
    uv_idle_t sweep; /* active while the watch has more to do than fits in a turn */
    bool ticking, deposed;
    uint64_t term, instance;
    char *state_dir;
    char owner[13]; /* which Fettle this is, in other systems: the head of the authority's fingerprint */
    struct mono began, last_tick, last_watchdog;
    struct span watchdog; /* 0: nobody waits for it */
    struct counterparts counterparts;
    struct account account;
};

static const char *machine_name(const struct controller *c, char buf[static 256])
{
    if (*c->conf.text[SETTING_CONTROL_MACHINE])
        return c->conf.text[SETTING_CONTROL_MACHINE];
    if (gethostname(buf, 255) != 0)
        memcpy(buf, "localhost", sizeof "localhost");
    buf[255] = '\0';
    return buf;
}

/* --- what the watch proposes and notices ----------------------------------------------------- */

static bool controller_propose(void *arg, const struct command *cmd)
{
    struct controller *c = arg;
    return proposals_submit(c->proposals, cmd);
}

static void controller_notice(void *arg, const char *what, const char *nodes, const char *text)
{
    struct controller *c = arg;
    log_info("%s%s%s: %s", what, *nodes ? " " : "", nodes, text);
    const struct event e = {.at = wall_now(), .what = what, .actor = "fettled", .nodes = nodes, .text = text};
    events_add(c->events, &e);
}

static void on_alarm(void *arg, const struct alarm *a, const char *over)
{
    struct controller *c = arg;
    CLEANUP_TEXT struct text what = {0};
    text_printf(&what, "alarm.%s", over ? "over" : alarm_name(a->kind));
    log_warn("%s%s%s: %s", what.s, *a->nodes ? " " : "", a->nodes, over ? over : a->text);
    const struct event e = {.at = wall_now(),
                            .what = what.s,
                            .actor = "fettled",
                            .nodes = a->nodes,
                            .text = over ? over : a->text,
                            .alarm = alarm_name(a->kind),
                            .subject = a->subject};
    events_add(c->events, &e);
}

static bool send_frame(void *arg, struct member *m, enum frame_type type, json_t *body)
{
    const struct controller *c = arg;
    if (c->agents)
        return agents_send(c->agents, m, type, body);
    json_decref(body);
    return false;
}

static void on_done(void *arg, struct member *m, const json_t *body)
{
    const struct controller *c = arg;
    actors_take(outbox_actors(c->outbox), m, body);
}

/* --- what the committer tells ---------------------------------------------------------------- */

static void on_entry(void *arg, const struct store_entry *entry, const struct hostlist *changed,
                     uint64_t revision)
{
    struct controller *c = arg;
    counterpart_succeeded(&c->counterparts, COUNTERPART_STORE);
    log_info("%s%s%s by %s: %s", entry->what, *entry->nodes ? " " : "", entry->nodes, entry->actor,
             entry->text);
    const struct event e = {.at = entry->at,
                            .what = entry->what,
                            .actor = entry->actor,
                            .nodes = entry->nodes,
                            .text = entry->text,
                            .revision = revision};
    events_add(c->events, &e);
    if (strcmp(entry->what, command_name(COMMAND_SILENT)) == 0)
        contacts_soon(c->contacts, mono_now());
    broker_entry(c->broker, entry, revision, changed);
}

static void on_changed(void *arg, const struct hostlist *some)
{
    struct controller *c = arg;
    watch_changed(c->watch, some);
    outbox_changed(c->outbox, some);
}

static void on_store(void *arg, const struct err *why)
{
    struct controller *c = arg;
    counterpart_answered(&c->counterparts, COUNTERPART_STORE, "", why);
}

static void on_journal(void *arg, const struct err *why)
{
    struct controller *c = arg;
    counterpart_answered(&c->counterparts, COUNTERPART_JOURNAL, "", why);
}

static void on_deposed(void *arg, const struct err *why)
{
    struct controller *c = arg;
    log_error("this controller does not lead any more: %s", why->msg);
    c->deposed = true;
    uv_stop(c->loop);
}

/* --- the shell of the interface -------------------------------------------------------------- */

static void shell_submit(void *arg, const struct command *cmd, outcome_fn *fn, void *fn_arg)
{
    struct controller *c = arg;
    committer_submit(c->committer, cmd, fn, fn_arg);
}

/* The path of the directory is put into `path`. */
static struct store_keep journal_keep(const struct controller *c, struct text *path)
{
    const char *given = c->conf.text[SETTING_JOURNAL_EXPORT];
    text_printf(path, "%s%s", *given ? given : c->state_dir, *given ? "" : "/journal-export");
    return (struct store_keep){.age = {(int64_t)c->conf.number[SETTING_JOURNAL_KEEP]},
                               .bytes = c->conf.number[SETTING_JOURNAL_SIZE] << 20,
                               .directory = path->s};
}

static struct api_policy api_policy_of(const struct config *conf)
{
    static const enum api_readers readers[] = {[READERS_NOBODY] = API_READERS_NOBODY,
                                               [READERS_CERTIFICATE] = API_READERS_CERTIFICATE,
                                               [READERS_ANYONE] = API_READERS_ANYONE};
    const struct health_policy *health = &conf->watch.health;
    return (struct api_policy){.readers = readers[conf->number[SETTING_API_READERS]],
                               .privileged_port = conf->number[SETTING_API_PRIVILEGED_PORT],
                               .drain_deadline = health->drain_deadline,
                               .provision_deadline = health->provision_deadline,
                               .checks = conf->checks,
                               .remedies = conf->remedies,
                               .meanings = conf->meanings};
}

static void take_policies(struct controller *c)
{
    CLEANUP_TEXT struct text export = {0};
    const struct store_keep keep = journal_keep(c, &export);
    committer_keep(c->committer, &keep);
    const struct api_policy api = api_policy_of(&c->conf);
    log_set_flags(c->conf.debug_flags);
    watch_set_policy(c->watch, &c->conf.watch);
    api_set_policy(c->api, &api);
    agents_configure(c->agents, &c->conf);
    outbox_configure(c->outbox, &c->conf);
    broker_configure(c->broker, &c->conf);
}

/* To the log, and to whoever asked, if anybody did. */
static void warn_of(const struct config *conf, struct text *asked)
{
    for (const char *line = conf->warnings.s; line && *line; line += strcspn(line, "\n") + 1) {
        int len = (int)strcspn(line, "\n");
        log_warn("%.*s", len, line);
        if (asked)
            text_printf(asked, "warning: %.*s\n", len, line);
    }
}

/* Nodes that left the file, if nobody ever heard them and nothing is recorded of them. */
static void let_go(struct controller *c)
{
    for (uint32_t id = 0; id < cluster_count(c->cluster); id++) {
        struct member *m = cluster_by_id(c->cluster, id);
        if (watch_contact(c->watch, m).ns == 0 && !watch_observed(c->watch, m)->session)
            cluster_let_go(c->cluster, m);
    }
}

static int reload(void *arg, const char *actor, bool dry, struct text *changes, struct err *e)
{
    LOOP_DOES("reload");
    struct controller *c = arg;
    struct config fresh;
    int rc = config_read(c->conf.path, &fresh, e);
    if (rc == 0 && (rc = guard_config(&fresh, e)) < 0)
        config_fini(&fresh);
    if (rc < 0 && dry)
        return rc;
    if (rc < 0) {
        log_error("the configuration is not taken, the old one stays in force: %s", e ? e->msg : "");
        return rc;
    }
    text_clear(changes);
    config_compare(&c->conf, &fresh, changes);
    if (dry) {
        cluster_compare(c->cluster, &fresh.roster, changes);
        warn_of(&fresh, changes);
        config_fini(&fresh);
        return 0;
    }
    cluster_configure(c->cluster, &fresh.roster, changes);
    let_go(c);
    struct config before = c->conf; /* whose checks and remedies count until the policies are taken */
    c->conf = fresh;
    take_policies(c);
    config_fini(&before);
    struct text t = {0};
    text_printf(&t, "by %s; %s", actor, changes->len ? changes->s : "nothing changed");
    for (size_t i = 0; i < t.len; i++)
        if (t.s[i] == '\n')
            t.s[i] = i + 1 < t.len ? ';' : ' ';
    controller_notice(c, "config.reload", "", t.s);
    text_fini(&t);
    warn_of(&c->conf, changes);
    return 0;
}

static int64_t memory_kb(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

static json_t *counterparts_status(const struct controller *c)
{
    json_t *list = json_array();
    for (int i = 0; i < COUNTERPARTS; i++) {
        size_t waiting = i == COUNTERPART_STORE  ? committer_waiting(c->committer)
                         : i == COUNTERPART_MQTT ? broker_waiting(c->broker)
                                                 : outbox_waits_for(c->outbox, (enum counterpart)i);
        json_t *line = counterpart_status(&c->counterparts, (enum counterpart)i, waiting);
        if (line)
            json_array_append_new(list, line);
    }
    return list;
}

static json_t *warnings_status(const struct controller *c)
{
    json_t *list = json_array();
    for (const char *line = c->conf.warnings.s; line && *line; line += strcspn(line, "\n") + 1)
        json_array_append_new(list, json_stringn(line, strcspn(line, "\n")));
    return list;
}

static void shell_status(void *arg, json_t *status)
{
    static const char *const modes[] = {
        [HEALTH_OFF] = "off", [HEALTH_OBSERVE] = "observe", [HEALTH_ACT] = "act"};
    struct controller *c = arg;
    char host[256], digest[17];
    double ms_max;
    const struct err *store = &c->counterparts.list[COUNTERPART_STORE].why;
    uint64_t commits = committer_count(c->committer, &ms_max);
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)cluster_digest(c->cluster));
    json_t *more =
        json_pack("{s:s,s:s,s:s,s:s,s:I,s:I,s:s,s:I,s:I,s:o,s:{s:s,s:s,s:I,s:f},s:I,s:{s:i,s:i}}", "version",
                  FETTLE_VERSION, "controller", machine_name(c, host), "cluster",
                  c->conf.text[SETTING_CONTROL_MACHINE], "role", "leader", "term", (json_int_t)c->term,
                  "revision", (json_int_t)committer_revision(c->committer), "digest", digest, "uptime_s",
                  (json_int_t)(mono_sub(mono_now(), c->began).ns / 1000000000), "agents",
                  (json_int_t)agents_count(c->agents), "collectors", agents_collectors(c->agents), "store",
                  "state", store->code ? "failing" : "ok", "message", store->msg, "commits",
                  (json_int_t)commits, "commit_ms_max", ms_max, "memory_kb", (json_int_t)memory_kb(), "ports",
                  "agents", (int)agents_port(c->agents), "api", (int)http_server_port(c->http));
    json_object_set_new(more, "mode", json_string(modes[c->conf.number[SETTING_HEALTH]]));
    json_object_set_new(more, "turns", account_status());
    json_object_set_new(json_object_get(status, "conform"), "effects_waiting",
                        json_integer((json_int_t)outbox_waiting(c->outbox)));
    json_object_set_new(more, "counterparts", counterparts_status(c));
    json_object_set_new(more, "warnings", warnings_status(c));
    json_object_update(status, more);
    json_decref(more);
}

static int shell_recheck(void *arg, const struct hostlist *nodes, size_t *told, struct err *e)
{
    struct controller *c = arg;
    *told = agents_recheck(c->agents, nodes);
    return 0;
}

enum { CHECK_WITHIN_S = 25 }; /* below the 30 s for which the tool waits */

static int shell_check(void *arg, struct member *m, const struct shell_check *ask, shell_verdict_fn *fn,
                       void *fn_arg, struct err *e)
{
    struct controller *c = arg;
    const struct actors_ask as = {ask->check, span_s(CHECK_WITHIN_S), ask->nodes, ask->rank};
    return actors_check(outbox_actors(c->outbox), m, &as, fn, fn_arg, e);
}

static void shell_power(void *arg, const char *node, shell_answer_fn *fn, void *fn_arg)
{
    struct controller *c = arg;
    operate_status(outbox_operate(c->outbox), node, fn, fn_arg);
}

static int shell_may_power(void *arg, const struct member *m, const char *run, bool force, struct err *e)
{
    struct controller *c = arg;
    int rc = operate_can(outbox_operate(c->outbox), m->name, run, e);
    return rc < 0 ? rc : watch_may_power(c->watch, m, run, force, e);
}

static void shell_powered(void *arg, const char *node, const char *id, shell_answer_fn *fn, void *fn_arg)
{
    struct controller *c = arg;
    powers_wait(outbox_powers(c->outbox), node, id, fn, fn_arg);
}

static uint64_t shell_revision(void *arg)
{
    struct controller *c = arg;
    return committer_revision(c->committer);
}

static int shell_journal(void *arg, uint64_t after, size_t max, store_journal_fn *fn, void *fn_arg,
                         struct err *e)
{
    struct controller *c = arg;
    return committer_journal(c->committer, after, max, fn, fn_arg, e);
}

static void shell_journal_search(void *arg, const struct journal_ask *ask, journal_found_fn *fn, void *fn_arg)
{
    struct controller *c = arg;
    searches_begin(c->searches, ask, fn, fn_arg);
}

static uint64_t shell_journal_first(void *arg, const char **directory)
{
    struct controller *c = arg;
    return committer_journal_first(c->committer, directory);
}

static int shell_make_token(void *arg, char **token, char **hash, char **command, struct err *e)
{
    struct controller *c = arg;
    char host[256];
    join_make_token(c->agents, token, hash);
    struct text t = {0};
    text_printf(&t, "fettle-agent join %s %s:%u", *token, machine_name(c, host),
                (unsigned)agents_port(c->agents));
    *command = text_take(&t);
    return 0;
}

static int shell_sign_operator(void *arg, const char *name, enum role role, const char *request,
                               struct span valid, char **certificate, char **authority, char **terms,
                               struct err *e)
{
    struct controller *c = arg;
    struct identity id = {.kind = IDENTITY_OPERATOR, .role = role};
    if (strlen(name) >= sizeof id.name)
        return err_set(e, -EINVAL, "a name of more than %zu characters", sizeof id.name - 1);
    memcpy(id.name, name, strlen(name) + 1);
    int rc = authority_sign(c->authority, request, &id, NULL, valid, certificate, e);
    *terms = rc == 0 ? certificate_terms(*certificate, e) : NULL;
    if (!*terms)
        return rc < 0 ? rc : -EINVAL;
    *authority = mem_dup(authority_pem(c->authority));
    return 0;
}

static void shell_connected(void *arg, void (*fn)(void *arg, const struct identity *id), void *fn_arg)
{
    const struct controller *c = arg;
    agents_each_peer(c->agents, fn, fn_arg);
}

/* --- time ------------------------------------------------------------------------------------ */

static void note_lag(struct controller *c, struct mono now)
{
    double ms = (double)(mono_sub(now, c->last_tick).ns - span_ms(WATCH_TICK_MS).ns) / 1e6;
    if (ms > 1000)
        log_warn("the loop stood still for %.0f ms; nobody is judged for that time", ms);
    c->last_tick = now;
}

/* A turn's share of the sweep. It ends by the clock: no table of what nodes cost stays true. */
static void sweep(struct controller *c)
{
    enum { SWEEP_MS = 1, NODES_A_STEP = 100 };
    LOOP_DOES("sweep");
    struct mono until = loop_share(span_ms(SWEEP_MS));
    while (watch_step(c->watch, NODES_A_STEP))
        if (mono_now().ns >= until.ns)
            return;
    uv_idle_stop(&c->sweep);
}

static void on_sweep(uv_idle_t *idle)
{
    sweep(idle->data);
}

static void watch(struct controller *c, struct mono now)
{
    LOOP_DOES("watch");
    watch_tick(c->watch, now, wall_now());
    uv_idle_start(&c->sweep, on_sweep);
}

static void on_tick(uv_timer_t *t)
{
    LOOP_DOES("tick");
    struct controller *c = t->data;
    struct mono now = mono_now();
    note_lag(c, now);
    watch(c, now);
    events_turn(c->events);
    committer_turn(c->committer, now);
    outbox_turn(c->outbox, now);
    trials_turn(c->trials, now);
    contacts_turn(c->contacts, now);
    if (c->watchdog.ns && mono_sub(now, c->last_watchdog).ns >= c->watchdog.ns) {
        c->last_watchdog = now;
        notify_watchdog();
    }
}

/* --- opening --------------------------------------------------------------------------------- */

static int on_record(void *arg, const char *key, const char *value, struct err *e)
{
    return cluster_put(arg, key, value, e);
}

/* A state that is made anew gets a name, by which whoever remembers terms and ids tells it from another one.
 */
static int name_state(struct controller *c, uint64_t *revision, struct err *e)
{
    char id[2 * ORIGIN_BYTES + 1];
    CLEANUP_TEXT struct text key = {0}, value = {0}, said = {0};
    struct wall now = wall_now();
    if (*cluster_origin(c->cluster))
        return 0;
    digest_random_hex(id, ORIGIN_BYTES);
    text_printf(&key, "origin/%s", id);
    text_printf(&value, "{\"at\":\"%lld\"}", (long long)now.ns);
    text_printf(&said, "a new state: %s", id);
    const struct store_op op = {key.s, value.s};
    const struct store_entry entry = {
        .at = now, .actor = "fettled", .what = "state.made", .nodes = "", .text = said.s};
    const struct store_batch batch = {.n_ops = 1, .ops = &op, .n_entries = 1, .entries = &entry};
    int rc = store_commit(c->store, c->term, &batch, revision, e);
    return rc < 0 ? rc : cluster_put(c->cluster, op.key, op.value, e);
}

static int open_state(struct controller *c, const char *dir, uint64_t *revision, struct err *e)
{
    int rc = store_open_sqlite(dir, &c->store, e);
    if (rc == 0)
        rc = store_campaign(c->store, &c->term, e);
    if (rc == 0)
        rc = store_load(c->store, on_record, c->cluster, revision, e);
    if (rc == 0)
        rc = name_state(c, revision, e);
    if (rc == 0)
        rc = authority_open(dir, &c->authority, e);
    if (rc == 0)
        authority_number_above(c->authority, cluster_serial_max(c->cluster));
    if (rc == 0)
        snprintf(c->owner, sizeof c->owner, "%.12s", authority_fingerprint(c->authority));
    return rc;
}

/* Somebody's certificates may have ended: whoever is connected with one is not any more. */
static void on_certificate(void *arg, const struct holder *h)
{
    const struct controller *c = arg;
    const char *name;
    enum identity_kind kind = identity_of_subject(h->subject, &name);
    stream_recheck(c->loop, kind, name);
    if (c->agents)
        agents_certificate(c->agents, h);
}

/* The controller's own certificate is made anew at each start; its chain ends with the authority,
 * which is what a joining machine knows by its fingerprint. */
static int make_contexts(struct controller *c, uint64_t *revision, struct err *e)
{
    char host[256];
    CLEANUP_FREE char *key = NULL, *csr = NULL, *pem = NULL, *terms = NULL;
    struct identity id = {.kind = IDENTITY_CONTROLLER};
    snprintf(id.name, sizeof id.name, "%s", machine_name(c, host));
    int rc = tls_new_request(&key, &csr, e);
    if (rc == 0)
        rc = authority_sign(c->authority, csr, &id, id.name, span_s(INT64_C(10) * 365 * 86400), &pem, e);
    if (rc == 0 && !(terms = certificate_terms(pem, e)))
        rc = -EINVAL;
    if (rc == 0)
        rc = certificate_commit(c->store, c->term, c->cluster, terms, revision, e);
    if (rc < 0)
        return rc;
    struct text chain = {0};
    text_add(&chain, pem);
    text_add(&chain, authority_pem(c->authority));
    const char *ca = authority_pem(c->authority);
    rc = tls_server_context(chain.s, key, ca, TLS_PEER_OPTIONAL, &c->agents_tls, e);
    if (rc == 0)
        rc = tls_server_context(chain.s, key, ca, TLS_PEER_OPTIONAL, &c->api_tls, e);
    if (rc == 0)
        rc = signer_create(pem, key, &c->signer, e);
    if (rc == 0) {
        tls_context_judge(c->agents_tls, certificate_judge, c->cluster);
        tls_context_judge(c->api_tls, certificate_judge, c->cluster);
        cluster_on_certificate(c->cluster, on_certificate, c);
    }
    text_fini(&chain);
    return rc;
}

static int open_api(struct controller *c, struct err *e)
{
    const struct api_shell shell = {.arg = c,
                                    .is_service = program_exec() != NULL,
                                    .submit = shell_submit,
                                    .reload = reload,
                                    .status = shell_status,
                                    .revision = shell_revision,
                                    .journal = shell_journal,
                                    .journal_search = shell_journal_search,
                                    .journal_first = shell_journal_first,
                                    .recheck = shell_recheck,
                                    .check = shell_check,
                                    .power = shell_power,
                                    .may_power = shell_may_power,
                                    .powered = shell_powered,
                                    .make_token = shell_make_token,
                                    .connected = shell_connected,
                                    .sign_operator = shell_sign_operator};
    const struct api_policy policy = api_policy_of(&c->conf);
    c->api = api_create(c->cluster, c->watch, c->events, &policy, &shell);
    c->http = http_server_create(c->loop, &api_door, api_request, api_party, c->api);
    int rc = http_server_listen_local(c->http, c->conf.text[SETTING_API_SOCKET], e);
    if (rc < 0)
        return err_wrap(e, rc, "ApiSocket");
    rc = http_server_listen_tls(c->http, c->conf.text[SETTING_API_ADDRESS],
                                (uint16_t)c->conf.number[SETTING_API_PORT], c->api_tls, e);
    return rc < 0 ? err_wrap(e, rc, "ApiPort") : 0;
}

static void open_decisions(struct controller *c, uint64_t revision)
{
    const struct watch_sink sink = {
        .arg = c, .propose = controller_propose, .notice = controller_notice, .alarm = on_alarm};
    const struct committer_events events = {.arg = c,
                                            .on_entry = on_entry,
                                            .on_changed = on_changed,
                                            .on_store = on_store,
                                            .on_journal = on_journal,
                                            .on_deposed = on_deposed};
    cluster_configure(c->cluster, &c->conf.roster, NULL);
    c->watch = watch_create(c->cluster, &c->conf.watch, mono_now(), &sink);
    counterparts_init(&c->counterparts, c->watch);
    counterpart_configure(&c->counterparts, COUNTERPART_STORE, true);
    counterpart_configure(&c->counterparts, COUNTERPART_JOURNAL, true);
    counterpart_succeeded(&c->counterparts, COUNTERPART_STORE); /* the leadership is written in it */
    CLEANUP_TEXT struct text export = {0};
    const struct store_keep keep = journal_keep(c, &export);
    c->committer = committer_create(c->loop, c->cluster, c->store, c->term, revision, &keep, &events);
    c->searches = searches_create(c->loop, c->committer);
    c->proposals = proposals_create(c->committer);
    const struct outbox_setup setup = {.loop = c->loop,
                                       .cluster = c->cluster,
                                       .watch = c->watch,
                                       .committer = c->committer,
                                       .term = c->term,
                                       .instance = c->instance,
                                       .owner = c->owner,
                                       .counterparts = &c->counterparts,
                                       .arg = c,
                                       .notice = controller_notice,
                                       .send = send_frame};
    c->outbox = outbox_create(&setup, &c->conf);
    c->trials = trials_create(c->watch, outbox_actors(c->outbox));
    const struct broker_setup mqtt = {.loop = c->loop,
                                      .cluster = c->cluster,
                                      .watch = c->watch,
                                      .committer = c->committer,
                                      .counterparts = &c->counterparts};
    c->broker = broker_create(&mqtt, &c->conf);
}

static int open_agents(struct controller *c, struct err *e)
{
    const struct agents_setup setup = {.loop = c->loop,
                                       .cluster = c->cluster,
                                       .watch = c->watch,
                                       .committer = c->committer,
                                       .authority = c->authority,
                                       .signer = c->signer,
                                       .tls = c->agents_tls,
                                       .term = c->term,
                                       .instance = c->instance,
                                       .arg = c,
                                       .notice = controller_notice,
                                       .done = on_done};
    return agents_open(&setup, &c->conf, &c->agents, e);
}

static void start_ticking(struct controller *c)
{
    c->last_tick = mono_now();
    c->watchdog = notify_watchdog_interval();
    uv_timer_init(c->loop, &c->tick);
    uv_idle_init(c->loop, &c->sweep);
    c->tick.data = c->sweep.data = c;
    uv_timer_start(&c->tick, on_tick, WATCH_TICK_MS, WATCH_TICK_MS);
    account_start(&c->account, c->loop);
    c->ticking = true;
}

int controller_open(uv_loop_t *loop, const char *config_path, const char *state_dir, struct controller **out,
                    struct err *e)
{
    struct controller *c = mem_alloc(sizeof *c);
    c->loop = loop;
    c->began = mono_now();
    c->state_dir = mem_dup(state_dir);
    uint64_t revision = 0;
    digest_random(&c->instance, sizeof c->instance);
    c->cluster = cluster_create();
    c->events = events_create(c->instance);
    int rc = config_read(config_path, &c->conf, e);
    if (rc == 0) {
        log_set_flags(c->conf.debug_flags);
        log_debug(LOG_INIT, "%s is read: %zu nodes, %zu collectors", config_path, c->conf.roster.n,
                  c->conf.collectors.n);
        warn_of(&c->conf, NULL);
        rc = guard_config(&c->conf, e);
    }
    if (rc == 0)
        rc = guard_state(state_dir, e);
    if (rc == 0) {
        rc = open_state(c, state_dir, &revision, e);
    }
    if (rc == 0) {
        log_debug(LOG_INIT, "state in %s: revision %llu", state_dir, (unsigned long long)revision);
        rc = make_contexts(c, &revision, e);
    }
    if (rc == 0) {
        open_decisions(c, revision);
        c->contacts = contacts_open(c->loop, state_dir, c->cluster, c->watch);
        rc = open_agents(c, e);
    }
    if (rc == 0)
        rc = open_api(c, e);
    if (rc < 0) {
        controller_close(c);
        return rc;
    }
    start_ticking(c);
    log_info("fettled " FETTLE_VERSION
             ": revision %llu, term %llu, %zu nodes; agents on port %u, HTTPS on port %u, "
             "local socket %s",
             (unsigned long long)revision, (unsigned long long)c->term, cluster_count(c->cluster),
             (unsigned)agents_port(c->agents), (unsigned)http_server_port(c->http),
             c->conf.text[SETTING_API_SOCKET]);
    *out = c;
    return 0;
}

int controller_reload(struct controller *c, struct err *e)
{
    CLEANUP_TEXT struct text changes = {0};
    return reload(c, "SIGHUP", false, &changes, e);
}

int controller_deposed(const struct controller *c)
{
    return c->deposed;
}

/* From the top down: nobody asks any more, then nobody reports, then nothing is committed. */
void controller_close(struct controller *c)
{
    if (!c)
        return;
    if (c->ticking) {
        account_stop(&c->account);
        uv_close((uv_handle_t *)&c->tick, NULL);
        uv_close((uv_handle_t *)&c->sweep, NULL);
    }
    http_server_destroy(c->http);
    agents_close(c->agents);
    outbox_stop(c->outbox);
    broker_stop(c->broker);
    searches_destroy(c->searches);
    committer_destroy(c->committer);
    contacts_close(c->contacts);
    uv_run(c->loop, UV_RUN_DEFAULT);
    proposals_destroy(c->proposals);
    outbox_destroy(c->outbox);
    trials_destroy(c->trials);
    broker_destroy(c->broker);
    api_destroy(c->api);
    watch_destroy(c->watch);
    events_destroy(c->events);
    tls_context_destroy(c->agents_tls);
    tls_context_destroy(c->api_tls);
    signer_destroy(c->signer);
    authority_close(c->authority);
    cluster_destroy(c->cluster);
    store_close(c->store);
    config_fini(&c->conf);
    free(c->state_dir);
    free(c);
}
