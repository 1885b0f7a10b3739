/* SPDX-License-Identifier: Apache-2.0 */
#include "link/least.h"

#include <assert.h>
#include <stdint.h>

static void on_risen(void *arg, enum identity_kind kind, const char *name)
{
    assert(kind != IDENTITY_NONE && *name);
    ++*(unsigned *)arg;
}

/* An object of names and numbers; told again, nothing rises. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct least *l = least_create();
    unsigned first = 0, again = 0;
    CLEANUP_JSON json_t *o = json_read((const char *)data, size, NULL);
    if (json_is_object(o)) {
        least_take(l, o, on_risen, &first, NULL);
        least_take(l, o, on_risen, &again, NULL);
    }
    assert(again == 0);
    least_destroy(l);
    return 0;
}
