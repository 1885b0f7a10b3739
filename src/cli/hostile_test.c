/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers that no controller gives: every command meets them without a crash, without control characters on
 * the terminal, and without words of our own language's library such as "(null)".
 */
#include "base/text.h"
#include "cli/command.h"
#include "cli/run_test.h"
#include "lib/stub_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CHANGED                                                                                            \
    "{\"changed\":\"n1\",\"claim\":\"c1\",\"version\":2,\"held\":[{\"id\":\"c1\",\"kind\":\"drain\","      \
    "\"owner\":\"a\","                                                                                     \
    "\"reason\":\"r\",\"since\":\"T\",\"nodes\":\"n1\"}],\"refused\":[{\"node\":\"n2\",\"error\":\"e\"}]," \
    "\"missing\":[{\"node\":\"n3\",\"why\":\"w\"}]}"
#define WOULD                                                                             \
    "{\"dry_run\":true,\"changed\":\"n1\",\"would\":[{\"nodes\":\"n1\",\"what\":\"w\"}]," \
    "\"refused\":[{\"node\":\"n2\",\"error\":\"e\"}]}"
#define BASELINE                                                                                        \
    "{\"class\":\"g\",\"version\":2,\"node\":\"n1\",\"components\":{\"k\":\"6.1\"},\"absent\":[\"b\"]," \
    "\"history\":"                                                                                      \
    "[{\"version\":1,\"at\":\"T\",\"by\":\"a\"}],\"rollout\":{\"node\":\"n1\",\"progress\":{\"to\":3}}}"
#define DIFFERENCE                                                                                          \
    "{\"node\":\"n1\",\"class\":\"g\",\"against\":{\"baseline\":3,\"node\":null},\"suggestion\":{\"node\":" \
    "\"n2\","                                                                                               \
    "\"share\":1,\"of\":2},\"drift\":{\"state\":\"open\",\"since\":\"T\"},\"differences\":[{\"component\":" \
    "\"k\","                                                                                                \
    "\"kind\":\"unknown\",\"severity\":\"major\",\"expected\":{\"state\":\"value\",\"value\":\"1\"},"       \
    "\"actual\":"                                                                                           \
    "{\"state\":\"unknown\",\"value\":\"v\"},\"since\":\"T\",\"also\":\"n2\"}]}"
#define RESULTS                                                                                       \
    "{\"results\":[{\"node\":\"n1\",\"answer\":\"on\",\"verdict\":{\"result\":\"ok\",\"text\":\"t\"," \
    "\"findings\":"                                                                                   \
    "[{\"result\":\"warn\",\"device\":\"d\",\"text\":\"t\"}]}},{\"node\":\"n2\",\"error\":\"e\"}]}"
#define REPAIR                                                                                             \
    "{\"step\":\"queue\",\"what\":\"w\",\"why\":\"y\",\"approval\":\"wanted\",\"remedy\":\"reboot\","      \
    "\"began\":\"T\","                                                                                     \
    "\"since\":\"2026-11-20T00:00:00Z\",\"attempts\":[{\"at\":\"U\",\"remedy\":\"reset\",\"fault\":\"f\"," \
    "\"done\":"                                                                                            \
    "true,\"verdict\":\"failed\"}],\"notes\":[{\"at\":\"T\",\"by\":\"a\",\"text\":\"t\"}],\"moves\":[{"    \
    "\"event\":\"e\",\"by\":\"person\",\"when\":\"w\",\"guard\":\"g\","                                    \
    "\"to\":\"none\"}]}"
#define OPEN                                                                                              \
    "[{\"node\":\"n1\",\"severity\":\"fatal\",\"group\":\"gpu "                                           \
    "0\",\"since\":\"2026-11-20T00:00:00Z\",\"closed\":"                                                  \
    "\"2026-11-21T00:00:00Z\",\"findings\":[{\"check\":\"c\",\"code\":\"x\",\"text\":\"t\"}],\"jobs\":[{" \
    "\"job\":"                                                                                            \
    "\"1\",\"user\":\"u\"}]}]"

#define OWNERS                                                                                            \
    "{\"owners\":[{\"owner\":\"t:1\",\"tenant\":\"t\",\"allocation\":\"1\",\"count\":1,\"since\":\"s\","  \
    "\"by\":\"b\","                                                                                       \
    "\"reason\":\"r\",\"nodes\":\"n1\"}],\"tenants\":[{\"tenant\":\"t\",\"nodes\":1,\"nodes_max\":\"2\"," \
    "\"allocations\":1,\"allocations_max\":null}],\"sensitive\":{\"nodes\":0,\"nodes_max\":1}}"

/* Each command that reads an answer, and a good one. Where there are two answers, both are this. */
static const char *const calls[][2] = {
    {"node list", "{\"nodes\":[{\"Name\":\"n1\",\"State\":\"DOWN\",\"Partition\":[1,2],\"Silent\":5}]}"},
    {"node list --fold",
     "{\"nodes\":[{\"Name\":\"n1\",\"State\":\"DOWN\"},{\"Name\":\"n2\",\"State\":\"DOWN\"}]}"},
    {"node list -o csv", "{\"nodes\":[{\"Name\":\"n1\",\"State\":\"DOWN\"}]}"},
    {"node list -o yaml,all", "{\"nodes\":[{\"Name\":\"n1\",\"State\":\"DOWN\",\"Silent\":5}]}"},
    {"node show n1",
     "{\"node\":{\"Name\":\"n1\",\"Partition\":[1]},\"specification\":{\"CPUs\":\"6\"},\"claims\":"
     "[{\"id\":\"c\",\"kind\":\"k\"}],\"inventory\":{\"nics\":[{\"name\":\"e\"}]},\"inventory_at\":"
     "\"T\"}"},
    {"node claims n1", "{\"claims\":[{\"id\":\"c\",\"kind\":\"k\",\"owner\":\"o\",\"since\":\"T\"}]}"},
    {"node drain n1 -r x", CHANGED},
    {"node drain --where State=DOWN -r x", "{\"nodes\":[{\"Name\":\"n1\",\"State\":\"DOWN\"}]}"},
    {"node undrain n1", CHANGED},
    {"node down n1 -r x --dry-run", WOULD},
    {"node up n1", CHANGED},
    {"node set n1 CPUs=4", CHANGED},
    {"node forget n1", CHANGED},
    {"partition list",
     "{\"partitions\":[{\"Partition\":1,\"Name\":\"d\",\"Default\":true,\"States\":{\"IDLE\":1}}]}"},
    {"whoami",
     "{\"kind\":\"token\",\"name\":\"Ann Lee\",\"login\":null,\"subject\":\"77\",\"person\":true,"
     "\"actor\":\"Ann Lee (token 77)\",\"until\":\"2026-11-20T20:41:57.123Z\",\"roles\":[\"viewer\"],"
     "\"routes\":[\"GET /v1/nodes\"]}"},
    {"status",
     "{\"version\":\"0.1\",\"mode\":\"act\",\"brakes\":[{\"name\":\"stop\",\"why\":\"w\"}],\"budgets\":["
     "{\"scope\":\"s\",\"out\":2,\"limit\":5}],\"elsewhere\":[{\"where\":\"s\",\"held\":2}],\"uptime_s\":"
     "4000,\"nodes\":{\"IDLE\":60},\"alarms\":[{\"alarm\":\"a\",\"subject\":\"s\"}],\"counterparts\":[{"
     "\"name\":\"Slurm\",\"state\":\"trouble\",\"waiting\":2}],\"warnings\":[\"w\"],\"store\":{\"state\":"
     "\"ok\"},\"configuration\":{\"revision\":3,\"hash\":\"ab\",\"by\":\"r\"},\"turns\":{\"longest\":[{"
     "\"us\":7390,\"cpu_us\":6900,\"did\":[{\"what\":\"w\",\"times\":2,\"us\":1}]}]}}"},
    {"audit list", "{\"entries\":[{\"at\":\"T\",\"what\":\"w\",\"revision\":3,\"n\":1}],\"revision\":9}"},
    {"audit show",
     "{\"origin\":\"o\",\"key\":\"PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW\","
     "\"size\":3,\"root\":\"r\",\"first\":0,\"archived\":0}"},
    {"journal --after 1 --limit 2",
     "{\"entries\":[{\"at\":\"T\",\"what\":\"w\",\"revision\":3}],\"gone\":\"g\"}"},
    {"journal", "{\"entries\":[{\"at\":\"T\",\"what\":\"w\",\"revision\":3}],\"revision\":9,\"gone\":\"g\"}"},
    {"journal -o all", "{\"entries\":[{\"at\":\"T\",\"claims\":[\"1\"],\"cost\":72000}],\"revision\":9}"},
    {"reload", "{\"changes\":[\"c\"],\"configuration\":{\"revision\":3,\"hash\":\"ab\",\"by\":\"r\"}}"},
    {"token create --nodes n1", "{\"token\":\"t\",\"id\":\"i\",\"expires\":\"T\",\"command\":\"c\"}"},
    {"token list", "{\"tokens\":[{\"id\":\"i\",\"nodes\":\"n1\",\"count\":1}]}"},
    {"token end 0123 -r x", CHANGED},
    {"controller list",
     "{\"controllers\":[{\"name\":\"c2\",\"state\":\"away\",\"heard\":\"T\",\"revision\":3}]}"},
    {"controller admit c2 02ab", CHANGED},
    {"controller remove c2 -r x", CHANGED},
    {"backup list",
     "{\"backups\":[{\"name\":\"b\",\"at\":\"2026-11-06T00:00:00Z\",\"revision\":1,\"bytes\":2,"
     "\"path\":\"/b\"}]}"},
    {"cert list", "{\"certificates\":[{\"holder\":\"h\",\"serial\":\"1\"}]}"},
    {"cert revoke n1 -r x", CHANGED},
    {"conform groups",
     "{\"groups\":[{\"class\":\"g\",\"cohort\":\"c\",\"count\":2,\"nodes\":\"n[1-2]\"}],\"alone\":[{"
     "\"node\":\"n3\",\"class\":\"g\"},{\"node\":\"n4\",\"class\":\"g\"}]}"},
    {"conform diff n1", DIFFERENCE},
    {"conform diff n1 n2 --all", DIFFERENCE},
    {"conform why-not n1", DIFFERENCE},
    {"conform history n1",
     "{\"history\":[{\"at\":\"T\",\"fingerprint\":\"ab\",\"named\":[\"k\"],\"count\":5}]}"},
    {"conform recheck n[1-2]", "{\"told\":1}"},
    {"conform approve n1", CHANGED},
    {"class list", "{\"classes\":[{\"name\":\"g\",\"count\":8,\"rollout\":true,\"alarm\":true}]}"},
    {"baseline accept n1", CHANGED},
    {"baseline show g", BASELINE},
    {"baseline diff g 1 2", BASELINE},
    {"baseline history g", BASELINE},
    {"baseline revert g", CHANGED},
    {"baseline rollout start g --to n1 --nodes n2 --deadline 1h", CHANGED},
    {"baseline rollout show g", BASELINE},
    {"baseline rollout accept g", CHANGED},
    {"baseline rollout revert g", WOULD},
    {"place -N 2",
     "{\"nodes\":\"n[1-2]\",\"count\":2,\"policy\":\"ml\",\"score\":0.4,\"terms\":[{\"name\":\"s\","
     "\"fitness\":0.9,\"weight\":0.2}],\"groups\":[{\"cohort\":\"c\",\"count\":2,\"nodes\":\"n1\"}],"
     "\"topology_groups\":2,\"passed\":{\"busy\":3}}"},
    {"slurm features", "{\"nodes\":[{\"nodes\":\"n1\",\"features\":[\"f\",\"g\"],\"weight\":1}]}"},
    {"slurm constraint -N 2", "{\"constraint\":\"[a|b]\"}"},
    {"check list", "{\"checks\":[{\"check\":\"c\",\"every_s\":90,\"observe\":true,\"nodes\":{\"ok\":12}}]}"},
    {"check show n1 --all",
     "{\"node\":\"n1\",\"health\":\"fatal\",\"repair\":" REPAIR ",\"trials\":[{\"check\":\"c\","
     "\"now\":{\"began\":\"T\"}}],\"checks\":[{\"check\":\"c\",\"looked_s\":75,\"verdict\":{"
     "\"result\":\"ok\",\"text\":\"t\"}}],\"open\":" OPEN ",\"past\":" OPEN "}"},
    {"check explain x", "{\"name\":\"n\",\"kind\":\"k\",\"what\":\"w\"}"},
    {"check run c n1", RESULTS},
    {"check trials",
     "{\"trials\":[{\"node\":\"n1\",\"check\":\"c\",\"now\":{\"claim\":\"1\",\"began\":\"T\"}}]}"},
    {"incident list", "{\"incidents\":" OPEN ",\"shared\":[{\"key\":\"k\",\"nodes\":\"n1\"}]}"},
    {"remedy list", "{\"remedies\":[{\"remedy\":\"r\",\"helps\":[\"h\"],\"confidence\":500000}]}"},
    {"remedy explain n1",
     "{\"node\":\"n1\",\"open\":" OPEN ",\"chosen\":\"r\",\"why\":\"w\",\"candidates\":[{"
     "\"remedy\":\"r\",\"chance_ppm\":5,\"own\":1500,\"tried\":2}],\"repair\":" REPAIR "}"},
    {"repair list", "{\"repairs\":[{\"node\":\"n1\",\"next\":[\"queue\"],\"repair\":" REPAIR "}]}"},
    {"repair show n1", "{\"repair\":" REPAIR "}"},
    {"repair show n1 -o all", "{\"repair\":" REPAIR "}"},
    {"repair move retire n1 -r x", CHANGED},
    {"repair numbers", "{\"hours\":24,\"transitions\":1,\"queued\":1}"},
    {"approve n1", CHANGED},
    {"refuse n1 -r x", CHANGED},
    {"queue take n1", CHANGED},
    {"queue note n1 -r x", CHANGED},
    {"queue resolve n1 x -r x", CHANGED},
    {"queue retire n1 -r x", CHANGED},
    {"queue", "{\"queue\":[{\"node\":\"n1\",\"finding\":\"f\",\"open\":" OPEN ",\"repair\":" REPAIR "}]}"},
    {"override list",
     "{\"overrides\":[{\"node\":\"n1\",\"by\":\"b\",\"of\":[{\"fault\":\"f\",\"group\":\"g\","
     "\"severity\":\"s\"}]}]}"},
    {"override set n1 -r x", CHANGED},
    {"override end n1 -r x", CHANGED},
    {"owner list", OWNERS},
    {"owner show t", OWNERS},
    {"owner show @p", OWNERS},
    {"owner claim n1", CHANGED},
    {"owner release n1 --dry-run", WOULD},
    {"owner transfer n1 --owner t --new-owner u", CHANGED},
    {"brake stop -r x", CHANGED},
    {"brake release -r x --dry-run", WOULD},
    {"brake list", "{\"switches\":[{\"name\":\"s\",\"on\":true}],\"budgets\":[{\"scope\":\"c\",\"out\":1}]}"},
    {"power status n1", RESULTS},
    {"power off n1 -r x --dry-run", WOULD},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* One call whose questions are answered with this; *out is also what it prints while it goes on. */
static struct run run_answered(const char *line, const char *body)
{
    CLEANUP_FREE char *answer = stub_json(200, body);
    const struct stub_answer answers[] = {{.bytes = answer}, {.bytes = answer}};
    struct stub *stub = stub_start(answers, 2);
    char printed[4096];
    struct run r = run_printed(line, stub_path(stub), printed, sizeof printed);
    if (*printed)
        snprintf(r.out, sizeof r.out, "%s", printed);
    stub_stop(stub);
    return r;
}

/* Whether what a person sees is fit for a terminal; and whoever fails says why. */
static void expect_fit(const char *line, const char *body, const struct run *r)
{
    bool is_silent = r->status != 0 && r->status != 3 && *r->error == '\0';
    if (is_silent || strstr(r->out, "(null)") || strchr(r->out, '\x1b') || strstr(r->error, "(null)") ||
        strchr(r->error, '\x1b'))
        fail_msg("%s\n%s\n%d %s\n%s", line, body, r->status, r->error, r->out);
}

/* The end of the value that begins at s. */
static const char *skip_value(const char *s)
{
    int depth = 0;
    do {
        if (*s == '"')
            s += 1 + strcspn(s + 1, "\"");
        depth += (*s == '{' || *s == '[') - (*s == '}' || *s == ']');
        s++;
    } while (depth > 0 || (*s && !strchr(",]}", *s)));
    return s;
}

/* The next place at or after s, within a good answer, where a value begins. */
static const char *find_value(const char *s)
{
    for (; *s; s++) {
        if (*s == ':')
            return s + 1;
        if (*s == '[' && s[1] != ']')
            return s + 1;
        if (*s == '"')
            s += 1 + strcspn(s + 1, "\"");
    }
    return NULL;
}

static void every_command_takes_values_of_another_kind(void **state)
{
    static const char *const wrong[] = {
        "null", "{}", "[null]", "\"\\u001b[31m\"", "[{}]", "-9223372036854775808"};
    size_t next = 0;
    for (size_t i = 0; i < CALLS; i++) {
        const char *good = calls[i][1];
        for (const char *at = good; (at = find_value(at));) {
            CLEANUP_TEXT struct text body = {0};
            text_add_bytes(&body, good, (size_t)(at - good));
            text_add(&body, wrong[next++ % (sizeof wrong / sizeof wrong[0])]);
            text_add(&body, skip_value(at));
            struct run r = run_answered(calls[i][0], body.s);
            expect_fit(calls[i][0], body.s, &r);
        }
    }
}

static void every_command_takes_an_answer_without_anything(void **state)
{
    for (size_t i = 0; i < CALLS; i++) {
        struct run r = run_answered(calls[i][0], "{}");
        expect_fit(calls[i][0], "{}", &r);
    }
}

/* Every answer of the interface is an object. */
static void every_command_says_that_an_answer_is_not_fettle_s(void **state)
{
    static const char *const bodies[] = {"[]", "null", "\"x\"", "{\"nodes\":", "<html>", "7"};
    for (size_t i = 0; i < CALLS; i++) {
        const char *body = bodies[i % (sizeof bodies / sizeof bodies[0])];
        struct run r = run_answered(calls[i][0], body);
        if (r.status != 6 || *r.error == '\0' || *r.out)
            fail_msg("%s, %s: %d %s\n%s", calls[i][0], body, r.status, r.error, r.out);
    }
}

/* A command that is new is not forgotten here. */
static void every_command_that_asks_is_here(void **state)
{
    static const char *const others[] = {"watch",         "events",        "cert create", "import slurm",
                                         "import nhc",    "version",       "audit prove", "audit verify",
                                         "audit export",  "help",          "complete",    "backup create",
                                         "backup verify", "backup restore"};
    for (size_t k = 0; k < commands_n; k++) {
        const char *path = commands[k].path;
        size_t len = strlen(path);
        bool is_here = false;
        for (size_t i = 0; i < CALLS; i++)
            is_here |= strncmp(calls[i][0], path, len) == 0 && (calls[i][0][len] == ' ' || !calls[i][0][len]);
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            is_here |= strcmp(others[i], path) == 0;
        if (!is_here)
            fail_msg("\"fettle %s\" meets no answer here", path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_takes_values_of_another_kind),
        cmocka_unit_test(every_command_takes_an_answer_without_anything),
        cmocka_unit_test(every_command_says_that_an_answer_is_not_fettle_s),
        cmocka_unit_test(every_command_that_asks_is_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
