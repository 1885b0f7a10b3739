/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controllers of one state have one journal, so each head that one of them signed is the root of the first
 * leaves of every longer log. The heads come by the controllers' keys in etcd, and count as what their
 * controllers say, not more: a head of another log stops this one from being signed further, and people look.
 */
#include "base/base64.h"
#include "controller/audit/audit_inside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

char *auditor_told(const struct checkpoint *head, char out[static AUDITOR_TOLD_BYTES])
{
    CLEANUP_TEXT struct text root = {0};
    base64_add(&root, head->root.bytes, sizeof head->root.bytes);
    snprintf(out, AUDITOR_TOLD_BYTES, "%" PRIu64 " %s", head->size, root.s);
    return out;
}

bool heard_read(const char *told, struct heard *h)
{
    CLEANUP_TEXT struct text number = {0};
    const char *blank = strchr(told, ' ');
    if (!blank)
        return false;
    text_add_bytes(&number, told, (size_t)(blank - told));
    return number.len > 0 && text_parse_u64(number.s, 1, INT64_MAX, &h->size, NULL) == 0 &&
           base64_take_exactly(blank + 1, strlen(blank + 1), h->root.bytes, sizeof h->root.bytes);
}

static int heard_judge(struct trail *t, struct heard *h, struct err *e)
{
    const struct tree_reader reader = treefile_reader(t->tree);
    struct checkpoint head;
    struct tree_hash own;
    treefile_head(t->tree, &head, NULL);
    if (h->is_judged || h->size > head.size)
        return 0;
    int r = tree_root(&reader, h->size, &own, e);
    h->is_judged = r == 0;
    h->is_good = h->is_judged && tree_same(&own, &h->root);
    return r;
}

static void trail_differ(struct trail *t, const struct heard *h)
{
    memcpy(t->differing, h->controller, sizeof t->differing);
    err_set(&t->differs, -EILSEQ,
            "the audit log of %s is another one than this controller's (%s): of its first %" PRIu64
            " entries one at least is not the same; nothing is added or signed here any more",
            h->controller, treefile_key(t->tree)->name, h->size);
}

int trail_judge(struct trail *t, struct heard *list, size_t n, struct err *e)
{
    const struct heard *bad = NULL;
    bool is_over = false;
    for (size_t i = 0; i < n; i++) {
        int r = heard_judge(t, &list[i], e);
        if (r)
            return r;
        if (list[i].is_judged && !list[i].is_good && !bad)
            bad = &list[i];
        is_over = is_over || (list[i].is_good && strcmp(list[i].controller, t->differing) == 0);
    }
    if (bad)
        trail_differ(t, bad);
    else if (is_over)
        t->differs = (struct err){0};
    return t->differs.code ? err_set(e, t->differs.code, "%s", t->differs.msg) : 0;
}
