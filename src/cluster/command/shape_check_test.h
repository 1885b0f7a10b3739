/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_SHAPE_CHECK_TEST_H
#define FETTLE_CLUSTER_SHAPE_CHECK_TEST_H

#include "cluster/command/shape.h"

/* Fails the test where the shape of a command does not cover its struct, where a copy does not own what it
 * points to, or where a difference in a member is not seen. */
void shape_check(const char *name, const struct shape *s);

/* The same for what command `says` (command.tbl) says. */
#define SHAPE_CHECK(says)                         \
    do {                                          \
        extern const struct shape command_##says; \
        shape_check(#says, &command_##says);      \
    } while (0)

#endif
