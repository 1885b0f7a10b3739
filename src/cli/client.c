/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/client.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const keys[] = {"Name", "Controller", "Cert", "Key", "CA", "Token", "Timeout", "Default"};
enum key { KEY_NAME, KEY_CONTROLLER, KEY_CERT, KEY_KEY, KEY_CA, KEY_TOKEN, KEY_TIMEOUT, KEY_DEFAULT, KEYS };

void client_fini(struct client *c)
{
    free(c->controller);
    free(c->cert);
    free(c->key);
    free(c->ca);
    free(c->token);
    free(c->timeout);
    *c = (struct client){0};
}

bool client_is_name(const char *controller)
{
    return *controller && !strpbrk(controller, "/:");
}

static int check_value(enum key k, const char *value, struct err *e)
{
    struct span s;
    bool yes;
    if ((k == KEY_CERT || k == KEY_KEY || k == KEY_CA || k == KEY_TOKEN) && value[0] != '/')
        return err_set(e, -EINVAL, "%s = \"%s\" is no absolute path", keys[k], value);
    if (k == KEY_NAME && !client_is_name(value))
        return err_set(e, -EINVAL, "\"%s\" cannot be a name: it is empty, or has \"/\" or \":\" in it",
                       value);
    if (k == KEY_CONTROLLER && client_is_name(value))
        return err_set(e, -EINVAL, "\"%s\" is neither the path of a socket nor https://HOST:PORT", value);
    int r = k == KEY_TIMEOUT   ? span_parse(value, &s, e)
            : k == KEY_DEFAULT ? text_parse_bool(value, &yes, e)
                               : 0;
    return r < 0 ? err_wrap(e, r, "%s", keys[k]) : 0;
}

static int read_line(const struct conf *file, const struct conf_line *line, const char *values[static KEYS],
                     struct err *e)
{
    for (size_t i = 0; i < line->n; i++) {
        size_t k = 0;
        while (k < KEYS && strcasecmp(keys[k], line->fields[i].key) != 0)
            k++;
        if (k == KEYS)
            return conf_unknown_key(file, line, line->fields[i].key, keys, KEYS, e);
        int r = check_value((enum key)k, line->fields[i].value, e);
        if (r < 0)
            return err_wrap(e, r, "%s:%d", file->path, line->number);
        values[k] = line->fields[i].value;
    }
    for (size_t k = KEY_NAME; k <= KEY_CONTROLLER; k++)
        if (!values[k])
            return err_set(e, -EINVAL, "%s:%d: a controller needs its %s", file->path, line->number, keys[k]);
    return 0;
}

static bool is_wanted(const char *name, const char *const values[static KEYS])
{
    bool yes = false;
    if (name)
        return strcmp(values[KEY_NAME], name) == 0;
    return values[KEY_DEFAULT] && text_parse_bool(values[KEY_DEFAULT], &yes, NULL) == 0 && yes;
}

static int take_line(const struct conf *file, const struct conf_line *line,
                     const char *const values[static KEYS], struct client *out, struct err *e)
{
    if (out->controller)
        return err_set(e, -EINVAL, "%s:%d: \"%s\": there is one before it", file->path, line->number,
                       values[KEY_NAME]);
    *out = (struct client){.controller = mem_dup(values[KEY_CONTROLLER]),
                           .cert = mem_dup(values[KEY_CERT]),
                           .key = mem_dup(values[KEY_KEY]),
                           .ca = mem_dup(values[KEY_CA]),
                           .token = mem_dup(values[KEY_TOKEN]),
                           .timeout = mem_dup(values[KEY_TIMEOUT])};
    return 0;
}

int client_take(const struct conf *file, const char *name, struct client *out, struct err *e)
{
    int r = 0;
    *out = (struct client){0};
    for (size_t i = 0; i < file->n && r == 0; i++) {
        const char *values[KEYS] = {NULL};
        r = read_line(file, &file->lines[i], values, e);
        if (r == 0 && is_wanted(name, values))
            r = take_line(file, &file->lines[i], values, out, e);
    }
    if (r < 0)
        client_fini(out);
    return r < 0 ? r : out->controller != NULL;
}

static int find_in(const char *path, const char *name, struct client *out, struct err *e)
{
    struct conf file = {0};
    int r = conf_read(path, CONF_RECORDS, &file, e);
    if (r == -ENOENT)
        return 0;
    if (r == 0)
        r = client_take(&file, name, out, e);
    conf_fini(&file);
    return r;
}

int client_find(const char *name, struct client *out, struct err *e)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    CLEANUP_TEXT struct text own = {0};
    int r = 0;
    if (config && *config == '/')
        text_printf(&own, "%s/fettle/client.conf", config);
    else if (home && *home == '/')
        text_printf(&own, "%s/.config/fettle/client.conf", home);
    if (own.len)
        r = find_in(own.s, name, out, e);
    if (r == 0)
        r = find_in("/etc/fettle/client.conf", name, out, e);
    if (r == 0 && name)
        r = err_set(e, -ENOENT, "no controller \"%s\" in client.conf; a socket is named by its path, as ./%s",
                    name, name);
    return r;
}
