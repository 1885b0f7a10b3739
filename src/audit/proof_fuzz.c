/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/proof.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A proof that is taken is written as it was read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct proof p;
    CLEANUP_TEXT struct text again = {0};
    if (proof_parse((const char *)data, size, &p, NULL) == 0) {
        bool empty = p.kind == PROOF_INCLUSION && p.entry.len == 0; /* an extra line may have no bytes */
        proof_format(&p, &again);
        if (!empty && (again.len != size || memcmp(again.s, data, size) != 0))
            abort();
    }
    proof_fini(&p);
    return 0;
}
