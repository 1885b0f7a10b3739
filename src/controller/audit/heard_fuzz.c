/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/audit/audit_inside.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A head that is taken is told again as it was, but for zeros before its size. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_FREE char *told = mem_dup_len((const char *)data, size);
    struct heard h = {.size = 0};
    char again[AUDITOR_TOLD_BYTES];
    if (!heard_read(told, &h))
        return 0;
    const struct checkpoint head = {.size = h.size, .root = h.root};
    auditor_told(&head, again);
    if (strcmp(again, told + strspn(told, "0")) != 0)
        abort();
    return 0;
}
