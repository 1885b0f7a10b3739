/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills a manual page: copies the template on standard input to standard output, and in place of a
 * line "@PART@" prints the part from the table that has the facts.
 */
#include "access/access.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/record.h"
#include "driver/slurm_view.h"
#include "health/meaning.h"
#include "node/lifecycle.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Text as roff takes it: no macro at the start of a line, no escapes, a minus that can be copied. */
static void print_roff(const char *s)
{
    for (; *s; s++) {
        if (*s == '\\')
            fputs("\\e", stdout);
        else if (*s == '-')
            fputs("\\-", stdout);
        else if (*s == '`')
            fputs("\\(ga", stdout);
        else
            putchar(*s);
    }
}

/* Sentences of their own: upper case first, full stop, each on a line. */
/* A word that somebody types, as "off: no checks" or "slurm.conf for it" begins with, stays as it is typed.
 */
static bool is_typed(const char *s)
{
    size_t word = strcspn(s, " ");
    return word > 0 && (s[word - 1] == ':' || memchr(s, '.', word - 1));
}

static void print_sentence(const char *s)
{
    char first[2] = {is_typed(s) ? *s : (char)toupper((unsigned char)*s), '\0'};
    print_roff(first);
    const char *rest = *s ? s + 1 : s;
    for (const char *stop; (stop = strstr(rest, ". ")); rest = stop + 2) {
        char one[512];
        snprintf(one, sizeof one, "%.*s.\n", (int)(stop - rest), rest);
        print_roff(one);
    }
    print_roff(rest);
    fputs(".\n", stdout);
}

/* Symbols of a table as the files have them: "DEFAULT" is nothing. */
static void print_lower(const char *symbol)
{
    for (; *symbol; symbol++)
        putchar(tolower((unsigned char)*symbol));
}

static void print_option(enum option o)
{
    const struct option_info *i = option_info(o);
    fputs(".It ", stdout);
    if (i->letter)
        printf("Fl %c , ", i->letter);
    printf("Fl Fl %s", i->name);
    printf(*i->argument ? " Ar %s\n" : "\n", i->argument);
    print_sentence(i->what);
}

static void print_options(uint64_t mask)
{
    if (mask == 0)
        return;
    fputs(".Bl -tag -width Ds\n", stdout);
    for (size_t o = 0; o < OPTIONS; o++)
        if (mask & UINT64_C(1) << o)
            print_option((enum option)o);
    fputs(".El\n", stdout);
}

static void print_synopsis(void)
{
    for (size_t i = 0; i < commands_n; i++) {
        printf(".Nm\n.Cm %s\n", commands[i].path);
        if (commands[i].arguments[0]) {
            fputs(".Li \"", stdout);
            print_roff(commands[i].arguments);
            fputs("\"\n", stdout);
        }
        if (commands[i].options)
            fputs(".Op Ar OPTIONS\n", stdout);
    }
}

static void print_commands(void)
{
    for (size_t i = 0; i < commands_n; i++) {
        printf(".Ss fettle %s ", commands[i].path);
        print_roff(commands[i].arguments);
        putchar('\n');
        print_sentence(commands[i].what);
        print_options(commands[i].options);
    }
}

static void print_common(void)
{
    uint64_t of_commands = 0;
    for (size_t i = 0; i < commands_n; i++)
        of_commands |= commands[i].options;
    print_options(~of_commands & ((UINT64_C(1) << OPTIONS) - 1));
}

static void print_fields_of(const struct record_info *r)
{
    fputs(".Bl -tag -width VirtualMemory\n", stdout);
    for (size_t i = 0; i < r->n; i++) {
        const struct field_info *f = &r->fields[i];
        printf(".It Sy \\&%s\n", f->name); /* "At" is a macro, too */
        print_roff(f->what);
        if (*f->unit)
            printf(" (%s)", f->unit);
        fputs(f->settable ? "; can be set\n" : "\n", stdout);
    }
    fputs(".El\n", stdout);
}

static void print_fields(void)
{
    print_fields_of(record_info(RECORD_NODE));
}

static void print_records(void)
{
    for (enum record r = RECORD_NODE + 1; r < RECORDS; r++) {
        printf(".Ss fettle %s\n", record_info(r)->command);
        print_fields_of(record_info(r));
    }
}

static void print_exits(void)
{
    static const struct {
        const char *name;
        int exit;
    } rows[] = {
#define ERR(code, name, http, exit) {name, exit},
#include "base/err.tbl"
#undef ERR
    };
    fputs(".Bl -tag -width Ds\n.It 0\nDone.\n", stdout);
    for (int exit = 1; exit < 16; exit++) {
        const char *comma = "";
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            if (rows[i].exit != exit)
                continue;
            if (!*comma)
                printf(".It %d\n", exit);
            printf("%s%s", comma, rows[i].name);
            comma = ", ";
        }
        fputs(*comma ? "\n" : "", stdout);
    }
    fputs(".El\n", stdout);
}

/* "10s to 7d" of milliseconds. */
static void print_times(int64_t least, int64_t most)
{
    char from[32], to[32];
    printf("A time from %s to %s.\n", span_format(span_ms(least), from), span_format(span_ms(most), to));
}

/* One of these words, which have commas between. */
static void print_words(const char *list)
{
    fputs("One of the words", stdout);
    for (size_t len; *list; list += len + (list[len] == ',')) {
        len = strcspn(list, ",");
        printf("\n.Li %.*s%s", (int)len, list, list[len] ? " ," : " .");
    }
    putchar('\n');
}

/* "A time from 1 s to 7 d." and the like, of a parameter's kind in setting.tbl. */
static void print_form(const char *kind, unsigned long min, unsigned long max, const char *unit)
{
    static const char *const plain[][2] = {{"TEXT", "A text"},
                                           {"PATH", "An absolute path"},
                                           {"FILE", "An absolute path, or empty for none"},
                                           {"URL", "A URL, or empty for none"},
                                           {"HOSTS", "A host list"},
                                           {"WORDS", "Words separated by commas"}};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (strcmp(kind, plain[i][0]) == 0)
            printf("%s.\n", plain[i][1]);
    if (strcmp(kind, "NUMBER") == 0)
        printf("A number from %lu to %lu%s.\n", min, max, strcmp(unit, "%") == 0 ? " %" : "");
    else if (strcmp(kind, "SPAN") == 0)
        print_times((int64_t)min * 1000, (int64_t)max * 1000);
    else if (strcmp(kind, "FLAG") == 0)
        print_words("yes,no");
    else if (strcmp(kind, "CHOICE") == 0)
        print_words(unit);
}

static const struct setting_row {
    const char *name, *kind, *value;
    unsigned long min, max;
    const char *unit, *taken, *meaning, *more;
} setting_rows[] = {
#define SETTING(symbol, name, kind, value, min, max, unit, taken, scope, meaning, more) \
    {name, #kind, value, min, max, unit, #taken, meaning, more},
#include "controller/config/setting.tbl"
#undef SETTING
};

#define SETTING(symbol, name, kind, value, min, max, unit, taken, scope, meaning, more) \
    _Static_assert(sizeof(meaning) <= 81, "the meaning of " name " does not fit into a line");
#include "controller/config/setting.tbl"
#undef SETTING

/* An index: each name with its meaning in one line. */
static void print_index_row(const char *name, const char *meaning)
{
    printf(".It Sy \\&%s Ta \"", name);
    print_roff(meaning);
    fputs("\"\n", stdout);
}

static void print_setting_index(void)
{
    fputs(".Bl -column \"SensitiveDriftTimeout\" \"meaning\"\n", stdout);
    for (size_t i = 0; i < sizeof setting_rows / sizeof setting_rows[0]; i++)
        print_index_row(setting_rows[i].name, setting_rows[i].meaning);
    fputs(".El\n", stdout);
}

static void print_setting(const struct setting_row *r)
{
    printf(".It Sy %s", r->name);
    if (*r->value) {
        fputs(" = ", stdout);
        print_roff(r->value);
    }
    putchar('\n');
    print_sentence(r->meaning);
    if (*r->more)
        print_sentence(r->more);
    if (strcmp(r->taken, "START") == 0)
        puts("Read at start.");
    print_form(r->kind, r->min, r->max, r->unit);
}

static void print_settings(void)
{
    fputs(".Bl -tag -width Ds\n", stdout);
    for (size_t i = 0; i < sizeof setting_rows / sizeof setting_rows[0]; i++)
        print_setting(&setting_rows[i]);
    fputs(".El\n", stdout);
}

/* The fields that NodeSpecConf may have, as rows of an index. */
static void print_settable(void)
{
    for (size_t i = 0; i < FIELDS; i++) {
        const struct field_info *f = field_info((enum field)i);
        bool unit = *f->unit;
        char meaning[256];
        snprintf(meaning, sizeof meaning, "%s%s%s%s", f->what, unit ? " (" : "", f->unit, unit ? ")" : "");
        if (f->settable)
            print_index_row(f->name, meaning);
    }
}

static void print_severities(void)
{
    fputs(".Bl -column \"package.*\" \"critical\"\n", stdout);
#define COMPONENT(pattern, severity, what)   \
    printf(".It Li %s Ta ", pattern);        \
    for (const char *c = #severity; *c; c++) \
        putchar(tolower((unsigned char)*c)); \
    fputs(" Ta ", stdout);                   \
    print_roff(what);                        \
    putchar('\n');
#include "conform/severity.tbl"
#undef COMPONENT
    fputs(".El\n", stdout);
}

static void print_service(const char *severity, bool acts, bool takes_work, const char *drained,
                          const char *what)
{
    fputs(".It Sy ", stdout);
    print_lower(severity);
    fputs(acts ? "\n" : " , only observed\n", stdout);
    printf("New work: %s; drained: %s.\n", takes_work ? "yes" : "no",
           strcmp(drained, "NEVER") == 0     ? "no"
           : strcmp(drained, "LASTING") == 0 ? "when it lasts"
                                             : "at once");
    print_sentence(what);
}

static void print_services(void)
{
    fputs(".Bl -tag -width Ds\n", stdout);
#define SERVICE(severity, policy, takes_work, drained, what) \
    print_service(#severity, #policy[0] == 'A', takes_work, #drained, what);
#include "health/service.tbl"
#undef SERVICE
    fputs(".El\n", stdout);
}

static void print_policies(void)
{
    fputs(".Bl -tag -width interactive\n", stdout);
#define PLACE_POLICY(symbol, name, sameness, topology, soundness, room, hard, what)               \
    printf(".It Li %s\n", name);                                                                  \
    print_sentence(what);                                                                         \
    printf("Sameness weighs %.2f, topology %.2f, soundness %.2f, room %.2f.\n", (sameness) / 1e3, \
           (topology) / 1e3, (soundness) / 1e3, (room) / 1e3);
#include "place/policy.tbl"
#undef PLACE_POLICY
    fputs(".El\n", stdout);
}

static void print_terms(void)
{
    fputs(".Bl -tag -width soundness\n", stdout);
#define PLACE_TERM(symbol, name, what) \
    printf(".It Li %s\n", name);       \
    print_sentence(what);
#include "place/term.tbl"
#undef PLACE_TERM
    fputs(".El\n", stdout);
}

static void print_passes(void)
{
    fputs(".Bl -tag -width held_elsewhere\n", stdout);
#define PLACE_PASS(symbol, name, what) \
    printf(".It Li %s\n", name);       \
    print_sentence(what);
#include "place/pass.tbl"
#undef PLACE_PASS
    fputs(".El\n", stdout);
}

static void print_flags(void)
{
    fputs(".Bl -tag -width collect\n", stdout);
#define FLAG(symbol, name, what) \
    printf(".It Sy %s\n", name); \
    print_sentence(what);
#include "base/log.tbl"
#undef FLAG
    fputs(".El\n", stdout);
}

static void print_state(const char *name, const char *idle, const char *busy, const char *what)
{
    printf(".It Sy %s\n", name);
    print_sentence(what);
    if (strcmp(idle, busy) == 0)
        printf("State: %s.\n", idle);
    else
        printf("State: %s, or %s while work runs.\n", idle, busy);
}

static void print_states(void)
{
    fputs(".Bl -tag -width available\n", stdout);
#define LIFECYCLE(symbol, name, idle, busy, what, todo) print_state(name, idle, busy, what);
#include "node/lifecycle.tbl"
#undef LIFECYCLE
    fputs(".El\n", stdout);
}

static void print_claims(void)
{
    fputs(".Bl -tag -width silent\n", stdout);
#define CLAIM(symbol, name, who, what, todo) \
    printf(".It Sy %s\n", name);             \
    print_sentence(what);                    \
    printf("Made by %s.\n", who);
#include "cluster/state/claim.tbl"
#undef CLAIM
    fputs(".El\n", stdout);
}

static void print_alarms(void)
{
    fputs(".Bl -tag -width collector.foreign\n", stdout);
#define ALARM(symbol, name, meaning, end, todo) \
    printf(".It Sy alarm.%s\n", name);          \
    print_sentence(meaning);                    \
    fputs("It ends when: ", stdout);            \
    print_sentence(end);
#include "watch/view/alarm.tbl"
#undef ALARM
    fputs(".It Sy alarm.over\n"
          "One of these is over.\n"
          "The members\n.Li alarm\nand\n.Li subject\nsay which.\n.El\n",
          stdout);
}

static void print_counterparts(void)
{
    fputs(".Bl -tag -width store\n", stdout);
#define COUNTERPART(symbol, name, alarm, what, waits) \
    printf(".It Sy %s\n", name);                      \
    print_sentence(what);                             \
    printf("Waiting: %s.\n", waits);
#include "controller/outbox/counterpart.tbl"
#undef COUNTERPART
    fputs(".El\n", stdout);
}

static void print_routes(void)
{
    fputs(".Bl -column \"POST\" \"/v1/certificates/revoke\" \"administer\"\n", stdout);
#define ROUTE(operation, method, path, right)  \
    printf(".It %s Ta %s Ta ", #method, path); \
    print_lower(#right);                       \
    putchar('\n');
#include "api/route.tbl"
#undef ROUTE
    fputs(".El\n", stdout);
}

static void print_roles(void)
{
    fputs(".Bl -tag -width tenant-administrator\n", stdout);
#define ROLE(symbol, name, tenants, meaning) \
    printf(".It Sy %s\n", name);             \
    print_sentence(meaning);
#include "access/role.tbl"
#undef ROLE
    fputs(".El\n", stdout);
}

/* Each right with the roles that have it. */
static void print_right(const char *symbol, unsigned roles, const char *meaning)
{
    CLEANUP_TEXT struct text names = {0};
    access_roles_say(roles, ", ", &names);
    fputs(".It Sy ", stdout);
    print_lower(symbol);
    putchar('\n');
    print_sentence(meaning);
    print_sentence(names.len ? names.s : "every caller who is known");
}

static void print_rights(void)
{
    fputs(".Bl -tag -width administer\n", stdout);
#define RIGHT(symbol, changes, roles, meaning) \
    print_right(#symbol, access_right_roles(RIGHT_##symbol), meaning);
#include "access/right.tbl"
#undef RIGHT
    fputs(".El\n", stdout);
}

static void print_grants(void)
{
    fputs(".Bl -tag -width SubjectGroups\n", stdout);
#define GRANT(symbol, key, kind, group, meaning) \
    printf(".It Sy %s\n", key);                  \
    print_sentence(meaning);
#include "access/grant.tbl"
#undef GRANT
    fputs(".El\n", stdout);
}

/* The changes that the journal and the stream of events tell of. */
static void print_changes(void)
{
    fputs(".Bl -tag -width node.admitted\n", stdout);
#define COMMAND(symbol, name, id, meets, published, says, who, todo) \
    printf(".It Sy %s\n", name);                                     \
    print_sentence(who);
#include "cluster/command/command.tbl"
#undef COMMAND
    fputs(".It Sy state.made\n", stdout);
    print_sentence("the first controller in a new state: what the state is called");
    fputs(".El\n", stdout);
}

static void print_errors(void)
{
    fputs(".Bl -column \"method_not_allowed\" \"HTTP status\"\n"
          ".It Sy code Ta Sy HTTP status Ta Sy exit status\n",
          stdout);
#define ERR(code, name, http, exit) printf(".It %s Ta %d Ta %d\n", name, http, exit);
#include "base/err.tbl"
#undef ERR
    fputs(".El\n", stdout);
}

/* What is read of the kernel's settings without being named. */
static void print_sysctls(void)
{
    const char *comma = "";
#define SYSCTL(name)                 \
    printf("%s.Li %s", comma, name); \
    comma = " ,\n";
#define SETTING(name, form, path)
#include "survey/setting.tbl"
#undef SYSCTL
#undef SETTING
    fputs(" .\n", stdout);
}

static void print_normal_rule(const char *where, const char *action, const char *match, const char *what)
{
    static const struct {
        const char *where, *action, *text;
    } forms[] = {
        {"CMDLINE", "VALUE", "boot parameter %s="},     {"CMDLINE", "AFTER", "in boot parameters, after %s"},
        {"CMDLINE", "SHAPE", "in boot parameters, %s"}, {"MOUNT", "VALUE", "mount option %s="},
        {"MOUNT", "AFTER", "in mounts, after %s"},      {"MOUNT", "SHAPE", "in mounts, %s"},
        {"MOUNT", "PATH", "mounts at %s and below"},    {"MOUNT", "TYPE", "mounts of type %s"}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strcmp(forms[i].where, where) != 0 || strcmp(forms[i].action, action) != 0)
            continue;
        const char *at = strstr(forms[i].text, "%s");
        printf(".It %.*s", (int)(at - forms[i].text), forms[i].text);
        print_roff(match);
        printf("%s Ta ", at + 2);
        print_roff(what);
        putchar('\n');
    }
}

/* What is taken out because a node alone can have it. */
static void print_normal(void)
{
    fputs(".Bl -column \"boot parameter spire_join_token=\" \"users who are logged in\"\n", stdout);
#define NORMAL(where, action, match, what) print_normal_rule(#where, #action, match, what);
#include "survey/normal.tbl"
#undef NORMAL
    fputs(".El\n", stdout);
}

/* --- checks -------------------------------------------------------------------------------------- */

static void print_check_key(const char *name, const char *form, const char *fallback, const char *meaning,
                            const char *more)
{
    printf(".It Sy %s", name);
    if (*fallback)
        printf(" = %s", fallback);
    putchar('\n');
    print_sentence(meaning);
    if (*more)
        print_sentence(more);
    print_sentence(form);
}

static void print_check_key_index(void)
{
    fputs(".Bl -column \"FailPercent\" \"meaning\"\n", stdout);
#define KEY(symbol, name, who, form, fallback, meaning, more)                                          \
    _Static_assert(sizeof(meaning) <= 81, "the meaning of the key " name " does not fit into a line"); \
    print_index_row(name, meaning);
#include "health/key.tbl"
#undef KEY
    fputs(".El\n", stdout);
}

static void print_check_keys(void)
{
    fputs(".Bl -tag -width Ds\n", stdout);
#define KEY(symbol, name, who, form, fallback, meaning, more) \
    print_check_key(name, form, fallback, meaning, more);
#include "health/key.tbl"
#undef KEY
    fputs(".El\n", stdout);
}

static void print_results(void)
{
    fputs(".Bl -tag -width unsupported\n", stdout);
#define RESULT(symbol, name, what) \
    printf(".It Li %s\n", name);   \
    print_sentence(what);
#include "health/result.tbl"
#undef RESULT
    fputs(".El\n", stdout);
}

static void print_argument_form(const char *form, int64_t least, int64_t most)
{
    static const char *const forms[][2] = {
        {"PATH", "An absolute path"},   {"METRIC", "The name of a format"},
        {"TOOL", "The name of a tool"}, {"PERCENT", "A number from 0 to 100 %"},
        {"BYTES", "A number of bytes"}, {"SHARE", "A number from 0 to 100 %, or of bytes"}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(form, forms[i][0]) == 0)
            printf("%s.\n", forms[i][1]);
    if (strcmp(form, "NUMBER") == 0)
        printf("A number from %" PRId64 " to %" PRId64 ".\n", least, most);
    else if (strcmp(form, "SPAN") == 0)
        print_times(least, most);
}

/* The keys of a probe, in a list of their own. */
static void print_arguments(const char *probe)
{
    static const struct {
        const char *probe, *key, *form;
        int64_t least, most;
        const char *need, *what;
    } rows[] = {
#define ARGUMENT(probe, key, form, least, most, need, what) {probe, key, #form, least, most, #need, what},
#include "health/argument.tbl"
#undef ARGUMENT
    };
    bool any = false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].probe, probe) != 0)
            continue;
        fputs(any ? "" : ".Bl -tag -width Ds\n", stdout);
        any = true;
        printf(".It Sy %s\n", rows[i].key);
        print_sentence(rows[i].what);
        print_argument_form(rows[i].form, rows[i].least, rows[i].most);
        fputs(strcmp(rows[i].need, "MUST") == 0 ? "This key is required.\n" : "", stdout);
    }
    fputs(any ? ".El\n" : "", stdout);
}

static void print_probe(const char *name, const char *how, int every_s, const char *severity,
                        const char *meaning, const char *more)
{
    char every[32];
    printf(".It Li %s\n", name);
    print_sentence(meaning);
    if (*more)
        print_sentence(more);
    printf("By default every %s, and at worst ", span_format(span_s(every_s), every));
    print_lower(severity);
    fputs(".\n", stdout);
    if (strcmp(how, "IDLE") == 0)
        fputs("The default of When is idle.\n", stdout);
    if (strcmp(how, "BENCH") == 0)
        fputs("The default of When is extensive,demand, and of Deadline 2m.\n", stdout);
    print_arguments(name);
}

static void print_probes(void)
{
    fputs(".Bl -tag -width Ds\n", stdout);
#define PROBE(symbol, name, how, every, severity, blame, keys, source, meaning, more) \
    print_probe(name, #how, every, #severity, meaning, more);
#include "health/probe.tbl"
#undef PROBE
    fputs(".El\n", stdout);
}

static void print_probe_index(void)
{
    fputs(".Bl -column \"bench.memory.bandwidth\" \"meaning\"\n", stdout);
#define PROBE(symbol, name, how, every, severity, blame, keys, source, meaning, more)                    \
    _Static_assert(sizeof(meaning) <= 81, "the meaning of the probe " name " does not fit into a line"); \
    print_index_row(name, meaning);
#include "health/probe.tbl"
#undef PROBE
    fputs(".El\n", stdout);
}

static void print_check_defaults(void)
{
    fputs(".Bl -tag -width Ds\n", stdout);
#define DEFAULT(record, what)   \
    fputs(".It Li \"", stdout); \
    print_roff(record);         \
    fputs("\"\n", stdout);      \
    print_sentence(what);
#include "health/default.tbl"
#undef DEFAULT
    fputs(".El\n", stdout);
}

/* Each set with its records; a long command is told in the table alone. */
static void print_ready(const char *record, const char *what)
{
    const char *run = strstr(record, " Run=");
    char line[512];
    snprintf(line, sizeof line, "%.*s", run ? (int)(run - record) : (int)strlen(record), record);
    fputs(".It Li \"", stdout);
    print_roff(line);
    fputs("\"\n", stdout);
    print_sentence(what);
}

static void print_sets(void)
{
    bool any = false;
#define SET(name, what)                             \
    printf("%s.Ss %s\n", any ? ".El\n" : "", name); \
    any = true;                                     \
    print_sentence(what);                           \
    fputs(".Bl -tag -width Ds\n", stdout);
#define READY(set, record, what) print_ready(record, what);
#include "health/set.tbl"
#undef SET
#undef READY
    fputs(any ? ".El\n" : "", stdout);
}

static void print_tools(void)
{
    fputs(".Bl -tag -width Ds\n", stdout);
#define TOOL(symbol, name, measured, unit, what) \
    printf(".It Li %s\n", name);                 \
    print_sentence(what);                        \
    if (*measured)                               \
        printf("It measures the %s in %s.\n", measured, unit);
#include "health/tool.tbl"
    fputs(".El\n", stdout);
}

/* One argument of a macro, whatever is in it. */
static void print_quoted(const char *s)
{
    putchar('"');
    print_roff(s);
    putchar('"');
}

static void print_end(enum act_end end)
{
    static const char *const said[] = {
        [ACT_ENDS_TIME] = ".\n",
        [ACT_ENDS_REMEDY] = ".\nOnly a remedy or another boot ends it.\n",
        [ACT_ENDS_BOOT] = ".\nOnly another boot ends it, whatever remedies did before.\n",
    };
    fputs(said[end], stdout);
}

static void print_acts(void)
{
    fputs(".Bl -tag -width hardware\n", stdout);
#define ACT(symbol, name, result, ends, what)   \
    printf(".It Sy %s\n", name);                \
    print_sentence(what);                       \
    fputs("The default of Result is ", stdout); \
    print_lower(#result);                       \
    print_end(ACT_ENDS_##ends);
#include "health/act.tbl"
#undef ACT
    fputs(".El\n", stdout);
}

/* The cause of a finding, when it is not the node. */
static void print_blame(const char *blame)
{
    if (strcmp(blame, "NODE") == 0)
        return;
    fputs(" (", stdout);
    print_lower(blame);
    fputs(")", stdout);
}

static void print_blames(void)
{
    fputs(".Bl -tag -width program\n", stdout);
#define BLAME(symbol, name, counts, what) \
    printf(".It Sy %s\n", name);          \
    print_sentence(what);
#include "health/blame.tbl"
#undef BLAME
    fputs(".El\n", stdout);
}

/* A row of a column list: the number or line, the act (unless the row has none), the meaning and its source.
 */
static void print_meaning(const char *of, const char *act, const char *result, const char *blame,
                          const char *what, const char *source)
{
    fputs(".It ", stdout);
    print_quoted(of);
    fputs(" Ta ", stdout);
    print_lower(act);
    if (strcmp(result, "DEFAULT") != 0 && *result) {
        fputs(", ", stdout);
        print_lower(result);
    }
    print_blame(blame);
    fputs(" Ta \"", stdout);
    print_roff(what);
    fputs(" (", stdout);
    print_roff(source);
    fputs(")\"\n", stdout);
}

static const char *range(unsigned first, unsigned last)
{
    static char text[32];
    if (first == last)
        snprintf(text, sizeof text, "%u", first);
    else
        snprintf(text, sizeof text, "%u to %u", first, last);
    return text;
}

static void print_xids(void)
{
    fputs(".Bl -column \"144 to 150\" \"reset, degraded\" \"meaning and source\"\n", stdout);
#define XID(first, last, act, result, blame, what, source) \
    print_meaning(range(first, last), #act, #result, #blame, what, source);
#define XID_SAYS(number, pattern, act, result, blame, what, source) \
    print_meaning(#number " " pattern, #act, #result, #blame, what, source);
#include "health/xid.tbl"
#undef XID
#undef XID_SAYS
    fputs(".El\n", stdout);
}

static void print_sxids(void)
{
    fputs(".Bl -column \"12024 to 12028\" \"watch, fatal: reset\" \"meaning and source\"\n", stdout);
#define SXID(first, last, fatal, nonfatal, what, source)                                                    \
    print_meaning(range(first, last), #nonfatal, strcmp(#fatal, #nonfatal) ? "fatal: " #fatal : "", "NODE", \
                  what, source);
#include "health/sxid.tbl"
#undef SXID
    fputs(".El\n", stdout);
}

static void print_kernel(void)
{
    fputs(".Bl -tag -width Ds\n", stdout);
#define KERNEL(code, kind, pattern, act, result, blame, what, source) \
    fputs(".It Li ", stdout);                                         \
    print_quoted(pattern);                                            \
    printf("\n.Li %s :\n", code);                                     \
    print_lower(#act);                                                \
    if (strcmp(#result, "DEFAULT") != 0) {                            \
        fputs(", ", stdout);                                          \
        print_lower(#result);                                         \
    }                                                                 \
    print_blame(#blame);                                              \
    fputs("; ", stdout);                                              \
    print_roff(what);                                                 \
    printf(" (%s).\n", source);
#define KERNEL_XID(number, pattern, source) \
    fputs(".It Li ", stdout);               \
    print_quoted(pattern);                  \
    printf("\nAs Xid %d (%s).\n", number, source);
#define CLOSES(code, kind, pattern, source) \
    fputs(".It Li ", stdout);               \
    print_quoted(pattern);                  \
    printf("\nEnds\n.Li %s\n(%s).\n", code, source);
#define OFTEN(code, times, within_s, result, source)                         \
    printf(".Pp\n.Li %s\n%d times within %d s are ", code, times, within_s); \
    print_lower(#result);                                                    \
    printf(" (%s).\n", source);
#define LASTS(code, warn_for_s, keep_s, source)                                                         \
    printf(".Pp\n.Li %s\nis a warning until it has lasted for %d s, and ends after %d s (%s).\n", code, \
           warn_for_s, keep_s, source);
#define TAINT(code, bits, source)                                                                           \
    printf(                                                                                                 \
        ".Pp\n.Li %s\nis a warning until\n.Pa /proc/sys/kernel/tainted\nhas one of the bits of %d (%s).\n", \
        code, bits, source);
#include "health/kernel.tbl"
    fputs(".El\n", stdout);
}

static void print_actions(void)
{
    fputs(".Bl -tag -width Ds\n", stdout);
#define ACTION(symbol, name, takes, least, most, what)              \
    printf(".It Sy %s%s%s\n", name, *(takes) ? " Ar " : "", takes); \
    print_sentence(what);
#include "exec/action.tbl"
    fputs(".El\n", stdout);
}

/* The rest of a word behind "@" is a kind. */
static void print_shape(const char *const *words)
{
    fputs(".It\n", stdout);
    for (; *words; words++) {
        const char *mark = strchr(*words, '@');
        char before[256];
        snprintf(before, sizeof before, "%.*s", mark ? (int)(mark - *words) : -1, *words);
        fputs("\\fB", stdout);
        print_roff(before);
        printf("\\fR%s%s%s ", mark ? "\\fI" : "", mark ? mark + 1 : "", mark ? "\\fR" : "");
    }
    putchar('\n');
}

static void print_shapes(void)
{
    fputs(".Bl -bullet -compact\n", stdout);
#define SHAPE(changes, ...) print_shape((const char *const[]){__VA_ARGS__, NULL});
#include "exec/slurm.tbl"
    fputs(".El\n", stdout);
}

/* --- reasons and what to do ----------------------------------------------------------------------- */

/* Like print_roff, with what stands between ` as words to type. */
static void print_typed(const char *s)
{
    bool typed = false;
    for (const char *mark; (mark = strchr(s, '`')); s = mark + 1) {
        char before[512];
        snprintf(before, sizeof before, "%.*s", (int)(mark - s), s);
        print_roff(before);
        fputs(typed ? "\\fR" : "\\fB", stdout);
        typed = !typed;
    }
    print_roff(s);
}

static void print_reason(const char *words, const char *rest, const char *what, const char *todo)
{
    fputs(".It \\fB", stdout);
    print_roff(words);
    fputs("\\fR", stdout);
    fputs(*rest ? "\\fI" : "", stdout);
    print_roff(rest);
    fputs(*rest ? "\\fR\n" : "\n", stdout);
    print_sentence(what);
    fputs(".Em To do :\n", stdout);
    print_typed(todo);
    fputs(".\n", stdout);
}

/* Nothing builds with a row that says nothing of what to do. */
#define REASON(words, rest, what, todo)                                       \
    _Static_assert(sizeof(todo) > 1, "a row of this table lacks what to do"); \
    print_reason(words, rest, what, todo);

static void print_whys(void)
{
    fputs(".Bl -tag -width Ds\n", stdout);
#define WHY(symbol, words, rest, what, todo) REASON(words, rest, what, todo)
#include "node/why.tbl"
#undef WHY
    fputs(".El\n", stdout);
}

static void print_state_reasons(void)
{
    fputs(".Bl -tag -width Ds\n", stdout);
#define LIFECYCLE(symbol, name, idle, busy, what, todo) REASON(name, "", what, todo)
#include "node/lifecycle.tbl"
#undef LIFECYCLE
    fputs(".El\n", stdout);
}

static void print_claim_reasons(void)
{
    fputs(".Bl -tag -width Ds\n", stdout);
#define CLAIM(symbol, name, who, what, todo) REASON(name, "", what, todo)
#include "cluster/state/claim.tbl"
#undef CLAIM
    fputs(".El\n", stdout);
}

static void print_steps(void)
{
    fputs(".Bl -tag -width Ds\n", stdout);
#define STEP(symbol, name, lifecycle, what, todo) REASON(name, "", what, todo)
#include "node/step.tbl"
#undef STEP
    fputs(".El\n", stdout);
}

static void print_move(const struct step_move *m)
{
    const char *guard = step_guard_what(m->guard), *then = step_then_what(m->then);
    printf(".It %s Ta %s Ta %s Ta \"", step_name(m->from), step_name(m->to),
           step_event_is_persons(m->event) ? "a person" : "Fettle");
    print_roff(step_event_what(m->event));
    fputs(*guard ? ", and " : "", stdout);
    print_roff(guard);
    fputs(*then ? ": " : "", stdout);
    print_roff(then);
    fputs("\"\n", stdout);
}

static void print_moves(void)
{
    size_t n;
    const struct step_move *moves = step_moves(&n);
    fputs(".Bl -column \"quarantine\" \"quarantine\" \"a person\" \"when\"\n"
          ".It Sy from Ta Sy to Ta Sy by Ta Sy when\n",
          stdout);
    for (size_t i = 0; i < n; i++)
        print_move(&moves[i]);
    fputs(".El\n", stdout);
}

static void print_journal_words(void)
{
    fputs(".Bl -tag -width Ds\n", stdout);
#define COMMAND(symbol, name, id, meets, published, says, who, todo) REASON(name, "", who, todo)
#include "cluster/command/command.tbl"
#undef COMMAND
    REASON("state.made", "", "the first controller in a new state: what the state is called", "nothing")
    fputs(".El\n", stdout);
}

static void print_alarm_reasons(void)
{
    fputs(".Bl -tag -width Ds\n", stdout);
#define ALARM(symbol, name, meaning, end, todo) REASON(name, "", meaning, todo)
#include "watch/view/alarm.tbl"
#undef ALARM
    fputs(".El\n", stdout);
}

static const struct {
    const char *name;
    void (*print)(void);
} parts[] = {{"@synopsis@", print_synopsis},
             {"@commands@", print_commands},
             {"@options@", print_common},
             {"@fields@", print_fields},
             {"@records@", print_records},
             {"@exits@", print_exits},
             {"@setting_index@", print_setting_index},
             {"@settings@", print_settings},
             {"@settable@", print_settable},
             {"@flags@", print_flags},
             {"@states@", print_states},
             {"@claims@", print_claims},
             {"@alarms@", print_alarms},
             {"@counterparts@", print_counterparts},
             {"@routes@", print_routes},
             {"@roles@", print_roles},
             {"@rights@", print_rights},
             {"@grants@", print_grants},
             {"@changes@", print_changes},
             {"@errors@", print_errors},
             {"@severities@", print_severities},
             {"@services@", print_services},
             {"@sysctls@", print_sysctls},
             {"@normal@", print_normal},
             {"@policies@", print_policies},
             {"@terms@", print_terms},
             {"@passes@", print_passes},
             {"@acts@", print_acts},
             {"@blames@", print_blames},
             {"@xids@", print_xids},
             {"@sxids@", print_sxids},
             {"@kernel@", print_kernel},
             {"@check_key_index@", print_check_key_index},
             {"@check_keys@", print_check_keys},
             {"@results@", print_results},
             {"@probe_index@", print_probe_index},
             {"@probes@", print_probes},
             {"@check_defaults@", print_check_defaults},
             {"@sets@", print_sets},
             {"@tools@", print_tools},
             {"@actions@", print_actions},
             {"@shapes@", print_shapes},
             {"@whys@", print_whys},
             {"@state_reasons@", print_state_reasons},
             {"@claim_reasons@", print_claim_reasons},
             {"@steps@", print_steps},
             {"@moves@", print_moves},
             {"@journal_words@", print_journal_words},
             {"@alarm_reasons@", print_alarm_reasons}};

static int fill(char *line)
{
    if (line[0] != '@')
        return fputs(line, stdout) < 0;
    line[strcspn(line, "\n")] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strcmp(parts[i].name, line) == 0) {
            parts[i].print();
            return 0;
        }
    }
    fprintf(stderr, "no part %s\n", line);
    return 1;
}

int main(void)
{
    char line[4096];
    while (fgets(line, sizeof line, stdin))
        if (fill(line) != 0)
            return 1;
    return ferror(stdin) || fflush(stdout) != 0;
}
