/* SPDX-License-Identifier: Apache-2.0 */
/* feature/level: the level of features that all controllers know. */
#include "cluster/record/record.h"
#include "cluster/state/feature.h"

#include <errno.h>
#include <string.h>

static uint64_t level_sum(uint64_t level)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "%llu", (unsigned long long)level);
    return level ? record_sum("feature/level", t.s) : 0;
}

int put_feature(struct cluster *c, const char *name, const char *value, struct err *e)
{
    static const char *const keys[] = {"level"};
    CLEANUP_JSON json_t *o = value ? record_object(value, e) : NULL;
    uint64_t level = 0;
    if (strcmp(name, "level") != 0)
        return err_set(e, -EILSEQ, "it is no record of features");
    if (value &&
        (!o || json_only_keys(o, keys, 1, e) < 0 || json_take_u64(o, "level", LEVEL_MAX, &level, e) < 0))
        return -EILSEQ;
    if (value && level < LEVEL_FIRST)
        return err_set(e, -EILSEQ, "no level");
    c->sum += level_sum(level) - level_sum(c->level);
    c->level = level;
    return 0;
}
