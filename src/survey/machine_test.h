/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_SURVEY_MACHINE_TEST_H
#define FETTLE_SURVEY_MACHINE_TEST_H

#include "probe/tree_test.h"
#include "survey/survey.h"

/*
 * For tests: machines as files of test/data/survey, and what is surveyed in them. Failures end the test.
 *
 * A line "path: text" is a file, "path -> target" a symbolic link, "path/" a directory; "path <<" a file
 * of all lines up to one that is "<<". '#' begins a comment.
 */
void machine_add(struct tree *t, const char *name);

/* The drivers of the machines' cards, and no NVML. */
extern const struct survey_calls machine_calls;

/* What is surveyed, sorted; of a node named "gx007" without a configuration. */
void machine_survey(const struct tree *t, struct components *out);
void machine_survey_as(const struct tree *t, const char *node, const struct survey_conf *conf,
                       const struct survey_calls *calls, struct components *out);

/* The same of a node with this fingerprint.conf. */
void machine_survey_named(const struct tree *t, const char *conf, struct components *out);

/* The component's value; "-" when it is absent, also without standing in the list; "? WHY". Borrowed until
 * the next call. */
const char *machine_say(const struct components *c, const char *name);
/* Surveys with machine_calls and compares one component with what machine_say says of it. */
void machine_expect(const struct tree *t, const char *name, const char *said);

/* Compares all components with test/data/survey/NAME, or writes it when FETTLE_GOLDEN is "write". */
void machine_golden(const char *name, const struct components *c);

#endif
