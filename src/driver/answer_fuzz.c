/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/effect.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A record: what is done can be written, and reads as the same. */
static void try_record(const char *key, const char *value)
{
    struct effect x, again;
    if (effect_read(key, value, &x, NULL) < 0)
        return;
    struct text t = {0};
    char *done = x.is_reboot ? progress_write(&x.progress, x.id, "why") : marks_write(&x.done);
    text_printf(&t, "{\"done\":%s}", done);
    bool is_none = x.is_reboot && x.progress.step == REBOOT_NONE;
    if (!is_none && effect_read(key, t.s, &again, NULL) < 0)
        abort();
    if (!is_none && !done_equal(done, again.done_text))
        abort();
    if (!is_none)
        effect_fini(&again);
    effect_fini(&x);
    text_fini(&t);
    free(done);
}

static void on_held(void *arg, const char *xname, const char *how, bool out)
{
    if (!xname)
        abort();
}

/* Whatever a server answers: what goes into a path later on is harmless there. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    char detail[DETAIL_BYTES_MAX + 1], id[TRANSITION_ID_BYTES_MAX + 1];
    struct boot_image image = {.kernel = (char[]){"k"}, .params = (char[]){"p"}};
    struct component component;
    struct transition transition;
    struct transitions list;
    enum boot_found found;
    bool is_member;
    problem_read(bytes, size, detail);
    component_read(bytes, size, &component, NULL);
    held_read(bytes, size, on_held, NULL, NULL);
    membership_read(bytes, size, "drifted", &is_member, NULL);
    bootparameters_read(bytes, size, "x0c0s0b0n0", &image, &found, NULL);
    if (started_read(bytes, size, id, NULL) == 0 && !transition_id_is_valid(id))
        abort();
    if (transition_read(bytes, size, "x0c0s0b0n0", &transition, NULL) == 0 &&
        transition.outcome == TRANSITION_FAILED && !transition.why[0])
        abort();
    if (transitions_read(bytes, size, &list, NULL) == 0)
        for (size_t i = 0; i < list.n; i++)
            if (!transition_id_is_valid(list.restarts[i].id) || !list.restarts[i].created[0])
                abort();
    transitions_fini(&list);
    char *value = mem_dup_len(bytes, size);
    try_record("effect/ochami.lx01", value);
    try_record("effect/reboot.lx01", value);
    free(value);
    return 0;
}
