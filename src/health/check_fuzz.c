/* SPDX-License-Identifier: Apache-2.0 */
#include "health/check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever is taken is written so that it reads back as the same. */
static void check_line(const struct check *k)
{
    CLEANUP_TEXT struct text line = {0}, again = {0};
    struct checks c = {0};
    check_format(k, NULL, &line);
    if (checks_parse("again", line.s, line.len, &c, NULL) < 0 || c.n != 1)
        abort();
    check_format(&c.list[0], NULL, &again);
    if (strcmp(line.s, again.s) != 0)
        abort();
    if (k->nodes.n > 0 && k->canary_percent == 100 && k->classes.n == 0 &&
        !check_applies(k, "default", k->nodes.names[k->nodes.n / 2]))
        abort();
    checks_fini(&c);
}

/* A file of checks, as an operator or a controller may write it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct checks c = {0};
    if (size > 4096 || checks_parse("fuzz", (const char *)data, size, &c, NULL) < 0)
        return 0;
    for (size_t i = 0; i < c.n; i++)
        check_line(&c.list[i]);
    checks_fini(&c);
    return 0;
}
