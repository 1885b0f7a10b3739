/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/booted.h"

#include "check/look.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The file as anybody may have left it: what counts is written so that it counts for the same again. */
static void read_back(const json_t *kept, const struct check *k)
{
    const struct mono now = {1000000};
    struct verdict said, again;
    struct mono at, same;
    CLEANUP_TEXT struct text first = {0}, second = {0}, file = {0};
    if (!booted_find(kept, k, now, &said, &at))
        return;
    struct booted one = {k, &said, at, NULL};
    booted_write("b1", &one, 1, &file);
    CLEANUP_JSON json_t *mine = booted_read(file.s, "b1");
    if (file.len >= BOOTED_BYTES_MAX || !booted_find(mine, k, now, &again, &same) || same.ns != at.ns ||
        at.ns > now.ns)
        abort();
    verdict_write(&said, &first);
    verdict_write(&again, &second);
    if (strcmp(first.s, second.s) != 0)
        abort();
}

static void remember(const json_t *kept, const struct check *k)
{
    struct memory *m = memory_create();
    memory_restore(m, booted_kept(kept, k));
    if (memory_news(m))
        abort();
    memory_destroy(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char records[] = "Check=a Probe=plugin Run=\"exit 0\" When=boot\n";
    static struct checks checks;
    if (!checks.n && checks_parse("fuzz", records, sizeof records - 1, &checks, NULL))
        abort();
    if (size >= BOOTED_BYTES_MAX)
        return 0;
    CLEANUP_FREE char *text = mem_dup_len((const char *)data, size);
    CLEANUP_JSON json_t *kept = booted_read(text, "b1");
    read_back(kept, &checks.list[0]);
    remember(kept, &checks.list[0]);
    return 0;
}
