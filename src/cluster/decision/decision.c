/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the result of a command. */
#include "cluster/decision/decision.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void decision_fini(struct decision *d)
{
    for (size_t i = 0; i < d->n_ops; i++) {
        free(d->ops[i].key);
        free(d->ops[i].value);
    }
    free(d->ops);
    free(d->text);
    free(d->claim);
    text_fini(&d->about);
    entry_fields_fini(&d->fields);
    hostlist_fini(&d->changed);
    *d = (struct decision){0};
}

void decision_about(struct decision *d, enum entry_id of, const char *id)
{
    assert(of < ENTRY_IDS);
    entry_fields_add(&d->fields, of, id);
    if (!id || !*id || (d->about.s && text_has_word(d->about.s, ' ', id)))
        return;
    if (d->about.len)
        text_add_char(&d->about, ' ');
    text_add(&d->about, id);
}

void decision_add(struct decision *d, const char *prefix, const char *key, char *value)
{
    assert(prefix && key);
    struct text t = {0};
    if (strcmp(prefix, "claim/") == 0)
        decision_about(d, ENTRY_CLAIMS, key);
    text_add(&t, prefix);
    text_add(&t, key);
    d->ops = mem_grow(d->ops, (d->n_ops + 1) * sizeof *d->ops);
    d->ops[d->n_ops].key = text_take(&t);
    d->ops[d->n_ops++].value = value;
}
