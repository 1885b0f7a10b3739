/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CONFORM_BASELINE_TEST_H
#define FETTLE_WATCH_CONFORM_BASELINE_TEST_H

#include "watch/fixture_test.h"

/* Nodes whose class has a baseline, and what they say of themselves. */

enum { HOUR = 3600 };

/* As the baseline says; two other kernels, the second with another package; that package alone; and one
 * component that cannot be read. */
extern const char A[], B[], C[], MINOR[], UNREAD[];
/* A class that reboots drifted nodes, and to which network devices are critical. */
extern const struct class_lines reboots;
/* A class whose drifted nodes take no work. */
extern const struct class_lines excludes;

/* n nodes that are as the baseline of their class says: "default", or the one given. */
struct world *conformant(size_t n, const struct class_lines *class, const char *sensitive);
void rollout_start(struct world *x, const char *class, const char *node, const char *nodes, int hours);
/* Verified each hour, as agents do more often than fingerprints grow stale. */
void run_verified(struct world *x, int first, int last, int hours);
/* How often the log says this. */
size_t times_said(const struct world *x, const char *what);

#endif
