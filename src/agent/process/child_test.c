/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/process/child.h"

#include "agent/process/oom.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { LIMIT = 64 << 10 };

struct run {
    uv_loop_t loop;
    struct child *child;
    int done;
    char *text;
    struct err why;
    int inherited; /* a descriptor of the parent */
    bool again;
};

static int open_run(void **state)
{
    struct run *r = mem_alloc(sizeof *r);
    uv_loop_init(&r->loop);
    r->child = child_create(&r->loop, LIMIT);
    *state = r;
    return 0;
}

static int close_run(void **state)
{
    struct run *r = *state;
    child_destroy(r->child);
    uv_run(&r->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&r->loop), 0);
    free(r->text);
    free(r);
    return 0;
}

static int say_hello(void *arg, struct text *out, struct err *e)
{
    text_printf(out, "hello from below");
    return 0;
}

static int say_nothing(void *arg, struct text *out, struct err *e)
{
    return 0;
}

static int say_much(void *arg, struct text *out, struct err *e)
{
    for (int i = 0; i < LIMIT; i++)
        text_add(out, "much ");
    return 0;
}

static int fail_with_words(void *arg, struct text *out, struct err *e)
{
    return err_set(e, -ENOENT, "no such thing");
}

static int hang(void *arg, struct text *out, struct err *e)
{
    while (pause() < 0) { /* until it is killed */
    }
    return 0;
}

/* Its answer is whole before it ends, which it does when it is told. */
static int answer_and_linger(void *arg, struct text *out, struct err *e)
{
    char told;
    dprintf(3, "+early");
    close(3);
    return read(CHILD_KEPT_FD, &told, 1) == 1 ? 0 : err_set(e, -EIO, "nobody told it");
}

static int die(void *arg, struct text *out, struct err *e)
{
    raise(SIGKILL);
    return 0;
}

static int look_at_descriptors(void *arg, struct text *out, struct err *e)
{
    const struct run *r = arg;
    text_add(out, fcntl(r->inherited, F_GETFD) < 0 ? "closed" : "open");
    return 0;
}

static void on_done(void *arg, char *text, size_t len, const struct err *why)
{
    struct run *r = arg;
    r->done++;
    free(r->text);
    r->text = text ? mem_dup_len(text, len) : NULL;
    if (why)
        r->why = *why;
    if (r->again && r->done < 20)
        assert_int_equal(child_run(r->child, span_s(20), say_hello, on_done, r, NULL), 0);
}

static void run(struct run *r, struct span deadline, child_work_fn *work)
{
    int before = r->done;
    assert_int_equal(child_run(r->child, deadline, work, on_done, r, NULL), 0);
    while (r->done == before)
        uv_run(&r->loop, UV_RUN_ONCE);
}

static void hands_the_text_to_the_parent(void **state)
{
    struct run *r = *state;
    run(r, span_s(20), say_hello);
    assert_string_equal(r->text, "hello from below");
    run(r, span_s(20), say_nothing);
    assert_string_equal(r->text, "");
}

static void a_new_run_may_start_when_one_is_done(void **state)
{
    struct run *r = *state;
    r->again = true;
    assert_int_equal(child_run(r->child, span_s(20), say_hello, on_done, r, NULL), 0);
    while (r->done < 20)
        uv_run(&r->loop, UV_RUN_ONCE);
    assert_int_equal(r->why.code, 0);
}

static void hands_on_why_it_failed(void **state)
{
    struct run *r = *state;
    run(r, span_s(20), fail_with_words);
    assert_null(r->text);
    assert_string_equal(r->why.msg, "no such thing");
    run(r, span_s(20), die);
    assert_null(r->text);
    assert_int_equal(r->why.code, -EIO);
}

static void ends_at_the_deadline(void **state)
{
    struct run *r = *state;
    run(r, span_ms(20), hang);
    assert_int_equal(r->why.code, -ETIMEDOUT);
    int busy; /* until the kernel has let the killed one go */
    while ((busy = child_run(r->child, span_s(20), say_hello, on_done, r, NULL)) == -EBUSY)
        uv_run(&r->loop, UV_RUN_ONCE);
    assert_int_equal(busy, 0);
    while (r->done < 2)
        uv_run(&r->loop, UV_RUN_ONCE);
    assert_string_equal(r->text, "hello from below");
}

static void count_polls(uv_handle_t *handle, void *arg)
{
    *(int *)arg += handle->type == UV_POLL;
}

static int polls(struct run *r)
{
    int n = 0;
    uv_walk(&r->loop, count_polls, &n);
    return n;
}

/* That it has ended is seen by who wants the next one, before the loop tells of it. */
static void an_answer_is_nobody_elses(void **state)
{
    struct run *r = *state;
    siginfo_t ended;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    child_keep(r->child, ends[0]);
    assert_int_equal(child_run(r->child, span_s(20), answer_and_linger, on_done, r, NULL), 0);
    while (polls(r) > 0) /* the answer is read, and the child is still there */
        uv_run(&r->loop, UV_RUN_ONCE);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT), 0);
    assert_int_equal(child_run(r->child, span_s(20), say_hello, on_done, r, NULL), -EBUSY);
    while (r->done < 1)
        uv_run(&r->loop, UV_RUN_ONCE);
    assert_string_equal(r->text, "early");
    run(r, span_s(20), say_hello);
    assert_string_equal(r->text, "hello from below");
    close(ends[0]);
    close(ends[1]);
}

static void there_is_one_at_a_time(void **state)
{
    struct run *r = *state;
    assert_int_equal(child_run(r->child, span_s(20), hang, on_done, r, NULL), 0);
    assert_int_equal(child_run(r->child, span_s(20), say_hello, on_done, r, NULL), -EBUSY);
}

static void bounds_the_text(void **state)
{
    struct run *r = *state;
    run(r, span_s(20), say_much);
    assert_null(r->text);
    assert_int_not_equal(r->why.code, 0);
}

static void holds_no_descriptor_of_its_parent(void **state)
{
    struct run *r = *state;
    int low = open("/dev/null", O_RDONLY | O_CLOEXEC);
    r->inherited = fcntl(low, F_DUPFD_CLOEXEC, 50);
    run(r, span_s(20), look_at_descriptors);
    assert_string_equal(r->text, "closed");
    close(r->inherited);
    close(low);
}

static int write_to_the_kept(void *arg, struct text *out, struct err *e)
{
    const struct run *r = arg;
    struct stat st;
    bool kept = fstat(CHILD_KEPT_FD, &st) == 0 && S_ISFIFO(st.st_mode);
    bool alone = fcntl(r->inherited, F_GETFD) < 0;
    text_add(out, alone && kept && write(CHILD_KEPT_FD, "x", 1) == 1 ? "kept" : "not kept");
    return 0;
}

static void keeps_one_descriptor_open_in_the_child(void **state)
{
    struct run *r = *state;
    int fds[2];
    char byte = 0;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    r->inherited = fcntl(fds[1], F_DUPFD_CLOEXEC, 50);
    child_keep(r->child, fds[1]);
    run(r, span_s(20), write_to_the_kept);
    assert_string_equal(r->text, "kept");
    assert_int_equal(read(fds[0], &byte, 1), 1);
    assert_int_equal(byte, 'x');
    child_keep(r->child, -1);
    run(r, span_s(20), write_to_the_kept);
    assert_string_equal(r->text, "not kept");
    close(r->inherited);
    close(fds[0]);
    close(fds[1]);
}

/* Handlers that libraries have put around fork know descriptors of the parent by their numbers. */
static int fork_with_directories_open(void *arg, struct text *out, struct err *e)
{
    int fds[8], status;
    for (int i = 0; i < 8; i++)
        fds[i] = open("/", O_RDONLY | O_DIRECTORY);
    pid_t pid = fork();
    if (pid == 0) {
        int good = 0;
        for (int i = 0; i < 8; i++)
            good += faccessat(fds[i], "tmp", F_OK, 0) == 0;
        _exit(good);
    }
    waitpid(pid, &status, 0);
    text_printf(out, "%d", WEXITSTATUS(status));
    return 0;
}

static void descriptors_of_a_child_are_there_in_its_own_children(void **state)
{
    struct run *r = *state;
    run(r, span_s(20), fork_with_directories_open);
    assert_string_equal(r->text, "8");
}

static int look_at_the_score(void *arg, struct text *out, struct err *e)
{
    char score[16] = "";
    FILE *file = fopen("/proc/self/oom_score_adj", "re");
    assert_non_null(file);
    assert_non_null(fgets(score, sizeof score, file));
    fclose(file);
    text_add(out, score);
    return 0;
}

/* A score above 0 is one that every test may have; the child's is the same for one below. */
static void nothing_of_its_parents_protection_is_in_the_child(void **state)
{
    struct run *r = *state;
    int before, own;
    assert_int_equal(oom_score_set(321, &before), 0);
    run(r, span_s(20), look_at_the_score);
    assert_int_equal(oom_score_set(before, &own), 0);
    assert_string_equal(r->text, "0\n");
    assert_int_equal(own, 321);
}

/* --- one that stays ------------------------------------------------------------------------- */

static int answer(void *arg, const char *question, struct text *out, struct err *e)
{
    const struct run *r = arg;
    if (strcmp(question, "die") == 0)
        raise(SIGKILL);
    if (strcmp(question, "die in the middle") == 0) {
        assert_int_equal(write(3, "+half", 5), 5);
        raise(SIGKILL);
    }
    if (strcmp(question, "hang") == 0)
        return hang(NULL, out, e);
    if (strcmp(question, "much") == 0)
        return say_much(NULL, out, e);
    if (strcmp(question, "fail") == 0)
        return err_set(e, -ENOENT, "no such thing");
    text_printf(out, "%s %d %d", question, (int)getpid(), r->inherited);
    return 0;
}

static void ask_within(struct run *r, const char *question, struct span deadline)
{
    int before = r->done, busy;
    r->why = (struct err){0};
    while ((busy = child_ask(r->child, deadline, answer, r, question, on_done, r, NULL)) == -EBUSY)
        uv_run(&r->loop, UV_RUN_ONCE);
    assert_int_equal(busy, 0);
    while (r->done == before)
        uv_run(&r->loop, UV_RUN_ONCE);
}

static void ask(struct run *r, const char *question)
{
    ask_within(r, question, span_s(20));
}

/* Who answered; 0 for nobody. */
static int who(struct run *r, const char *question)
{
    int pid = 0;
    ask(r, question);
    if (r->text)
        assert_int_equal(sscanf(r->text + strlen(question), "%d", &pid), 1);
    return pid;
}

static void one_may_stay_for_the_next_question(void **state)
{
    struct run *r = *state;
    int first = who(r, "first");
    assert_memory_equal(r->text, "first ", 6);
    assert_true(child_waits(r->child));
    assert_int_equal(who(r, "and another"), first);
    assert_memory_equal(r->text, "and another ", 12);
    assert_int_equal(who(r, "fail"), 0);
    assert_string_equal(r->why.msg, "no such thing");
    assert_int_equal(who(r, "third"), first);
}

static void one_that_stays_knows_what_was_when_it_was_started(void **state)
{
    struct run *r = *state;
    r->inherited = 7;
    ask(r, "x");
    r->inherited = 8;
    ask(r, "x");
    assert_string_equal(strrchr(r->text, ' '), " 7");
    child_destroy(r->child);
    r->child = child_create(&r->loop, LIMIT);
    ask(r, "x");
    assert_string_equal(strrchr(r->text, ' '), " 8");
}

static void when_one_that_stays_ends_another_comes(void **state)
{
    static const char *const ends[] = {"die", "die in the middle", "much"};
    struct run *r = *state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        int before = who(r, "x");
        assert_int_equal(who(r, ends[i]), 0);
        assert_int_not_equal(r->why.code, 0);
        assert_false(child_waits(r->child));
        int after = who(r, "x");
        assert_true(after != 0 && after != before);
    }
}

static void one_that_stays_ends_while_nobody_asks(void **state)
{
    struct run *r = *state;
    int before = who(r, "x");
    kill(before, SIGKILL);
    while (child_exists(r->child))
        uv_run(&r->loop, UV_RUN_ONCE);
    assert_false(child_waits(r->child));
    int after = who(r, "x");
    assert_true(after != 0 && after != before);
    assert_int_equal(r->why.code, 0);
}

static void one_that_stays_has_a_deadline_for_each_question(void **state)
{
    struct run *r = *state;
    int before = who(r, "x");
    ask_within(r, "hang", span_ms(20));
    assert_int_equal(r->why.code, -ETIMEDOUT);
    assert_false(child_waits(r->child));
    assert_int_not_equal(who(r, "x"), before);
}

static void one_that_stays_is_asked_one_thing_at_a_time_and_nothing_long(void **state)
{
    struct run *r = *state;
    static char much[CHILD_QUESTION_BYTES_MAX + 1];
    memset(much, 'x', CHILD_QUESTION_BYTES_MAX);
    assert_int_equal(child_ask(r->child, span_s(20), answer, r, much, on_done, r, NULL), -E2BIG);
    much[CHILD_QUESTION_BYTES_MAX - 1] = '\0';
    ask(r, much);
    assert_memory_equal(r->text, much, CHILD_QUESTION_BYTES_MAX - 1);
    assert_int_equal(child_ask(r->child, span_s(20), answer, r, "hang", on_done, r, NULL), 0);
    assert_int_equal(child_ask(r->child, span_s(20), answer, r, "x", on_done, r, NULL), -EBUSY);
    assert_int_equal(child_run(r->child, span_s(20), say_hello, on_done, r, NULL), -EBUSY);
}

static void after_many_questions_another_comes(void **state)
{
    struct run *r = *state;
    int first = who(r, "x"), last = first;
    for (int i = 1; i < CHILD_QUESTIONS_MAX; i++)
        last = who(r, "x");
    assert_int_equal(last, first);
    assert_false(child_waits(r->child));
    int next = who(r, "x");
    assert_true(next != 0 && next != first);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_run, close_run)
    const struct CMUnitTest tests[] = {
        T(hands_the_text_to_the_parent),
        T(a_new_run_may_start_when_one_is_done),
        T(hands_on_why_it_failed),
        T(ends_at_the_deadline),
        T(an_answer_is_nobody_elses),
        T(there_is_one_at_a_time),
        T(bounds_the_text),
        T(holds_no_descriptor_of_its_parent),
        T(keeps_one_descriptor_open_in_the_child),
        T(descriptors_of_a_child_are_there_in_its_own_children),
        T(nothing_of_its_parents_protection_is_in_the_child),
        T(one_may_stay_for_the_next_question),
        T(one_that_stays_knows_what_was_when_it_was_started),
        T(when_one_that_stays_ends_another_comes),
        T(one_that_stays_ends_while_nobody_asks),
        T(one_that_stays_has_a_deadline_for_each_question),
        T(one_that_stays_is_asked_one_thing_at_a_time_and_nothing_long),
        T(after_many_questions_another_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
