/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CLINIC_TEST_H
#define FETTLE_WATCH_CLINIC_TEST_H

#include "watch/fixture_test.h"

/* A world whose nodes run checks, and say what a test has them say. */
struct clinic {
    struct world *x;
    struct checks checks;
    struct remedies remedies;
    struct meanings *meanings; /* of the kernel's lines, as they are by default */
    const char *list;          /* the hash of the list of checks by which the nodes say it; "00" at first */
};
/* Records as in a file; the policy but for its checks. */
struct clinic *clinic_create(size_t n, const char *checks, const struct health_policy *policy);
/* The checks space and mounts, which run each minute, and stress, which is extensive. Fettle acts, and 10 %
 * of the cluster may be out. */
struct clinic *clinic_open(size_t n);
void clinic_destroy(struct clinic *d);
void clinic_take_checks(struct clinic *d, const char *checks); /* instead of those */

void clinic_take_remedies(struct clinic *d, const char *remedies);

/* What space and mounts say when both are well; and when space is full. */
extern const char CLINIC_WELL[], CLINIC_ILL[];

/* The body's checks as JSON; boot NULL: the node's. Returns what watch_checks does; clinic_tells: 0. */
int clinic_tell(struct clinic *d, int i, const char *boot, bool full, const char *checks, bool *want,
                struct err *e);
void clinic_tells(struct clinic *d, int i, bool full, const char *checks);
enum health clinic_health(struct clinic *d, int i);
/* So many nodes of the cluster are out, as the budget has it. */
unsigned clinic_out(const struct clinic *d);
/* Another machine has the name, and is booted. */
void clinic_becomes(struct clinic *d, int i, const char *serial);

#endif
