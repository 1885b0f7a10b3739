/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "health/kmsg.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Any bytes in the place of a record of /dev/kmsg. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kmsg k;
    struct err e = {0};
    CLEANUP_FREE char *record = mem_alloc(size + 1); /* its end is where a sanitizer looks */
    memcpy(record, data, size);
    if (kmsg_read(record, size, &k, &e) == 0)
        assert(strlen(k.text) <= KMSG_TEXT_BYTES_MAX && k.level < 8 && k.from_kernel == (k.facility == 0));
    else
        assert(*e.msg);
    return 0;
}
