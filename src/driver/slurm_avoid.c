/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/slurm_avoid.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char mark[] = "fettle_avoid_";

/* The mark among features, and the weight in it; NULL for none. */
static const char *find_mark(const char *features, uint64_t *weight)
{
    for (const char *f = features; *f; f += strcspn(f, ","), f += *f == ',') {
        CLEANUP_FREE char *word = mem_dup_len(f, strcspn(f, ","));
        if (strncmp(word, mark, sizeof mark - 1) == 0 &&
            text_parse_u64(word + sizeof mark - 1, 0, UINT32_MAX, weight, NULL) == 0)
            return f;
    }
    return NULL;
}

/* The features without marks; false when they do not fit. */
static bool copy_others(const char *features, struct text *out)
{
    for (const char *f = features; *f; f += strcspn(f, ","), f += *f == ',') {
        size_t len = strcspn(f, ",");
        if (strncmp(f, mark, sizeof mark - 1) == 0 || len == 0)
            continue;
        text_add(out, out->len ? "," : "");
        text_add_bytes(out, f, len);
    }
    return out->len + sizeof mark + 12 < SLURM_FEATURES_BYTES;
}

static bool make_list(const char *features, bool avoid, uint64_t weight,
                      char out[static SLURM_FEATURES_BYTES])
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "");
    if (!copy_others(features, &t))
        return false;
    if (avoid)
        text_printf(&t, "%s%s%" PRIu64, t.len ? "," : "", mark, weight);
    memcpy(out, t.s, t.len + 1);
    return true;
}

bool slurm_avoid_plan(const struct slurm_line *l, bool avoid, struct slurm_avoid *out)
{
    uint64_t is, was = 0;
    *out = (struct slurm_avoid){.weight = ""};
    bool is_marked = find_mark(l->available, &was) != NULL;
    if (is_marked == avoid || text_parse_u64(l->weight, 0, UINT32_MAX - SLURM_AVOID_MORE, &is, NULL) < 0)
        return false;
    if (avoid)
        snprintf(out->weight, sizeof out->weight, "%" PRIu64, is + SLURM_AVOID_MORE);
    else if (is == was + SLURM_AVOID_MORE)
        snprintf(out->weight, sizeof out->weight, "%" PRIu64, was);
    return make_list(l->available, avoid, is, out->available) && make_list(l->active, avoid, is, out->active);
}
