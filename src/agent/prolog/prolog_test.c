/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/prolog/prolog.h"

#include "agent/fake_test.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The program in a process of its own, as Slurm starts it, against the socket of an agent. */

struct node {
    struct fake *f;
    struct checker *checker;
    struct prolog *prolog;
    char *root;
};

static void say(void *arg, const char *body, size_t len)
{
}

static void start(struct node *n, const char *records)
{
    struct checker_settings s = {.root = n->root, .node = "lx01", .boot = "b1", .say = say, .arg = n};
    struct checklist list = {0};
    struct err e = {0};
    list.meanings = meanings_read(NULL, NULL);
    if (checks_parse("test", records, strlen(records), &list.checks, &e))
        fail_msg("%s", e.msg);
    n->checker = checker_create(&n->f->loop, &s);
    checker_set(n->checker, &list);
    n->prolog = prolog_create(&n->f->loop, n->root, n->checker, NULL, &e);
    if (!n->prolog)
        fail_msg("%s", e.msg);
}

static int open_node(void **state)
{
    struct node *n = mem_alloc(sizeof *n);
    n->f = mem_alloc(sizeof *n->f);
    fake_init(n->f);
    n->root = fake_root(n->f, "lx01");
    *state = n;
    return 0;
}

static int close_node(void **state)
{
    struct node *n = *state;
    prolog_destroy(n->prolog);
    checker_destroy(n->checker);
    fake_fini(n->f);
    free(n->root);
    free(n->f);
    free(n);
    return 0;
}

struct program {
    pid_t pid;
    int status, output;
    char said[1024];
};

static void begin(struct program *p, const struct node *n, const char *what, const char *job, uid_t uid)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    p->pid = fork();
    if (p->pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        setenv("SLURM_JOB_ID", job, 1);
        if (uid && setuid(uid))
            _exit(99);
        int status = prolog_main(what, n->root);
        fflush(stdout);
        _exit(status);
    }
    close(ends[1]);
    p->output = ends[0];
}

static bool has_ended(void *arg)
{
    struct program *p = arg;
    return waitpid(p->pid, &p->status, WNOHANG) == p->pid;
}

static void on_wake(uv_timer_t *timer)
{
}

static void on_closed(uv_handle_t *handle)
{
}

/* The exit status; what it printed is in p->said. */
static int finish(struct node *n, struct program *p)
{
    uv_timer_t wake; /* the end of a process wakes nobody here */
    uv_timer_init(&n->f->loop, &wake);
    uv_timer_start(&wake, on_wake, 5, 5);
    assert_true(fake_wait(n->f, has_ended, p));
    uv_close((uv_handle_t *)&wake, on_closed);
    uv_run(&n->f->loop, UV_RUN_NOWAIT);
    ssize_t len = read(p->output, p->said, sizeof p->said - 1);
    p->said[len > 0 ? len : 0] = 0;
    close(p->output);
    return WEXITSTATUS(p->status);
}

static int run(struct node *n, const char *what, const char *job, struct program *p)
{
    *p = (struct program){0};
    begin(p, n, what, job, 0);
    return finish(n, p);
}

static void lets_a_job_begin_where_nothing_is_wrong(void **state)
{
    struct node *n = *state;
    struct program p;
    start(n, "Check=good Probe=plugin Run=\"exit 0\" When=prolog,epilog\n");
    assert_int_equal(run(n, "prolog", "7", &p), 0); /* after a look, for which it waits */
    assert_string_equal(p.said, "");
    assert_int_equal(run(n, "epilog", "7", &p), 0);
    assert_string_equal(p.said, "");
}

static void keeps_a_job_away_with_one_line_that_says_why(void **state)
{
    struct node *n = *state;
    struct program p;
    start(n, "Check=bad Probe=plugin Run=\"echo the disk is full; exit 2\" When=prolog Every=1h\n");
    assert_int_equal(run(n, "task-prolog", "7", &p), 0); /* nothing is looked at for a task */
    assert_string_equal(p.said, "");
    assert_int_equal(run(n, "prolog", "7", &p), 1);
    assert_string_equal(p.said, "fettle: the node is not fit for work: bad: the disk is full\n");
    assert_int_equal(run(n, "epilog", "7", &p), 0);
    assert_int_equal(run(n, "task-prolog", "7", &p), 0);
    assert_string_equal(p.said, "print fettle: this node is not as it should be: bad: the disk is full\n");
}

static void without_an_agent_a_job_begins(void **state)
{
    struct node *n = *state;
    struct program p;
    assert_int_equal(run(n, "prolog", "7", &p), 0);
    assert_non_null(strstr(p.said, "unknown: no agent at "));
}

/* Listens and never answers. */
static void with_an_agent_that_hangs_a_job_begins(void **state)
{
    struct node *n = *state;
    struct program p;
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct mono began = mono_now();
    fake_write(n->root, "run/fettle/x", "");
    snprintf(at.sun_path, sizeof at.sun_path, "%s%s", n->root, PROLOG_SOCKET);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(run(n, "prolog", "7", &p), 0);
    assert_non_null(strstr(p.said, "the agent does not answer"));
    assert_true(span_to_ms(mono_sub(mono_now(), began)) >= 1000);
    close(fd);
}

static void users_may_ask_for_tasks_alone(void **state)
{
    struct node *n = *state;
    struct program p = {0};
    if (geteuid() != 0)
        skip();
    start(n, "Check=bad Probe=plugin Run=\"exit 2\" When=prolog Every=1h\n");
    assert_int_equal(run(n, "prolog", "7", &p), 1);
    assert_int_equal(chmod(n->f->dir, 0755), 0);
    begin(&p, n, "prolog", "7", 65534);
    assert_int_equal(finish(n, &p), 0);
    assert_non_null(strstr(p.said, "gave no answer"));
    begin(&p, n, "task-prolog", "7", 65534);
    assert_int_equal(finish(n, &p), 0);
    assert_memory_equal(p.said, "print ", 6);
}

static int dial(const struct node *n)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s%s", n->root, PROLOG_SOCKET);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

static bool is_closed(void *arg)
{
    char byte;
    return recv(*(int *)arg, &byte, 1, 0) == 0;
}

static void a_caller_with_nothing_or_nonsense_is_sent_away(void **state)
{
    static const char *const wrong[] = {"",           "dance 7\n",    "\n",
                                        "prologue\n", "prolog 7 8\n", "epilog \033[2J\n"};
    struct node *n = *state;
    char much[4096];
    memset(much, 'x', sizeof much);
    start(n, "Check=good Probe=plugin Run=\"exit 0\" When=prolog\n");
    for (size_t i = 0; i <= sizeof wrong / sizeof *wrong; i++) {
        int fd = dial(n);
        bool last = i == sizeof wrong / sizeof *wrong;
        const char *bytes = last ? much : wrong[i];
        size_t len = last ? sizeof much : strlen(bytes);
        assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), len);
        uv_timer_t wake;
        uv_timer_init(&n->f->loop, &wake);
        uv_timer_start(&wake, on_wake, 5, 5);
        if (last) { /* it may end with a reset, for there was more to read */
            struct mono began = mono_now();
            char byte;
            while (recv(fd, &byte, 1, 0) < 0 && errno == EAGAIN &&
                   mono_sub(mono_now(), began).ns < span_s(10).ns)
                uv_run(&n->f->loop, UV_RUN_ONCE);
            assert_true(mono_sub(mono_now(), began).ns < span_s(10).ns);
        } else {
            assert_true(fake_wait(n->f, is_closed, &fd));
        }
        uv_close((uv_handle_t *)&wake, on_closed);
        uv_run(&n->f->loop, UV_RUN_NOWAIT);
        close(fd);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_node, close_node)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lets_a_job_begin_where_nothing_is_wrong), TEST(keeps_a_job_away_with_one_line_that_says_why),
        TEST(without_an_agent_a_job_begins),           TEST(with_an_agent_that_hangs_a_job_begins),
        TEST(users_may_ask_for_tasks_alone),           TEST(a_caller_with_nothing_or_nonsense_is_sent_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
