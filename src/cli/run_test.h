/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_RUN_TEST_H
#define FETTLE_CLI_RUN_TEST_H

#include "base/err.h"

#include <stddef.h>

/*
 * Calls of the tool against a controller of prepared answers.
 */

/* One call, from its words (with blanks between; "_" stands for a blank in one) to its end. */
struct run {
    int status;
    char out[8192];
    char error[ERR_MSG_BYTES_MAX];
};

struct run run(const char *line, const char *controller);
/* The same with one answer, which says `status` and `body`; *sent is what was asked. */
struct run run_with(const char *line, int status, const char *body, char sent[static 4096]);

/* The same as run, of a call that prints while it goes on: *got is what it printed so. */
struct run run_printed(const char *line, const char *controller, char *got, size_t size);

/* A call that is answered: `asked` stands in the request, `printed` is the output, and there is no error. "@"
 * in the answer stands for the time three days, four hours and a half ago. */
void run_expect(const char *line, const char *answer, const char *asked, const char *printed);
/* The same with another exit status than 0. */
void run_expect_status(const char *line, const char *answer, const char *asked, const char *printed,
                       int status);

/* Calls that are refused as wrong usage, each with its sentence, before a controller is asked. */
struct run_wrong {
    const char *line, *error;
};
void run_expect_wrong(const struct run_wrong *cases, size_t n);

#endif
