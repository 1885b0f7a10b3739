/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/trace_test.h"
#include "watch/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TELL_EVERY_S = 30, CHECKS_HERE = 8 };

struct trace {
    struct world *x;
    struct text checks_conf, remedies_conf;
    struct checks checks;
    struct remedies remedies;
    struct meanings *meanings;
    char *said[NODES + 1][CHECKS_HERE]; /* verdict as JSON; NULL: ok */
    int64_t age_s;
    struct text out;
    int64_t told_s;
    struct bmc_said bmc[NODES + 1]; /* text NULL: it has none */
    bool stood_still;               /* from then on nodes are heard to answer when they are asked */
};

/* --- agents ----------------------------------------------------------------------------------- */

static void send_checks(struct trace *t, int i, bool full, size_t only)
{
    char boot[37];
    bool want;
    struct err e;
    CLEANUP_JSON json_t *list = json_array();
    for (size_t k = 0; k < t->checks.n; k++) {
        if ((full ? !(t->checks.list[k].when & CHECK_PERIODIC) : k != only))
            continue;
        const char *verdict = t->said[i][k] ? t->said[i][k] : "{\"result\":\"ok\"}";
        json_t *one = json_read(verdict, strlen(verdict), NULL);
        json_object_set_new(one, "check", json_string(t->checks.list[k].name));
        json_object_set_new(one, "age_ms", json_integer(t->age_s * 1000));
        json_array_append_new(list, one);
    }
    CLEANUP_JSON json_t *body =
        json_pack("{s:s,s:b,s:O}", "boot", world_boot(t->x, i, boot), "full", (int)full, "checks", list);
    if (watch_checks(t->x->w, world_now(t->x), world_wall(t->x), world_node(t->x, i), body, &want, &e) < 0)
        fail_msg("%s", e.msg);
}

static void tell_all(struct trace *t)
{
    for (size_t i = 1; i <= t->x->n; i++)
        if (!t->x->off[i])
            send_checks(t, (int)i, true, 0);
}

static void on_untold(void *arg, struct member *m)
{
    struct trace *t = arg;
    int i = (int)strtol(m->name + 2, NULL, 10);
    if (t->stood_still && !t->x->off[i])
        send_checks(t, i, true, 0);
}

static void ask_bmc(void *arg, struct member *m)
{
    const struct trace *t = arg;
    const struct bmc_said *is = &t->bmc[strtol(m->name + 2, NULL, 10)];
    static const struct bmc_said none = {.none = true, .text = "it has no BMC"};
    watch_bmc(t->x->w, world_now(t->x), m, is->text ? is : &none);
}

static void run_for(struct trace *t, int64_t seconds)
{
    for (int64_t s = 0; s < seconds; s++) {
        world_run(t->x, 1);
        watch_bmcs_to_ask(t->x->w, world_now(t->x), ask_bmc, t);
        watch_untold(t->x->w, world_now(t->x), on_untold, t);
        if (t->x->now_ms / 1000 - t->told_s >= TELL_EVERY_S) {
            t->told_s = t->x->now_ms / 1000;
            tell_all(t);
        }
    }
}

/* The number after this character, which is cut off with it; 0 without. */
static int cut_number(char *rest, char c)
{
    char *at = strchr(rest, c);
    int n = at ? (int)strtol(at + 1, NULL, 10) : 0;
    if (at)
        *at = '\0';
    return n;
}

/* "CHECK=RESULT[:CODE][@DEVICE][#COUNT][+OTHERS]", words of a device with _ between. */
static void says_one(struct trace *t, int i, const char *word)
{
    char name[64] = "", result[16] = "", rest[128] = "";
    sscanf(word, "%63[^=]=%15[a-z]%127s", name, result, rest);
    size_t k = 0;
    while (k < t->checks.n && strcmp(t->checks.list[k].name, name) != 0)
        k++;
    assert_in_range(k, 0, t->checks.n - 1);
    int others = cut_number(rest, '+'), count = cut_number(rest, '#');
    char *device = strchr(rest, '@');
    if (device)
        *device++ = '\0';
    for (char *p = device; p && *p; p++)
        *p = *p == '_' ? ' ' : *p;
    CLEANUP_JSON json_t *o = json_pack("{s:s}", "result", result);
    enum result r;
    assert_true(result_parse(result, &r));
    if (r > RESULT_OK) {
        json_t *f = json_pack("{s:s,s:s}", "result", result, "text", "as the trace says");
        if (device)
            json_object_set_new(f, "device", json_string(device));
        if (*rest == ':')
            json_object_set_new(f, "code", json_string(rest + 1));
        if (count)
            json_object_set_new(f, "count", json_integer(count));
        if (others)
            json_object_set_new(f, "others", json_integer(others));
        json_object_set_new(o, "findings", json_pack("[o]", f));
    }
    free(t->said[i][k]);
    t->said[i][k] = json_write(o);
    if (!t->x->off[i])
        send_checks(t, i, false, k);
}

/* --- the script ------------------------------------------------------------------------------- */

static void configure(struct trace *t)
{
    struct err e;
    if (checks_parse("checks", t->checks_conf.s, t->checks_conf.len, &t->checks, &e) < 0)
        fail_msg("%s", e.msg);
    if (t->remedies_conf.len &&
        remedies_parse("remedies", t->remedies_conf.s, t->remedies_conf.len, &t->remedies, &e) < 0)
        fail_msg("%s", e.msg);
}

/* "NAME KEY=VALUE ...": the only class beside the default one. */
static void set_class(struct trace *t, char *rest)
{
    char *save;
    struct class_lines one = {.name = strtok_r(rest, " ", &save)};
    size_t n = 0;
    for (char *word; (word = strtok_r(NULL, " ", &save)); n++) {
        char *value = strchr(word, '=');
        assert_true(value && n + 1 < sizeof one.keys / sizeof one.keys[0]);
        *value = '\0';
        one.keys[n] = (struct class_key){word, value + 1};
    }
    world_configure(t->x, &one, 1, "");
}

/* A remedy's record is another one after a reload. */
static void reload(struct trace *t, const char *record)
{
    CLEANUP_TEXT struct text start = {0}, all = {0};
    struct err e;
    text_printf(&start, "Remedy=%.*s ", (int)strcspn(record, " "), record);
    for (char *save, *line = strtok_r(t->remedies_conf.s, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save))
        if (strncmp(line, start.s, start.len) != 0)
            text_printf(&all, "%s\n", line);
    text_printf(&all, "Remedy=%s\n", record);
    text_clear(&t->remedies_conf);
    text_add(&t->remedies_conf, all.s);
    remedies_fini(&t->remedies);
    if (remedies_parse("remedies", all.s, all.len, &t->remedies, &e) < 0)
        fail_msg("%s", e.msg);
    watch_set_policy(t->x->w, &t->x->policy);
}

/* The last nodes are in the configuration, or not. */
static void listed(struct trace *t, size_t n)
{
    t->x->n = n;
    world_configure(t->x, NULL, 0, "");
}

static void set_policy(struct trace *t, const char *key, unsigned value)
{
    struct health_policy *p = &t->x->policy.health;
    const struct {
        const char *key;
        unsigned *value;
    } all[] = {{"out", &p->limits.percent[SCOPE_CLUSTER]},
               {"out_class", &p->limits.percent[SCOPE_CLASS]},
               {"surge", &p->limits.surge},
               {"shared", &p->shared},
               {"week", &p->limits.remedies_a_week},
               {"inconclusive", &p->inconclusive},
               {"out_partition", &p->limits.percent[SCOPE_PARTITION]},
               {"out_group", &p->limits.percent[SCOPE_GROUP]}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].key, key) == 0)
            *all[i].value = value;
    if (strcmp(key, "act") == 0)
        p->limits.act = value;
    if (strcmp(key, "provision_new") == 0)
        p->provision_new = value;
    if (strcmp(key, "lost") == 0)
        p->lost_after = span_s(value);
    else if (strcmp(key, "silent_share") == 0)
        t->x->policy.silent_share_percent = value;
    else if (strcmp(key, "drain_deadline") == 0)
        p->drain_deadline = span_s(value);
    else if (strcmp(key, "examine_deadline") == 0)
        p->examine_deadline = span_s(value);
    watch_set_policy(t->x->w, &t->x->policy);
}

static void begin(struct trace *t, int nodes)
{
    configure(t);
    t->x = world_create((size_t)nodes);
    t->x->policy.health = (struct health_policy){.limits.act = true,
                                                 .limits.percent[SCOPE_CLUSTER] = 100,
                                                 .limits.percent[SCOPE_CLASS] = 100,
                                                 .limits.percent[SCOPE_GROUP] = 100,
                                                 .limits.percent[SCOPE_PARTITION] = 100,
                                                 .limits.surge_window = span_s(600),
                                                 .shared_window = span_s(180),
                                                 .group = span_s(180),
                                                 .examine_deadline = span_s(4 * 3600),
                                                 .provision_deadline = span_s(1800),
                                                 .degraded_for = span_s(3600),
                                                 .inconclusive = 2,
                                                 .limits.remedies_a_week = 5,
                                                 .fresh = span_s(120),
                                                 .override = span_s(4 * 3600),
                                                 .cost = {1000, 200, 240000, 100, 0},
                                                 .meanings = t->meanings,
                                                 .checks = &t->checks,
                                                 .remedies = &t->remedies};
    watch_set_policy(t->x->w, &t->x->policy);
    tell_all(t);
    run_for(t, 2);
    text_clear(&t->x->log);
}

static void effect(struct trace *t, int i, const char *state, const char *text)
{
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "effect/operate.%s", world_node(t->x, i)->name);
    const char *value = cluster_effect_value(t->x->c, key.s);
    if (!value) {
        text_printf(&t->x->log, "no operation\n");
        return;
    }
    CLEANUP_JSON json_t *o = json_read(value, strlen(value), NULL);
    const char *code = strchr(state, ':'); /* "refused:CODE" */
    CLEANUP_FREE char *plain = mem_dup_len(state, strcspn(state, ":"));
    state = plain;
    bool begins = strcmp(state, "begun") == 0 || strcmp(state, "refused") == 0;
    if (!begins && json_is_null(json_object_get(o, "done")))
        effect(t, i, "begun", "");
    CLEANUP_JSON json_t *done = json_pack("{s:s,s:O}", "state", state, "id", json_object_get(o, "id"));
    CLEANUP_TEXT struct text at = {0};
    text_printf(&at, "%lld", (long long)world_wall(t->x).ns);
    if (strcmp(state, "begun") == 0)
        json_object_set_new(done, "at", json_string(at.s));
    else
        json_object_set_new(done, "text", json_string(text));
    if (code)
        json_object_set_new(done, "code", json_string(code + 1));
    CLEANUP_JSON json_t *set = json_pack("{s:s,s:O}", "key", key.s, "done", done);
    CLEANUP_FREE char *json = json_write(set);
    world_command(t->x, COMMAND_EFFECT, "", json);
}

static void stands(struct trace *t, int i)
{
    const struct member *m = world_node(t->x, i);
    const struct repair *r = member_treated(m);
    CLEANUP_TEXT struct text claims = {0}, shortfall = {0}, why = {0};
    struct fitness f;
    watch_fitness(t->x->w, world_now(t->x), m, &claims, &shortfall, &f);
    bool fit = lifecycle_schedulable(&f, &why);
    text_printf(&t->x->log, "%s: %s, step %s, health %s, %s\n", m->name,
                lifecycle_name(lifecycle_of(&f.agreed)), step_name(r ? r->step : STEP_NONE),
                health_name(watch_health(t->x->w, world_now(t->x), m)), fit ? "schedulable" : why.s);
}

static void remembered(struct trace *t, int i)
{
    const struct member *m = world_node(t->x, i);
    const struct ailment *a = member_ailment(m);
    const struct repair *r = member_repairs(m);
    const struct machine_record *is = member_machine(m);
    text_printf(&t->x->log, "%s: %s, %zu before; %zu open, %zu past; tried", m->name,
                is ? is->machine : "any machine", is ? is->n_before : 0, a ? a->n_open : 0,
                a ? a->n_past : 0);
    for (size_t k = 0; r && k < r->n_attempts; k++)
        text_printf(&t->x->log, " %s", r->attempts[k].remedy);
    text_printf(&t->x->log, "; noted");
    for (size_t k = 0; r && k < r->n_notes; k++)
        text_printf(&t->x->log, " \"%s\"", r->notes[k].text);
    text_add_char(&t->x->log, '\n');
}

/* Slurm repeats its last answer. */
static void read_again(void *arg, struct member *m, enum elsewhere_where where)
{
    const struct trace *t = arg;
    watch_elsewhere(t->x->w, world_now(t->x), m, &watch_observed(t->x->w, m)->elsewhere[where].is);
}

static void may(struct trace *t, int i)
{
    const struct repair *r = member_treated(world_node(t->x, i));
    const char *operation = r ? r->operation : "";
    struct err e = {0};
    int rc = watch_may_operate(t->x->w, world_now(t->x), world_node(t->x, i), operation, &e);
    if (rc == -ESTALE) {
        text_printf(&t->x->log, "first %s; ", e.msg);
        watch_unread(t->x->w, read_again, t);
        rc = watch_may_operate(t->x->w, world_now(t->x), world_node(t->x, i), operation, &e);
    }
    text_printf(&t->x->log, "%s: %s\n",
                rc == 0         ? "it may"
                : rc == -EAGAIN ? "not now"
                                : "not any more",
                rc ? e.msg : "");
}

/* booted: the node that went and came back while there was no leader; 0 for none. */
static void lead_anew(struct trace *t, int booted)
{
    if (booted)
        t->x->boot[booted]++;
    world_lead_anew(t->x);
    world_open(t->x, 1, (int)t->x->n);
    run_for(t, 2);
    tell_all(t);
}

static void person(struct trace *t, const char *what, const char *node)
{
    struct world *x = t->x;
    CLEANUP_TEXT struct text set = {0};
    text_printf(&set, "{\"transition\":\"%s\"}", what);
    if (strcmp(what, "drain") == 0)
        world_command_for(x, COMMAND_DRAIN, node, "bad DIMM", NULL);
    else if (strcmp(what, "undrain") == 0)
        world_command(x, COMMAND_UNDRAIN, node, NULL);
    else if (strcmp(what, "approve") == 0)
        world_command_for(x, COMMAND_REPAIR_APPROVE, node, "go ahead", NULL);
    else if (strcmp(what, "refuse") == 0)
        world_command_for(x, COMMAND_REPAIR_REFUSE, node, "not now", NULL);
    else if (strcmp(what, "take") == 0)
        world_command_for(x, COMMAND_TICKET, node, NULL, "{\"take\":true}");
    else if (strcmp(what, "resolve") == 0)
        world_command_for(x, COMMAND_TRANSITION, node, "new cable",
                          "{\"transition\":\"human_intervention\",\"answers\":true}");
    else if (strcmp(what, "stop") == 0)
        world_command_for(x, COMMAND_SWITCH, "", "maintenance window", "{\"name\":\"stop\",\"on\":true}");
    else if (strcmp(what, "go") == 0)
        world_command_for(x, COMMAND_SWITCH, "", NULL, "{\"name\":\"stop\",\"on\":false}");
    else if (strcmp(what, "unlatch") == 0)
        world_command_for(x, COMMAND_SWITCH, "", NULL, "{\"name\":\"latch\",\"on\":false}");
    else
        world_command_for(x, COMMAND_TRANSITION, node, "looked at it", set.s);
}

/* A line that is about one node, or several ("2-6"). */
static void node_line(struct trace *t, const char *verb, int i, char *rest)
{
    char word[64] = "";
    int at = 0;
    sscanf(rest, "%63s %n", word, &at);
    if (strcmp(verb, "says") == 0) {
        for (char *save, *one = strtok_r(rest, " ", &save); one; one = strtok_r(NULL, " ", &save))
            says_one(t, i, one);
    } else if (strcmp(verb, "work") == 0) {
        t->x->work[i] = strcmp(word, "busy") == 0 ? "[\"7\"]" : strcmp(word, "idle") == 0 ? "[]" : NULL;
        run_for(t, 10);
    } else if (strcmp(verb, "slurm") == 0) {
        watch_scheduler(t->x->w, world_node(t->x, i),
                        strcmp(word, "busy") == 0                                      ? WORK_BUSY
                        : strcmp(word, "idle") == 0 || strcmp(word, "completing") == 0 ? WORK_IDLE
                                                                                       : WORK_UNKNOWN,
                        strcmp(word, "completing") == 0);
    } else if (strcmp(verb, "slurmd") == 0) {
        watch_slurmd(t->x->w, world_node(t->x, i),
                     strcmp(word, "answers") == 0  ? SLURMD_ANSWERS
                     : strcmp(word, "silent") == 0 ? SLURMD_SILENT
                     : strcmp(word, "off") == 0    ? SLURMD_OFF
                                                   : SLURMD_UNKNOWN);
    } else if (strcmp(verb, "bmc") == 0) {
        t->bmc[i].answered = strcmp(word, "mute") != 0;
        t->bmc[i].on = strcmp(word, "on") == 0;
        t->bmc[i].text = t->bmc[i].answered ? "Watchdog2 | Hard reset" : "no answer within 20 s";
    } else if (strcmp(verb, "reboot") == 0) {
        world_reboot(t->x, i);
        world_run(t->x, 2);
        send_checks(t, i, true, 0);
    } else if (strcmp(verb, "crashes") == 0) { /* "ENDED": and its agent says so of the boot before */
        static const char *const all[] = {"unknown", "orderly", "panic", "watchdog", "power", "outside"};
        t->x->ended[i] = NULL;
        for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
            if (strcmp(word, all[k]) == 0)
                t->x->ended[i] = all[k];
        world_crash(t->x, i);
        world_run(t->x, 2);
        send_checks(t, i, true, 0);
    } else if (strcmp(verb, "boots") == 0) { /* and its checks say nothing yet */
        world_reboot(t->x, i);
        world_run(t->x, 2);
    } else if (strcmp(verb, "machine") == 0) {
        snprintf(t->x->serial[i], sizeof t->x->serial[i], "%s", strcmp(word, "-") == 0 ? "" : word);
        world_reboot(t->x, i);
        world_run(t->x, 2);
        send_checks(t, i, true, 0);
    } else if (strcmp(verb, "unread") == 0) {
        t->x->unread[i] = true;
    } else if (strcmp(verb, "read") == 0) {
        t->x->unread[i] = false;
        world_inventory(t->x, i);
    } else if (strcmp(verb, "off") == 0) {
        t->x->off[i] = true;
    } else if (strcmp(verb, "on") == 0) {
        t->x->off[i] = false;
    } else if (strcmp(verb, "leaves") == 0) {
        listed(t, (size_t)i - 1);
    } else if (strcmp(verb, "comes") == 0) {
        listed(t, (size_t)i);
    } else if (strcmp(verb, "effect") == 0) {
        effect(t, i, word, rest + at);
    } else if (strcmp(verb, "stands") == 0) {
        stands(t, i);
    } else if (strcmp(verb, "remembered") == 0) {
        remembered(t, i);
    } else if (strcmp(verb, "may") == 0) {
        may(t, i);
    } else if (strcmp(verb, "root") == 0) {
        person(t, word, world_node(t->x, i)->name);
    } else if (strcmp(verb, "resumed") == 0) {
        world_override(t->x, i);
    } else if (strcmp(verb, "window") == 0) {
        watch_window(t->x->w, world_node(t->x, i), strcmp(word, "none") == 0 ? NULL : rest);
    } else if (strcmp(verb, "held") == 0) {
        const struct elsewhere is = {.state = strcmp(word, "nobody") == 0    ? ELSEWHERE_NOBODY
                                              : strcmp(word, "unknown") == 0 ? ELSEWHERE_UNKNOWN
                                                                             : ELSEWHERE_HELD,
                                     .out = true,
                                     .how = "drained",
                                     .by = word,
                                     .why = rest + at};
        const struct elsewhere none = {.state = is.state};
        watch_elsewhere(t->x->w, world_now(t->x), world_node(t->x, i),
                        is.state == ELSEWHERE_HELD ? &is : &none);
    } else if (strcmp(verb, "maintenance") == 0) {
        world_command_for(t->x, COMMAND_TRANSITION, world_node(t->x, i)->name, "host retires",
                          strcmp(word, "off") == 0       ? "{\"transition\":\"maintenance_over\"}"
                          : strcmp(word, "restart") == 0 ? "{\"transition\":\"restart\"}"
                                                         : "{\"transition\":\"maintenance\"}");
    } else {
        fail_msg("no such verb: %s", verb);
    }
}

static int number(const char *text)
{
    uint64_t n;
    assert_int_equal(text_parse_u64(text, 0, INT32_MAX, &n, NULL), 0);
    return (int)n;
}

static void script_line(struct trace *t, const char *line)
{
    char verb[32] = "", key[32] = "", rest[256] = "";
    int at = 0, first = 0, last = 0;
    unsigned value = 0;
    sscanf(line, "%31s %n", verb, &at);
    snprintf(rest, sizeof rest, "%s", line + at);
    if (strcmp(verb, "check") == 0) {
        text_printf(&t->checks_conf, "Check=%s\n", rest);
    } else if (strcmp(verb, "remedy") == 0) {
        text_printf(&t->remedies_conf, "Remedy=%s\n", rest);
    } else if (strcmp(verb, "clock") == 0) { /* is set, by so many hours */
        t->x->clock.ns += strtol(rest, NULL, 10) * span_s(3600).ns;
    } else if (strcmp(verb, "stall") == 0) { /* the controller does nothing for so many seconds */
        t->x->now_ms += 1000 * strtol(rest, NULL, 10);
        t->stood_still = true;
        world_run(t->x, 1);
    } else if (strcmp(verb, "class") == 0) {
        set_class(t, rest);
    } else if (strcmp(verb, "reload") == 0) {
        reload(t, rest);
    } else if (strcmp(verb, "nodes") == 0) {
        begin(t, number(rest));
    } else if (strcmp(verb, "set") == 0 && sscanf(rest, "%31s %u", key, &value) == 2) {
        set_policy(t, key, value);
    } else if (strcmp(verb, "run") == 0) {
        run_for(t, number(rest));
    } else if (strcmp(verb, "age") == 0) {
        t->age_s = number(rest);
    } else if (strcmp(verb, "uptime") == 0) { /* of all nodes, as they say from now on */
        t->x->uptime_s = (uint64_t)number(rest);
    } else if (strcmp(verb, "lead") == 0) {
        lead_anew(t, *rest ? number(rest) : 0);
    } else if (verb[0] != '#') {
        at = 0;
        if (sscanf(rest, "%d-%d %n", &first, &last, &at) < 2) {
            assert_int_equal(sscanf(rest, "%d %n", &first, &at), 1);
            last = first;
        }
        for (int i = first; i <= last; i++) {
            char copy[256];
            snprintf(copy, sizeof copy, "%s", rest + at);
            node_line(t, verb, i, copy);
        }
    }
}

static void read_file(const char *path, struct text *t)
{
    FILE *f = fopen(path, "re");
    char buf[4096];
    assert_non_null(f);
    text_add(t, "");
    for (size_t n; (n = fread(buf, 1, sizeof buf, f)) > 0;)
        text_add_bytes(t, buf, n);
    fclose(f);
}

static void finish(struct trace *t)
{
    for (size_t i = 0; i <= NODES; i++)
        for (size_t k = 0; k < CHECKS_HERE; k++)
            free(t->said[i][k]);
    if (t->x)
        world_destroy(t->x);
    checks_fini(&t->checks);
    meanings_destroy(t->meanings);
    remedies_fini(&t->remedies);
    text_fini(&t->checks_conf);
    text_fini(&t->remedies_conf);
    text_fini(&t->out);
}

void trace_walk(const char *name)
{
    CLEANUP_TEXT struct text path = {0}, file = {0}, copy = {0};
    struct trace *t = mem_alloc(sizeof *t);
    t->meanings = meanings_read(NULL, NULL);
    text_printf(&path, "%s/%s.trace", TEST_DATA, name);
    read_file(path.s, &file);
    text_add(&copy, file.s);
    for (char *save, *line = strtok_r(copy.s, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (line[0] != '>')
            continue;
        text_printf(&t->out, "%s\n", line);
        script_line(t, line + 2);
        if (t->x && t->x->log.len)
            text_add(&t->out, t->x->log.s);
        if (t->x)
            text_clear(&t->x->log);
    }
    const char *mode = getenv("FETTLE_GOLDEN");
    bool write = mode && strcmp(mode, "write") == 0, same = strcmp(t->out.s, file.s) == 0;
    if (write) {
        FILE *f = fopen(path.s, "we");
        fwrite(t->out.s, 1, t->out.len, f);
        fclose(f);
    } else if (!same) {
        print_error("%s differs; it is now:\n%s\n", path.s, t->out.s);
    }
    finish(t);
    free(t);
    assert_true(write || same);
}
