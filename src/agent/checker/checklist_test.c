/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/checklist.h"

#include "agent/home/home.h"
#include "base/text.h"
#include "probe/tree_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct hostlist lines_of(const char *const *lines, size_t n)
{
    struct hostlist out = {0};
    for (size_t i = 0; i < n; i++)
        hostlist_add(&out, lines[i]);
    return out;
}

static void test_a_node_takes_its_own_records_of_the_controller_s_list(void **state)
{
    static const char *const lines[] = {
        "Check=all Probe=zombies",
        "Check=mine Probe=load Nodes=lx[01-09]",
        "Check=other Probe=load Nodes=lx02",
        "Check=future Probe=unheard.of",
        "Check=all Probe=load",
        "Check=last Probe=time Nodes=lx01",
    };
    struct body_checklist said = {.revision = 7, .hash = "h1", .lines = lines_of(lines, 6)};
    struct checklist l;
    checklist_take(&said, "lx01", &l);
    assert_string_equal(l.hash, "h1");
    assert_int_equal(l.revision, 7);
    assert_int_equal(l.checks.n, 3);
    assert_string_equal(l.checks.list[0].name, "all");
    assert_int_equal(l.checks.list[0].probe, PROBE_ZOMBIES); /* the first of that name */
    assert_string_equal(l.checks.list[1].name, "mine");
    assert_int_equal(l.checks.list[1].nodes.n, 0); /* which may be ten thousand */
    assert_string_equal(l.checks.list[2].name, "last");
    assert_non_null(l.meanings);
    checklist_fini(&l);
    assert_null(l.meanings);
    body_checklist_fini(&said);
}

static void test_a_list_has_a_limit(void **state)
{
    struct body_checklist said = {.hash = "h1"};
    struct checklist l;
    for (int i = 0; i < CHECKS_MAX + 2; i++) {
        char line[64];
        snprintf(line, sizeof line, "Check=c%d Probe=load", i);
        hostlist_add(&said.lines, line);
    }
    checklist_take(&said, "lx01", &l);
    assert_int_equal(l.checks.n, CHECKS_MAX);
    checklist_fini(&l);
    body_checklist_fini(&said);
}

static bool has_meaning(const struct checklist *l, const char *line)
{
    struct finding f;
    struct meaning m;
    return meaning_of(l->meanings, line, false, &f, &m);
}

static void test_meanings_come_with_the_list(void **state)
{
    static const char *const good[] = {"Line=\"mydriver: link dead\" Code=mydriver.link Act=reset Because=x"};
    static const char *const bad[] = {"Nonsense=1"};
    struct body_checklist said = {.hash = "h1", .meanings = lines_of(good, 1)};
    struct checklist l;
    checklist_take(&said, "lx01", &l);
    assert_true(has_meaning(&l, "mydriver: link dead"));
    checklist_fini(&l);
    body_checklist_fini(&said);
    /* Those that are not understood leave the defaults. */
    said = (struct body_checklist){.hash = "h2", .meanings = lines_of(bad, 1)};
    checklist_take(&said, "lx01", &l);
    assert_non_null(l.meanings);
    assert_false(has_meaning(&l, "mydriver: link dead"));
    assert_true(has_meaning(&l, "NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus."));
    checklist_fini(&l);
    body_checklist_fini(&said);
}

/* --- files ------------------------------------------------------------------------------------ */

static void test_a_file_is_this_node_s(void **state)
{
    struct tree *t = *state;
    struct checklist l;
    struct err e = {0};
    char path[64];
    snprintf(path, sizeof path, "%s/checks.conf", t->root);
    assert_int_equal(checklist_read(path, "lx01", &l, &e), -ENOENT);
    tree_add(t, "checks.conf", "Check=a Probe=load\nCheck=b Probe=load Nodes=lx02\n");
    assert_int_equal(checklist_read(path, "lx01", &l, &e), 0);
    assert_int_equal(l.checks.n, 1);
    assert_string_equal(l.hash, "");
    assert_non_null(l.meanings);
    checklist_fini(&l);
    tree_add(t, "checks.conf", "Check=a\n");
    assert_true(checklist_read(path, "lx01", &l, &e) < 0);
    assert_memory_equal(e.msg, path, strlen(path));
    assert_int_equal(checklist_read(NULL, "lx01", &l, &e), 0);
    assert_true(l.checks.n > 0); /* the defaults */
    checklist_fini(&l);
}

static void test_the_copy_comes_before_the_node_s_own_file(void **state)
{
    struct tree *t = *state;
    struct checklist l;
    struct err e = {0};
    char *body = NULL;
    CLEANUP_TEXT struct text copy = {0};
    assert_int_equal(checklist_load(t->root, t->root, "lx01", &l, &body, &e), -ENOENT);
    tree_add(t, CHECKLIST_OWN_PATH, "Check=own Probe=load\n");
    assert_int_equal(checklist_load(t->root, t->root, "lx01", &l, &body, &e), 0);
    assert_string_equal(l.checks.list[0].name, "own");
    assert_null(body);
    checklist_fini(&l);
    /* A damaged copy costs a line in the log. */
    assert_int_equal(home_write(t->root, CHECKLIST_FILE, "{\"order\":1}", false, &e), 0);
    assert_int_equal(checklist_copy(t->root, "lx01", &l, &body, &e), -EILSEQ);
    assert_non_null(strstr(e.msg, "/checklist: it is no list that was signed"));
    assert_int_equal(checklist_load(t->root, t->root, "lx01", &l, &body, &e), 0);
    assert_string_equal(l.checks.list[0].name, "own");
    assert_null(body);
    checklist_fini(&l);
    text_add(&copy, "{\"signed\":");
    text_add_json(&copy, "{\"hash\":\"h3\",\"revision\":3,\"lines\":[\"Check=said Probe=load\"]}");
    text_add(&copy, ",\"signature\":\"\"}");
    assert_int_equal(home_write(t->root, CHECKLIST_FILE, copy.s, false, &e), 0);
    if (checklist_load(t->root, t->root, "lx01", &l, &body, &e))
        fail_msg("%s", e.msg);
    assert_string_equal(l.hash, "h3");
    assert_string_equal(l.checks.list[0].name, "said");
    assert_string_equal(body, copy.s);
    free(body);
    checklist_fini(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_node_takes_its_own_records_of_the_controller_s_list),
        cmocka_unit_test(test_a_list_has_a_limit),
        cmocka_unit_test(test_meanings_come_with_the_list),
        IN_TREE(test_a_file_is_this_node_s),
        IN_TREE(test_the_copy_comes_before_the_node_s_own_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
