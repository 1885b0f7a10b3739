/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/commit/commit_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

struct job *job_create(const struct command *cmd, outcome_fn *fn, void *arg)
{
    struct job *j = mem_alloc(sizeof *j);
    *j = (struct job){.cmd = command_copy(cmd), .fn = fn, .arg = arg};
    return j;
}

void job_entry_write(struct job *j, struct decision *d)
{
    struct text fields = {0};
    entry_fields_write(&d->fields, &fields);
    j->entry_nodes = hostlist_fold((const char *const *)d->changed.names, d->changed.n);
    j->entry_about = text_take(&d->about);
    j->entry_fields = text_take(&fields);
}

void job_entry_fini(struct job *j)
{
    free(j->entry_nodes);
    free(j->entry_text);
    free(j->entry_about);
    free(j->entry_fields);
    j->entry_nodes = j->entry_text = j->entry_about = j->entry_fields = NULL;
}

static void job_destroy(struct job *j)
{
    command_destroy(j->cmd);
    hostlist_fini(&j->changed);
    free(j->claim);
    job_entry_fini(j);
    free(j);
}

/* ---- what came of the request before ---- */

/* The nodes that a part changed, which ended at its `next` and began where the one before it ended. */
static void job_take_part(struct job *j, const struct request_part *p, size_t from, size_t to)
{
    CLEANUP_HOSTLIST struct hostlist changed = {0};
    const struct hostlist *nodes = j->cmd->nodes;
    const bool is_known = p->changed && hostlist_parse(p->changed, &changed, NULL) == 0;
    for (size_t i = from; !is_known && i < to; i++)
        hostlist_add(&changed, nodes->names[i]);
    hostlist_add_all(&j->changed, &changed);
    if (p->claim) {
        free(j->claim);
        j->claim = mem_dup(p->claim);
    }
    if (p->revision > j->recalled_at)
        j->recalled_at = p->revision;
    j->recalled = true;
}

static int recall_each(struct job *j, const struct remembered *r)
{
    const struct request_part *p = remembered_part(r, j->cmd->nodes->names[0]);
    if (p)
        job_take_part(j, p, 0, 1);
    return p != NULL;
}

static int recall_parts(struct job *j, const struct remembered *r)
{
    for (size_t i = 0; i < r->n; i++) {
        job_take_part(j, &r->parts[i], j->from, r->parts[i].next);
        j->from = r->parts[i].next;
    }
    return remembered_is_whole(r);
}

int job_recall(struct job *j, const struct cluster *c, struct err *e)
{
    const struct command *cmd = j->cmd;
    const struct client_request *asked = &cmd->request;
    const struct remembered *r = asked->id && !cmd->dry ? cluster_request(c, asked->id) : NULL;
    if (!r || j->from > 0 || j->recalled)
        return 0;
    const int rc = remembered_check(r, cmd->actor, asked->asks, e);
    if (rc < 0)
        return rc;
    const struct request_part *last = &r->parts[r->n - 1];
    const size_t of = asked->of ? asked->of : cmd->nodes->n;
    if (last->of != of || last->next > of || (*last->node != '\0') != (asked->of > 0))
        return err_set(e, -ENOTUNIQ, "this request id was used for another request");
    return asked->of ? recall_each(j, r) : recall_parts(j, r);
}

void job_finish(struct job *j, uint64_t revision, int rc, const struct err *why)
{
    struct outcome o = {.rc = rc,
                        .revision = revision,
                        .changed = &j->changed,
                        .folded = j->from == 0 ? j->entry_nodes : NULL, /* for a later part: NULL */
                        .claim = j->claim,
                        .would = rc == 0 && j->cmd->dry ? j->entry_text : NULL,
                        .replayed = j->recalled,
                        .why = rc < 0 ? why : NULL};
    j->fn(j->arg, &o);
    job_destroy(j);
}

void jobs_refuse(struct job *jobs, uint64_t revision, const struct err *why)
{
    struct job *j, *tmp;
    DL_FOREACH_SAFE2(jobs, j, tmp, next_job)
    job_finish(j, revision, -EAGAIN, why);
}
