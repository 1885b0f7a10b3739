/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte chooses: a set of keys, or a token against one key that is always the same. No token that is
 * made up is ever good. */
#include "base/text.h"
#include "token/token.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

static const char set[] = "{\"keys\":[{\"kty\":\"EC\",\"kid\":\"e\",\"crv\":\"P-256\","
                          "\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
                          "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}]}"; /* RFC 7515, A.3 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct token_keys *keys;
    static const struct token_policy policy = {"https://a", "b", "name", "groups", "auth_time", "tenants"};
    struct token_keys *made = NULL;
    struct token t;
    if (size == 0)
        return 0;
    if (!keys && token_keys_read(set, sizeof set - 1, &keys, NULL) < 0)
        abort();
    if (data[0] == 'k') {
        if (token_keys_read((const char *)data + 1, size - 1, &made, NULL) == 0)
            token_keys_destroy(made);
        return 0;
    }
    int rc = token_read((const char *)data + 1, size - 1, &policy, keys,
                        (struct wall){INT64_C(1794000000000000000)}, &t, NULL);
    assert(rc < 0 && !t.subject);
    return 0;
}
