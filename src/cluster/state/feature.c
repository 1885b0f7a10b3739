/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/state/feature.h"

#include "cluster/state/state.h"

#include <assert.h>
#include <errno.h>

static const struct {
    uint64_t level;
    const char *meaning;
} features[FEATURES] = {
#define FEATURE(symbol, level, meaning) [FEATURE_##symbol] = {level, meaning},
#include "cluster/state/feature.tbl"
#undef FEATURE
};

#define FEATURE(symbol, level, meaning)                             \
    _Static_assert((level) > LEVEL_FIRST && (level) <= LEVEL_KNOWN, \
                   #symbol " is of a level that this version does not tell");
#include "cluster/state/feature.tbl"
#undef FEATURE

uint64_t feature_level(enum feature f)
{
    assert((unsigned)f < FEATURES);
    return features[f].level;
}

const char *feature_meaning(enum feature f)
{
    assert((unsigned)f < FEATURES);
    return features[f].meaning;
}

uint64_t cluster_level(const struct cluster *c)
{
    return c->level ? c->level : LEVEL_FIRST;
}

int cluster_level_check(const struct cluster *c, struct err *e)
{
    if (cluster_level(c) <= LEVEL_KNOWN)
        return 0;
    return err_set(
        e, -EACCES,
        "the controllers of this state agreed feature level %llu, and this version knows %d: it does not "
        "lead; upgrade it",
        (unsigned long long)cluster_level(c), LEVEL_KNOWN);
}

uint64_t level_common(const struct level_told *told, size_t n)
{
    uint64_t common = LEVEL_KNOWN;
    for (size_t i = 0; i < n; i++) {
        uint64_t level = told[i].level ? told[i].level : LEVEL_FIRST;
        if (told[i].age.ns < span_s(MEMBER_COUNTS_S).ns && level < common)
            common = level;
    }
    return common;
}
