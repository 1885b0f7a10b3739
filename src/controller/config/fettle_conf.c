/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fettle.conf. Its parameters are the rows of setting.tbl. This file checks each value by itself; config.c
 * checks values that depend on each other.
 */
#include "controller/config/config_inside.h"

#include "base/log.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum kind {
    IS_TEXT,
    IS_PATH,
    IS_FILE,
    IS_URL,
    IS_NUMBER,
    IS_SPAN,
    IS_FLAG,
    IS_HOSTS,
    IS_WORDS,
    IS_CHOICE,
    IS_ADDRESS
};

enum taken { TAKEN_RELOAD, TAKEN_START };
enum { IS_OWN = false, IS_AGREED = true };

static const struct row {
    const char *name;
    enum kind kind;
    const char *def;
    uint64_t min, max;
    const char *unit;
    enum taken taken;
    bool is_agreed;
} rows[SETTINGS] = {
#define SETTING(symbol, name, kind, def, min, max, unit, taken, scope, meaning, more) \
    [SETTING_##symbol] = {name, IS_##kind, def, min, max, unit, TAKEN_##taken, IS_##scope},
#include "controller/config/setting.tbl"
#undef SETTING
};

const char *config_name(enum setting s)
{
    assert((unsigned)s < SETTINGS);
    return rows[s].name;
}

int config_refuse_file(const struct config *c, enum setting s, int rc, struct err *e)
{
    if (rc == -EINVAL)
        return rc;
    if (!c->given[s])
        return err_set(e, rc,
                       "%s: %s is not given, and its default, %s, cannot be read (%s): say where the file is",
                       c->path, rows[s].name, c->text[s], strerror(-rc));
    return err_wrap(e, rc, "%s:%d: %s", c->path, c->line[s], rows[s].name);
}

const struct conf_field *config_field(const struct conf_line *line, const char *key)
{
    for (size_t i = 0; i < line->n; i++)
        if (strcasecmp(line->fields[i].key, key) == 0)
            return &line->fields[i];
    return NULL;
}

/* --- one value ------------------------------------------------------------------------------- */

static int parse_choice(const char *value, const char *choices, uint64_t *out, struct err *e)
{
    CLEANUP_FREE char *copy = mem_dup(choices);
    char *rest = copy;
    uint64_t i = 0;
    for (char *word; (word = strsep(&rest, ",")); i++) {
        if (strcasecmp(word, value) == 0) {
            *out = i;
            return 0;
        }
    }
    return err_set(e, -EINVAL, "\"%s\" is none of %s", value, choices);
}

static int parse_span(const struct row *row, const char *value, uint64_t *out, struct err *e)
{
    struct span s;
    int rc = span_parse(value, &s, e);
    if (rc < 0)
        return rc;
    if ((uint64_t)s.ns < row->min * 1000000000 || (uint64_t)s.ns > row->max * 1000000000)
        return err_set(e, -EINVAL, "\"%s\" is not from %llu to %llu seconds", value,
                       (unsigned long long)row->min, (unsigned long long)row->max);
    *out = (uint64_t)s.ns;
    return 0;
}

static int check_path(const char *value, struct err *e)
{
    if (value[0] != '/')
        return err_set(e, -EINVAL, "\"%s\" is not an absolute path", value);
    if (value[strlen(value) - 1] == '/')
        return err_set(e, -EINVAL, "\"%s\" names a directory, not a file", value);
    return 0;
}

/* The address is only read at start, so a bad one would otherwise show when the controller starts next. */
static int check_address(const char *value, struct err *e)
{
    struct in6_addr address;
    if (inet_pton(AF_INET, value, &address) == 1 || inet_pton(AF_INET6, value, &address) == 1)
        return 0;
    return err_set(e, -EINVAL, "\"%.200s\" is no address of IPv4 or IPv6, as 0.0.0.0 or ::1", value);
}

/* The prefix of a service's paths. Slashes at its end are removed. */
static int parse_url(char *value, struct err *e)
{
    const char *host = NULL;
    if (strncmp(value, "http://", 7) == 0)
        host = value + 7;
    else if (strncmp(value, "https://", 8) == 0)
        host = value + 8;
    bool plain = host && *host && *host != '/' && *host != ':';
    for (const char *p = value; *p; p++)
        plain = plain && *p > ' ' && *p < 0x7f && !strchr("?#@\"\\<>", *p);
    if (!plain)
        return err_set(e, -EINVAL, "\"%.200s\" is not a URL like https://smd:27779/hsm/v2", value);
    for (size_t len = strlen(value); value[len - 1] == '/'; len--)
        value[len - 1] = '\0';
    return 0;
}

static int parse_value(struct config *c, enum setting s, struct err *e)
{
    const struct row *row = &rows[s];
    char *value = c->text[s];
    switch (row->kind) {
    case IS_TEXT:
        if (strlen(value) < row->min || strlen(value) > row->max)
            return err_set(e, -EINVAL, "a value of %zu characters; it has %llu to %llu", strlen(value),
                           (unsigned long long)row->min, (unsigned long long)row->max);
        return 0;
    case IS_PATH: return check_path(value, e);
    case IS_FILE: return *value ? check_path(value, e) : 0;
    case IS_URL: return *value ? parse_url(value, e) : 0;
    case IS_NUMBER: return text_parse_u64(value, row->min, row->max, &c->number[s], e);
    case IS_SPAN: return *value ? parse_span(row, value, &c->number[s], e) : 0;
    case IS_ADDRESS: return check_address(value, e);
    case IS_CHOICE: return parse_choice(value, row->unit, &c->number[s], e);
    case IS_WORDS: return log_parse_flags(value, &c->debug_flags, e);
    case IS_HOSTS:
        if (strcasecmp(value, "none") == 0)
            return 0;
        return *value ? hostlist_parse(value, &c->collectors, e) : 0;
    case IS_FLAG: break;
    }
    bool flag;
    int rc = text_parse_bool(value, &flag, e);
    c->number[s] = rc == 0 && flag;
    return rc;
}

/* --- the file -------------------------------------------------------------------------------- */

static int find_setting(const struct conf *file, const struct conf_line *line, enum setting *out,
                        struct err *e)
{
    const char *names[SETTINGS];
    for (int i = 0; i < SETTINGS; i++) {
        names[i] = rows[i].name;
        if (strcasecmp(names[i], line->fields[0].key) == 0) {
            *out = (enum setting)i;
            return 0;
        }
    }
    return conf_unknown_key(file, line, line->fields[0].key, names, SETTINGS, e);
}

static int take_parameter(struct config *c, const struct conf *file, const struct conf_line *line,
                          enum setting s, struct err *e)
{
    if (c->given[s])
        return err_set(e, -EINVAL, "%s:%d: %s stands twice", file->path, line->number, rows[s].name);
    struct text value = {0};
    text_add(&value, line->fields[0].value);
    if (rows[s].is_agreed)
        config_mend(&value);
    free(c->text[s]);
    c->text[s] = text_take(&value);
    c->given[s] = true;
    c->line[s] = line->number;
    int rc = *c->text[s] || rows[s].kind != IS_SPAN ? parse_value(c, s, e)
                                                    : err_set(e, -EINVAL, "a length of time is missing");
    return rc < 0 ? err_wrap(e, rc, "%s:%d: %s", file->path, line->number, rows[s].name) : 0;
}

/* Takes the lines of a file; `agreed`: also the parameters that are agreed. */
static int take_lines(struct config *c, const struct conf *file, bool agreed, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < file->n; i++) {
        enum setting s = SETTINGS;
        rc = find_setting(file, &file->lines[i], &s, e);
        if (rc == 0 && (agreed || !rows[s].is_agreed))
            rc = take_parameter(c, file, &file->lines[i], s, e);
    }
    return rc;
}

/* Takes the agreed parameters in place of those in fettle.conf. */
static int take_agreed(struct config *c, struct err *e)
{
    const struct text *text = &c->from->part[CONFIG_PARAMETERS];
    struct conf file;
    int rc = conf_parse(config_part_name(CONFIG_PARAMETERS), text->s, text->len, CONF_PARAMETERS, &file, e);
    if (rc < 0)
        return rc;
    rc = take_lines(c, &file, true, e);
    conf_fini(&file);
    return rc;
}

static void keep_parameters(struct config *c)
{
    struct text *t = &c->agreed.part[CONFIG_PARAMETERS];
    c->agreed.given[CONFIG_PARAMETERS] = true;
    text_add(t, "");
    for (int i = 0; i < SETTINGS; i++)
        if (rows[i].is_agreed && c->given[i])
            text_printf(t, "%s = %s\n", rows[i].name, c->text[i]);
}

int config_read_parameters(struct config *c, struct err *e)
{
    struct conf file;
    int rc = conf_read(c->path, CONF_PARAMETERS, &file, e);
    if (rc < 0)
        return rc;
    for (int i = 0; i < SETTINGS; i++) {
        c->text[i] = mem_dup(rows[i].def);
        rc = parse_value(c, (enum setting)i, e); /* a default is parsed like any other value */
        if (rc < 0)
            break;
    }
    if (rc == 0)
        rc = take_lines(c, &file, !c->from, e);
    conf_fini(&file);
    if (rc == 0 && c->from)
        rc = take_agreed(c, e);
    if (rc == 0)
        keep_parameters(c);
    return rc;
}

void config_compare_parameters(const struct config *was, const struct config *is, struct text *changes)
{
    for (int i = 0; i < SETTINGS; i++) {
        if (strcmp(was->text[i], is->text[i]) == 0)
            continue;
        bool at_start = rows[i].taken == TAKEN_START;
        text_printf(changes, "%s \"%s\" -> \"%s\"%s\n", rows[i].name, was->text[i], is->text[i],
                    at_start ? "; takes effect when fettled starts anew" : "");
    }
}
