/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hostlist.h"
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever a list expands to folds to a list that expands to the same; larger ones only expand. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_FREE char *list = mem_dup_len((const char *)data, size);
    CLEANUP_HOSTLIST struct hostlist a = {0}, b = {0};
    if (hostlist_parse(list, &a, NULL) < 0 || a.n > 2000)
        return 0;
    CLEANUP_FREE char *folded = hostlist_fold((const char *const *)a.names, a.n);
    if (hostlist_parse(folded, &b, NULL) < 0 || a.n != b.n)
        abort();
    for (size_t i = 0; i < a.n; i++)
        if (strcmp(a.names[i], b.names[i]) != 0)
            abort();
    return 0;
}
