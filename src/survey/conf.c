/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/part.h"

#include "base/clock.h"
#include "base/conf.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void survey_conf_fini(struct survey_conf *c)
{
    hostlist_fini(&c->sysctls);
    hostlist_fini(&c->files);
    hostlist_fini(&c->ignore);
    for (size_t i = 0; i < c->n_commands; i++) {
        free(c->commands[i].name);
        free(c->commands[i].run);
    }
    free(c->commands);
    *c = (struct survey_conf){0};
}

static bool conf_has(const struct hostlist *h, const char *word)
{
    for (size_t i = 0; i < h->n; i++)
        if (strcmp(h->names[i], word) == 0)
            return true;
    return false;
}

/* Each name once. A name that finds no room in a list is unknown when it is read: see sysctl_read and
 * file_read. */
static void name_one(struct hostlist *h, const char *word)
{
    if (h->n < CONF_NAMED_MAX && !conf_has(h, word))
        hostlist_add(h, word);
}

static bool sysctl_ok(const char *name)
{
    char path[300];
    return sysctl_path(name, path) && !strchr(name, '*');
}

static bool file_ok(const char *path)
{
    return path[0] == '/' && path[1] && !strchr(path, '\n');
}

/* The character that name_of in notes.c writes as %20. */
static char *conf_decode(const char *name)
{
    struct text t = {0};
    for (const char *p = name; *p; p++) {
        char hex[3] = {p[0] == '%' ? p[1] : '\0', p[0] == '%' && p[1] ? p[2] : '\0', '\0'};
        bool coded = isxdigit((unsigned char)hex[0]) && isxdigit((unsigned char)hex[1]);
        char byte = coded ? (char)strtoul(hex, NULL, 16) : *p;
        text_add_char(&t, byte ? byte : '%');
        p += coded && byte ? 2 : 0;
    }
    return text_take(&t);
}

void survey_conf_name(struct survey_conf *c, const char *component)
{
    static const char sysctl[] = "sysctl.", file[] = "file.";
    CLEANUP_FREE char *name = conf_decode(component);
    if (strncmp(name, sysctl, sizeof sysctl - 1) == 0 && sysctl_ok(name + sizeof sysctl - 1))
        name_one(&c->sysctls, name + sizeof sysctl - 1);
    else if (strncmp(name, file, sizeof file - 1) == 0 && file_ok(name + sizeof file - 1))
        name_one(&c->files, name + sizeof file - 1);
}

/* --- fingerprint.conf ------------------------------------------------------------------------------------
 */

enum key { SYSCTL, FILE_, IGNORE, COMMAND, RUN, DEADLINE, KEYS };
static const char *const KEY_NAMES[KEYS] = {"Sysctl", "File", "Ignore", "Command", "Run", "Deadline"};

/* The values of one line; NULL where the key is not given. */
struct record {
    const char *value[KEYS];
};

static int read_record(const struct conf *file, const struct conf_line *line, struct record *r, struct err *e)
{
    *r = (struct record){{0}};
    for (size_t i = 0; i < line->n; i++) {
        size_t key = 0;
        while (key < KEYS && strcasecmp(KEY_NAMES[key], line->fields[i].key) != 0)
            key++;
        if (key == KEYS)
            return conf_unknown_key(file, line, line->fields[i].key, KEY_NAMES, KEYS, e);
        r->value[key] = line->fields[i].value;
    }
    return 0;
}

/* A line says one thing; Run and Deadline belong to Command. */
static int check_record(const struct record *r, struct err *e)
{
    int things = 0;
    for (size_t key = SYSCTL; key <= COMMAND; key++)
        things += r->value[key] != NULL;
    if (things != 1)
        return err_set(e, -EINVAL, "a line has one of Sysctl, File, Ignore and Command");
    if (!r->value[COMMAND] && (r->value[RUN] || r->value[DEADLINE]))
        return err_set(e, -EINVAL, "Run and Deadline are for a Command");
    if (r->value[COMMAND] && (!r->value[RUN] || !*r->value[RUN]))
        return err_set(e, -EINVAL, "Command \"%.64s\" has no Run", r->value[COMMAND]);
    return 0;
}

static int check_command(const struct survey_conf *c, const char *name, struct err *e)
{
    size_t len = strlen(name);
    bool ok = len > 0 && len <= 63;
    for (size_t i = 0; ok && i < len; i++)
        ok = isalnum((unsigned char)name[i]) || strchr("-_.", name[i]);
    if (!ok)
        return err_set(e, -EINVAL, "Command \"%.64s\" is no name: 1 to 63 letters, digits and - _ .", name);
    for (size_t i = 0; i < c->n_commands; i++)
        if (strcmp(c->commands[i].name, name) == 0)
            return err_set(e, -EINVAL, "Command \"%s\" is there already", name);
    if (c->n_commands == CONF_COMMANDS_MAX)
        return err_set(e, -E2BIG, "more than %d commands", CONF_COMMANDS_MAX);
    return 0;
}

static int take_command(struct survey_conf *c, const struct record *r, struct err *e)
{
    struct span deadline = span_ms(COMMAND_MS_DEFAULT);
    int failed = check_command(c, r->value[COMMAND], e);
    if (failed == 0 && r->value[DEADLINE] && span_parse(r->value[DEADLINE], &deadline, e) < 0)
        failed = err_wrap(e, -EINVAL, "Deadline");
    if (failed == 0 && (deadline.ns < span_ms(1).ns || deadline.ns > span_s(COMMAND_S_MAX).ns))
        failed =
            err_set(e, -EINVAL, "Deadline \"%s\" is not from 1ms to %ds", r->value[DEADLINE], COMMAND_S_MAX);
    if (failed)
        return failed;
    c->commands = mem_grow(c->commands, (c->n_commands + 1) * sizeof *c->commands);
    c->commands[c->n_commands++] = (struct survey_command){.name = mem_dup(r->value[COMMAND]),
                                                           .run = mem_dup(r->value[RUN]),
                                                           .deadline_ms = (int)span_to_ms(deadline)};
    return 0;
}

static int take_word(struct hostlist *h, const char *word, bool ok, const char *what, struct err *e)
{
    if (!ok)
        return err_set(e, -EINVAL, "\"%.80s\" is no %s", word, what);
    if (h->n == CONF_NAMED_MAX - 1 && !conf_has(h, word))
        return err_set(e, -E2BIG, "more than %d of a kind are named", CONF_NAMED_MAX - 1);
    name_one(h, word);
    return 0;
}

static int take_record(struct survey_conf *c, const struct record *r, struct err *e)
{
    int failed = check_record(r, e);
    if (failed)
        return failed;
    if (r->value[SYSCTL])
        return take_word(&c->sysctls, r->value[SYSCTL], sysctl_ok(r->value[SYSCTL]), "name of a sysctl", e);
    if (r->value[FILE_])
        return take_word(&c->files, r->value[FILE_], file_ok(r->value[FILE_]), "absolute path", e);
    if (r->value[IGNORE])
        return take_word(&c->ignore, r->value[IGNORE], *r->value[IGNORE], "pattern", e);
    return take_command(c, r, e);
}

static int take_conf(const struct conf *file, struct survey_conf *c, struct err *e)
{
    for (size_t i = 0; i < file->n; i++) {
        struct record r;
        int failed = read_record(file, &file->lines[i], &r, e);
        if (failed)
            return failed;
        failed = take_record(c, &r, e);
        if (failed)
            return err_wrap(e, failed, "%s:%d", file->path, file->lines[i].number);
    }
    return 0;
}

static int conf_finish(struct conf *file, int r, struct survey_conf *c, struct err *e)
{
    *c = (struct survey_conf){0};
    if (r == 0)
        r = take_conf(file, c, e);
    if (r < 0)
        survey_conf_fini(c);
    conf_fini(file);
    return r;
}

int survey_conf_parse(const char *path, const char *bytes, size_t len, struct survey_conf *c, struct err *e)
{
    struct conf file;
    return conf_finish(&file, conf_parse(path, bytes, len, CONF_RECORDS, &file, e), c, e);
}

int survey_conf_read(const char *path, struct survey_conf *c, struct err *e)
{
    struct conf file;
    int r = conf_read(path, CONF_RECORDS, &file, e);
    if (r == -ENOENT) {
        if (e)
            *e = (struct err){0};
        *c = (struct survey_conf){0};
        return 0;
    }
    return conf_finish(&file, r, c, e);
}

struct span survey_deadline(const struct survey_conf *c)
{
    int64_t ms = REST_MS_MAX + NVML_MS_MAX + CARDS_MS_MAX + BMC_MS_MAX + RPM_MS_MAX;
    if (c->files.n > 0)
        ms += FILES_HUNG_MAX * FILES_MS_MAX;
    for (size_t i = 0; i < c->n_commands; i++)
        ms += c->commands[i].deadline_ms;
    return span_ms(ms);
}
