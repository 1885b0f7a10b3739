/* SPDX-License-Identifier: Apache-2.0 */
/* Fingerprints and components in a sentence; and whether a drift takes a node out. */
#include "cluster/state/state.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

void drift_summary(const char *named, uint32_t count, struct text *t)
{
    assert(named && t);
    struct component_names names;
    component_names_read(named, &names);
    bool has_first = names.n > 0;
    text_add(t, has_first ? names.list[0] : "");
    component_names_fini(&names);
    uint32_t more = has_first && count ? count - 1 : count;
    if (more)
        text_printf(t, "%s%u more", has_first ? ", " : "", more);
}

void drift_components(const char *named, uint32_t count, struct text *t)
{
    struct component_names names;
    component_names_read(named, &names);
    size_t n = names.n;
    component_names_fini(&names);
    text_add(t, named);
    if (count > n)
        text_printf(t, "%s%zu more", n ? ", " : "", count - n);
}

void fingerprint_say(const struct fingerprint *id, struct text *t)
{
    char name[FINGERPRINT_SHORT_BYTES];
    text_add(t, fingerprint_list(id, name));
}

bool cluster_drift_drains(const struct cluster *c, const struct member *m, enum severity severity)
{
    if (cluster_excepts(c, m))
        return false;
    const struct node_class *k = member_class(c, m);
    return m->spec.sensitive || k->exclude || (k->reboot && severity >= SEVERITY_MAJOR);
}
