/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"
#include "base/text.h"
#include "link/envelope.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An envelope as its text, or, after "=", a good one with changed bytes: three for each change, where (two)
 * and to what. Whatever is changed, no other authority is taken. */

static struct authority *authority;
static struct envelope_key *key;
static struct text good;

static void begin(void)
{
    static const char *const names[] = {"ca.pem", "ca.key", "member.key"};
    char dir[] = "/tmp/fettle-fuzz-XXXXXX", path[64];
    CLEANUP_FREE char *envelope = NULL;
    if (!mkdtemp(dir) || authority_open(dir, &authority, NULL) < 0)
        abort();
    snprintf(path, sizeof path, "%s/member.key", dir);
    if (envelope_key_open(path, &key, NULL) < 0 ||
        envelope_seal(authority, envelope_key_public(key), &envelope, NULL) < 0 ||
        !base64_take(envelope, strlen(envelope), &good))
        abort();
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    rmdir(dir);
}

static char *changed(const uint8_t *data, size_t size)
{
    CLEANUP_TEXT struct text bytes = {0};
    struct text out = {0};
    text_add_bytes(&bytes, good.s, good.len);
    for (; size >= 3; data += 3, size -= 3)
        bytes.s[(size_t)(data[0] << 8 | data[1]) % bytes.len] = (char)data[2];
    base64_add(&out, bytes.s, bytes.len);
    return text_take(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e = {0};
    if (!authority)
        begin();
    bool is_good = size > 0 && data[0] == '=';
    CLEANUP_FREE char *text = is_good ? changed(data + 1, size - 1) : mem_dup_len((const char *)data, size);
    /* Nothing is written: there is no such directory. */
    int r = envelope_open(text, key, authority_fingerprint(authority), "/nonexistent/fettle", &e);
    assert(r == -ENOENT || r == -EACCES || r == -EILSEQ);
    assert(e.msg[0] != '\0');
    return 0;
}
