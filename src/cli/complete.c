/* SPDX-License-Identifier: Apache-2.0
 *
 * What may follow the words of a call, for the completion of all shells: a candidate a line, with its meaning
 * behind a tab. Commands, options, fields and words come from the tables; names of nodes, checks, remedies,
 * classes and claims are asked of the controller, with a short time limit, and silence is no candidate.
 */
#include "base/hostlist.h"
#include "cli/choice.h"
#include "cli/report.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

struct completion {
    struct call *call; /* the call of `complete`: asks, and prints */
    const char *current;
    size_t had;           /* bytes of it that stay: "name," of "name,sta" */
    const char *plain[8]; /* earlier words that are neither options nor their values */
    size_t n_plain;
    const struct command *command; /* NULL: the words are not a command yet */
    size_t used;                   /* the length of its path in words */
};

/* ---- candidates ---- */

static void complete_offer(const struct completion *c, const char *word, const char *end, const char *what)
{
    const char *typed = c->current + c->had;
    struct text *out = &c->call->out;
    if (strncasecmp(word, typed, strlen(typed)) != 0)
        return;
    text_printf(out, "%.*s%s%s\t", (int)c->had, c->current, word, end);
    text_add(out, what);
    text_add_char(out, '\n');
}

/* True when a shell takes the name literally. */
static bool is_plain_name(const char *s)
{
    return *s && *s != '-' &&
           s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] == '\0';
}

static void offer_name(const struct completion *c, const char *name, const char *what)
{
    if (name && is_plain_name(name))
        complete_offer(c, name, "", what);
}

static void offer_members(const struct completion *c, call_answer_fn *ask, const char *rows, const char *key,
                          const char *what)
{
    struct fettle_answer *answer = NULL;
    struct err e = {0};
    if (call_answer(c->call, ask, &answer, &e) == 0)
        REPORT_EACH(i, fettle_value_find(fettle_answer_value(answer), rows))
    offer_name(c, fettle_get_text(i, key), report_text(i, what));
    fettle_answer_free(answer);
}

static int ask_names(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    return fettle_node_list(f, NULL, "Name,State", out, e);
}

static int ask_owners(struct fettle *f, struct fettle_answer **out, struct fettle_error *e)
{
    return fettle_owner_list(f, NULL, out, e);
}

/* Offers the claims on the nodes named before. */
static void offer_claims(const struct completion *c)
{
    CLEANUP_HOSTLIST struct hostlist h = {0};
    struct err e = {0};
    struct fettle *f = call_controller(c->call, &e);
    if (!f || c->n_plain <= c->used || hostlist_parse(c->plain[c->used], &h, NULL) < 0)
        return;
    for (size_t i = 0; i < h.n && i < 8; i++) {
        struct fettle_answer *answer = NULL;
        struct fettle_error why;
        if (fettle_node_show(f, h.names[i], &answer, &why) == 0)
            REPORT_EACH(claim, fettle_value_find(fettle_answer_value(answer), "claims"))
        offer_name(c, fettle_get_text(claim, "id"), report_text(claim, "kind"));
        fettle_answer_free(answer);
    }
}

static void offer_words(const struct completion *c, enum subject subject)
{
    static const struct {
        enum subject subject;
        const char *word, *what;
    } words[] = {
#define WORD(subject, word, what) {SUBJECT_##subject, word, what},
#include "cli/choice.tbl"
#undef WORD
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i].subject == subject)
            complete_offer(c, words[i].word, "", words[i].what);
}

/* Offers the fields of the command's records, or of nodes. */
static void offer_fields(struct completion *c, const char *end)
{
    const struct record_info *r = c->command ? record_find(c->command->path) : NULL;
    if (!r)
        r = record_info(RECORD_NODE);
    const char *comma = strrchr(c->current, ',');
    c->had = *end ? 0 : comma ? (size_t)(comma - c->current) + 1 : *c->current == '-';
    for (size_t i = 0; i < r->n; i++)
        complete_offer(c, r->fields[i].name, end, r->fields[i].what);
}

/* ---- which candidates ---- */

static void offer_forms(struct completion *c)
{
    static const char *const forms[][2] = {
        {"wide", "more fields"}, {"all", "every field"}, {"json", "as JSON"},
        {"yaml", "as YAML"},     {"csv", "as CSV"},      {"help", "the fields and their meanings"}};
    bool lists = c->command && record_find(c->command->path);
    if (lists)
        offer_fields(c, "");
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (lists || i == 2 || i == 3)
            complete_offer(c, forms[i][0], "", forms[i][1]);
}

static void offer_subject(struct completion *c, enum subject subject)
{
    switch (subject) {
    case SUBJECT_NODE: offer_members(c, ask_names, "nodes", "Name", "State"); break;
    case SUBJECT_CHECK: offer_members(c, fettle_check_list, "checks", "check", "what"); break;
    case SUBJECT_REMEDY: offer_members(c, fettle_remedy_list, "remedies", "remedy", "because"); break;
    case SUBJECT_TOKEN: offer_members(c, fettle_token_list, "tokens", "id", "nodes"); break;
    case SUBJECT_CLASS: offer_members(c, fettle_class_list, "classes", "name", "nodes"); break;
    case SUBJECT_OWNER: offer_members(c, ask_owners, "owners", "owner", "nodes"); break;
    case SUBJECT_CONTROLLER: offer_members(c, fettle_controller_list, "controllers", "name", "state"); break;
    case SUBJECT_CLAIM: offer_claims(c); break;
    case SUBJECT_FIELD: offer_fields(c, ""); break;
    case SUBJECT_FILTER: offer_fields(c, "="); break;
    case SUBJECT_FORM: offer_forms(c); break;
    case SUBJECT_VERB:
    case SUBJECT_TRANSITION:
    case SUBJECT_ROLE:
    case SUBJECT_WHEN: offer_words(c, subject); break;
    case SUBJECT_NONE: break;
    }
}

static void offer_options(const struct completion *c)
{
    CLEANUP_TEXT struct text name = {0};
    uint64_t common = call_options();
    for (size_t o = 0; o < OPTIONS; o++) {
        text_clear(&name);
        text_printf(&name, "--%s", option_info((enum option)o)->name);
        if (((c->command ? c->command->options : 0) | common) & UINT64_C(1) << o)
            complete_offer(c, name.s, "", option_info((enum option)o)->what);
    }
}

/* True when the path continues after the plain words; *rest is its continuation. */
static bool goes_on(const struct completion *c, const char *path, const char **rest)
{
    for (size_t i = 0; i < c->n_plain; i++) {
        size_t len = strlen(c->plain[i]);
        if (strncmp(path, c->plain[i], len) != 0 || path[len] != ' ')
            return false;
        path += len + 1;
    }
    *rest = path;
    return true;
}

/* Offers the next words of paths, each once: commands that share a word are adjacent. */
static void offer_paths(const struct completion *c)
{
    CLEANUP_TEXT struct text next = {0}, before = {0};
    for (size_t i = 0; i < commands_n; i++) {
        const char *rest;
        if (!goes_on(c, commands[i].path, &rest))
            continue;
        size_t len = strcspn(rest, " ");
        text_clear(&next);
        text_add_bytes(&next, rest, len);
        if (!before.s || strcmp(before.s, next.s) != 0)
            complete_offer(c, next.s, "", rest[len] ? "" : commands[i].what);
        text_clear(&before);
        text_add(&before, next.s);
    }
}

static void offer_plain(struct completion *c)
{
    offer_paths(c);
    if (c->command)
        offer_subject(c, command_subject(c->command, c->n_plain - c->used));
}

/* ---- the words before ---- */

/* The option of this word, when its value is the next word; otherwise OPTIONS. */
static enum option option_of(const char *word)
{
    for (size_t o = 0; o < OPTIONS; o++) {
        const struct option_info *i = option_info((enum option)o);
        bool is_long = strncmp(word, "--", 2) == 0 && strcmp(word + 2, i->name) == 0;
        bool is_short = i->letter && word[0] == '-' && word[1] == i->letter && word[2] == '\0';
        if ((is_long || is_short) && *i->argument)
            return (enum option)o;
    }
    return OPTIONS;
}

static enum option read_words(struct completion *c, const char *const *words, size_t n)
{
    enum option open = OPTIONS;
    for (size_t i = 0; i + 1 < n; i++) {
        bool is_value = open != OPTIONS;
        open = is_value ? OPTIONS : option_of(words[i]);
        bool help = c->n_plain == 0 && strcmp(words[i], "help") == 0;
        if (!is_value && words[i][0] != '-' && !help && c->n_plain < sizeof c->plain / sizeof c->plain[0])
            c->plain[c->n_plain++] = words[i];
    }
    c->current = n > 0 ? words[n - 1] : "";
    c->command = call_find(c->plain, c->n_plain, &c->used);
    return open;
}

int complete_show(struct call *call, struct err *e)
{
    struct completion c = {.call = call};
    enum option open = read_words(&c, call->args, call->n_args);
    if (!call_has(call, OPTION_TIMEOUT))
        call->value[OPTION_TIMEOUT] = "2s";
    if (open != OPTIONS)
        offer_subject(&c, option_info(open)->subject);
    else if (c.current[0] == '-')
        offer_options(&c);
    else
        offer_plain(&c);
    return 0;
}
