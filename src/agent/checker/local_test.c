/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/local.h"

#include "agent/fake_test.h"
#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Checks by hand, on a tree of files. */

#define RECORDS                                             \
    "Check=good Probe=plugin Run=\"exit 0\"\n"              \
    "Check=bad Probe=plugin Run=\"echo broken; exit 2\"\n"  \
    "Check=blind Probe=plugin Run=\"exit 3\" When=demand\n" \
    "Check=other Probe=plugin Run=\"exit 2\" Nodes=lx09\n"

#define LONG "a-check-whose-name-is-longer-than-its-column"

static int check(struct fake *f, char *name, char **printed, int *status, struct err *e)
{
    CLEANUP_FREE char *root = fake_root(f, "lx01");
    struct local_request q = {
        .root = root, .home = f->dir, .node = "lx01", .n_names = name != NULL, .names = &name};
    size_t len;
    uv_loop_t loop;
    fake_write(root, "etc/fettle/checks.conf", RECORDS);
    FILE *out = open_memstream(printed, &len);
    uv_loop_init(&loop);
    int r = local_check(&loop, &q, out, status, e);
    assert_int_equal(uv_loop_close(&loop), 0);
    fclose(out);
    return r;
}

static void prints_a_line_for_each_check_of_this_node(void **state)
{
    CLEANUP_FREE char *printed = NULL;
    int status = -1;
    assert_int_equal(check(*state, NULL, &printed, &status, NULL), 0);
    assert_int_equal(status, 1);
    assert_memory_equal(printed, "good                     ok ", 28);
    assert_non_null(strstr(printed, "\nbad                      fatal "));
    assert_non_null(strstr(printed, "broken\n"));
    assert_non_null(strstr(printed, "\nblind                    unknown "));
    assert_null(strstr(printed, "other"));
}

static void run_in(struct fake *f, const char *root, char **printed, int *status)
{
    struct local_request q = {.root = root, .home = f->dir, .node = "lx01"};
    size_t len;
    uv_loop_t loop;
    FILE *out = open_memstream(printed, &len);
    uv_loop_init(&loop);
    assert_int_equal(local_check(&loop, &q, out, status, NULL), 0);
    assert_int_equal(uv_loop_close(&loop), 0);
    fclose(out);
}

static void expect_last(const char *printed, const char *last)
{
    const char *from = strstr(printed, "\n\n");
    assert_non_null(from);
    assert_string_equal(from + 2, last);
}

/* By default, on a machine with nothing but a process; then with a file of its own and a controller's list.
 */
static void says_which_checks_they_are(void **state)
{
    struct fake *f = *state;
    CLEANUP_FREE char *root = fake_root(f, "lx01");
    CLEANUP_TEXT struct text first = {0}, second = {0};
    CLEANUP_FREE char *by_default = NULL;
    CLEANUP_FREE char *own = NULL;
    CLEANUP_FREE char *told = NULL;
    int status = -1;
    text_printf(&first,
                "These are the checks by default: there is no %s/etc/fettle/checks.conf.\n"
                "No controller has told this node yet which checks it runs: \"fettle check list\" shows them "
                "there.\n",
                root);
    run_in(f, root, &by_default, &status);
    expect_last(by_default, first.s);
    assert_non_null(strstr(by_default, "\nslurmd                   un"));
    fake_write(root, "etc/fettle/checks.conf", "Check=good Probe=plugin Run=true\n");
    fake_write(f->dir, "checklist",
               "{\"signed\":\"{\\\"hash\\\":\\\"h1\\\",\\\"revision\\\":3,\\\"lines\\\":[\\\"Check=load\\\","
               "\\\"Check=swap\\\"],\\\"meanings\\\":[]}\"}");
    text_printf(
        &second,
        "These are the checks of %s/etc/fettle/checks.conf.\nThe controller has this node run load, swap.\n",
        root);
    run_in(f, root, &own, &status);
    expect_last(own, second.s);
    assert_int_equal(status, 0);
    fake_write(f->dir, "checklist", "nonsense");
    run_in(f, root, &told, &status);
    assert_non_null(strstr(told, "\nThe controller's list of checks for this node cannot be read: "));
}

static void an_unknown_result_is_no_failure(void **state)
{
    char good[] = "good", blind[] = "blind";
    CLEANUP_FREE char *first = NULL;
    CLEANUP_FREE char *second = NULL;
    int status = -1;
    assert_int_equal(check(*state, good, &first, &status, NULL), 0);
    assert_int_equal(status, 0);
    assert_null(strstr(first, "bad"));
    assert_int_equal(check(*state, blind, &second, &status, NULL), 0);
    assert_int_equal(status, 3);
}

static void a_check_that_there_is_not_is_an_error(void **state)
{
    char name[] = "nothing";
    CLEANUP_FREE char *printed = NULL;
    struct err e = {0};
    int status = -1;
    assert_int_equal(check(*state, name, &printed, &status, &e), -ENOENT);
    assert_string_equal(e.msg, "the node runs no check \"nothing\"");
    char near[] = "godo";
    CLEANUP_FREE char *second = NULL;
    assert_int_equal(check(*state, near, &second, &status, &e), -ENOENT);
    assert_string_equal(e.msg, "the node runs no check \"godo\"; the nearest is \"good\"");
}

static int run(const struct local_request *q, char **printed, int *status, struct err *e)
{
    size_t len;
    uv_loop_t loop;
    FILE *out = open_memstream(printed, &len);
    uv_loop_init(&loop);
    int r = local_check(&loop, q, out, status, e);
    assert_int_equal(uv_loop_close(&loop), 0);
    fclose(out);
    return r;
}

static void without_a_root_or_a_check_there_is_nothing_to_say(void **state)
{
    struct fake *f = *state;
    CLEANUP_TEXT struct text conf = {0};
    CLEANUP_FREE char *first = NULL;
    CLEANUP_FREE char *second = NULL;
    struct err e = {0};
    int status = -1;
    assert_int_equal(
        run(&(struct local_request){.root = "/no/such", .home = f->dir, .node = "lx01"}, &first, &status, &e),
        -ENOENT);
    assert_string_equal(e.msg, "/no/such is no directory");
    fake_write(f->dir, "other.conf", "Check=other Probe=plugin Run=\"exit 2\" Nodes=lx09\n");
    text_printf(&conf, "%s/other.conf", f->dir);
    struct local_request q = {.root = "", .home = f->dir, .conf = conf.s, .node = "lx01"};
    assert_int_equal(run(&q, &second, &status, &e), -ENOENT);
    assert_non_null(strstr(e.msg, "other.conf has no check for lx01"));
}

static void long_names_make_the_column_wider(void **state)
{
    struct fake *f = *state;
    CLEANUP_TEXT struct text conf = {0};
    CLEANUP_FREE char *printed = NULL;
    struct err e = {0};
    int status = -1;
    fake_write(f->dir, "long.conf",
               "Check=short Probe=plugin Run=true\nCheck=" LONG " Probe=plugin Run=true\n");
    text_printf(&conf, "%s/long.conf", f->dir);
    struct local_request q = {.root = "", .home = f->dir, .conf = conf.s, .node = "lx01"};
    assert_int_equal(run(&q, &printed, &status, &e), 0);
    assert_non_null(strstr(printed, "\n" LONG " ok  "));
    assert_int_equal(strcspn(printed, "\n"), strcspn(strchr(printed, '\n') + 1, "\n"));
}

#define PLUGINS "/usr/lib/nagios/plugins/"
#define REAL                                                                                      \
    "Check=load Probe=plugin Run=\"" PLUGINS "check_load -w 9999,9999,9999 -c 9999,9999,9999\"\n" \
    "Check=disk Probe=plugin Run=\"" PLUGINS "check_disk -w 0% -c 0% -p /\"\n"                    \
    "Check=full Probe=plugin Run=\"" PLUGINS "check_disk -w 100% -c 100% -p /\"\n"                \
    "Check=procs Probe=plugin Run=\"" PLUGINS "check_procs -w 1: -c 1:\"\n"                       \
    "Check=wrong Probe=plugin Run=\"" PLUGINS "check_disk\"\n"

static void plugins_of_debian_are_checks(void **state)
{
    static const char *const lines[] = {
        "load                     ok ",      "\ndisk                     ok ",
        "\nfull                     fatal ", "DISK CRITICAL",
        "\nprocs                    ok ",    "\nwrong                    unknown "};
    struct fake *f = *state;
    CLEANUP_TEXT struct text conf = {0};
    CLEANUP_FREE char *printed = NULL;
    struct err e = {0};
    int status = -1;
    if (access(PLUGINS "check_load", X_OK))
        skip();
    fake_write(f->dir, "real.conf", REAL);
    text_printf(&conf, "%s/real.conf", f->dir);
    struct local_request q = {.root = "", .home = f->dir, .conf = conf.s, .node = "lx01"};
    assert_int_equal(run(&q, &printed, &status, &e), 0);
    assert_int_equal(status, 1);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(printed, lines[i]))
            fail_msg("no \"%s\" in:\n%s", lines[i], printed);
    assert_null(strchr(printed, '|')); /* where performance data begin */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(prints_a_line_for_each_check_of_this_node, fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(says_which_checks_they_are, fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(an_unknown_result_is_no_failure, fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(a_check_that_there_is_not_is_an_error, fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(without_a_root_or_a_check_there_is_nothing_to_say, fake_setup,
                                        fake_teardown),
        cmocka_unit_test_setup_teardown(long_names_make_the_column_wider, fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(plugins_of_debian_are_checks, fake_setup, fake_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
