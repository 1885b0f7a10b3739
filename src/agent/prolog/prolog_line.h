/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_PROLOG_PROLOG_LINE_H
#define FETTLE_AGENT_PROLOG_PROLOG_LINE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The lines between the programs that Slurm runs before and after a job and the agent, without their ends
 * (prolog.h). Pure.
 */

enum {
    PROLOG_QUESTION_BYTES_MAX = 128, /* with its end */
    PROLOG_ANSWER_BYTES_MAX = 1024,
    PROLOG_JOB_BYTES_MAX = 40,
    PROLOG_WAIT_MS_MAX = 3600000
};

struct prolog_kind {
    const char *word;
    unsigned when;     /* values of enum check_when */
    bool task;         /* every user who has tasks may ask */
    bool begins, ends; /* a job does */
};
/* NULL when there is none. */
const struct prolog_kind *prolog_kind_find(const char *word);

struct prolog_question {
    const struct prolog_kind *kind;
    char job[PROLOG_JOB_BYTES_MAX + 1]; /* printable, without blanks; "" when it is not known */
};
/* False when the line is malformed. */
bool prolog_question_read(const char *line, struct prolog_question *q);
/* With its newline. Characters of a job that cannot stand there are left out. */
void prolog_question_write(const char *word, const char *job, char out[static PROLOG_QUESTION_BYTES_MAX]);

enum prolog_answer { PROLOG_OK, PROLOG_NO, PROLOG_WAIT, PROLOG_NONE };
/* PROLOG_NO: *why is its text, in line, with blanks for control characters. PROLOG_WAIT: *ms is the
 * longest wait. PROLOG_NONE: the line is no answer. */
enum prolog_answer prolog_answer_read(char *line, const char **why, uint64_t *ms);

#endif
