/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/fixture_test.h"
#include "cluster/said_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct mono world_now(const struct world *x)
{
    return (struct mono){x->now_ms * 1000000};
}

struct wall world_wall(const struct world *x)
{
    return (struct wall){x->clock.ns + x->now_ms * 1000000};
}

struct member *world_node(const struct world *x, int i)
{
    char name[32];
    snprintf(name, sizeof name, "lx%02d", i);
    return cluster_meet(x->c, name);
}

const char *world_boot(const struct world *x, int i, char out[static 37])
{
    snprintf(out, 37, "%08x-0000-4000-8000-%012x", x->boot[i], (unsigned)i);
    return out;
}

/* --- what the watch says --------------------------------------------------------------------- */

static void put_all(struct world *x, const struct decision *d)
{
    struct err e;
    for (size_t i = 0; i < d->n_ops; i++)
        if (cluster_put(x->c, d->ops[i].key, d->ops[i].value, &e) < 0)
            fail_msg("%s", e.msg);
    watch_changed(x->w, &d->changed);
}

static int commit(struct world *x, const struct command *cmd, struct err *e)
{
    for (size_t from = 0, next = 0; next == 0 || next < cmd->nodes->n; from = next) {
        struct decision d = {0};
        int rc = cluster_decide(x->c, cmd, from, &d, e);
        if (rc < 0)
            return rc;
        put_all(x, &d);
        next = d.next > from ? d.next : cmd->nodes->n + 1;
        decision_fini(&d);
    }
    return 0;
}

static void log_drift(struct world *x, const struct command *cmd)
{
    if (cmd->kind == COMMAND_SEEN)
        text_printf(&x->log, ": %s", cmd->seen.named);
    else if (cmd->kind == COMMAND_DRIFT || cmd->kind == COMMAND_PERSISTS)
        text_printf(&x->log, ": %s (%s)", cmd->drift.named, severity_name(cmd->drift.severity));
    else if (cmd->kind == COMMAND_REBOOT)
        text_add(&x->log, ": ");
}

static void log_findings(struct world *x, const struct findings_command *says)
{
    for (size_t i = 0; i < says->n_open; i++) {
        const struct incident_news *one = &says->open[i];
        text_printf(&x->log, "; %s %s%s%s%s", *one->id ? "more of" : "open", result_name(one->severity),
                    one->observe ? " (observed)" : "", *one->group ? " of " : "", one->group);
        for (size_t k = 0; k < one->n; k++) {
            const struct incident_finding *f = &one->findings[k].of;
            text_printf(&x->log, "%s%s %s%s%s", k ? ", " : ": ", f->check, result_name(f->f.result),
                        *f->f.code ? " " : "", f->f.code);
        }
    }
    for (size_t i = 0; i < says->n_close; i++)
        text_printf(&x->log, "; close: %s", says->close[i].how);
    if (says->isolate.why)
        text_printf(&x->log, "; isolate (%s): %s", step_event_name(says->isolate.event), says->isolate.why);
}

static void log_repair(struct world *x, const struct repair_command *says)
{
    const struct attempt_news *a = &says->attempt;
    text_printf(&x->log, ": %s -> %s%s%s%s (%s: %s)", step_name(says->from), step_name(says->to),
                *says->remedy ? " " : "", says->remedy, says->approval ? ", to be approved" : "",
                step_event_name(says->event), says->why);
    if (says->examined != EXAMINED_NOT)
        text_printf(&x->log, " examined %s", examined_name(says->examined));
    if (a->verdict)
        text_printf(&x->log, " [%s for %s: %c %s]", a->remedy, a->fault, a->verdict, a->text);
}

static void log_trial_end(struct world *x, const struct command *cmd)
{
    const struct trial_end_command *says = &cmd->trial_end;
    text_printf(&x->log, ": %s", says->check);
    for (size_t i = 0; i < cmd->nodes->n; i++) {
        const char *result = "-";
        for (size_t k = 0; k < says->n; k++)
            if (strcmp(says->results[k].node, cmd->nodes->names[i]) == 0)
                result = result_name(says->results[k].result);
        text_printf(&x->log, ", %s %s", cmd->nodes->names[i], result);
    }
    text_printf(&x->log, " (%s)", says->why);
}

static void log_bmcs(struct world *x, const struct command *cmd)
{
    text_add(&x->log, ": {\"bmcs\":{");
    for (size_t i = 0; i < cmd->bmc.n; i++) {
        const struct bmc_news *news = &cmd->bmc.bmcs[i];
        struct components list = {0};
        for (size_t k = 0; k < news->n; k++)
            components_add(&list, news->components[k].name, news->components[k].state,
                           news->components[k].value, NULL);
        text_printf(&x->log, "%s\"%s\":", i ? "," : "", cmd->nodes->names[i]);
        if (list.n)
            components_format(&list, &x->log);
        else
            text_add(&x->log, "null");
        components_fini(&list);
    }
    text_add(&x->log, "}}");
}

/* What a command of health or repair says. False for another kind. */
static bool log_health(struct world *x, const struct command *cmd)
{
    const enum command_kind kind = cmd->kind;
    const char *reason = cmd->reason;
    if (kind == COMMAND_FINDINGS)
        log_findings(x, &cmd->findings);
    else if (kind == COMMAND_REPAIR)
        log_repair(x, &cmd->repair);
    else if (kind == COMMAND_OPERATE)
        text_printf(&x->log, ": %s", cmd->operate.run);
    else if (kind == COMMAND_OUTCOME)
        text_printf(&x->log, ": %s %s", cmd->outcome.remedy,
                    cmd->outcome.verdict == '+' ? "helped" : "failed");
    else if (kind == COMMAND_OVERRIDE_AGE)
        text_printf(&x->log, ": %llu s", (unsigned long long)cmd->override_of.spent_s);
    else if (kind == COMMAND_OVERRIDE_END)
        text_printf(&x->log, ": %s", reason);
    else if (kind == COMMAND_TRIAL_BEGIN)
        text_printf(&x->log, ": %s", cmd->trial_begin.check);
    else if (kind == COMMAND_TRIAL_END)
        log_trial_end(x, cmd);
    else if (kind == COMMAND_SHARED)
        text_printf(&x->log, ": %s: \"%s\" (%s)", cmd->shared.key, cmd->shared.nodes, cmd->shared.why);
    else if (kind == COMMAND_WINDOW)
        text_printf(&x->log, ": %s", cmd->window.why ? cmd->window.why : "over");
    else if (kind == COMMAND_MEASURED)
        text_printf(&x->log, ": %s of class %s", cmd->measured.check, cmd->measured.class);
    else if (kind == COMMAND_INSTANCE)
        text_printf(&x->log, ": %s -> %s", cmd->instance.was, cmd->instance.is);
    else if (kind == COMMAND_MACHINE)
        for (size_t i = 0; i < cmd->machine.n; i++)
            text_printf(&x->log, "; %s", cmd->machine.machines[i].machine);
    else if (kind == COMMAND_SWITCH)
        text_printf(&x->log, ": %s %s%s%s", cmd->switched.name, cmd->switched.on ? "on" : "off",
                    reason ? " " : "", reason ? reason : "");
    else if (kind == COMMAND_TRANSITION)
        text_printf(&x->log, ": %s%s %s", by_hand_name(cmd->transition.what),
                    cmd->transition.yields ? " (yielded)" : "", reason);
    else if (kind == COMMAND_EFFECT)
        text_printf(&x->log, ": {\"key\":\"%s\",\"done\":%s}", cmd->effect.key, cmd->effect.done);
    else if (kind == COMMAND_BMC)
        log_bmcs(x, cmd);
    else
        return kind == COMMAND_ADMIT; /* its boots say nothing to people */
    return true;
}

static bool propose(void *arg, const struct command *proposed)
{
    struct world *x = arg;
    char id[16];
    struct err e;
    CLEANUP_FREE char *folded =
        hostlist_fold((const char *const *)proposed->nodes->names, proposed->nodes->n);
    if (x->refuse)
        return false;
    snprintf(id, sizeof id, "1.%u", ++x->claims);
    struct command cmd = *proposed;
    cmd.actor = "fettled";
    cmd.at = world_wall(x);
    cmd.claim = id;
    text_printf(&x->log, "%lld: %s %s", (long long)(x->now_ms / 1000), command_name(cmd.kind), folded);
    if (!log_health(x, &cmd))
        log_drift(x, &cmd);
    text_add_char(&x->log, '\n');
    if (commit(x, &cmd, &e) < 0)
        fail_msg("%s %s: %s", command_name(cmd.kind), folded, e.msg);
    return true;
}

static void notice(void *arg, const char *what, const char *nodes, const char *text)
{
    struct world *x = arg;
    text_printf(&x->log, "%lld: %s %s: %s\n", (long long)(x->now_ms / 1000), what, nodes, text);
}

static void on_alarm(void *arg, const struct alarm *a, const char *over)
{
    struct world *x = arg;
    text_printf(&x->log, "%lld: alarm.%s %s: %s\n", (long long)(x->now_ms / 1000),
                over ? "over" : alarm_name(a->kind), over ? a->subject : a->nodes, over ? over : a->text);
}

/* --- life ------------------------------------------------------------------------------------ */

void world_configure(struct world *x, const struct class_lines *classes, size_t n, const char *sensitive)
{
    struct roster r = {.partition_max = 31, .n = x->n, .nodes = mem_alloc(x->n * sizeof *r.nodes)};
    CLEANUP_HOSTLIST struct hostlist guarded = {0};
    struct err e;
    if (*sensitive)
        assert_int_equal(hostlist_parse(sensitive, &guarded, NULL), 0);
    for (size_t i = 0; i < x->n; i++) {
        char name[32], xname[40];
        snprintf(name, sizeof name, "lx%02zu", i + 1);
        snprintf(xname, sizeof xname, "x1000c0s%zub0n0", i);
        r.nodes[i].name = mem_dup(name);
        spec_init(&r.nodes[i].spec);
        assert_int_equal(spec_set(&r.nodes[i].spec, FIELD_XNAME, xname, 31, &e), 0);
        for (size_t k = 0; k < guarded.n; k++)
            if (strcmp(guarded.names[k], name) == 0)
                spec_set(&r.nodes[i].spec, FIELD_SENSITIVE, "yes", 31, NULL);
    }
    for (size_t i = 0; i < n; i++) {
        size_t keys = 0;
        struct class_key all[9] = {{"Class", classes[i].name}};
        for (; classes[i].keys[keys].key; keys++)
            all[keys + 1] = classes[i].keys[keys];
        if (classes_add(&r.classes, all, keys + 1, 31, &e) < 0)
            fail_msg("%s", e.msg);
    }
    cluster_configure(x->c, &r, NULL);
    if (x->w)
        watch_set_policy(x->w, &x->policy);
}

void world_lead_anew(struct world *x)
{
    const struct watch_sink sink = {x, propose, notice, on_alarm};
    watch_destroy(x->w);
    x->w = watch_create(x->c, &x->policy, world_now(x), &sink);
    for (size_t i = 1; i <= x->n; i++)
        x->off[i] = true;
}

struct world *world_create(size_t n)
{
    struct world *x = mem_alloc(sizeof *x);
    x->n = n;
    x->clock = (struct wall){INT64_C(1800000000000000000)};
    x->c = cluster_create();
    x->policy = (struct watch_policy){.plain = {span_s(30), span_s(90)},
                                      .sensitive = {span_s(120), span_s(420)},
                                      .borrowed = {span_s(30), span_s(60)},
                                      .quiet = span_s(30),
                                      .silent_share_percent = 25,
                                      .conform = {span_s(3600 * 13), span_s(3600 * 24), span_s(3600 * 4), 10},
                                      .judge = true};
    world_configure(x, NULL, 0, "");
    world_lead_anew(x);
    for (size_t i = 1; i <= n; i++) {
        x->boot[i] = 1;
        x->work[i] = "[]";
    }
    world_open(x, 1, (int)n);
    world_run(x, 2);
    text_clear(&x->log);
    return x;
}

void world_destroy(struct world *x)
{
    watch_destroy(x->w);
    cluster_destroy(x->c);
    text_fini(&x->log);
    free(x);
}

/* --- what the nodes do ----------------------------------------------------------------------- */

static void beat(struct world *x, int i)
{
    char boot[37];
    CLEANUP_JSON json_t *work = x->work[i] ? json_read(x->work[i], strlen(x->work[i]), NULL) : NULL;
    const struct heartbeat h = {.instance = (uint64_t)i,
                                .seq = ++x->seq,
                                .boot = world_boot(x, i, boot),
                                .work = work,
                                .uptime_s = x->uptime_s};
    assert_int_equal(watch_heartbeat(x->w, world_now(x), world_wall(x), world_node(x, i), &h, NULL), 0);
}

void world_inventory(struct world *x, int i)
{
    CLEANUP_JSON json_t *report =
        json_pack("{s:b,s:s,s:{s:i,s:{s:s}}}", "full", 1, "hash", "0123456789abcdef", "set", "CPUs", 4, "DMI",
                  "serial", x->serial[i]);
    if (x->ended[i])
        json_object_set_new(json_object_get(report, "set"), "LastBoot",
                            json_pack("{s:s,s:s}", "ended", x->ended[i], "text", "as it says"));
    assert_int_equal(watch_inventory(x->w, world_node(x, i), report, NULL), 0);
}

void world_open(struct world *x, int first, int last)
{
    for (int i = first; i <= last; i++) {
        char boot[37];
        void *old;
        bool want;
        struct err e;
        const struct hello h = {.name = world_node(x, i)->name,
                                .version = "1",
                                .boot = world_boot(x, i, boot),
                                .instance = (uint64_t)i,
                                .inventory = ""};
        if (watch_open(x->w, world_now(x), world_node(x, i), &h, world_node(x, i), NULL, &want, &old, &e) < 0)
            fail_msg("%s", e.msg);
        x->off[i] = false;
        if (!x->unread[i])
            world_inventory(x, i);
        beat(x, i);
    }
}

void world_reboot(struct world *x, int i)
{
    watch_expect_boot(x->w, world_now(x), world_node(x, i));
    world_crash(x, i);
}

void world_crash(struct world *x, int i)
{
    x->boot[i]++;
    watch_close(x->w, world_node(x, i), world_node(x, i));
    world_open(x, i, i);
}

static void parse_list(const char *list, struct components *c)
{
    CLEANUP_FREE char *copy = mem_dup(list);
    for (char *save, *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        enum component_state state = *value == '?'   ? COMPONENT_UNKNOWN
                                     : *value == '!' ? COMPONENT_ABSENT
                                                     : COMPONENT_VALUE;
        assert_int_equal(components_add(c, word, state, value + (state != COMPONENT_VALUE), NULL), 0);
    }
    assert_int_equal(components_sort(c, NULL), 0);
}

struct fingerprint world_fingerprint(const char *list)
{
    struct components c = {0};
    parse_list(list, &c);
    struct fingerprint id = components_fingerprint(&c);
    components_fini(&c);
    return id;
}

static void fingerprint_of(const char *list, char hex[static FINGERPRINT_HEX + 1])
{
    struct fingerprint id = world_fingerprint(list);
    fingerprint_format(&id, hex);
}

bool world_claims(struct world *x, int i, const char *list)
{
    char hex[FINGERPRINT_HEX + 1];
    bool want;
    struct err e;
    fingerprint_of(list, hex);
    if (watch_fingerprint(x->w, world_now(x), world_node(x, i), hex, &want, &e) < 0)
        fail_msg("%s", e.msg);
    x->wants += want;
    return want;
}

int world_sends(struct world *x, int i, const char *claimed, const char *list, size_t a_part, struct err *e)
{
    struct components c = {0};
    char hex[FINGERPRINT_HEX + 1];
    int rc = 0;
    fingerprint_of(claimed, hex);
    parse_list(list, &c);
    size_t parts = (c.n + a_part - 1) / a_part;
    for (size_t part = 0; part < parts && (rc == 0 || rc == -EAGAIN); part++) {
        struct components some = {.list = c.list + part * a_part, .sorted = true};
        CLEANUP_TEXT struct text t = {0};
        some.n = c.n - part * a_part < a_part ? c.n - part * a_part : a_part;
        components_format(&some, &t);
        CLEANUP_JSON json_t *body = json_read(t.s, t.len, NULL);
        json_object_set_new(body, "fingerprint", json_string(hex));
        json_object_set_new(body, "part", json_integer((json_int_t)part));
        json_object_set_new(body, "parts", json_integer((json_int_t)parts));
        rc = watch_components(x->w, world_now(x), world_node(x, i), body, e);
    }
    components_fini(&c);
    return rc;
}

void world_says(struct world *x, int first, int last, const char *list)
{
    struct err e;
    for (int i = first; i <= last; i++)
        if (world_claims(x, i, list) && world_sends(x, i, list, list, 100, &e) < 0)
            fail_msg("%s", e.msg);
}

void world_verifies(struct world *x, int first, int last)
{
    for (int i = first; i <= last; i++)
        assert_int_equal(watch_verified(x->w, world_now(x), world_node(x, i), NULL), 0);
}

void world_run(struct world *x, int64_t seconds)
{
    for (int64_t t = 0; t < seconds * 10; t++) {
        x->now_ms += WATCH_TICK_MS;
        for (size_t i = 1; i <= x->n && x->now_ms % 10000 == 0; i++)
            if (!x->off[i])
                beat(x, (int)i);
        watch_tick(x->w, world_now(x), world_wall(x));
        while (watch_step(x->w, 100))
            ;
    }
}

/* --- people ---------------------------------------------------------------------------------- */

int world_command(struct world *x, enum command_kind kind, const char *nodes, const char *set)
{
    return world_command_for(x, kind, nodes, NULL, set);
}

int world_command_for(struct world *x, enum command_kind kind, const char *nodes, const char *reason,
                      const char *set)
{
    CLEANUP_HOSTLIST struct hostlist h = {0};
    struct err e = {0};
    char id[16];
    if (*nodes)
        assert_int_equal(hostlist_parse(nodes, &h, NULL), 0);
    snprintf(id, sizeof id, "1.%u", ++x->claims);
    struct command cmd = {.kind = kind,
                          .actor = "root",
                          .at = world_wall(x),
                          .nodes = &h,
                          .reason = reason,
                          .claim = kind == COMMAND_UNDRAIN && reason == NULL ? NULL : id};
    said_read(set, &cmd);
    int rc = commit(x, &cmd, &e);
    said_fini();
    if (rc < 0)
        text_printf(&x->log, "%lld: root: %s\n", (long long)(x->now_ms / 1000), e.msg);
    return rc;
}

void world_said(struct world *x, const char *expected)
{
    CLEANUP_TEXT struct text t = {0};
    for (const char *p = x->log.s; p && *p;) {
        const char *end = strchr(p, '\n') + 1, *text = strchr(p, ' ') + 1;
        text_add_bytes(&t, text, (size_t)(end - text));
        p = end;
    }
    assert_string_equal(t.s ? t.s : "", expected);
    text_clear(&x->log);
}

void world_override(struct world *x, int i)
{
    const char *name = world_node(x, i)->name;
    CLEANUP_TEXT struct text set = {0};
    text_printf(&set,
                "{\"by\":\"ann\",\"source\":\"Slurm\",\"effect\":{\"key\":\"effect/slurm.%s\",\"done\":"
                "{\"claim\":\"1.1\",\"state\":\"overridden\",\"at\":\"%lld\",\"reservation\":false}}}",
                name, (long long)world_wall(x).ns);
    assert_int_equal(world_command(x, COMMAND_OVERRIDE, name, set.s), 0);
}

void world_says_nothing(struct world *x)
{
    world_said(x, "");
}

void world_stands(struct world *x, int i, const char *conformance, const char *why)
{
    struct standing s;
    CLEANUP_TEXT struct text t = {0};
    watch_standing(x->w, world_now(x), world_node(x, i), &s, &t);
    assert_string_equal(conformance_name(s.conformance), conformance);
    assert_string_equal(t.s ? t.s : "", why);
}

void world_accept(struct world *x, const char *node)
{
    world_run(x, 2);
    assert_int_equal(world_command(x, COMMAND_BASELINE_ACCEPT, node, NULL), 0);
    world_run(x, 2);
    text_clear(&x->log);
}

const struct cohort *world_cohort(const struct world *x, int i)
{
    return cohorts_of(watch_cohorts(x->w), world_node(x, i)->id);
}

struct place_row world_row(const struct world *x, int i)
{
    size_t n;
    return watch_rows(x->w, &n)[world_node(x, i)->id];
}

const struct drift *world_drift(const struct world *x, int i)
{
    const struct member *m = world_node(x, i);
    return m->past ? m->past->drift : NULL;
}

bool world_held(const struct world *x, int i, enum claim_kind kind)
{
    const struct member *m = world_node(x, i);
    for (size_t k = 0; k < m->n_claims; k++)
        if (m->claims[k].claim->kind == kind)
            return true;
    return false;
}

void world_take_checks(struct world *x, struct checks *own, const char *records)
{
    struct checks fresh, old = *own;
    assert_int_equal(checks_parse("checks", records, strlen(records), &fresh, NULL), 0);
    *own = fresh;
    watch_set_policy(x->w, &x->policy);
    checks_fini(&old);
}
