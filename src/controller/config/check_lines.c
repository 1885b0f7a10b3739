/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/config/check_lines.h"

static bool is_restricted(const struct check *k)
{
    return k->classes.n || k->nodes.n || k->canary_percent < 100;
}

static void find_nodes(const struct check *k, check_node_fn *node, const void *arg, size_t n,
                       struct hostlist *out)
{
    for (size_t i = 0; i < n; i++) {
        const char *class, *name = node(arg, i, &class);
        if (name && check_applies(k, class, name))
            hostlist_add(out, name);
    }
}

void check_lines(const struct checks *c, const struct hostlist *meanings, check_node_fn *node,
                 const void *arg, size_t n, struct text *out)
{
    const char *comma = "";
    text_add(out, "\"lines\":[");
    for (size_t i = 0; i < c->n; i++) {
        const struct check *k = &c->list[i];
        CLEANUP_HOSTLIST struct hostlist nodes = {0};
        CLEANUP_TEXT struct text line = {0};
        if (is_restricted(k))
            find_nodes(k, node, arg, n, &nodes);
        if (is_restricted(k) && nodes.n == 0)
            continue;
        check_format(k, &nodes, &line);
        text_add(out, comma);
        text_add_json(out, line.s);
        comma = ",";
    }
    text_add(out, "],\"meanings\":[");
    for (size_t i = 0; i < meanings->n; i++) {
        text_add(out, i ? "," : "");
        text_add_json(out, meanings->names[i]);
    }
    text_add(out, "]");
}
