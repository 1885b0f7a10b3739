/* SPDX-License-Identifier: Apache-2.0 */
/* Whether something is being done to a node. */
#include "cluster/decide/decide.h"

#include "node/action.h"

bool operation_begun(const struct cluster *c, const struct member *m)
{
    CLEANUP_OPERATION struct operation o = {0};
    cluster_operation(c, m, &o);
    return o.state == OPERATION_BEGUN;
}

bool operation_begun_outside(const struct cluster *c, const struct member *m)
{
    CLEANUP_OPERATION struct operation o = {0};
    cluster_operation(c, m, &o);
    return o.state == OPERATION_BEGUN && action_of(o.run).by != ACTION_BY_AGENT;
}

bool power_stands(const struct cluster *c, const struct member *m)
{
    CLEANUP_OPERATION struct operation o = {0};
    cluster_power(c, m, &o);
    return operation_is_open(o.state);
}
