/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands in the notation of the tests: a JSON object that has the members of the command's struct. What is
 * not there is 0. All that a command points to lives until said_fini.
 */
#include "cluster/said_test.h"

#include "base/json.h"
#include "cluster/cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { OWN_MAX = 1024 };

static struct {
    size_t n;
    void *list[OWN_MAX];
} own;

static void *keep(void *p)
{
    assert_true(own.n < OWN_MAX);
    return own.list[own.n++] = p;
}

void said_fini(void)
{
    while (own.n)
        free(own.list[--own.n]);
}

/* --- members ---------------------------------------------------------------------------------- */

static const json_t *get(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);
    return json_is_null(value) ? NULL : value;
}

static const char *word(const json_t *o, const char *key)
{
    const char *s = json_string_value(get(o, key));
    return s ? s : "";
}

static const char *text(const json_t *o, const char *key)
{
    return get(o, key) ? keep(mem_dup(word(o, key))) : NULL;
}

static const char *clause(const json_t *o, const char *key)
{
    return keep(mem_dup(word(o, key)));
}

#define WORD(o, key, out) snprintf(out, sizeof(out), "%s", word(o, key))

static uint64_t number(const json_t *o, const char *key)
{
    return (uint64_t)json_integer_value(get(o, key));
}

static bool flag(const json_t *o, const char *key)
{
    return json_is_true(get(o, key));
}

static struct wall moment(const json_t *o, const char *key)
{
    return (struct wall){strtoll(word(o, key), NULL, 10)};
}

/* A list's room for its members. */
static void *list(const json_t *o, const char *key, size_t size, size_t *n)
{
    const json_t *l = get(o, key);
    *n = json_is_object(l) ? json_object_size(l) : json_array_size(l);
    return keep(mem_alloc((*n + 1) * size));
}

static enum result result_of(const json_t *o, const char *key)
{
    enum result r = RESULT_OK;
    if (get(o, key))
        assert_true(result_parse(word(o, key), &r));
    return r;
}

static enum step step_of(const json_t *o, const char *key)
{
    enum step s = STEP_NONE;
    assert_true(step_parse(word(o, key), &s));
    return s;
}

static enum act act_of(const json_t *o)
{
    for (int a = ACT_IGNORE; a <= ACT_LOST; a++)
        if (strcmp(word(o, "act"), act_name((enum act)a)) == 0)
            return (enum act)a;
    fail_msg("act: %s", word(o, "act"));
    return ACT_IGNORE;
}

/* --- health ----------------------------------------------------------------------------------- */

static void read_finding(const json_t *o, struct finding_news *out)
{
    struct err e;
    WORD(o, "check", out->of.check);
    WORD(o, "device", out->of.f.device);
    WORD(o, "code", out->of.f.code);
    WORD(o, "text", out->of.f.text);
    out->of.f.result = result_of(o, "result");
    out->counts = flag(o, "counts");
    if (finding_read_origin(o, &out->of.f, &e) < 0)
        fail_msg("%s", e.msg);
}

static void read_news(const json_t *o, struct incident_news *out)
{
    struct finding_news *findings = list(o, "findings", sizeof *findings, &out->n);
    WORD(o, "id", out->id);
    WORD(o, "group", out->group);
    out->severity = result_of(o, "severity");
    out->act = act_of(o);
    out->recurs = (unsigned)number(o, "recurs");
    out->observe = flag(o, "observe");
    for (size_t i = 0; i < out->n; i++)
        read_finding(json_array_get(get(o, "findings"), i), &findings[i]);
    out->findings = findings;
}

static void read_isolation(const json_t *o, struct isolation *out)
{
    out->why = text(o, "why");
    WORD(o, "problem", out->problem);
    out->deadline_s = number(o, "deadline_s");
    out->event = get(o, "event") ? step_event_find(word(o, "event")) : STEP_EVENT_FATAL;
    out->surge = (unsigned)number(o, "surge");
}

static void read_findings(const json_t *o, struct findings_command *out)
{
    struct incident_news *open = list(o, "open", sizeof *open, &out->n_open);
    struct incident_end *close = list(o, "close", sizeof *close, &out->n_close);
    struct incident_job *jobs = list(o, "jobs", sizeof *jobs, &out->n_jobs);
    WORD(o, "boot", out->boot);
    for (size_t i = 0; i < out->n_open; i++)
        read_news(json_array_get(get(o, "open"), i), &open[i]);
    for (size_t i = 0; i < out->n_close; i++) {
        const json_t *one = json_array_get(get(o, "close"), i);
        WORD(one, "id", close[i].id);
        close[i].how = clause(one, "how");
    }
    for (size_t i = 0; i < out->n_jobs; i++) {
        WORD(json_array_get(get(o, "jobs"), i), "job", jobs[i].id);
        WORD(json_array_get(get(o, "jobs"), i), "user", jobs[i].user);
    }
    out->open = open;
    out->close = close;
    out->jobs = jobs;
    read_isolation(get(o, "isolate"), &out->isolate);
}

static void read_outcome(const json_t *o, struct outcome_command *out)
{
    struct fault_name *faults = list(o, "faults", sizeof *faults, &out->n);
    const json_t *helped = json_object_get(o, "helped");
    WORD(o, "remedy", out->remedy);
    WORD(o, "class", out->class);
    out->at = moment(o, "at");
    out->verdict = json_is_true(helped) ? '+' : json_is_false(helped) ? '-' : '0';
    for (size_t i = 0; i < out->n; i++)
        faults[i].name = keep(mem_dup(json_string_value(json_array_get(get(o, "faults"), i))));
    out->faults = faults;
}

/* --- repair ----------------------------------------------------------------------------------- */

static void read_attempt(const json_t *o, struct attempt_news *out)
{
    WORD(o, "remedy", out->remedy);
    WORD(o, "fault", out->fault);
    out->verdict = *word(o, "verdict");
    out->done = flag(o, "done");
    out->text = clause(o, "text");
    out->refusal = refusal_find(word(o, "code"));
}

/* Without a member "event": the first one that leads the watch from one step to the other. */
static enum step_event event_of(const json_t *o, enum step from, enum step to)
{
    size_t n;
    const struct step_move *moves = step_moves(&n);
    if (get(o, "event"))
        return step_event_find(word(o, "event"));
    for (size_t i = 0; i < n; i++)
        if (moves[i].from == from && moves[i].to == to && !step_event_is_persons(moves[i].event))
            return moves[i].event;
    return STEP_EVENT_NONE;
}

static void read_repair(const json_t *o, struct repair_command *out)
{
    WORD(o, "id", out->id);
    out->from = step_of(o, "from");
    out->to = step_of(o, "to");
    out->event = event_of(o, out->from, out->to);
    out->why = clause(o, "why");
    WORD(o, "problem", out->problem);
    WORD(o, "boot", out->boot);
    out->instance = strtoull(word(o, "instance"), NULL, 16);
    out->deadline_s = number(o, "deadline_s");
    WORD(o, "remedy", out->remedy);
    out->approval = flag(o, "approval");
    out->cost = (int64_t)number(o, "cost");
    for (int x = EXAMINED_NOT; x <= EXAMINED_OWED; x++)
        if (strcmp(word(o, "examined"), examined_name((enum examined)x)) == 0)
            out->examined = (enum examined)x;
    out->inconclusive = (unsigned)number(o, "inconclusive");
    read_attempt(get(o, "attempt"), &out->attempt);
    out->restarted = flag(o, "restarted");
    out->renewed = flag(o, "renewed");
    WORD(o, "machine", out->machine);
}

static void read_operate(const json_t *o, struct operate_command *out)
{
    WORD(o, "id", out->id);
    out->step = step_of(o, "step");
    out->run = clause(o, "run");
    WORD(o, "operation_of", out->of);
    WORD(o, "boot", out->boot);
    out->deadline_s = number(o, "deadline_s");
    struct ran_check *ran = list(o, "ran", sizeof *ran, &out->n_ran);
    for (size_t i = 0; i < out->n_ran; i++) {
        const json_t *one = json_array_get(get(o, "ran"), i);
        WORD(one, "check", ran[i].check);
        ran[i].result = result_of(one, "result");
    }
    out->ran = ran;
}

static void read_answer(const json_t *o, struct answer_command *out)
{
    struct finding_name *findings = list(o, "findings", sizeof *findings, &out->n);
    out->deadline_s = number(o, "deadline_s");
    for (size_t i = 0; i < out->n; i++) {
        const json_t *one = json_array_get(get(o, "findings"), i);
        findings[i] = (struct finding_name){clause(one, "fault"), text(one, "device")};
    }
    out->findings = findings;
}

static void read_transition(const json_t *o, struct transition_command *out)
{
    struct err e;
    if (by_hand_parse(word(o, "transition"), &out->what, &e) < 0)
        fail_msg("%s", e.msg);
    out->deadline_s = number(o, "deadline_s");
    out->answers = flag(o, "answers");
    out->yields = flag(o, "yields");
}

static void read_override(const json_t *o, struct override_command *out)
{
    const json_t *effect = get(o, "effect");
    out->by = text(o, "by");
    out->source = text(o, "source");
    out->key = text(effect, "key");
    out->done = effect ? keep(json_write(json_object_get(effect, "done"))) : NULL;
}

/* --- what stands beside it -------------------------------------------------------------------- */

static void read_limits(const json_t *o, struct limits *out)
{
    *out = (struct limits){.given = true,
                           .act = flag(o, "act"),
                           .percent = {[SCOPE_CLUSTER] = (unsigned)number(o, "out"),
                                       [SCOPE_CLASS] = (unsigned)number(o, "out_class"),
                                       [SCOPE_GROUP] = (unsigned)number(o, "out_group"),
                                       [SCOPE_PARTITION] = (unsigned)number(o, "out_partition")},
                           .surge = (unsigned)number(o, "surge"),
                           .surge_window = span_s((int64_t)number(o, "surge_s")),
                           .remedies_a_week = (unsigned)number(o, "remedies_a_week")};
}

/* The limits of a configuration that is empty otherwise. */
static void read_revision(const json_t *o, struct revise_command *out)
{
    static const struct revise_part empty = {"fettle.conf", ""};
    *out = (struct revise_command){.said = "", .n = 1, .parts = &empty};
    read_limits(o, &out->limits);
}

static void read_trial_end(const json_t *o, struct trial_end_command *out)
{
    struct trial_result *results = list(o, "results", sizeof *results, &out->n);
    const char *node;
    json_t *one;
    WORD(o, "claim", out->claim);
    WORD(o, "check", out->check);
    out->why = clause(o, "why");
    out->n = 0;
    json_object_foreach ((json_t *)(uintptr_t)get(o, "results"), node, one)
        if (!json_is_null(one))
            results[out->n++] =
                (struct trial_result){keep(mem_dup(node)), result_of(get(o, "results"), node)};
    out->results = results;
}

static void read_measured(const json_t *o, struct measured_command *out)
{
    struct floor_node *nodes = list(o, "nodes", sizeof *nodes, &out->n);
    const char *node, *what;
    json_t *values, *value;
    size_t i = 0;
    out->class = clause(o, "class");
    out->check = clause(o, "check");
    out->sum = strtoull(word(o, "sum"), NULL, 16);
    json_object_foreach ((json_t *)(uintptr_t)get(o, "nodes"), node, values) {
        struct floor_node *n = &nodes[i++];
        n->name = keep(mem_dup(node));
        n->values = keep(mem_alloc((json_object_size(values) + 1) * sizeof *n->values));
        json_object_foreach (values, what, value) {
            snprintf(n->values[n->n].what, sizeof n->values[n->n].what, "%s", what);
            n->values[n->n++].value = json_integer_value(value);
        }
    }
    out->nodes = nodes;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void read_settings(const json_t *o, struct set_command *out)
{
    struct field_setting *settings = keep(mem_alloc((json_object_size(o) + 1) * sizeof *settings));
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)o, key, value) {
        assert_int_equal(field_find(key, &settings[out->n].field, NULL), 0);
        settings[out->n++].value = text(o, key);
    }
    out->settings = settings;
}

static void read_admit(const json_t *o, const struct hostlist *nodes, struct admit_command *out)
{
    struct boot_id *boots = keep(mem_alloc((nodes->n + 1) * sizeof *boots));
    out->n = nodes->n;
    for (size_t i = 0; i < nodes->n; i++)
        WORD(get(o, "boots"), nodes->names[i], boots[i].id);
    out->boots = boots;
}

static void read_machines(const json_t *o, const struct hostlist *nodes, struct machine_command *out)
{
    struct machine_news *all = keep(mem_alloc((nodes->n + 1) * sizeof *all));
    out->n = nodes->n;
    for (size_t i = 0; i < nodes->n; i++) {
        const json_t *one = get(get(o, "machines"), nodes->names[i]);
        WORD(one, "machine", all[i].machine);
        WORD(one, "was", all[i].was);
    }
    out->machines = all;
}

static void read_told(const json_t *o, struct bmc_news *out)
{
    static const struct {
        const char *key;
        enum component_state state;
    } states[] = {
        {"components", COMPONENT_VALUE}, {"absent", COMPONENT_ABSENT}, {"unknown", COMPONENT_UNKNOWN}};
    size_t max = json_object_size(get(o, "components")) + json_array_size(get(o, "absent")) +
                 json_object_size(get(o, "unknown"));
    struct component *list = keep(mem_alloc((max + 1) * sizeof *list));
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        const json_t *some = get(o, states[i].key);
        const char *name;
        json_t *value;
        size_t k;
        json_object_foreach ((json_t *)(uintptr_t)some, name, value)
            list[out->n++] = (struct component){keep(mem_dup(name)), keep(mem_dup(json_string_value(value))),
                                                states[i].state};
        json_array_foreach (some, k, value)
            list[out->n++] = (struct component){keep(mem_dup(json_string_value(value))), keep(mem_dup("")),
                                                states[i].state};
    }
    out->components = list;
}

static void read_bmcs(const json_t *o, const struct hostlist *nodes, struct bmc_command *out)
{
    struct bmc_news *all = keep(mem_alloc((nodes->n + 1) * sizeof *all));
    out->n = nodes->n;
    for (size_t i = 0; i < nodes->n; i++)
        read_told(get(get(o, "bmcs"), nodes->names[i]), &all[i]);
    out->bmcs = all;
}

static void read_instance(const json_t *o, struct instance_command *out)
{
    struct remedy_name *names = list(o, "keep", sizeof *names, &out->n);
    WORD(o, "was", out->was);
    WORD(o, "is", out->is);
    out->act = flag(o, "act");
    out->examine = flag(o, "examine");
    WORD(o, "boot", out->boot);
    out->instance = strtoull(word(o, "instance"), NULL, 16);
    out->deadline_s = number(o, "deadline_s");
    for (size_t i = 0; i < out->n; i++)
        snprintf(names[i].name, sizeof names[i].name, "%s",
                 json_string_value(json_array_get(get(o, "keep"), i)));
    out->keep = names;
}

/* --- conformance ------------------------------------------------------------------------------- */

static struct fingerprint fingerprint_of(const json_t *o, const char *key)
{
    struct fingerprint id = {0};
    if (get(o, key))
        assert_true(fingerprint_parse(word(o, key), &id));
    return id;
}

static const struct boot_id *boots_of(const json_t *o, size_t *n)
{
    struct boot_id *boots = list(o, "boots", sizeof *boots, n);
    for (size_t i = 0; i < *n; i++)
        snprintf(boots[i].id, sizeof boots[i].id, "%s",
                 json_string_value(json_array_get(get(o, "boots"), i)));
    return boots;
}

static void read_drift(const json_t *o, struct drift_command *out)
{
    out->class = clause(o, "class");
    out->version = (uint32_t)number(o, "version");
    out->expected = fingerprint_of(o, "expected");
    out->actual = fingerprint_of(o, "actual");
    assert_true(severity_parse(word(o, "severity"), &out->severity));
    out->named = clause(o, "named");
    out->count = (uint32_t)number(o, "count");
    out->braked = flag(o, "braked");
    out->boots = boots_of(o, &out->n);
}

/* --- certificates ------------------------------------------------------------------------------ */

static struct certificate_terms terms_of(const json_t *o)
{
    struct certificate_terms t = {.serial = strtoull(word(o, "serial"), NULL, 16),
                                  .key = strtoull(word(o, "key"), NULL, 16),
                                  .from = moment(o, "from"),
                                  .until = moment(o, "until")};
    WORD(o, "role", t.role);
    return t;
}

static void read_token(const json_t *o, struct token_create_command *out)
{
    out->hash = text(o, "hash");
    out->expires = moment(o, "expires");
    out->count = get(o, "count") ? number(o, "count") : 1;
    out->again = flag(o, "again");
    out->from = text(o, "from");
    out->uuid = text(o, "uuid");
}

static void read_effect(const json_t *o, struct effect_command *out)
{
    const json_t *done = json_object_get(o, "done");
    out->key = clause(o, "key");
    out->done = keep(json_is_null(done) ? mem_dup("null") : json_write(done));
}

static struct owner owner_of(const json_t *o, const char *key)
{
    struct owner out = {0};
    struct err e;
    if (get(o, key) && owner_parse(word(o, key), &out, &e) < 0)
        fail_msg("%s", e.msg);
    return out;
}

void said_read(const char *set, struct command *cmd)
{
    CLEANUP_JSON json_t *o = set ? json_read(set, strlen(set), NULL) : json_object();
    const json_t *take = json_object_get(o, "take");
    switch ((int)cmd->kind) {
    case COMMAND_UNDRAIN:
    case COMMAND_UP: cmd->release.claim = cmd->claim; break;
    case COMMAND_SET: read_settings(o, &cmd->edit); break;
    case COMMAND_FORGET: cmd->forget.force = set != NULL; break;
    case COMMAND_ADMIT: read_admit(o, cmd->nodes, &cmd->admit); break;
    case COMMAND_MACHINE: read_machines(o, cmd->nodes, &cmd->machine); break;
    case COMMAND_BMC: read_bmcs(o, cmd->nodes, &cmd->bmc); break;
    case COMMAND_WINDOW: cmd->window = (struct window_command){clause(o, "by"), text(o, "why")}; break;
    case COMMAND_INSTANCE: read_instance(o, &cmd->instance); break;
    case COMMAND_EFFECT: read_effect(o, &cmd->effect); break;
    case COMMAND_TOKEN_CREATE: read_token(o, &cmd->token_made); break;
    case COMMAND_TOKEN_USE:
        cmd->token_use = (struct token_use_command){clause(o, "hash"), terms_of(o), clause(o, "address"),
                                                    clause(o, "machine")};
        break;
    case COMMAND_TOKEN_END: cmd->token_ended.id = clause(o, "id"); break;
    case COMMAND_CERTIFICATE:
        cmd->certificate = (struct certificate_command){clause(o, "subject"), terms_of(o)};
        break;
    case COMMAND_CERTIFICATE_RENEW:
        cmd->renew = (struct renew_command){terms_of(o), terms_of(get(o, "of"))};
        break;
    case COMMAND_CERTIFICATE_USED: cmd->used.serial = terms_of(o).serial; break;
    case COMMAND_CERTIFICATE_REVOKE:
        cmd->revoke =
            (struct revoke_command){text(o, "subject"), get(o, "serial") != NULL, terms_of(o).serial};
        break;
    case COMMAND_SEEN:
        cmd->seen = (struct seen_command){fingerprint_of(o, "fingerprint"), clause(o, "named"),
                                          (uint32_t)number(o, "count")};
        break;
    case COMMAND_DRIFT:
    case COMMAND_PERSISTS: read_drift(o, &cmd->drift); break;
    case COMMAND_RESTORED:
        cmd->restored = (struct restored_command){(uint32_t)number(o, "version"),
                                                  json_is_true(json_object_get(o, "rested"))};
        break;
    case COMMAND_OVERDUE: cmd->overdue.version = (uint32_t)number(o, "version"); break;
    case COMMAND_REBOOT: cmd->reboot.boots = boots_of(o, &cmd->reboot.n); break;
    case COMMAND_BASELINE_REVERT:
        cmd->revert = (struct revert_command){clause(o, "class"), (uint32_t)number(o, "version")};
        break;
    case COMMAND_ROLLOUT_START:
        cmd->rollout_begun = (struct rollout_start_command){
            clause(o, "class"), text(o, "node"), (uint32_t)number(o, "version"), moment(o, "deadline")};
        break;
    case COMMAND_ROLLOUT_ACCEPT:
    case COMMAND_ROLLOUT_REVERT: cmd->rollout_end.class = clause(o, "class"); break;
    case COMMAND_FINDINGS: read_findings(o, &cmd->findings); break;
    case COMMAND_SHARED:
        cmd->shared = (struct shared_command){clause(o, "key"), clause(o, "nodes"), clause(o, "why"),
                                              result_of(o, "severity")};
        break;
    case COMMAND_OUTCOME: read_outcome(o, &cmd->outcome); break;
    case COMMAND_REPAIR: read_repair(o, &cmd->repair); break;
    case COMMAND_OPERATE: read_operate(o, &cmd->operate); break;
    case COMMAND_TRANSITION: read_transition(o, &cmd->transition); break;
    case COMMAND_ANSWER: read_answer(o, &cmd->answer); break;
    case COMMAND_TICKET:
        cmd->ticket.what = !take ? TICKET_STAYS : json_is_true(take) ? TICKET_TAKEN : TICKET_GIVEN_BACK;
        break;
    case COMMAND_REPAIR_APPROVE:
    case COMMAND_REPAIR_REFUSE: cmd->approval.remedy = text(o, "remedy"); break;
    case COMMAND_SWITCH: cmd->switched = (struct switch_command){clause(o, "name"), flag(o, "on")}; break;
    case COMMAND_STATE: cmd->state = (struct state_command){clause(o, "name"), text(o, "authority")}; break;
    case COMMAND_OWNER_CLAIM:
    case COMMAND_OWNER_RELEASE:
    case COMMAND_OWNER_TRANSFER:
        cmd->own = (struct owner_command){owner_of(o, "from"), owner_of(o, "to"),
                                          flag(o, "person")                  ? cmd->actor
                                          : json_is_string(get(o, "person")) ? text(o, "person")
                                                                             : NULL};
        break;
    case COMMAND_REVISE: read_revision(o, &cmd->revise); break;
    case COMMAND_FEATURES: cmd->features.level = number(o, "level"); break;
    case COMMAND_BACKUP:
        cmd->backup = (struct backup_command){text(o, "name"), moment(o, "at"), number(o, "revision"),
                                              number(o, "bytes")};
        break;
    case COMMAND_CONTROLLER_ADMIT:
    case COMMAND_CONTROLLER_REMOVE:
        cmd->controller = (struct controller_command){text(o, "name"), text(o, "key"), text(o, "envelope")};
        break;
    case COMMAND_OVERRIDE: read_override(o, &cmd->override); break;
    case COMMAND_OVERRIDE_AGE:
    case COMMAND_OVERRIDE_END:
        cmd->override_of = (struct override_of_command){moment(o, "at"), number(o, "spent_s")};
        break;
    case COMMAND_TRIAL_BEGIN:
        WORD(o, "check", cmd->trial_begin.check);
        cmd->trial_begin.deadline_s = number(o, "deadline_s");
        cmd->trial_begin.examines = text(o, "examines");
        break;
    case COMMAND_TRIAL_END: read_trial_end(o, &cmd->trial_end); break;
    case COMMAND_MEASURED: read_measured(o, &cmd->measured); break;
    case COMMAND_POWER: cmd->power = (struct power_command){clause(o, "do"), flag(o, "force")}; break;
    default: break;
    }
}
