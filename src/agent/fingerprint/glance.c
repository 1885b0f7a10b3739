/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/fingerprint/glance.h"

#include "agent/process/child.h"
#include "base/log.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEADLINE_MS = 500, BYTES_MAX = 64 };

struct glance {
    const char *root, *node;
    const struct survey_conf *conf;
    struct child *child;
    glance_fn *fn; /* NULL while no caller waits */
    void *arg;
};

struct glance *glance_create(uv_loop_t *loop, const char *root, const char *node,
                             const struct survey_conf *conf)
{
    struct glance *g = mem_alloc(sizeof *g);
    *g = (struct glance){.root = root, .node = node, .conf = conf, .child = child_create(loop, BYTES_MAX)};
    return g;
}

void glance_destroy(struct glance *g)
{
    if (!g)
        return;
    child_destroy(g->child);
    free(g);
}

void glance_renew(struct glance *g)
{
    child_dismiss(g->child);
}

static int glance_answer(void *arg, const char *question, struct text *out, struct err *e)
{
    const struct glance *g = arg;
    text_printf(out, "%016" PRIx64, survey_glance(g->root, g->node, g->conf));
    return 0;
}

static void on_glance(void *arg, char *text, size_t len, const struct err *why)
{
    struct glance *g = arg;
    uint64_t value;
    bool any = !why && sscanf(text, "%16" SCNx64, &value) == 1;
    if (!any)
        log_debug(LOG_PROBE, "no glance at the node: %s", why ? why->msg : text);
    STEAL(g->fn)(g->arg, any ? &value : NULL);
}

void glance_take(struct glance *g, glance_fn *fn, void *arg)
{
    struct err e = {0};
    g->fn = fn;
    g->arg = arg;
    if (child_ask(g->child, span_ms(DEADLINE_MS), glance_answer, g, "", on_glance, g, &e))
        on_glance(g, NULL, 0, &e);
}
