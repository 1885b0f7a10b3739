/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_RUN_TEST_H
#define FETTLE_CLI_RUN_TEST_H

#include "base/err.h"

/*
 * Calls of the tool against a controller of prepared answers.
 */

/* One call, from its words (with blanks between; "_" stands for a blank in one) to its end. */
struct run {
    int status;
    char out[4096];
    char error[ERR_MSG_BYTES_MAX];
};

struct run run(const char *line, const char *controller);
/* The same with one answer, which says `status` and `body`; *sent is what was asked. */
struct run run_with(const char *line, int status, const char *body, char sent[static 4096]);

#endif
