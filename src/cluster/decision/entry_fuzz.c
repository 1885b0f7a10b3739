/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/decision/entry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The fields of a journal entry, as they stand in a store. What is taken is written and read again as the
 * same. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *members = mem_dup_len((const char *)data, size);
    struct entry_fields f, again;
    struct text first = {0}, second = {0};
    struct err e = {0};
    int rc = entry_fields_read(members, &f, &e);
    assert(rc == 0 || (e.code == rc && *e.msg));
    if (rc == 0) {
        entry_fields_write(&f, &first);
        rc = entry_fields_read(first.s, &again, &e);
        assert(rc == 0);
        entry_fields_write(&again, &second);
        assert(first.len == second.len &&
               memcmp(first.s ? first.s : "", second.s ? second.s : "", first.len) == 0);
        entry_fields_fini(&again);
        entry_fields_fini(&f);
    }
    text_fini(&first);
    text_fini(&second);
    free(members);
    return 0;
}
