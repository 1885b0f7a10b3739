/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/uplink/body.h"

#include "agent/uplink/frame_test.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void reads_checklists_line_by_line(void **state)
{
    static const char *const wrong[] = {"{}", "{\"hash\":\"\"}", "{\"hash\":\"h\",\"lines\":{}}",
                                        "{\"hash\":\"h\",\"lines\":[1]}",
                                        "{\"hash\":\"h\",\"meanings\":[\"a\\nb\"]}"};
    struct body_checklist l;
    assert_int_equal(
        READ(body_read_checklist, FRAME_CHECKLIST,
             "{\"hash\":\"h1\",\"lines\":[\"Check=time\",\"Check=zombies\"],\"meanings\":[\"Xid=1\"]}", &l,
             NULL),
        0);
    assert_string_equal(l.hash, "h1");
    assert_int_equal(l.lines.n, 2);
    assert_string_equal(l.lines.names[1], "Check=zombies");
    assert_string_equal(l.meanings.names[0], "Xid=1");
    body_checklist_fini(&l);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(READ(body_read_checklist, FRAME_CHECKLIST, wrong[i], &l, NULL), -EINVAL);
}

#define ACT(deadline, more)                                                                      \
    "{\"id\":\"c1\",\"term\":3,\"origin\":\"0a\",\"run\":\"reboot\",\"boot\":\"b1\",\"deadline_" \
    "ms\":" deadline more "}"

#define FORGET(more)                                                                                    \
    "{\"id\":\"c1\",\"term\":3,\"origin\":\"0a\",\"run\":\"forget\",\"boot\":\"b1\",\"deadline_ms\":5," \
    "\"cures\":"                                                                                        \
    "\"xid.79\"" more "}"

static void reads_operations(void **state)
{
    static const char *const wrong[] = {"{}",
                                        "{\"tell\":1}",
                                        ACT("0", ""),
                                        ACT("1814400001", ""),
                                        ACT("5", ",\"cures\":1"),
                                        ACT("5", ",\"nodes\":7"),
                                        ACT("5", ",\"rank\":65536"),
                                        FORGET(""),
                                        FORGET(",\"until\":-1"),
                                        "{\"end\":\"a b\"}",
                                        "{\"id\":\"a b\"}"};
    struct body_act a;
    assert_int_equal(READ(body_read_act, FRAME_ACT, ACT("5000", ""), &a, NULL), 0);
    assert_false(a.tell || *a.cures);
    assert_string_equal(a.id, "c1");
    assert_string_equal(a.run, "reboot");
    assert_string_equal(a.boot, "b1");
    assert_int_equal(a.term, 3);
    assert_string_equal(a.origin, "0a");
    assert_int_equal(span_to_ms(a.deadline), 5000);
    assert_int_equal(READ(body_read_act, FRAME_ACT, ACT("5000", ",\"cures\":\"xid.79 xid.48\""), &a, NULL),
                     0);
    assert_string_equal(a.cures, "xid.79 xid.48");
    assert_int_equal(READ(body_read_act, FRAME_ACT, FORGET(",\"until\":77"), &a, NULL), 0);
    assert_int_equal(a.until, 77);
    assert_int_equal(READ(body_read_act, FRAME_ACT, "{\"tell\":true}", &a, NULL), 0);
    assert_true(a.tell);
    assert_int_equal(READ(body_read_act, FRAME_ACT, ACT("5000", ",\"nodes\":\"a,b\",\"rank\":1"), &a, NULL),
                     0);
    assert_string_equal(a.nodes, "a,b");
    assert_int_equal(a.rank, 1);
    assert_int_equal(READ(body_read_act, FRAME_ACT, "{\"end\":\"pair\",\"term\":7}", &a, NULL), 0);
    assert_string_equal(a.end, "pair");
    assert_int_equal(a.term, 7);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(READ(body_read_act, FRAME_ACT, wrong[i], &a, NULL), -EINVAL);
}

#define ABAB "abababababababababababababababababababababababababababababababab"

static void reads_what_is_made_of_a_fingerprint(void **state)
{
    struct body_standing s;
    assert_int_equal(
        READ(body_read_standing, FRAME_STANDING,
             "{\"fingerprint\":\"" ABAB "\",\"nonce\":\"n1\",\"why\":\"kernel.release (major)\"}", &s, NULL),
        0);
    assert_int_equal(s.fingerprint.bytes[31], 0xab);
    assert_string_equal(s.nonce, "n1");
    assert_string_equal(s.why, "kernel.release (major)");
    assert_int_equal(
        READ(body_read_standing, FRAME_STANDING, "{\"fingerprint\":\"" ABAB "\",\"nonce\":\"n1\"}", &s, NULL),
        0);
    assert_string_equal(s.why, "");
    assert_int_equal(READ(body_read_standing, FRAME_STANDING, "{\"fingerprint\":\"" ABAB "\"}", &s, NULL),
                     -EINVAL);
    assert_int_equal(
        READ(body_read_standing, FRAME_STANDING, "{\"fingerprint\":\"ab\",\"nonce\":\"n\"}", &s, NULL),
        -EINVAL);
}

static void passes_frames_on_as_they_are(void **state)
{
    CLEANUP_TEXT struct text body = {0};
    struct frame checks = frame_of(FRAME_CHECKS, "{\"boot\":\"b1\",\"checks\":[]}");
    struct body_pass p;
    assert_int_equal(body_write_pass("lx02", &checks, &body, NULL), 0);
    assert_int_equal(READ(body_read_pass, FRAME_PASS, body.s, &p, NULL), 0);
    assert_string_equal(p.node, "lx02");
    assert_int_equal(p.type, FRAME_CHECKS);
    assert_string_equal(p.body, checks.body);
    free(p.body);
}

static void passes_on_nothing_else(void **state)
{
    static const char *const wrong[] = {
        "{}", "{\"node\":\"a b\",\"type\":20,\"body\":{}}", "{\"node\":\"lx02\",\"type\":7,\"body\":{}}",
        "{\"node\":\"lx02\",\"type\":20,\"body\":[]}", "{\"node\":\"lx02\",\"type\":20}"};
    CLEANUP_TEXT struct text body = {0}, much = {0};
    struct body_pass p;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(READ(body_read_pass, FRAME_PASS, wrong[i], &p, NULL), -EINVAL);
    struct frame bad = frame_of(FRAME_CHECKS, "[]");
    assert_int_equal(body_write_pass("lx02", &bad, &body, NULL), -EINVAL);
    text_printf(&much, "{\"a\":\"%065500d\"}", 0);
    bad = frame_of(FRAME_CHECKS, much.s);
    assert_int_equal(body_write_pass("lx02", &bad, &body, NULL), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_checklists_line_by_line),
        cmocka_unit_test(reads_operations),
        cmocka_unit_test(reads_what_is_made_of_a_fingerprint),
        cmocka_unit_test(passes_frames_on_as_they_are),
        cmocka_unit_test(passes_on_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
