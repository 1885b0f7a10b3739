/* SPDX-License-Identifier: Apache-2.0 */
#include "health/finding.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A verdict as an agent may tell it: what is taken is written so that it reads back as the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct verdict v, again;
    CLEANUP_TEXT struct text first = {0}, second = {0};
    CLEANUP_JSON json_t *o = json_read((const char *)data, size, NULL);
    if (!o || verdict_read(o, &v, NULL) < 0)
        return 0;
    verdict_write(&v, &first);
    CLEANUP_JSON json_t *same = json_read(first.s, first.len, NULL);
    if (!same || verdict_read(same, &again, NULL) < 0)
        abort();
    verdict_write(&again, &second);
    if (strcmp(first.s, second.s) != 0)
        abort();
    return 0;
}
