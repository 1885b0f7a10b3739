/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/site.h"

#include "base/hostlist.h"
#include "base/private.h"
#include "driver/power.h"
#include "remedy/remedy.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum setting {
#define SETTING(symbol, name, kind, def, min, max, unit, taken, scope, meaning, more) SETTING_##symbol,
#include "controller/config/setting.tbl"
#undef SETTING
    SETTINGS
};

static const struct {
    const char *name, *value; /* the default */
} settings[SETTINGS] = {
#define SETTING(symbol, name, kind, def, min, max, unit, taken, scope, meaning, more) \
    [SETTING_##symbol] = {name, def},
#include "controller/config/setting.tbl"
#undef SETTING
};

/* --- whose the files are ---------------------------------------------------------------------- */

/* In a directory like /tmp anybody may create files, but nobody may replace those of others. */
static bool is_sticky(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX) && st.st_uid == 0;
}

static int check_way(const char *path, struct err *e)
{
    int rc = 0;
    for (const char *at = path; rc == 0 && *at;) {
        at += strspn(at, "/");
        at += strcspn(at, "/");
        CLEANUP_FREE char *part = mem_dup_len(path, (size_t)(at - path));
        if (!is_sticky(part))
            rc = private_check(part, PRIVATE_TO_WRITE, e);
    }
    return rc == -EACCES ? err_wrap(e, -EPERM, "nothing is run by the word of a file that others can change")
                         : rc;
}

int site_check_file(const char *path, struct err *e)
{
    CLEANUP_FREE char *real = realpath(path, NULL);
    if (!real || *path != '/')
        return err_set(e, *path == '/' ? -errno : -EINVAL, "%s: %s", path,
                       *path == '/' ? strerror(errno) : "not an absolute path");
    int rc = check_way(path, e);
    return rc < 0 ? rc : check_way(real, e);
}

/* --- fettle.conf ------------------------------------------------------------------------------ */

int site_open(const char *conf, struct site *s, struct err *e)
{
    int rc = site_check_file(conf, e);
    return rc < 0 ? rc : conf_read(conf, CONF_PARAMETERS, &s->conf, e);
}

void site_close(struct site *s)
{
    conf_fini(&s->conf);
}

static const char *setting_get(const struct site *s, enum setting which)
{
    for (size_t i = 0; i < s->conf.n; i++)
        if (strcasecmp(s->conf.lines[i].fields[0].key, settings[which].name) == 0)
            return s->conf.lines[i].fields[0].value;
    assert((size_t)which < sizeof settings / sizeof *settings);
    return settings[which].value;
}

/* Reads a file that the setting names: its path, and its content in bytes. */
static int file_read(const struct site *s, enum setting which, const char **path, struct text *bytes,
                     struct err *e)
{
    *path = setting_get(s, which);
    if (!**path)
        return err_set(e, -ENOENT, "%s has no %s", s->conf.path, settings[which].name);
    int rc = site_check_file(*path, e);
    return rc < 0 ? rc : conf_read_bytes(*path, bytes, e);
}

/* --- the nodes and their BMCs ----------------------------------------------------------------- */

static int bmcs_read(const struct site *s, struct bmcs **out, struct err *e)
{
    CLEANUP_TEXT struct text bytes = {0};
    const char *path;
    int rc = file_read(s, SETTING_BMC_CONF, &path, &bytes, e);
    return rc < 0 ? rc : bmcs_parse(path, bytes.s, bytes.len, out, e);
}

static int bmc_missing(const char *node, const char *what, struct err *e)
{
    return err_set(e, -ENOENT, "node \"%.100s\" has no %s in bmc.conf", node, what);
}

static int password_read(const struct bmc *b, struct text *out, struct err *e)
{
    int rc = site_check_file(b->password_file, e);
    return rc < 0 ? rc : bmc_password(b, out, e);
}

int site_power(const struct site *s, const char *node, struct site_power *out, struct err *e)
{
    assert(node && out);
    struct bmcs *all;
    int rc = bmcs_read(s, &all, e);
    *out = (struct site_power){0};
    if (rc < 0)
        return rc;
    const struct bmc *b = bmcs_find(all, node);
    if (b && b->driver == BMC_SCRIPT) {
        out->program = mem_dup(b->run);
        out->user = mem_dup(b->user);
        rc = *b->password_file ? password_read(b, &out->password, e) : 0;
    } else {
        rc = bmc_missing(node, "script", e);
    }
    bmcs_destroy(all);
    return rc;
}

void site_power_fini(struct site_power *p)
{
    free(p->program);
    free(p->user);
    text_fini(&p->password);
}

int site_password(const struct site *s, const char *node, struct text *out, struct err *e)
{
    struct bmcs *all;
    int rc = bmcs_read(s, &all, e);
    if (rc < 0)
        return rc;
    const struct bmc *b = bmcs_find(all, node);
    rc = b && *b->password_file ? password_read(b, out, e) : bmc_missing(node, "PasswordFile", e);
    bmcs_destroy(all);
    return rc;
}

static bool line_has_node(const struct conf_line *line, const char *node)
{
    CLEANUP_HOSTLIST struct hostlist names = {0};
    bool found = false;
    for (size_t i = 0; i < line->n; i++)
        if (strcasecmp(line->fields[i].key, "Name") == 0)
            (void)hostlist_parse(line->fields[i].value, &names, NULL);
    for (size_t i = 0; i < names.n && !found; i++)
        found = strcmp(names.names[i], node) == 0;
    return found;
}

int site_check_node(const struct site *s, const char *node, struct err *e)
{
    CLEANUP_TEXT struct text bytes = {0};
    const char *path;
    struct conf file;
    bool found = false;
    if (!hostlist_name_ok(node) || strcmp(node, "DEFAULT") == 0) /* the record of defaults */
        return err_set(e, -EPERM, "\"%.100s\" is not the name of a node", node);
    int rc = file_read(s, SETTING_NODE_SPEC_CONF, &path, &bytes, e);
    if (rc == 0)
        rc = conf_parse(path, bytes.s, bytes.len, CONF_RECORDS, &file, e);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < file.n && !found; i++)
        found = line_has_node(&file.lines[i], node);
    conf_fini(&file);
    return found ? 0 : err_set(e, -EPERM, "%s has no node \"%.100s\"", path, node);
}

/* --- programs --------------------------------------------------------------------------------- */

int site_check_script(const struct site *s, const char *run, struct err *e)
{
    CLEANUP_TEXT struct text bytes = {0};
    struct remedies all;
    const char *path;
    bool found = false;
    int rc = file_read(s, SETTING_REMEDY_CONF, &path, &bytes, e);
    if (rc == 0)
        rc = remedies_parse(path, bytes.s, bytes.len, &all, e);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < all.n && !found; i++)
        found = remedy_way(run) == WAY_SCRIPT && strcmp(all.list[i].run, run) == 0;
    remedies_fini(&all);
    return found ? 0 : err_set(e, -EPERM, "no remedy of %s has this script as its Run", path);
}

int site_slurm_program(const struct site *s, const char *name, char **program, const char **conf,
                       struct err *e)
{
    const char *scontrol = setting_get(s, SETTING_SLURM_SCONTROL), *slash = strrchr(scontrol, '/');
    struct text path = {0};
    if (!*scontrol || !slash)
        return err_set(e, -ENOENT, "%s has no SlurmScontrol", s->conf.path);
    if (strcmp(name, "scontrol") == 0)
        text_add(&path, scontrol);
    else
        text_printf(&path, "%.*s/%s", (int)(slash - scontrol), scontrol, name);
    *program = text_take(&path);
    *conf = setting_get(s, SETTING_SLURM_CONF);
    return 0;
}

int site_replace_program(const struct site *s, const char **out, struct err *e)
{
    *out = setting_get(s, SETTING_REPLACE_PROGRAM);
    return **out ? 0 : err_set(e, -ENOENT, "%s has no ReplaceProgram", s->conf.path);
}
