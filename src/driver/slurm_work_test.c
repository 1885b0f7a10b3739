/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work on nodes, with stand-ins for squeue, scontrol and scancel: shell scripts that print what those of
 * Slurm 22.05.8 were recorded to print.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "driver/slurm_work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct world {
    uv_loop_t loop;
    char dir[48], scontrol[64];
    unsigned n_done;
    struct text said; /* the jobs that were read, or the sentence */
    struct err why;
};

static void write_program(const struct world *w, const char *name, const char *body)
{
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "%s/%s", w->dir, name);
    FILE *f = fopen(path.s, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\necho \"%s $*\" >>%s/calls\n%s\n", name, w->dir, body);
    fclose(f);
    assert_int_equal(chmod(path.s, 0700), 0);
}

static int setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    *w = (struct world){.dir = "/tmp/fettle-work-XXXXXX"};
    *state = w;
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->scontrol, sizeof w->scontrol, "%s/scontrol", w->dir);
    write_program(w, "squeue", "echo '4711 ann c[1-2]'; echo '4712 bob c1'");
    write_program(w, "scontrol", "");
    write_program(w, "scancel", "");
    uv_loop_init(&w->loop);
    return 0;
}

static int teardown(void **state)
{
    static const char *const files[] = {"squeue", "scontrol", "scancel", "calls"};
    struct world *w = *state;
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        CLEANUP_TEXT struct text path = {0};
        text_printf(&path, "%s/%s", w->dir, files[i]);
        unlink(path.s);
    }
    assert_int_equal(rmdir(w->dir), 0);
    text_fini(&w->said);
    free(w);
    return 0;
}

static void assert_calls(const struct world *w, const char *expected)
{
    CLEANUP_TEXT struct text path = {0}, is = {0};
    text_printf(&path, "%s/calls", w->dir);
    FILE *f = fopen(path.s, "r");
    text_add(&is, "");
    for (int c; f && (c = getc(f)) != EOF;)
        text_add_char(&is, (char)c);
    if (f)
        fclose(f);
    assert_string_equal(is.s, expected);
}

static struct slurm_conf conf_of(const struct world *w, int64_t deadline_ms)
{
    return (struct slurm_conf){.scontrol = w->scontrol, .deadline = span_ms(deadline_ms)};
}

static void on_end(void *arg, const char *said, const struct err *why)
{
    struct world *w = arg;
    w->n_done++;
    assert_true(!said != !why);
    text_add(&w->said, said ? said : "");
    w->why = why ? *why : (struct err){0};
}

static void on_read(void *arg, const struct slurm_jobs *jobs, const struct err *why)
{
    struct world *w = arg;
    w->n_done++;
    assert_true(!jobs != !why);
    text_add(&w->said, "");
    for (size_t i = 0; jobs && i < jobs->n; i++)
        text_printf(&w->said, "%s of %s on %zu; ", jobs->list[i].id, jobs->list[i].user,
                    jobs->list[i].nodes.n);
    w->why = why ? *why : (struct err){0};
}

enum { LONG_MS = 60000 };

static void read_jobs(struct world *w, int64_t deadline_ms)
{
    const struct slurm_conf conf = conf_of(w, deadline_ms);
    struct slurm_work *work;
    assert_int_equal(slurm_work_read(&w->loop, &conf, "c[1-2]", on_read, w, &work, NULL), 0);
    assert_int_equal(w->n_done, 0); /* from the loop only */
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->n_done, 1);
}

static void end_jobs(struct world *w, const char *verb)
{
    const struct slurm_conf conf = conf_of(w, LONG_MS);
    struct slurm_work *work;
    assert_int_equal(slurm_work_end(&w->loop, &conf, "c1", verb, on_end, w, &work, NULL), 0);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->n_done, 1);
}

#define ASKED "squeue --noheader --states=RUNNING,SUSPENDED,CONFIGURING --nodelist="

static void test_the_jobs_of_all_nodes_are_read_with_one_call(void **state)
{
    struct world *w = *state;
    read_jobs(w, LONG_MS);
    assert_string_equal(w->said.s, "4711 of ann on 2; 4712 of bob on 1; ");
    assert_calls(w, ASKED "c[1-2] --format=%A %u %N\n");
}

static void test_nodes_without_jobs_have_an_empty_list(void **state)
{
    struct world *w = *state;
    write_program(w, "squeue", "");
    read_jobs(w, LONG_MS);
    assert_string_equal(w->said.s, "");
    assert_int_equal(w->why.code, 0);
}

static void test_jobs_that_cannot_be_read_have_a_reason(void **state)
{
    struct world *w = *state;
    write_program(w, "squeue", "echo 'squeue: error: Invalid node name c9' >&2; exit 1");
    read_jobs(w, LONG_MS);
    assert_string_equal(w->why.msg, "squeue ended with 1: squeue: error: Invalid node name c9");
}

static void test_a_line_that_is_no_job_is_no_answer(void **state)
{
    struct world *w = *state;
    write_program(w, "squeue", "echo '4711 ann c1'; echo 'JOBID USER NODELIST'");
    read_jobs(w, LONG_MS);
    assert_int_equal(w->why.code, -EPROTO);
}

static void test_a_squeue_that_does_not_end_is_no_answer(void **state)
{
    struct world *w = *state;
    write_program(w, "squeue", "sleep 1000");
    read_jobs(w, 50);
    assert_int_equal(w->why.code, -ETIMEDOUT);
}

static void test_jobs_are_requeued_with_one_call(void **state)
{
    struct world *w = *state;
    end_jobs(w, "requeue");
    assert_string_equal(w->said.s, "asked Slurm to requeue 4711 of ann, 4712 of bob");
    assert_calls(w, ASKED "c1 --format=%A %u %N\nscontrol requeue 4711,4712\n");
}

static void test_jobs_are_cancelled_with_one_call(void **state)
{
    struct world *w = *state;
    end_jobs(w, "cancel");
    assert_string_equal(w->said.s, "asked Slurm to cancel 4711 of ann, 4712 of bob");
    assert_calls(w, ASKED "c1 --format=%A %u %N\nscancel 4711,4712\n");
}

static void test_a_node_without_jobs_needs_no_call(void **state)
{
    struct world *w = *state;
    write_program(w, "squeue", "");
    end_jobs(w, "cancel");
    assert_string_equal(w->said.s, "Slurm has no job on it any more");
    assert_calls(w, ASKED "c1 --format=%A %u %N\n");
}

static void test_a_refusal_names_the_jobs_and_slurms_words(void **state)
{
    struct world *w = *state;
    write_program(w, "scontrol", "echo 'Job is pending execution for job 4711' >&2; exit 1");
    end_jobs(w, "requeue");
    assert_string_equal(w->why.msg, "Slurm did not requeue 4711 of ann, 4712 of bob: scontrol ended with 1: "
                                    "Job is pending execution for job 4711");
}

static void test_nothing_is_ended_when_the_jobs_are_not_known(void **state)
{
    struct world *w = *state;
    write_program(w, "squeue", "echo 'squeue: error: Invalid node name c9' >&2; exit 1");
    end_jobs(w, "cancel");
    assert_non_null(strstr(w->why.msg, "Invalid node name"));
    assert_calls(w, ASKED "c1 --format=%A %u %N\n");
}

static void test_a_program_that_is_missing_is_told_at_once(void **state)
{
    struct world *w = *state;
    const struct slurm_conf conf = {.scontrol = "/nowhere/scontrol", .deadline = span_ms(LONG_MS)};
    struct slurm_work *work = NULL;
    struct err e = {0};
    assert_int_equal(slurm_work_read(&w->loop, &conf, "c1", on_read, w, &work, &e), -ENOENT);
    assert_string_equal(e.msg, "/nowhere/squeue: no such file or directory");
    assert_int_equal(slurm_work_end(&w->loop, &conf, "c1", "cancel", on_end, w, &work, &e), -ENOENT);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->n_done, 0);
    assert_null(work);
}

static void test_a_scancel_that_is_missing_is_a_failure(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "%s/scancel", w->dir);
    unlink(path.s);
    end_jobs(w, "cancel");
    assert_int_equal(w->why.code, -ENOENT);
}

static void test_a_cancelled_call_calls_nobody(void **state)
{
    struct world *w = *state;
    const struct slurm_conf conf = conf_of(w, LONG_MS);
    struct slurm_work *work;
    slurm_work_cancel(NULL);
    write_program(w, "squeue", "sleep 1000");
    assert_int_equal(slurm_work_end(&w->loop, &conf, "c1", "cancel", on_end, w, &work, NULL), 0);
    slurm_work_cancel(work);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->n_done, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_jobs_of_all_nodes_are_read_with_one_call),
        TEST(test_nodes_without_jobs_have_an_empty_list),
        TEST(test_jobs_that_cannot_be_read_have_a_reason),
        TEST(test_a_line_that_is_no_job_is_no_answer),
        TEST(test_a_squeue_that_does_not_end_is_no_answer),
        TEST(test_jobs_are_requeued_with_one_call),
        TEST(test_jobs_are_cancelled_with_one_call),
        TEST(test_a_node_without_jobs_needs_no_call),
        TEST(test_a_refusal_names_the_jobs_and_slurms_words),
        TEST(test_nothing_is_ended_when_the_jobs_are_not_known),
        TEST(test_a_program_that_is_missing_is_told_at_once),
        TEST(test_a_scancel_that_is_missing_is_a_failure),
        TEST(test_a_cancelled_call_calls_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
