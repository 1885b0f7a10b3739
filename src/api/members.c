/* SPDX-License-Identifier: Apache-2.0 */
/* The members that a call names: from its body, its path, or the host list of its query. */
#include "api/call.h"

#include <errno.h>
#include <stdlib.h>

enum { MISSING_NAMED_MAX = 3, LIST_SPARE = 64, NAMES_A_STEP = 64 };

static void note_missing(struct text *names, size_t missing, const char *name)
{
    if (missing < MISSING_NAMED_MAX)
        text_printf(names, "%s\"%.100s\"", names->len ? ", " : "", name);
}

static int refuse_missing(const struct text *names, size_t missing, struct err *e)
{
    if (missing > MISSING_NAMED_MAX)
        return err_set(e, -ENOENT, "no node %s and %zu more", names->s, missing - MISSING_NAMED_MAX);
    return missing ? err_set(e, -ENOENT, "no node %s", names->s) : 0;
}

int members_find(const struct cluster *c, const struct hostlist *list, struct member ***out, struct err *e)
{
    CLEANUP_FREE struct member **found = mem_alloc((list->n + 1) * sizeof *found);
    CLEANUP_TEXT struct text names = {0};
    size_t missing = 0, place = 0;
    for (size_t i = 0; i < list->n; i++) {
        found[i] = cluster_find_next(c, &place, list->names[i]);
        if (!found[i] || found[i]->gone)
            note_missing(&names, missing++, list->names[i]);
    }
    int rc = refuse_missing(&names, missing, e);
    if (rc == 0)
        *out = STEAL(found);
    return rc;
}

int call_ask(struct call *c, struct ask *a, struct err *e)
{
    size_t len;
    const char *body = http_body(c->request, &len);
    return ask_parse(c->route, body, len, a, e);
}

int call_ask_members(struct call *c, struct ask *a, struct member ***members, struct err *e)
{
    int rc = call_ask(c, a, e);
    return rc == 0 ? members_find(c->api->cluster, &a->nodes, members, e) : rc;
}

int member_get(const struct cluster *c, const char *name, struct member **out, struct err *e)
{
    *out = cluster_find(c, name);
    return *out && !(*out)->gone ? 0 : err_set(e, -ENOENT, "no node \"%.100s\"", name);
}

int marking_begin(struct marking *k, const struct cluster *c, const char *list, struct err *e)
{
    k->n = cluster_count(c);
    int rc = hostwalk_create(list, 2 * k->n + LIST_SPARE, &k->walk, e);
    if (rc < 0)
        return err_wrap(e, rc, "\"nodes\"");
    k->wanted = mem_alloc(k->n + 1);
    return 0;
}

bool marking_step(struct marking *k, const struct cluster *c)
{
    for (int i = 0; i < NAMES_A_STEP; i++) {
        const char *name = hostwalk_next(k->walk);
        if (!name)
            return false;
        const struct member *m = cluster_find_next(c, &k->place, name);
        k->named++;
        if (m && !m->gone && m->id < k->n)
            k->wanted[m->id] = 1;
        else
            note_missing(&k->names, k->missing++, name);
    }
    return true;
}

int marking_end(const struct marking *k, struct err *e)
{
    if (k->named == 0)
        return err_set(e, -EINVAL, "\"nodes\" names no node");
    return refuse_missing(&k->names, k->missing, e);
}

void marking_fini(struct marking *k)
{
    hostwalk_destroy(k->walk);
    text_fini(&k->names);
    free(k->wanted);
    *k = (struct marking){0};
}
