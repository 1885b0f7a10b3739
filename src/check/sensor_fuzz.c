/* SPDX-License-Identifier: Apache-2.0 */
#include "check/judged_fuzz.h"

#include <assert.h>
#include <string.h>

/* What a BMC answers: the first byte is the length of a record of its list of sensors, behind which stands
 * what the sensor says. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_TEXT struct text facts = {0};
    struct sensor s;
    struct judged j;
    if (size == 0)
        return 0;
    size_t n = data[0] < size - 1 ? data[0] : size - 1;
    fact_add(&facts, "sensors", "1");
    if (sensor_parse(data + 1, n, &s)) {
        assert(strlen(s.name) < sizeof s.name);
        sensor_fact(&s, sensor_states(&s, data + 1 + n, size - 1 - n), &facts);
    }
    judged_begin(&j, PROBE_BMC_SENSOR);
    enum result r = judged_look(&j, facts.s);
    assert(r >= RESULT_OK);
    judged_end(&j);
    return 0;
}
