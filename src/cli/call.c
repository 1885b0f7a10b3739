/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of the tool: parses its words into arguments and options, connects to the controller, and prints
 * the outcome.
 */
#include "cli/command.h"

#include "base/clock.h"
#include "cli/client.h"
#include "cli/record.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int find_long(const char *name, size_t len, enum option *out, struct err *e)
{
    const char *names[OPTIONS];
    for (size_t i = 0; i < OPTIONS; i++) {
        names[i] = option_info((enum option)i)->name;
        if (strlen(names[i]) == len && strncmp(names[i], name, len) == 0) {
            *out = (enum option)i;
            return 0;
        }
    }
    CLEANUP_FREE char *word = mem_dup_len(name, len);
    const char *near = text_nearest(word, names, OPTIONS);
    if (near)
        return err_set(e, -EINVAL, "unknown option \"--%s\"; the nearest known is \"--%s\"", word, near);
    return err_set(e, -EINVAL, "unknown option \"--%s\"", word);
}

static int find_letter(char letter, enum option *out, struct err *e)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        if (letter != 0 && option_info((enum option)i)->letter == letter) {
            *out = (enum option)i;
            return 0;
        }
    }
    return err_set(e, -EINVAL, "unknown option \"-%c\"", letter);
}

struct words {
    char **at;
    size_t n;
};

static char *take_word(struct words *w)
{
    if (w->n == 0)
        return NULL;
    w->n--;
    return *w->at++;
}

/* A reason may be given without quotes: it extends to the next option, unless its first word has blanks. */
static const char *take_reason(struct call *c, struct words *w, const char *first)
{
    if (!first || strpbrk(first, " \t"))
        return first;
    struct text t = {0};
    text_add(&t, first);
    while (w->n > 0 && (*w->at)[0] != '-') {
        text_add_char(&t, ' ');
        text_add(&t, take_word(w));
    }
    free(c->reason);
    c->reason = text_take(&t);
    return c->reason;
}

static int keep_value(struct call *c, enum option o, const char *value, struct err *e)
{
    if (!value)
        return err_set(e, -EINVAL, "--%s needs its %s", option_info((enum option)o)->name,
                       option_info((enum option)o)->argument);
    if (c->value[o] && *option_info((enum option)o)->argument && o != OPTION_WHERE)
        return err_set(e, -EINVAL, "--%s is given twice", option_info((enum option)o)->name);
    c->value[o] = value;
    if (o == OPTION_WHERE) {
        c->wheres = mem_grow(c->wheres, (c->n_wheres + 1) * sizeof *c->wheres);
        c->wheres[c->n_wheres++] = value;
    }
    return 0;
}

static int take_long(struct call *c, char *word, struct words *w, struct err *e)
{
    enum option o = OPTIONS;
    size_t len = strcspn(word, "=");
    const char *value = word[len] == '=' ? word + len + 1 : NULL;
    int r = find_long(word, len, &o, e);
    if (r < 0)
        return r;
    if (option_info((enum option)o)->argument[0] == '\0')
        return value ? err_set(e, -EINVAL, "--%s takes no value", option_info((enum option)o)->name)
                     : keep_value(c, o, "", e);
    if (!value)
        value = o == OPTION_REASON ? take_reason(c, w, take_word(w)) : take_word(w);
    return keep_value(c, o, value, e);
}

/* One or several letters; the last may have its value attached or as the next word. */
static int take_letters(struct call *c, char *word, struct words *w, struct err *e)
{
    for (; *word; word++) {
        enum option o = OPTIONS;
        int r = find_letter(*word, &o, e);
        if (r < 0)
            return r;
        bool is_switch = option_info((enum option)o)->argument[0] == '\0';
        const char *value = is_switch ? "" : word[1] ? word + 1 : take_word(w);
        if (o == OPTION_REASON)
            value = take_reason(c, w, value);
        r = keep_value(c, o, value, e);
        if (r < 0 || !is_switch)
            return r;
    }
    return 0;
}

static int call_split(struct call *c, struct words w, struct err *e)
{
    bool only_args = false;
    c->args = mem_alloc((w.n + 2) * sizeof *c->args); /* two more for `help` */
    for (char *word; (word = take_word(&w));) {
        int r = 0;
        if (only_args || word[0] != '-' || word[1] == '\0')
            c->args[c->n_args++] = word;
        else if (strcmp(word, "--") == 0)
            only_args = true;
        else if (word[1] == '-')
            r = take_long(c, word + 2, &w, e);
        else
            r = take_letters(c, word + 1, &w, e);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Checks -o of a command that lists no records. */
static int check_output(struct call *c, struct err *e)
{
    const char *output = c->value[OPTION_OUTPUT];
    if (!output || c->command->options & UINT64_C(1) << OPTION_SORT)
        return 0;
    c->yaml = strcmp(output, "yaml") == 0;
    if (!c->yaml && strcmp(output, "json") != 0)
        return err_set(e, -EINVAL, "\"fettle %s\" lists no records: -o json, or -o yaml", c->command->path);
    c->value[OPTION_JSON] = "";
    return 0;
}

static int check_color(const struct call *c, struct err *e)
{
    const char *when = c->value[OPTION_COLOR];
    if (!when || strcmp(when, "auto") == 0 || strcmp(when, "always") == 0 || strcmp(when, "never") == 0)
        return 0;
    return err_set(e, -EINVAL, "--color %s: one of auto, always, never", when);
}

static int call_check(struct call *c, struct err *e)
{
    const struct command *k = c->command;
    for (size_t i = 0; i < OPTIONS; i++)
        if (c->value[i] && !((k->options | call_options()) & UINT64_C(1) << i))
            return err_set(e, -EINVAL, "\"fettle %s\" has no option --%s", k->path,
                           option_info((enum option)i)->name);
    int r = check_output(c, e);
    if (r == 0)
        r = check_color(c, e);
    if (r < 0)
        return r;
    if (c->n_args > k->most)
        return err_set(e, -EINVAL, "\"%s\" is too much for \"fettle %s\"", c->args[k->most], k->path);
    size_t least = k->least - (call_selects(c) && c->n_wheres > 0);
    if (c->n_args < least && call_has(c, OPTION_REASON))
        return err_set(e, -EINVAL, "which nodes? name them before --reason, which takes the words after it");
    if (c->n_args < least)
        return err_set(e, -EINVAL, "usage: fettle %s %s", k->path, k->arguments);
    return 0;
}

/* Text for the controller must be UTF-8. */
static int check_text(char **words, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        for (const char *s = words[i]; *s; s += text_utf8(s))
            if (text_utf8(s) == 0)
                return err_set(e, -EINVAL, "\"%s\" is not UTF-8", words[i]);
    return 0;
}

int call_parse(struct call *c, char **words, size_t n, struct err *e)
{
    assert(!c->command && !c->args && "one call is parsed once");
    int r = check_text(words, n, e);
    if (r == 0)
        r = call_split(c, (struct words){words, n}, e);
    if (r < 0)
        return r;
    if (call_has(c, OPTION_VERSION)) {
        static const char *const version[] = {"version"};
        size_t none;
        c->command = call_find(version, 1, &none);
        return 0;
    }
    if (c->n_args == 0 && !call_has(c, OPTION_HELP)) {
        static const struct command greeting = {.path = "", .run = greet_show};
        c->command = &greeting;
        return 0;
    }
    size_t used = 0;
    const struct command *found = call_find(c->args, c->n_args, &used);
    if (call_has(c, OPTION_HELP)) {
        static const char *const help[] = {"help"};
        size_t none;
        c->command = call_find(help, 1, &none);
        c->n_args = found ? used : c->n_args > 3 ? 3 : c->n_args;
        return 0;
    }
    if (!found)
        return command_unknown(c->args, c->n_args, e);
    if (c->n_args - used > found->most) {
        r = command_check_group(c->args, used, c->n_args, e);
        if (r < 0)
            return r;
    }
    c->command = found;
    c->n_args -= used;
    memmove(c->args, c->args + used, c->n_args * sizeof *c->args);
    return call_check(c, e);
}

void call_fini(struct call *c)
{
    fettle_close(c->fettle);
    free(c->args);
    free(c->wheres);
    free(c->reason);
    text_fini(&c->out);
    *c = (struct call){0};
}

int call_told(int r, const struct fettle_error *from, struct err *e)
{
    return r < 0 ? err_set(e, r, "%s", from->message) : r;
}

/* Finds the controller that was named, or the default, in client.conf; a given address needs no file. 0, or
 * -errno. */
static int find_client(const struct call *c, struct client *out, struct err *e)
{
    const char *given = c->value[OPTION_CONTROLLER];
    if (!given)
        given = getenv("FETTLE_CONTROLLER");
    if (given && !client_is_name(given))
        return 0;
    int r = client_find(given, out, e);
    return r < 0 ? r : 0;
}

static int parse_timeout(const char *text, int *out_ms, struct err *e)
{
    struct span limit;
    int r = span_parse(text, &limit, e);
    if (r == 0 && (span_to_ms(limit) < 1 || span_to_ms(limit) > INT_MAX))
        r = err_set(e, -EINVAL, "\"%s\" is too short or too long to wait", text);
    if (r < 0)
        return err_wrap(e, r, "--timeout");
    *out_ms = (int)span_to_ms(limit);
    return 0;
}

static const char *call_either(const char *given, const char *in_file)
{
    return given ? given : in_file;
}

struct fettle *call_controller(struct call *c, struct err *e)
{
    if (c->fettle)
        return c->fettle;
    struct client client = {0};
    struct fettle_error why;
    int r = find_client(c, &client, e);
    struct fettle_options o = {.controller = call_either(client.controller, c->value[OPTION_CONTROLLER]),
                               .cert = call_either(c->value[OPTION_CERT], client.cert),
                               .key = call_either(c->value[OPTION_KEY], client.key),
                               .ca = call_either(c->value[OPTION_CA], client.ca),
                               .token = call_either(c->value[OPTION_TOKEN], client.token)};
    const char *timeout = call_either(c->value[OPTION_TIMEOUT], client.timeout);
    if (r == 0 && timeout)
        r = parse_timeout(timeout, &o.timeout_ms, e);
    if (r == 0)
        call_told(fettle_open(&o, &c->fettle, &why), &why, e);
    if (c->fettle)
        fettle_dry_run(c->fettle, call_has(c, OPTION_DRY_RUN));
    client_fini(&client);
    return c->fettle;
}

int call_needs_reason(const struct call *c, struct err *e)
{
    return c->value[OPTION_REASON] ? 0 : err_set(e, -EINVAL, "why? --reason WORDS");
}

int call_answer(struct call *c, call_answer_fn *fn, struct fettle_answer **answer, struct err *e)
{
    struct fettle_error why;
    struct fettle *f = call_controller(c, e);
    return f ? call_told(fn(f, answer, &why), &why, e) : e->code;
}

int call_about(struct call *c, call_about_fn *fn, struct fettle_answer **answer, struct err *e)
{
    assert(c->n_args > 0 && "the command's row demands an argument");
    struct fettle_error why;
    struct fettle *f = call_controller(c, e);
    return f ? call_told(fn(f, c->args[0], answer, &why), &why, e) : e->code;
}

int call_flush(struct call *c, int fd, struct err *e)
{
    int r = 0;
    if (call_has(c, OPTION_QUIET))
        text_clear(&c->out);
    for (size_t at = 0; at < c->out.len && r == 0;) {
        ssize_t n = write(fd, c->out.s + at, c->out.len - at);
        if (n >= 0)
            at += (size_t)n;
        else if (errno == EPIPE)
            r = CALL_CUT;
        else if (errno != EINTR)
            r = err_set(e, errno == ENOSPC ? -ENOSPC : -EIO, "cannot write the output: %s", strerror(errno));
    }
    text_clear(&c->out);
    return r;
}
