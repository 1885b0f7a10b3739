/* SPDX-License-Identifier: Apache-2.0 */
#include "backup/manifest.h"

#include "base/digest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Any bytes in the place of a manifest; and the same with a sum that is right, to come past it. */

static void sum_mend(char *text, size_t len)
{
    static const char key[] = "\"sum\":\"";
    char sum[65];
    char *at = memmem(text, len, key, sizeof key - 1);
    if (!at || (size_t)(text + len - at) < sizeof key - 1 + 64)
        return;
    memset(at + sizeof key - 1, '0', 64);
    digest_sha256(text, len, sum);
    memcpy(at + sizeof key - 1, sum, 64);
}

static void manifest_try(const char *text, size_t len)
{
    struct manifest m;
    struct err e = {0};
    if (manifest_parse(text, len, &m, &e) < 0) {
        assert(*e.msg);
        return;
    }
    struct manifest again;
    CLEANUP_TEXT struct text t = {0};
    manifest_write(&m, &t);
    assert(manifest_parse(t.s, t.len, &again, &e) == 0);
    assert(m.n <= MANIFEST_FILES_MAX && manifest_bytes(&m) == manifest_bytes(&again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_FREE char *text = mem_alloc(size + 1);
    memcpy(text, data, size);
    manifest_try(text, size);
    sum_mend(text, size);
    manifest_try(text, size);
    return 0;
}
