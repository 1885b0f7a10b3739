/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches. A command is decided against the committed state. So a batch never has two commands of which one
 * would change the decision on the other: each names nodes and records of its own, and the kinds of commands
 * (command.tbl, the column of what a command meets) tell what they share beyond their nodes.
 */
#include "controller/commit/commit_inside.h"

#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static void marks_grow(struct batch *b, const struct cluster *c)
{
    size_t n = cluster_count(c);
    if (n > b->n_marks) {
        b->marks = mem_grow(b->marks, n * sizeof *b->marks);
        memset(b->marks + b->n_marks, 0, (n - b->n_marks) * sizeof *b->marks);
        b->n_marks = n;
    }
}

static bool marks_any(const struct batch *b, const struct cluster *c, char *const *names, size_t n)
{
    size_t place = 0;
    for (size_t i = 0; i < n; i++) {
        const struct member *m = cluster_find_next(c, &place, names[i]);
        if (m && b->marks[m->id] == b->number)
            return true;
    }
    return false;
}

static void marks_add(struct batch *b, const struct cluster *c, char *const *names, size_t n)
{
    size_t place = 0;
    for (size_t i = 0; i < n; i++) {
        const struct member *m = cluster_find_next(c, &place, names[i]);
        if (m)
            b->marks[m->id] = b->number;
    }
}

/* True when the batch already names one of the job's nodes before index `to`. This compares the nodes of the
 * job's present part, and the nodes that the job changes (a claim is made for all at once). */
static bool names_overlap(struct batch *b, const struct cluster *c, const struct job *j, size_t to,
                          const struct hostlist *changed)
{
    if (b->n_entries == 0)
        return false;
    marks_grow(b, c);
    return (to > j->from && marks_any(b, c, j->cmd->nodes->names + j->from, to - j->from)) ||
           marks_any(b, c, changed->names, changed->n);
}

void batch_mark(struct batch *b, const struct cluster *c, const struct job *j)
{
    assert(b->n_entries > 0);
    const struct hostlist *changed = &b->changed[b->n_entries - 1];
    marks_grow(b, c);
    if (j->next > j->from)
        marks_add(b, c, j->cmd->nodes->names + j->from, j->next - j->from);
    marks_add(b, c, changed->names, changed->n);
}

/* Whether the commands share something that their nodes do not show. A command waits for the next batch when
 * it would change the outcome of one in this batch, or the other way round. */
static bool kinds_overlap(const struct batch *b, enum command_kind kind)
{
    enum { BASELINES = 1 << COMMAND_MEETS_BASELINES, COMPARES = 1 << COMMAND_MEETS_COMPARES };
    enum { SWITCHES = 1 << COMMAND_MEETS_SWITCHES, OBEYS = 1 << COMMAND_MEETS_OBEYS };
    static const unsigned apart_from[] = {
        [COMMAND_MEETS_NODES] = 0,
        [COMMAND_MEETS_BASELINES] = BASELINES | COMPARES,
        [COMMAND_MEETS_COMPARES] = BASELINES,
        [COMMAND_MEETS_SWITCHES] = SWITCHES | OBEYS,
        [COMMAND_MEETS_OBEYS] = SWITCHES,
        [COMMAND_MEETS_CAUSES] = 1 << COMMAND_MEETS_CAUSES,
    };
    return (b->met & apart_from[command_meets(kind)]) != 0;
}

/* Both would find the same room in it. */
static bool quotas_overlap(const struct batch *b, const char *quota)
{
    for (size_t i = 0; quota && i < b->n_quotas; i++)
        if (strcmp(b->quotas[i], quota) == 0)
            return true;
    return false;
}

bool batch_meets(struct batch *b, const struct cluster *c, const struct job *j, const struct decision *d)
{
    static const struct hostlist none = {0};
    bool same_room = b->takes_out && d && d->takes_out; /* in a budget */
    return kinds_overlap(b, j->cmd->kind) || same_room || quotas_overlap(b, d ? d->quota : NULL) ||
           names_overlap(b, c, j, d ? d->next : j->cmd->nodes->n, d ? &d->changed : &none);
}

/* The records by which the batch, with this job, remembers its requests and forgets older ones. */
static size_t notes_room(const struct batch *b, const struct cluster *c, const struct job *j)
{
    if (b->n_notes == 0 && !j->cmd->request.id)
        return 0;
    const struct wall at = b->n_notes ? b->notes[0].cmd->at : j->cmd->at;
    /* A command that is alone has to fit, and then lets nothing leave. */
    return b->n_entries == 0 ? 1
                             : 1 + cluster_requests_leave(c, at, STORE_ENTRIES_MAX, STORE_BATCH_BYTES_MAX);
}

/* While more requests are remembered than should be, a commit takes no more than leave with it. */
static bool notes_are_full(const struct batch *b, const struct cluster *c)
{
    const struct wall no_matter_how_old = {0};
    return b->n_notes >= REQUESTS_LEAVE_MAX &&
           cluster_requests_leave(c, no_matter_how_old, b->n_notes + 1, 0) == REQUESTS_LEAVE_MAX;
}

static size_t note_bytes(const struct command *cmd)
{
    return cmd->request.id ? 2 * strlen(cmd->actor) + REQUEST_CHANGED_BYTES_MAX + 512 : 0;
}

bool batch_fits(const struct batch *b, const struct cluster *c, const struct job *j, const struct decision *d,
                size_t *bytes)
{
    *bytes = strlen(j->entry_nodes) + strlen(j->entry_about) + strlen(j->entry_fields) +
             (d->text ? strlen(d->text) : 0) + 256 + note_bytes(j->cmd);
    for (size_t i = 0; i < d->n_ops; i++)
        *bytes += strlen(d->ops[i].key) + (d->ops[i].value ? strlen(d->ops[i].value) : 0);
    if (b->n_ops + d->n_ops + notes_room(b, c, j) > STORE_OPS_MAX || b->n_entries == STORE_ENTRIES_MAX)
        return false;
    if (b->bytes + *bytes > STORE_BATCH_BYTES_MAX && b->n_entries > 0)
        return false;
    if (j->cmd->request.id && notes_are_full(b, c))
        return false;
    for (size_t i = 0; i < d->n_ops; i++)
        for (size_t k = 0; k < b->n_ops; k++)
            if (strcmp(d->ops[i].key, b->ops[k].key) == 0)
                return false;
    return true;
}

static void take_ops(struct batch *b, struct decision *d)
{
    assert(b->n_ops + d->n_ops <= STORE_OPS_MAX);
    for (size_t i = 0; i < d->n_ops; i++, b->n_ops++) {
        b->own[b->n_ops].key = STEAL(d->ops[i].key);
        b->own[b->n_ops].value = STEAL(d->ops[i].value);
        b->ops[b->n_ops] = (struct store_op){b->own[b->n_ops].key, b->own[b->n_ops].value};
    }
}

void batch_take(struct batch *b, struct job *j, struct decision *d, size_t bytes)
{
    take_ops(b, d);
    b->bytes += bytes;
    j->next = d->next;
    j->entry_text = STEAL(d->text);
    j->entry = (struct store_entry){.at = j->cmd->at,
                                    .actor = j->cmd->actor,
                                    .what = command_name(j->cmd->kind),
                                    .nodes = j->entry_nodes,
                                    .text = j->entry_text,
                                    .about = j->entry_about,
                                    .fields = j->entry_fields};
    b->entries[b->n_entries] = j->entry;
    b->kinds[b->n_entries] = j->cmd->kind;
    hostlist_add_all(&j->changed, &d->changed);
    DL_APPEND2(b->jobs, j, prev_job, next_job);
    b->met |= 1U << command_meets(j->cmd->kind);
    b->takes_out |= d->takes_out;
    if (d->quota)
        b->quotas[b->n_quotas++] = d->quota;
    if (j->cmd->request.id)
        b->notes[b->n_notes++] = (struct request_note){j->cmd, d->next, &b->changed[b->n_entries], j->claim};
    b->changed[b->n_entries++] = d->changed;
    d->changed = (struct hostlist){0};
}

bool batch_asks(const struct batch *b, const struct job *j)
{
    const struct client_request *r = &j->cmd->request;
    for (size_t i = 0; r->id && i < b->n_notes; i++) {
        const struct command *other = b->notes[i].cmd;
        if (strcmp(r->id, other->request.id) == 0 &&
            (!r->of || !other->request.of || strcmp(j->cmd->nodes->names[0], other->nodes->names[0]) == 0))
            return true;
    }
    return false;
}

void batch_seal(struct batch *b, const struct cluster *c, uint64_t revision)
{
    struct decision d = {0};
    if (b->n_notes == 0 || b->n_ops == STORE_OPS_MAX)
        return;
    cluster_remember(c, revision, b->notes, b->n_notes, STORE_OPS_MAX - b->n_ops, &d);
    take_ops(b, &d);
    decision_fini(&d);
}

static bool is_found(const struct store_change *found, const struct batch *b, uint64_t *revision)
{
    const struct store_batch what = {b->n_ops, b->ops, b->n_entries, b->entries};
    const struct store_change *c;
    DL_FOREACH (found, c) {
        *revision = c->revision;
        if (change_is(c, &what))
            return true;
    }
    return false;
}

void batch_resolve(struct batch *b, int asked, const struct store_change *found)
{
    CLEANUP_FREE char *cause = mem_dup(b->why.msg);
    if (asked < 0) {
        err_set(
            &b->why, STORE_UNKNOWN,
            "it is not known whether the change was made (%s); \"fettle journal\" shows it, if it was, when "
            "the store works again",
            cause);
    } else if (is_found(found, b, &b->revision)) {
        log_warn("the change of revision %llu is there, after this: %s", (unsigned long long)b->revision,
                 cause);
        b->rc = 0;
    } else {
        b->rc = err_set(&b->why, -EIO, "the change was not made: %s", cause);
    }
}

struct commit_view batch_view(const struct batch *b)
{
    return (struct commit_view){.revision = b->revision,
                                .batch = {b->n_ops, b->ops, b->n_entries, b->entries},
                                .kinds = b->kinds,
                                .changed = b->changed};
}

void batch_clear(struct batch *b)
{
    for (size_t i = 0; i < b->n_ops; i++) {
        free(b->own[i].key);
        free(b->own[i].value);
    }
    for (size_t i = 0; i < b->n_entries; i++)
        hostlist_fini(&b->changed[i]);
    b->n_ops = b->n_entries = b->bytes = 0;
    b->met = 0;
    b->n_quotas = b->n_notes = 0;
    b->takes_out = false;
}

void batch_fini(struct batch *b)
{
    batch_clear(b);
    free(b->marks);
}
