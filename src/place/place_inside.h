/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_PLACE_PLACE_INSIDE_H
#define FETTLE_PLACE_PLACE_INSIDE_H

#include "place/place.h"

/* A row of policy.tbl. */
struct place_policy_row {
    const char *name;
    uint32_t weight_milli[PLACE_TERMS]; /* of each term in the score */
    bool hard;                          /* a placement that violates the policy is refused */
};
extern const struct place_policy_row place_policies[PLACE_POLICIES];

#endif
