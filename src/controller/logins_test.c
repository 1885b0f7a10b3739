/* SPDX-License-Identifier: Apache-2.0 */
/* Names of users, from a directory server that may be slow: this file stands in its place. */
#include "controller/logins.h"

#include <grp.h>
#include <pwd.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ALICE = 31337, BOB, SLOW, STRANGER, OPS = 4711 };

static sem_t slow;

int getpwuid_r(uid_t uid, struct passwd *entry, char *buf, size_t size, struct passwd **out)
{
    *out = NULL;
    if (uid == SLOW)
        sem_wait(&slow);
    if (uid == STRANGER)
        return 0;
    *entry = (struct passwd){.pw_uid = uid};
    snprintf(buf, size, "%s", uid == ALICE ? "alice" : uid == BOB ? "bob" : "slow");
    entry->pw_name = buf;
    *out = entry;
    return 0;
}

int getgrgid_r(gid_t gid, struct group *entry, char *buf, size_t size, struct group **out)
{
    *out = NULL;
    if (gid != OPS)
        return 0;
    snprintf(buf, size, "ops");
    *entry = (struct group){.gr_gid = gid, .gr_name = buf};
    *out = entry;
    return 0;
}

struct world {
    uv_loop_t loop;
    struct logins *logins;
};

struct told {
    unsigned n;
    char user[32], login[32], groups[32]; /* the first group */
};

static void on_names(void *arg, const char *user, const char *login, const struct hostlist *groups)
{
    struct told *t = arg;
    t->n++;
    snprintf(t->user, sizeof t->user, "%s", user);
    snprintf(t->login, sizeof t->login, "%s", login ? login : "-");
    snprintf(t->groups, sizeof t->groups, "%s", groups->n == 1 ? groups->names[0] : "");
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    uv_loop_init(&w->loop);
    w->logins = logins_create(&w->loop);
    sem_init(&slow, 0, 0);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    logins_destroy(w->logins);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    sem_destroy(&slow);
    free(w);
    return 0;
}

static void find(struct world *w, uid_t uid, uid_t login, struct told *t)
{
    const gid_t groups[] = {OPS, OPS + 1};
    logins_find(w->logins, &(struct shell_process){uid, login, groups, 2}, on_names, t);
    assert_int_equal(t->n, 0);
}

static void run_until(struct world *w, const struct told *t)
{
    while (t->n == 0)
        uv_run(&w->loop, UV_RUN_ONCE);
}

static void names_are_found(void **state)
{
    struct told one = {0}, two = {0};
    find(*state, ALICE, STREAM_NO_LOGIN, &one);
    find(*state, BOB, ALICE, &two);
    run_until(*state, &two);
    assert_string_equal(one.user, "alice");
    assert_string_equal(one.login, "-");
    assert_string_equal(one.groups, "ops");
    assert_string_equal(two.user, "bob");
    assert_string_equal(two.login, "alice");
}

static void a_user_without_a_name_has_a_number(void **state)
{
    struct told t = {0};
    find(*state, STRANGER, STRANGER, &t);
    run_until(*state, &t);
    assert_string_equal(t.user, "uid:31340");
    assert_string_equal(t.login, "uid:31340");
}

/* Neither those that asked, nor those behind them, wait for a server that does not answer: and no group is
 * given to anybody by it. */
static void a_silent_server_holds_nobody_up(void **state)
{
    struct told one = {0}, two = {0}, three = {0};
    find(*state, SLOW, STREAM_NO_LOGIN, &one);
    find(*state, ALICE, STREAM_NO_LOGIN, &two);
    run_until(*state, &one);
    run_until(*state, &two);
    assert_string_equal(one.user, "uid:31339");
    assert_string_equal(two.user, "uid:31337");
    assert_string_equal(two.groups, "");
    sem_post(&slow);
    find(*state, ALICE, STREAM_NO_LOGIN, &three);
    run_until(*state, &three);
    assert_string_equal(three.user, "alice");
    assert_int_equal(one.n + two.n + three.n, 3);
}

static void those_that_wait_are_told_at_the_end(void **state)
{
    struct world *w = *state;
    struct told one = {0}, two = {0};
    find(w, SLOW, STREAM_NO_LOGIN, &one);
    find(w, ALICE, STREAM_NO_LOGIN, &two);
    logins_destroy(w->logins);
    w->logins = NULL;
    assert_int_equal(one.n + two.n, 2);
    assert_string_equal(two.user, "uid:31337");
    sem_post(&slow);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(names_are_found),
        TEST(a_user_without_a_name_has_a_number),
        TEST(a_silent_server_holds_nobody_up),
        TEST(those_that_wait_are_told_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
