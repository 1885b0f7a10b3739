/* SPDX-License-Identifier: Apache-2.0 */
#include "check/kernel_log.h"
#include "check/nvml.h"
#include "check/part.h"

#include <assert.h>
#include <string.h>

#define CODE_READ(symbol)               \
    {                                   \
        gather_##symbol, judge_##symbol \
    }
#define CODE_APART(symbol) CODE_READ(symbol)
#define CODE_IDLE(symbol) CODE_READ(symbol)
#define CODE_BENCH(symbol) CODE_READ(symbol)
#define CODE_FOLLOW(symbol)  \
    {                        \
        NULL, judge_##symbol \
    }

static const struct probe_code codes[PROBES] = {
#define PROBE(symbol, name, how, every, severity, blame, keys, source, meaning, more) \
    [PROBE_##symbol] = CODE_##how(symbol),
#include "health/probe.tbl"
#undef PROBE
};

const struct probe_code *probe_code(enum probe p)
{
    return &codes[p];
}

/* --- looks ---------------------------------------------------------------------------------- */

static bool is_word(const struct fact_line *line, const char *word)
{
    return strcmp(line->key, word) == 0;
}

void look_judge(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line, unknown = {.key = ""};
    bool any = false;
    assert(l->memory && "a judgement remembers the looks before it");
    verdict_clear(v);
    for (const char *at = facts; fact_next(&at, &line);) {
        if (is_word(&line, "unsupported")) {
            verdict_cannot(v, RESULT_UNSUPPORTED, "%s", line.value);
            return;
        }
        if (!is_word(&line, "unknown"))
            any = true;
        else if (!*unknown.key)
            unknown = line;
    }
    const struct probe_code *code = probe_code(l->check->probe);
    bool told = !code->gather && !*unknown.key; /* devices without a fact are in order */
    if (!any && !told) {
        verdict_cannot(v, RESULT_UNKNOWN, "%s", *unknown.key ? unknown.value : "nothing was read");
        return;
    }
    code->judge(l, facts, v);
    memory_turn(l->memory);
    if (*unknown.key && v->result < RESULT_WARN)
        verdict_cannot(v, RESULT_UNKNOWN, "%s", unknown.value);
    verdict_cap(v, l->check->severity);
}

void look_shared_fini(struct look_shared *s)
{
    nvml_end(s);
    processes_free(STEAL(s->processes));
}

bool look_walks(enum probe p)
{
    return p == PROBE_ZOMBIES || p == PROBE_DSTATE || p == PROBE_KSWAPD;
}

bool look_apart(const struct look *l)
{
    enum probe_how how = probe_row(l->check->probe)->how;
    if (l->check->probe == PROBE_SERVICE)
        return !service_stands(l);
    if (l->check->probe == PROBE_TIME)
        return !time_stands(l);
    if (!look_walks(l->check->probe))
        return how == PROBE_APART || how == PROBE_IDLE || how == PROBE_BENCH;
    CLEANUP_FD int root = sys_open_root(l->root, NULL);
    return root >= 0 && processes_many(root);
}

void look_parts(const struct look *l, struct text *out)
{
    if (l->check->probe == PROBE_SMART && !check_arg(l->check, "Path"))
        parts_SMART(l, out);
}

void look_now(struct look *l, struct verdict *v)
{
    const struct probe_code *code = probe_code(l->check->probe);
    CLEANUP_TEXT struct text facts = {0};
    struct memory *memory = l->memory;
    l->memory = NULL;
    if (code->gather)
        code->gather(l, &facts);
    else
        kernel_log_gather(l, &facts);
    l->memory = memory;
    look_judge(l, facts.s ? facts.s : "", v);
}
