/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/tile.h"
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A path that is taken is the one that is written for its tile. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tile t;
    char again[TILE_PATH_BYTES];
    CLEANUP_FREE char *path = mem_dup_len((const char *)data, size);
    if (tile_parse(path, &t, NULL) == 0 && strcmp(tile_format(&t, again) + strlen("tile/"), path) != 0)
        abort();
    return 0;
}
