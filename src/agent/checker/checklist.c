/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/checklist.h"

#include "agent/home/home.h"
#include "base/log.h"
#include "base/text.h"
#include "link/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A record may name ten thousand nodes. Each line is therefore read by itself, and its nodes are dropped
 * before the next line is read: memory does not grow with the cluster.
 */

void checklist_fini(struct checklist *l)
{
    checks_fini(&l->checks);
    meanings_destroy(l->meanings);
    *l = (struct checklist){0};
}

/* Takes what this node runs of *from, which is empty then. */
static void take_own(struct checks *from, const char *node, struct checks *to)
{
    struct checks rest = {0};
    for (size_t i = 0; i < from->n; i++) {
        struct check *k = &from->list[i];
        bool own = to->n < CHECKS_MAX && check_applies(k, "", node) && !checks_find(to, k->name);
        struct checks *at = own ? to : &rest;
        if (own) {
            hostlist_fini(&k->nodes);
            hostlist_fini(&k->classes);
        }
        at->list = mem_grow(at->list, (at->n + 1) * sizeof *at->list);
        at->list[at->n++] = *k;
    }
    from->n = 0;
    checks_fini(from);
    checks_fini(&rest);
}

static struct meanings *read_meanings(const struct hostlist *lines)
{
    CLEANUP_TEXT struct text all = {0};
    struct err e = {0};
    for (size_t i = 0; i < lines->n; i++)
        text_printf(&all, "%s\n", lines->names[i]);
    struct meanings *m = meanings_parse("meanings", all.s ? all.s : "", all.len, &e);
    if (m)
        return m;
    log_error("the controller's meanings are not taken: %s", e.msg);
    return meanings_read(NULL, NULL);
}

void checklist_take(const struct body_checklist *said, const char *node, struct checklist *out)
{
    *out = (struct checklist){0};
    memcpy(out->hash, said->hash, sizeof out->hash);
    out->revision = said->revision;
    for (size_t i = 0; i < said->lines.n; i++) {
        const char *line = said->lines.names[i];
        struct checks one = {0};
        struct err e = {0};
        if (checks_parse("checklist", line, strlen(line), &one, &e))
            log_error("a check is left out: %s", e.msg);
        else
            take_own(&one, node, &out->checks);
    }
    out->meanings = read_meanings(&said->meanings);
}

int checklist_copy(const char *home, const char *node, struct checklist *out, char **body, struct err *e)
{
    struct body_checklist said;
    CLEANUP_FREE char *text = NULL;
    int r = home_read(home, CHECKLIST_FILE, FRAME_BODY_BYTES_MAX + 2, &text, e);
    if (r)
        return r;
    CLEANUP_JSON json_t *order = json_read(text, strlen(text), e);
    const char *list = order_text(order);
    const struct frame f = {.type = FRAME_CHECKLIST, .body = list, .len = list ? strlen(list) : 0};
    r = list ? body_read_checklist(&f, &said, e) : err_set(e, -EILSEQ, "it is no list that was signed");
    if (r)
        return err_wrap(e, r, "%s/%s", home, CHECKLIST_FILE);
    checklist_take(&said, node, out);
    body_checklist_fini(&said);
    *body = STEAL(text);
    return 0;
}

int checklist_read(const char *path, const char *node, struct checklist *out, struct err *e)
{
    struct checks all = {0};
    *out = (struct checklist){0};
    int r = 0;
    if (path)
        r = checks_read(path, &all, e);
    else
        checks_default(&all);
    if (r)
        return r;
    take_own(&all, node, &out->checks);
    out->meanings = meanings_read(NULL, e);
    return 0;
}

int checklist_load(const char *home, const char *root, const char *node, struct checklist *out, char **body,
                   struct err *e)
{
    struct err why = {0};
    CLEANUP_TEXT struct text path = {0};
    *out = (struct checklist){0};
    *body = NULL;
    int r = checklist_copy(home, node, out, body, &why);
    if (!r)
        return 0;
    if (r != -ENOENT)
        log_warn("%s", why.msg);
    text_printf(&path, "%s%s", root, CHECKLIST_OWN_PATH);
    return checklist_read(path.s, node, out, e);
}
