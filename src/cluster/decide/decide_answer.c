/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A person's word that something was put right. It names open findings by fault and device, or is for all
 * of them. The covered findings are closed in the commit that writes the word down. A finding that leaves
 * others behind in its incident is closed as an incident of its own, so that it still counts when it comes
 * back.
 */
#include "cluster/decide/decide.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SAID_BYTES_MAX = 900 /* the bytes of the journal's sentence */ };

/* --- what is named ---------------------------------------------------------------------------- */

static void say_finding(const struct incident_finding *f, struct text *t)
{
    text_printf(t, "%s%s%s%s", t->len ? ", " : "", finding_fault(f), *f->f.device ? " " : "", f->f.device);
}

static void answer_add(struct answer *w, const char *fault, const char *device)
{
    if (w->n == ANSWERED_MAX)
        memmove(w->of, w->of + 1, --w->n * sizeof *w->of);
    w->of = mem_grow(w->of, (w->n + 1) * sizeof *w->of);
    struct answered *one = &w->of[w->n++];
    *one = (struct answered){0};
    memcpy(one->fault, fault, strlen(fault) + 1);
    memcpy(one->device, device, strlen(device) + 1);
}

/* Every finding that is open and has this fault, on this device or, without one, on any. */
static size_t add_named(const struct ailment *a, const char *fault, const char *device, struct answer *w)
{
    size_t found = 0;
    for (size_t i = 0; a && i < a->n_open; i++) {
        for (size_t k = 0; k < a->open[i].n; k++) {
            const struct incident_finding *f = &a->open[i].findings[k];
            if (strcmp(finding_fault(f), fault) != 0 || (device && strcmp(f->f.device, device) != 0))
                continue;
            found++;
            if (!w->n || !answer_covers(w, f->check, &f->f))
                answer_add(w, fault, f->f.device);
        }
    }
    return found;
}

static int refuse_unknown(const struct member *m, const char *fault, const char *device, struct err *e)
{
    const struct ailment *a = member_ailment(m);
    CLEANUP_TEXT struct text open = {0};
    text_add(&open, "");
    for (size_t i = 0; a && i < a->n_open; i++)
        for (size_t k = 0; k < a->open[i].n && open.len < SAID_BYTES_MAX / 3; k++)
            say_finding(&a->open[i].findings[k], &open);
    return err_set(e, -ENOENT, "no finding \"%s%s%s\" is open on node \"%s\"%s%s", fault, device ? " " : "",
                   device ? device : "", m->name, open.len ? "; open are: " : "", open.s);
}

int answer_find(const struct answer_command *says, const struct member *m, struct wall at, struct answer *out,
                struct err *e)
{
    *out = (struct answer){.at = at};
    if (says->n == 0 || says->n > ANSWERED_MAX)
        return err_set(e, -EINVAL, "%zu findings; 1 to %d are put right at once", says->n, ANSWERED_MAX);
    for (size_t i = 0; i < says->n; i++) {
        const struct finding_name *f = &says->findings[i];
        if (!add_named(member_ailment(m), f->fault, f->device, out))
            return refuse_unknown(m, f->fault, f->device, e);
    }
    return 0;
}

void answer_carry(const struct answer *before, const struct member *m, struct answer *w)
{
    const struct ailment *a = member_ailment(m);
    struct answer now = {.at = w->at};
    struct answer open = {.at = w->at};
    for (size_t i = 0; i < before->n; i++)
        if (!add_named(a, before->of[i].fault, before->of[i].device, &open))
            answer_add(&now, before->of[i].fault, before->of[i].device);
    for (size_t i = 0; i < w->n; i++)
        answer_add(&now, w->of[i].fault, w->of[i].device);
    answer_fini(&open);
    answer_fini(w);
    *w = now;
}

/* --- what is closed --------------------------------------------------------------------------- */

size_t answer_leaves(const struct member *m, const struct answer *w, struct text *said)
{
    const struct ailment *a = member_ailment(m);
    size_t left = 0;
    for (size_t i = 0; a && i < a->n_open; i++) {
        struct incident rest, closed;
        incident_split(&a->open[i], w, &rest, &closed);
        if (rest.n == 0 || !incident_counts(&rest))
            continue;
        left++;
        for (size_t k = 0; k < rest.n && said->len < SAID_BYTES_MAX / 3; k++)
            say_finding(&rest.findings[k], said);
    }
    return left;
}

void answer_close(const struct command *cmd, const struct member *m, const struct answer *w,
                  struct decision *d)
{
    assert(w);
    const struct ailment *a = member_ailment(m);
    CLEANUP_TEXT struct text said = {0};
    CLEANUP_FREE char *before = STEAL(d->text);
    if (a && a->n_open)
        decision_add(d, "health/", m->name, ailment_answered(a, w, cmd->claim));
    text_add(&said, before);
    for (size_t i = 0; a && i < a->n_open; i++) {
        struct incident rest, closed;
        incident_split(&a->open[i], w, &rest, &closed);
        CLEANUP_TEXT struct text of = {0};
        for (size_t k = 0; rest.n && k < closed.n; k++)
            say_finding(&closed.findings[k], &of);
        if (closed.n)
            decision_about(d, ENTRY_INCIDENTS, a->open[i].id);
        if (closed.n && said.len < SAID_BYTES_MAX)
            text_printf(&said, "; closed %s%s%s by that word", of.len ? of.s : a->open[i].id,
                        of.len ? " of " : "", of.len ? a->open[i].id : "");
    }
    d->text = text_take(&said);
}
