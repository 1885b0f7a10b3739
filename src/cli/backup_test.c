/* SPDX-License-Identifier: Apache-2.0 */
#include "backup/made_test.h"
#include "cli/run_test.h"
#include "lib/stub_test.h"

static void test_a_backup_is_waited_for(void **state)
{
    CLEANUP_FREE char *begun = stub_json(200, "{\"number\":3}");
    CLEANUP_FREE char *not_yet =
        stub_json(200, "{\"ended\":2,\"running\":true,\"error\":\"old\",\"backups\":[]}");
    CLEANUP_FREE char *made = stub_json(
        200, "{\"ended\":3,\"error\":\"\",\"backups\":[{\"path\":\"/b/new\"},{\"path\":\"/b/old\"}]}");
    struct stub_answer answers[] = {{.bytes = begun}, {.bytes = not_yet}, {.bytes = made}};
    struct stub *stub = stub_start(answers, 3);
    struct run r = run("backup create", stub_path(stub));
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, "/b/new\n");
    stub_stop(stub);
}

static void test_a_backup_that_is_not_made(void **state)
{
    CLEANUP_FREE char *begun = stub_json(200, "{\"number\":3}");
    CLEANUP_FREE char *failed =
        stub_json(200, "{\"ended\":3,\"error\":\"no space\",\"backups\":[{\"path\":\"/b\"}]}");
    struct stub_answer answers[] = {{.bytes = begun}, {.bytes = failed}};
    struct stub *stub = stub_start(answers, 2);
    struct run r = run("backup create", stub_path(stub));
    assert_int_equal(r.status, 7);
    assert_string_equal(r.error, "no space");
    assert_string_equal(r.out, "");
    stub_stop(stub);
}

static void test_the_list(void **state)
{
    run_expect("backup list",
               "{\"backups\":[{\"name\":\"N2\",\"at\":\"T2\",\"revision\":9,\"bytes\":4096},"
               "{\"name\":\"N1\",\"why\":\"cut\"}]}",
               "GET /v1/backups",
               "NAME  MADE  REVISION  BYTES  WHY\n"
               "N2    T2           9   4096\n"
               "N1    -            -      -  cut\n");
}

/* "_" stands for a blank in a line of the tests. */
static struct run run_in(const char *command, const char *path)
{
    CLEANUP_TEXT struct text line = {0};
    text_printf(&line, "%s %s", command, path);
    return run(line.s, "/nowhere");
}

static void test_files_are_verified_without_a_controller(void **state)
{
    struct made *t = *state;
    assert_int_equal(made_backup(t, 1795694400), 0);
    struct run r = run_in("backup verify", t->path);
    assert_int_equal(r.status, 0);
    assert_non_null(
        strstr(r.out, ": good; made 2026-11-26T12:00:00.000Z, revision 1 of cluster " MADE_ORIGIN));
    CLEANUP_FREE char *key = fixture_path(t->path, "ca.key");
    unlink(key);
    r = run_in("backup verify", t->path);
    assert_int_equal(r.status, 4);
    assert_non_null(strstr(r.error, "ca.key is missing"));
    r = run_in("backup verify", "/nowhere/at/all");
    assert_int_equal(r.status, 4);
    r = run_in("backup verify", t->state);
    assert_non_null(strstr(r.error, "so it is no complete backup"));
}

static void test_a_restore_without_a_controller(void **state)
{
    struct made *t = *state;
    CLEANUP_TEXT struct text both = {0};
    char *to = fixture_dir();
    assert_int_equal(made_backup(t, 1795694400), 0);
    text_printf(&both, "%s %s", t->path, to);
    struct run r = run_in("backup restore", both.s);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "has the state of 2026-11-26T12:00:00.000Z at revision 1"));
    r = run_in("backup restore", both.s);
    assert_int_equal(r.status, 3);
    assert_non_null(strstr(r.error, "is not empty"));
    fixture_remove(to);
}

static void test_wrong_usage(void **state)
{
    static const struct run_wrong cases[] = {
        {"backup verify", "usage: fettle backup verify DIRECTORY..."},
        {"backup restore /a", "usage: fettle backup restore DIRECTORY STATE_DIRECTORY"},
    };
    run_expect_wrong(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_backup_is_waited_for),
        cmocka_unit_test(test_a_backup_that_is_not_made),
        cmocka_unit_test(test_the_list),
        cmocka_unit_test_setup_teardown(test_files_are_verified_without_a_controller, made_start, made_end),
        cmocka_unit_test_setup_teardown(test_a_restore_without_a_controller, made_start, made_end),
        cmocka_unit_test(test_wrong_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
