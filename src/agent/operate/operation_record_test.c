/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/operate/operation_record.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define BOOT "6e8f4a52-0c1e-4c1b-9d3a-2f60c2a1b7de"

static void keeps_the_last_sixteen(void **state)
{
    struct operation_records d = {0}, back = {0};
    CLEANUP_TEXT struct text all = {0};
    for (int i = 0; i < 20; i++) {
        char id[8];
        snprintf(id, sizeof id, "c%d", i);
        struct operation_record *k = operation_records_add(&d, id, BOOT, i == 19, OPERATION_BEGUN);
        k->cures = mem_dup(i == 4 ? "xid.79 xid.48" : NULL);
        operation_record_set(k, OPERATION_DONE, "a \"text\"\n", i ? NULL : "{}");
    }
    d.term = 7;
    snprintf(d.origin, sizeof d.origin, "0123456789abcdef");
    assert_int_equal(d.n, OPERATION_RECORDS_MAX);
    assert_null(operation_records_find(&d, "c3"));
    operation_records_format(&d, &all);
    assert_int_equal(operation_records_parse(&back, all.s, NULL), 0);
    assert_int_equal(back.term, 7);
    assert_string_equal(back.origin, "0123456789abcdef");
    assert_int_equal(back.n, OPERATION_RECORDS_MAX);
    assert_string_equal(operation_records_find(&back, "c4")->op.text, "a \"text\"\n");
    assert_string_equal(operation_records_find(&back, "c4")->cures, "xid.79 xid.48");
    assert_null(operation_records_find(&back, "c5")->cures);
    assert_true(operation_records_find(&back, "c19")->reboot);
    operation_records_fini(&d);
    operation_records_fini(&back);
}

/* However many others were asked for meanwhile, and refused. */
static void an_operation_under_way_is_not_forgotten(void **state)
{
    struct operation_records d = {0};
    operation_records_add(&d, "long", BOOT, false, OPERATION_BEGUN);
    for (int i = 0; i < 40; i++) {
        char id[8];
        snprintf(id, sizeof id, "c%d", i);
        operation_record_set(operation_records_add(&d, id, BOOT, false, OPERATION_REFUSED), OPERATION_REFUSED,
                             "", NULL);
    }
    assert_non_null(operation_records_find(&d, "long"));
    assert_non_null(operation_records_find(&d, "c39"));
    assert_int_equal(d.n, OPERATION_RECORDS_MAX);
    operation_records_fini(&d);
}

static void damaged_records_are_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "[]",
        "{}",
        "{\"term\":1}",
        "{\"term\":1,\"operations\":{}}",
        "{\"term\":1,\"origin\":1,\"operations\":[]}",
        "{\"term\":1,\"origin\":\"a b\",\"operations\":[]}",
        "{\"term\":1,\"operations\":[1]}",
        ("{\"term\":1,\"operations\":[{\"id\":\"\",\"boot\":\"b\",\"state\":\"done\",\"text\":\"\","
         "\"reboot\":"
         "true}]}"),
        ("{\"term\":1,\"operations\":[{\"id\":\"c\",\"boot\":\"b\",\"state\":\"odd\",\"text\":\"\","
         "\"reboot\":"
         "true}]}"),
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct operation_records d = {0};
        struct err e = {0};
        assert_int_equal(operation_records_parse(&d, wrong[i], &e), -EILSEQ);
        assert_int_equal(d.n, 0);
        assert_int_not_equal(e.msg[0], 0);
    }
}

static void set_text(const char *text, const char *want)
{
    struct operation_record k;
    operation_record_init(&k, "c1", BOOT);
    operation_record_set(&k, OPERATION_FAILED, text, NULL);
    assert_string_equal(k.op.text, want);
    assert_int_equal(k.op.state, OPERATION_FAILED);
    operation_record_fini(&k);
}

static void a_long_text_keeps_its_end(void **state)
{
    char text[OPERATION_TEXT_BYTES_MAX + 2];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    text[0] = 'a';
    text[1] = 'b';
    set_text(text + 1, text + 1); /* as long as may be */
    set_text(text, text + 1);
    set_text("bell\a esc\033 del\177 tab\t line\n", "bell  esc  del  tab\t line\n");
}

static void operations_of_an_agent_that_ended_are_settled(void **state)
{
    struct operation_records d = {0};
    static const char other[] = "00000000-0c1e-4c1b-9d3a-2f60c2a1b7de";
    operation_records_add(&d, "reboot", BOOT, true, OPERATION_BEGUN);
    operation_records_add(&d, "here", other, true, OPERATION_BEGUN);
    operation_records_add(&d, "command", BOOT, false, OPERATION_BEGUN);
    operation_records_add(&d, "running", BOOT, false, OPERATION_BEGUN);
    operation_records_add(&d, "done", BOOT, false, OPERATION_DONE);
    assert_true(operation_records_settle(&d, other, "running"));
    assert_int_equal(operation_records_find(&d, "reboot")->op.state, OPERATION_DONE);
    assert_string_equal(operation_records_find(&d, "reboot")->op.text, "this is another boot");
    assert_int_equal(operation_records_find(&d, "here")->op.state, OPERATION_UNKNOWN);
    assert_int_equal(operation_records_find(&d, "command")->op.state, OPERATION_UNKNOWN);
    assert_string_equal(operation_records_find(&d, "command")->op.text, "the agent ended before it did");
    assert_int_equal(operation_records_find(&d, "running")->op.state, OPERATION_BEGUN);
    assert_false(operation_records_settle(&d, other, "running"));
    assert_true(operation_records_settle(&d, other, NULL));
    assert_int_equal(operation_records_find(&d, "running")->op.state, OPERATION_UNKNOWN);
    operation_records_fini(&d);
}

static void the_body_of_done_says_why_it_was_refused(void **state)
{
    struct operation_record k;
    CLEANUP_TEXT struct text done = {0}, refused = {0};
    operation_record_init(&k, "c1", BOOT);
    operation_record_set(&k, OPERATION_DONE, "a \"b\"", "{\"result\":\"ok\"}");
    operation_record_write(&k, &done);
    assert_string_equal(done.s,
                        "{\"id\":\"c1\",\"boot\":\"" BOOT "\",\"state\":\"done\",\"text\":\"a \\\"b\\\"\","
                        "\"verdict\":{\"result\":\"ok\"}}");
    operation_record_set(&k, OPERATION_REFUSED, "", NULL);
    k.op.refusal = REFUSAL_BUSY;
    operation_record_write(&k, &refused);
    CLEANUP_TEXT struct text want = {0};
    text_printf(&want,
                "{\"id\":\"c1\",\"boot\":\"" BOOT "\",\"state\":\"refused\",\"text\":\"\",\"code\":\"%s\"}",
                refusal_name(REFUSAL_BUSY));
    assert_string_equal(refused.s, want.s);
    operation_record_fini(&k);
}

static void they_are_kept_in_a_directory(void **state)
{
    struct operation_records d = {0}, back = {0};
    struct err e = {0};
    char home[] = "/tmp/fettle-records-XXXXXX", path[64];
    assert_non_null(mkdtemp(home));
    assert_int_equal(operation_records_load(&back, home, &e), 0); /* none yet */
    assert_int_equal(back.n, 0);
    operation_records_add(&d, "c1", BOOT, true, OPERATION_BEGUN);
    d.term = 9;
    assert_int_equal(operation_records_store(&d, home, &e), 0);
    assert_int_equal(operation_records_load(&back, home, &e), 0);
    assert_int_equal(back.term, 9);
    assert_true(operation_records_find(&back, "c1")->reboot);
    operation_records_fini(&back);
    snprintf(path, sizeof path, "%s/" OPERATION_RECORDS_FILE, home);
    int fd = open(path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(fd, "{}", 2), 2);
    close(fd);
    assert_int_equal(operation_records_load(&back, home, &e), -EILSEQ);
    assert_memory_equal(e.msg, path, strlen(path));
    assert_int_equal(back.n, 0);
    unlink(path);
    rmdir(home);
    operation_records_fini(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_last_sixteen),
        cmocka_unit_test(an_operation_under_way_is_not_forgotten),
        cmocka_unit_test(damaged_records_are_refused),
        cmocka_unit_test(a_long_text_keeps_its_end),
        cmocka_unit_test(operations_of_an_agent_that_ended_are_settled),
        cmocka_unit_test(the_body_of_done_says_why_it_was_refused),
        cmocka_unit_test(they_are_kept_in_a_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
