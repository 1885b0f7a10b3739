/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_CHOICE_H
#define FETTLE_CLI_CHOICE_H

#include "base/hostlist.h"
#include "cli/command.h"
#include "cli/query.h"
#include "cli/view.h"

/*
 * From the options and arguments of a call to nodes, a query, and a form of output.
 */

/* Host lists of several arguments, as one. -EINVAL, also when they name no node. */
int choice_hosts(const char *const *args, size_t n, struct hostlist *h, struct err *e);
/* The same, folded; the caller frees it. */
int choice_nodes(const char *const *args, size_t n, char **nodes, struct err *e);

/* --json, --csv, --fold, --no-header; colours where standard output wants them. */
int choice_view(const struct call *c, struct view *v, struct err *e);
/* --output (or the fields shown without it), --sort, --where, and the arguments. */
int choice_query(const struct call *c, struct query *q, struct err *e);

/* Asks the controller; nodes NULL for those of the query. The rows live as long as the answer. */
int choice_fetch(struct call *c, const struct query *q, const char *nodes, struct fettle_answer **answer,
                 struct rows *rows, struct err *e);

#endif
