/* SPDX-License-Identifier: Apache-2.0 */
/* Agreeing the configuration while the controller runs. This file stands in the place of the committer. */
#include "controller/controller_inside.h"

#include "controller/config/config_fixture_test.h"
#include "store/fixture_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- in the place of the committer ----------------------------------------------------------------- */

static struct {
    unsigned n;
    struct command cmd;
    char actor[32], said[128];
    outcome_fn *fn;
    void *arg;
} submitted;

void committer_submit(struct committer *k, const struct command *cmd, outcome_fn *fn, void *arg)
{
    submitted.n++;
    submitted.cmd = *cmd;
    snprintf(submitted.actor, sizeof submitted.actor, "%s", cmd->actor);
    snprintf(submitted.said, sizeof submitted.said, "%s", cmd->revise.said);
    submitted.fn = fn;
    submitted.arg = arg;
}

/* --------------------------------------------------------------------------------------------------- */

static struct controller c;
static unsigned answers;
static char answered[512];

static int setup(void **state)
{
    memset(&submitted, 0, sizeof submitted);
    answers = 0;
    c = (struct controller){.cluster = cluster_create()};
    return config_setup(state);
}

static int teardown(void **state)
{
    cluster_destroy(c.cluster);
    return config_teardown(state);
}

static const char *said_of(const char *changes)
{
    static char said[4096];
    CLEANUP_TEXT struct text t = {0};
    agreement_say(changes, &t);
    snprintf(said, sizeof said, "%s", t.s);
    return said;
}

static void test_lines_become_one_sentence(void **state)
{
    assert_string_equal(said_of("one\n"), "one");
    assert_string_equal(said_of("one\ntwo\nthree\n"), "one; two; three");
    assert_string_equal(said_of("one\ntwo"), "one; two");
    assert_string_equal(said_of(""), "the same with another hash");
}

/* Lines beyond 2000 bytes are counted, also the short ones behind a long one. */
static void test_a_sentence_has_a_limit(void **state)
{
    CLEANUP_TEXT struct text lines = {0};
    for (int i = 0; i < 2000; i++)
        text_add_char(&lines, 'x');
    text_add(&lines, "\n");
    assert_int_equal(strlen(said_of(lines.s)), 2000);
    text_add(&lines, "y\n");
    assert_string_equal(said_of(lines.s) + 2000, "; and 1 more changes");
    text_clear(&lines);
    text_add(&lines, "first\n");
    for (int i = 0; i < 2001; i++)
        text_add_char(&lines, 'x');
    text_add(&lines, "\nshort\nshort\n");
    assert_string_equal(said_of(lines.s), "first; and 3 more changes");
    text_clear(&lines);
    for (int i = 0; i < 2001; i++)
        text_add_char(&lines, 'x');
    assert_string_equal(said_of(lines.s), "1 more changes");
}

static void on_agreed(void *arg, const struct err *why)
{
    assert_ptr_equal(arg, &c);
    answers++;
    snprintf(answered, sizeof answered, "%s", why ? why->msg : "agreed");
}

static void committed(int rc)
{
    struct err why;
    err_set(&why, rc, "the disk is full");
    submitted.fn(submitted.arg, &(struct outcome){.rc = rc, .why = rc ? &why : NULL});
}

static void test_a_revision_is_submitted_until_nothing_changes(void **state)
{
    struct config fresh = config_good("MaxOut = 7\n", "Name=lx01\n", NULL);
    agreement_begin(&c, &fresh, "ann", "MaxOut \"5\" -> \"7\"\nnode lx01 added\n", on_agreed, &c);
    assert_int_equal(submitted.n, 1);
    assert_int_equal(submitted.cmd.kind, COMMAND_REVISE);
    assert_string_equal(submitted.actor, "ann");
    assert_string_equal(submitted.said, "MaxOut \"5\" -> \"7\"; node lx01 added");
    assert_true(submitted.cmd.revise.n > 0);
    assert_true(submitted.cmd.revise.limits.given);
    committed(0); /* nothing was left to change */
    assert_int_equal(answers, 1);
    assert_string_equal(answered, "agreed");
    config_fini(&fresh);
}

static void test_a_refusal_is_told(void **state)
{
    struct config fresh = config_good("", "Name=lx01\n", NULL);
    agreement_begin(&c, &fresh, "ann", "x\n", on_agreed, &c);
    committed(-ENOSPC);
    assert_int_equal(answers, 1);
    assert_int_equal(submitted.n, 1);
    assert_string_equal(answered, "the disk is full");
    config_fini(&fresh);
}

static void test_nothing_is_agreed_at_first(void **state)
{
    struct config out;
    struct err e = {0};
    assert_int_equal(agreement_read(&c, &out, &e), -ENOENT);
}

/* --- at the start, with the real store -------------------------------------------------------------- */

static int entry_take(void *arg, uint64_t revision, const struct store_entry *entry, struct err *e)
{
    snprintf(arg, 256, "%s: %s", entry->actor, entry->text);
    return 0;
}

/* A controller starts with this configuration; gives what the journal has behind `after`. */
static const char *start(const char *parameters, const char *nodes, uint64_t *revision)
{
    static char last[256];
    struct err e = {0};
    const uint64_t before = *revision;
    last[0] = '\0';
    c.conf = config_good(parameters, nodes, NULL);
    if (agreement_start(&c, revision, &e) < 0)
        fail_msg("%s", e.msg);
    config_fini(&c.conf);
    assert_int_equal(store_journal(c.store, before, 99, entry_take, last, NULL), 0);
    return last;
}

static void test_a_start_agrees_another_configuration(void **state)
{
    char *dir = fixture_dir();
    uint64_t revision = 0;
    struct config agreed;
    c.store = fixture_open(dir);
    assert_int_equal(store_campaign(c.store, &c.term, NULL), 0);
    const char *said = start("MaxOut = 7\n", "Name=lx01\n", &revision);
    assert_non_null(strstr(said, "fettled: "));
    assert_non_null(strstr(said, "it is agreed from now on"));
    assert_true(revision > 0);
    const uint64_t first = revision;
    assert_string_equal(start("# the same\nMaxOut=7\n", "Name=lx01\n", &revision), "");
    assert_int_equal(revision, first);
    said = start("MaxOut = 8\n", "Name=lx01\nName=lx02\n", &revision);
    assert_non_null(strstr(said, "MaxOut \"7\" -> \"8\"; "));
    assert_non_null(strstr(said, "lx02"));
    assert_true(revision > first);
    struct config own = config_good("MaxOut = 9\nApiPort = 7000\n", "Name=other\n", NULL);
    c.conf.path = own.path; /* another controller reads what is agreed, with its own parameters */
    assert_int_equal(agreement_read(&c, &agreed, NULL), 0);
    assert_int_equal(agreed.number[SETTING_MAX_OUT], 8);
    assert_int_equal(agreed.number[SETTING_API_PORT], 7000);
    assert_int_equal(agreed.roster.n, 2);
    config_fini(&agreed);
    c.conf.path = NULL;
    config_fini(&own);
    store_close(c.store);
    fixture_remove(dir);
}

static void test_a_start_that_cannot_commit_is_told(void **state)
{
    char *dir = fixture_dir();
    uint64_t revision = 0;
    struct err e = {0};
    c.store = fixture_open(dir);
    assert_int_equal(store_campaign(c.store, &c.term, NULL), 0);
    c.term--; /* another controller leads by now */
    c.conf = config_good("", "Name=lx01\n", NULL);
    assert_true(agreement_start(&c, &revision, &e) < 0);
    assert_non_null(strstr(e.msg, "the configuration is not agreed: "));
    assert_int_equal(revision, 0);
    config_fini(&c.conf);
    store_close(c.store);
    fixture_remove(dir);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lines_become_one_sentence),
        TEST(test_a_sentence_has_a_limit),
        TEST(test_a_revision_is_submitted_until_nothing_changes),
        TEST(test_a_refusal_is_told),
        TEST(test_nothing_is_agreed_at_first),
        TEST(test_a_start_agrees_another_configuration),
        TEST(test_a_start_that_cannot_commit_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
