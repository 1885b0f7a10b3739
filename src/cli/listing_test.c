/* SPDX-License-Identifier: Apache-2.0
 *
 * One mechanism for all that commands list: fields, forms, filters, order, and how many.
 */
#include "base/text.h"
#include "cli/command.h"
#include "cli/record.h"
#include "cli/run_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char incidents[] =
    "{\"incidents\":["
    "{\"id\":\"7\",\"node\":\"n2\",\"severity\":\"warn\",\"group\":\"\",\"since\":\"2026-11-20T01:00:00."
    "000Z\","
    "\"count\":12,\"recurs\":0,\"observe\":false,\"findings\":[{\"check\":\"fs.space\",\"text\":\"no: 2 "
    "%\"}]},"
    "{\"id\":\"8\",\"node\":\"n10\",\"severity\":\"fatal\",\"group\":\"gpu 0\",\"since\":"
    "\"2026-11-20T00:00:00.000Z\",\"count\":3,\"recurs\":1,\"observe\":true,\"findings\":["
    "{\"check\":\"kernel.log\",\"code\":\"xid.79\",\"text\":\"off, \\\"the\\\" bus\"}]}],"
    "\"shared\":[{\"key\":\"fs.mounted\",\"nodes\":\"n[1-9]\",\"severity\":\"fatal\",\"why\":\"all\"}]}";

static void expect_of(const char *answer, const char *line, const char *printed)
{
    char sent[4096];
    struct run r = run_with(line, 200, answer, sent);
    assert_string_equal(r.error, "");
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, printed);
}

static void expect(const char *options, const char *printed)
{
    CLEANUP_TEXT struct text line = {0};
    text_printf(&line, "incident list %s", options);
    expect_of(incidents, line.s, printed);
}

static void fields_are_chosen_and_headings_left_out(void **state)
{
    expect("-o fault,node", "FAULT       NODE\nfs.space    n2\nxid.79      n10\nfs.mounted  n[1-9]\n");
    expect("-o fault -H", "fs.space\nxid.79\nfs.mounted\n");
}

static void records_are_sorted_filtered_and_counted(void **state)
{
    expect("-o node -H --sort -node --where scope=node", "n10\nn2\n");
    expect("-o node -H --where severity=fatal --limit 1", "n10\n");
    expect("-o node -H --where count>5", "n2\n");
    expect("-o node -H --where what~BUS", "n10\n");
    expect("-o node -H --where observe=yes", "n10\n");
    expect("-o node -H --where For>1m --sort for", "n2\nn10\n"); /* by what stands above the column, too */
    expect("-o node -H --where since=", "n[1-9]\n");
}

static void json_is_an_array_of_records_with_the_fields_by_name(void **state)
{
    expect("-o json,node,count --where scope=node", "[\n {\"Node\":\"n2\",\"Count\":12},\n"
                                                    " {\"Node\":\"n10\",\"Count\":3}\n]\n");
    expect("-o node,since --json --limit 1",
           "[\n {\"Node\":\"n2\",\"Since\":\"2026-11-20T01:00:00.000Z\"}\n]\n");
    expect("-o json --where node=nobody", "[]\n");
    expect("-o json --where fault=xid.79",
           "[\n {\"Node\":\"n10\",\"Severity\":\"fatal\",\"Device\":\"gpu 0\",\"Fault\":\"xid.79\",\"Since\":"
           "\"2026-11-20T00:00:00.000Z\",\"Count\":3,\"What\":\"off, \\\"the\\\" bus\",\"Scope\":\"node\","
           "\"Act\":null,\"Last\":null,\"Closed\":null,\"Drains\":null,\"Recurs\":1,\"Observe\":true,\"Id\":"
           "\"8\",\"Boot\":null,\"Jobs\":null,"
           "\"Findings\":[{\"check\":\"kernel.log\",\"code\":\"xid.79\",\"text\":\"off, \\\"the\\\" bus\"}]}"
           "\n]\n");
}

static void yaml_says_the_same(void **state)
{
    expect("-o yaml,node,count,what,observe,findings --limit 1", "- Node: n2\n"
                                                                 "  Count: 12\n"
                                                                 "  What: \"no: 2 %\"\n"
                                                                 "  Observe: false\n"
                                                                 "  Findings:\n"
                                                                 "    - check: fs.space\n"
                                                                 "      text: \"no: 2 %\"\n");
    expect("-o yaml --where node=nobody", "[]\n");
    expect_of("{\"nodes\":{},\"on\":\"no\",\"list\":[[1,{\"a\":null}]],\"empty\":[]}", "status -o yaml",
              "---\n"
              "nodes: {}\n"
              "\"on\": \"no\"\n"
              "list:\n"
              "  -\n"
              "    - 1\n"
              "    - a: null\n"
              "empty: []\n");
}

static void csv_quotes_and_has_fields_by_name(void **state)
{
    expect("-o csv,fault,what", "Fault,What\r\nfs.space,no: 2 %\r\nxid.79,\"off, \"\"the\"\" bus\"\r\n"
                                "fs.mounted,all\r\n");
}

static void numbers_have_the_unit_that_is_shown(void **state)
{
    static const char choice[] = "{\"node\":\"n1\",\"open\":[],\"candidates\":[{\"remedy\":\"reboot\","
                                 "\"chance_ppm\":512345,\"own\":10500},"
                                 "{\"remedy\":\"cycle\",\"chance_ppm\":90000,\"own\":1500}]}";
    expect_of(choice, "remedy explain n1 -o remedy,chance,own --sort chance",
              "REMEDY  CHANCE   OWN\ncycle     9.0%   1.5\nreboot   51.2%  10.5\n");
    expect_of(choice, "remedy explain n1 -o remedy -H --where chance>50", "reboot\n");
    expect_of(choice, "remedy explain n1 -o json,chance,own --limit 1",
              "[\n {\"Chance\":51.2345,\"Own\":10.500}\n]\n");
}

static void an_answer_about_one_thing_is_one_object(void **state)
{
    expect_of("{\"node\":\"n1\",\"open\":[],\"candidates\":[]}", "remedy explain n1 -o json",
              "{\"node\":\"n1\",\"open\":[],\"candidates\":[]}\n");
}

static void help_lists_the_fields_with_units_and_meanings(void **state)
{
    struct run r = run("override list -o help", "/nowhere");
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "FIELD  HEADING      UNIT  MEANING\n"
                                  "Node   NODE         -     name of the node\n"));
    assert_non_null(strstr(r.out, "\nLeft   LEFT         s     time until it ends\n"));
    assert_non_null(strstr(r.out, "\nwithout -o  Node,By,Where,At,Until,Of,Why\n"));
}

static void wrong_words_are_told_before_anybody_is_asked(void **state)
{
    static const struct run_wrong cases[] = {
        {"incident list -o nod", "unknown field \"nod\"; the nearest known is \"Node\""},
        {"incident list -o node,,fault", "unknown field \"\"; \"-o help\" lists them"},
        {"incident list -o json,yaml", "yaml is one form of output, and there is another one already"},
        {"incident list -o json --csv", "json is one form of output, and there is another one already"},
        {"incident list --where count>many", "Count is compared with \"many\", which is not a number"},
        {"incident list --limit 0", "--limit: \"0\" is not a number from 1 to 4294967295"},
        {"incident list --sort zzz", "unknown field \"zzz\"; \"-o help\" lists them"},
        {"status -o name", "\"fettle status\" lists no records: -o json, or -o yaml"},
        {"watch -o json", "\"fettle watch\" shows a table, and no other form"},
    };
    run_expect_wrong(cases, sizeof cases / sizeof cases[0]);
}

/* A list of fields that names one that is not there would be noticed by its first user alone. */
static void every_record_shows_fields_that_it_has_and_its_command_is_there(void **state)
{
    for (enum record k = 0; k < RECORDS; k++) {
        const struct record_info *r = record_info(k);
        CLEANUP_TEXT struct text list = {0};
        text_printf(&list, "%s%s%s", r->shown, *r->wide ? "," : "", r->wide);
        for (char *rest = list.s, *name; (name = strsep(&rest, ","));) {
            size_t i;
            if (field_find(r->fields, r->n, name, strlen(name), &i, NULL) != 0)
                fail_msg("%s: %s", r->command, name);
        }
        size_t at = 0;
        while (at < commands_n && strcmp(commands[at].path, r->command) != 0)
            at++;
        if (at == commands_n || !(commands[at].options & UINT64_C(1) << OPTION_OUTPUT))
            fail_msg("no command \"%s\" with -o", r->command);
    }
}

static void colours_are_for_terminals_or_on_demand(void **state)
{
    expect("-o severity -H --limit 1", "warn\n");
    expect("-o severity -H --limit 1 --color=always", "\033[33mwarn\033[0m\n");
    expect("-o severity -H --limit 1 --color never", "warn\n");
    struct run r = run("incident list --color sometimes", "/nowhere");
    assert_string_equal(r.error, "--color sometimes: one of auto, always, never");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_chosen_and_headings_left_out),
        cmocka_unit_test(records_are_sorted_filtered_and_counted),
        cmocka_unit_test(json_is_an_array_of_records_with_the_fields_by_name),
        cmocka_unit_test(yaml_says_the_same),
        cmocka_unit_test(csv_quotes_and_has_fields_by_name),
        cmocka_unit_test(numbers_have_the_unit_that_is_shown),
        cmocka_unit_test(an_answer_about_one_thing_is_one_object),
        cmocka_unit_test(help_lists_the_fields_with_units_and_meanings),
        cmocka_unit_test(wrong_words_are_told_before_anybody_is_asked),
        cmocka_unit_test(every_record_shows_fields_that_it_has_and_its_command_is_there),
        cmocka_unit_test(colours_are_for_terminals_or_on_demand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
