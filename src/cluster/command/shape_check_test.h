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

/* Fails the test where a difference in this member is not seen: for one so small that its lack looks like
 * padding. */
#define SHAPE_SEES(says, s, member)                              \
    do {                                                         \
        extern const struct shape command_##says;                \
        struct s one = {0}, other = {0};                         \
        memset(&other.member, 1, sizeof other.member);           \
        assert_false(shape_same(&command_##says, &one, &other)); \
    } while (0)

#endif
