/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is read can be written, and what was written reads as itself: decimals keep 15 digits. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_JSON json_t *value = json_read((const char *)data, size, NULL);
    if (!value)
        return 0;
    CLEANUP_FREE char *text = json_write(value);
    CLEANUP_JSON json_t *again = json_read(text, strlen(text), NULL);
    if (!again)
        abort();
    CLEANUP_FREE char *twice = json_write(again);
    if (strcmp(text, twice) != 0)
        abort();
    return 0;
}
