/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include "base/clock.h"
#include "cli/client.h"
#include "cli/record.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANY SIZE_MAX

static const struct option_info options[] = {
#define OPTION(symbol, letter, name, argument, what) {letter, name, argument, what},
#define GROUP(title)
#define COMMAND(path, arguments, least, most, opts, function, what)
#include "cli/command.tbl"
#undef OPTION
#undef GROUP
#undef COMMAND
};

#define OF(symbol) (UINT64_C(1) << OPTION_##symbol)
#define LISTS (OF(OUTPUT) | OF(SORT) | OF(WHERE) | OF(NO_HEADER) | OF(LIMIT) | OF(JSON) | OF(CSV))
#define SELECTS (OF(WHERE) | UINT64_C(1) << 63)
/* What can be printed as JSON can be as YAML. */
#define WITH_OUTPUT(opts) ((opts) | (((opts)&OF(JSON)) ? OF(OUTPUT) : 0))
const struct command commands[] = {
#define OPTION(symbol, letter, name, argument, what)
#define GROUP(title)
#define COMMAND(path, arguments, least, most, opts, function, what) \
    {path, arguments, least, most, WITH_OUTPUT(opts), function, what},
#include "cli/command.tbl"
#undef OPTION
#undef GROUP
#undef COMMAND
};
const size_t commands_n = sizeof commands / sizeof commands[0];

static const uint64_t COMMAND_OPTIONS = OF(CONTROLLER) | OF(CERT) | OF(KEY) | OF(CA) | OF(TIMEOUT) |
                                        OF(QUIET) | OF(COLOR) | OF(VERSION) | OF(HELP);

uint64_t call_options(void)
{
    return COMMAND_OPTIONS;
}

const struct option_info *option_info(enum option o)
{
    return &options[o];
}

/* ---- options ---- */

static int find_long(const char *name, size_t len, enum option *out, struct err *e)
{
    const char *names[OPTIONS];
    for (size_t i = 0; i < OPTIONS; i++) {
        names[i] = options[i].name;
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
        if (letter != 0 && options[i].letter == letter) {
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

/* A reason may stand unquoted: it goes on to the next option, unless its first word has blanks. */
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
        return err_set(e, -EINVAL, "--%s needs its %s", options[o].name, options[o].argument);
    if (c->value[o] && *options[o].argument && o != OPTION_WHERE)
        return err_set(e, -EINVAL, "--%s is given twice", options[o].name);
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
    if (options[o].argument[0] == '\0')
        return value ? err_set(e, -EINVAL, "--%s takes no value", options[o].name) : keep_value(c, o, "", e);
    if (!value)
        value = o == OPTION_REASON ? take_reason(c, w, take_word(w)) : take_word(w);
    return keep_value(c, o, value, e);
}

/* One or several letters; the last may have its value behind it or as the next word. */
static int take_letters(struct call *c, char *word, struct words *w, struct err *e)
{
    for (; *word; word++) {
        enum option o = OPTIONS;
        int r = find_letter(*word, &o, e);
        if (r < 0)
            return r;
        bool is_switch = options[o].argument[0] == '\0';
        const char *value = is_switch ? "" : word[1] ? word + 1 : take_word(w);
        if (o == OPTION_REASON)
            value = take_reason(c, w, value);
        r = keep_value(c, o, value, e);
        if (r < 0 || !is_switch)
            return r;
    }
    return 0;
}

static int split(struct call *c, struct words w, struct err *e)
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

/* ---- commands ---- */

static command_fn greet;

/* How many of the words are the command's path; 0 when they are not. */
static size_t match(const struct command *k, const char *const *words, size_t n)
{
    const char *path = k->path;
    for (size_t i = 0; i < n; i++) {
        size_t len = strcspn(path, " ");
        if (strlen(words[i]) != len || strncmp(words[i], path, len) != 0)
            return 0;
        if (path[len] == '\0')
            return i + 1;
        path += len + 1;
    }
    return 0;
}

/* The path behind its first n words, when these are the given ones; NULL otherwise, or without more. */
static const char *rest_of(const char *path, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = strcspn(path, " ");
        if (strlen(words[i]) != len || strncmp(words[i], path, len) != 0 || path[len] == '\0')
            return NULL;
        path += len + 1;
    }
    return path;
}

static const struct command *find_path(const char *path)
{
    for (size_t i = 0; i < commands_n; i++)
        if (strcmp(commands[i].path, path) == 0)
            return &commands[i];
    return NULL;
}

/* "node" alone, or with a word that is none of its own; "baseline rollout" likewise. "queue" is a command
 * by itself, too. */
static int incomplete(const char *const *words, size_t n, struct err *e)
{
    CLEANUP_TEXT struct text list = {0}, path = {0};
    size_t known = n < 2 ? n : 2; /* the longest beginning that some command has */
    for (; known > 0 && list.len == 0; known--)
        for (size_t i = 0; i < commands_n; i++) {
            const char *rest = rest_of(commands[i].path, words, known);
            if (rest)
                text_printf(&list, "%s%s", list.len ? ", " : "", rest);
        }
    if (list.len == 0)
        return 0;
    known++;
    for (size_t i = 0; i < known; i++)
        text_printf(&path, "%s%s", i ? " " : "", words[i]);
    if (n == known)
        return err_set(e, -EINVAL, "\"%s\" needs one of: %s", path.s, list.s);
    return err_set(e, -EINVAL, "\"%s\" has no \"%s\", but: %s%s", path.s, words[known],
                   find_path(path.s) ? "nothing, " : "", list.s);
}

/* Whether the words of a command are the beginning of another, as those of "queue" are. */
static bool goes_on(const char *const *words, size_t n)
{
    for (size_t i = 0; i < commands_n; i++)
        if (rest_of(commands[i].path, words, n))
            return true;
    return false;
}

static int unknown(const char *const *words, size_t n, struct err *e)
{
    int r = incomplete(words, n, e);
    if (r < 0)
        return r;
    char first[sizeof commands / sizeof commands[0]][24];
    const char *firsts[sizeof commands / sizeof commands[0]];
    for (size_t i = 0; i < commands_n; i++) {
        snprintf(first[i], sizeof first[i], "%.*s", (int)strcspn(commands[i].path, " "), commands[i].path);
        firsts[i] = first[i];
    }
    const char *near = text_nearest(words[0], firsts, commands_n);
    if (near)
        return err_set(e, -EINVAL, "unknown command \"%s\"; the nearest known is \"%s\"", words[0], near);
    return err_set(e, -EINVAL, "unknown command \"%s\"; \"fettle help\" lists them", words[0]);
}

const struct command *call_find(const char *const *words, size_t n, size_t *used)
{
    for (size_t i = 0; i < commands_n; i++)
        if ((*used = match(&commands[i], words, n)) > 0)
            return &commands[i];
    return NULL;
}

/* -o of a command that lists no records. */
static int check_output(struct call *c, struct err *e)
{
    const char *output = c->value[OPTION_OUTPUT];
    if (!output || c->command->options & OF(SORT))
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

static int check(struct call *c, struct err *e)
{
    const struct command *k = c->command;
    for (size_t i = 0; i < OPTIONS; i++)
        if (c->value[i] && !((k->options | COMMAND_OPTIONS) & UINT64_C(1) << i))
            return err_set(e, -EINVAL, "\"fettle %s\" has no option --%s", k->path, options[i].name);
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

/* What is said to the controller is UTF-8. */
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
    int r = check_text(words, n, e);
    if (r == 0)
        r = split(c, (struct words){words, n}, e);
    if (r < 0)
        return r;
    if (call_has(c, OPTION_VERSION)) {
        static const char *const version[] = {"version"};
        size_t none;
        c->command = call_find(version, 1, &none);
        return 0;
    }
    if (c->n_args == 0 && !call_has(c, OPTION_HELP)) {
        static const struct command greeting = {.path = "", .run = greet};
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
        return unknown(c->args, c->n_args, e);
    if (c->n_args - used > found->most &&
        goes_on(c->args, used)) { /* "queue", or was one of "queue take" and the others meant? */
        r = incomplete(c->args, c->n_args, e);
        if (r < 0)
            return r;
    }
    c->command = found;
    c->n_args -= used;
    memmove(c->args, c->args + used, c->n_args * sizeof *c->args);
    return check(c, e);
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

/* What client.conf says of the controller that was named, or is the default; an address that was given needs
 * no file. 0, or -errno. */
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

static const char *either(const char *given, const char *in_file)
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
    struct fettle_options o = {.controller = either(client.controller, c->value[OPTION_CONTROLLER]),
                               .cert = either(c->value[OPTION_CERT], client.cert),
                               .key = either(c->value[OPTION_KEY], client.key),
                               .ca = either(c->value[OPTION_CA], client.ca)};
    const char *timeout = either(c->value[OPTION_TIMEOUT], client.timeout);
    if (r == 0 && timeout)
        r = parse_timeout(timeout, &o.timeout_ms, e);
    if (r == 0)
        call_told(fettle_open(&o, &c->fettle, &why), &why, e);
    if (c->fettle)
        fettle_dry_run(c->fettle, call_has(c, OPTION_DRY_RUN));
    client_fini(&client);
    return c->fettle;
}

int call_answer(struct call *c, call_answer_fn *fn, struct fettle_answer **answer, struct err *e)
{
    struct fettle_error why;
    struct fettle *f = call_controller(c, e);
    return f ? call_told(fn(f, answer, &why), &why, e) : e->code;
}

int call_about(struct call *c, call_about_fn *fn, struct fettle_answer **answer, struct err *e)
{
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

/* ---- help ---- */

static void write_option(struct text *out, enum option o)
{
    CLEANUP_TEXT struct text left = {0};
    const struct option_info *i = &options[o];
    if (i->letter)
        text_printf(&left, "  -%c, ", i->letter);
    else
        text_add(&left, "      ");
    text_printf(&left, "--%s%s%s", i->name, i->argument[0] ? " " : "", i->argument);
    text_printf(out, "%-28s %s\n", left.s, i->what);
}

static void write_line(struct text *out, const struct command *k)
{
    text_printf(out, "  %-24s %s\n", k->path, k->what);
}

static void write_all(struct text *out)
{
    text_add(out, "usage: fettle COMMAND [ARGUMENTS] [OPTIONS]\n");
    const struct command *k = commands;
#define OPTION(symbol, letter, name, argument, what)
#define GROUP(title) text_add(out, "\n" title ":\n");
#define COMMAND(path, arguments, least, most, opts, function, what) write_line(out, k++);
#include "cli/command.tbl"
#undef OPTION
#undef GROUP
#undef COMMAND
    text_add(out, "\nOptions of every command:\n");
    for (size_t i = 0; i < OPTIONS; i++)
        if (COMMAND_OPTIONS & UINT64_C(1) << i)
            write_option(out, (enum option)i);
    text_add(out, "\n\"fettle help COMMAND\" says more about one; fettle(1) says all.\n");
}

/* The commands that begin with this word; false when there are none. */
static bool write_group(struct text *out, const char *first)
{
    size_t len = strlen(first), before = out->len;
    for (size_t i = 0; i < commands_n; i++)
        if (strncmp(commands[i].path, first, len) == 0 && commands[i].path[len] == ' ')
            write_line(out, &commands[i]);
    return out->len > before;
}

static void write_options(struct text *out, uint64_t mask)
{
    text_add_char(out, '\n');
    for (size_t o = 0; o < OPTIONS; o++)
        if (mask & UINT64_C(1) << o)
            write_option(out, (enum option)o);
}

static void write_examples(struct text *out, const char *path)
{
    static const struct {
        const char *path, *words, *what;
    } examples[] = {
#define EXAMPLE(path, words, what) {path, words, what},
#include "cli/example.tbl"
#undef EXAMPLE
    };
    text_add(out, "\nexamples:\n");
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        if (strcmp(examples[i].path, path) == 0)
            text_printf(out, "  fettle %s\n      %s\n", examples[i].words, examples[i].what);
}

static void write_fields(struct text *out, const char *path)
{
    const struct record_info *r = record_find(path);
    if (!r)
        return;
    text_printf(out, "\nfields (fettle %s -o help says what they are):\n ", r->command);
    for (size_t i = 0, columns = 1; i < r->n; i++) {
        size_t len = strlen(r->fields[i].name) + 1;
        columns = columns + len > 80 ? (text_add(out, "\n "), 1) : columns;
        text_printf(out, " %s", r->fields[i].name);
        columns += len;
    }
    text_add_char(out, '\n');
}

static void write_exits(struct text *out)
{
    static const struct {
        const char *name;
        int exit;
    } rows[] = {
#define ERR(code, name, http, exit) {name, exit},
#include "base/err.tbl"
#undef ERR
    };
    enum { EXIT_MAX = 16 };
    text_add(out, "\nexit status:\n  0 done");
    for (int exit = 1; exit < EXIT_MAX; exit++) {
        bool first = true;
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            if (rows[i].exit != exit)
                continue;
            first ? text_printf(out, "\n  %d ", exit) : text_add(out, ", ");
            text_add(out, rows[i].name);
            first = false;
        }
    }
    text_add_char(out, '\n');
}

static void write_command(struct text *out, const struct command *k)
{
    text_printf(out, "usage: fettle %s%s%s%s\n\n%s\n", k->path, k->arguments[0] ? " " : "", k->arguments,
                k->options ? " [OPTIONS]" : "", k->what);
    if (k->options)
        write_options(out, k->options);
    write_examples(out, k->path);
    write_fields(out, k->path);
    write_exits(out);
}

/* As if the words had been called. */
static int unknown_path(const char *path, struct err *e)
{
    CLEANUP_FREE char *copy = mem_dup(path);
    const char *words[4];
    size_t n = 0;
    char *rest = copy;
    for (char *word; n < sizeof words / sizeof words[0] && (word = strsep(&rest, " "));)
        words[n++] = word;
    return unknown(words, n, e);
}

int help_write(struct text *out, const char *path, struct err *e)
{
    if (!path) {
        write_all(out);
        return 0;
    }
    CLEANUP_TEXT struct text group = {0};
    const struct command *k = find_path(path);
    bool more = write_group(&group, path);
    if (!k && !more)
        return unknown_path(path, e);
    if (k)
        write_command(out, k);
    text_add(out, k && more ? "\n" : "");
    text_add(out, more ? group.s : "");
    return 0;
}

/* What `fettle` alone says. */
static int greet(struct call *c, struct err *e)
{
    text_add(
        &c->out,
        "Fettle keeps the nodes of a cluster in order. What people do most:\n\n"
        "  fettle status                           is everything well, and does Fettle act\n"
        "  fettle node list                        the nodes, and why one is not in service\n"
        "  fettle incident list                    what is wrong with nodes\n"
        "  fettle queue                            nodes that wait for a person\n"
        "  fettle remedy explain NODE              what would be done for a node, and why\n"
        "  fettle node drain NODES --reason WORDS  take nodes out; \"fettle node undrain NODES\" ends it\n\n"
        "\"fettle help\" lists all commands, fettle(1) explains them with examples.\n");
    return 0;
}

int help_show(struct call *c, struct err *e)
{
    if (c->n_args == 0)
        return help_write(&c->out, NULL, e);
    CLEANUP_TEXT struct text path = {0};
    for (size_t i = 0; i < c->n_args; i++)
        text_printf(&path, "%s%s", i ? " " : "", c->args[i]);
    return help_write(&c->out, path.s, e);
}

int version_show(struct call *c, struct err *e)
{
    text_add(&c->out, "fettle " FETTLE_VERSION "\n");
    return 0;
}
