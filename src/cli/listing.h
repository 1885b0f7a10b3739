/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_LISTING_H
#define FETTLE_CLI_LISTING_H

#include "cli/choice.h"

/*
 * A command that lists records: asks the controller, and shows those that were asked for, in the form that
 * was asked for.
 */

/* Asks; the query may say for what. */
typedef int listing_ask_fn(struct call *c, const struct query *q, struct fettle_answer **answer,
                           struct err *e);

struct listing {
    enum record record;
    listing_ask_fn *ask;
    bool chooses;     /* the arguments are host lists and filters */
    bool whole;       /* JSON and YAML without fields are the answer as it came, for it is about one thing */
    const char *part; /* the member of the answer that all of it is about; NULL: the answer itself */
    /* Write what stands above and below the table, unless the call chooses records or fields; NULL: nothing.
     */
    void (*above)(struct call *c, const struct fettle_value *v);
    void (*below)(struct call *c, const struct fettle_value *v);
    /* Writes all of it for a person instead of the table, likewise; NULL: the table. */
    void (*people)(struct call *c, const struct fettle_value *v);
};

/* The same for a command that asks something of each of several nodes: the exit status of a conflict when it
 * could not be done on one of them, which is a record with an error in the answer's results. */
int listing_results(struct call *c, const struct listing *l, struct err *e);

/* Asks and shows. With `keep` the caller has the answer then, which is NULL when only help was asked for, and
 * frees it. 0 or -errno. */
int listing_show(struct call *c, const struct listing *l, struct fettle_answer **keep, struct err *e);

#endif
