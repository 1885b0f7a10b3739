/* SPDX-License-Identifier: Apache-2.0 */
#include "health/service.h"

#include <assert.h>

enum policy { POLICY_OBSERVES, POLICY_ACTS, POLICIES };

static const struct service rows[RESULTS][POLICIES] = {
#define SERVICE(severity, policy, takes_work, drained, what) \
    [RESULT_##severity][POLICY_##policy] = {takes_work, DRAINED_##drained, what},
#include "health/service.tbl"
#undef SERVICE
};

const struct service *service_of(enum result severity, bool acts)
{
    assert((unsigned)severity < RESULTS);
    static const struct service well = {true, DRAINED_NEVER, "nothing is wrong"};
    const struct service *row = &rows[severity][acts ? POLICY_ACTS : POLICY_OBSERVES];
    return row->what ? row : &well;
}
