/* SPDX-License-Identifier: Apache-2.0 */
/* Fingerprints and components in a sentence. */
#include "cluster/state/state.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

void drift_summary(const char *named, uint32_t count, struct text *t)
{
    assert(named && t);
    size_t first = (size_t)(strstr(named, ", ") ? strstr(named, ", ") - named : (ptrdiff_t)strlen(named));
    text_add_bytes(t, named, first);
    uint32_t more = first && count ? count - 1 : count;
    if (more)
        text_printf(t, "%s%u more", first ? ", " : "", more);
}

void fingerprint_say(const struct fingerprint *id, struct text *t)
{
    char name[FINGERPRINT_SHORT_BYTES];
    text_add(t, fingerprint_list(id, name));
}
