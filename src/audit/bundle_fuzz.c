/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/leaf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The entries of a bundle that ends well make the same bundle. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bundle_walk w = {(const char *)data, (const char *)data + size};
    CLEANUP_TEXT struct text again = {0};
    const char *bytes;
    size_t len;
    int r;
    while ((r = bundle_next(&w, &bytes, &len, NULL)) > 0) {
        struct leaf_head head;
        leaf_head(bytes, len, &head);
        bundle_add(&again, bytes, len);
    }
    if (r == 0 && (again.len != size || (size > 0 && memcmp(again.s, data, size) != 0)))
        abort();
    return 0;
}
