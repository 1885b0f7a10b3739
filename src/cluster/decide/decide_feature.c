/* SPDX-License-Identifier: Apache-2.0 */
/* Which features may be used: FEATURES, and what a decision says that uses one. */
#include "cluster/decide/decide.h"

#include <errno.h>

static void put_level(struct decision *d, uint64_t level)
{
    struct text value = {0};
    text_printf(&value, "{\"level\":%llu}", (unsigned long long)level);
    decision_add(d, "feature/", "level", text_take(&value));
}

/* A level is never taken back: records that it allows may be there. */
int decide_level(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    const uint64_t level = cmd->features.level;
    struct text said = {0};
    if (level < LEVEL_FIRST || level > LEVEL_KNOWN)
        return err_set(e, -EINVAL, "this version knows the feature levels %d to %d", LEVEL_FIRST,
                       LEVEL_KNOWN);
    if (level <= cluster_level(c))
        return 0;
    put_level(d, level);
    text_printf(&said, "level %llu: all controllers know", (unsigned long long)level);
    const char *between = " ";
    for (int f = 0; f < FEATURES; f++) {
        if (feature_level((enum feature)f) <= cluster_level(c) || feature_level((enum feature)f) > level)
            continue;
        text_printf(&said, "%s%s", between, feature_meaning((enum feature)f));
        between = ", ";
    }
    d->text = text_take(&said);
    return 0;
}

int decide_feature(const struct cluster *c, enum feature f, struct decision *d, struct err *e)
{
    const uint64_t level = feature_level(f);
    if (level <= cluster_level(c))
        return 0;
    if (*c->authority)
        return err_set(
            e, -EBUSY,
            "not every controller of this state knows %s: feature level %llu is agreed, and this needs %llu; "
            "upgrade the others (fettle-upgrade(7))",
            feature_meaning(f), (unsigned long long)cluster_level(c), (unsigned long long)level);
    put_level(d, level);
    return 0;
}
