/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "link/order.h"
#include "link/tls.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An order as its bytes, or, after "=", a good one with changed bytes: three for each change, where (two) and
 * to what. Whatever is changed, no other text is believed than the one that was signed. */

#define TEXT "{\"type\":20,\"node\":\"lx01\",\"id\":\"1.1\"}"

static struct authority *authority;
static char *good;

static void begin(void)
{
    char dir[] = "/tmp/fettle-fuzz-XXXXXX", path[64];
    const struct identity id = {.kind = IDENTITY_CONTROLLER, .name = "c1"};
    CLEANUP_FREE char *key = NULL, *csr = NULL, *cert = NULL;
    struct signer *signer;
    CLEANUP_JSON json_t *order = NULL;
    if (!mkdtemp(dir) || authority_open(dir, &authority, NULL) < 0)
        abort();
    snprintf(path, sizeof path, "%s/ca.pem", dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/ca.key", dir);
    unlink(path);
    rmdir(dir);
    if (tls_new_request(&key, &csr, NULL) < 0 ||
        authority_sign(authority, csr, &id, NULL, span_s(3600), &cert, NULL) < 0 ||
        signer_create(cert, key, &signer, NULL) < 0 || order_sign(signer, TEXT, &order, NULL) < 0)
        abort();
    good = json_write(order);
    signer_destroy(signer);
}

static void change(char *bytes, size_t len, const uint8_t *data, size_t size)
{
    for (; size >= 3; data += 3, size -= 3)
        bytes[(size_t)(data[0] << 8 | data[1]) % len] = (char)data[2];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!authority)
        begin();
    bool changed = size > 0 && data[0] == '=';
    CLEANUP_FREE char *bytes = changed ? mem_dup(good) : mem_dup_len((const char *)data, size);
    size_t len = changed ? strlen(good) : size;
    if (changed)
        change(bytes, len, data + 1, size - 1);
    CLEANUP_JSON json_t *order = json_read(bytes, len, NULL);
    const char *text = NULL;
    struct err e = {0};
    if (!order)
        return 0;
    int r = order_open(authority_pem(authority), NULL, order, &text, &e);
    assert(r == 0 ? strcmp(text, TEXT) == 0 : e.msg[0] != '\0');
    return 0;
}
