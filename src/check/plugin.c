/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include "health/plugin.h"
#include "health/tool.h"
#include "probe/keeper.h"
#include "probe/shell.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * plugin   "exit STATUS", "output LINE" for each line, and "more REST" where it is longer than a fact
 * tool     "exit STATUS", "group" and "teller" where they are so, what tool.tbl says of the output (wrong,
 *          bad, own, absent, passed), "value N" in thousandths, "evidence TEXT", "last LINE"
 *
 * The plugin and all that it starts end shortly before the record's deadline (probe/keeper.h). All of it is
 * waited for: what cannot be killed keeps this process, too, and whoever runs it starts no other one
 * meanwhile. What the plugin says beyond a limit is read and dropped: it does not hang on a full pipe.
 */

enum { OUTPUT_BYTES_MAX = 8192, PIECE_BYTES = 500, RESERVE_MS = 200, FOR_EVER_S = 86400 * 365 };

struct plugin {
    const struct look *look;
    const char *run;
    bool errors; /* standard error is read too */
};

/* The nodes that run it together: FETTLE_NODES, FETTLE_COUNT, FETTLE_RANK. A check that a node runs by
 * itself has none of them. */
static void tell_company(const struct company *with)
{
    char number[16];
    unsigned n = 1;
    unsetenv("FETTLE_NODES");
    unsetenv("FETTLE_COUNT");
    unsetenv("FETTLE_RANK");
    if (!with->nodes)
        return;
    for (const char *c = with->nodes; *c; c++)
        n += *c == ',';
    setenv("FETTLE_NODES", with->nodes, 1);
    snprintf(number, sizeof number, "%u", n);
    setenv("FETTLE_COUNT", number, 1);
    snprintf(number, sizeof number, "%u", with->rank);
    setenv("FETTLE_RANK", number, 1);
}

static void plugin_become(void *arg)
{
    const struct plugin *p = arg;
    tell_company(&p->look->company);
    if (p->errors && dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
        _exit(126);
    shell_become_secretly(p->run);
}

static void fact_line(const char *line, size_t len, struct text *out)
{
    const char *key = "output";
    do {
        size_t n = len < PIECE_BYTES ? len : PIECE_BYTES;
        fact_add(out, key, "%.*s", (int)n, line);
        key = "more";
        line += n;
        len -= n;
    } while (len > 0);
}

static void fact_output(struct text *said, struct text *out)
{
    for (size_t i = 0; i < said->len; i++)
        if (!said->s[i])
            said->s[i] = ' ';
    for (const char *p = said->s, *end = p + said->len; p < end;) {
        size_t n = strcspn(p, "\n");
        fact_line(p, n, out);
        p += n + 1;
    }
}

static void fact_end(int r, int status, const struct err *why, struct text *out)
{
    if (r)
        fact_add(out, "unknown", "%s", why->msg);
    else if (!WIFEXITED(status))
        fact_add(out, "unknown", "it was killed by signal %d", WTERMSIG(status));
    else
        fact_add(out, "exit", "%d", WEXITSTATUS(status));
}

/* Runs the record's command, and tells how it ended. */
static void run_record(const struct look *l, bool errors, keeper_hear_fn *hear, void *arg, struct text *said,
                       struct text *out)
{
    struct plugin p = {.look = l, .run = check_arg(l->check, "Run"), .errors = errors};
    if (!p.run) {
        fact_add(out, "unknown", "the record has no Run");
        return;
    }
    const struct keeper_job job = {
        .work = plugin_become,
        .arg = &p,
        .keep = -1,
        .until = mono_add(mono_now(), span_ms(span_to_ms(l->check->deadline) - RESERVE_MS)),
        .timeout = span_s(FOR_EVER_S),
        .bytes_max = OUTPUT_BYTES_MAX,
        .cut = true,
        .hear = hear,
        .hear_arg = arg,
        .machine = l->check->when & (CHECK_EXTENSIVE | CHECK_SCHEDULED),
    };
    struct err why = {0};
    int status = 0, r = keeper_run(&job, said, &status, &why);
    fact_end(r, status, &why, out);
}

void gather_PLUGIN(const struct look *l, struct text *out)
{
    CLEANUP_TEXT struct text said = {0};
    run_record(l, false, NULL, NULL, &said, out);
    if (said.len > 0)
        fact_output(&said, out);
}

/* As the plugin wrote it. */
static void put_together(const char *facts, struct text *said)
{
    struct fact_line line;
    text_add(said, "");
    for (const char *at = facts; fact_next(&at, &line);) {
        bool begins = strcmp(line.key, "output") == 0;
        if (!begins && strcmp(line.key, "more") != 0)
            continue;
        if (begins && said->len > 0)
            text_add_char(said, '\n');
        text_add(said, line.value);
    }
}

void judge_PLUGIN(struct look *l, const char *facts, struct verdict *v)
{
    CLEANUP_TEXT struct text said = {0};
    uint64_t status;
    if (!fact_u64(facts, "exit", &status) || status > 255) {
        struct fact_line why;
        verdict_cannot(v, RESULT_UNKNOWN, "%s",
                       fact_find(facts, "unknown", &why) ? why.value : "no exit status");
        return;
    }
    const char *name = check_arg(l->check, "Metrics");
    enum metric format = METRIC_PERFDATA;
    if (name)
        metric_parse(name, &format); /* it was refused with the record otherwise */
    put_together(facts, &said);
    plugin_read((int)status, said.s, said.len, format, v);
}

/* --- tools --------------------------------------------------------------------------------------- */

static void read_tool(void *arg, const char *bytes, size_t n)
{
    tool_read(arg, bytes, n);
}

/* Judged by the tool's exit alone: nodes that only took part, and a group. */
static void fact_company(const struct look *l, struct text *out)
{
    int64_t teller = -1;
    (void)check_arg_number(l->check, "Rank", -1, &teller, NULL);
    if (l->company.nodes)
        fact_add(out, "group", "yes");
    if (!l->company.nodes || teller < 0 || l->company.rank == (unsigned)teller)
        fact_add(out, "teller", "yes");
}

void gather_TOOL(const struct look *l, struct text *out)
{
    const char *name = check_arg(l->check, "Tool");
    struct tool_said s = {0};
    if (!name || !tool_parse(name, &s.tool)) {
        fact_add(out, "unknown", "the record has no Tool");
        return;
    }
    run_record(l, true, read_tool, &s, NULL, out);
    tool_end(&s);
    const struct {
        const char *key;
        bool is;
    } flags[] = {
        {"wrong", s.wrong}, {"bad", s.bad}, {"own", s.own}, {"absent", s.absent}, {"passed", s.passed}};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (flags[i].is)
            fact_add(out, flags[i].key, "yes");
    if (s.has_value)
        fact_add(out, "value", "%" PRId64, s.value_milli);
    fact_company(l, out);
    fact_add(out, "evidence", "%s", s.evidence);
    fact_add(out, "last", "%s", s.last);
}

static void take_facts(const char *facts, struct tool_said *s, struct tool_end *end)
{
    struct fact_line line;
    s->wrong = fact_find(facts, "wrong", &line);
    s->bad = fact_find(facts, "bad", &line);
    s->own = fact_find(facts, "own", &line);
    s->absent = fact_find(facts, "absent", &line);
    s->passed = fact_find(facts, "passed", &line);
    s->has_value = fact_i64(facts, "value", &s->value_milli);
    end->group = fact_find(facts, "group", &line);
    end->teller = fact_find(facts, "teller", &line);
    if (fact_find(facts, "evidence", &line))
        snprintf(s->evidence, sizeof s->evidence, "%.*s", FINDING_TEXT_BYTES_MAX, line.value);
    if (fact_find(facts, "last", &line))
        snprintf(s->last, sizeof s->last, "%.*s", FINDING_TEXT_BYTES_MAX, line.value);
}

void judge_TOOL(struct look *l, const char *facts, struct verdict *v)
{
    struct tool_said s = {0};
    struct tool_end end = {0};
    const char *name = check_arg(l->check, "Tool");
    int64_t floor;
    uint64_t status = 0;
    take_facts(facts, &s, &end);
    if (!want_number(l, "Floor", 0, &floor, v) || !name || !tool_parse(name, &s.tool))
        return;
    end.floor_milli = floor * 1000;
    struct fact_line why;
    bool ended = fact_u64(facts, "exit", &status) && status <= 255;
    end.status = (int)status;
    if (!ended && !s.wrong && !s.bad) {
        verdict_cannot(v, RESULT_UNKNOWN, "%s%s%s",
                       fact_find(facts, "unknown", &why) ? why.value : "no exit status",
                       *s.last ? "; its last output: " : "", s.last);
        return;
    }
    tool_judge(&s, &end, v);
}
