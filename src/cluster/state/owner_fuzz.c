/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/state/owner.h"

#include "base/text.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A name that is read is written as it was. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name = mem_dup_len((const char *)data, size), buf[OWNER_NAME_BYTES_MAX + 1];
    struct owner o;
    struct err e = {0};
    if (owner_parse(name, &o, &e) < 0)
        assert(e.code < 0 && *e.msg);
    else
        assert(strcmp(owner_name(&o, buf), name) == 0);
    free(name);
    return 0;
}
