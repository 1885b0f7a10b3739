/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <assert.h>
#include <string.h>

/* Entries of an event log as a BMC writes them, in two looks: the first 16 bytes are how many are in the
 * first one, and the BMC's time. */

static void judge(struct look *l, const uint8_t *data, size_t n, uint32_t now)
{
    CLEANUP_TEXT struct text facts = {0};
    struct sel_record r;
    struct verdict v;
    for (; n >= sizeof r.bytes; n -= sizeof r.bytes, data += sizeof r.bytes) {
        memcpy(r.bytes, data, sizeof r.bytes);
        sel_fact(&r, now, &facts);
    }
    fact(&facts, "entries", "1");
    look_judge(l, facts.s, &v);
    assert(v.result >= RESULT_UNSUPPORTED && v.n <= FINDINGS_A_CHECK_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char name[] = "fuzzed";
    struct check k = {.name = name, .probe = PROBE_BMC_SEL, .severity = RESULT_LOST};
    uint32_t now;
    if (size < 16 || size > 64 * 16)
        return 0;
    memcpy(&now, data + 4, sizeof now);
    size_t first = data[0] * (size_t)16, all = size - 16;
    struct memory *memory = memory_create();
    struct look l = {.check = &k, .root = "", .memory = memory};
    judge(&l, data + 16, first < all ? first : all, now);
    judge(&l, data + 16, all, now + 60);
    memory_destroy(memory);
    return 0;
}
