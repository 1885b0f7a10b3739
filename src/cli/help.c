/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include "cli/record.h"

#include <string.h>

static void write_option(struct text *out, enum option o)
{
    CLEANUP_TEXT struct text left = {0};
    const struct option_info *i = option_info(o);
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
#define OPTION(symbol, letter, name, argument, subject, what)
#define GROUP(title) text_add(out, "\n" title ":\n");
#define COMMAND(path, arguments, subjects, least, most, opts, function, what) write_line(out, k++);
#include "cli/command.tbl"
#undef OPTION
#undef GROUP
#undef COMMAND
    text_add(out, "\nOptions of every command:\n");
    for (size_t i = 0; i < OPTIONS; i++)
        if (call_options() & UINT64_C(1) << i)
            write_option(out, (enum option)i);
    text_add(out, "\n\"fettle help COMMAND\" explains a command; fettle(1) explains all of them.\n");
}

/* Writes the commands that begin with this word; false when there are none. */
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
    text_printf(out, "\nfields (fettle %s -o help explains them):\n ", r->command);
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

/* The error for these words as a command. */
static int unknown_path(const char *path, struct err *e)
{
    CLEANUP_FREE char *copy = mem_dup(path);
    const char *words[4];
    size_t n = 0;
    char *rest = copy;
    for (char *word; n < sizeof words / sizeof words[0] && (word = strsep(&rest, " "));)
        words[n++] = word;
    return command_unknown(words, n, e);
}

int help_write(struct text *out, const char *path, struct err *e)
{
    if (!path) {
        write_all(out);
        return 0;
    }
    CLEANUP_TEXT struct text group = {0};
    const struct command *k = command_find_path(path);
    bool more = write_group(&group, path);
    if (!k && !more)
        return unknown_path(path, e);
    if (k)
        write_command(out, k);
    text_add(out, k && more ? "\n" : "");
    text_add(out, more ? group.s : "");
    return 0;
}

/* The output of `fettle` alone. */
int greet_show(struct call *c, struct err *e)
{
    text_add(&c->out,
             "Fettle keeps the nodes of a cluster in order. The most common commands:\n\n"
             "  fettle status                           show whether all is well, and whether Fettle acts\n"
             "  fettle node list                        list the nodes, and why one is not in service\n"
             "  fettle incident list                    list the open incidents of nodes\n"
             "  fettle queue                            list the nodes that wait for a person\n"
             "  fettle remedy explain NODE              show what Fettle would do for a node, and why\n"
             "  fettle node drain NODES --reason WORDS  take nodes out of service; \"fettle node undrain "
             "NODES\" ends it\n\n"
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
