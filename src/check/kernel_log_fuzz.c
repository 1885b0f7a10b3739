/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "check/kernel_log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What was saved of the kernel's log, as the disk gives it back. */

static const char BOOT[] = "b";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_FREE char *text = mem_dup_len((const char *)data, size);
    CLEANUP_TEXT struct text once = {0}, twice = {0};
    struct kmsg_cursor cursor;
    struct kernel_log *k = kernel_log_create(NULL);
    kernel_log_load(k, text, BOOT, &cursor);
    kernel_log_save(k, (struct mono){0}, &cursor, &once);
    if (*cursor.boot) { /* what was taken is written and taken again */
        kernel_log_load(k, once.s, BOOT, &cursor);
        kernel_log_save(k, (struct mono){0}, &cursor, &twice);
        assert(strcmp(once.s, twice.s) == 0);
    }
    kernel_log_destroy(k);
    return 0;
}
