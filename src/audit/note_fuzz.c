/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/note.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A note that is taken has its text at its beginning, and a checkpoint is written as it was read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char name[] = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    const char *bytes = (const char *)data;
    struct note_key key;
    struct signed_note note;
    struct checkpoint c;
    CLEANUP_TEXT struct text again = {0};
    CLEANUP_FREE char *text = mem_dup_len(bytes, size);
    if (note_key_parse(text, &key, NULL) == 0) {
        note_key_format(&key, &again);
        if (strcmp(again.s, text) != 0)
            abort();
        text_clear(&again);
    }
    if (note_key_parse(name, &key, NULL) < 0)
        abort();
    if (note_read(bytes, size, &key, &note, NULL) == 0 && (note.text != bytes || note.len >= size))
        abort();
    if (checkpoint_parse(bytes, size, &c, NULL) == 0) {
        checkpoint_format(&c, &again);
        if (again.len > size || memcmp(again.s, bytes, again.len) != 0)
            abort();
    }
    return 0;
}
