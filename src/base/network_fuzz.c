/* SPDX-License-Identifier: Apache-2.0 */
#include "base/network.h"

#include "base/text.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

/* A list of ranges; what can be read can be asked. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_FREE char *list = mem_dup_len((const char *)data, size);
    bool good = network_check(list, NULL) == 0;
    bool v4 = network_has(list, "10.1.2.3"), v6 = network_has(list, "fd00::1");
    assert(good || (!v4 && !v6));
    return 0;
}
