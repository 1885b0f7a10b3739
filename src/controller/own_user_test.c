/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fettled's user may not do. As root the user is "nobody", whom a child becomes; otherwise it is the
 * user of the test, and files that may not be read have no permission for anybody.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "controller/own_user.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOBODY = 65534 };

struct world {
    char dir[48], conf[64], nodes[64], bmc[64], secret[64], state[64], run[64];
    char user[64], owner[64]; /* the user that fettled is to be, and that of the files */
    struct config config;
    struct text out;
};

static void name_of(uid_t uid, char out[static 64])
{
    const struct passwd *p = getpwuid(uid);
    if (p)
        snprintf(out, 64, "%s", p->pw_name);
    else
        snprintf(out, 64, "%u", uid);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0644), 0);
}

static void make_directory(const char *path, mode_t mode)
{
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void read_config(struct world *w, const char *more)
{
    CLEANUP_TEXT struct text conf = {0}, bmc = {0};
    struct err e = {0};
    text_printf(&bmc, "Nodes=n1 Driver=ipmi Address=bmc1 User=u PasswordFile=%s\n", w->secret);
    text_printf(&conf, "NodeSpecConf = %s\nBmcConf = %s\nApiSocket = %s/sock\n%s", w->nodes, w->bmc, w->run,
                more);
    write_file(w->nodes, "Name=n1\n");
    write_file(w->bmc, bmc.s);
    write_file(w->conf, conf.s);
    if (config_read(w->conf, &w->config, &e) < 0)
        fail_msg("%s", e.msg);
}

static int setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    *w = (struct world){.dir = "/tmp/fettle-user-XXXXXX"};
    *state = w;
    assert_non_null(mkdtemp(w->dir));
    assert_int_equal(chmod(w->dir, 0755), 0);
    snprintf(w->conf, sizeof w->conf, "%s/conf", w->dir);
    snprintf(w->nodes, sizeof w->nodes, "%s/nodes", w->dir);
    snprintf(w->bmc, sizeof w->bmc, "%s/bmc", w->dir);
    snprintf(w->secret, sizeof w->secret, "%s/secret", w->dir);
    snprintf(w->state, sizeof w->state, "%s/state", w->dir);
    snprintf(w->run, sizeof w->run, "%s/run", w->dir);
    make_directory(w->state, 0700);
    make_directory(w->run, 0777);
    write_file(w->secret, "pass word\n");
    uid_t uid = geteuid() == 0 ? NOBODY : geteuid();
    if (geteuid() == 0)
        assert_int_equal(chown(w->state, NOBODY, NOBODY), 0);
    name_of(uid, w->user);
    name_of(geteuid(), w->owner);
    text_add(&w->out, "");
    read_config(w, "");
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text file = {0};
    text_printf(&file, "%s/file", w->state);
    config_fini(&w->config);
    unlink(file.s);
    unlink(w->conf);
    unlink(w->nodes);
    unlink(w->bmc);
    unlink(w->secret);
    rmdir(w->state);
    rmdir(w->run);
    assert_int_equal(rmdir(w->dir), 0);
    text_fini(&w->out);
    free(w);
    return 0;
}

static void assert_sentence(const struct world *w, const char *what, const char *verb, const char *path)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "%s: user %s may not %s %s, which belongs to %s\n", what, w->user, verb, path, w->owner);
    assert_string_equal(w->out.s, t.s);
}

static void check(struct world *w, const char *exec)
{
    text_clear(&w->out);
    own_user_check(&w->config, w->state, exec, &w->out);
}

static void test_nothing_is_said_where_all_is_well(void **state)
{
    struct world *w = *state;
    check(w, NULL);
    assert_string_equal(w->out.s, "");
}

static void test_a_file_that_the_user_may_not_read_is_named(void **state)
{
    struct world *w = *state;
    assert_int_equal(chmod(w->conf, 0), 0);
    check(w, NULL);
    assert_sentence(w, "the configuration", "read", w->conf);
    assert_int_equal(chmod(w->conf, 0644), 0);
    assert_int_equal(chmod(w->nodes, 0), 0);
    check(w, NULL);
    assert_sentence(w, "NodeSpecConf", "read", w->nodes);
}

/* With fettle-exec the passwords are its own to read. */
static void test_a_bmcs_password_is_the_users_only_without_fettle_exec(void **state)
{
    struct world *w = *state;
    assert_int_equal(chmod(w->secret, 0), 0);
    check(w, NULL);
    assert_sentence(w, "bmc.conf", "read", w->secret);
    check(w, "/nowhere/exec.sock");
    assert_null(strstr(w->out.s, w->secret));
}

static void test_a_fettle_exec_that_does_not_answer_is_told(void **state)
{
    struct world *w = *state;
    check(w, "/nowhere/exec.sock");
    assert_string_equal(w->out.s,
                        "the part that needs root: fettle-exec does not hear at /nowhere/exec.sock: "
                        "No such file or directory\n");
}

static void test_a_directory_that_the_user_may_not_write_is_named(void **state)
{
    struct world *w = *state;
    assert_int_equal(chmod(w->run, 0555), 0);
    check(w, NULL);
    assert_sentence(w, "ApiSocket", "write", w->run);
    assert_int_equal(chmod(w->run, 0777), 0);
    config_fini(&w->config);
    CLEANUP_TEXT struct text more = {0};
    text_printf(&more, "JournalExport = %s/state\n", w->dir);
    read_config(w, more.s);
    assert_int_equal(chmod(w->state, 0500), 0);
    check(w, NULL);
    memcpy(w->owner, w->user, sizeof w->owner); /* the directory is the user's own */
    assert_sentence(w, "JournalExport", "write", w->state);
}

static void test_a_file_of_another_user_in_the_state_is_named(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text file = {0};
    if (geteuid() != 0)
        skip(); /* only root can make a file of another user */
    text_printf(&file, "%s/file", w->state);
    write_file(file.s, "");
    check(w, NULL);
    assert_sentence(w, "the state", "change", file.s);
    assert_int_equal(chown(file.s, NOBODY, NOBODY), 0);
    check(w, NULL);
    assert_string_equal(w->out.s, "");
}

static void test_without_a_state_or_for_root_nothing_is_checked(void **state)
{
    struct world *w = *state;
    assert_int_equal(chmod(w->nodes, 0), 0);
    own_user_check(&w->config, "/nowhere/state", NULL, &w->out);
    assert_string_equal(w->out.s, "");
    own_user_check(&w->config, "/", NULL, &w->out); /* root's */
    assert_string_equal(w->out.s, "");
}

/* Only root can become another user. */
static void test_another_users_state_cannot_be_checked_by_a_user(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text expected = {0};
    if (geteuid() != 0)
        skip(); /* only root can make a state of another user */
    assert_int_equal(seteuid(1), 0);
    own_user_check(&w->config, w->state, NULL, &w->out);
    assert_int_equal(seteuid(0), 0);
    text_printf(&expected, "the state: %s belongs to user %s, and only root can check for this user\n",
                w->state, w->user);
    assert_string_equal(w->out.s, expected.s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_is_said_where_all_is_well),
        TEST(test_a_file_that_the_user_may_not_read_is_named),
        TEST(test_a_bmcs_password_is_the_users_only_without_fettle_exec),
        TEST(test_a_fettle_exec_that_does_not_answer_is_told),
        TEST(test_a_directory_that_the_user_may_not_write_is_named),
        TEST(test_a_file_of_another_user_in_the_state_is_named),
        TEST(test_without_a_state_or_for_root_nothing_is_checked),
        TEST(test_another_users_state_cannot_be_checked_by_a_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
