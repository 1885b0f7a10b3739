/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <assert.h>
#include <string.h>

/* What a disk answers: a health log, and the sense data or the page of exceptions behind it. What comes of it
 * are facts that are judged. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char name[] = "fuzzed";
    uint8_t page[SMART_PAGE_BYTES] = {0};
    size_t n = size < sizeof page ? size : sizeof page;
    CLEANUP_TEXT struct text facts = {0};
    struct check k = {.name = name, .probe = PROBE_SMART, .severity = RESULT_LOST};
    struct verdict v;
    if (size == 0)
        return 0;
    memcpy(page, data, n);
    smart_nvme("nvme0", page, &facts);
    smart_ata("sda", data + n, size - n, &facts);
    smart_ata("sdb", data, n, &facts);
    smart_scsi("sdc", data, n, &facts);
    struct memory *memory = memory_create();
    struct look l = {.check = &k, .root = "", .memory = memory};
    look_judge(&l, facts.s, &v);
    assert(v.result >= RESULT_OK && v.n <= FINDINGS_A_CHECK_MAX);
    memory_destroy(memory);
    return 0;
}
