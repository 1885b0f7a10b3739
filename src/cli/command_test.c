/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of the tool against a controller of prepared answers: what is asked, printed, and the exit
 * status.
 */
#include "cli/command.h"
#include "cli/run_test.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void help_is_of_the_command(void **state)
{
    struct run r = run("help", NULL);
    assert_int_equal(r.status, 0);
    assert_non_null(
        strstr(r.out, "\n  node undrain             remove your own drain, or the claim that you name\n"));
    r = run("node drain -h", NULL);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "usage: fettle node drain NODES... --reason WORDS"));
    struct run same = run("help node drain", NULL);
    assert_string_equal(r.out, same.out);
    assert_non_null(strstr(run("--help", NULL).out, "usage: fettle COMMAND"));
    assert_non_null(strstr(run("help node", NULL).out, "  node undrain             remove your own drain"));
    assert_null(strstr(run("help node", NULL).out, "partition"));
    struct run both = run("queue --help", NULL); /* a command that others begin with */
    assert_non_null(
        strstr(both.out, "usage: fettle queue [OPTIONS]\n\nlist the nodes that wait for a person"));
    assert_non_null(strstr(both.out, "--json"));
    assert_non_null(strstr(both.out, "\n\n  queue take  "));
    assert_string_equal(run("version", NULL).out, "fettle " FETTLE_VERSION "\n");
    assert_string_equal(run("--version", NULL).out, "fettle " FETTLE_VERSION "\n");
}

static void whoami_is_for_people(void **state)
{
    run_expect("whoami",
               "{\"kind\":\"token\",\"name\":\"Ann Lee\",\"login\":null,\"subject\":\"77\",\"person\":true,"
               "\"actor\":\"Ann Lee (token 77)\",\"until\":null,\"roles\":[\"viewer\",\"scheduler\"],"
               "\"tenants\":[{\"tenant\":\"physics\",\"roles\":[\"scheduler\",\"claimant\"]},"
               "{\"tenant\":\"bio\",\"roles\":[\"claimant\"]}],"
               "\"routes\":[\"GET /v1/nodes\",\"GET /v1/place\"]}",
               "GET /v1/whoami ",
               "You are      Ann Lee (token 77)\nKnown by     token\nSubject      77\n"
               "Person       yes, by the token\nRoles        viewer, scheduler\n"
               "Tenants      physics: scheduler, claimant\n             bio: claimant\n"
               "May call     GET /v1/nodes\n             GET /v1/place\n");
    run_expect("whoami", "{\"kind\":\"local\",\"actor\":\"ann\",\"person\":false,\"roles\":[],\"routes\":[]}",
               "GET /v1/whoami ",
               "You are      ann\nKnown by     local\nPerson       not proven\nRoles        none\n");
}

static void status_and_partitions_are_for_people(void **state)
{
    char sent[4096];
    struct run r = run_with(
        "status", 200,
        "{\"version\":\"0.1\",\"controller\":\"c1\",\"cluster\":\"ctl\",\"role\":\"leader\",\"revision\":7,"
        "\"mode\":\"act\",\"incidents\":3,\"repairs\":1,\"queue\":2,\"brakes\":[{\"name\":\"stop\",\"why\":"
        "\"ann: a "
        "test\"}],\"budgets\":[{\"scope\":\"cluster\",\"out\":2,\"limit\":5,\"nodes\":64},{\"scope\":"
        "\"class "
        "gpu\",\"out\":1,\"limit\":1,\"nodes\":8}],\"elsewhere\":[{\"where\":\"slurm\",\"held\":2,\"out\":3,"
        "\"unknown\":0},{\"where\":\"bmc\",\"held\":0,\"out\":0,\"unknown\":4}],"
        "\"uptime_s\":4000,\"nodes\":{\"IDLE\":60,\"DOWN\":4},\"schedulable\":60,\"agents\":64,"
        "\"alarms\":[{\"alarm\":\"silence\",\"subject\":\"\",\"since\":\"T1\",\"nodes\":\"\",\"text\":\"25 % "
        "are silent\"},"
        "{\"alarm\":\"drift\",\"subject\":\"class gpu\",\"since\":\"T2\",\"nodes\":\"gx1\",\"text\":\"it "
        "drifts\"}],"
        "\"counterparts\":[{\"name\":\"Slurm\",\"state\":\"trouble\",\"since\":\"T3\",\"last_success\":"
        "\"T4\",\"text\":"
        "\"it does not "
        "answer\",\"waiting\":2,\"waits\":\"nodes\"},{\"name\":\"MQTT\",\"state\":\"unknown\",\"since\":"
        "\"T5\","
        "\"last_success\":null,\"text\":\"\",\"waiting\":0,\"waits\":\"states\"}],\"warnings\":[\"a doubt\"],"
        "\"store\":{\"state\":\"failing\",\"message\":\"disk full\"},"
        "\"turns\":{\"longest\":[{\"at\":\"T6\",\"us\":7390,\"cpu_us\":6900,\"did\":["
        "{\"what\":\"GET /v1/nodes\",\"times\":1,\"us\":5100},{\"what\":\"frame "
        "BATCH\",\"times\":4,\"us\":950}]},"
        "{\"at\":\"T7\",\"us\":2000,\"cpu_us\":2000,\"did\":[]}],\"us\":[[73,9]],\"cpu_us\":[[73,9]]}}",
        sent);
    assert_string_equal(
        r.out,
        "Cluster      ctl\nController   c1\nRole         leader\nVersion      0.1\n"
        "Up for       1h06m\nMode         act: bad nodes are drained, repaired and returned\n"
        "BRAKE        stop: ann: a test\nBudgets used cluster 2 of 5, class gpu 1 of 1\nIncidents    "
        "3\nRepairs      1\nQueue        2\nRevision     "
        "7\nStore        failing\n             disk full\n"
        "Longest turn 7.3 ms (6.9 ms of a processor): GET /v1/nodes 5.1 ms, frame BATCH (4 times) 0.9 ms\n"
        "Nodes        IDLE 60, DOWN 4\nSchedulable  60\n"
        "Elsewhere    slurm: 2 held, 3 out; bmc: 4 unknown\nAgents       64\n"
        "Slurm        TROUBLE since T3, last success T4: it does not answer; waiting: 2 nodes\n"
        "MQTT         unknown since T5, last success never\n"
        "ALARM        silence since T1: 25 % are silent\n"
        "ALARM        drift class gpu since T2, gx1: it drifts\n"
        "WARNING      a doubt\n");
    r = run_with("partition list", 200,
                 "{\"partitions\":[{\"Partition\":1,\"Name\":\"debug\",\"Default\":true,\"Nodes\":\"lx[01-02]"
                 "\",\"Count\":2,"
                 "\"Schedulable\":1,\"States\":{\"IDLE\":1,\"DOWN\":1}}]}",
                 sent);
    assert_string_equal(r.out, "PARTITION  NAME   DEFAULT  NODES      COUNT  SCHEDULABLE  STATES\n"
                               "        1  debug  yes      lx[01-02]      2            1  IDLE 1, DOWN 1\n");
}

static void reload_prints_the_changes(void **state)
{
    char sent[4096];
    struct run r = run_with("reload", 200,
                            "{\"changes\":[\"lx05 is new\",\"LateAfter: 30s, was 60s\"],\"configuration\":"
                            "{\"revision\":3,\"hash\":\"0123456789abcdef\",\"by\":\"root\"}}",
                            sent);
    assert_string_equal(r.out, "lx05 is new\nLateAfter: 30s, was 60s\n"
                               "Configured   revision 3 (0123456789ab) by root\n");
    r = run_with("reload", 200, "{\"changes\":[]}", sent);
    assert_string_equal(r.out, "nothing has changed\n");
    r = run_with("token create --nodes lx09 --valid 2h", 200,
                 "{\"token\":\"abc\",\"id\":\"0123\",\"expires\":\"T\",\"command\":\"fettle-agent join\"}",
                 sent);
    assert_string_equal(
        r.out, "Token        abc\nId           0123\nExpires      T\nTo join      fettle-agent join\n");
    assert_string_equal(strstr(sent, "\r\n\r\n") + 4, "{\"nodes\":\"lx09\",\"valid\":\"2h\"}");
    run_with("token create --nodes lx[01-09] --count 9 --again --from 10.0.0.0/8", 200,
             "{\"token\":\"abc\",\"expires\":\"T\",\"command\":\"fettle-agent join\"}", sent);
    assert_string_equal(strstr(sent, "\r\n\r\n") + 4,
                        "{\"nodes\":\"lx[01-09]\",\"from\":\"10.0.0.0/8\",\"count\":9,\"again\":true}");
}

static void the_tool_alone_greets(void **state)
{
    struct run r = run("--", NULL); /* no word that is a command */
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "\n  fettle queue  "));
    assert_non_null(strstr(r.out, "\"fettle help\" lists all commands"));
}

/* As a shell splits it; every example is one that the tool takes. */
static void read_example(const char *path, const char *words)
{
    struct call c = {0};
    struct err e = {0};
    char *at[32], *p;
    size_t n = 0;
    CLEANUP_FREE char *copy = p = mem_dup(words);
    while (*p && n < 32) {
        bool quoted = *p == '\'';
        char *end = p + (quoted ? 1 + strcspn(p + 1, "'") : strcspn(p, " "));
        at[n++] = p + quoted;
        p = *end ? end + 1 : end;
        p += quoted && *p == ' ';
        *end = '\0';
    }
    if (call_parse(&c, at, n, &e) < 0 || strcmp(c.command->path, path) != 0)
        fail_msg("%s: %s", words, e.msg);
    call_fini(&c);
}

static void every_command_has_examples_that_the_tool_takes(void **state)
{
    static const char *const examples[][2] = {
#define EXAMPLE(path, words, what) {path, words},
#include "cli/example.tbl"
#undef EXAMPLE
    };
    enum { EXAMPLES = sizeof examples / sizeof examples[0] };
    for (size_t i = 0; i < EXAMPLES; i++)
        read_example(examples[i][0], examples[i][1]);
    for (size_t k = 0; k < commands_n; k++) {
        size_t i = 0;
        while (i < EXAMPLES && strcmp(examples[i][0], commands[k].path) != 0)
            i++;
        if (i == EXAMPLES)
            fail_msg("no example of \"fettle %s\"", commands[k].path);
    }
}

static void help_has_examples_fields_and_exit_statuses(void **state)
{
    struct run r = run("cert list --help", NULL);
    assert_non_null(strstr(r.out, "\nexamples:\n  fettle cert list --where state=good"));
    assert_non_null(strstr(r.out, "\nfields (fettle cert list -o help explains them):\n"
                                  "  Holder Serial Key Role State Made Until By Why\n"));
    assert_non_null(strstr(r.out, "\nexit status:\n  0 done\n  2 invalid, "));
    assert_non_null(strstr(r.out, "\n  4 not_found\n"));
}

static void help_has_groups(void **state)
{
    struct run r = run("help", NULL);
    const char *nodes = strstr(r.out, "\nNodes:\n  node list "),
               *repairs = strstr(r.out, "\nRepairs:\n  remedy list ");
    assert_true(nodes && repairs && nodes < repairs);
}

static char *slurp(const char *path, mode_t *mode)
{
    struct stat st;
    char *s = calloc(1, 8192);
    FILE *f = fopen(path, "re");
    if (f) {
        size_t n = fread(s, 1, 8191, f);
        s[n] = '\0';
        fclose(f);
    }
    *mode = stat(path, &st) == 0 ? st.st_mode & 0777 : 0;
    return s;
}

static void a_certificate_leaves_three_private_files(void **state)
{
    char dir[] = "/tmp/fettle-cert-XXXXXX", sent[4096];
    char *was = getcwd(NULL, 0);
    mode_t mode;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(chdir(dir), 0);
    struct run r = run_with("cert create ada --role admin --valid 30d", 200,
                            "{\"certificate\":\"CERT\\n\",\"authority\":\"CA\\n\"}", sent);
    assert_int_equal(r.status, 0);
    const char *body = strstr(sent, "\r\n\r\n") + 4;
    assert_non_null(strstr(
        body,
        "{\"name\":\"ada\",\"role\":\"admin\",\"request\":\"-----BEGIN CERTIFICATE REQUEST-----\\u000a"));
    assert_non_null(strstr(body, ",\"valid\":\"30d\"}"));
    CLEANUP_FREE char *key = slurp("ada.key", &mode);
    assert_int_equal(mode, 0600);
    assert_non_null(strstr(key, "PRIVATE KEY"));
    assert_null(strstr(sent, "PRIVATE KEY"));
    CLEANUP_FREE char *cert = slurp("ada.pem", &mode);
    assert_int_equal(mode, 0600);
    assert_string_equal(cert, "CERT\n");
    CLEANUP_FREE char *ca = slurp("ca.pem", &mode);
    assert_int_equal(mode, 0600);
    assert_string_equal(ca, "CA\n");

    /* Nothing is overwritten, and nothing is left of what fails. */
    r = run_with("cert create ada --role admin", 200, "{\"certificate\":\"X\",\"authority\":\"CA\\n\"}",
                 sent);
    assert_int_equal(r.status, 3);
    r = run_with("cert create bob --role admin", 200, "{\"certificate\":\"X\",\"authority\":\"OTHER\\n\"}",
                 sent);
    assert_int_equal(r.status, 3);
    assert_int_equal(access("bob.key", F_OK), -1);
    assert_int_equal(access("bob.pem", F_OK), -1);
    r = run_with("cert create bob --role reader", 403,
                 "{\"error\":{\"code\":\"forbidden\",\"message\":\"no\"}}", sent);
    assert_int_equal(r.status, 5);
    assert_int_equal(access("bob.key", F_OK), -1);
    assert_int_equal(unlink("ada.key") | unlink("ada.pem") | unlink("ca.pem"), 0);
    assert_int_equal(chdir(was), 0);
    assert_int_equal(rmdir(dir), 0);
    free(was);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_is_of_the_command),
        cmocka_unit_test(whoami_is_for_people),
        cmocka_unit_test(status_and_partitions_are_for_people),
        cmocka_unit_test(reload_prints_the_changes),
        cmocka_unit_test(the_tool_alone_greets),
        cmocka_unit_test(every_command_has_examples_that_the_tool_takes),
        cmocka_unit_test(help_has_examples_fields_and_exit_statuses),
        cmocka_unit_test(help_has_groups),
        cmocka_unit_test(a_certificate_leaves_three_private_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
