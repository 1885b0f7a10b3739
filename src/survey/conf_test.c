/* SPDX-License-Identifier: Apache-2.0 */
/* fingerprint.conf, and what it names: sysctls, files, commands. */
#include "survey/machine_test.h"
#include "survey/part.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static void no_sysctl_leads_out_of_its_directory(void **state)
{
    char path[300];
    assert_true(sysctl_path("net.ipv4.conf.eth0/1.rp_filter", path));
    assert_string_equal(path, "net/ipv4/conf/eth0.1/rp_filter");
    static const char *const bad[] = {"", ".", "a.", ".a", "a..b", "//", "a.//.b", "a./b", "a b", "a\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(sysctl_path(bad[i], path));
}

/* --- what it names ----------------------------------------------------------------------------------------
 */

static void survey(struct tree *t, const char *conf, struct components *c)
{
    struct survey_conf names;
    read_conf(conf, &names);
    machine_survey_as(t, "gx007", &names, &machine_calls, c);
    survey_conf_fini(&names);
}

static void a_file_is_its_content_size_mode_and_owner(void **state)
{
    struct tree *t = *state;
    struct components c = {0};
    char path[64], said[160];
    tree_add(t, "etc/a", "abc");
    snprintf(path, sizeof path, "%s/etc/a", t->root);
    chmod(path, 04750);
    survey(t, "File=/etc/a\nFile=/etc/none\n", &c);
    snprintf(said, sizeof said,
             "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad 3 4750 %u:%u", getuid(),
             getgid());
    assert_string_equal(machine_say(&c, "file./etc/a"), said);
    assert_string_equal(machine_say(&c, "file./etc/none"), "-");
    components_fini(&c);
}

static void what_is_no_file_is_unknown(void **state)
{
    struct tree *t = *state;
    struct components c = {0};
    char path[64];
    tree_add(t, "etc/dir/", "");
    snprintf(path, sizeof path, "%s/etc/pipe", t->root);
    assert_int_equal(mkfifo(path, 0600), 0);
    tree_add(t, "etc/large", "");
    snprintf(path, sizeof path, "%s/etc/large", t->root);
    assert_int_equal(truncate(path, (64 << 20) + 1), 0);
    survey(t, "File=/etc/dir\nFile=/etc/pipe\nFile=/etc/large\n", &c);
    assert_string_equal(machine_say(&c, "file./etc/dir"), "? a directory, not a file");
    assert_string_equal(machine_say(&c, "file./etc/pipe"), "? a pipe, not a file");
    assert_string_equal(machine_say(&c, "file./etc/large"), "? the file has more than 64 MiB");
    components_fini(&c);
}

/* Files whose reading takes longer than anybody waits for. */
static void files_that_hang_do_not_hold_up_the_reading(void **state)
{
    struct tree *t = *state;
    struct survey_conf conf = {0};
    struct survey_calls calls = machine_calls;
    struct components c = {0};
    calls.timeout = span_ms(5);
    for (int i = 1; i <= 3; i++) {
        char name[32], path[64];
        snprintf(name, sizeof name, "file./etc/%d", i);
        survey_conf_name(&conf, name);
        tree_add(t, name + strlen("file./"), "");
        snprintf(path, sizeof path, "%s/etc/%d", t->root, i);
        assert_int_equal(truncate(path, 64 << 20), 0);
    }
    machine_survey_as(t, "gx007", &conf, &calls, &c);
    assert_string_equal(machine_say(&c, "file./etc/1"), "? no answer within 5ms");
    assert_string_equal(machine_say(&c, "file./etc/2"), "? no answer within 5ms");
    assert_string_equal(machine_say(&c, "file./etc/3"),
                        "? not tried, because files before it gave no answer");
    components_fini(&c);
    survey_conf_fini(&conf);
}

static void a_sysctl_that_was_named_is_read(void **state)
{
    struct tree *t = *state;
    struct components c = {0};
    tree_add(t, "proc/sys/vm/named", "1\t2\n");
    survey(t, "Sysctl=vm.named\nSysctl=vm.none\n", &c);
    assert_string_equal(machine_say(&c, "sysctl.vm.named"), "1 2");
    assert_string_equal(machine_say(&c, "sysctl.vm.none"), "-");
    components_fini(&c);
}

static void a_command_is_what_it_printed(void **state)
{
    struct components c = {0};
    survey(*state,
           "Command=a Run=\"printf ' one\\\\ntwo \\\\n'\"\nCommand=b Run=\"echo x; exit 3\"\n"
           "Command=c Run=\"cat; echo $LC_ALL$HOME$SHELL$USER; pwd; echo e >&2\"\nCommand=d Run=true\n",
           &c);
    assert_string_equal(machine_say(&c, "command.a"), "one\ntwo");
    assert_string_equal(machine_say(&c, "command.b"), "? exit status 3");
    assert_string_equal(machine_say(&c, "command.c"), "C/\n/");
    assert_string_equal(machine_say(&c, "command.d"), "");
    components_fini(&c);
}

/* Its own three, and the one with which ls reads the directory. */
static void a_command_has_none_of_our_descriptors(void **state)
{
    struct components c = {0};
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    survey(*state, "Command=a Run=\"ls /proc/self/fd | tr '\\n' ' '\"\n", &c);
    assert_string_equal(machine_say(&c, "command.a"), "0 1 2 3");
    close(fds[0]);
    close(fds[1]);
    components_fini(&c);
}

static void a_command_that_says_too_much_is_unknown(void **state)
{
    struct components c = {0};
    survey(*state,
           "Command=a Run=yes\nCommand=b Run=\"head -c 4096 /dev/zero | tr '\\\\0' x\"\n"
           "Command=c Run=\"head -c 4 /dev/zero\"\nCommand=d Run=\"printf '\\\\377'\"\n",
           &c);
    assert_string_equal(machine_say(&c, "command.a"), "? more than 4096 bytes");
    assert_int_equal(strlen(machine_say(&c, "command.b")), 4096);
    assert_string_equal(machine_say(&c, "command.c"), "? it printed a zero byte");
    assert_string_equal(machine_say(&c, "command.d"), "? the value is not UTF-8");
    components_fini(&c);
}

/* Also what left its session, and left its number in a file. */
static void a_command_that_hangs_is_killed_with_its_children(void **state)
{
    struct tree *t = *state;
    struct components c = {0};
    char conf[256], path[64], number[16] = "";
    snprintf(path, sizeof path, "%s/pid", t->root);
    snprintf(conf, sizeof conf,
             "Command=a Run=\"setsid sh -c 'echo $$ >%s; exec sleep 100' & sleep 100\" Deadline=1s\n", path);
    survey(t, conf, &c);
    assert_string_equal(machine_say(&c, "command.a"), "? no answer within 1s");
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_non_null(fgets(number, sizeof number, f));
    fclose(f);
    pid_t pid = (pid_t)strtol(number, NULL, 10);
    assert_true(pid > 1);
    bool gone = false;
    for (struct mono until = mono_add(mono_now(), span_s(10)); !gone && mono_now().ns < until.ns;) {
        char state_of[64], text[128] = "";
        snprintf(state_of, sizeof state_of, "/proc/%d/stat", pid);
        FILE *stat = fopen(state_of, "re");
        gone = !stat || !fgets(text, sizeof text, stat) || strstr(text, ") Z");
        if (stat)
            fclose(stat);
    }
    assert_true(gone);
    components_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_of_lines_are_read),
        cmocka_unit_test(a_bad_line_gets_a_sentence_with_its_number),
        cmocka_unit_test(a_file_that_is_not_there_is_empty),
        cmocka_unit_test(classes_name_sysctls_and_files_alone),
        cmocka_unit_test(no_sysctl_leads_out_of_its_directory),
        IN_TREE(a_file_is_its_content_size_mode_and_owner),
        IN_TREE(what_is_no_file_is_unknown),
        IN_TREE(files_that_hang_do_not_hold_up_the_reading),
        IN_TREE(a_sysctl_that_was_named_is_read),
        IN_TREE(a_command_is_what_it_printed),
        IN_TREE(a_command_has_none_of_our_descriptors),
        IN_TREE(a_command_that_says_too_much_is_unknown),
        IN_TREE(a_command_that_hangs_is_killed_with_its_children),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
