/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "link/tls.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_FREE char *uri = mem_dup_len((const char *)data, size);
    struct identity id;
    struct err e = {0};
    if (identity_parse(uri, &id, &e) < 0) {
        assert(e.msg[0] && id.kind == IDENTITY_NONE);
        return 0;
    }
    CLEANUP_FREE char *again = identity_format(&id);
    assert(strcmp(again, uri) == 0);
    return 0;
}
