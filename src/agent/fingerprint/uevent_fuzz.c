/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/fingerprint/uevent.h"

#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>

/* Any bytes in the place of the kernel's. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > UEVENT_BYTES_MAX)
        return 0;
    CLEANUP_FREE char *message = mem_dup_len((const char *)data, size);
    (void)uevent_matters(message, size);
    return 0;
}
