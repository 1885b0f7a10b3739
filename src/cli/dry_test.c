/* SPDX-License-Identifier: Apache-2.0 */
/* --dry-run: every command that changes something has it, asks for a dry run, and shows what would be done.
 */
#include "cli/command.h"
#include "cli/run_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Command, its words, and the path that it asks. */
static const char *const lines[][3] = {
    {"node drain", "lx[1-2] --reason bad_fan", "/v1/nodes/drain"},
    {"node undrain", "lx1", "/v1/nodes/undrain"},
    {"node down", "lx1 --reason moved", "/v1/nodes/down"},
    {"node up", "lx1", "/v1/nodes/up"},
    {"node set", "lx1 CPUs=4", "/v1/nodes/set"},
    {"node forget", "lx1", "/v1/nodes/forget"},
    {"reload", "", "/v1/reload"},
    {"backup create", "", "/v1/backups"},
    {"token create", "--nodes lx1", "/v1/tokens"},
    {"token end", "0123456789abcdef --reason leaked", "/v1/tokens/end"},
    {"controller admit", "c2 02ab", "/v1/controllers/admit"},
    {"controller remove", "c2 --reason sold", "/v1/controllers/remove"},
    {"cert create", "ann --role reader", "/v1/certificates"},
    {"cert revoke", "lx1 --reason stolen", "/v1/certificates/revoke"},
    {"conform recheck", "lx1", "/v1/conform/recheck"},
    {"conform approve", "lx1", "/v1/conform/approve"},
    {"baseline accept", "lx1", "/v1/baselines/accept"},
    {"baseline revert", "gpu", "/v1/baselines/revert"},
    {"baseline rollout start", "gpu --to lx1 --nodes lx2 --deadline 1h", "/v1/rollouts/start"},
    {"baseline rollout accept", "gpu", "/v1/rollouts/accept"},
    {"baseline rollout revert", "gpu", "/v1/rollouts/revert"},
    {"check run", "fs.space lx1", "/v1/checks/run"},
    {"repair move", "retire lx1 --reason old", "/v1/repairs/transition"},
    {"approve", "lx1", "/v1/repairs/approve"},
    {"refuse", "lx1 --reason no", "/v1/repairs/refuse"},
    {"queue take", "lx1", "/v1/queue/ticket"},
    {"queue note", "lx1 --reason seen", "/v1/queue/ticket"},
    {"queue resolve", "lx1 xid.79 --reason reset", "/v1/queue/resolve"},
    {"queue retire", "lx1 --reason old", "/v1/repairs/transition"},
    {"override set", "lx1 --reason x", "/v1/overrides/set"},
    {"override end", "lx1 --reason x", "/v1/overrides/end"},
    {"brake stop", "--reason x", "/v1/brakes/set"},
    {"brake release", "--reason x", "/v1/brakes/set"},
    {"owner claim", "lx1 --owner physics", "/v1/owners/claim"},
    {"owner release", "--owner physics", "/v1/owners/release"},
    {"owner transfer", "lx1 --owner physics --new-owner bio", "/v1/owners/transfer"},
    {"power", "off lx1 --reason x", "/v1/power"},
};
enum { LINES = sizeof lines / sizeof lines[0] };

static const char WOULD[] = "{\"revision\":9,\"changed\":\"lx[1-2]\",\"dry_run\":true,\"would\":[{\"nodes\":"
                            "\"lx1\",\"what\":\"one\"},"
                            "{\"nodes\":\"lx2\",\"what\":\"two\\u001b[31m\"}],\"held\":[]}";

static struct run dry(const char *const line[3], const char *answer, char sent[static 4096])
{
    char words[256];
    snprintf(words, sizeof words, "%s%s%s --dry-run", line[0], *line[1] ? " " : "", line[1]);
    return run_with(words, 200, answer, sent);
}

static void every_command_asks_for_it_and_shows_it(void **state)
{
    for (size_t i = 0; i < LINES; i++) {
        char sent[4096], asked[128], printed[256];
        struct run r = dry(lines[i], WOULD, sent);
        snprintf(asked, sizeof asked, "POST %s?dry_run=true HTTP/1.1\r\n", lines[i][2]);
        snprintf(printed, sizeof printed,
                 "dry run: \"fettle %s\" would change 2 nodes\nlx1: one\nlx2: two\\x1b[31m\n", lines[i][0]);
        if (strncmp(sent, asked, strlen(asked)) != 0)
            fail_msg("%s asked: %s", lines[i][0], sent);
        assert_string_equal(r.error, "");
        assert_int_equal(r.status, 0);
        if (strcmp(lines[i][0], "reload") != 0)
            assert_string_equal(r.out, printed);
    }
}

/* What the configuration would change is said as a reload says it. */
static void a_reload_says_that_nothing_is_taken(void **state)
{
    char sent[4096];
    struct run r =
        run_with("reload --dry-run", 200, "{\"dry_run\":true,\"changes\":[\"node lx7 added\"]}", sent);
    assert_string_equal(r.out, "dry run: nothing of this is taken\nnode lx7 added\n");
}

static void a_change_without_nodes_and_no_change_are_said(void **state)
{
    static const char brake[] =
        "{\"changed\":\"\",\"dry_run\":true,\"would\":[{\"nodes\":\"\",\"what\":\"stop is off\"}]}";
    static const char nothing[] = "{\"changed\":\"\",\"dry_run\":true,\"would\":[]}";
    char sent[4096];
    struct run r = run_with("brake release --reason x --dry-run", 200, brake, sent);
    assert_string_equal(r.out, "dry run: \"fettle brake release\" would change this\nstop is off\n");
    r = run_with("node up lx1 --dry-run", 200, nothing, sent);
    assert_string_equal(r.out, "dry run: \"fettle node up\" would change nothing\n");
    assert_int_equal(r.status, 0);
}

static void a_refusal_is_a_conflict(void **state)
{
    static const char partly[] =
        "{\"changed\":\"lx1\",\"dry_run\":true,\"would\":[{\"nodes\":\"lx1\",\"what\":\"taken\"}],"
        "\"refused\":[{\"node\":\"lx2\",\"error\":\"it is not in the work queue\"}]}";
    char sent[4096];
    struct run r = run_with("queue take lx[1-2] --dry-run", 200, partly, sent);
    assert_string_equal(r.out, "dry run: \"fettle queue take\" would change 1 node\nlx1: taken\n"
                               "lx2: refused: it is not in the work queue\n");
    assert_int_equal(r.status, 3);
    r = run_with("queue take lx[1-2] --dry-run --json", 200, partly, sent);
    assert_non_null(strstr(r.out, "\"dry_run\":true"));
    assert_int_equal(r.status, 3);
}

/* And no command has it that is not here; nothing that only reads does. */
static void the_commands_are_those_that_change(void **state)
{
    for (size_t i = 0; i < commands_n; i++) {
        bool is_here = false;
        for (size_t k = 0; k < LINES; k++)
            is_here |= strcmp(lines[k][0], commands[i].path) == 0;
        if (is_here != ((commands[i].options >> OPTION_DRY_RUN & 1) != 0))
            fail_msg("%s", commands[i].path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_asks_for_it_and_shows_it),
        cmocka_unit_test(a_reload_says_that_nothing_is_taken),
        cmocka_unit_test(a_change_without_nodes_and_no_change_are_said),
        cmocka_unit_test(a_refusal_is_a_conflict),
        cmocka_unit_test(the_commands_are_those_that_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
