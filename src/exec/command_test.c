/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const files[] = {"fettle.conf", "nodes.conf", "bmc.conf", "remedies.conf",
                                    "power",       "replace",    "scontrol", "secret"};
enum { FILES = sizeof files / sizeof *files, FILE_POWER = 4, FILE_SECRET = 7 };

struct world {
    char dir[64], paths[FILES][96];
};

static void put(const char *path, const char *text, mode_t mode)
{
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static int setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    CLEANUP_TEXT struct text conf = {0}, bmc = {0};
    snprintf(w->dir, sizeof w->dir, "/tmp/fettle-exec-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    for (size_t i = 0; i < FILES; i++)
        snprintf(w->paths[i], sizeof w->paths[i], "%s/%s", w->dir, files[i]);
    text_printf(&conf,
                "NodeSpecConf = %s\nBmcConf = %s\nRemedyConf = %s\nReplaceProgram = %s\nSlurmScontrol = %s\n",
                w->paths[1], w->paths[2], w->paths[3], w->paths[5], w->paths[6]);
    text_printf(
        &bmc, "Nodes=n[1-2] Driver=script Run=%s\nNodes=n3 Driver=ipmi Address=bmc3 User=u PasswordFile=%s\n",
        w->paths[4], w->paths[7]);
    put(w->paths[0], conf.s, 0644);
    put(w->paths[1], "Name=n[1-3] CPUs=2\n", 0644);
    put(w->paths[2], bmc.s, 0600);
    put(w->paths[3],
        "Remedy=fix Run=\"script:mend --now $FETTLE_NODE\" Helps=x Confidence=50% Because=\"it may\" "
        "Takes=1m\n"
        "Remedy=here Run=\"node:mend\" Helps=x Confidence=50% Because=\"it may\" Takes=1m\n",
        0644);
    for (size_t i = 4; i < FILES; i++)
        put(w->paths[i], "pass word\nx\n", 0700);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < FILES; i++)
        unlink(w->paths[i]);
    assert_int_equal(rmdir(w->dir), 0);
    free(w);
    return 0;
}

enum { WORDS_MAX = 8 };

static int decide(const struct world *w, const char *const *words, struct command *c, struct err *e)
{
    struct request r = {.action = words[0]};
    while (words[r.n + 1]) {
        r.args[r.n] = words[r.n + 1];
        r.n++;
    }
    return command_decide(&r, w->paths[0], c, e);
}

/* The program's path stands as its name. */
static void check(const struct world *w, const char *const *words, const char *wanted)
{
    struct command c;
    struct err e = {0};
    CLEANUP_TEXT struct text t = {0};
    assert_int_equal(decide(w, words, &c, &e), 0);
    size_t len = strlen(w->dir) + 1;
    for (size_t i = 0; i < c.argv.n; i++) {
        const char *word = c.argv.names[i];
        text_printf(&t, "%s%s", i ? "|" : "", strncmp(word, w->dir, len - 1) == 0 ? word + len : word);
    }
    for (size_t i = 0; i < c.set.n; i++)
        text_printf(&t, " %s", c.set.names[i]);
    text_printf(&t, "%s%s", c.printed.len ? c.printed.s : "", c.changes ? " changes" : "");
    assert_string_equal(t.s, wanted);
    command_fini(&c);
}

static void test_good_requests_are_run(void **state)
{
    static const struct {
        const char *words[WORDS_MAX], *wanted;
    } cases[] = {
        {{"hello"}, ""},
        {{"power", "status", "n1"}, "power|status|n1 FETTLE_NODE=n1 FETTLE_USER= FETTLE_PASSWORD="},
        {{"power", "cycle", "n2"}, "power|cycle|n2 FETTLE_NODE=n2 FETTLE_USER= FETTLE_PASSWORD= changes"},
        {{"password", "n3"}, "pass word"},
        {{"script", "script:mend --now $FETTLE_NODE", "n3", "r1.2"},
         "/bin/sh|-c|mend --now $FETTLE_NODE FETTLE_NODE=n3 FETTLE_OPERATION=r1.2 changes"},
        {{"replace", "n3", "r1.2"}, "replace|n3 FETTLE_NODE=n3 FETTLE_OPERATION=r1.2 changes"},
        {{"slurm", "scontrol", "show", "config"}, "scontrol|show|config SLURM_TIME_FORMAT=standard"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(*state, cases[i].words, cases[i].wanted);
}

static void refuse(const struct world *w, const char *const *words, const char *why)
{
    struct command c;
    struct err e = {0};
    assert_true(decide(w, words, &c, &e) < 0);
    if (!strstr(e.msg, why))
        assert_string_equal(e.msg, why);
    command_fini(&c);
}

static void test_wrong_requests_are_refused(void **state)
{
    static const struct {
        const char *words[WORDS_MAX], *why;
    } cases[] = {
        {{"shell", "id"}, "there is no action \"shell\""},
        {{"power", "status"}, "power takes other arguments: VERB NODE"},
        {{"hello", "x"}, "hello takes other arguments: none"},
        {{"power", "explode", "n1"}, "\"explode\" is none of status, on, off"},
        {{"power", "status", "../n1"}, "\"../n1\" is not the name of a node"},
        {{"power", "status", "n9"}, "node \"n9\" has no script in bmc.conf"},
        {{"power", "status", "n3"}, "node \"n3\" has no script in bmc.conf"},
        {{"password", "n1"}, "node \"n1\" has no PasswordFile in bmc.conf"},
        {{"script", "script:mend", "n1", "r1"}, "remedies.conf has this script as its Run"},
        {{"script", "node:mend", "n1", "r1"}, "remedies.conf has this script as its Run"},
        {{"script", "script:mend --now $FETTLE_NODE", "n9", "r1"}, "nodes.conf has no node \"n9\""},
        {{"script", "script:mend --now $FETTLE_NODE", "n1;id", "r1"}, "\"n1;id\" is not the name of a node"},
        {{"script", "script:mend --now $FETTLE_NODE", "n1", "r 1"}, "\"r 1\" is not the id of an operation"},
        {{"replace", "n9", "r1"}, "nodes.conf has no node \"n9\""},
        {{"slurm", "scontrol", "shutdown"}, "no call of Slurm has \"shutdown\" as word 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(*state, cases[i].words, cases[i].why);
}

/* The secrets of a script are set, and stand in no argument. */
static void test_a_script_has_its_secrets(void **state)
{
    struct world *w = *state;
    CLEANUP_TEXT struct text records = {0}, run = {0};
    text_printf(&run, "script:KEY=@%s mend", w->paths[FILE_SECRET]);
    text_printf(&records, "Remedy=fix Run=\"%s\" Helps=x Confidence=50%% Because=\"it may\" Takes=1m\n",
                run.s);
    put(w->paths[3], records.s, 0644);
    const char *const words[] = {"script", run.s, "n3", "r1.2", NULL};
    check(w, words, "/bin/sh|-c|mend KEY=pass word FETTLE_NODE=n3 FETTLE_OPERATION=r1.2 changes");
    CLEANUP_TEXT struct text bmc = {0};
    text_printf(&bmc, "Nodes=n1 Driver=script Run=%s User=u PasswordFile=%s\n", w->paths[FILE_POWER],
                w->paths[FILE_SECRET]);
    put(w->paths[2], bmc.s, 0600);
    static const char *const power[] = {"power", "off", "n1", NULL};
    check(w, power, "power|off|n1 FETTLE_NODE=n1 FETTLE_USER=u FETTLE_PASSWORD=pass word changes");
}

/* Whatever leads to a program has to be root's alone. */
static void test_files_that_others_can_write_are_not_believed(void **state)
{
    static const char *const power[] = {"power", "status", "n1", NULL}, *const password[] = {"password", "n3",
                                                                                             NULL};
    struct world *w = *state;
    const size_t on_the_way[] = {0, 2, FILE_POWER};
    for (size_t i = 0; i < sizeof on_the_way / sizeof *on_the_way; i++) {
        struct stat st;
        assert_int_equal(stat(w->paths[on_the_way[i]], &st), 0);
        assert_int_equal(chmod(w->paths[on_the_way[i]], 0666), 0);
        refuse(w, power, "nothing is run by the word of a file that others can change");
        assert_int_equal(chmod(w->paths[on_the_way[i]], st.st_mode & 0777), 0);
    }
    assert_int_equal(chmod(w->dir, 0777), 0);
    refuse(w, power, w->dir);
    assert_int_equal(chmod(w->dir, 0755), 0);
    check(w, power, "power|status|n1 FETTLE_NODE=n1 FETTLE_USER= FETTLE_PASSWORD=");
    assert_int_equal(chmod(w->paths[FILE_SECRET], 0620), 0);
    refuse(w, password, w->paths[FILE_SECRET]);
    assert_int_equal(chmod(w->paths[FILE_SECRET], 0640), 0); /* nor is it a password any more */
    refuse(w, password, w->paths[FILE_SECRET]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_good_requests_are_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_requests_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_script_has_its_secrets, setup, teardown),
        cmocka_unit_test_setup_teardown(test_files_that_others_can_write_are_not_believed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
