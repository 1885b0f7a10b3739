/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands about the cluster as a whole: partitions, status, events, reload, tokens.
 */
#include "cli/listing.h"
#include "cli/print.h"
#include "cli/report.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- partitions ---- */

int partition_list(struct call *c, struct err *e)
{
    static const struct listing partitions = {.record = RECORD_PARTITION, .all = fettle_partition_list};
    return listing_show(c, &partitions, NULL, e);
}

/* ---- status ---- */

/* "IDLE 60, DOWN 4" */
static void write_counts(struct text *out, const struct fettle_value *counts)
{
    for (const struct fettle_value *i = fettle_value_first(counts), *first = i; i; i = fettle_value_next(i)) {
        const char *key = fettle_value_key(i), *n = fettle_value_text(i);
        text_printf(out, "%s%s %s", i == first ? "" : ", ", key ? key : "?", n ? n : "?");
    }
}

static void write_line(struct text *out, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    size_t width = print_safe(out, name); /* of a counterpart it is the controller's word */
    text_printf(out, "%*s ", width < 12 ? (int)(12 - width) : 0, "");
    print_safe(out, value);
    text_add_char(out, '\n');
}

static const char *member_text(const struct fettle_value *o, const char *key)
{
    const char *text = fettle_get_text(o, key);
    return text ? text : "";
}

/* "ok since 2026-11-22T16:00:00Z, last success 2026-..." or "TROUBLE since ...: why; 3 changes wait" */
static void write_counterpart(struct text *out, const struct fettle_value *i)
{
    CLEANUP_TEXT struct text t = {0};
    const char *state = member_text(i, "state"), *last = member_text(i, "last_success"),
               *why = member_text(i, "text");
    int64_t waiting = 0;
    text_printf(&t, "%s since %s, last success %s", strcmp(state, "trouble") == 0 ? "TROUBLE" : state,
                member_text(i, "since"), *last ? last : "never");
    text_printf(&t, "%s%s", *why ? ": " : "", why);
    if (fettle_get_number(i, "waiting", &waiting) == 0 && waiting > 0)
        text_printf(&t, "; waiting: %lld %s", (long long)waiting, member_text(i, "waits"));
    write_line(out, member_text(i, "name"), t.s);
}

static void write_alarm(struct text *out, const struct fettle_value *i)
{
    CLEANUP_TEXT struct text t = {0};
    const char *subject = member_text(i, "subject"), *nodes = member_text(i, "nodes");
    text_printf(&t, "%s%s%s since %s", member_text(i, "alarm"), *subject ? " " : "", subject,
                member_text(i, "since"));
    text_printf(&t, "%s%s: %s", *nodes ? ", " : "", nodes, member_text(i, "text"));
    write_line(out, "ALARM", t.s);
}

static void write_ms(struct text *t, const struct fettle_value *o, const char *key)
{
    int64_t us = 0;
    fettle_get_number(o, key, &us);
    text_printf(t, "%lld.%lld ms", (long long)us / 1000, (long long)us % 1000 / 100);
}

/* "7.3 ms (6.9 ms of a processor): GET /v1/nodes 5.1 ms, frame BATCH (4 times) 0.9 ms" */
static void write_longest(struct text *out, const struct fettle_value *turns)
{
    const struct fettle_value *longest = fettle_value_first(fettle_value_find(turns, "longest"));
    const struct fettle_value *did = fettle_value_find(longest, "did");
    CLEANUP_TEXT struct text t = {0};
    int64_t times;
    if (!longest)
        return;
    write_ms(&t, longest, "us");
    text_add(&t, " (");
    write_ms(&t, longest, "cpu_us");
    text_add(&t, " of a processor)");
    for (const struct fettle_value *i = fettle_value_first(did); i; i = fettle_value_next(i)) {
        text_printf(&t, "%s %s ", i == fettle_value_first(did) ? ":" : ",", member_text(i, "what"));
        if (fettle_get_number(i, "times", &times) == 0 && times > 1)
            text_printf(&t, "(%lld times) ", (long long)times);
        write_ms(&t, i, "us");
    }
    write_line(out, "Longest turn", t.s);
}

/* Etcd's own health, and what a person does about it. */
static void write_etcd(struct text *out, const struct fettle_value *etcd)
{
    if (!etcd)
        return;
    if (!fettle_get_true(etcd, "majority"))
        write_line(out, "ETCD",
                   "it has no majority: start its members that are down; until then nothing can change");
    if (fettle_get_true(etcd, "no_space"))
        write_line(
            out, "ETCD",
            "its space alarm is on: defragment its members (etcdctl defrag), then etcdctl alarm disarm");
    if (fettle_get_true(etcd, "corrupt"))
        write_line(out, "ETCD", "it reports a damaged member: replace that member");
    const struct fettle_value *endpoints = fettle_value_find(etcd, "endpoints");
    for (const struct fettle_value *i = fettle_value_first(endpoints); i; i = fettle_value_next(i)) {
        CLEANUP_TEXT struct text t = {0};
        if (fettle_get_true(i, "answers"))
            text_printf(&t, "%s, version %s, leader %s, %s of %s bytes in use", member_text(i, "url"),
                        member_text(i, "version"),
                        *member_text(i, "leader") ? member_text(i, "leader") : "unknown",
                        member_text(i, "bytes_used"), member_text(i, "bytes"));
        else
            text_printf(&t, "%s DOES NOT ANSWER: %s", member_text(i, "url"), member_text(i, "message"));
        write_line(out, "etcd", t.s);
    }
}

/* "c2 at c2:6121, follower, revision 17, heard 300 ms ago". Only `controller list` has those that were
 * removed. */
static void write_member(struct text *out, const struct fettle_value *m)
{
    const char *state = member_text(m, "state");
    int64_t ahead, within;
    CLEANUP_TEXT struct text t = {0};
    if (strcmp(state, "removed") == 0)
        return;
    text_add(&t, member_text(m, "name"));
    if (strcmp(state, "admitted") == 0)
        text_add(&t, ", admitted, and never heard");
    else if (strcmp(state, "away") == 0)
        text_printf(&t, " at %s, away since %s", member_text(m, "address"), member_text(m, "heard"));
    else
        text_printf(&t, " at %s, %s, revision %s, heard %s ms ago", member_text(m, "address"), state,
                    member_text(m, "revision"), member_text(m, "age_ms"));
    if (fettle_get_number(m, "clock_ahead_ms", &ahead) == 0 &&
        fettle_get_number(m, "clock_within_ms", &within) == 0 && (ahead > within || ahead < -within))
        text_printf(&t, ", clock %+lld ms, give or take %lld ms", (long long)ahead, (long long)within);
    write_line(out, "Member", t.s);
}

/* "told by the leader, 300 ms ago"; or why it is not. */
static void write_observed(struct text *out, const struct fettle_value *observed)
{
    CLEANUP_TEXT struct text t = {0};
    int64_t age_ms;
    const bool has_age = fettle_get_number(observed, "age_ms", &age_ms) == 0;
    if (!observed || fettle_get_true(observed, "own"))
        return;
    text_add(&t, has_age ? "told by the leader, " : "nothing was told by the leader yet");
    if (has_age)
        text_printf(&t, "%lld ms ago", (long long)age_ms);
    write_line(out, "Observed", t.s);
    if (*member_text(observed, "message"))
        write_line(out, "NOT CURRENT", member_text(observed, "message"));
}

/* "c1 (https://c1:6121), this controller knew all commits 300 ms ago"; and a line for each controller and
 * each member of etcd. */
static void write_quorum(struct text *out, const struct fettle_value *quorum)
{
    CLEANUP_TEXT struct text leader = {0};
    int64_t age_ms;
    if (!quorum)
        return;
    text_add(&leader, *member_text(quorum, "leader") ? member_text(quorum, "leader") : "nobody");
    if (*member_text(quorum, "address"))
        text_printf(&leader, " (https://%s)", member_text(quorum, "address"));
    if (fettle_get_number(quorum, "age_ms", &age_ms) == 0)
        text_printf(&leader, ", this controller knew all commits %lld ms ago", (long long)age_ms);
    write_line(out, "Leader", leader.s);
    if (*member_text(quorum, "message"))
        write_line(out, "NOT CURRENT", member_text(quorum, "message"));
    write_observed(out, fettle_value_find(quorum, "observed"));
    const struct fettle_value *members = fettle_value_find(quorum, "members");
    for (const struct fettle_value *i = fettle_value_first(members); i; i = fettle_value_next(i)) {
        write_member(out, i);
    }
    write_etcd(out, fettle_value_find(quorum, "etcd"));
}

/* "cluster 2 of 5, class gpu 1 of 1": nodes that are out by Fettle's own decision, and the limit. */
static void write_budgets(struct text *out, const struct fettle_value *budgets)
{
    CLEANUP_TEXT struct text t = {0};
    for (const struct fettle_value *i = fettle_value_first(budgets); i; i = fettle_value_next(i))
        text_printf(&t, "%s%s %s of %s", t.len ? ", " : "", member_text(i, "scope"), member_text(i, "out"),
                    member_text(i, "limit"));
    write_line(out, "Budgets used", t.s);
}

/* "slurm: 2 held, 3 out, 1 unknown" */
static void write_elsewhere(struct text *out, const struct fettle_value *elsewhere)
{
    static const char *const keys[] = {"held", "out", "unknown"};
    CLEANUP_TEXT struct text t = {0};
    for (const struct fettle_value *i = fettle_value_first(elsewhere); i; i = fettle_value_next(i)) {
        text_printf(&t, "%s%s: ", t.len ? "; " : "", member_text(i, "where"));
        bool any = false;
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            int64_t n;
            if (fettle_get_number(i, keys[k], &n) < 0 || n == 0)
                continue;
            text_printf(&t, "%s%lld %s", any ? ", " : "", (long long)n, keys[k]);
            any = true;
        }
    }
    write_line(out, "Elsewhere", t.s);
}

/* Whether Fettle acts, and its present work. */
static void write_doings(struct text *out, const struct fettle_value *s)
{
    static const char *const modes[][2] = {{"off", "off: no checks run"},
                                           {"observe", "observe: faults are recorded, nothing follows"},
                                           {"act", "act: bad nodes are drained, repaired and returned"}};
    const char *mode = fettle_get_text(s, "mode");
    for (size_t i = 0; mode && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(mode, modes[i][0]) == 0)
            write_line(out, "Mode", modes[i][1]);
    const struct fettle_value *brakes = fettle_value_find(s, "brakes");
    for (const struct fettle_value *i = fettle_value_first(brakes); i; i = fettle_value_next(i)) {
        CLEANUP_TEXT struct text t = {0};
        text_printf(&t, "%s: %s", member_text(i, "name"), member_text(i, "why"));
        write_line(out, "BRAKE", t.s);
    }
    write_budgets(out, fettle_value_find(s, "budgets"));
    write_line(out, "Incidents", fettle_get_text(s, "incidents"));
    write_line(out, "Repairs", fettle_get_text(s, "repairs"));
    write_line(out, "Queue", fettle_get_text(s, "queue"));
}

/* The agreed configuration, and its hash, shortened as for people. */
static void write_configuration(struct text *out, const char *name, const struct fettle_value *s)
{
    const struct fettle_value *c = fettle_value_find(s, "configuration");
    const char *hash = fettle_get_text(c, "hash"), *by = fettle_get_text(c, "by");
    CLEANUP_TEXT struct text said = {0};
    if (!hash)
        return;
    text_printf(&said, "revision %s (%.12s) by %s", member_text(c, "revision"), hash, by ? by : "?");
    write_line(out, name, said.s);
}

/* The last backup; and that the state itself came from one. */
static void write_backup(struct text *out, const struct fettle_value *s)
{
    const struct fettle_value *backup = fettle_value_find(s, "backup");
    const struct fettle_value *last = fettle_value_find(backup, "last");
    const struct fettle_value *restored = fettle_value_find(s, "restored");
    CLEANUP_TEXT struct text t = {0}, from = {0};
    char age[32];
    if (last)
        text_printf(&t, "%s ago, revision %s: %s", report_age(member_text(last, "at"), age),
                    member_text(last, "revision"), member_text(last, "name"));
    else if (*member_text(backup, "directory"))
        text_add(&t, "none yet");
    write_line(out, "Backup", t.s);
    if (restored)
        text_printf(&from, "%s, from a backup of %s at revision %s", member_text(restored, "at"),
                    member_text(restored, "made"), member_text(restored, "revision"));
    write_line(out, "Restored", from.s);
}

static void write_status(struct text *out, const struct fettle_value *s)
{
    CLEANUP_TEXT struct text counts = {0};
    const struct fettle_value *store = fettle_value_find(s, "store");
    const struct fettle_value *alarms = fettle_value_find(s, "alarms");
    char span[32];
    int64_t seconds, misfits;
    write_line(out, "Cluster", fettle_get_text(s, "cluster"));
    write_line(out, "Controller", fettle_get_text(s, "controller"));
    write_line(out, "Role", fettle_get_text(s, "role"));
    write_quorum(out, fettle_value_find(s, "quorum"));
    write_line(out, "Version", fettle_get_text(s, "version"));
    if (fettle_get_number(s, "uptime_s", &seconds) == 0 && seconds >= 0 && seconds < INT64_C(9000000000))
        write_line(out, "Up for", span_human(span_s(seconds), span));
    write_doings(out, s);
    write_line(out, "Revision", fettle_get_text(s, "revision"));
    write_configuration(out, "Configured", s);
    write_line(out, "Store", fettle_get_text(store, "state"));
    write_line(out, "", fettle_get_text(store, "message"));
    write_longest(out, fettle_value_find(s, "turns"));
    write_counts(&counts, fettle_value_find(s, "nodes"));
    write_line(out, "Nodes", counts.s);
    write_line(out, "Schedulable", fettle_get_text(s, "schedulable"));
    write_elsewhere(out, fettle_value_find(s, "elsewhere"));
    write_line(out, "Agents", fettle_get_text(s, "agents"));
    if (fettle_get_number(s, "misfits", &misfits) == 0 && misfits > 0)
        write_line(out, "Misfits", fettle_get_text(s, "misfits"));
    const struct fettle_value *conform = fettle_value_find(s, "conform");
    write_line(out, "Cohorts", fettle_get_text(conform, "cohorts"));
    write_line(out, "Drifted", fettle_get_text(conform, "drifted"));
    write_backup(out, s);
    const struct fettle_value *parts = fettle_value_find(s, "counterparts");
    for (const struct fettle_value *i = fettle_value_first(parts); i; i = fettle_value_next(i))
        write_counterpart(out, i);
    for (const struct fettle_value *i = fettle_value_first(alarms); i; i = fettle_value_next(i))
        write_alarm(out, i);
    const struct fettle_value *warnings = fettle_value_find(s, "warnings");
    for (const struct fettle_value *i = fettle_value_first(warnings); i; i = fettle_value_next(i))
        write_line(out, "WARNING", fettle_value_text(i));
}

int status_show(struct call *c, struct err *e)
{
    struct fettle_answer *answer = NULL;
    int r = call_answer(c, fettle_status, &answer, e);
    if (r < 0)
        return r;
    if (call_has(c, OPTION_JSON))
        report_json(c, fettle_answer_value(answer));
    else
        write_status(&c->out, fettle_answer_value(answer));
    fettle_answer_free(answer);
    return 0;
}

/* ---- who the caller is ---- */

/* Adds the values of an array, with commas between. */
static void list_add(const struct fettle_value *list, struct text *t)
{
    const char *between = "";
    for (const struct fettle_value *i = fettle_value_first(list); i;
         i = fettle_value_next(i), between = ", ") {
        const char *s = fettle_value_text(i);
        text_printf(t, "%s%s", between, s ? s : "?");
    }
}

/* The values of an array in one line. */
static void write_list(struct text *out, const char *name, const struct fettle_value *list)
{
    CLEANUP_TEXT struct text t = {0};
    list_add(list, &t);
    write_line(out, name, t.len ? t.s : "none");
}

/* "physics: tenant-administrator, claimant", a line for each tenant. */
static void write_tenants(struct text *out, const struct fettle_value *tenants)
{
    const char *name = "Tenants";
    for (const struct fettle_value *i = fettle_value_first(tenants); i; i = fettle_value_next(i), name = "") {
        CLEANUP_TEXT struct text t = {0};
        const char *tenant = fettle_get_text(i, "tenant");
        text_printf(&t, "%s: ", tenant ? tenant : "?");
        list_add(fettle_value_find(i, "roles"), &t);
        write_line(out, name, t.s);
    }
}

static void write_whoami(struct text *out, const struct fettle_value *who)
{
    write_line(out, "You are", fettle_get_text(who, "actor"));
    write_line(out, "Known by", fettle_get_text(who, "kind"));
    write_line(out, "Subject", fettle_get_text(who, "subject"));
    write_line(out, "Person", fettle_get_true(who, "person") ? "yes, by the token" : "not proven");
    write_line(out, "Until", fettle_get_text(who, "until"));
    write_list(out, "Roles", fettle_value_find(who, "roles"));
    write_tenants(out, fettle_value_find(who, "tenants"));
    const struct fettle_value *routes = fettle_value_find(who, "routes");
    const char *name = "May call";
    for (const struct fettle_value *i = fettle_value_first(routes); i; i = fettle_value_next(i), name = "")
        write_line(out, name, fettle_value_text(i));
}

int whoami_show(struct call *c, struct err *e)
{
    struct fettle_answer *answer = NULL;
    int r = call_answer(c, fettle_whoami, &answer, e);
    if (r < 0)
        return r;
    if (call_has(c, OPTION_JSON))
        report_json(c, fettle_answer_value(answer));
    else
        write_whoami(&c->out, fettle_answer_value(answer));
    fettle_answer_free(answer);
    return 0;
}

/* ---- events ---- */

static void write_event(struct call *c, const struct fettle_value *v)
{
    static const char *const keys[] = {"at", "what", "actor", "nodes", "text"};
    enum { KEYS = sizeof keys / sizeof keys[0] };
    if (call_has(c, OPTION_JSON)) {
        report_json(c, v);
        return;
    }
    for (size_t i = 0; i < KEYS; i++) {
        const char *s = fettle_get_text(v, keys[i]);
        bool empty = !s || !*s;
        if (empty && i == KEYS - 1)
            break;
        text_add(&c->out, i > 0 ? "  " : "");
        print_safe(&c->out, empty ? "-" : s);
    }
    text_add_char(&c->out, '\n');
}

static void write_gap(struct call *c)
{
    text_add(&c->out, call_has(c, OPTION_JSON) ? "{\"what\":\"resync\"}\n"
                                               : "-  resync  -  -  events may have been missed here\n");
}

int event_follow(struct call *c, struct err *e)
{
    struct fettle_events *events = NULL;
    struct fettle_event event;
    struct fettle_error why;
    struct fettle *f = call_controller(c, e);
    if (!f)
        return e->code;
    int r = call_told(fettle_events_open(f, NULL, &events, &why), &why, e);
    while (r == 0) {
        r = call_told(fettle_events_next(events, -1, &event, &why), &why, e);
        if (r < 0)
            break;
        if (strcmp(event.name, "resync") == 0)
            write_gap(c);
        else
            write_event(c, event.data);
        r = call_flush(c, STDOUT_FILENO, e);
    }
    fettle_events_close(events);
    return r;
}

/* ---- reload and tokens ---- */

int config_reload(struct call *c, struct err *e)
{
    struct fettle_answer *answer = NULL;
    int r = call_answer(c, fettle_reload, &answer, e);
    if (r < 0)
        return r;
    const struct fettle_value *changes = fettle_value_find(fettle_answer_value(answer), "changes");
    if (call_has(c, OPTION_DRY_RUN) && !call_has(c, OPTION_JSON))
        text_add(&c->out, "dry run: nothing of this is taken\n");
    if (call_has(c, OPTION_JSON))
        report_json(c, fettle_answer_value(answer));
    else if (fettle_value_count(changes) == 0)
        text_add(&c->out, "nothing has changed\n");
    for (const struct fettle_value *i = fettle_value_first(changes); i && !call_has(c, OPTION_JSON);
         i = fettle_value_next(i)) {
        print_safe(&c->out, fettle_value_text(i) ? fettle_value_text(i) : "?");
        text_add_char(&c->out, '\n');
    }
    if (fettle_value_count(changes) && !call_has(c, OPTION_DRY_RUN) && !call_has(c, OPTION_JSON))
        write_configuration(&c->out, "Configured", fettle_answer_value(answer));
    fettle_answer_free(answer);
    return 0;
}

static void write_token(struct text *out, const struct fettle_value *v)
{
    write_line(out, "Token", fettle_get_text(v, "token"));
    write_line(out, "Id", fettle_get_text(v, "id"));
    write_line(out, "Expires", fettle_get_text(v, "expires"));
    write_line(out, "To join", fettle_get_text(v, "command"));
}

int token_create(struct call *c, struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    struct fettle_token t = {.valid = c->value[OPTION_VALID],
                             .again = call_has(c, OPTION_AGAIN),
                             .from = c->value[OPTION_FROM],
                             .uuid = c->value[OPTION_UUID]};
    uint64_t count = 0;
    if (!call_has(c, OPTION_NODES))
        return err_set(e, -EINVAL, "for which nodes? --nodes NODES");
    int r = choice_nodes(&c->value[OPTION_NODES], 1, &nodes, e);
    if (r == 0 && call_has(c, OPTION_COUNT) &&
        (r = text_parse_u64(c->value[OPTION_COUNT], 1, UINT32_MAX, &count, e)) < 0)
        return err_wrap(e, r, "--count");
    t.nodes = nodes;
    t.count = (unsigned)count;
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    r = call_told(fettle_token_create(f, &t, &answer, &why), &why, e);
    if (r < 0)
        return r;
    if (call_has(c, OPTION_DRY_RUN))
        return report_would(c, answer);
    if (call_has(c, OPTION_JSON))
        report_json(c, fettle_answer_value(answer));
    else
        write_token(&c->out, fettle_answer_value(answer));
    fettle_answer_free(answer);
    return 0;
}

int token_list(struct call *c, struct err *e)
{
    static const struct listing tokens = {.record = RECORD_TOKEN, .all = fettle_token_list};
    return listing_show(c, &tokens, NULL, e);
}

int token_end(struct call *c, struct err *e)
{
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    CLEANUP_TEXT struct text done = {0};
    if (call_needs_reason(c, e) < 0)
        return e->code;
    struct fettle *f = call_controller(c, e);
    if (!f)
        return e->code;
    text_printf(&done, "token %s is ended", c->args[0]);
    int r = call_told(fettle_token_end(f, c->args[0], c->value[OPTION_REASON], &answer, &why), &why, e);
    return r < 0 ? r : report_change(c, answer, done.s, done.s);
}
