/* SPDX-License-Identifier: Apache-2.0 */
#include "health/check.h"

#include "base/digest.h"
#include "health/argument.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct check *checks_find(const struct checks *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->list[i].name, name) == 0)
            return &c->list[i];
    return NULL;
}

/* --- who runs it --------------------------------------------------------------------------------- */

static int check_compare(const void *name, const void *other)
{
    return strcmp(name, *(const char *const *)other);
}

static bool check_has(const struct hostlist *sorted, const char *name)
{
    return sorted->n == 0 ||
           bsearch(name, sorted->names, sorted->n, sizeof *sorted->names, check_compare) != NULL;
}

/* FNV-1a sums of names that differ in the last digit differ little in their low bits. The mixing spreads them
 * evenly over the percentages. */
static uint64_t check_mix(uint64_t sum)
{
    sum = (sum ^ sum >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    sum = (sum ^ sum >> 27) * UINT64_C(0x94d049bb133111eb);
    return sum ^ sum >> 31;
}

bool check_has_canary(const struct check *k, const char *node)
{
    uint64_t sum = digest_fnv(DIGEST_FNV_START, k->name, strlen(k->name) + 1);
    return check_mix(digest_fnv(sum, node, strlen(node))) % 100 < k->canary_percent;
}

bool check_applies(const struct check *k, const char *class, const char *node)
{
    return check_has(&k->classes, class) && check_has(&k->nodes, node) && check_has_canary(k, node);
}

/* --- arguments ----------------------------------------------------------------------------------- */

const char *check_arg(const struct check *k, const char *key)
{
    assert(k && key);
    for (size_t i = 0; i < k->n_args; i++)
        if (strcasecmp(k->args[i].key, key) == 0)
            return k->args[i].value;
    return NULL;
}

static int check_wrong(const struct check *k, const char *key, struct err *e)
{
    return err_wrap(e, -EINVAL, "check %s: %s", k->name, key);
}

int check_arg_percent(const struct check *k, const char *key, unsigned fallback, unsigned *out, struct err *e)
{
    const char *value = check_arg(k, key);
    *out = fallback;
    return value && argument_percent(value, out, e) < 0 ? check_wrong(k, key, e) : 0;
}

int check_arg_bytes(const struct check *k, const char *key, uint64_t fallback, uint64_t *out, struct err *e)
{
    const char *value = check_arg(k, key);
    *out = fallback;
    return value && argument_bytes(value, out, e) < 0 ? check_wrong(k, key, e) : 0;
}

int check_arg_number(const struct check *k, const char *key, int64_t fallback, int64_t *out, struct err *e)
{
    const char *value = check_arg(k, key);
    *out = fallback;
    return value && argument_number(value, out, e) < 0 ? check_wrong(k, key, e) : 0;
}

int check_arg_span(const struct check *k, const char *key, struct span fallback, struct span *out,
                   struct err *e)
{
    const char *value = check_arg(k, key);
    *out = fallback;
    return value && span_parse(value, out, e) < 0 ? check_wrong(k, key, e) : 0;
}
