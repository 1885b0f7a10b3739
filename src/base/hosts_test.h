/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_HOSTS_TEST_H
#define FETTLE_BASE_HOSTS_TEST_H

#include "base/hostlist.h"

/* Host lists as text, for the tests of what reads and what writes them. What is shown is valid until the next
 * call. */

/* The names of a list, separated by blanks, or its sentence. */
const char *hosts_expand(const char *list);
/* The folded form of names separated by blanks. */
const char *hosts_fold(const char *names);

#endif
