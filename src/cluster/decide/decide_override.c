/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A person's word that a node is in service despite its faults: by taking it back in the scheduler while
 * Fettle held it, or by command. It is recorded with the faults in the commit that takes the note of the
 * scheduler's driver, so that no restart falls between the two. It ends when its time is over, when a repair
 * begins, when another machine has the name, or by a person's word.
 */
#include "cluster/decide/decide.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SAID_BYTES_MAX = 600 /* the faults, in the journal */ };

static void decide_override_put(const struct member *m, const struct override *o, struct decision *d)
{
    decision_add(d, "override/", m->name, override_record(o));
    hostlist_add(&d->changed, m->name);
}

void override_end(const struct member *m, const char *how, struct text *said, struct decision *d)
{
    assert(how && said);
    const struct override *o = member_override(m);
    if (!o)
        return;
    decision_add(d, "override/", m->name, NULL);
    text_printf(said, "; the override by %s ends: %s", o->by, how);
}

/* --- one begins ------------------------------------------------------------------------------- */

/* The node's present faults. */
static void note_incidents(const struct member *m, struct override *o)
{
    const struct ailment *a = member_ailment(m);
    for (size_t i = 0; a && i < a->n_open; i++) {
        const struct incident *one = &a->open[i];
        struct override_of *to = &o->of[o->n];
        if (one->observe || one->severity < RESULT_DEGRADED)
            continue;
        *to = (struct override_of){.severity = one->severity};
        memcpy(to->group, one->group, sizeof to->group);
        text_line(to->fault, sizeof to->fault, finding_fault(&one->findings[0]));
        o->n++;
    }
}

static char *say_set(const struct override *o)
{
    struct text t = {0};
    CLEANUP_TEXT struct text of = {0};
    override_say(o, &of);
    if (strcmp(o->source, "command") == 0)
        text_add(&t, "it is in service by a person's word");
    else
        text_printf(&t, "%s took it back in %s: it is in service by that word", o->by, o->source);
    if (of.len) {
        char line[SAID_BYTES_MAX];
        text_line(line, sizeof line, of.s);
        text_printf(&t, ", in spite of %s", line);
    }
    if (*o->why)
        text_printf(&t, ": %s", o->why);
    return text_take(&t);
}

static void set_override(const struct command *cmd, const struct member *m, const char *by,
                         const char *source, struct decision *d)
{
    struct override_of of[INCIDENTS_OPEN_MAX];
    CLEANUP_FREE char *own_by = mem_dup(by), *own_source = mem_dup(source),
                      *why = mem_dup(cmd->reason ? cmd->reason : "");
    struct override o = {.by = own_by, .source = own_source, .why = why, .at = cmd->at, .of = of};
    note_incidents(m, &o);
    decide_override_put(m, &o, d);
    d->text = say_set(&o);
}

static int by_command(const struct command *cmd, const struct member *m, struct decision *d, struct err *e)
{
    const struct repair *r = member_repair(m);
    if (decide_check_reason(cmd->reason ? cmd->reason : "", e) < 0)
        return -EINVAL;
    if (!m->listed)
        return err_set(e, -ENOENT, "node \"%s\" is in no configuration file", m->name);
    if (r && (r->manual || r->step == STEP_QUARANTINE || r->step == STEP_RETIRED))
        return err_set(e, -EBUSY, "a person set node \"%s\" aside; `fettle queue resolve` takes it back",
                       m->name);
    if (member_held_by(m, CLAIM_WIPE))
        return err_set(e, -EBUSY,
                       "node \"%s\" was released by a person; `fettle conform approve` brings it back",
                       m->name);
    set_override(cmd, m, cmd->actor, "command", d);
    return 0;
}

/* Together with the note of the scheduler's driver. */
static int by_scheduler(const struct cluster *c, const struct command *cmd, const struct member *m,
                        struct decision *d, struct err *e)
{
    const struct override_command *says = &cmd->override;
    CLEANUP_JSON json_t *done = json_read(says->done, strlen(says->done), e);
    CLEANUP_TEXT struct text said = {0};
    if (!done || decide_check_clause("by", says->by, e) < 0 ||
        decide_check_clause("source", says->source, e) < 0)
        return -EINVAL;
    if (!effect_node(says->key) || strcmp(effect_node(says->key), m->name) != 0)
        return err_set(e, -EINVAL, "\"%.80s\" is no effect on node \"%s\"", says->key, m->name);
    int rc = effect_take_note(c, says->key, done, cmd->at, d, &said, e);
    if (rc == 0 && d->n_ops) /* else it is written down already: the command is repeated */
        set_override(cmd, m, says->by, says->source, d);
    return rc;
}

/* --- it stands, and ends ---------------------------------------------------------------------- */

static int decide_override_age(const struct command *cmd, const struct member *m, struct decision *d)
{
    const struct override *is = member_override(m);
    uint64_t spent_s = cmd->override_of.spent_s;
    char buf[32];
    if (!is || is->at.ns != cmd->override_of.of.ns || spent_s <= is->spent_s)
        return 0;
    struct override o = *is;
    struct text t = {0};
    o.spent_s = spent_s;
    decide_override_put(m, &o, d);
    text_printf(&t, "the override by %s has stood for %s", o.by, span_human(span_s((int64_t)spent_s), buf));
    d->text = text_take(&t);
    return 0;
}

/* The reason says how. */
static int decide_override_end(const struct command *cmd, const struct member *m, struct decision *d,
                               struct err *e)
{
    const struct override *is = member_override(m);
    struct wall of = cmd->override_of.of;
    struct text said = {0};
    if (decide_check_reason(cmd->reason ? cmd->reason : "", e) < 0)
        return -EINVAL;
    if (of.ns && (!is || is->at.ns != of.ns))
        return 0;
    if (!is)
        return err_set(e, -EBUSY, "node \"%s\" has no override", m->name);
    decision_add(d, "override/", m->name, NULL);
    hostlist_add(&d->changed, m->name);
    text_printf(&said, "the override by %s ends: %s", is->by, cmd->reason);
    d->text = text_take(&said);
    return 0;
}

int decide_override(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    struct member *m;
    int rc = decide_one(c, cmd, &m, e);
    if (rc < 0)
        return rc;
    if (cmd->kind == COMMAND_OVERRIDE_AGE)
        return decide_override_age(cmd, m, d);
    if (cmd->kind == COMMAND_OVERRIDE_END)
        return decide_override_end(cmd, m, d, e);
    return cmd->override.source ? by_scheduler(c, cmd, m, d, e) : by_command(cmd, m, d, e);
}
