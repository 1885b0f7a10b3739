/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libuv calls what is prepared right before it waits, and says how long it has waited: what is left between
 * two such calls is a turn, whatever was done in it.
 */
#include "controller/account.h"

#include "base/loop.h"

#include <inttypes.h>
#include <time.h>

enum { TOLD_US = 1000 }; /* shorter turns are not worth a line */

static void on_prepare(uv_prepare_t *p)
{
    struct timespec cpu;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    loop_turned(mono_now(), wall_now(), (struct span){(int64_t)uv_metrics_idle_time(p->loop)},
                (struct span){cpu.tv_sec * INT64_C(1000000000) + cpu.tv_nsec});
}

void account_start(struct account *w, uv_loop_t *loop)
{
    uv_loop_configure(loop, UV_METRICS_IDLE_TIME);
    uv_prepare_init(loop, &w->prepare);
    uv_prepare_start(&w->prepare, on_prepare);
}

void account_stop(struct account *w)
{
    uv_close((uv_handle_t *)&w->prepare, NULL);
}

static json_int_t account_microseconds(struct span s)
{
    return s.ns / 1000;
}

static json_t *parts_status(const struct loop_turn *t)
{
    json_t *list = json_array();
    for (size_t i = 0; i < t->n; i++) {
        const struct loop_part *p = &t->parts[i];
        json_array_append_new(list, json_pack("{s:s,s:I,s:I}", "what", p->what, "times", (json_int_t)p->times,
                                              "us", account_microseconds(p->took)));
    }
    return list;
}

static json_t *longest_status(void)
{
    struct loop_turn turns[LOOP_SECONDS];
    size_t n = loop_longest(mono_now(), turns);
    json_t *list = json_array();
    for (size_t i = 0; i < n && (i == 0 || account_microseconds(turns[i].took) >= TOLD_US); i++) {
        char at[32];
        json_array_append_new(list,
                              json_pack("{s:s,s:I,s:I,s:o}", "at", wall_format(turns[i].at, at), "us",
                                        account_microseconds(turns[i].took), "cpu_us",
                                        account_microseconds(turns[i].cpu), "did", parts_status(&turns[i])));
    }
    return list;
}

static json_t *counts_status(const uint64_t *counts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < LOOP_COUNTS; i++)
        if (counts[i] > 0)
            json_array_append_new(
                list, json_pack("[I,I]", account_microseconds(loop_bound(i)), (json_int_t)counts[i]));
    return list;
}

json_t *account_status(void)
{
    const struct loop_counts *counts = loop_counts();
    return json_pack("{s:o,s:o,s:o}", "longest", longest_status(), "us", counts_status(counts->took),
                     "cpu_us", counts_status(counts->cpu));
}
