/* SPDX-License-Identifier: Apache-2.0 */
#include "health/check.h"
#include "import/import.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text checks = {0};
    struct checks parsed = {0};
    struct err e = {0};
    int rc = import_nhc("fuzz", (const char *)data, size, &checks, &e);
    if (rc < 0 && e.msg[0] == '\0')
        abort();
    if (rc == 0 && checks_parse("fuzz", checks.s, checks.len, &parsed, &e) < 0)
        abort();
    checks_fini(&parsed);
    text_fini(&checks);
    return 0;
}
