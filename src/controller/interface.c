/* SPDX-License-Identifier: Apache-2.0 */
/* What the interface asks of the controller (struct api_shell). */
#include "controller/controller_inside.h"

#include "controller/sessions/certificates.h"
#include "driver/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* At the local socket, and at the HTTPS port. */
static const struct slots_limits api_door = {.all = 1024, .each = 128, .reserve = 64};

enum { CHECK_WITHIN_S = 25 }; /* below the 30 s for which the tool waits */

/* --- its state --------------------------------------------------------------------------------- */

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
        size_t waiting = i == COUNTERPART_STORE                 ? committer_waiting(c->committer)
                         : !c->leads || i == COUNTERPART_BACKUP ? 0
                         : i == COUNTERPART_MQTT                ? broker_waiting(c->broker)
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
    CLEANUP_TEXT struct text unknown = {0};
    cluster_unknown_say(c->cluster, &unknown);
    if (unknown.len)
        json_array_append_new(list, json_string(unknown.s));
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
    json_t *more = json_pack(
        "{s:s,s:s,s:s,s:s,s:I,s:I,s:s,s:I,s:I,s:o,s:{s:s,s:s,s:I,s:f},s:I,s:{s:i,s:i}}", "version",
        FETTLE_VERSION, "controller", controller_machine(c, host), "cluster",
        c->conf.text[SETTING_CONTROL_MACHINE], "role", c->leads && !c->deposed ? "leader" : "follower",
        "term", (json_int_t)c->term, "revision", (json_int_t)committer_revision(c->committer), "digest",
        digest, "uptime_s", (json_int_t)(mono_sub(mono_now(), c->began).ns / 1000000000), "agents",
        (json_int_t)(c->agents ? agents_count(c->agents) : 0), "collectors",
        c->agents ? agents_collectors(c->agents) : json_array(), "store", "state",
        store->code ? "failing" : "ok", "message", store->msg, "commits", (json_int_t)commits,
        "commit_ms_max", ms_max, "memory_kb", (json_int_t)memory_kb(), "ports", "agents",
        c->agents ? (int)agents_port(c->agents) : 0, "api", (int)http_server_port(c->http));
    json_object_set_new(more, "misfits", json_integer(c->agents ? (json_int_t)agents_misfits(c->agents) : 0));
    json_object_set_new(more, "mode", json_string(modes[c->conf.number[SETTING_HEALTH]]));
    json_object_set_new(more, "turns", account_status());
    json_object_set_new(json_object_get(status, "conform"), "effects_waiting",
                        json_integer(c->outbox ? (json_int_t)outbox_waiting(c->outbox) : 0));
    json_object_set_new(more, "counterparts", counterparts_status(c));
    json_object_set_new(more, "warnings", warnings_status(c));
    if (c->quorum)
        json_object_set_new(more, "quorum", quorum_status(c));
    backups_status(c->backups, more);
    json_object_update(status, more);
    json_decref(more);
}

/* --- what is to be done ------------------------------------------------------------------------ */

static int shell_leads(void *arg, struct err *e)
{
    struct controller *c = arg;
    return c->quorum ? quorum_leads(c, e) : 0;
}

static int shell_observed(void *arg, struct span *age, struct err *e)
{
    return wiring_observed(arg, age, e);
}

static int shell_observe(void *arg, struct http_request *r, struct wall until, struct err *e)
{
    struct controller *c = arg;
    int rc = shell_leads(c, e);
    if (rc == 0 && !c->teller)
        rc = err_set(e, -EREMOTE, "this controller is about to lead; try again");
    return rc < 0 ? rc : teller_add(c->teller, r, until, e);
}

static void shell_submit(void *arg, const struct command *cmd, outcome_fn *fn, void *fn_arg)
{
    struct controller *c = arg;
    committer_submit(c->committer, cmd, fn, fn_arg);
}

static int shell_recheck(void *arg, const struct hostlist *nodes, size_t *told, struct err *e)
{
    struct controller *c = arg;
    *told = agents_recheck(c->agents, nodes);
    return 0;
}

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
    const struct member *m = cluster_find(c->cluster, node);
    CLEANUP_OPERATION struct operation o = {0};
    if (m)
        cluster_power(c->cluster, m, &o);
    powers_wait(outbox_powers(c->outbox), node, id, &o, fn, fn_arg);
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

static uint64_t shell_journal_first(void *arg, const char **directory, struct mirror_gap *missing)
{
    struct controller *c = arg;
    struct committer_mirrored mirrored = {.complete = false};
    committer_mirrored(c->committer, &mirrored);
    *missing = mirrored.missing;
    return committer_journal_first(c->committer, directory);
}

static int shell_backup_begin(void *arg, const char *actor, bool dry, uint64_t *number, struct err *e)
{
    struct controller *c = arg;
    return backups_begin(c->backups, actor, dry, number, e);
}

static void shell_backup_list(void *arg, shell_answer_fn *fn, void *fn_arg)
{
    struct controller *c = arg;
    backups_list(c->backups, fn, fn_arg);
}

static void shell_audit(void *arg, const struct auditor_ask *ask, auditor_answer_fn *fn, void *fn_arg)
{
    struct controller *c = arg;
    struct err why;
    if (c->auditor) {
        auditor_begin(c->auditor, ask, fn, fn_arg);
        return;
    }
    quorum_audit_why(c, &why);
    fn(fn_arg, NULL, &why);
}

static int shell_make_token(void *arg, char **token, char **hash, char **command, struct err *e)
{
    struct controller *c = arg;
    char host[256];
    join_make_token(c->agents, token, hash);
    struct text t = {0};
    text_printf(&t, "fettle-agent join %s %s:%u", *token, controller_machine(c, host),
                (unsigned)agents_port(c->agents));
    *command = text_take(&t);
    return 0;
}

static int shell_sign_operator(void *arg, const char *name, enum role role, const char *request,
                               struct span valid, char **certificate, char **authority,
                               struct certificate_terms *terms, struct err *e)
{
    struct controller *c = arg;
    struct identity id = {.kind = IDENTITY_OPERATOR, .role = role};
    if (strlen(name) >= sizeof id.name)
        return err_set(e, -EINVAL, "a name of more than %zu characters", sizeof id.name - 1);
    memcpy(id.name, name, strlen(name) + 1);
    int rc = authority_sign(c->authority, request, &id, NULL, valid, certificate, e);
    if (rc == 0)
        rc = certificate_terms(*certificate, terms, e);
    if (rc < 0)
        return rc;
    *authority = mem_dup(authority_pem(c->authority));
    return 0;
}

static json_t *shell_controllers(void *arg)
{
    const struct controller *c = arg;
    return members_list(c, quorum_leader(c));
}

static int shell_seal(void *arg, const char *name, const char *key, char **envelope, struct err *e)
{
    return admission_seal(arg, name, key, envelope, e);
}

static int shell_may_remove(void *arg, const char *name, struct err *e)
{
    const struct controller *c = arg;
    return members_may_remove(c, quorum_leader(c), name, e);
}

static void shell_connected(void *arg, void (*fn)(void *arg, const struct identity *id), void *fn_arg)
{
    const struct controller *c = arg;
    if (c->agents)
        agents_each_peer(c->agents, fn, fn_arg);
}

static void shell_names(void *arg, const struct shell_process *p, shell_names_fn *fn, void *fn_arg)
{
    struct controller *c = arg;
    logins_find(c->logins, p, fn, fn_arg);
}

struct token_ask {
    shell_token_fn *fn;
    void *arg;
};

static void on_token(void *arg, const struct token *t, const struct err *why)
{
    struct token_ask *ask = arg;
    const struct shell_token said =
        t ? (struct shell_token){t->subject, t->name, &t->groups, t->is_person, t->until, &t->tenants}
          : (struct shell_token){0};
    ask->fn(ask->arg, t ? &said : NULL, why);
    free(ask);
}

static void shell_token(void *arg, const char *token, shell_token_fn *fn, void *fn_arg)
{
    struct controller *c = arg;
    if (!c->issuer) {
        struct err why;
        err_set(&why, -EPERM, "this controller takes no tokens: its OidcIssuer is not given");
        fn(fn_arg, NULL, &why);
        return;
    }
    struct token_ask *ask = mem_alloc(sizeof *ask);
    *ask = (struct token_ask){fn, fn_arg};
    issuer_verify(c->issuer, token, strlen(token), on_token, ask);
}

/* --- opening --------------------------------------------------------------------------------- */

int interface_open(struct controller *c, struct err *e)
{
    const struct api_shell shell = {.arg = c,
                                    .is_service = program_exec() != NULL,
                                    .leads = shell_leads,
                                    .observed = shell_observed,
                                    .observe = shell_observe,
                                    .names = shell_names,
                                    .token = shell_token,
                                    .submit = shell_submit,
                                    .reload = reload_config,
                                    .configuration = reload_texts,
                                    .status = shell_status,
                                    .revision = shell_revision,
                                    .journal = shell_journal,
                                    .journal_search = shell_journal_search,
                                    .journal_first = shell_journal_first,
                                    .audit = shell_audit,
                                    .recheck = shell_recheck,
                                    .check = shell_check,
                                    .power = shell_power,
                                    .may_power = shell_may_power,
                                    .powered = shell_powered,
                                    .backup_begin = shell_backup_begin,
                                    .backup_list = shell_backup_list,
                                    .make_token = shell_make_token,
                                    .controllers = shell_controllers,
                                    .seal = shell_seal,
                                    .may_remove = shell_may_remove,
                                    .connected = shell_connected,
                                    .sign_operator = shell_sign_operator};
    const struct api_policy policy = reload_api_policy(&c->conf);
    c->logins = logins_create(c->loop);
    reload_issuer(c);
    c->api = api_create(c->cluster, c->watch, c->events, &policy, &shell);
    c->http = http_server_create(c->loop, &api_door, api_request, api_party, c->api);
    int rc = http_server_listen_local(c->http, c->conf.text[SETTING_API_SOCKET], e);
    if (rc < 0)
        return err_wrap(e, rc, "ApiSocket");
    rc = http_server_listen_tls(c->http, c->conf.text[SETTING_API_ADDRESS],
                                (uint16_t)c->conf.number[SETTING_API_PORT], c->api_tls, e);
    return rc < 0 ? err_wrap(e, rc, "ApiPort") : 0;
}
