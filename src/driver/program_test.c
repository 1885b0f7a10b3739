/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "driver/program.h"
#include "driver/request.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct world {
    uv_loop_t loop;
    unsigned n_done;
    struct text printed;
    struct err why;
    unsigned n_gone;
    unsigned done_then; /* how often done had come when it was gone */
};

static int setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    uv_loop_init(&w->loop);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    assert_int_equal(uv_loop_close(&w->loop), 0); /* nothing is left in it */
    text_fini(&w->printed);
    free(w);
    return 0;
}

static void on_done(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *printed = text;
    struct world *w = arg;
    w->n_done++;
    w->why = why ? *why : (struct err){0};
    assert_true(text || why);
    if (!text)
        return;
    assert_int_equal(printed[len], '\0');
    text_add_bytes(&w->printed, printed, len);
}

static void on_gone(void *arg)
{
    struct world *w = arg;
    w->n_gone++;
    w->done_then = w->n_done;
}

static int start(struct world *w, const char *script, int deadline_ms, struct program **out, struct err *e)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    const char *const set[] = {"FETTLE_TEST=set", NULL};
    const char *const unset[] = {"FETTLE_UNSET", NULL};
    const struct program_run run = {.argv = argv,
                                    .set = set,
                                    .unset = unset,
                                    .deadline = span_ms(deadline_ms),
                                    .limit_bytes = 1000,
                                    .gone = on_gone};
    text_clear(&w->printed);
    w->n_done = w->n_gone = 0;
    return program_start(&w->loop, &run, on_done, w, out, e);
}

static void run(struct world *w, const char *script, int deadline_ms)
{
    struct program *p;
    struct err e = {0};
    assert_int_equal(start(w, script, deadline_ms, &p, &e), 0);
    assert_int_equal(w->n_done, 0);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->n_done, 1);
}

enum { LONG_MS = 60000 };

static void test_the_output_of_a_program_is_told(void **state)
{
    struct world *w = *state;
    run(w, "printf 'a b'; echo words >&2", LONG_MS);
    assert_string_equal(w->printed.s, "a b");
    run(w, "true", LONG_MS);
    assert_int_equal(w->printed.len, 0);
    assert_int_equal(w->why.code, 0);
}

static void test_its_environment(void **state)
{
    struct world *w = *state;
    setenv("FETTLE_UNSET", "x", 1);
    setenv("FETTLE_TEST", "other", 1);
    setenv("FETTLE_TEST_LONGER", "kept", 1);
    run(w, "printf \"$FETTLE_TEST,${FETTLE_UNSET-gone},$FETTLE_TEST_LONGER\"", LONG_MS);
    assert_string_equal(w->printed.s, "set,gone,kept");
    unsetenv("FETTLE_UNSET");
    unsetenv("FETTLE_TEST");
    unsetenv("FETTLE_TEST_LONGER");
}

static void test_it_leads_its_session_and_no_signal_is_kept_from_it(void **state)
{
    struct world *w = *state;
    sigset_t some, before;
    sigemptyset(&some);
    sigaddset(&some, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &some, &before);
    signal(SIGPIPE, SIG_IGN);
    run(w,
        "read -r pid name state parent group session rest </proc/$$/stat; test $$ = $session && test $$ = "
        "$group",
        LONG_MS);
    assert_int_equal(w->why.code, 0);
    run(w, "kill -PIPE $$", LONG_MS);
    assert_string_equal(w->why.msg, "sh was killed by signal 13");
    run(w, "kill -TERM $$", LONG_MS);
    assert_string_equal(w->why.msg, "sh was killed by signal 15");
    signal(SIGPIPE, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void test_another_status_has_its_words(void **state)
{
    struct world *w = *state;
    run(w, "echo printed; echo 'no luck' >&2; echo more >&2; exit 3", LONG_MS);
    assert_int_equal(w->why.code, -EIO);
    assert_string_equal(w->why.msg, "sh ended with 3: no luck");
    run(w, "echo printed; exit 4", LONG_MS);
    assert_string_equal(w->why.msg, "sh ended with 4: printed");
    run(w, "kill -TERM $$", LONG_MS);
    assert_string_equal(w->why.msg, "sh was killed by signal 15");
}

static void test_at_its_deadline_it_is_killed_with_its_children(void **state)
{
    struct world *w = *state;
    run(w, "sleep 1000 & sleep 1000", 50);
    assert_int_equal(w->why.code, -ETIMEDOUT);
    assert_string_equal(w->why.msg, "sh did not end in time");
}

static void test_too_much_is_not_kept(void **state)
{
    struct world *w = *state;
    run(w, "while :; do echo 0123456789; done", LONG_MS);
    assert_int_equal(w->why.code, -EPROTO);
    assert_string_equal(w->why.msg, "sh printed more than 1000 bytes");
}

static void test_a_process_left_behind_is_not_waited_for(void **state)
{
    struct world *w = *state;
    run(w, "echo here; sleep 1000 &", LONG_MS);
    assert_string_equal(w->printed.s, "here\n");
}

static void test_a_program_that_is_not_there(void **state)
{
    struct world *w = *state;
    struct program *p = NULL;
    struct err e = {0};
    const char *const argv[] = {"/nowhere/tool", NULL};
    const struct program_run r = {.argv = argv, .deadline = span_ms(LONG_MS), .limit_bytes = 1};
    assert_int_equal(program_start(&w->loop, &r, on_done, w, &p, &e), -ENOENT);
    assert_string_equal(e.msg, "/nowhere/tool: no such file or directory");
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->n_done, 0);
}

static void test_kill_calls_nobody(void **state)
{
    struct world *w = *state;
    struct program *p;
    struct err e = {0};
    program_kill(NULL);
    assert_int_equal(start(w, "sleep 1000", LONG_MS, &p, &e), 0);
    program_kill(p);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->n_done, 0);
}

/* Right before it is told where it ended by itself; afterwards where it was told at its deadline. */
static void test_gone_is_when_nothing_of_it_is_left(void **state)
{
    struct world *w = *state;
    run(w, "true", LONG_MS);
    assert_int_equal(w->n_gone, 1);
    assert_int_equal(w->done_then, 0);
    run(w, "sleep 1000", 50);
    assert_int_equal(w->n_gone, 1);
    assert_int_equal(w->done_then, 1);
    struct program *p;
    struct err e = {0};
    assert_int_equal(start(w, "sleep 1000", LONG_MS, &p, &e), 0);
    program_kill(p);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(w->n_gone, 0);
}

/* --- fettle-exec ------------------------------------------------------------------------------- */

/* In its place: takes one request, prints something into the pipes, and gives an answer of the test's. */
struct elsewhere {
    char dir[32], path[64];
    int fd;
    pthread_t thread;
    const char *answer; /* NULL: it closes without one */
    size_t answer_len;
    const char *printed;
    bool is_silent; /* it waits for the caller to give up */
    char action[64];
};

/* One request with the pipes that come with it. */
static int request_take(int fd, char *bytes, size_t cap, size_t *len, int files[REQUEST_FILES])
{
    union {
        char bytes[CMSG_SPACE(REQUEST_FILES * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec part = {bytes, cap};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    ssize_t n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (n <= 0 || !c)
        return -1;
    memcpy(files, CMSG_DATA(c), REQUEST_FILES * sizeof(int));
    *len = (size_t)n;
    return 0;
}

static void *serve(void *arg)
{
    struct elsewhere *x = arg;
    char bytes[4096], rest;
    size_t len = 0;
    int files[REQUEST_FILES];
    struct request r;
    int fd = accept4(x->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0 && request_take(fd, bytes, sizeof bytes, &len, files) == 0) {
        if (request_parse(bytes, len, &r, NULL) == 0)
            snprintf(x->action, sizeof x->action, "%s %s", r.action, r.n ? r.args[0] : "");
        if (x->printed && write(files[0], x->printed, strlen(x->printed)) < 0)
            abort();
        if (x->is_silent)
            (void)recv(fd, &rest, 1, 0); /* to the end of the caller's side */
        if (x->answer && send(fd, x->answer, x->answer_len, MSG_NOSIGNAL) < 0)
            abort();
        close(files[0]);
        close(files[1]);
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

static void elsewhere_start(struct elsewhere *x)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    memcpy(x->dir, "/tmp/fettle-program-XXXXXX", sizeof "/tmp/fettle-program-XXXXXX");
    assert_non_null(mkdtemp(x->dir));
    snprintf(x->path, sizeof x->path, "%s/socket", x->dir);
    snprintf(at.sun_path, sizeof at.sun_path, "%s", x->path);
    x->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_true(x->fd >= 0);
    assert_int_equal(bind(x->fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(x->fd, 1), 0);
    assert_int_equal(pthread_create(&x->thread, NULL, serve, x), 0);
    program_set_exec(x->path);
}

static void elsewhere_end(struct elsewhere *x)
{
    program_set_exec(NULL);
    pthread_join(x->thread, NULL);
    close(x->fd);
    unlink(x->path);
    assert_int_equal(rmdir(x->dir), 0);
}

static int ask(struct world *w, int deadline_ms, struct err *e)
{
    static const char *const argv[] = {"/usr/bin/tool", NULL};
    static const char *const words[] = {"power", "lx01", NULL};
    const struct program_run r = {
        .argv = argv, .ask = words, .deadline = span_ms(deadline_ms), .limit_bytes = 100, .gone = on_gone};
    struct program *p;
    text_clear(&w->printed);
    w->n_done = w->n_gone = 0;
    int rc = program_start(&w->loop, &r, on_done, w, &p, e);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    return rc;
}

#define ANSWER(words) .answer = words, .answer_len = sizeof words - 1

static void test_fettle_exec_runs_it_and_the_caller_sees_no_difference(void **state)
{
    static const struct {
        struct elsewhere x;
        const char *why;
        int code;
    } cases[] = {
        {{ANSWER("ended\0000\0"), .printed = "on"}, "", 0},
        {{ANSWER("ended\0003\0"), .printed = "no luck\nmore"}, "tool ended with 3: no luck", -EIO},
        {{ANSWER("killed\0009\0")}, "tool was killed by signal 9", -EIO},
        {{ANSWER("refused\0no such node\0")}, "tool: fettle-exec refuses: no such node", -EPERM},
        {{.answer = NULL}, "tool: fettle-exec ended before it; its log may say why", -EIO},
    };
    struct world *w = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct elsewhere x = cases[i].x;
        elsewhere_start(&x);
        assert_int_equal(ask(w, LONG_MS, NULL), 0);
        elsewhere_end(&x);
        assert_string_equal(x.action, "power lx01");
        assert_int_equal(w->n_done, 1);
        assert_int_equal(w->n_gone, 1);
        assert_string_equal(w->why.msg, cases[i].why);
        assert_int_equal(w->why.code, cases[i].code);
        if (i == 0)
            assert_string_equal(w->printed.s, "on");
    }
}

static void test_an_answer_that_is_none_is_no_end(void **state)
{
    struct world *w = *state;
    struct elsewhere x = {ANSWER("levitated\0003\0")};
    elsewhere_start(&x);
    assert_int_equal(ask(w, LONG_MS, NULL), 0);
    elsewhere_end(&x);
    assert_int_equal(w->why.code, -EPROTO);
    assert_ptr_equal(strstr(w->why.msg, "tool: fettle-exec: "), w->why.msg);
}

/* Its side of the connection is shut, which has fettle-exec kill the program. */
static void test_at_the_deadline_fettle_exec_is_told_to_kill(void **state)
{
    struct world *w = *state;
    struct elsewhere x = {ANSWER("killed\0009\0"), .is_silent = true};
    elsewhere_start(&x);
    assert_int_equal(ask(w, 50, NULL), 0);
    elsewhere_end(&x);
    assert_string_equal(w->why.msg, "tool did not end in time");
    assert_int_equal(w->n_done, 1);
    assert_int_equal(w->n_gone, 1);
}

static void test_too_much_from_fettle_exec_is_not_kept(void **state)
{
    static char many[102];
    struct world *w = *state;
    struct elsewhere x = {ANSWER("killed\0009\0"), .printed = many, .is_silent = true};
    memset(many, 'x', sizeof many - 1);
    elsewhere_start(&x);
    assert_int_equal(ask(w, LONG_MS, NULL), 0);
    elsewhere_end(&x);
    assert_string_equal(w->why.msg, "tool printed more than 100 bytes");
}

static void test_a_fettle_exec_that_is_not_there_is_told_at_once(void **state)
{
    static char long_path[200];
    struct world *w = *state;
    struct err e = {0};
    assert_null(program_exec());
    program_set_exec("/nowhere/socket");
    assert_string_equal(program_exec(), "/nowhere/socket");
    assert_int_equal(ask(w, LONG_MS, &e), -ENOENT);
    assert_string_equal(e.msg, "fettle-exec does not hear at /nowhere/socket: No such file or directory");
    assert_int_equal(w->n_done, 0);
    program_set_exec(NULL);
    memset(long_path, 'x', sizeof long_path - 1);
    assert_int_equal(program_try_exec(long_path, &e), -ENAMETOOLONG);
}

static void test_whether_fettle_exec_answers_can_be_tried(void **state)
{
    static const struct {
        struct elsewhere x;
        int code;
    } cases[] = {{{ANSWER("ended\0000\0")}, 0},
                 {{ANSWER("refused\0not you\0")}, -EPERM},
                 {{ANSWER("x")}, -EPROTO},
                 {{.answer = NULL}, -EPROTO}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct elsewhere x = cases[i].x;
        struct err e = {0};
        elsewhere_start(&x);
        assert_int_equal(program_try_exec(x.path, &e), cases[i].code);
        elsewhere_end(&x);
        assert_string_equal(x.action, "hello ");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_output_of_a_program_is_told),
        TEST(test_its_environment),
        TEST(test_it_leads_its_session_and_no_signal_is_kept_from_it),
        TEST(test_another_status_has_its_words),
        TEST(test_at_its_deadline_it_is_killed_with_its_children),
        TEST(test_too_much_is_not_kept),
        TEST(test_a_process_left_behind_is_not_waited_for),
        TEST(test_a_program_that_is_not_there),
        TEST(test_kill_calls_nobody),
        TEST(test_gone_is_when_nothing_of_it_is_left),
        TEST(test_fettle_exec_runs_it_and_the_caller_sees_no_difference),
        TEST(test_an_answer_that_is_none_is_no_end),
        TEST(test_at_the_deadline_fettle_exec_is_told_to_kill),
        TEST(test_too_much_from_fettle_exec_is_not_kept),
        TEST(test_a_fettle_exec_that_is_not_there_is_told_at_once),
        TEST(test_whether_fettle_exec_answers_can_be_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
