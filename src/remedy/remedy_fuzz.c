/* SPDX-License-Identifier: Apache-2.0 */
#include "remedy/remedy.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct outcomes nothing(const void *arg, const char *fault, const char *remedy, const char *class)
{
    return (struct outcomes){0};
}

static void check_record(const struct remedies *all, const struct remedy *r)
{
    uint32_t p = outcomes_chance(r, (struct outcomes){0});
    if (p < 10000 || p > 990000 || r->takes.ns <= 0 || r->deadline.ns < r->takes.ns ||
        remedies_find(all, r->name) != r)
        abort();
    if (*r->after && !remedies_find(all, r->after))
        abort();
}

/* A choice from what was read: what is chosen helps, and is possible. */
static void check_choice(const struct remedies *r)
{
    static const struct fault faults[] = {{.fault = "xid.79", .severity = RESULT_FATAL},
                                          {.fault = "service.slurmd", .severity = RESULT_FATAL}};
    struct choice_input in = {
        .remedies = r, .class = "default", .n_faults = 2, .faults = faults, .outcomes = nothing};
    in.policy = (struct cost_policy){.minute = 1000, .disturb = 200, .person = 240000, .scarce = 100};
    struct choice out;
    remedy_choose(&in, &out);
    if (out.n != r->n || (out.chosen && !out.candidates[0].possible))
        abort();
    if (out.chosen && !remedy_helps(out.chosen, "xid.79", "default") &&
        !remedy_helps(out.chosen, "service.slurmd", "default"))
        abort();
}

/* A file of RemedyConf: what is refused says why, and leaves nothing. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct remedies r;
    struct err e = {0};
    if (remedies_parse("fuzz", (const char *)data, size, &r, &e) < 0) {
        if (e.msg[0] == '\0' || r.n != 0 || r.list)
            abort();
        return 0;
    }
    for (size_t i = 0; i < r.n; i++)
        check_record(&r, &r.list[i]);
    check_choice(&r);
    remedies_fini(&r);
    return 0;
}
