/* SPDX-License-Identifier: Apache-2.0 */
#include "api/stage_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <utlist.h>

static void on_submit(void *arg, const struct command *cmd, outcome_fn *fn, void *fn_arg)
{
    struct stage *s = arg;
    struct submitted *j = mem_alloc(sizeof *j);
    struct command given = *cmd;
    assert_true(cmd->at.ns > 0);
    given.at = (struct wall){INT64_C(1794000000) * 1000000000};
    snprintf(s->actor, sizeof s->actor, "%s", cmd->actor);
    given.actor = "root"; /* whoever runs the tests */
    s->submitted++;
    if (cmd->kind == COMMAND_DRAIN || cmd->kind == COMMAND_DOWN || cmd->kind == COMMAND_TRANSITION ||
        cmd->kind == COMMAND_POWER) {
        assert_null(cmd->claim);
        given.claim = cmd->dry ? "new" : "100";
    }
    *j = (struct submitted){.fn = fn, .fn_arg = fn_arg, .cmd = command_copy(&given)};
    DL_APPEND(s->waiting, j);
}

/* As the committer, which the stage has not: it remembers the request of the command. */
static void remember(struct stage *s, const struct command *cmd, const struct decision *d)
{
    const struct request_note note = {cmd, cmd->nodes->n, &d->changed, d->claim};
    struct decision more = {0};
    cluster_remember(s->world.cluster, s->revision, &note, 1, 1, &more);
    assert_int_equal(cluster_put(s->world.cluster, more.ops[0].key, more.ops[0].value, NULL), 0);
    decision_fini(&more);
}

/* And it recalls one. NULL: this command is new. */
static const struct request_part *recall(const struct stage *s, const struct command *cmd)
{
    const struct remembered *r =
        cmd->request.id && !cmd->dry ? cluster_request(s->world.cluster, cmd->request.id) : NULL;
    return !r ? NULL : cmd->request.of ? remembered_part(r, cmd->nodes->names[0]) : &r->parts[0];
}

void stage_commit(struct stage *s)
{
    struct err e = {0};
    struct decision d = {0};
    struct submitted *j = s->waiting;
    DL_DELETE(s->waiting, j);
    const struct request_part *before = recall(s, j->cmd);
    int rc = s->fails ? err_set(&e, s->fails, "it is so")
             : before ? 0
                      : cluster_decide(s->world.cluster, j->cmd, 0, &d, &e);
    bool dry = j->cmd->dry;
    for (size_t i = 0; !dry && i < d.n_ops; i++)
        assert_int_equal(cluster_put(s->world.cluster, d.ops[i].key, d.ops[i].value, NULL), 0);
    s->revision += !dry && d.n_ops > 0;
    if (!dry && d.n_ops > 0 && j->cmd->request.id)
        remember(s, j->cmd, &d);
    struct outcome o = {.rc = rc,
                        .revision = before ? before->revision : s->revision,
                        .changed = &d.changed,
                        .claim = before ? before->claim : d.claim,
                        .would = dry ? d.text : NULL,
                        .replayed = before,
                        .why = &e};
    s->ended++;
    j->fn(j->fn_arg, &o);
    decision_fini(&d);
    command_destroy(j->cmd);
    free(j);
}

/* Who runs the tests is called root. */
static void on_names(void *arg, const struct shell_process *p, shell_names_fn *fn, void *fn_arg)
{
    struct stage *s = arg;
    const struct hostlist none = {0};
    s->named++;
    fn(fn_arg, "root", p->login == STREAM_NO_LOGIN ? NULL : "alice", &none);
}

static void tell_token(const char *token, shell_token_fn *fn, void *fn_arg)
{
    static char physics[] = "physics", *tenant = physics;
    const struct hostlist tenants = {.names = &tenant, .n = 1};
    const struct shell_token sue = {.subject = "77",
                                    .name = "Sue",
                                    .is_person = true,
                                    .until = {INT64_C(1794000000) * 1000000000},
                                    .tenants = &tenants};
    struct err why;
    err_set(&why, -EPERM, "the token's signature is not the issuer's");
    bool is_good = strcmp(token, "good") == 0;
    fn(fn_arg, is_good ? &sue : NULL, is_good ? NULL : &why);
}

static void on_token(void *arg, const char *token, shell_token_fn *fn, void *fn_arg)
{
    struct stage *s = arg;
    if (!s->tokens_later) {
        tell_token(token, fn, fn_arg);
        return;
    }
    s->telling = fn;
    s->telling_arg = fn_arg;
}

void stage_wait_token(struct stage *s)
{
    struct mono end = mono_add(mono_now(), span_s(30));
    while (!s->telling) {
        wire_turn(&s->wire);
        assert_true(mono_now().ns < end.ns);
    }
}

void stage_answer_token(struct stage *s)
{
    tell_token("good", STEAL(s->telling), s->telling_arg);
}

static void each_turn(void *arg)
{
    struct stage *s = arg;
    while (s->waiting && s->commits_at_once)
        stage_commit(s);
}

static int on_configuration(void *arg, struct text *t, struct err *e)
{
    text_add(t, "{\"revision\":7,\"parts\":[{\"part\":\"nodes\",\"text\":\"Name=\\\"lx07\\\"\\n\"}],"
                "\"warnings\":[]}");
    return 0;
}

static void on_reload(void *arg, const struct shell_reload *r, shell_reload_fn *fn, void *fn_arg)
{
    const struct stage *s = arg;
    struct err why;
    err_set(&why, -EINVAL, "nodes.conf:12: unknown key \"CPU\"; the nearest known is \"CPUs\"");
    fn(fn_arg, "node lx07 added\nHeartBeatInterval 10s -> \"5s\"\n", s->fails ? &why : NULL);
}

static int on_recheck(void *arg, const struct hostlist *nodes, size_t *told, struct err *e)
{
    struct stage *s = arg;
    s->rechecked = nodes->n;
    *told = nodes->n - 1; /* one is not connected */
    return 0;
}

static uint64_t on_revision(void *arg)
{
    struct stage *s = arg;
    s->revisions++;
    return s->revision;
}

static void on_status(void *arg, json_t *status)
{
    json_object_set_new(status, "version", json_string("0.1.0"));
}

static int on_journal(void *arg, uint64_t after, size_t max, store_journal_fn *fn, void *fn_arg,
                      struct err *e)
{
    const struct stage *s = arg;
    const struct store_entry entry = {{INT64_C(1794000000) * 1000000000},
                                      "root",
                                      "node.drain",
                                      "lx[01-02]",
                                      "bad \"DIMM\"",
                                      "3.1",
                                      "\"claims\":[\"3.1\"]"};
    for (uint64_t r = after + 1; r <= 3 && r - after <= max; r++)
        assert_int_equal(fn(fn_arg, r, &entry, e), 0);
    for (size_t i = 0; i < s->journal; i++) {
        uint64_t r = i + 4;
        if (r > after && r - after <= max)
            assert_int_equal(fn(fn_arg, r, &s->entries[i], e), 0);
    }
    return 0;
}

/* As the leader. */
static int shell_leads(void *arg, struct err *e)
{
    return 0;
}

static int on_observed(void *arg, struct span *age, struct err *e)
{
    return SHELL_OBSERVES;
}

static int on_observe(void *arg, struct http_request *r, struct wall until, struct err *e)
{
    return err_set(e, -EREMOTE, "the stage observes nothing");
}

/* Answers with the three of 2026, newest first, and what was asked. */
static void on_journal_search(void *arg, const struct journal_ask *a, journal_found_fn *fn, void *fn_arg)
{
    char root[] = "root", what[] = "node.drain", nodes[] = "lx[01-02]";
    char fields[] = "\"claims\":[\"3.1\",\"3.2\"]";
    CLEANUP_TEXT struct text asked = {0};
    CLEANUP_HOSTLIST struct hostlist names = {0};
    struct err why;
    if (a->nodes && hostlist_parse_max(a->nodes, a->nodes_max, &names, &why) < 0) {
        fn(fn_arg, NULL, &why);
        return;
    }
    text_printf(&asked, "%s %s %s %lld %lld %d %d %d", names.n ? names.names[names.n - 1] : "-",
                a->what ? a->what : "-", a->by ? a->by : "-", (long long)(a->since.ns / 1000000000),
                (long long)(a->until.ns / 1000000000), (int)a->after, (int)(a->before & 0xff), (int)a->most);
    struct journal_entry entries[2];
    for (uint64_t i = 0; i < 2; i++)
        entries[i] = (struct journal_entry){
            {INT64_C(1794000000) * 1000000000}, 3 - i, 0, root, what, nodes, asked.s, NULL, fields};
    const struct journal_found found = {entries, 2, a->after == 0, a->after ? 0 : 2};
    bool busy = a->by && strcmp(a->by, "busy") == 0;
    err_set(&why, -EAGAIN, "64 searches are waiting");
    fn(fn_arg, busy ? NULL : &found, busy ? &why : NULL);
}

/* Answers with what it was asked. */
static void on_audit(void *arg, const struct auditor_ask *ask, auditor_answer_fn *fn, void *fn_arg)
{
    struct stage *s = arg;
    struct err why;
    CLEANUP_TEXT struct text t = {0};
    s->audited = *ask;
    if (ask->old == 404 || ask->kind == AUDITOR_MINIMUM) {
        err_set(&why, -ENOENT, "it is not there");
        fn(fn_arg, NULL, &why);
        return;
    }
    text_printf(&t, "{\"kind\":%d}", (int)ask->kind);
    fn(fn_arg, &t, NULL);
}

static uint64_t on_journal_first(void *arg, const char **directory, struct mirror_gap *missing)
{
    const struct stage *s = arg;
    *directory = "/var/lib/fettle/journal-export";
    *missing = s->missing;
    return s->journal_first;
}

static int on_check(void *arg, struct member *m, const struct shell_check *ask, shell_verdict_fn *fn,
                    void *fn_arg, struct err *e)
{
    struct stage *s = arg;
    if (strcmp(m->name, "hx6") == 0)
        return err_set(e, -EAGAIN, "node \"%s\" has no connection", m->name);
    s->checking = fn;
    s->checking_arg = fn_arg;
    return 0;
}

static void on_power(void *arg, const char *node, shell_answer_fn *fn, void *fn_arg)
{
    struct err why = {0};
    if (strcmp(node, "hx6") == 0)
        err_set(&why, -ETIMEDOUT, "the BMC of node \"%s\" is silent", node);
    fn(fn_arg, why.code ? NULL : "on", why.code ? &why : NULL);
}

static int on_may_power(void *arg, const struct member *m, const char *run, bool force, struct err *e)
{
    struct stage *s = arg;
    if (strcmp(m->name, "hx9") == 0)
        return err_set(e, -ENOENT, "node \"%s\" has no BMC in bmc.conf", m->name);
    return watch_may_power(s->world.watch, m, run, force, e);
}

/* What was committed has ended at once. */
static void on_powered(void *arg, const char *node, const char *id, shell_answer_fn *fn, void *fn_arg)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "done by command %s", id);
    fn(fn_arg, t.s, NULL);
}

static int on_backup_begin(void *arg, const char *actor, bool dry, uint64_t *number, struct err *e)
{
    *number = 1;
    return 0;
}

static void on_backup_list(void *arg, shell_answer_fn *fn, void *fn_arg)
{
    fn(fn_arg, "{\"running\":false,\"ended\":0,\"error\":\"\",\"directory\":\"\",\"backups\":[]}", NULL);
}

static int on_make_token(void *arg, char **token, char **hash, char **command, struct err *e)
{
    *token = mem_dup("fettle1.a.b");
    *hash = mem_dup("0123456789abcdef00ff");
    *command = mem_dup("fettle-agent join --token fettle1.a.b");
    return 0;
}

static int on_sign(void *arg, const char *name, enum role role, const char *request, struct span valid,
                   char **certificate, char **authority, struct certificate_terms *terms, struct err *e)
{
    if (strcmp(request, "good") != 0)
        return err_set(e, -EINVAL, "not a P-256 request");
    struct text t = {0};
    char buf[32];
    text_printf(&t, "%s %s %s\n", name, role_name(role), span_format(valid, buf));
    *certificate = text_take(&t);
    *authority = mem_dup("authority\n");
    *terms = (struct certificate_terms){
        .serial = 0xa1, .key = 0xb2, .role = "reader", .until = {INT64_C(7776000000000000)}};
    return 0;
}

static json_t *on_controllers(void *arg)
{
    return json_pack("[{s:s,s:s,s:s,s:I,s:I,s:s,s:s,s:s,s:s,s:s}]", "name", "c1", "state", "leader",
                     "address", "c1:6121", "revision", (json_int_t)41, "age_ms", (json_int_t)300, "heard",
                     "2026-11-06T00:00:00Z", "by", "", "at", "", "key", "", "why", "");
}

/* A key with a b in it is no point of the curve. */
static int on_seal(void *arg, const char *name, const char *key, char **envelope, struct err *e)
{
    if (strchr(key, 'b'))
        return err_set(e, -EINVAL, "not the key that a new controller prints");
    *envelope = mem_dup("sealed");
    return 0;
}

static int on_may_remove(void *arg, const char *name, struct err *e)
{
    if (strcmp(name, "c1") == 0)
        return err_set(e, -EBUSY, "c1 leads; stop its fettled first, so that another controller does");
    return strcmp(name, "c2") == 0 ? 0 : err_set(e, -ENOENT, "no controller \"%s\"", name);
}

static void on_connected(void *arg, void (*fn)(void *arg, const struct identity *id), void *fn_arg)
{
    const struct identity old = {
        .kind = IDENTITY_NODE, .name = "lx1", .key = 0xab, .from_s = 1790000000, .until_s = 1800000000};
    fn(fn_arg, &old);
}

int stage_open(void **state, struct world (*make)(struct mono now), int age_s)
{
    static const struct checks no_checks;
    static const struct remedies no_remedies;
    struct stage *s = mem_alloc(sizeof *s);
    *state = s;
    *s = (struct stage){.commits_at_once = true, .revision = 41};
    s->world = make((struct mono){mono_now().ns - span_s(age_s).ns});
    const struct api_policy policy = {.readers = API_READERS_NOBODY,
                                      .provision_deadline = span_s(1800),
                                      .checks = s->world.checks ? s->world.checks : &no_checks,
                                      .remedies = s->world.remedies ? s->world.remedies : &no_remedies,
                                      .meanings = s->world.meanings};
    s->events = events_create(1);
    const struct api_shell shell = {.arg = s,
                                    .leads = shell_leads,
                                    .observed = on_observed,
                                    .observe = on_observe,
                                    .names = on_names,
                                    .token = on_token,
                                    .submit = on_submit,
                                    .reload = on_reload,
                                    .configuration = on_configuration,
                                    .recheck = on_recheck,
                                    .check = on_check,
                                    .power = on_power,
                                    .may_power = on_may_power,
                                    .powered = on_powered,
                                    .revision = on_revision,
                                    .status = on_status,
                                    .journal = on_journal,
                                    .journal_search = on_journal_search,
                                    .journal_first = on_journal_first,
                                    .backup_begin = on_backup_begin,
                                    .backup_list = on_backup_list,
                                    .audit = on_audit,
                                    .make_token = on_make_token,
                                    .controllers = on_controllers,
                                    .seal = on_seal,
                                    .may_remove = on_may_remove,
                                    .connected = on_connected,
                                    .sign_operator = on_sign};
    s->api = api_create(s->world.cluster, s->world.watch, s->events, &policy, &shell);
    wire_open(&s->wire, api_request, s->api);
    s->wire.each_turn = each_turn;
    s->wire.arg = s;
    return 0;
}

/* Also after a test that failed in the middle: a loop that is left behind would be found by the next
 * test, whose own has the same address, and it would wait for what never comes. */
int stage_close(void **state)
{
    struct stage *s = *state;
    if (!s->closed)
        wire_close(&s->wire);
    api_destroy(s->api);
    events_destroy(s->events);
    world_destroy(&s->world);
    free(s->entries);
    free(s);
    return 0;
}

void stage_wait(struct stage *s)
{
    struct mono end = mono_add(mono_now(), span_s(30));
    while (s->submitted == 0) {
        wire_turn(&s->wire);
        assert_true(mono_now().ns < end.ns);
    }
}

/* What changes with time: numbers become 0, times too; null stays. */
static void mask(struct text *t, const char *key)
{
    CLEANUP_TEXT struct text out = {0};
    const char *rest = t->s;
    for (const char *p; (p = strstr(rest, key));) {
        p += strlen(key);
        text_add_bytes(&out, rest, (size_t)(p - rest));
        rest = p;
        if (*p < '0' || *p > '9')
            continue;
        text_add_char(&out, '0');
        rest += strcspn(rest, "\",}");
    }
    text_add(&out, rest);
    text_clear(t);
    text_add(t, out.s);
}

void stage_transcribe(struct stage *s, const char *method, const char *target, const char *body,
                      struct text *t)
{
    CLEANUP_TEXT struct text answer = {0};
    int status = wire_ask(&s->wire, method, target, body, &answer);
    mask(&answer, "\"Silent\":");
    mask(&answer, "\"Uptime\":");
    mask(&answer, "\"expires\":\"");
    mask(&answer, "\"verified_s\":");
    mask(&answer, "\"since_s\":");
    mask(&answer, "\"looked_s\":");
    if (!strstr(target, "queue") && !strstr(target, "health") && !strstr(target, "remedies"))
        mask(&answer, "\"deadline\":\"");
    text_printf(t, "%s %s %s\n%d %s\n", method, target, body ? body : "", status, answer.s);
}

void stage_read_all(struct stage *s, const char *const *targets, size_t n, struct text *t)
{
    for (size_t i = 0; i < n; i++)
        stage_transcribe(s, "GET", targets[i], NULL, t);
}

void stage_post_all(struct stage *s, const struct posted *asked, size_t n, struct text *t)
{
    for (size_t i = 0; i < n; i++)
        stage_transcribe(s, "POST", asked[i].target, asked[i].body, t);
}

json_t *stage_ask_large(struct stage *s, const char *target)
{
    CLEANUP_TEXT struct text t = {0};
    struct mono began = mono_now();
    assert_int_equal(wire_ask(&s->wire, "GET", target, NULL, &t), 200);
    print_message("%s of %zu nodes: %zu bytes in %lld ms\n", target, cluster_count(s->world.cluster), t.len,
                  (long long)span_to_ms(mono_sub(mono_now(), began)));
    json_t *answer = json_read(t.s, t.len, NULL);
    assert_non_null(answer);
    return answer;
}
