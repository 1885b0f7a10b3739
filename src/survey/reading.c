/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the readers of the parts. */
#include "survey/part.h"

void survey_cache_fini(struct survey_cache *c)
{
    components_fini(&c->packages);
    *c = (struct survey_cache){0};
}

struct span reading_timeout(const struct reading *r, int usual_ms)
{
    return r->calls->timeout.ns > 0 ? r->calls->timeout : span_ms(usual_ms);
}
