/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/slurm_work.h"

#include "base/text.h"
#include "driver/slurm_call.h"
#include "driver/slurm_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct slurm_work {
    struct slurm_call *call;
    char *scontrol, *conf_file, *verb;
    struct span deadline;
    struct text said;         /* the jobs and their users */
    slurm_work_read_fn *read; /* NULL: end the jobs, and call `end` */
    slurm_work_end_fn *end;
    void *arg;
};

static void slurm_work_destroy(struct slurm_work *w)
{
    slurm_call_destroy(w->call);
    free(w->scontrol);
    free(w->conf_file);
    free(w->verb);
    text_fini(&w->said);
    free(w);
}

static void slurm_work_finish(struct slurm_work *w, const char *said, const struct err *why)
{
    slurm_work_end_fn *done = w->end;
    void *arg = w->arg;
    struct err copy = why ? *why : (struct err){0};
    CLEANUP_FREE char *words = mem_dup(said);
    slurm_work_destroy(w);
    done(arg, words, why ? &copy : NULL);
}

/* The path of another of Slurm's programs, beside scontrol. */
static void say_program(const struct slurm_work *w, const char *name, struct text *t)
{
    const char *slash = strrchr(w->scontrol, '/');
    text_printf(t, "%.*s%s", slash ? (int)(slash + 1 - w->scontrol) : 0, w->scontrol, name);
}

static int slurm_work_run(struct slurm_work *w, const char *const *args, slurm_call_done_fn *done,
                          struct err *e)
{
    CLEANUP_TEXT struct text program = {0};
    say_program(w, args[0], &program);
    return slurm_call_start(w->call, program.s, args, w->conf_file, w->deadline, done, w, e);
}

static void on_asked(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *answer = text;
    struct slurm_work *w = arg;
    CLEANUP_TEXT struct text said = {0};
    struct err e = {0};
    if (why)
        err_set(&e, why->code, "Slurm did not %s %.200s: %.200s", w->verb, w->said.s, why->msg);
    text_printf(&said, "asked Slurm to %s %s", w->verb, w->said.s);
    slurm_work_finish(w, why ? NULL : said.s, why ? &e : NULL);
}

static void finish_read(struct slurm_work *w, const struct slurm_jobs *jobs, const struct err *why)
{
    slurm_work_read_fn *done = w->read;
    void *arg = w->arg;
    slurm_work_destroy(w);
    done(arg, why ? NULL : jobs, why);
}

static int ask_to_end(struct slurm_work *w, const struct slurm_jobs *jobs, struct err *e)
{
    CLEANUP_TEXT struct text ids = {0};
    for (size_t i = 0; i < jobs->n; i++) {
        text_printf(&ids, "%s%s", i ? "," : "", jobs->list[i].id);
        text_printf(&w->said, "%s%s of %s", i ? ", " : "", jobs->list[i].id, jobs->list[i].user);
    }
    const char *const requeue[] = {"scontrol", "requeue", ids.s, NULL};
    const char *const cancel[] = {"scancel", ids.s, NULL};
    return slurm_work_run(w, strcmp(w->verb, "requeue") == 0 ? requeue : cancel, on_asked, e);
}

static void on_jobs(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *answer = text;
    struct slurm_work *w = arg;
    struct slurm_jobs jobs = {0};
    struct err e = {0};
    int rc = why ? err_set(&e, why->code, "%s", why->msg) : slurm_read_jobs(answer, &jobs, &e);
    if (w->read)
        finish_read(w, &jobs, rc < 0 ? &e : NULL);
    else if (rc == 0 && jobs.n == 0)
        slurm_work_finish(w, "Slurm has no job on it any more", NULL);
    else if (rc < 0 || ask_to_end(w, &jobs, &e) < 0)
        slurm_work_finish(w, NULL, &e);
    slurm_jobs_fini(&jobs);
}

static int slurm_work_start(uv_loop_t *loop, const struct slurm_conf *conf, const char *nodes,
                            const struct slurm_work *like, struct slurm_work **out, struct err *e)
{
    struct slurm_work *w = mem_alloc(sizeof *w);
    CLEANUP_TEXT struct text of = {0};
    *w = *like;
    w->call = slurm_call_create(loop);
    w->scontrol = mem_dup(conf->scontrol);
    w->conf_file = mem_dup(conf->conf_file);
    w->deadline = conf->deadline;
    text_printf(&of, "--nodelist=%s", nodes);
    const char *const args[] = {"squeue", "--noheader",        "--states=RUNNING,SUSPENDED,CONFIGURING",
                                of.s,     "--format=%A %u %N", NULL};
    int rc = slurm_work_run(w, args, on_jobs, e);
    if (rc < 0)
        slurm_work_destroy(w);
    else
        *out = w;
    return rc;
}

int slurm_work_read(uv_loop_t *loop, const struct slurm_conf *conf, const char *nodes,
                    slurm_work_read_fn *done, void *arg, struct slurm_work **out, struct err *e)
{
    const struct slurm_work like = {.read = done, .arg = arg};
    return slurm_work_start(loop, conf, nodes, &like, out, e);
}

int slurm_work_end(uv_loop_t *loop, const struct slurm_conf *conf, const char *node, const char *verb,
                   slurm_work_end_fn *done, void *arg, struct slurm_work **out, struct err *e)
{
    const struct slurm_work like = {.verb = mem_dup(verb), .end = done, .arg = arg};
    return slurm_work_start(loop, conf, node, &like, out, e);
}

void slurm_work_cancel(struct slurm_work *w)
{
    if (w)
        slurm_work_destroy(w);
}
