/* SPDX-License-Identifier: Apache-2.0 */
#include "check/judged_fuzz.h"

#include <string.h>

/* Entries of an event log as a BMC writes them, in two looks: the first 16 bytes are how many are in the
 * first one, and the BMC's time. */

static void judge(struct judged *j, const uint8_t *data, size_t n, uint32_t now)
{
    CLEANUP_TEXT struct text facts = {0};
    struct sel_record r;
    for (; n >= sizeof r.bytes; n -= sizeof r.bytes, data += sizeof r.bytes) {
        memcpy(r.bytes, data, sizeof r.bytes);
        sel_fact(&r, now, &facts);
    }
    fact_add(&facts, "entries", "1");
    judged_look(j, facts.s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct judged j;
    uint32_t now;
    if (size < 16 || size > 64 * 16)
        return 0;
    memcpy(&now, data + 4, sizeof now);
    size_t first = data[0] * (size_t)16, all = size - 16;
    judged_begin(&j, PROBE_BMC_SEL);
    judge(&j, data + 16, first < all ? first : all, now);
    judge(&j, data + 16, all, now + 60);
    judged_end(&j);
    return 0;
}
