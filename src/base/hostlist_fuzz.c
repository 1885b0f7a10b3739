/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hostlist.h"
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX = 50 };

/* Under a limit a list is what it is without, or is refused: for more hosts before its operators there may be
 * less after them. */
static void try_limit(const char *list, const struct hostlist *whole, int rc)
{
    CLEANUP_HOSTLIST struct hostlist few = {0};
    int limited = hostlist_parse_max(list, MAX, &few, NULL);
    if (few.n > MAX || (limited == 0 && (rc < 0 || few.n != whole->n)) || (limited < 0 && few.n > 0))
        abort();
}

/* Whatever a list expands to folds to a list that expands to the same; larger ones only expand. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_FREE char *list = mem_dup_len((const char *)data, size);
    CLEANUP_HOSTLIST struct hostlist a = {0}, b = {0};
    int rc = hostlist_parse(list, &a, NULL);
    try_limit(list, &a, rc);
    if (rc < 0 || a.n > 2000)
        return 0;
    CLEANUP_FREE char *folded = hostlist_fold((const char *const *)a.names, a.n);
    if (hostlist_parse(folded, &b, NULL) < 0 || a.n != b.n)
        abort();
    for (size_t i = 0; i < a.n; i++)
        if (strcmp(a.names[i], b.names[i]) != 0)
            abort();
    return 0;
}
