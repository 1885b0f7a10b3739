/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_LISTING_H
#define FETTLE_CLI_LISTING_H

#include "cli/choice.h"

/*
 * A command that lists records: asks the controller, and shows the selected records in the selected form.
 */

/* Asks the controller; the query may limit the question. */
typedef int listing_ask_fn(struct call *c, const struct query *q, struct fettle_answer **answer,
                           struct err *e);

struct listing {
    enum record record;
    call_answer_fn *all; /* the question, when it has no arguments; */
    listing_ask_fn *ask; /* otherwise NULL, and this asks */
    bool chooses;        /* the arguments are host lists and filters */
    bool whole;          /* JSON and YAML without fields are the unchanged answer, because it is about one
                            thing */
    const char *part;    /* the member of the answer that is shown; NULL: the whole answer */
    /* Write the lines above and below the table, unless the call selects records or fields; NULL: none. */
    void (*above)(struct call *c, const struct fettle_value *v);
    void (*below)(struct call *c, const struct fettle_value *v);
    /* Writes everything for people instead of the table, likewise; NULL: the table. */
    void (*people)(struct call *c, const struct fettle_value *v);
};

/* The same for a command that acts on several nodes: the exit status is that of a conflict when one of the
 * answer's results has an error. */
int listing_results(struct call *c, const struct listing *l, struct err *e);

/* Asks and shows. With `keep`, the caller gets the answer and frees it; it is NULL when only help was wanted.
 * 0 or -errno. */
int listing_show(struct call *c, const struct listing *l, struct fettle_answer **keep, struct err *e);

#endif
