/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "link/tls.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct authority *authority_once(void)
{
    static struct authority *a;
    if (a)
        return a;
    char dir[] = "/tmp/fettle-fuzz-XXXXXX", path[64];
    if (!mkdtemp(dir) || authority_open(dir, &a, NULL) < 0)
        abort();
    snprintf(path, sizeof path, "%s/ca.pem", dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/ca.key", dir);
    unlink(path);
    rmdir(dir);
    return a;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_FREE char *csr = mem_dup_len((const char *)data, size);
    const struct identity id = {.kind = IDENTITY_NODE, .name = "lx01"};
    CLEANUP_FREE char *pem = NULL;
    struct err e = {0};
    int r = authority_sign(authority_once(), csr, &id, NULL, span_s(60), &pem, &e);
    assert(r == 0 ? pem != NULL : e.msg[0] != '\0' && !pem);
    return 0;
}
