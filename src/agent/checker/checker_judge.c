/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/checker_inside.h"

#include <stdio.h>
#include <string.h>

/* Decides what a look at the node comes to. */

const char *checker_stuck_words(bool stuck)
{
    return stuck ? "probe.stuck: " : "";
}

void item_take(struct item *k, const struct verdict *v, bool stuck)
{
    struct mono now = mono_now();
    const char *blind = v->result <= RESULT_UNKNOWN ? v->text : "";
    bool first = !k->any_look, was_blind = k->blind[0] != 0, was_stuck = k->stuck;
    k->any_look = true;
    k->hinted = false;
    k->well = v->result == RESULT_OK;
    k->looked = now;
    snprintf(k->blind, sizeof k->blind, "%s", blind);
    k->stuck = stuck && blind[0];
    bool news = steady_look(&k->steady, k->check, now, v);
    bool renews = k->renewed.ns && k->began.ns >= k->renewed.ns;
    if (news || first || renews || item_counts_are_news(k, now) || was_blind != (k->blind[0] != 0) ||
        was_stuck != k->stuck)
        item_set_news(k);
    item_keep_soon(k);
    item_rest(k, now);
    if (renews)
        k->renewed = (struct mono){0};
    else if (k->renewed.ns)
        item_make_due(k, now); /* this look began before */
    checker_answer_waiters(k, v, mono_sub(now, k->began));
    checker_answer_questions(k->c);
}

static void on_process_end(void *arg)
{
    struct item *k = arg;
    k->hinted = true;
    item_make_due(k, mono_now());
    checker_arm(k->c);
}

/* The end of the process that was found is told at once. */
static void watch_process(struct item *k, const char *facts)
{
    struct fact_line line;
    uint64_t pid;
    if (k->check->probe != PROBE_SERVICE || *k->c->settings.root || k->c->settings.by_hand)
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        if (strcmp(line.key, "process") != 0 || text_parse_u64(line.value, 1, INT32_MAX, &pid, NULL))
            continue;
        if (!k->process)
            k->process = process_hint_create(k->c->loop, on_process_end, k);
        if (!process_hint_watch(k->process, (pid_t)pid)) {
            k->hinted = true;
            item_make_due(k, mono_add(mono_now(), span_ms(CHECKER_HINT_MS)));
        }
        return;
    }
}

void item_judge(struct item *k, const char *facts, bool stuck)
{
    struct verdict v;
    struct look l = item_look(k, mono_now());
    look_judge(&l, facts, &v);
    if (k->check->probe == PROBE_NVIDIA_TEMPERATURE)
        gpu_capacity_read(facts, &k->c->gpus);
    item_take(k, &v, stuck);
    watch_process(k, facts);
}

void item_cannot(struct item *k, bool stuck, const char *why)
{
    struct verdict v;
    verdict_cannot(&v, RESULT_UNKNOWN, "%s%s", checker_stuck_words(stuck), why);
    if (k->check->probe == PROBE_NVIDIA_TEMPERATURE)
        k->c->gpus = (struct gpu_capacity){0};
    item_take(k, &v, stuck);
}
