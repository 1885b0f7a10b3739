/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rows are chosen, in which order, and what is written of them. The table is
 * test/data/cli/nodes.json; the forms of output are compared with files beside it
 * (FETTLE_GOLDEN=write makes them anew: read the difference).
 */
#include "cli/view.h"
#include "lib/value.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fettle_answer *nodes;

static char *read_file(const char *name, size_t *len)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", TEST_DATA, name);
    FILE *f = fopen(path, "re");
    if (!f)
        return NULL;
    char *bytes = calloc(1, 65536);
    *len = fread(bytes, 1, 65535, f);
    fclose(f);
    return bytes;
}

static void golden_check(const char *name, const struct text *text)
{
    size_t len = 0;
    if (getenv("FETTLE_GOLDEN")) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", TEST_DATA, name);
        FILE *f = fopen(path, "we");
        assert_non_null(f);
        fwrite(text->s, 1, text->len, f);
        fclose(f);
    }
    CLEANUP_FREE char *wanted = read_file(name, &len);
    assert_non_null(wanted);
    assert_string_equal(text->s ? text->s : "", wanted);
    assert_int_equal(text->len, len);
}

static int load(void **state)
{
    size_t len = 0;
    char *bytes = read_file("nodes.json", &len);
    return bytes ? answer_read(bytes, len, &nodes, NULL) : -1;
}

static int unload(void **state)
{
    fettle_answer_free(nodes);
    return 0;
}

static void take(struct rows *r, const struct query *q)
{
    rows_add(r, q, fettle_answer_value(nodes));
    rows_order(r, q);
}

/* The names that are left, in order, with blanks between. */
static const char *chosen(const char *sort, const char *const *args, size_t n)
{
    static char names[1024];
    struct query q = {.record = record_info(RECORD_NODE)};
    struct rows r = {0};
    struct err e = {0};
    names[0] = '\0';
    if (query_show(&q, "name", &e) < 0 || (sort && query_sort(&q, sort, &e) < 0) ||
        query_args(&q, args, n, &e) < 0)
        snprintf(names, sizeof names, "%s", e.msg);
    else
        take(&r, &q);
    size_t len = 0;
    for (size_t i = 0; i < r.n; i++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", i > 0 ? " " : "",
                                cell_text(rows_cell(&r, i, 0)));
    rows_fini(&r);
    query_fini(&q);
    return names;
}

static void filters_choose(void **state)
{
    static const struct {
        const char *filter, *names;
    } cases[] = {
        {"State=DOWN", "lx10"},
        {"state=down", "lx10"},
        {"State=DOWN,DRAINED", "lx03 lx10"},
        {"State!=DOWN,DRAINED", "lx01 lx02 lx2 lx04"},
        {"CPUs=64", "lx01 lx02 lx04"},
        {"CPUs>=64", "lx01 lx02 lx03 lx04"},
        {"CPUs>64", "lx03"},
        {"CPUs<64", "lx10"},
        {"CPUs<=8", "lx10"},
        {"CPUs!=64", "lx03 lx10"},
        {"Silent!=4", "lx02 lx03 lx2"},
        {"Health=unknown", "lx10"},
        {"Health!=ok", "lx02"},
        {"Health!=", "lx01 lx02 lx03 lx04"},
        {"Health>ok", ""},
        {"Health~unk", "lx10"},
        {"CPUs=", "lx2"},
        {"CPUs!=", "lx01 lx02 lx03 lx10 lx04"},
        {"Speed=863.8", "lx01 lx04"},
        {"Speed>863.8", "lx02 lx03 lx10"},
        {"Partition=1", "lx01 lx02 lx04"},
        {"Partition=1,3", "lx01 lx02 lx10 lx04"},
        {"Partition!=1", "lx03 lx10 lx2"},
        {"Partition=", "lx03 lx2"},
        {"Partitions=batch", "lx01 lx02 lx04"},
        {"Partitions=Batch,3", "lx01 lx02 lx10 lx04"},
        {"Partition=batch", "Partition has numbers, and \"batch\" is none; Partitions=batch chooses by name"},
        {"Running~4712", "lx02"},
        {"Schedulable=no", "lx03 lx10 lx2"},
        {"Schedulable=yes", "lx01 lx02 lx04"},
        {"Silent>3m", "lx03"},
        {"Silent>=192", "lx03"},
        {"Silent=", "lx10"},
        {"LastResponse<1795207317", "lx02 lx03 lx2"},
        {"Why~DISK, ", "lx03"},
        {"Why=", "lx01 lx02 lx04"},
        {"Name<lx03", "lx01 lx02 lx2"},
        {"Name~lx0", "lx01 lx02 lx03 lx04"},
        {"Stat=DOWN", "unknown field \"Stat\"; the nearest known is \"State\""},
        {"Last<1795207317", "lx02 lx03 lx2"},
        {"State=DWON", "State is never \"DWON\"; the nearest known is \"DOWN\""},
        {"Lifecycle!=idle", "Lifecycle is never \"idle\""},
        {"=DOWN", "\"=DOWN\" is not a filter: FIELD=VALUE, or one of != < <= > >= ~"},
        {"CPUs>many", "CPUs is compared with \"many\", which is not a number"},
        {"Schedulable=perhaps", "Schedulable: \"perhaps\" is neither yes nor no"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const args[] = {cases[i].filter};
        const char *names = chosen(NULL, args, 1);
        if (strcmp(names, cases[i].names) != 0)
            fail_msg("%s: %s", cases[i].filter, names);
    }
}

static void several_filters_are_all_to_be_passed(void **state)
{
    static const char *const args[] = {"CPUs>=64", "Partition=3", "Silent<100"};
    assert_string_equal(chosen(NULL, args, 3), "lx01 lx04");
}

static void rows_are_sorted(void **state)
{
    assert_string_equal(chosen("name", NULL, 0), "lx01 lx2 lx02 lx03 lx04 lx10");
    assert_string_equal(chosen("-Name", NULL, 0), "lx10 lx04 lx03 lx02 lx2 lx01");
    assert_string_equal(chosen("cpus,-name", NULL, 0), "lx10 lx04 lx02 lx01 lx03 lx2");
    assert_string_equal(chosen("-CPUs", NULL, 0), "lx03 lx01 lx02 lx04 lx10 lx2");
    assert_string_equal(chosen("State", NULL, 0), "lx02 lx10 lx03 lx01 lx04 lx2");
    assert_string_equal(chosen("silent", NULL, 0), "lx2 lx01 lx04 lx02 lx03 lx10");
    assert_string_equal(chosen("nmae", NULL, 0), "unknown field \"nmae\"; the nearest known is \"Name\"");
}

static void names_compare_as_people_count(void **state)
{
    static const char *const order[] = {"",     "9",     "lx",     "lx1",  "lx01", "lx2",
                                        "lx10", "lx10a", "lx10b1", "lx11", "ly"};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        for (size_t j = 0; j < sizeof order / sizeof order[0]; j++)
            assert_int_equal(query_natural(order[i], order[j]), i < j ? -1 : i > j);
}

static void host_lists_of_arguments_are_joined(void **state)
{
    static const char *const args[] = {"lx[01-03]", "CPUs>1", "lx04,lx07", "lx09!lx02"};
    struct query q = {.record = record_info(RECORD_NODE)};
    struct err e = {0};
    query_show(&q, "name", &e);
    assert_int_equal(query_args(&q, args, 4, &e), 0);
    assert_string_equal(q.nodes, "lx[01,03-04,07,09]");
    assert_int_equal(q.n_filters, 1);
    query_fini(&q);
    static const char *const wrong[] = {"lx[01-"};
    assert_int_equal(query_args(&q, wrong, 1, &e), -EINVAL);
    static const char *const none[] = {"lx1!lx1"};
    assert_int_equal(query_args(&q, none, 1, &e), -EINVAL);
    query_fini(&q);
}

static void only_used_fields_are_asked_for(void **state)
{
    static const char *const args[] = {"Silent>1"};
    struct query q = {.record = record_info(RECORD_NODE)};
    CLEANUP_TEXT struct text fields = {0};
    query_show(&q, "State, name,state", NULL);
    query_sort(&q, "-cpus,name", NULL);
    query_args(&q, args, 1, NULL);
    query_fields(&q, &fields);
    assert_string_equal(fields.s, "State,Name,CPUs,Silent");
    assert_int_equal(q.shown, 2);
    query_fini(&q);
}

static void check_view(const char *golden, const char *fields, const char *filter, struct view v)
{
    struct query q = {.record = record_info(RECORD_NODE)};
    struct rows r = {0};
    CLEANUP_TEXT struct text out = {0};
    assert_int_equal(query_show(&q, fields, NULL), 0);
    if (v.form == FORM_FOLD)
        query_need(&q, FIELD_NAME);
    if (filter)
        assert_int_equal(query_filter(&q, filter, NULL), 0);
    take(&r, &q);
    view_write(&v, &q, &r, &out);
    golden_check(golden, &out);
    rows_fini(&r);
    query_fini(&q);
}

static const char STANDARD[] = "Name,State,CPUs,RealMemory,Partitions,Why";
static const char MORE[] = "Silent,Speed,Name,LastResponse,Schedulable,Running";

static void tables_fit(void **state)
{
    check_view("table.txt", STANDARD, NULL, (struct view){.form = FORM_TABLE, .look = {.header = true}});
    check_view("table_more.txt", MORE, NULL, (struct view){.form = FORM_TABLE, .look = {.header = true}});
    check_view("table_bare.txt", STANDARD, NULL, (struct view){.form = FORM_TABLE});
    check_view("table_none.txt", STANDARD, "CPUs=3",
               (struct view){.form = FORM_TABLE, .look = {.header = true}});
    check_view("table_colour.txt", "Name,State,CPUs", NULL,
               (struct view){.look = {.header = true, .colour = true}});
}

static void a_column_without_anything_is_hidden(void **state)
{
    struct query q = {.record = record_info(RECORD_NODE)}, shown;
    struct rows r = {0};
    CLEANUP_TEXT struct text out = {0};
    query_show(&q, "Name,Drift,CPUs", NULL);
    query_filter(&q, "Name=lx03", NULL);
    query_sort(&q, "Silent", NULL);
    take(&r, &q);
    shown = q;
    rows_hide_empty(&r, &shown, FIELD_CPUS);  /* it has something */
    rows_hide_empty(&r, &shown, FIELD_XNAME); /* nobody asked for it */
    assert_int_equal(shown.shown, 3);
    rows_hide_empty(&r, &shown, FIELD_DRIFT);
    assert_int_equal(shown.shown, 2);
    assert_int_equal(shown.place[FIELD_SILENT], 3);
    assert_int_equal(shown.place[FIELD_DRIFT], 4);
    view_write(&(struct view){.look = {.header = true}}, &shown, &r, &out);
    assert_string_equal(out.s, "NAME  CPUS\n"
                               "lx03   128\n");
    rows_fini(&r);
    query_fini(&q);
}

static void a_value_that_is_too_wide_is_cut_with_a_mark(void **state)
{
    struct query q = {.record = record_info(RECORD_NODE)};
    struct view v = {.look = {.header = true, .width = 30}};
    struct rows r = {0};
    CLEANUP_TEXT struct text out = {0};
    query_show(&q, "Name,CPUs,Why", NULL);
    query_filter(&q, "Name=lx03", NULL);
    take(&r, &q);
    view_write(&v, &q, &r, &out);
    assert_string_equal(out.s, "NAME  CPUS  WHY\n"
                               "lx03   128  drained by ada: d\u2026\n");
    v.look.width = 200;
    text_clear(&out);
    view_write(&v, &q, &r, &out);
    assert_null(strstr(out.s, "\u2026"));
    rows_fini(&r);
    query_fini(&q);
}

static void json_keeps_the_values(void **state)
{
    check_view("nodes_out.json", MORE, NULL, (struct view){.form = FORM_JSON});
    check_view("nodes_why.json", "Name,Why", "Why!=", (struct view){.form = FORM_JSON});
    check_view("nodes_none.json", "Name", "CPUs=3", (struct view){.form = FORM_JSON});
}

static void csv_quotes(void **state)
{
    check_view("nodes.csv", STANDARD, NULL, (struct view){.form = FORM_CSV, .look = {.header = true}});
    check_view("nodes_more.csv", MORE, NULL, (struct view){.form = FORM_CSV});
}

static void folding_groups(void **state)
{
    check_view("fold_names.txt", "Name", NULL, (struct view){.form = FORM_FOLD});
    check_view("fold_states.txt", "Name,State,CPUs", NULL, (struct view){.form = FORM_FOLD});
    check_view("fold_state.txt", "Schedulable", NULL, (struct view){.form = FORM_FOLD});
    check_view("fold_none.txt", "Name", "CPUs=3", (struct view){.form = FORM_FOLD});
}

static void nothing_unsafe_is_printed(void **state)
{
    static const struct {
        const char *in, *out;
        size_t columns;
    } cases[] = {
        {"plain", "plain", 5},
        {"a\tb\nc", "a\\x09b\\x0ac", 11},
        {"\x1b]0;x\a", "\\x1b]0;x\\x07", 12},
        {"\x7f", "\\x7f", 4},
        {"\xc2\x9b", "\\x9b", 4},
        {"\xe2\x80\xae", "\\u202e", 6},
        {"\xff\xc3", "\\xff\\xc3", 8},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 3},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80", 12},
        {"back\\slash", "back\\slash", 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP_TEXT struct text t = {0};
        assert_int_equal(print_safe(&t, cases[i].in), cases[i].columns);
        assert_string_equal(t.s, cases[i].out);
    }
    CLEANUP_TEXT struct text json = {0};
    print_json_string(&json, "\x1b\"\\\n\xc2\x9b\xff\xc3\xa9");
    assert_string_equal(json.s, "\"\\u001b\\\"\\\\\\n\\u009b\\ufffd\xc3\xa9\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_choose),
        cmocka_unit_test(several_filters_are_all_to_be_passed),
        cmocka_unit_test(rows_are_sorted),
        cmocka_unit_test(names_compare_as_people_count),
        cmocka_unit_test(host_lists_of_arguments_are_joined),
        cmocka_unit_test(only_used_fields_are_asked_for),
        cmocka_unit_test(tables_fit),
        cmocka_unit_test(a_column_without_anything_is_hidden),
        cmocka_unit_test(a_value_that_is_too_wide_is_cut_with_a_mark),
        cmocka_unit_test(json_keeps_the_values),
        cmocka_unit_test(csv_quotes),
        cmocka_unit_test(folding_groups),
        cmocka_unit_test(nothing_unsafe_is_printed),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
