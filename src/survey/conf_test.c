/* SPDX-License-Identifier: Apache-2.0 */
/* fingerprint.conf. */
#include "survey/machine_test.h"
#include "survey/part.h"

#include <errno.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void read_conf(const char *text, struct survey_conf *c)
{
    struct err e = {0};
    if (survey_conf_parse("f.conf", text, strlen(text), c, &e) < 0)
        fail_msg("%s", e.msg);
}

static void all_kinds_of_lines_are_read(void **state)
{
    struct survey_conf c;
    read_conf("# comment\nSysctl=vm.swappiness\nFILE=/etc/gres.conf\nIgnore=module.*\nFile=/etc/gres.conf\n"
              "Command=ofed Run=\"/usr/bin/ofed_info -s\" Deadline=9s\nCommand=b Run=true\n",
              &c);
    assert_int_equal(c.sysctls.n, 1);
    assert_int_equal(c.files.n, 1); /* each once */
    assert_string_equal(c.files.names[0], "/etc/gres.conf");
    assert_string_equal(c.ignore.names[0], "module.*");
    assert_int_equal(c.n_commands, 2);
    assert_string_equal(c.commands[0].name, "ofed");
    assert_string_equal(c.commands[0].run, "/usr/bin/ofed_info -s");
    assert_int_equal(c.commands[0].deadline_ms, 9000);
    assert_int_equal(c.commands[1].deadline_ms, 5000);
    assert_int_equal(survey_deadline(&c).ns - survey_deadline(&(struct survey_conf){.n_commands = 0}).ns,
                     span_s(14 + 10).ns);
    survey_conf_fini(&c);
}

static void a_bad_line_gets_a_sentence_with_its_number(void **state)
{
    static const char *const rows[][2] = {
        {"File=relative\n", "f.conf:1: \"relative\" is no absolute path"},
        {"\nSysctl=a..b\n", "f.conf:2: \"a..b\" is no name of a sysctl"},
        {"Sysctl=vm.*\n", "f.conf:1: \"vm.*\" is no name of a sysctl"},
        {"Fil=/a\n", "f.conf:1: unknown key \"Fil\"; the nearest known is \"File\""},
        {"File=/a Sysctl=b\n", "f.conf:1: a line has one of Sysctl, File, Ignore and Command"},
        {"Run=true\n", "f.conf:1: a line has one of Sysctl, File, Ignore and Command"},
        {"File=/a Deadline=5s\n", "f.conf:1: Run and Deadline are for a Command"},
        {"Command=a\n", "f.conf:1: Command \"a\" has no Run"},
        {"Command=a/b Run=x\n", "f.conf:1: Command \"a/b\" is no name: 1 to 63 letters, digits and - _ ."},
        {"Command=a Run=x\nCommand=a Run=y\n", "f.conf:2: Command \"a\" is there already"},
        {"Command=a Run=x Deadline=2m\n", "f.conf:1: Deadline \"2m\" is not from 1ms to 60s"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct survey_conf c;
        struct err e = {0};
        assert_int_equal(survey_conf_parse("f.conf", rows[i][0], strlen(rows[i][0]), &c, &e), -EINVAL);
        assert_string_equal(e.msg, rows[i][1]);
        assert_int_equal(c.n_commands + c.files.n, 0);
    }
}

static void a_file_that_is_not_there_is_empty(void **state)
{
    struct survey_conf c;
    struct err e = {0};
    assert_int_equal(survey_conf_read("/nowhere/fingerprint.conf", &c, &e), 0);
    assert_int_equal(c.files.n + c.sysctls.n + c.n_commands + c.ignore.n, 0);
    assert_int_equal(survey_conf_read("/", &c, &e), -EISDIR);
}

static void classes_name_sysctls_and_files_alone(void **state)
{
    struct survey_conf c = {0};
    survey_conf_name(&c, "sysctl.vm.swappiness");
    survey_conf_name(&c, "sysctl.vm.swappiness");
    survey_conf_name(&c, "file./etc/with%20blank");
    survey_conf_name(&c, "file.etc/hosts");
    survey_conf_name(&c, "command.rm");
    survey_conf_name(&c, "gpu.count");
    survey_conf_name(&c, "sysctl.//.//.etc.shadow");
    assert_int_equal(c.sysctls.n, 1);
    assert_int_equal(c.files.n, 1);
    assert_string_equal(c.files.names[0], "/etc/with blank");
    assert_int_equal(c.n_commands, 0);
    survey_conf_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_of_lines_are_read),
        cmocka_unit_test(a_bad_line_gets_a_sentence_with_its_number),
        cmocka_unit_test(a_file_that_is_not_there_is_empty),
        cmocka_unit_test(classes_name_sysctls_and_files_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
