/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/fake_test.h"

#include "agent/home/join_file.h"
#include "base/text.h"
#include "probe/tree_test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* The program itself, in a process of its own: its words, what it prints and its exit status. */

struct program {
    pid_t pid;
    int output;
};

static void begin(struct program *p, const char *input, const char *const *words)
{
    char *argv[16] = {mem_dup(AGENT)};
    int ends[2];
    for (size_t i = 0; words[i]; i++)
        argv[i + 1] = mem_dup(words[i]);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    p->pid = fork();
    if (p->pid == 0) {
        int in = open(input ? input : "/dev/null", O_RDONLY);
        dup2(in, STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execv(AGENT, argv);
        _exit(127);
    }
    close(ends[1]);
    p->output = ends[0];
    for (size_t i = 0; argv[i]; i++)
        free(argv[i]);
}

/* The exit status, and what it printed. */
static int finish(struct program *p, struct text *said)
{
    char bytes[4096];
    int status = 0;
    text_clear(said);
    text_add(said, "");
    for (ssize_t n; (n = read(p->output, bytes, sizeof bytes)) > 0;)
        text_add_bytes(said, bytes, (size_t)n);
    close(p->output);
    assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void run(const char *const *words, const char *input, int status, const char *part)
{
    CLEANUP_TEXT struct text said = {0};
    struct program p;
    begin(&p, input, words);
    int is = finish(&p, &said);
    if (is != status || !strstr(said.s, part))
        fail_msg("fettle-agent %s %s: exit status %d, not %d, and it says \"%s\"", words[0] ? words[0] : "",
                 words[0] && words[1] ? words[1] : "", is, status, said.s);
}

#define RUN(status, part, ...) run((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL}, NULL, status, part)

static void test_it_says_what_there_is(void **state)
{
    RUN(0, "usage: fettle-agent [-c HOST", "--help");
    RUN(0, "usage: fettle-agent", "-h");
    RUN(0, "usage: fettle-agent", "join", "--again", "--help");
    RUN(0, "fettle-agent " FETTLE_VERSION "\n", "--version");
}

static void test_words_that_it_does_not_know_are_refused(void **state)
{
    RUN(2, "it does not know the word nonsense", "nonsense");
    RUN(2, "\"fettle-agent --help\" lists the options", "-x");
    RUN(2, "it does not know the word more", "fingerprint", "more");
    RUN(2, "unrecognized option '--more'", "fingerprint", "--more");
    RUN(2, "unrecognized option '--more'", "check", "--more");
    RUN(2, "unrecognized option '--more'", "join", "--more");
}

/* Each with the option's name before the sentence. */
static void test_options_that_are_wrong_are_named(void **state)
{
    static const char *const rows[][3] = {{"-i", "86401", "-i: "},    {"-i", "soon", "-i: "},
                                          {"-p", "65536", "-p: "},    {"-p", "-1", "-p: "},
                                          {"-d", "nonsense", "-d: "}, {"-c", "host:99999", "-c: "}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP_TEXT struct text part = {0};
        text_printf(&part, "fettle-agent: %s", rows[i][2]);
        run((const char *const[]){rows[i][0], rows[i][1], NULL}, NULL, err_exit(-EINVAL), part.s);
    }
}

static void test_without_an_identity_it_does_not_run(void **state)
{
    RUN(err_exit(-ENOENT), "fettle-agent join", "-D", "/no/such/home", "-i", "86400", "-p", "65535");
}

static void test_a_word_of_slurm_s_lets_the_job_begin(void **state)
{
    const struct tree *t = *state;
    RUN(0, "", "prolog", "-r", t->root);
    RUN(0, "", "epilog", "--unheard-of", "-r", t->root);
}

/* --- join ------------------------------------------------------------------------------------- */

static const char token[] = "fettle1.0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef."
                            "0123456789abcdef0123456789abcdef";

static void test_join_needs_its_words(void **state)
{
    const struct tree *t = *state;
    RUN(2, "join needs a TOKEN and a HOST[:PORT]\n", "join", token);
    RUN(2, "join needs a TOKEN and a HOST[:PORT], and no more\n", "join", token, "h", "more");
    RUN(2, "join with --token-file needs a HOST[:PORT], and no more\n", "join", "--token-file", "f", "h",
        "i");
    RUN(2, "join with --token-file needs a HOST[:PORT]", "join", "--token-file", "f");
    RUN(2, "join --at-boot needs a TOKEN and a HOST[:PORT]", "join", "--at-boot");
    RUN(err_exit(-ENOENT), t->root, "join", "--root", t->root); /* nothing was put there for its boots */
}

static void test_the_token_may_come_from_a_file(void **state)
{
    struct tree *t = *state;
    char path[64];
    snprintf(path, sizeof path, "%s/token", t->root);
    RUN(err_exit(-ENOENT), "No such file or directory", "join", "--token-file", path, "h");
    tree_add(t, "token", "");
    RUN(err_exit(-EINVAL), "there is no token in ", "join", "--token-file", path, "h");
    RUN(err_exit(-EINVAL), "there is no token in standard input", "join", "-", "h");
    tree_add(t, "token", "rubbish\n");
    RUN(err_exit(-EINVAL), "token", "join", "--at-boot", "--root", t->root, "--token-file", path, "h");
    run((const char *const[]){"join", "--at-boot", "--root", t->root, "-", "h", NULL}, path,
        err_exit(-EINVAL), "token");
}

static void test_an_image_gets_what_its_boots_need(void **state)
{
    struct tree *t = *state;
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "%s" JOIN_FILE_PATH, t->root);
    tree_add(t, "etc/", NULL);
    RUN(0, "join by themselves\n", "join", "--at-boot", "--root", t->root, token, "controller:7000");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    RUN(err_exit(-EINVAL), "fettle-agent: ", "join", "--at-boot", "--root", t->root, token, "host:99999");
}

/* --- fingerprint, check ----------------------------------------------------------------------- */

static void test_a_fingerprint_is_printed_with_what_is_behind_it(void **state)
{
    struct tree *t = *state;
    CLEANUP_TEXT struct text alone = {0}, all = {0};
    struct program p;
    tree_add(t, "proc/cmdline", "quiet\n");
    begin(&p, NULL, (const char *const[]){"fingerprint", "-r", t->root, "-D", t->root, NULL});
    assert_int_equal(finish(&p, &alone), 0);
    assert_int_equal(alone.len, 64 + 1);
    begin(&p, NULL, (const char *const[]){"fingerprint", "--components", "-r", t->root, "-D", t->root, NULL});
    assert_int_equal(finish(&p, &all), 0);
    assert_memory_equal(all.s, alone.s, alone.len);
    assert_non_null(strstr(all.s, "\nkernel.cmdline value \"quiet\"\n"));
    RUN(err_exit(-ENOENT), "/no/such/root: No such file or directory", "fingerprint", "-r", "/no/such/root");
}

static void test_checks_by_hand_say_whether_something_fails(void **state)
{
    struct tree *t = *state;
    char conf[64];
    snprintf(conf, sizeof conf, "%s/checks.conf", t->root);
    tree_add(t, "checks.conf", "Check=good Probe=plugin Run=true\nCheck=bad Probe=plugin Run=\"exit 2\"\n");
    RUN(2, "check needs --local; with a controller it is \"fettle check run\"", "check");
    RUN(0, "good ", "check", "--local", "-r", t->root, "--conf", conf, "-D", t->root, "good");
    RUN(1, "bad ", "check", "--local", "--root", t->root, "--conf", conf, "-D", t->root);
    tree_add(t, "checks.conf", "Check=good\n");
    RUN(2, "checks.conf:1: ", "check", "--local", "-r", t->root, "--conf", conf, "-D", t->root);
}

/* --- the daemon ------------------------------------------------------------------------------- */

static bool has_ended(void *arg)
{
    struct program *p = arg;
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == p->pid;
}

static void on_wake(uv_timer_t *timer)
{
}

static void on_closed(uv_handle_t *handle)
{
}

/* While the controller goes on. */
static int finish_with(struct fake *f, struct program *p, struct text *said)
{
    uv_timer_t wake;
    uv_timer_init(&f->loop, &wake);
    uv_timer_start(&wake, on_wake, 5, 5);
    bool ended = fake_wait(f, has_ended, p);
    uv_close((uv_handle_t *)&wake, on_closed);
    uv_run(&f->loop, UV_RUN_NOWAIT);
    if (!ended)
        kill(p->pid, SIGKILL);
    return finish(p, said);
}

static void test_it_runs_until_it_is_told_to_end(void **state)
{
    static const int signals[] = {SIGTERM, SIGINT};
    struct fake *f = *state;
    CLEANUP_FREE char *home = fake_home(f, "lx01", span_s(3600)), *root = fake_root(f, "lx01");
    for (size_t i = 0; i < 2; i++) {
        CLEANUP_TEXT struct text said = {0};
        struct program p;
        int from = f->n_frames;
        begin(&p, NULL, (const char *const[]){"-D", home, "-r", root, "-i", "60", "-d", "probe", NULL});
        assert_true(fake_wait_frame(f, FRAME_HEARTBEAT, from, 1) >= 0);
        kill(p.pid, signals[i]);
        assert_int_equal(finish_with(f, &p, &said), 0);
        assert_non_null(strstr(said.s, "ends: "));
    }
}

static void test_with_an_interval_of_zero_it_reports_once(void **state)
{
    struct fake *f = *state;
    CLEANUP_FREE char *home = fake_home(f, "lx01", span_s(3600)), *root = fake_root(f, "lx01");
    CLEANUP_TEXT struct text said = {0};
    struct program p;
    begin(&p, NULL, (const char *const[]){"-D", home, "-r", root, "-i", "0", NULL});
    assert_int_equal(finish_with(f, &p, &said), 0);
    assert_true(fake_wait_frame(f, FRAME_HEARTBEAT, 0, 1) >= 0);
    fake_close(f);
    begin(&p, NULL, (const char *const[]){"-D", home, "-r", root, "-i", "0", NULL});
    assert_int_not_equal(finish_with(f, &p, &said), 0);
}

/* Its certificate, for the request in the first JOIN. */
static void answer_join(struct fake *f, const char *name)
{
    int at = fake_wait_frame(f, FRAME_JOIN, 0, 1);
    assert_true(at >= 0);
    const char *csr = "";
    CLEANUP_FREE char *cert = NULL;
    CLEANUP_TEXT struct text t = {0};
    struct identity id = {.kind = IDENTITY_NODE};
    snprintf(id.name, sizeof id.name, "%s", name);
    assert_int_equal(json_take_string(f->frames[at].body, "request", &csr, NULL), 0);
    assert_int_equal(authority_sign(f->ca, csr, &id, NULL, span_s(3600), &cert, NULL), 0);
    text_add(&t, "{\"certificate\":");
    text_add_json(&t, cert);
    text_add(&t, ",\"authority\":");
    text_add_json(&t, authority_pem(f->ca));
    text_add(&t, "}");
    fake_send(f, f->frames[at].peer, FRAME_JOINED, "%s", t.s);
}

static void test_it_joins_and_says_what_comes_next(void **state)
{
    struct fake *f = *state;
    CLEANUP_TEXT struct text said = {0}, want = {0}, mine = {0}, at = {0}, home = {0};
    struct program p;
    text_printf(&mine, "fettle1.%s.0123456789abcdef0123456789abcdef", authority_fingerprint(f->ca));
    text_printf(&at, "127.0.0.1:%u", fake_port(f));
    text_printf(&home, "%s/joined", f->dir);
    const char *const words[] = {"join", mine.s, at.s, "--name", "lx07", "-D", home.s, NULL};
    begin(&p, NULL, words);
    answer_join(f, "lx07");
    assert_int_equal(finish_with(f, &p, &said), 0);
    text_printf(&want,
                "lx07 has joined; start the agent with \"systemctl enable --now fettle-agent\" or "
                "\"fettle-agent -D %s\"\n",
                home.s);
    assert_non_null(strstr(said.s, want.s));
    /* It has an identity now, and there is nobody to ask for another one. */
    begin(&p, NULL, words);
    assert_int_equal(finish_with(f, &p, &said), err_exit(-EEXIST));
    fake_close(f);
    begin(&p, NULL, (const char *const[]){"join", mine.s, at.s, "--again", "-D", home.s, NULL});
    assert_int_not_equal(finish_with(f, &p, &said), 0);
    assert_null(strstr(said.s, "has joined"));
}

static int set_up_welcome(void **state)
{
    int r = fake_setup(state);
    ((struct fake *)*state)->welcome =
        "{\"interval_ms\":60000,\"spread_ms\":10,\"term\":3,\"controller\":\"c1\"}";
    return r;
}

#define IN_FAKE(f) cmocka_unit_test_setup_teardown(f, set_up_welcome, fake_teardown)

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_says_what_there_is),
        cmocka_unit_test(test_words_that_it_does_not_know_are_refused),
        cmocka_unit_test(test_options_that_are_wrong_are_named),
        cmocka_unit_test(test_without_an_identity_it_does_not_run),
        IN_TREE(test_a_word_of_slurm_s_lets_the_job_begin),
        IN_TREE(test_join_needs_its_words),
        IN_TREE(test_the_token_may_come_from_a_file),
        IN_TREE(test_an_image_gets_what_its_boots_need),
        IN_TREE(test_a_fingerprint_is_printed_with_what_is_behind_it),
        IN_TREE(test_checks_by_hand_say_whether_something_fails),
        IN_FAKE(test_it_runs_until_it_is_told_to_end),
        IN_FAKE(test_with_an_interval_of_zero_it_reports_once),
        IN_FAKE(test_it_joins_and_says_what_comes_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
