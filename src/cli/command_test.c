/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of the tool against a controller of prepared answers: what is asked, printed, and the exit
 * status.
 */
#include "cli/command.h"
#include "cli/run_test.h"
#include "lib/stub_test.h"

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

static void wrong_words_are_usage_errors(void **state)
{
    static const struct {
        const char *line, *error;
    } cases[] = {
        {"nod list", "unknown command \"nod\"; the nearest known is \"node\""},
        {"size", "unknown command \"size\"; \"fettle help\" lists them"},
        {"statsu", "unknown command \"statsu\"; the nearest known is \"status\""},
        {"node", "\"node\" needs one of: list, show, claims, drain, undrain, down, up, set, forget"},
        {"node lst",
         "\"node\" has no \"lst\", but: list, show, claims, drain, undrain, down, up, set, forget"},
        {"node list --sotr x", "unknown option \"--sotr\"; the nearest known is \"--sort\""},
        {"node list -x", "unknown option \"-x\""},
        {"node list --sort", "--sort needs its FIELDS"},
        {"node list --sort name --sort state", "--sort is given twice"},
        {"node list -o name -ostate", "--output is given twice"},
        {"node list --json=1", "--json takes no value"},
        {"node list --json --csv", "--json, --csv and --fold exclude each other"},
        {"node list -o stat", "unknown field \"stat\"; the nearest known is \"State\""},
        {"node list lx[1-", NULL},
        {"node list --reason x", "\"fettle node list\" has no option --reason"},
        {"status now", "\"now\" is too much for \"fettle status\""},
        {"node show", "usage: fettle node show NODES..."},
        {"node drain lx1", "why? \"fettle node drain\" needs --reason"},
        {"node drain lx1 --reason _", "why? \"fettle node drain\" needs --reason"},
        {"node drain -r broken lx1",
         "which nodes? name them before --reason, which takes the words after it"},
        {"node set lx1", "what to set? FIELD=VALUE, or --unset FIELD"},
        {"node set lx1 State=DOWN", "the field State is not set but observed"},
        {"node set lx1 CPUs=4 --unset cpus", "the field CPUs is set twice"},
        {"node set CPUs=4", "which nodes?"},
        {"status --timeout soon", NULL},
        {"status --timeout 0", "--timeout: \"0\" is too short or too long to wait"},
        {"-C ctl:1 status", "controller address \"ctl:1\" is neither a path nor https://HOST:PORT"},
        {"journal --limit 0", "--limit: \"0\" is not a number from 1 to 9223372036854775807"},
        {"journal --after 3 lx1", "--after and nodes do not go together"},
        {"journal --limit 3 -f", "--limit and follow do not go together"},
        {"journal --since nonsense",
         "--since: \"nonsense\" is no time: 2h (ago), 14:30 (today), 2026-11-23 or "
         "\"2026-11-23 14:30\""},
        {"journal --until 1960-01-01", "--until: \"1960-01-01\" is before 1970"},
        {"journal --tail 0", "--tail: \"0\" is not a number from 1 to 9223372036854775807"},
        {"node drain lx1 --reason caf\xe9", "\"caf\xe9\" is not UTF-8"},
        {"cert create ada", "which role? --role reader, or --role admin"},
        {"cert create a/b --role admin", "\"a/b\" cannot be the name of a certificate"},
        {"help node lst",
         "\"node\" has no \"lst\", but: list, show, claims, drain, undrain, down, up, set, forget"},
        {"help tokn", "unknown command \"tokn\"; the nearest known is \"token\""},
        {"node claims lx1 lx2", "\"lx2\" is too much for \"fettle node claims\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run r = run(cases[i].line, NULL);
        if (r.status != 2 || (cases[i].error && strcmp(r.error, cases[i].error) != 0))
            fail_msg("%s: %d, %s", cases[i].line, r.status, r.error);
        assert_true(strlen(r.error) > 0);
    }
}

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

/* Every code of err.tbl is seen as its exit status. */
static void exit_statuses_tell_errors_apart(void **state)
{
    static const struct {
        int http;
        const char *code;
        int exit;
    } cases[] = {{400, "invalid", 2},         {404, "not_found", 4},    {403, "forbidden", 5},
                 {401, "unauthenticated", 5}, {409, "conflict", 3},     {409, "exists", 3},
                 {507, "no_space", 7},        {500, "damaged", 7},      {503, "unavailable", 6},
                 {504, "outcome_unknown", 8}, {500, "anything_else", 7}};
    char sent[4096];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char body[128];
        snprintf(body, sizeof body, "{\"error\":{\"code\":\"%s\",\"message\":\"a sentence\"}}",
                 cases[i].code);
        struct run r = run_with("status", cases[i].http, body, sent);
        assert_int_equal(r.status, cases[i].exit);
        assert_string_equal(r.error, "a sentence");
    }
    assert_int_equal(run("status", "/nonexistent/socket").status, 6);
    assert_int_equal(run_with("status", 200, "nonsense", sent).status, 6);
}

static const char DRAINED[] = "{\"revision\":9,\"changed\":\"lx[01-02]\",\"claim\":\"c9\",\"held\":["
                              "{\"id\":\"c9\",\"kind\":\"drain\",\"owner\":\"root\",\"reason\":\"bad "
                              "disk\",\"since\":\"T2\",\"nodes\":\"lx[01-02]\"},"
                              "{\"id\":\"c3\",\"kind\":\"drain\",\"owner\":\"ada\",\"reason\":\"a "
                              "test\",\"since\":\"T1\",\"nodes\":\"lx01\"}]}";

static void a_reason_may_be_several_words(void **state)
{
    static const char *const lines[] = {
        "node drain lx01 lx02 -r bad disk", "node drain lx[01-02] --reason bad disk",
        "node drain lx02,lx01 --reason=bad_disk", "node drain -r bad_disk lx01 lx02",
        "node drain lx01 lx02 -r bad disk --timeout 5s"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char sent[4096];
        struct run r = run_with(lines[i], 200, DRAINED, sent);
        assert_int_equal(r.status, 0);
        assert_string_equal(strstr(sent, "\r\n\r\n") + 4,
                            "{\"nodes\":\"lx[01-02]\",\"reason\":\"bad disk\"}");
        assert_string_equal(r.out, "lx[01-02]: drained by claim c9\n"
                                   "lx01: held: drain by ada since T1, claim c3: a test\n");
    }
}

static const char HELD[] =
    "{\"revision\":9,\"changed\":\"\",\"held\":[{\"id\":\"c3\",\"kind\":\"drain\",\"owner\":\"ada\","
    "\"reason\":\"a \\u001b[31mtest\",\"since\":\"T1\",\"nodes\":\"lx01\"}]}";
static const char PARTLY[] =
    "{\"revision\":9,\"changed\":\"lx01\",\"held\":[{\"id\":\"c3\",\"kind\":\"drain\",\"owner\":\"ada\","
    "\"reason\":\"a test\",\"since\":\"T1\",\"nodes\":\"lx01\"}]}";

static void undrain_says_what_still_holds(void **state)
{
    char sent[4096];
    struct run r = run_with("node undrain lx01", 200, PARTLY, sent);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, "lx01: drain removed\nlx01: held: drain by ada since T1, claim c3: a test\n");
    r = run_with("node undrain lx01", 200, HELD, sent);
    assert_int_equal(r.status, 3);
    assert_string_equal(r.out, "nothing of yours was there to remove\n"
                               "lx01: held: drain by ada since T1, claim c3: a \\x1b[31mtest\n");
    r = run_with("node up lx01 --claim c3", 200, "{\"changed\":\"lx01\",\"held\":[]}", sent);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, "lx01: down removed\n");
    assert_string_equal(strstr(sent, "\r\n\r\n") + 4, "{\"nodes\":\"lx01\",\"claim\":\"c3\"}");
    assert_int_equal(run_with("node drain lx01 -r x", 200, HELD, sent).status, 0);
    assert_int_equal(run_with("node undrain --json lx01", 200, HELD, sent).status, 3);
}

static void settings_are_sent_by_their_names(void **state)
{
    char sent[4096];
    struct run r = run_with("node set lx01 cpus=64 OS=Linux.6.1 partition= --unset speed,TMPDISK", 200,
                            "{\"changed\":\"lx01\",\"held\":[]}", sent);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, "lx01: set\n");
    assert_string_equal(
        strstr(sent, "\r\n\r\n") + 4,
        "{\"nodes\":\"lx01\",\"set\":{\"CPUs\":\"64\",\"OS\":\"Linux.6.1\",\"Partition\":\"\","
        "\"Speed\":null,\"TmpDisk\":null}}");
}

static void a_list_asks_for_what_it_shows(void **state)
{
    char sent[4096];
    struct run r = run_with(
        "node list lx[1-2] -o name,state --sort -cpus Silent>1 -H", 200,
        "{\"revision\":1,\"nodes\":[{\"Name\":\"lx1\",\"State\":\"IDLE\",\"CPUs\":1,\"Silent\":2}]}", sent);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, "lx1  IDLE\n");
    assert_non_null(
        strstr(sent, "GET /v1/nodes?nodes=lx%5B1-2%5D&fields=Name%2CState%2CCPUs%2CSilent HTTP/1.1"));
}

static void a_node_is_shown_whole(void **state)
{
    static const char body[] = "{\"node\":{\"Name\":\"lx01\",\"State\":\"DRAINED\",\"RealMemory\":4096,"
                               "\"Silent\":192,\"Why\":\"\",\"Partition\":[1,3]},"
                               "\"specification\":{\"CPUs\":\"64\"},\"edited\":{},\"inventory\":{\"nics\":[{"
                               "\"name\":\"eth0\",\"speed\":25000},"
                               "{\"name\":\"ib0\"}],\"dmi\":{\"vendor\":\"A\\u001bcme\"}},\"claims\":[{"
                               "\"id\":\"c3\",\"kind\":\"drain\",\"owner\":\"ada\","
                               "\"reason\":\"a test\",\"since\":\"T1\",\"nodes\":\"lx01\"}]}";
    char sent[4096];
    struct run r = run_with("node show lx01", 200, body, sent);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, "Name             lx01\n"
                               "State            DRAINED\n"
                               "RealMemory       4096 MiB\n"
                               "Silent           3m12s\n"
                               "Partition        1,3\n"
                               "Held\n"
                               "  drain by ada since T1, claim c3: a test\n"
                               "Specification\n"
                               "  CPUs            64\n"
                               "Inventory\n"
                               "  nics\n"
                               "    -\n"
                               "      name            eth0\n"
                               "      speed           25000\n"
                               "    -\n"
                               "      name            ib0\n"
                               "  dmi\n"
                               "    vendor          A\\x1bcme\n");
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

static void reload_prints_what_changed(void **state)
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

static void output_that_fails_is_an_error(void **state)
{
    struct call c = {0};
    struct err e = {0};
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    text_add(&c.out, "something");
    assert_int_equal(call_flush(&c, full, &e), -ENOSPC);
    assert_string_equal(e.msg, "cannot write the output: No space left on device");
    close(full);
    text_add(&c.out, "something");
    assert_int_equal(call_flush(&c, full, &e), -EIO); /* it is closed */
    call_fini(&c);
}

static void a_reader_that_has_enough_is_no_error(void **state)
{
    struct call c = {0};
    struct err e = {0};
    int ends[2];
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    text_add(&c.out, "something");
    assert_int_equal(call_flush(&c, ends[1], &e), 141);
    assert_int_equal(c.out.len, 0);
    assert_string_equal(e.msg, "");
    close(ends[1]);
    call_fini(&c);
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

/* What the tool prints while it goes on. */
static int run_printed(const char *line, const char *controller, char *got, size_t size)
{
    int fds[2], keep = dup(STDOUT_FILENO);
    assert_int_equal(pipe(fds), 0);
    fflush(stdout);
    dup2(fds[1], STDOUT_FILENO);
    struct run r = run(line, controller);
    dup2(keep, STDOUT_FILENO);
    close(keep);
    close(fds[1]);
    ssize_t n = read(fds[0], got, size - 1);
    close(fds[0]);
    got[n > 0 ? n : 0] = '\0';
    return r.status;
}

static void the_journal_is_read_in_pages(void **state)
{
    CLEANUP_FREE char *one = stub_json(
        200, "{\"entries\":[{\"at\":\"T1\",\"what\":\"node.drain\",\"actor\":\"root\",\"nodes\":\"lx1\","
             "\"text\":\"bad\",\"revision\":3},{\"at\":\"T2\",\"what\":\"config.reload\",\"revision\":5}],"
             "\"gone\":\"older ones are in DIR\"}");
    CLEANUP_FREE char *end = stub_json(200, "{\"entries\":[]}");
    struct stub_answer answers[] = {{.bytes = one}, {.bytes = end}};
    struct stub *stub = stub_start(answers, 2);
    char got[512];
    assert_int_equal(run_printed("journal --after 2", stub_path(stub), got, sizeof got), 0);
    assert_string_equal(got, "older ones are in DIR\nT1  node.drain lx1 by root: bad\nT2  config.reload\n");
    stub_join(stub);
    assert_non_null(strstr(stub_request(stub, 0), "/v1/journal?after=2&limit=1000 "));
    assert_non_null(strstr(stub_request(stub, 1), "/v1/journal?after=5&limit=1000 "));
    stub_stop(stub);
}

#define ENTRY(n) \
    "{\"at\":\"T" n "\",\"what\":\"node.up\",\"actor\":\"ann\",\"nodes\":\"lx1\",\"revision\":" n "}"

/* The newest pages come first and are printed last; what is more than was asked for is left out. */
static void the_journal_is_searched_from_its_end(void **state)
{
    CLEANUP_FREE char *one =
        stub_json(200, "{\"entries\":[" ENTRY("8") "," ENTRY("9") "],\"revision\":9,\"before\":7}");
    CLEANUP_FREE char *none = stub_json(200, "{\"entries\":[],\"revision\":10,\"before\":5}");
    CLEANUP_FREE char *two =
        stub_json(200, "{\"entries\":[" ENTRY("3") "," ENTRY("4") "],\"revision\":11,\"before\":3}");
    struct stub_answer answers[] = {{.bytes = one}, {.bytes = none}, {.bytes = two}};
    struct stub *stub = stub_start(answers, 3);
    char got[512];
    assert_int_equal(
        run_printed("journal lx[1-2] lx3 --tail 3 --what node --by ann --since 2026-01-01T00:00:00Z "
                    "--until 2026-01-01T00:00:07Z",
                    stub_path(stub), got, sizeof got),
        0);
    assert_string_equal(got, "T4  node.up lx1 by ann\nT8  node.up lx1 by ann\nT9  node.up lx1 by ann\n");
    stub_join(stub);
#define ASKED "&nodes=lx%5B1-3%5D&what=node&by=ann&since=1767225600&until=1767225607"
    assert_non_null(strstr(stub_request(stub, 0), "/v1/journal?tail=3" ASKED " "));
    assert_non_null(strstr(stub_request(stub, 1), "/v1/journal?tail=1" ASKED "&before=7 "));
    assert_non_null(strstr(stub_request(stub, 2), "/v1/journal?tail=1" ASKED "&before=5 "));
    stub_stop(stub);
}

/* Nobody who follows it waits for what is never said; when the controller ends, so does the tool. */
static void the_journal_is_followed(void **state)
{
    CLEANUP_FREE char *one = stub_json(200, "{\"entries\":[" ENTRY("8") "],\"revision\":9}");
    CLEANUP_FREE char *two = stub_json(200, "{\"entries\":[" ENTRY("10") "],\"revision\":12}");
    CLEANUP_FREE char *end = stub_json(503, "{\"error\":{\"code\":\"unavailable\",\"message\":\"it ends\"}}");
    struct stub_answer answers[] = {{.bytes = one}, {.bytes = two}, {.bytes = end}};
    struct stub *stub = stub_start(answers, 3);
    char got[512];
    assert_int_not_equal(run_printed("journal -f", stub_path(stub), got, sizeof got), 0);
    assert_string_equal(got, "T8  node.up lx1 by ann\nT10  node.up lx1 by ann\n");
    stub_join(stub);
    assert_non_null(strstr(stub_request(stub, 0), "/v1/journal?tail=50 "));
    assert_non_null(strstr(stub_request(stub, 1), "/v1/journal?tail=1000&after=9 "));
    assert_non_null(strstr(stub_request(stub, 2), "/v1/journal?tail=1000&after=12 "));
    stub_stop(stub);
}

/* The same moment, said in several ways; the first of them in local time. */
static void times_are_said_as_people_do(void **state)
{
    static const struct {
        const char *said, *since;
    } times[] = {{"2026-07-01T14:30:00", "since=1782909000"},
                 {"2026-07-01T14:30", "since=1782909000"},
                 {"2026-07-01", "since=1782856800"},
                 {"2026-07-01T14:30:00 --utc", "since=1782916200"},
                 {"2026-07-01T14:30:00Z", "since=1782916200"}};
    setenv("TZ", "CEST-2", 1);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        char sent[4096], line[128];
        snprintf(line, sizeof line, "journal --since %s", times[i].said);
        run_with(line, 200, "{\"entries\":[],\"revision\":1}", sent);
        if (!strstr(sent, times[i].since))
            fail_msg("%s: %.200s", times[i].said, sent);
    }
    unsetenv("TZ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_words_are_usage_errors),
        cmocka_unit_test(help_is_of_the_command),
        cmocka_unit_test(exit_statuses_tell_errors_apart),
        cmocka_unit_test(a_reason_may_be_several_words),
        cmocka_unit_test(undrain_says_what_still_holds),
        cmocka_unit_test(settings_are_sent_by_their_names),
        cmocka_unit_test(a_list_asks_for_what_it_shows),
        cmocka_unit_test(a_node_is_shown_whole),
        cmocka_unit_test(status_and_partitions_are_for_people),
        cmocka_unit_test(reload_prints_what_changed),
        cmocka_unit_test(output_that_fails_is_an_error),
        cmocka_unit_test(a_reader_that_has_enough_is_no_error),
        cmocka_unit_test(the_tool_alone_greets),
        cmocka_unit_test(every_command_has_examples_that_the_tool_takes),
        cmocka_unit_test(help_has_examples_fields_and_exit_statuses),
        cmocka_unit_test(help_has_groups),
        cmocka_unit_test(a_certificate_leaves_three_private_files),
        cmocka_unit_test(the_journal_is_read_in_pages),
        cmocka_unit_test(the_journal_is_searched_from_its_end),
        cmocka_unit_test(the_journal_is_followed),
        cmocka_unit_test(times_are_said_as_people_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
