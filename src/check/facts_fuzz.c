/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What a child wrote that was killed, or was never ours. The first line names the probe; then come facts of
 * several looks, with a NUL between. Nothing of it may do harm, and what comes of it is a verdict. */

static void hold(const struct verdict *v)
{
    assert(v->result >= RESULT_UNSUPPORTED && v->result < RESULTS);
    assert(v->n <= FINDINGS_A_CHECK_MAX);
    assert(strlen(v->text) <= FINDING_TEXT_BYTES_MAX);
    for (size_t i = 0; i < v->n; i++) {
        assert(v->findings[i].result > RESULT_OK && v->findings[i].result <= v->result);
        assert(strlen(v->findings[i].text) <= FINDING_TEXT_BYTES_MAX);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *input = malloc(size + 1);
    if (!input)
        return 0;
    memcpy(input, data, size);
    input[size] = '\0';
    char *facts = strchr(input, '\n'), name[] = "fuzzed";
    struct check k = {.name = name, .severity = RESULT_LOST};
    if (facts)
        *facts++ = '\0';
    if (!facts || !probe_find(input, &k.probe)) {
        free(input);
        return 0;
    }
    struct memory *memory = memory_create();
    struct look l = {.check = &k, .root = "", .memory = memory};
    for (const char *p = facts; p < input + size; p += strlen(p) + 1) {
        struct verdict v;
        l.now.ns += 60000000000;
        look_judge(&l, p, &v);
        hold(&v);
    }
    memory_destroy(memory);
    free(input);
    return 0;
}
