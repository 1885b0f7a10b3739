/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands about remedies, repairs, the work queue, brakes and power: what is asked, and how the answer
 * reads.
 */
#include "base/text.h"
#include "cli/run_test.h"
#include "lib/stub_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void wrong_words_are_told_before_anybody_is_asked(void **state)
{
    static const struct run_wrong cases[] = {
        {"queue tkae n1", "\"queue\" has no \"tkae\", but: nothing, take, note, resolve, retire"},
        {"queue take", "usage: fettle queue take NODES..."},
        {"queue note n1", "why? \"fettle queue note\" needs --reason"},
        {"queue resolve n1 --reason _", "why? \"fettle queue resolve\" needs --reason"},
        {"queue retire -r old n1", "which nodes? name them before --reason, which takes the words after it"},
        {"repair move quarantien n1 -r x", "\"quarantien\" is no transition; the nearest is \"quarantine\""},
        {"repair move away n1 -r x",
         "\"away\" is no transition: human_intervention, manual_drain, quarantine, retire, "
         "maintenance, restart, maintenance_over"},
        {"repair move retire n1", "why? \"fettle repair move\" needs --reason"},
        {"repair numbers 3", "HOURS: \"3\" is not a number from 4 to 48"},
        {"repair", "\"repair\" needs one of: list, show, move, numbers"},
        {"refuse n1", "why? \"fettle refuse\" needs --reason"},
        {"approve n1 --remdy x", "unknown option \"--remdy\"; the nearest known is \"--remedy\""},
        {"aprove n1", "unknown command \"aprove\"; the nearest known is \"approve\""},
        {"power off n1", "why? \"fettle power\" needs --reason"},
        {"power status n1 --reason x", "\"power status\" changes nothing: no --reason, --force or --dry-run"},
        {"power cylce n1", "\"cylce\" is no verb; the nearest is \"cycle\""},
        {"power n1 cycle", "\"n1\" is no verb: status, on, off, cycle, reset, netboot"},
        {"brake stop", "why? \"fettle brake stop\" needs --reason"},
    };
    run_expect_wrong(cases, sizeof cases / sizeof cases[0]);
}

static void the_queue_says_the_wanted_tried_and_suggested_remedy(void **state)
{
    run_expect(
        "queue",
        "{\"queue\":[{\"node\":\"n1\",\"finding\":\"off the bus\",\"held\":\"locked in "
        "OpenCHAMI\",\"suggested\":\"renew\",\"open\":[{\"findings\":[{\"text\":\"off the "
        "bus\"}],\"jobs\":[{\"job\":\"47\",\"user\":\"ann\"}]},{\"findings\":[],\"jobs\":[{\"job\":\"47\","
        "\"user\":\"ann\"},{\"job\":\"48\",\"user\":\"bob\"}]}],\"repair\":{\"step\":\"queue\",\"began\":"
        "\"2026-11-20T00:00:00.000Z\",\"since\":\"@\","
        "\"approval\":\"none\",\"taken_by\":\"ann\",\"why\":\"none is left\",\"attempts\":["
        "{\"remedy\":\"cycle\",\"at\":\"2026-11-01T00:00:00.000Z\"},"
        "{\"remedy\":\"reboot\",\"at\":\"2026-11-20T01:00:00.000Z\"},"
        "{\"remedy\":\"reset\",\"at\":\"2026-11-20T02:00:00.000Z\"},"
        "{\"remedy\":\"reboot\",\"at\":\"2026-11-20T03:00:00.000Z\"}]}},"
        "{\"node\":\"n2\",\"suggested\":\"reboot\",\"open\":[],\"repair\":{\"step\":\"replace\",\"since\":\"@"
        "\","
        "\"approval\":\"wanted\",\"remedy\":\"renew\",\"taken_by\":null,\"why\":\"worn out\"}}]}",
        "GET /v1/queue ",
        "NODE  WANTED      FOR  TAKEN  TRIED             SUGGESTED  JOBS                  HELD               "
        "  "
        "WHY           WHAT\n"
        "n1    repair    3d04h  ann    reboot x2, reset  renew      47 of ann, 48 of bob  locked in "
        "OpenCHAMI  "
        "none is left  off the bus\n"
        "n2    approval  3d04h  -      -                 renew      -                     -                  "
        "  "
        "worn out\n");
}

static void repairs_are_listed_with_the_steps_to_which_they_may_go(void **state)
{
    char sent[4096];
    struct run r = run_with("repair list", 200, "{\"repairs\":[]}", sent);
    assert_non_null(strstr(sent, "GET /v1/repairs "));
    r = run_with("repair list -o node,step,next,remedy,why", 200,
                 "{\"repairs\":[{\"node\":\"n1\",\"next\":[\"none\",\"queue\"],\"repair\":{\"step\":\"tend\","
                 "\"remedy\":\"fix\",\"why\":\"chosen\"}}]}",
                 sent);
    assert_string_equal(r.out,
                        "NODE  STEP  NEXT        REMEDY  WHY\nn1    tend  none,queue  fix     chosen\n");
}

static void a_repair_is_told_with_its_attempts_and_notes(void **state)
{
    char sent[4096];
    struct run r = run_with("repair show n1", 200, "{\"repair\":null}", sent);
    assert_string_equal(r.out, "never repaired\n");
    r = run_with(
        "repair show n1", 200,
        "{\"repair\":{\"step\":\"queue\",\"what\":\"it waits for a person\",\"approval\":\"none\","
        "\"began\":null,\"attempts\":[{\"at\":\"T\",\"remedy\":\"reboot\",\"fault\":\"xid.79\",\"done\":"
        "true,\"text\":\"\",\"verdict\":\"failed\"}],\"notes\":[{\"at\":\"T\",\"by\":\"ann\",\"text\":"
        "\"ordered\"}],\"moves\":[{\"event\":\"heard\",\"by\":\"fettle\",\"when\":\"it is heard\",\"guard\":"
        "\"nobody has "
        "it\",\"to\":\"provision\",\"then\":\"\"},{\"event\":\"retire\",\"by\":\"person\",\"when\":"
        "\"retire\",\"guard\":\"\",\"to\":\"none\",\"then\":\"\"}]}}",
        sent);
    assert_string_equal(r.out, "Step            queue\n"
                               "What            it waits for a person\n"
                               "Tried           T reboot for xid.79: done; failed\n"
                               "Note            T ann: ordered\n"
                               "May go to       provision: it is heard, and nobody has it\n"
                               "May go to       in service: a person commands retire\n");
    r = run_with(
        "repair show n1", 200,
        "{\"repair\":{\"step\":\"none\",\"moves\":[{\"by\":\"fettle\",\"when\":\"a finding is fatal\","
        "\"to\":\"isolate\"}]}}",
        sent);
    assert_string_equal(r.out, "Step            none\n");
    static const char two[] =
        "{\"repair\":{\"step\":\"queue\",\"attempts\":[{\"at\":\"T\",\"remedy\":\"reboot\",\"fault\":"
        "\"xid.79\",\"done\":true,\"text\":\"\",\"verdict\":\"failed\"},{\"at\":\"U\",\"remedy\":"
        "\"reset\",\"fault\":\"xid.79\",\"done\":false,\"text\":\"\",\"verdict\":\"to be judged\"}]}}";
    r = run_with("repair show n1 -o remedy,verdict --sort -remedy", 200, two, sent);
    assert_string_equal(r.out, "REMEDY  VERDICT\nreset   to be judged\nreboot  failed\n");
    r = run_with("repair show n1 --where verdict=failed -o csv", 200, two, sent);
    assert_string_equal(r.out, "At,Remedy,Fault,Done,Verdict,Text\r\nT,reboot,xid.79,true,failed,\r\n");
    r = run_with("repair show n1 --json", 200, two, sent);
    assert_int_equal(strncmp(r.out, "{\"step\":\"queue\"", 15), 0);
}

static void a_refusal_on_some_nodes_is_told(void **state)
{
    static const char answer[] =
        "{\"revision\":7,\"changed\":\"n1\",\"held\":[],\"refused\":[{\"node\":\"n2\","
        "\"error\":\"it waits for nobody\"}]}";
    char sent[4096];
    struct run r = run_with("queue take n[1-2]", 200, answer, sent);
    assert_string_equal(r.out, "n1: taken\nn2: refused: it waits for nobody\n");
    assert_int_equal(r.status, 3);
    assert_non_null(strstr(sent, "{\"nodes\":\"n[1-2]\",\"take\":true}"));
}

static void people_s_words_are_sent(void **state)
{
    static const struct {
        const char *line, *asked, *printed;
    } cases[] = {
        {"approve n1 --remedy reboot -r go ahead",
         "{\"nodes\":\"n1\",\"remedy\":\"reboot\",\"reason\":\"go ahead\"}", "n1: approved\n"},
        {"approve n1", "{\"nodes\":\"n1\"}", "n1: approved\n"},
        {"refuse n1 -r no spare", "{\"nodes\":\"n1\",\"reason\":\"no spare\"}",
         "n1: refused; in the work queue\n"},
        {"queue note n1 -r ordered", "{\"nodes\":\"n1\",\"reason\":\"ordered\"}", "n1: noted\n"},
        {"queue resolve n1 -r new GPU",
         "{\"nodes\":\"n1\",\"transition\":\"human_intervention\",\"reason\":\"new GPU\"}",
         "n1: your word counts; back in service when every check passes\n"},
        {"queue resolve n1 scratch xid.79 -r a reset",
         "{\"nodes\":\"n1\",\"findings\":[{\"fault\":\"scratch\"},{\"fault\":\"xid.79\"}],"
         "\"reason\":\"a reset\"}",
         "n1: your word counts\n"},
        {"repair move maintenance n1 -r host retires",
         "{\"nodes\":\"n1\",\"transition\":\"maintenance\",\"reason\":\"host retires\"}",
         "n1: maintenance\n"},
        {"queue retire n1 -r old", "{\"nodes\":\"n1\",\"transition\":\"retire\",\"reason\":\"old\"}",
         "n1: retired\n"},
        {"repair move quarantine n1 -r a look",
         "{\"nodes\":\"n1\",\"transition\":\"quarantine\",\"reason\":\"a look\"}", "n1: quarantine\n"},
        {"brake stop -r cooling", "{\"name\":\"stop\",\"on\":true,\"reason\":\"cooling\"}",
         "n1: no remedy is begun any more\n"},
        {"brake release latch -r seen", "{\"name\":\"latch\",\"on\":false,\"reason\":\"seen\"}",
         "n1: released\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        run_expect(cases[i].line, "{\"revision\":7,\"changed\":\"n1\",\"held\":[]}", cases[i].asked,
                   cases[i].printed);
}

static void the_choice_shows_counts_and_costs(void **state)
{
    run_expect(
        "remedy explain n1",
        "{\"node\":\"n1\",\"open\":[{\"severity\":\"fatal\",\"group\":\"gpu 0\",\"findings\":[{\"check\":"
        "\"kernel.log\",\"code\":\"xid.79\",\"text\":\"off the bus\"}]}],\"chosen\":null,\"waits\":true,"
        "\"why\":\"work "
        "runs\",\"candidates\":[{\"remedy\":\"reboot\",\"possible\":false,\"chance_ppm\":512345,"
        "\"helped\":3,\"failed\":5,\"own\":10500,\"next\":96000,\"expected\":106500,\"because\":\"x\","
        "\"why\":"
        "\"work runs\"}],\"repair\":{\"step\":\"isolate\",\"why\":\"xid.79 gpu 0: off the bus\"}}",
        "GET /v1/remedies/n1 ",
        "Node            n1\n"
        "Open            fatal xid.79 gpu 0: off the bus\n"
        "Chosen          nothing yet\n"
        "Why             work runs\n"
        "Repair          isolate: xid.79 gpu 0: off the bus\n"
        "Costs are minutes out of service.\n"
        "REMEDY  POSSIBLE  CHANCE  HELPED  FAILED   OWN  NEXT  EXPECTED  WHY\n"
        "reboot  no         51.2%       3       5  10.5  96.0     106.5  work runs\n");
}

static void nothing_is_chosen_for_a_node_that_is_well(void **state)
{
    static const char heading[] = "REMEDY  POSSIBLE  CHANCE  HELPED  FAILED  OWN  NEXT  EXPECTED  WHY\n";
    CLEANUP_TEXT struct text want = {0};
    text_printf(&want,
                "Node            n1\n"
                "Chosen          nothing\n"
                "Why             nothing is open\n"
                "Costs are minutes out of service.\n%s",
                heading);
    run_expect("remedy explain n1",
               "{\"node\":\"n1\",\"open\":[],\"chosen\":null,\"waits\":false,\"why\":\"nothing is open\","
               "\"candidates\":[],\"repair\":null}",
               "GET /v1/remedies/n1 ", want.s);
    text_clear(&want);
    text_printf(&want,
                "Node            n1\n"
                "Open            fatal scratch: it is gone\n" /* of no device */
                "Chosen          a person\n"
                "Why             none is left\n"
                "Costs are minutes out of service.\n%s",
                heading);
    run_expect("remedy explain n1",
               "{\"node\":\"n1\",\"open\":[{\"severity\":\"fatal\",\"group\":\"\",\"findings\":[{\"check\":"
               "\"scratch\",\"code\":\"\",\"text\":\"it is gone\"}]}],\"chosen\":null,\"waits\":false,"
               "\"why\":\"none is left\",\"candidates\":[],\"repair\":null}",
               "GET /v1/remedies/n1 ", want.s);
}

static void brakes_and_power_and_numbers(void **state)
{
    run_expect(
        "brake list",
        "{\"switches\":[{\"name\":\"stop\",\"on\":true,\"why\":\"root: cooling\"},{\"name\":\"latch\",\"on\":"
        "false}],\"budgets\":[{\"scope\":\"cluster\",\"out\":1,\"limit\":5,\"nodes\":100}]}",
        "GET /v1/brakes ",
        "SCOPE    ON   OUT  LIMIT  NODES  WHY\n"
        "stop     yes    -      -      -  root: cooling\n"
        "latch    no     -      -      -\n"
        "cluster  -      1      5    100\n");
    run_expect("power on n1 --reason fixed", "{\"results\":[{\"node\":\"n1\",\"answer\":\"on\"}]}",
               "{\"nodes\":\"n1\",\"do\":\"on\",\"reason\":\"fixed\"}",
               "NODE  ANSWER\n"
               "n1    on\n");
    run_expect("power off n1 --force --reason hung", "{\"results\":[{\"node\":\"n1\",\"answer\":\"off\"}]}",
               "{\"nodes\":\"n1\",\"do\":\"off\",\"reason\":\"hung\",\"force\":true}",
               "NODE  ANSWER\n"
               "n1    off\n");
    run_expect_status(
        "power status n[1-2]",
        "{\"results\":[{\"node\":\"n1\",\"answer\":\"on\"},{\"node\":\"n2\",\"error\":\"the BMC is "
        "silent\"}]}",
        "{\"nodes\":\"n[1-2]\",\"do\":\"status\"}",
        "NODE  ANSWER\n"
        "n1    on\n"
        "n2    the BMC is silent\n",
        3);
    run_expect(
        "repair numbers 48",
        "{\"hours\":48,\"transitions\":10,\"remediations\":2,\"by_itself\":1,\"queued\":1,\"by_person\":0}",
        "GET /v1/repairs/numbers?hours=48 ",
        "Period          the last 48 hours\n"
        "Transitions     10\n"
        "Remediations    2\n"
        "Fixed by itself 1\n"
        "To the queue    1\n"
        "By a person     0\n");
}

static void test_so_many_findings_are_named_at_once_and_no_more(void **state)
{
    CLEANUP_TEXT struct text line = {0};
    char sent[4096];
    text_add(&line, "queue resolve n1");
    for (int i = 1; i <= 16; i++)
        text_printf(&line, " f%d_gpu_0", i);
    CLEANUP_FREE char *most = mem_dup(line.s);
    text_add(&line, " f17 -r x");
    const struct run_wrong more = {line.s, "17 findings; 16 at most are named at once"};
    run_expect_wrong(&more, 1);
    text_clear(&line);
    text_printf(&line, "%s -r x", most);
    struct run r = run_with(line.s, 200, "{\"changed\":\"n1\",\"held\":[]}", sent);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(sent, "{\"fault\":\"f16\",\"device\":\"gpu 0\"}],\"reason\":\"x\"}"));
}

/* A controller that has just started reads its journal, and says so until it knows the numbers. */
static void test_numbers_are_asked_for_until_the_controller_knows_them(void **state)
{
    CLEANUP_FREE char *later =
        stub_json(503, "{\"error\":{\"code\":\"unavailable\",\"message\":\"ask again\"}}");
    CLEANUP_FREE char *known = stub_json(200, "{\"hours\":24,\"queued\":1}");
    const struct stub_answer answers[] = {{.bytes = later}, {.bytes = later}, {.bytes = known}};
    struct stub *stub = stub_start(answers, 3);
    struct run r = run("repair numbers", stub_path(stub));
    stub_join(stub);
    assert_int_equal(stub_requests(stub), 3);
    stub_stop(stub);
    assert_string_equal(r.out, "Period          the last 24 hours\nTo the queue    1\n");
}

static void test_hours_have_two_ends(void **state)
{
    static const struct run_wrong cases[] = {
        {"repair numbers 3", "HOURS: \"3\" is not a number from 4 to 48"},
        {"repair numbers 49", "HOURS: \"49\" is not a number from 4 to 48"},
    };
    run_expect_wrong(cases, sizeof cases / sizeof cases[0]);
    run_expect("repair numbers 4", "{\"hours\":4}", "?hours=4 ", "Period          the last 4 hours\n");
    run_expect("repair numbers 48", "{\"hours\":48}", "?hours=48 ", "Period          the last 48 hours\n");
}

static void test_overrides_are_a_table(void **state)
{
    run_expect(
        "override list",
        "{\"overrides\":[{\"node\":\"n1\",\"by\":\"ann\",\"of\":[{\"fault\":\"xid.79\",\"group\":\"gpu "
        "0\",\"severity\":\"fatal\"},{\"fault\":\"scratch\",\"group\":\"\",\"severity\":\"warn\"}]}]}",
        "GET /v1/overrides ",
        "NODE  BY   WHERE  SINCE  UNTIL  IN SPITE OF                           WHY\n"
        "n1    ann  -      -      -      xid.79 gpu 0 (fatal), scratch (warn)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_words_are_told_before_anybody_is_asked),
        cmocka_unit_test(the_queue_says_the_wanted_tried_and_suggested_remedy),
        cmocka_unit_test(repairs_are_listed_with_the_steps_to_which_they_may_go),
        cmocka_unit_test(a_repair_is_told_with_its_attempts_and_notes),
        cmocka_unit_test(a_refusal_on_some_nodes_is_told),
        cmocka_unit_test(people_s_words_are_sent),
        cmocka_unit_test(the_choice_shows_counts_and_costs),
        cmocka_unit_test(nothing_is_chosen_for_a_node_that_is_well),
        cmocka_unit_test(brakes_and_power_and_numbers),
        cmocka_unit_test(test_so_many_findings_are_named_at_once_and_no_more),
        cmocka_unit_test(test_numbers_are_asked_for_until_the_controller_knows_them),
        cmocka_unit_test(test_hours_have_two_ends),
        cmocka_unit_test(test_overrides_are_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
