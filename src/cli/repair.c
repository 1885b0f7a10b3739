/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands about remedies, repairs, the work queue, brakes and power.
 */
#include "cli/listing.h"
#include "cli/print.h"
#include "cli/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- remedies ---- */

int remedy_list(struct call *c, struct err *e)
{
    static const struct listing remedies = {.record = RECORD_REMEDY, .all = fettle_remedy_list};
    return listing_show(c, &remedies, NULL, e);
}

static void write_choice(struct call *c, const struct fettle_value *v)
{
    report_line(&c->out, "Node", fettle_get_text(v, "node"));
    REPORT_EACH(i, fettle_value_find(v, "open"))
    {
        CLEANUP_TEXT struct text line = {0};
        const struct fettle_value *worst = fettle_value_first(fettle_value_find(i, "findings"));
        text_printf(&line, "%s %s%s%s: %s", report_text(i, "severity"),
                    *report_text(worst, "code") ? report_text(worst, "code") : report_text(worst, "check"),
                    *report_text(i, "group") ? " " : "", report_text(i, "group"), report_text(worst, "text"));
        report_line(&c->out, "Open", line.s);
    }
    const char *chosen = fettle_get_text(v, "chosen");
    report_line(&c->out, "Chosen",
                chosen                                                  ? chosen
                : fettle_get_true(v, "waits")                           ? "nothing yet"
                : fettle_value_count(fettle_value_find(v, "open")) == 0 ? "nothing"
                                                                        : "a person");
    report_line(&c->out, "Why", fettle_get_text(v, "why"));
    const struct fettle_value *r = fettle_value_find(v, "repair");
    CLEANUP_TEXT struct text repair = {0};
    if (*report_text(r, "step"))
        text_printf(&repair, "%s: %s", report_text(r, "step"), report_text(r, "why"));
    report_line(&c->out, "Repair", repair.s);
    text_add(&c->out, "Costs are minutes out of service.\n");
}

static int ask_choice(struct call *c, const struct query *q, struct fettle_answer **answer, struct err *e)
{
    return call_about(c, fettle_remedy_explain, answer, e);
}

int remedy_explain(struct call *c, struct err *e)
{
    static const struct listing candidates = {
        .record = RECORD_CANDIDATE, .ask = ask_choice, .whole = true, .above = write_choice};
    return listing_show(c, &candidates, NULL, e);
}

/* ---- repairs ---- */

/* "remedy: the node is drained, and a remedy was chosen" */
static void write_move(const struct fettle_value *m, struct text *out)
{
    CLEANUP_TEXT struct text line = {0};
    bool persons = strcmp(report_text(m, "by"), "person") == 0,
         back = strcmp(report_text(m, "to"), "none") == 0;
    text_printf(&line, "%s: %s%s%s", back ? "in service" : report_text(m, "to"),
                persons ? "a person commands " : "", report_text(m, "when"),
                *report_text(m, "guard") ? ", and " : "");
    text_add(&line, report_text(m, "guard"));
    report_line(out, "May go to", line.s);
}

static void write_repair(struct call *c, const struct fettle_value *r)
{
    struct text *out = &c->out;
    static const char *const lines[][2] = {
        {"Step", "step"},         {"What", "what"},        {"Why", "why"},           {"Problem", "problem"},
        {"Deadline", "deadline"}, {"Remedy", "remedy"},    {"Approval", "approval"}, {"Answered", "approver"},
        {"Examined", "examined"}, {"Taken by", "taken_by"}};
    if (fettle_value_kind(r) != FETTLE_OBJECT) {
        text_add(out, "never repaired\n");
        return;
    }
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const char *value = fettle_get_text(r, lines[i][1]);
        bool nothing = strcmp(lines[i][1], "approval") == 0 && value && strcmp(value, "none") == 0;
        report_line(out, lines[i][0], nothing ? NULL : value);
    }
    report_since(out, "Began", fettle_get_text(r, "began"));
    report_since(out, "Step since", fettle_get_text(r, "since"));
    REPORT_EACH(i, fettle_value_find(r, "attempts"))
    {
        CLEANUP_TEXT struct text line = {0};
        text_printf(&line, "%s %s for %s: %s; %s", report_text(i, "at"), report_text(i, "remedy"),
                    report_text(i, "fault"),
                    *report_text(i, "text")      ? report_text(i, "text")
                    : fettle_get_true(i, "done") ? "done"
                                                 : "under way",
                    report_text(i, "verdict"));
        report_line(out, "Tried", line.s);
    }
    REPORT_EACH(i, fettle_value_find(r, "notes"))
    {
        CLEANUP_TEXT struct text line = {0};
        text_printf(&line, "%s %s: %s", report_text(i, "at"), report_text(i, "by"), report_text(i, "text"));
        report_line(out, "Note", line.s);
    }
    bool goes_on = strcmp(report_text(r, "step"), "none") != 0; /* else the moves would begin another one */
    REPORT_EACH(i, goes_on ? fettle_value_find(r, "moves") : NULL)
    {
        write_move(i, out);
    }
}

int repair_list(struct call *c, struct err *e)
{
    static const struct listing repairs = {.record = RECORD_REPAIR, .all = fettle_repair_list};
    return listing_show(c, &repairs, NULL, e);
}

static int ask_health(struct call *c, const struct query *q, struct fettle_answer **answer, struct err *e)
{
    return call_about(c, fettle_health_show, answer, e);
}

int repair_show(struct call *c, struct err *e)
{
    static const struct listing attempts = {
        .record = RECORD_ATTEMPT, .ask = ask_health, .whole = true, .part = "repair", .people = write_repair};
    return listing_show(c, &attempts, NULL, e);
}

/* ---- what people say ---- */

static int need_reason(struct call *c, struct err *e)
{
    const char *reason = c->value[OPTION_REASON];
    if (reason && reason[strspn(reason, " \t")] != '\0')
        return 0;
    return err_set(e, -EINVAL, "why? \"fettle %s\" needs --reason", c->command->path);
}

/* The controller checks this too; but a typing mistake is reported here, before it is asked. */
static int check_word(const char *word, enum subject subject, const char *what, struct err *e)
{
    static const struct {
        enum subject subject;
        const char *word;
    } rows[] = {
#define WORD(subject, word, what) {SUBJECT_##subject, word},
#include "cli/choice.tbl"
#undef WORD
    };
    const char *known[sizeof rows / sizeof rows[0]];
    size_t n = 0;
    CLEANUP_TEXT struct text list = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].subject != subject)
            continue;
        if (strcmp(word, rows[i].word) == 0)
            return 0;
        text_printf(&list, "%s%s", n ? ", " : "", rows[i].word);
        known[n++] = rows[i].word;
    }
    const char *near = text_nearest(word, known, n);
    if (near)
        return err_set(e, -EINVAL, "\"%s\" is no %s; the nearest is \"%s\"", word, what, near);
    return err_set(e, -EINVAL, "\"%s\" is no %s: %s", word, what, list.s);
}

static int transition_post(struct call *c, const char *transition, size_t from, const char *done,
                           struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = need_reason(c, e);
    if (r == 0)
        r = choice_target_list(c, c->args + from, c->n_args - from, &nodes, e);
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    r = call_told(fettle_repair_move(f, nodes, transition, c->value[OPTION_REASON], &answer, &why), &why, e);
    return r < 0 ? r : report_change(c, answer, done, "nothing changed");
}

int repair_move(struct call *c, struct err *e)
{
    int r = check_word(c->args[0], SUBJECT_TRANSITION, "transition", e);
    return r < 0 ? r : transition_post(c, c->args[0], 1, c->args[0], e);
}

enum { FINDINGS_MAX = 16 };

/* "FAULT" or "FAULT DEVICE", as in `fettle incident list`; a fault has no blank. The caller owns words. */
static int read_findings(struct call *c, char **words, struct fettle_finding *out, size_t *n, struct err *e)
{
    *n = c->n_args - 1;
    if (*n > FINDINGS_MAX)
        return err_set(e, -EINVAL, "%zu findings; %d at most are named at once", *n, FINDINGS_MAX);
    for (size_t i = 0; i < *n; i++) {
        words[i] = mem_dup(c->args[i + 1]);
        char *device = strchr(words[i], ' ');
        if (device)
            *device++ = '\0';
        out[i] = (struct fettle_finding){words[i], device};
    }
    return 0;
}

static int resolve_findings(struct call *c, struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    char *words[FINDINGS_MAX] = {NULL};
    struct fettle_finding findings[FINDINGS_MAX];
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    size_t n = 0;
    int r = need_reason(c, e);
    if (r == 0)
        r = choice_nodes(c->args, 1, &nodes, e);
    if (r == 0)
        r = read_findings(c, words, findings, &n, e);
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (f)
        r = call_told(fettle_queue_resolve(f, nodes, findings, n, c->value[OPTION_REASON], &answer, &why),
                      &why, e);
    for (size_t i = 0; i < FINDINGS_MAX; i++)
        free(words[i]);
    if (!f)
        return e->code;
    return r < 0 ? r : report_change(c, answer, "your word counts", "nothing changed");
}

int queue_resolve(struct call *c, struct err *e)
{
    if (c->n_args > 1)
        return resolve_findings(c, e);
    return transition_post(c, "human_intervention", 0,
                           "your word counts; back in service when every check passes", e);
}

int queue_retire(struct call *c, struct err *e)
{
    return transition_post(c, "retire", 0, "retired", e);
}

enum { NUMBERS_TRIES = 50 };

int repair_numbers(struct call *c, struct err *e)
{
    static const char *const lines[][2] = {{"Transitions", "transitions"},
                                           {"Remediations", "remediations"},
                                           {"Fixed by itself", "by_itself"},
                                           {"To the queue", "queued"},
                                           {"By a person", "by_person"}};
    uint64_t hours = 0;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = c->n_args ? text_parse_u64(c->args[0], 4, 48, &hours, e) : 0;
    if (r < 0)
        return err_wrap(e, r, "HOURS");
    struct fettle *f = call_controller(c, e);
    if (!f)
        return e->code;
    /* A controller that has just started reads its journal, a part for each request. */
    for (int i = 0; i == 0 || (r == -EAGAIN && i < NUMBERS_TRIES); i++)
        r = fettle_repair_numbers(f, (unsigned)hours, &answer, &why);
    r = call_told(r, &why, e);
    if (r < 0)
        return r;
    const struct fettle_value *v = fettle_answer_value(answer);
    if (call_has(c, OPTION_JSON)) {
        report_json(c, v);
    } else {
        CLEANUP_TEXT struct text last = {0};
        text_printf(&last, "the last %s hours", report_text(v, "hours"));
        report_line(&c->out, "Period", last.s);
        for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
            report_line(&c->out, lines[i][0], fettle_get_text(v, lines[i][1]));
    }
    fettle_answer_free(answer);
    return 0;
}

typedef int say_fn(struct fettle *f, const char *nodes, const char *word, const char *words,
                   struct fettle_answer **out, struct fettle_error *e);

static int repair_say(struct call *c, say_fn *fn, const char *done, struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = choice_target_list(c, c->args, c->n_args, &nodes, e);
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    r = call_told(fn(f, nodes, c->value[OPTION_REMEDY], c->value[OPTION_REASON], &answer, &why), &why, e);
    return r < 0 ? r : report_change(c, answer, done, "nothing changed");
}

int repair_approve(struct call *c, struct err *e)
{
    return repair_say(c, fettle_repair_approve, "approved", e);
}

int repair_refuse(struct call *c, struct err *e)
{
    int r = need_reason(c, e);
    return r < 0 ? r : repair_say(c, fettle_repair_refuse, "refused; in the work queue", e);
}

static int ticket_note(struct fettle *f, const char *nodes, const char *word, const char *words,
                       struct fettle_answer **out, struct fettle_error *e)
{
    return fettle_queue_note(f, nodes, words, out, e);
}

int queue_note(struct call *c, struct err *e)
{
    int r = need_reason(c, e);
    return r < 0 ? r : repair_say(c, ticket_note, "noted", e);
}

static int repair_take(struct fettle *f, const char *nodes, const char *word, const char *words,
                       struct fettle_answer **out, struct fettle_error *e)
{
    return fettle_queue_take(f, nodes, out, e);
}

int queue_take(struct call *c, struct err *e)
{
    return repair_say(c, repair_take, "taken", e);
}

/* ---- the work queue ---- */

int queue_list(struct call *c, struct err *e)
{
    static const struct listing tickets = {.record = RECORD_TICKET, .all = fettle_queue_list};
    return listing_show(c, &tickets, NULL, e);
}

/* ---- overrides ---- */

int override_list(struct call *c, struct err *e)
{
    static const struct listing overrides = {.record = RECORD_OVERRIDE, .all = fettle_override_list};
    return listing_show(c, &overrides, NULL, e);
}

static int put_override(struct fettle *f, const char *nodes, const char *word, const char *words,
                        struct fettle_answer **out, struct fettle_error *e)
{
    return fettle_override_set(f, nodes, words, out, e);
}

static int drop_override(struct fettle *f, const char *nodes, const char *word, const char *words,
                         struct fettle_answer **out, struct fettle_error *e)
{
    return fettle_override_end(f, nodes, words, out, e);
}

int override_set(struct call *c, struct err *e)
{
    int r = need_reason(c, e);
    return r < 0 ? r : repair_say(c, put_override, "in service by your word", e);
}

int override_end(struct call *c, struct err *e)
{
    int r = need_reason(c, e);
    return r < 0 ? r : repair_say(c, drop_override, "the override is over", e);
}

/* ---- brakes ---- */

static int set_brake(struct call *c, const char *name, bool on, const char *done, struct err *e)
{
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = need_reason(c, e);
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    r = call_told(fettle_brake_set(f, name, on, c->value[OPTION_REASON], &answer, &why), &why, e);
    return r < 0 ? r : report_change(c, answer, done, done);
}

int brake_stop(struct call *c, struct err *e)
{
    return set_brake(c, "stop", true, "no remedy is begun any more", e);
}

int brake_release(struct call *c, struct err *e)
{
    return set_brake(c, c->n_args ? c->args[0] : "stop", false, "released", e);
}

int brake_list(struct call *c, struct err *e)
{
    static const struct listing brakes = {.record = RECORD_BRAKE, .all = fettle_brake_list};
    return listing_show(c, &brakes, NULL, e);
}

/* ---- power ---- */

static int switch_power(struct call *c, const char *nodes, struct fettle_answer **answer, struct err *e)
{
    struct fettle_error why;
    struct fettle *f = call_controller(c, e);
    if (!f)
        return e->code;
    return call_told(
        fettle_power(f, nodes, c->args[0], c->value[OPTION_REASON], call_has(c, OPTION_FORCE), answer, &why),
        &why, e);
}

/* Shows a person at a terminal what will be done, and asks for a yes when several nodes are involved. */
static int confirm_power(struct call *c, const char *nodes, struct err *e)
{
    struct fettle_answer *answer = NULL;
    bool asks = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && !call_has(c, OPTION_DRY_RUN);
    if (!asks || !call_controller(c, e))
        return asks ? e->code : 0;
    fettle_dry_run(c->fettle, true);
    int r = switch_power(c, nodes, &answer, e);
    fettle_dry_run(c->fettle, false);
    return r < 0 ? r : report_confirm(c, answer, e);
}

/* "status" only reads the power. */
static int check_power(struct call *c, struct err *e)
{
    int r = check_word(c->args[0], SUBJECT_VERB, "verb", e);
    bool looks = r == 0 && strcmp(c->args[0], "status") == 0;
    if (looks && (call_has(c, OPTION_DRY_RUN) || call_has(c, OPTION_FORCE) || call_has(c, OPTION_REASON)))
        return err_set(e, -EINVAL, "\"power status\" changes nothing: no --reason, --force or --dry-run");
    return r < 0 || looks ? r : need_reason(c, e);
}

static int ask_power(struct call *c, const struct query *q, struct fettle_answer **answer, struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    int r = check_power(c, e);
    if (r == 0)
        r = choice_target_list(c, c->args + 1, c->n_args - 1, &nodes, e);
    if (r == 0 && strcmp(c->args[0], "status") != 0)
        r = confirm_power(c, nodes, e);
    return r == 0 ? switch_power(c, nodes, answer, e) : r;
}

int power_nodes(struct call *c, struct err *e)
{
    static const struct listing answers = {.record = RECORD_POWER, .ask = ask_power};
    return listing_results(c, &answers, e);
}
