/* SPDX-License-Identifier: Apache-2.0 */
#include "base/certificate.h"

#include "base/text.h"

#include <assert.h>
#include <string.h>

/* The bytes of a file. Names are short and printable whatever stands there. */

static void hold(const struct certificate *c, void *arg)
{
    size_t *n = arg;
    (*n)++;
    assert(strlen(c->name) < sizeof c->name);
    for (const char *p = c->name; *p; p++)
        assert(*p > 0x20 && *p < 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n = 0;
    CLEANUP_FREE char *bytes = mem_dup_len((const char *)data, size);
    int r = certificates_read(bytes, size, hold, &n, NULL);
    assert(r < 0 || (size_t)r == n);
    return 0;
}
