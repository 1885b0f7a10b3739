/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POWER: a person has the power of a node switched. It is an effect of the outbox like a repair's operation,
 * in a record of its own, effect/power.NAME, so that neither forgets the other; one that has begun keeps the
 * other from beginning. Whether work runs on the node is for who knows it (watch_may_power), here and right
 * before it is done.
 */
#include "cluster/decide/decide.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { POWER_WITHIN_S = 300 }; /* a cycle through a slow BMC takes a minute or two */

static int check_verb(const char *verb, struct err *e)
{
    static const char *const verbs[] = {"on", "off", "cycle", "reset", "netboot"};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (strcmp(verb, verbs[i]) == 0)
            return 0;
    return err_set(e, -EINVAL, "\"%.40s\" is none of on, off, cycle, reset, netboot", verb);
}

static int check_free(const struct cluster *c, const struct member *m, struct err *e)
{
    const char *stop = cluster_switch(c, "stop");
    if (stop)
        return err_set(e, -EBUSY, "everything is stopped: %s", stop);
    if (power_stands(c, m))
        return err_set(e, -EBUSY, "a power command for node \"%s\" is under way", m->name);
    if (operation_begun(c, m))
        return err_set(e, -EBUSY, "an operation on node \"%s\" is under way", m->name);
    return 0;
}

static char *power_record(const struct command *cmd)
{
    struct text t = {0};
    text_add(&t, "{\"id\":");
    text_add_json(&t, cmd->claim);
    text_printf(&t, ",\"run\":\"power.%s\",\"by\":", cmd->power.verb);
    text_add_json(&t, cmd->actor);
    text_add(&t, ",\"why\":");
    text_add_json(&t, cmd->reason);
    text_printf(&t, ",\"force\":%s,\"deadline\":\"%lld\",\"done\":null}", cmd->power.force ? "true" : "false",
                (long long)(cmd->at.ns + span_s(POWER_WITHIN_S).ns));
    return text_take(&t);
}

int decide_power(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    const struct power_command *says = &cmd->power;
    struct member *m;
    int rc = decide_one(c, cmd, &m, e);
    if (rc == 0)
        rc = check_verb(says->verb, e);
    if (rc == 0)
        rc = decide_check_reason(cmd->reason ? cmd->reason : "", e);
    if (rc == 0)
        rc = check_free(c, m, e);
    if (rc < 0)
        return rc;
    assert(cmd->claim && "a power command has an id");
    struct text t = {0};
    text_printf(&t, "power %s%s: %s", says->verb, says->force ? ", whatever runs on it" : "", cmd->reason);
    d->text = text_take(&t);
    d->claim = mem_dup(cmd->claim);
    decision_add(d, POWER_KEY, m->name, power_record(cmd));
    decision_about(d, ENTRY_OPERATIONS, cmd->claim);
    hostlist_add(&d->changed, m->name);
    return 0;
}
