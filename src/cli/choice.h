/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_CHOICE_H
#define FETTLE_CLI_CHOICE_H

#include "base/hostlist.h"
#include "cli/command.h"
#include "cli/query.h"
#include "cli/view.h"

/*
 * Turns the options and arguments of a call into nodes, a query, and a form of output.
 */

/* Host lists of several arguments, as one. -EINVAL also when they name no node. */
int choice_hosts(const char *const *args, size_t n, struct hostlist *h, struct err *e);
/* The same, folded; the caller frees it. */
int choice_nodes(const char *const *args, size_t n, char **nodes, struct err *e);

/* The same for a command that acts on nodes: with --where, the nodes of the host lists (or all nodes) that
 * pass, which the controller is asked for. -ENOENT when none passes. */
int choice_targets(struct call *c, const char *const *args, size_t n, struct hostlist *h, struct err *e);
/* The same, folded; the caller frees it. */
int choice_target_list(struct call *c, const char *const *args, size_t n, char **nodes, struct err *e);

/* The query and view for these records, from --output, --json, --csv, --fold, --no-header, --sort, --where
 * and --limit; with colours when standard output takes them. The caller ends q even after -EINVAL. */
int choice_query(const struct call *c, enum record record, struct query *q, struct view *v, struct err *e);

/* The moment that an option names, in seconds since 1970; "2h" means two hours ago. *out is unchanged without
 * the option. */
int choice_moment(const struct call *c, enum option o, int64_t *out, struct err *e);

/* Adds rows in the chosen form. Without named fields, a table of nodes leaves SchedulerState out when no node
 * has one: there is no scheduler. */
void choice_write(struct call *c, const struct view *v, const struct query *q, struct rows *r,
                  struct text *out);

/* Asks the controller for the nodes of the query. */
int choice_fetch(struct call *c, const struct query *q, struct fettle_answer **answer, struct err *e);

#endif
