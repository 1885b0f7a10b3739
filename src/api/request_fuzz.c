/* SPDX-License-Identifier: Apache-2.0 */
#include "api/request.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The value of a header Idempotency-Key: an id that can be remembered, or a sentence. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *header = mem_dup_len((const char *)data, size), id[REQUEST_ID_BYTES_MAX + 1], again[sizeof id];
    struct err e = {0};
    if (request_id_read(header, id, &e) < 0) {
        assert(e.code < 0 && *e.msg);
    } else {
        assert(request_id_ok(id) && strstr(header, id));
        assert(request_id_read(id, again, &e) == 0 && strcmp(id, again) == 0);
    }
    free(header);
    return 0;
}
