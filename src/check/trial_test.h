/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CHECK_TRIAL_TEST_H
#define FETTLE_CHECK_TRIAL_TEST_H

#include "check/part.h"
#include "probe/tree_test.h"

/*
 * For tests: looks at a tree of files that stands for a machine, and what they come to. Failures end the
 * test.
 */

struct trial {
    struct tree *tree; /* with /sys mounted */
    struct memory *memory;
    int64_t now_s; /* of the last look; 60 s later each time */
    const struct look_calls *calls;
    const struct look_clock *clock;
    struct look_shared *shared;
    struct text said;
};

/* One look of a check, by its record ("Probe=fs.space Path=/x", without "Check="). In words, borrowed until
 * the next look: "ok", "unknown WHY", "unsupported WHY", or a line for each finding: "fatal DEVICE: TEXT". */
const char *trial_look(struct trial *t, const char *record);
/* The same of facts that are told. */
const char *trial_judge(struct trial *t, const char *record, const char *facts);
/* Looks, and compares. */
void trial_expect(struct trial *t, const char *record, const char *said);
/* The look begins with this. */
void trial_begins(struct trial *t, const char *record, const char *said);
/* Nothing is remembered any more. */
void trial_forget(struct trial *t);
void trial_add(struct trial *t, const char *path, const char *text);
void trial_remove(struct trial *t, const char *path);

/* A cmocka test with a trial of its own in *state. */
int trial_setup(void **state);
int trial_teardown(void **state);
#define IN_TRIAL(f) cmocka_unit_test_setup_teardown(f, trial_setup, trial_teardown)

#endif
