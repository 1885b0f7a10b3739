/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/component.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A list that is taken is within the limits, and what is written of it reads as the same list. */
static void check(struct components *c)
{
    CLEANUP_TEXT struct text first = {0}, second = {0}, json = {0};
    if (c->n > COMPONENTS_MAX || c->bytes > COMPONENTS_BYTES_MAX)
        abort();
    if (components_sort(c, NULL) < 0)
        return;
    components_encode(c, &first);
    components_format(c, &json);
    CLEANUP_JSON json_t *again = json_read(json.s, json.len, NULL);
    struct components d = {0};
    if (!again || components_parse(&d, again, NULL) < 0 || components_sort(&d, NULL) < 0)
        abort();
    components_encode(&d, &second);
    if (first.len != second.len || memcmp(first.s, second.s, first.len) != 0)
        abort();
    components_fini(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_JSON json_t *object = json_read((const char *)data, size, NULL);
    struct components c = {0};
    if (object && components_parse(&c, object, NULL) == 0)
        check(&c);
    else if (c.n > 0)
        abort(); /* what is refused leaves nothing */
    components_fini(&c);
    return 0;
}
