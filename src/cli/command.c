/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ANY SIZE_MAX

static const struct option_info options[] = {
#define OPTION(symbol, letter, name, argument, subject, what) \
    {letter, name, argument, SUBJECT_##subject, what},
#define GROUP(title)
#define COMMAND(path, arguments, subjects, least, most, opts, function, what)
#include "cli/command.tbl"
#undef OPTION
#undef GROUP
#undef COMMAND
};

#define OF(symbol) (UINT64_C(1) << OPTION_##symbol)
#define LISTS (OF(OUTPUT) | OF(SORT) | OF(WHERE) | OF(NO_HEADER) | OF(LIMIT) | OF(JSON) | OF(CSV))
#define SELECTS (OF(WHERE) | UINT64_C(1) << 63)
/* A command that prints JSON can also print YAML. */
#define WITH_OUTPUT(opts) ((opts) | (((opts)&OF(JSON)) ? OF(OUTPUT) : 0))
#define NOTHING {SUBJECT_NONE}, 0
#define ONE(a) {SUBJECT_##a}, 1
#define TWO(a, b) {SUBJECT_##a, SUBJECT_##b}, 2
const struct command commands[] = {
#define OPTION(symbol, letter, name, argument, subject, what)
#define GROUP(title)
#define COMMAND(path, arguments, subjects, least, most, opts, function, what) \
    {path, arguments, subjects, least, most, WITH_OUTPUT(opts), function, what},
#include "cli/command.tbl"
#undef OPTION
#undef GROUP
#undef COMMAND
};
const size_t commands_n = sizeof commands / sizeof commands[0];

static const uint64_t COMMAND_OPTIONS = OF(CONTROLLER) | OF(CERT) | OF(KEY) | OF(CA) | OF(TOKEN) |
                                        OF(TIMEOUT) | OF(QUIET) | OF(COLOR) | OF(VERSION) | OF(HELP);

enum subject command_subject(const struct command *k, size_t i)
{
    if (i < k->n_subjects)
        return k->subjects[i];
    return k->n_subjects && k->most == ANY ? k->subjects[k->n_subjects - 1] : SUBJECT_NONE;
}

uint64_t call_options(void)
{
    return COMMAND_OPTIONS;
}

const struct option_info *option_info(enum option o)
{
    return &options[o];
}

/* How many words of the call form the command's path; 0 when they do not match. */
static size_t match_words(const struct command *k, const char *const *words, size_t n)
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

/* The rest of the path after its first n words, when these match; otherwise, and without a rest, NULL. */
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

const struct command *command_find_path(const char *path)
{
    for (size_t i = 0; i < commands_n; i++)
        if (strcmp(commands[i].path, path) == 0)
            return &commands[i];
    return NULL;
}

/* Handles "node" alone or with an unknown subcommand; "baseline rollout" likewise. "queue" is a command by
 * itself, too. */
static int command_incomplete(const char *const *words, size_t n, struct err *e)
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
                   command_find_path(path.s) ? "nothing, " : "", list.s);
}

/* True when a command's words are the beginning of another, as "queue" is. */
static bool goes_on(const char *const *words, size_t n)
{
    for (size_t i = 0; i < commands_n; i++)
        if (rest_of(commands[i].path, words, n))
            return true;
    return false;
}

int command_check_group(const char *const *words, size_t used, size_t n, struct err *e)
{
    return goes_on(words, used) ? command_incomplete(words, n, e) : 0;
}

int command_unknown(const char *const *words, size_t n, struct err *e)
{
    int r = command_incomplete(words, n, e);
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
        if ((*used = match_words(&commands[i], words, n)) > 0)
            return &commands[i];
    return NULL;
}
