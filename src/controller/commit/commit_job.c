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

void job_finish(struct job *j, uint64_t revision, int rc, const struct err *why)
{
    struct outcome o = {.rc = rc,
                        .revision = revision,
                        .changed = &j->changed,
                        .folded = j->from == 0 ? j->entry_nodes : NULL, /* for a later part: NULL */
                        .claim = j->claim,
                        .would = rc == 0 && j->cmd->dry ? j->entry_text : NULL,
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
