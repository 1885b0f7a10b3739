/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/config/config_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void config_fini(struct config *c)
{
    for (int i = 0; i < SETTINGS; i++)
        free(c->text[i]);
    free(c->path);
    for (size_t i = 0; i < c->n_classes; i++) {
        free(c->classes[i].name);
        free(c->classes[i].keys);
    }
    free(c->classes);
    config_fini_tenants(c);
    text_fini(&c->warnings);
    config_text_fini(&c->agreed);
    hostlist_fini(&c->collectors);
    config_fini_health(c);
    config_fini_broker(c);
    config_fini_roles(c);
    roster_fini(&c->roster);
    *c = (struct config){0};
}

struct span config_spread(size_t n)
{
    return (struct span){(int64_t)n * 1500000};
}

/* --- timeouts -------------------------------------------------------------------------------- */

static uint64_t config_larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Refuses a pair of durations. The sentence names the line of the first that was given. */
static int refuse_pair(const struct config *c, enum setting a, const char *how, enum setting b, struct err *e)
{
    char x[32], y[32];
    span_format((struct span){(int64_t)c->number[a]}, x);
    span_format((struct span){(int64_t)c->number[b]}, y);
    int line = c->given[a] ? c->line[a] : c->line[b];
    return err_set(e, -EINVAL, "%s:%d: %s (%s) is %s %s (%s)", c->path, line, config_name(a), x, how,
                   config_name(b), y);
}

static int set_timeouts(struct config *c, enum setting late, enum setting silent, uint64_t late_default,
                        uint64_t grace_default, struct beat_timeouts *out, struct err *e)
{
    const uint64_t second = UINT64_C(1000000000);
    uint64_t interval = c->number[SETTING_HEARTBEAT_INTERVAL];
    if (!c->given[late])
        c->number[late] = config_larger(late_default * second, interval * 3 / 2);
    if (*c->text[silent] == '\0')
        c->number[silent] = config_larger(c->number[late] + grace_default * second, interval * 2);
    if (!c->given[late] && c->number[late] >= c->number[silent])
        c->number[late] = c->number[silent] * 3 / 4; /* only HeartBeatTimeout was shortened */
    out->late = (struct span){(int64_t)c->number[late]};
    out->silent = (struct span){(int64_t)c->number[silent]};
    if (c->number[silent] <= interval)
        return refuse_pair(c, silent, "not longer than", SETTING_HEARTBEAT_INTERVAL, e);
    if (c->number[late] <= interval)
        return refuse_pair(c, late, "not longer than", SETTING_HEARTBEAT_INTERVAL, e);
    if (c->number[late] > c->number[silent])
        return refuse_pair(c, late, "longer than", silent, e);
    return 0;
}

/* The loss of a collector must be noticed before its nodes count as silent. */
static int set_waits(struct config *c, struct err *e)
{
    static const enum setting late[] = {SETTING_LATE_AFTER, SETTING_SENSITIVE_LATE_AFTER,
                                        SETTING_BORROWED_LATE_AFTER},
                              silent[] = {SETTING_HEARTBEAT_TIMEOUT, SETTING_SENSITIVE_TIMEOUT,
                                          SETTING_BORROWED_TIMEOUT};
    const struct span interval = {(int64_t)c->number[SETTING_HEARTBEAT_INTERVAL]};
    enum setting first = late[0], shortest = silent[0];
    for (int i = 1; i < 3; i++) {
        first = c->number[late[i]] < c->number[first] ? late[i] : first;
        shortest = c->number[silent[i]] < c->number[shortest] ? silent[i] : shortest;
    }
    const struct span timeout = {(int64_t)c->number[shortest]}, least = waits_least_timeout(interval);
    waits_of(interval, (struct span){(int64_t)c->number[first]}, timeout, &c->waits);
    c->watch.quiet =
        waits_quiet(interval, c->watch.plain.late, c->watch.plain.silent, c->watch.silent_share_percent);
    c->spread = config_spread(c->roster.n);
    c->watch.spread = (struct span){c->spread.ns + c->waits.first.ns};
    if (c->collectors.n == 0 || !c->watch.judge || timeout.ns >= least.ns)
        return 0;
    char is[32], needed[32], every[32];
    int line = c->given[shortest] ? c->line[shortest] : c->line[SETTING_HEARTBEAT_INTERVAL];
    return err_set(e, -EINVAL,
                   "%s:%d: %s (%s) is too short for nodes behind collectors: with a HeartBeatInterval of %s "
                   "it has to be "
                   "%s at least, or a collector that dies takes its live nodes down",
                   c->path, line, config_name(shortest), span_format(timeout, is),
                   span_format(interval, every), span_format(least, needed));
}

static int set_conform(struct config *c, struct err *e)
{
    struct conformity_policy *p = &c->watch.conform;
    uint64_t interval = c->number[SETTING_FINGERPRINT_INTERVAL];
    if (!c->given[SETTING_FINGERPRINT_STALE])
        c->number[SETTING_FINGERPRINT_STALE] = 2 * interval + UINT64_C(3600000000000);
    if (c->number[SETTING_FINGERPRINT_STALE] <= interval)
        return refuse_pair(c, SETTING_FINGERPRINT_STALE, "not longer than", SETTING_FINGERPRINT_INTERVAL, e);
    p->stale = (struct span){(int64_t)c->number[SETTING_FINGERPRINT_STALE]};
    p->timeout = (struct span){(int64_t)c->number[SETTING_DRIFT_TIMEOUT]};
    p->sensitive = (struct span){(int64_t)c->number[SETTING_SENSITIVE_DRIFT_TIMEOUT]};
    p->drift_share_percent = (unsigned)c->number[SETTING_MAX_DRIFT_SHARE];
    return 0;
}

/* NULL for a parameter that is not given. */
static const char *given_text(const struct config *c, enum setting s)
{
    return *c->text[s] ? c->text[s] : NULL;
}

static int set_ochami(struct config *c, struct err *e)
{
    const char *group = c->text[SETTING_OPENCHAMI_GROUP];
    if (!hostlist_name_ok(group)) /* the name is used in paths */
        return err_set(e, -EINVAL, "%s:%d: OpenChamiGroup: \"%s\" is not the name of a group", c->path,
                       c->line[SETTING_OPENCHAMI_GROUP], group);
    c->ochami = (struct ochami_conf){.smd = given_text(c, SETTING_OPENCHAMI_SMD),
                                     .bss = given_text(c, SETTING_OPENCHAMI_BSS),
                                     .pcs = given_text(c, SETTING_OPENCHAMI_PCS),
                                     .ca = given_text(c, SETTING_OPENCHAMI_CA),
                                     .token = given_text(c, SETTING_OPENCHAMI_TOKEN),
                                     .group = group};
    c->roster.tells_drift = c->ochami.smd != NULL;
    return 0;
}

static int set_policies(struct config *c, struct err *e)
{
    struct watch_policy *w = &c->watch;
    w->judge = c->number[SETTING_HEARTBEAT_INTERVAL] > 0;
    w->silent_share_percent = (unsigned)c->number[SETTING_MAX_SILENT_SHARE];
    int rc = set_timeouts(c, SETTING_LATE_AFTER, SETTING_HEARTBEAT_TIMEOUT, 30, 60, &w->plain, e);
    if (rc == 0)
        rc = set_timeouts(c, SETTING_SENSITIVE_LATE_AFTER, SETTING_SENSITIVE_TIMEOUT, 120, 300, &w->sensitive,
                          e);
    if (rc == 0)
        rc = set_timeouts(c, SETTING_BORROWED_LATE_AFTER, SETTING_BORROWED_TIMEOUT, 30, 30, &w->borrowed, e);
    if (rc == 0)
        rc = set_waits(c, e);
    if (rc == 0)
        rc = set_conform(c, e);
    if (rc == 0)
        rc = set_ochami(c, e);
    if (rc == 0)
        rc = config_check_oidc(c, e);
    if (rc == 0)
        rc = config_set_broker(c, e);
    if (rc == 0) {
        config_set_health(c);
        config_set_slurm(c);
    }
    return rc;
}

/* --- the files ------------------------------------------------------------------------------- */

static int check_names(const struct config *c, struct err *e)
{
    const char *machine = c->text[SETTING_CONTROL_MACHINE];
    if (*machine && !hostlist_name_ok(machine))
        return err_set(e, -EINVAL, "%s:%d: ControlMachine: \"%s\" is not the name of a machine", c->path,
                       c->line[SETTING_CONTROL_MACHINE], machine);
    for (size_t i = 0; i < c->collectors.n; i++)
        if (!hostlist_name_ok(c->collectors.names[i]))
            return err_set(e, -EINVAL, "%s:%d: CollectorNodes: \"%s\" is not the name of a node", c->path,
                           c->line[SETTING_COLLECTOR_NODES], c->collectors.names[i]);
    return 0;
}

static int read_roster(struct config *c, struct err *e)
{
    struct conf partitions = {0};
    int rc = config_read_partitions(c, &partitions, e);
    if (rc == 0)
        rc = config_read_nodes(c, e);
    if (rc == 0)
        rc = config_fill_partitions(c, &partitions, e);
    conf_fini(&partitions);
    return rc;
}

int config_read(const char *path, struct config *c, struct err *e)
{
    return config_read_agreed(path, NULL, c, e);
}

int config_read_agreed(const char *path, const struct config_text *from, struct config *c, struct err *e)
{
    *c = (struct config){.path = mem_dup(path), .from = from};
    int rc = config_read_parameters(c, e);
    if (rc == 0)
        rc = read_roster(c, e);
    if (rc == 0)
        rc = config_read_classes(c, e);
    if (rc == 0)
        rc = config_read_tenants(c, e);
    if (rc == 0)
        rc = config_read_health(c, e);
    if (rc == 0)
        rc = config_read_roles(c, e);
    if (rc == 0)
        rc = check_names(c, e);
    if (rc == 0)
        rc = set_policies(c, e);
    if (rc == 0 && !from)
        config_doubt(c);
    c->from = NULL;
    c->roster.partition_max = (unsigned)c->number[SETTING_MAX_PARTITION];
    c->roster.wipes = c->remedies && remedies_find(c->remedies, WIPE_REMEDY);
    c->roster.sensitive_pool = (uint32_t)c->number[SETTING_SENSITIVE_POOL];
    if (rc < 0) {
        config_fini(c);
        if (rc !=
            -ENOENT) /* whatever the reason why a file cannot be read, the mistake is the configuration's */
            rc = -EINVAL;
    }
    return rc;
}

void config_compare(const struct config *was, const struct config *is, struct text *changes)
{
    config_compare_parameters(was, is, changes);
    config_compare_classes(was, is, changes);
    config_compare_tenants(was, is, changes);
    config_compare_health(was, is, changes);
    config_compare_roles(was, is, changes);
}
