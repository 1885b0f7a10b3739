/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/fingerprint/reading.h"

#include "agent/fingerprint/uevent.h"
#include "base/json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char BOOT[] = "6e8f4a52-0c1e-4c1b-9d3a-2f60c2a1b7de";

static void add(struct components *c, const char *name, enum component_state state, const char *value)
{
    assert_int_equal(components_add(c, name, state, value, NULL), 0);
}

/* A list of n components with values of `bytes` characters. */
static void fill(struct components *c, int n, int bytes, char with)
{
    char name[64];
    CLEANUP_FREE char *value = mem_alloc((size_t)bytes + 1);
    memset(value, with, (size_t)bytes);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "command.%05d", i);
        add(c, name, COMPONENT_VALUE, value);
    }
    assert_int_equal(components_sort(c, NULL), 0);
}

static void take(struct reading *r, struct components *c, uint64_t packages_stamp)
{
    CLEANUP_TEXT struct text report = {0};
    struct err e = {0};
    assert_int_equal(components_sort(c, NULL), 0);
    reading_report(c, &(struct reading_stamps){17, packages_stamp, 19}, &report);
    assert_true(report.len <= READING_REPORT_BYTES_MAX);
    if (reading_take(r, report.s, report.len, &e))
        fail_msg("%s", e.msg);
}

/* Puts the parts together again as a controller does. The number of parts. */
static size_t join(const struct reading *r, struct components *out)
{
    size_t at = 0, len, n = 0;
    char hex[FINGERPRINT_HEX + 1];
    for (const char *body; (body = reading_next_part(r, &at, &len)); n++) {
        uint64_t part, parts;
        const char *said;
        assert_true(len <= READING_PART_BYTES_MAX);
        CLEANUP_JSON json_t *json = json_read(body, len, NULL);
        assert_int_equal(json_take_u64(json, "part", 1000, &part, NULL), 0);
        assert_int_equal(json_take_u64(json, "parts", 1000, &parts, NULL), 0);
        assert_int_equal(json_take_string(json, "fingerprint", &said, NULL), 0);
        assert_int_equal(part, n);
        assert_true(part < parts);
        assert_string_equal(said, fingerprint_format(&r->fingerprint, hex));
        assert_int_equal(components_parse(out, json, NULL), 0);
    }
    assert_int_equal(components_sort(out, NULL), 0);
    return n;
}

static void the_parts_are_the_list_that_the_fingerprint_names(void **state)
{
    static const struct {
        int n, bytes;
        char with;
        size_t parts_min, parts_max;
    } rows[] = {
        {0, 0, 'x', 1, 1},        {1, 10, 'x', 1, 1},          {3000, 20, 'x', 2, 4},
        {180, 4096, 'x', 18, 22}, {180, 4096, '\1', 180, 180}, {15000, 30, '"', 10, 40},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct components c = {0}, again = {0};
        struct reading r = {0};
        fill(&c, rows[i].n, rows[i].bytes, rows[i].with);
        take(&r, &c, 0);
        size_t n = join(&r, &again);
        if (n < rows[i].parts_min || n > rows[i].parts_max)
            fail_msg("row %zu: %zu parts", i, n);
        struct fingerprint one = components_fingerprint(&c), other = components_fingerprint(&again);
        assert_true(fingerprint_equal(&one, &other));
        assert_true(fingerprint_equal(&one, &r.fingerprint));
        components_fini(&c);
        components_fini(&again);
        reading_fini(&r);
    }
}

static void every_state_comes_through(void **state)
{
    struct components c = {0}, again = {0};
    struct reading r = {0};
    add(&c, "kernel.release", COMPONENT_VALUE, "6.1.0\n\"x\"");
    add(&c, "cxi.count", COMPONENT_ABSENT, "");
    add(&c, "gpu.*", COMPONENT_UNKNOWN, "no answer in 5 s");
    take(&r, &c, 0);
    assert_int_equal(join(&r, &again), 1);
    assert_int_equal(again.n, 3);
    struct fingerprint one = components_fingerprint(&c), other = components_fingerprint(&again);
    assert_true(fingerprint_equal(&one, &other));
    components_fini(&c);
    components_fini(&again);
    reading_fini(&r);
}

static const char *said(struct reading *r, struct text *t)
{
    text_clear(t);
    return reading_say(r, BOOT, t) ? t->s : NULL;
}

static void says_a_new_one_in_full_and_an_unchanged_one_in_21_bytes(void **state)
{
    struct components c = {0};
    struct reading r = {0};
    CLEANUP_TEXT struct text t = {0}, whole = {0};
    char hex[FINGERPRINT_HEX + 1];
    assert_null(said(&r, &t)); /* nothing was read */
    add(&c, "kernel.release", COMPONENT_VALUE, "6.1.0");
    take(&r, &c, 0);
    text_printf(&whole, "{\"fingerprint\":\"%s\",\"boot\":\"%s\"}", fingerprint_format(&r.fingerprint, hex),
                BOOT);
    assert_string_equal(said(&r, &t), whole.s);
    take(&r, &c, 0);
    assert_string_equal(said(&r, &t), "{\"same\":true}");
    assert_int_equal(t.len + 8, 21);
    r.told_any = false; /* a new link */
    assert_string_equal(said(&r, &t), whole.s);
    add(&c, "kernel.version", COMPONENT_VALUE, "1");
    take(&r, &c, 0);
    assert_string_not_equal(said(&r, &t), whole.s);
    components_fini(&c);
    reading_fini(&r);
}

static void an_unknown_fingerprint_is_not_said(void **state)
{
    struct components c = {0};
    struct reading r = {0};
    CLEANUP_TEXT struct text t = {0};
    take(&r, &c, 0);
    assert_non_null(said(&r, &t));
    reading_forget(&r);
    assert_null(said(&r, &t));
    take(&r, &c, 0);
    assert_string_equal(said(&r, &t), "{\"same\":true}");
    reading_fini(&r);
}

static void a_damaged_report_changes_nothing(void **state)
{
    struct components c = {0};
    struct reading r = {0};
    CLEANUP_TEXT struct text report = {0};
    fill(&c, 3, 10, 'x');
    take(&r, &c, 0);
    struct fingerprint before = r.fingerprint;
    reading_report(&c, &(struct reading_stamps){1, 2, 3}, &report);
    for (size_t len = 0; len < report.len; len++)
        assert_int_equal(reading_take(&r, report.s, len, NULL), -EINVAL);
    report.s[5] = 'X';
    assert_int_equal(reading_take(&r, report.s, report.len, NULL), -EINVAL);
    assert_true(r.known && fingerprint_equal(&before, &r.fingerprint));
    components_fini(&c);
    reading_fini(&r);
}

static void the_packages_come_back_from_the_report(void **state)
{
    struct components c = {0};
    struct reading r = {0};
    struct survey_cache cache = {0};
    reading_packages(&r, &cache);
    assert_int_equal(cache.packages_stamp, 0);
    fill(&c, 500, 200, 'x'); /* several parts */
    add(&c, "package.bash", COMPONENT_VALUE, "5.2 amd64");
    add(&c, "package.zsh", COMPONENT_VALUE, "5.9 amd64");
    take(&r, &c, 99);
    assert_int_equal(r.stamps.files, 17);
    assert_int_equal(r.stamps.glance, 19);
    reading_packages(&r, &cache);
    assert_int_equal(cache.packages_stamp, 99);
    assert_int_equal(cache.packages.n, 2);
    assert_string_equal(cache.packages.list[1].name, "package.zsh");
    assert_string_equal(cache.packages.list[1].value, "5.9 amd64");
    survey_cache_fini(&cache);
    components_fini(&c);
    reading_fini(&r);
}

static void packages_that_are_not_all_there_are_no_cache(void **state)
{
    struct components c = {0};
    struct reading r = {0};
    struct survey_cache cache = {0};
    add(&c, "package.bash", COMPONENT_VALUE, "5.2 amd64");
    add(&c, "package.*", COMPONENT_UNKNOWN, "rpm does not answer");
    take(&r, &c, 99);
    reading_packages(&r, &cache);
    assert_int_equal(cache.packages_stamp, 0);
    assert_int_equal(cache.packages.n, 0);
    components_fini(&c);
    reading_fini(&r);
}

static void knows_which_of_the_kernels_messages_matter(void **state)
{
#define M(action, path, kind) \
    action "@" path "\0ACTION=" action "\0DEVPATH=" path "\0SUBSYSTEM=" kind "\0SEQNUM=9"
    static const struct {
        bool matters;
        const char *message;
        size_t len;
    } rows[] = {
#define ROW(matters, m) {matters, m, sizeof(m)}
        ROW(true, M("add", "/module/nvidia", "module")),
        ROW(true, M("remove", "/module/nvidia", "module")),
        ROW(true, M("unbind", "/devices/pci0000:00/0000:00:02.0", "pci")),
        ROW(true, M("remove", "/devices/pci0000:00/0000:00:03.0/net/eth1", "net")),
        ROW(false, M("add", "/devices/virtual/net/veth0", "net")),
        ROW(false, M("change", "/devices/pci0000:00/0000:00:02.0", "pci")),
        ROW(false, M("add", "/devices/system/cpu/cpu3", "cpu")),
        {false, M("add", "/module/nvidia", "module"), 30}, /* cut */
        {false, "", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (uevent_matters(rows[i].message, rows[i].len) != rows[i].matters)
            fail_msg("row %zu", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parts_are_the_list_that_the_fingerprint_names),
        cmocka_unit_test(every_state_comes_through),
        cmocka_unit_test(says_a_new_one_in_full_and_an_unchanged_one_in_21_bytes),
        cmocka_unit_test(an_unknown_fingerprint_is_not_said),
        cmocka_unit_test(a_damaged_report_changes_nothing),
        cmocka_unit_test(the_packages_come_back_from_the_report),
        cmocka_unit_test(packages_that_are_not_all_there_are_no_cache),
        cmocka_unit_test(knows_which_of_the_kernels_messages_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
