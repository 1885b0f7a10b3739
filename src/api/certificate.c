/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates: which there are, and the end of some. */
#include "cluster/certificate.h"
#include "api/slices.h"

#include <inttypes.h>
#include <stdlib.h>

struct list {
    struct slices slices;
    const char *comma;
    char *after; /* the last holder whose certificates were rendered; NULL: none yet */
};

/* Of a node, the next one is there until it is used. */
static const char *state_of(const struct holder *h, const struct made *m, struct wall now)
{
    if (m->revoked.ns)
        return "revoked";
    if (m->until.ns <= now.ns)
        return "expired";
    bool second = h->n > 1 && m == &h->made[h->n - 1] && m->serial > h->least;
    return second && !*m->role ? "next" : "good";
}

static void render_time(struct text *t, const char *key, struct wall at)
{
    char buf[32];
    text_printf(t, ",\"%s\":\"%s\"", key, wall_format(at, buf));
}

static void render_made(struct list *l, const char *subject, const struct made *m, const char *state)
{
    struct text *t = &l->slices.text;
    text_printf(t, "%s{\"holder\":", l->comma);
    l->comma = ",";
    text_add_json(t, subject);
    text_printf(t, ",\"serial\":\"%" PRIx64 "\",\"key\":\"%016" PRIx64 "\",\"role\":\"%s\",\"state\":\"%s\"",
                m->serial, m->key, m->role, state);
    render_time(t, "made", m->at);
    render_time(t, "until", m->until);
    text_add(t, ",\"by\":");
    text_add_json(t, m->by);
    text_add(t, ",\"why\":");
    text_add_json(t, m->why ? m->why : "");
    text_add_char(t, '}');
}

static void render_holder(struct list *l, const struct holder *h)
{
    for (size_t i = 0; i < h->n; i++)
        render_made(l, h->subject, &h->made[i], state_of(h, &h->made[i], l->slices.call.wall));
}

/* Somebody is connected with one that was made before there were records, or whose record was lost. */
static void render_connected(void *arg, const struct identity *id)
{
    struct list *l = arg;
    char by[] = "before";
    CLEANUP_FREE char *subject = identity_subject(id);
    const struct holder *h = cluster_holder(l->slices.call.api->cluster, subject);
    for (size_t i = 0; h && i < h->n; i++)
        if (h->made[i].serial == id->serial)
            return;
    const struct made m = {.serial = id->serial,
                           .key = id->key,
                           .at = {span_s(id->from_s).ns},
                           .until = {span_s(id->until_s).ns},
                           .by = by};
    render_made(l, subject, &m, "good");
}

static bool list_step(struct slices *s)
{
    struct list *l = (struct list *)s;
    const struct api *api = s->call.api;
    const struct holder *h = cluster_holder_after(api->cluster, l->after ? l->after : "");
    if (h) {
        render_holder(l, h);
        free(l->after);
        l->after = mem_dup(h->subject);
        return true;
    }
    api->shell.connected(api->shell.arg, render_connected, l);
    text_add(&s->text, "]}");
    return false;
}

static void list_fini(struct slices *s)
{
    free(((struct list *)s)->after);
}

/* A holder is where it stands in the order of subjects: none is left out, whatever comes or goes meanwhile.
 */
int call_certificate_list(struct call *c, struct text *t, struct err *e)
{
    struct list *l = mem_alloc(sizeof *l);
    l->slices = (struct slices){.step = list_step, .fini = list_fini};
    l->comma = "";
    text_add(&l->slices.text, "{\"certificates\":[");
    return call_slices(c, &l->slices);
}

/* Of nodes by their names, of an operator or a controller by "operator:NAME". */
int call_certificate_revoke(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    int rc = call_ask(c, &a, e);
    if (rc == 0) {
        CLEANUP_TEXT struct text set = {0};
        text_add_char(&set, '{');
        if (a.name) {
            text_add(&set, "\"subject\":");
            text_add_json(&set, a.name);
        }
        if (a.word) {
            text_add(&set, ",\"serial\":");
            text_add_json(&set, a.word);
        }
        text_add_char(&set, '}');
        struct command cmd = {.kind = COMMAND_CERTIFICATE_REVOKE, .reason = a.reason, .set = set.s};
        rc = a.name ? call_submit(c, &a.nodes, &cmd, NULL) : call_submit_each(c, &a.nodes, &cmd, e);
    }
    ask_fini(&a);
    return rc;
}
