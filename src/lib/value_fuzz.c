/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/value.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Every value can be reached, each once, and each counts its children right. */
static void walk(const struct fettle_value *v, int depth)
{
    size_t n = 0;
    int64_t number;
    assert(depth <= VALUE_DEPTH_MAX);
    for (const struct fettle_value *i = fettle_value_first(v); i; i = fettle_value_next(i), n++) {
        assert((fettle_value_key(i) != NULL) == (fettle_value_kind(v) == FETTLE_OBJECT));
        if (fettle_value_key(i))
            assert(fettle_value_find(v, fettle_value_key(i)));
        walk(i, depth + 1);
    }
    assert(n == fettle_value_count(v));
    if (fettle_value_text(v))
        assert(strlen(fettle_value_text(v)) < SIZE_MAX);
    fettle_value_number(v, &number);
    fettle_value_milli(v, &number);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct fettle_answer *a = NULL;
    char *copy = malloc(len + 1);
    if (len)
        memcpy(copy, bytes, len);
    if (answer_read(copy, len, &a, NULL) == 0)
        walk(fettle_answer_value(a), 0);
    fettle_answer_free(a);
    return 0;
}
