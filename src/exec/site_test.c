/* SPDX-License-Identifier: Apache-2.0 */
/* What fettled's files permit, and the files that are not trusted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/site.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const files[] = {"fettle.conf", "nodes", "bmc", "remedies", "secret", "link", "open/file"};

struct world {
    char dir[48], conf[64], secret[64];
    struct site site;
    struct err e;
};

static void path_of(const struct world *w, const char *file, char out[static 64])
{
    snprintf(out, 64, "%s/%s", w->dir, file);
}

static void write_file(const struct world *w, const char *file, const char *text, mode_t mode)
{
    char path[64];
    path_of(w, file, path);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static int setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    *w = (struct world){.dir = "/tmp/fettle-site-XXXXXX"};
    *state = w;
    assert_non_null(mkdtemp(w->dir));
    path_of(w, "fettle.conf", w->conf);
    path_of(w, "secret", w->secret);
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    site_close(&w->site);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[64];
        path_of(w, files[i], path);
        unlink(path);
    }
    char open[64];
    path_of(w, "open", open);
    rmdir(open);
    assert_int_equal(rmdir(w->dir), 0);
    free(w);
    return 0;
}

static void open_site(struct world *w, const char *parameters)
{
    write_file(w, "fettle.conf", parameters, 0644);
    assert_int_equal(site_open(w->conf, &w->site, &w->e), 0);
}

/* A site with a file of each kind. */
static void open_whole(struct world *w)
{
    CLEANUP_TEXT struct text conf = {0}, bmc = {0};
    text_printf(&conf,
                "NodeSpecConf = %s/nodes\nbmcconf = %s/bmc\nRemedyConf = %s/remedies\n"
                "SlurmScontrol = /opt/slurm/bin/scontrol-22\nSlurmConf = /etc/slurm/slurm.conf\n"
                "ReplaceProgram = /opt/replace\n",
                w->dir, w->dir, w->dir);
    text_printf(&bmc,
                "Nodes=n1 Driver=script Run=/opt/power User=admin PasswordFile=%s\n"
                "Nodes=n2 Driver=script Run=/opt/power\n"
                "Nodes=n3 Driver=ipmi Address=bmc3 User=u PasswordFile=%s\n",
                w->secret, w->secret);
    write_file(w, "nodes", "Name=DEFAULT CPUs=2\nName=n[1-3]\nname=m1 CPUs=4\n", 0644);
    write_file(w, "bmc", bmc.s, 0600);
    write_file(w, "remedies",
               "Remedy=fix Run=\"script:mend --now\" Helps=x Confidence=50% Because=\"it may\" Takes=1m\n"
               "Remedy=here Run=\"node:mend\" Helps=x Confidence=50% Because=\"it may\" Takes=1m\n",
               0644);
    write_file(w, "secret", "pass word\nrest\n", 0600);
    open_site(w, conf.s);
}

/* The sentence has these words; the rest names the directory, which differs each time. */
static void assert_refused(struct world *w, int rc, int code, const char *words)
{
    assert_int_equal(rc, code);
    if (!strstr(w->e.msg, words))
        fail_msg("\"%s\" is not in \"%s\"", words, w->e.msg);
}

static void test_only_files_that_nobody_else_can_change_are_trusted(void **state)
{
    struct world *w = *state;
    static const struct {
        mode_t mode;
        bool is_trusted;
    } cases[] = {{0600, true}, {0644, true}, {0755, true}, {0664, false}, {0646, false}, {0620, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_file(w, "fettle.conf", "", cases[i].mode);
        int rc = site_check_file(w->conf, &w->e);
        assert_int_equal(rc, cases[i].is_trusted ? 0 : -EPERM);
        if (rc < 0)
            assert_ptr_equal(
                strstr(w->e.msg, "nothing is run by the word of a file that others can change: "), w->e.msg);
    }
}

static void test_a_directory_that_others_can_change_is_not_trusted(void **state)
{
    struct world *w = *state;
    write_file(w, "fettle.conf", "", 0644);
    assert_int_equal(chmod(w->dir, 0777), 0);
    assert_int_equal(site_check_file(w->conf, &w->e), -EPERM);
    assert_int_equal(site_open(w->conf, &w->site, &w->e), -EPERM);
    assert_int_equal(chmod(w->dir, 0755), 0);
    assert_int_equal(site_check_file(w->conf, &w->e), 0);
}

/* The file behind a link counts as well as the way to the link. */
static void test_a_link_is_as_good_as_its_file(void **state)
{
    struct world *w = *state;
    char link[64];
    path_of(w, "link", link);
    write_file(w, "secret", "", 0600);
    assert_int_equal(symlink(w->secret, link), 0);
    assert_int_equal(site_check_file(link, &w->e), 0);
    assert_int_equal(chmod(w->secret, 0602), 0);
    assert_int_equal(site_check_file(link, &w->e), -EPERM);
}

static void test_a_link_into_a_directory_that_others_can_change_is_not_trusted(void **state)
{
    struct world *w = *state;
    char link[64], open[64];
    path_of(w, "link", link);
    path_of(w, "open", open);
    assert_int_equal(mkdir(open, 0700), 0);
    assert_int_equal(chmod(open, 0777), 0);
    write_file(w, "open/file", "", 0600);
    assert_int_equal(symlink("open/file", link), 0);
    assert_int_equal(site_check_file(link, &w->e), -EPERM);
    assert_int_equal(chmod(open, 0755), 0);
    assert_int_equal(site_check_file(link, &w->e), 0);
}

static void test_a_path_that_leads_nowhere_has_a_sentence(void **state)
{
    struct world *w = *state;
    assert_int_equal(site_check_file("/nowhere/at/all", &w->e), -ENOENT);
    assert_string_equal(w->e.msg, "/nowhere/at/all: No such file or directory");
    assert_int_equal(site_check_file("tmp", &w->e), -EINVAL);
    assert_string_equal(w->e.msg, "tmp: not an absolute path");
    assert_int_equal(site_open("/nowhere/fettle.conf", &w->site, &w->e), -ENOENT);
}

static void test_a_nodes_power_program_has_its_user_and_password(void **state)
{
    struct world *w = *state;
    struct site_power p;
    open_whole(w);
    assert_int_equal(site_power(&w->site, "n1", &p, &w->e), 0);
    assert_string_equal(p.program, "/opt/power");
    assert_string_equal(p.user, "admin");
    assert_string_equal(p.password.s, "pass word");
    site_power_fini(&p);
    assert_int_equal(site_power(&w->site, "n2", &p, &w->e), 0);
    assert_int_equal(p.password.len, 0);
    site_power_fini(&p);
}

static void test_a_node_without_a_power_program_is_refused(void **state)
{
    struct world *w = *state;
    static const char *const nodes[] = {"n3", "n4", "", "n1,n2"};
    struct site_power p;
    open_whole(w);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        assert_refused(w, site_power(&w->site, nodes[i], &p, &w->e), -ENOENT, "has no script in bmc.conf");
        site_power_fini(&p);
    }
}

static void test_a_bmcs_password_is_read_from_a_trusted_file(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text password = {0};
    struct site_power p;
    open_whole(w);
    assert_int_equal(site_password(&w->site, "n3", &password, &w->e), 0);
    assert_string_equal(password.s, "pass word");
    assert_refused(w, site_password(&w->site, "n2", &password, &w->e), -ENOENT,
                   "node \"n2\" has no PasswordFile in bmc.conf");
    assert_refused(w, site_password(&w->site, "n9", &password, &w->e), -ENOENT, "node \"n9\"");
    assert_int_equal(chmod(w->secret, 0666), 0);
    assert_int_equal(site_password(&w->site, "n3", &password, &w->e), -EPERM);
    assert_int_equal(site_power(&w->site, "n1", &p, &w->e), -EPERM);
    site_power_fini(&p);
}

static void test_a_file_of_bmcs_that_others_can_change_gives_nothing(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text password = {0};
    struct site_power p;
    char path[64];
    open_whole(w);
    path_of(w, "bmc", path);
    assert_int_equal(chmod(path, 0660), 0);
    assert_int_equal(site_power(&w->site, "n1", &p, &w->e), -EPERM);
    assert_int_equal(site_password(&w->site, "n3", &password, &w->e), -EPERM);
    site_power_fini(&p);
}

static void test_only_nodes_of_the_file_are_nodes(void **state)
{
    struct world *w = *state;
    static const char *const good[] = {"n1", "n3", "m1"};
    static const char *const bad[] = {"n4", "n", "N1", "n01"};
    static const char *const none[] = {"", "n1;rm", "../n1", "n[1-3]", "DEFAULT"};
    open_whole(w);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(site_check_node(&w->site, good[i], &w->e), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(w, site_check_node(&w->site, bad[i], &w->e), -EPERM, " has no node \"");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_refused(w, site_check_node(&w->site, none[i], &w->e), -EPERM, " is not the name of a node");
}

static void test_only_scripts_of_remedies_are_run(void **state)
{
    struct world *w = *state;
    static const char *const bad[] = {"script:mend", "script:mend --now --and", "node:mend", "mend --now",
                                      ""};
    open_whole(w);
    assert_int_equal(site_check_script(&w->site, "script:mend --now", &w->e), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(w, site_check_script(&w->site, bad[i], &w->e), -EPERM, "has this script as its Run");
}

static void test_slurms_programs_stand_beside_scontrol(void **state)
{
    struct world *w = *state;
    const char *conf;
    char *program;
    open_whole(w);
    assert_int_equal(site_slurm_program(&w->site, "scontrol", &program, &conf, &w->e), 0);
    assert_string_equal(program, "/opt/slurm/bin/scontrol-22");
    assert_string_equal(conf, "/etc/slurm/slurm.conf");
    free(program);
    assert_int_equal(site_slurm_program(&w->site, "squeue", &program, &conf, &w->e), 0);
    assert_string_equal(program, "/opt/slurm/bin/squeue");
    free(program);
}

static void test_a_replace_program_is_the_files(void **state)
{
    struct world *w = *state;
    const char *program;
    open_whole(w);
    assert_int_equal(site_replace_program(&w->site, &program, &w->e), 0);
    assert_string_equal(program, "/opt/replace");
}

static void test_a_missing_part_of_a_site_is_refused_by_the_parameters_name(void **state)
{
    struct world *w = *state;
    const char *conf;
    char *program = NULL;
    CLEANUP_TEXT struct text password = {0};
    struct site_power p;
    open_site(w, "BmcConf =\nRemedyConf =\nReplaceProgram =\nSlurmScontrol =\n");
    assert_refused(w, site_power(&w->site, "n1", &p, &w->e), -ENOENT, "fettle.conf has no BmcConf");
    assert_refused(w, site_password(&w->site, "n1", &password, &w->e), -ENOENT, "has no BmcConf");
    assert_refused(w, site_check_script(&w->site, "script:x", &w->e), -ENOENT, "has no RemedyConf");
    assert_refused(w, site_replace_program(&w->site, &conf, &w->e), -ENOENT, "has no ReplaceProgram");
    assert_refused(w, site_slurm_program(&w->site, "squeue", &program, &conf, &w->e), -ENOENT,
                   "has no SlurmScontrol");
    assert_null(program);
    site_power_fini(&p);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_only_files_that_nobody_else_can_change_are_trusted),
        TEST(test_a_directory_that_others_can_change_is_not_trusted),
        TEST(test_a_link_is_as_good_as_its_file),
        TEST(test_a_link_into_a_directory_that_others_can_change_is_not_trusted),
        TEST(test_a_path_that_leads_nowhere_has_a_sentence),
        TEST(test_a_nodes_power_program_has_its_user_and_password),
        TEST(test_a_node_without_a_power_program_is_refused),
        TEST(test_a_bmcs_password_is_read_from_a_trusted_file),
        TEST(test_a_file_of_bmcs_that_others_can_change_gives_nothing),
        TEST(test_only_nodes_of_the_file_are_nodes),
        TEST(test_only_scripts_of_remedies_are_run),
        TEST(test_slurms_programs_stand_beside_scontrol),
        TEST(test_a_replace_program_is_the_files),
        TEST(test_a_missing_part_of_a_site_is_refused_by_the_parameters_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
