/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meanings.conf: records over the tables. A record has one of three forms: a number, a line of its own, or
 * another action for a code of the tables.
 */
#include "health/meaning_rule.h"

#include "base/conf.h"
#include "base/text.h"
#include "health/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum key { XID, SXID, LINE, CODE, SUB, DEVICE, ACT, RESULT, BECAUSE, KEYS };
static const char *const KEY_NAMES[KEYS] = {"Xid",    "Sxid", "Line",   "Code",   "Sub",
                                            "Device", "Act",  "Result", "Because"};

/* One line of the file; a value is NULL when its key is not given. */
struct record {
    const struct conf *file;
    const struct conf_line *line;
    const char *value[KEYS];
    struct meaning m; /* act, result, what, source */
};

static const char *meaning_conf_keep(struct meanings *all, char *text)
{
    all->kept = mem_grow(all->kept, (all->n_kept + 1) * sizeof *all->kept);
    return all->kept[all->n_kept++] = text;
}

static int read_keys(struct record *r, struct err *e)
{
    for (size_t i = 0; i < r->line->n; i++) {
        const struct conf_field *f = &r->line->fields[i];
        size_t key = 0;
        while (key < KEYS && strcasecmp(KEY_NAMES[key], f->key) != 0)
            key++;
        if (key == KEYS)
            return conf_unknown_key(r->file, r->line, f->key, KEY_NAMES, KEYS, e);
        if (*f->value == '\0')
            return err_set(e, -EINVAL, "%s:%d: %s is empty", r->file->path, r->line->number, f->key);
        r->value[key] = f->value;
    }
    return 0;
}

/* Checks which keys occur together. */
static int check_keys(const struct record *r, struct err *e)
{
    const char *const *v = r->value;
    int things = (v[XID] != NULL) + (v[SXID] != NULL) + (v[LINE] != NULL) + (v[CODE] && !v[LINE]);
    if (things != 1)
        return err_set(e, -EINVAL, "a record has one of Xid, Sxid, Line with Code, and Code");
    if (v[LINE] && !v[CODE])
        return err_set(e, -EINVAL, "a Line has a Code");
    if (v[SUB] && !v[XID])
        return err_set(e, -EINVAL, "Sub is for an Xid");
    if (v[DEVICE] && !v[LINE])
        return err_set(e, -EINVAL, "Device is for a Line");
    return 0;
}

static int read_act(struct record *r, struct err *e)
{
    const char *act = r->value[ACT], *result = r->value[RESULT];
    r->m.act = ACT_IGNORE;
    if (act && !act_parse(act, &r->m.act))
        return err_set(e, -EINVAL, "no act \"%.40s\": ignore, job, watch, reset, reboot, hardware or lost",
                       act);
    r->m.blame = r->m.act == ACT_JOB ? BLAME_PROGRAM : BLAME_NODE;
    r->m.result = act_result(r->m.act);
    if (result && (!result_parse(result, &r->m.result) || r->m.result < RESULT_OK))
        return err_set(e, -EINVAL, "no result \"%.40s\": ok, info, warn, degraded, fatal or lost", result);
    if (!act && r->m.result != RESULT_OK)
        return err_set(e, -EINVAL, "an Act is missing");
    if (r->m.result == RESULT_OK && !r->value[LINE])
        return err_set(e, -EINVAL, "only a Line ends a finding; use ignore");
    return 0;
}

static void read_source(struct meanings *all, struct record *r)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "%s:%d", r->file->path, r->line->number);
    if (r->value[BECAUSE])
        text_printf(&t, ": %s", r->value[BECAUSE]);
    r->m.source = meaning_conf_keep(all, text_take(&t));
    r->m.what = "as the site says";
    if (r->value[LINE] && r->value[BECAUSE])
        r->m.what = meaning_conf_keep(all, mem_dup(r->value[BECAUSE]));
}

static int check_code(const char *code, struct err *e)
{
    size_t len = strlen(code);
    if (len > FINDING_CODE_BYTES_MAX || strspn(code, "abcdefghijklmnopqrstuvwxyz0123456789._-") != len)
        return err_set(e, -EINVAL, "Code \"%.40s\" is no code: 1 to %d of a-z, 0-9 and . _ -", code,
                       FINDING_CODE_BYTES_MAX);
    if (strncmp(code, "xid.", 4) == 0 || strncmp(code, "sxid.", 5) == 0)
        return err_set(e, -EINVAL, "Code \"%s\" belongs to the NVIDIA driver: use Xid or Sxid", code);
    return 0;
}

static int check_line(const char *key, const char *value, struct err *e)
{
    int rc = text_check_line(value, e);
    return rc < 0 ? err_wrap(e, rc, "%s", key) : 0;
}

/* --- the three kinds of record ----------------------------------------------------------------------- */

/* "79" or "144-150". */
static int read_range(const char *text, unsigned max, struct number_rule *rule, struct err *e)
{
    CLEANUP_FREE char *first = mem_dup(text);
    char *last = strchr(first, '-');
    if (last)
        *last++ = '\0';
    uint64_t from, to;
    if (text_parse_u64(first, 0, max, &from, e) < 0 ||
        text_parse_u64(last ? last : first, from, max, &to, e) < 0)
        return err_wrap(e, -EINVAL, "\"%.40s\"", text);
    rule->first = (unsigned)from;
    rule->last = (unsigned)to;
    return 0;
}

/* The cause stays that of the tables, whatever action the site chooses. */
static enum blame blame_of(const struct meanings *all, const struct number_rule *rule)
{
    for (size_t i = all->n_own_numbers; rule->m.act != ACT_JOB && i < all->n_numbers; i++) {
        const struct number_rule *row = &all->numbers[i];
        if (row->nvswitch == rule->nvswitch && !row->says && row->first <= rule->first &&
            row->last >= rule->last)
            return row->m.blame;
    }
    return rule->m.blame;
}

static int take_number(struct meanings *all, const struct record *r, struct err *e)
{
    struct number_rule rule = {.nvswitch = r->value[SXID] != NULL, .sub = SUB_ANY, .m = r->m};
    int rc = read_range(r->value[rule.nvswitch ? SXID : XID], rule.nvswitch ? SXID_MAX : XID_MAX, &rule, e);
    uint64_t sub;
    if (rc < 0)
        return err_wrap(e, rc, rule.nvswitch ? "Sxid" : "Xid");
    if (r->value[SUB]) {
        rc = text_parse_u64(r->value[SUB], 0, SUB_MAX, &sub, e);
        if (rc < 0)
            return err_wrap(e, rc, "Sub");
        rule.sub = (int)sub;
    }
    rule.m.blame = blame_of(all, &rule);
    rule.mild_act = rule.m.act;
    rule.mild_result = rule.m.result;
    all->numbers = mem_grow(all->numbers, (all->n_numbers + 1) * sizeof rule);
    struct number_rule *at = &all->numbers[all->n_own_numbers++];
    memmove(at + 1, at, (all->n_numbers - all->n_own_numbers + 1) * sizeof rule);
    all->n_numbers++;
    *at = rule;
    return 0;
}

static int take_line(struct meanings *all, const struct record *r, struct err *e)
{
    struct line_rule rule = {.m = r->m};
    int rc = pattern_check(r->value[LINE], e);
    if (rc == 0)
        rc = check_line("Device", r->value[DEVICE] ? r->value[DEVICE] : "", e);
    if (rc == 0 && r->value[DEVICE] && strlen(r->value[DEVICE]) > FINDING_DEVICE_BYTES_MAX / 2)
        rc = err_set(e, -EINVAL, "Device has more than %d bytes", FINDING_DEVICE_BYTES_MAX / 2);
    if (rc < 0)
        return rc;
    memcpy(rule.m.code, r->value[CODE], strlen(r->value[CODE]) + 1);
    rule.pattern = meaning_conf_keep(all, mem_dup(r->value[LINE]));
    rule.kind = r->value[DEVICE] ? meaning_conf_keep(all, mem_dup(r->value[DEVICE])) : "";
    all->lines = mem_grow(all->lines, (all->n_lines + 1) * sizeof rule);
    struct line_rule *at = &all->lines[all->n_own_lines++];
    memmove(at + 1, at, (all->n_lines - all->n_own_lines + 1) * sizeof rule);
    all->n_lines++;
    *at = rule;
    return 0;
}

/* Another action for a code of the tables. */
static int take_code(struct meanings *all, const struct record *r, struct err *e)
{
    bool any = false;
    for (size_t i = all->n_own_lines; i < all->n_lines; i++) {
        struct meaning *m = &all->lines[i].m;
        if (strcmp(m->code, r->value[CODE]) != 0)
            continue;
        any = true;
        if (m->result == RESULT_OK) /* a closing line closes any finding with its code and device */
            continue;
        m->act = r->m.act;
        m->result = r->m.result;
        m->blame = r->m.act == ACT_JOB ? BLAME_PROGRAM : m->blame;
        m->source = r->m.source;
    }
    return any ? 0
               : err_set(e, -EINVAL, "no code \"%s\" in the tables; a new one has a Line", r->value[CODE]);
}

static int take_record(struct meanings *all, struct record *r, struct err *e)
{
    int rc = check_keys(r, e);
    if (rc == 0)
        rc = read_act(r, e);
    if (rc == 0 && r->value[CODE])
        rc = check_code(r->value[CODE], e);
    if (rc == 0 && r->value[BECAUSE])
        rc = check_line("Because", r->value[BECAUSE], e);
    if (rc < 0)
        return rc;
    read_source(all, r);
    if (r->value[LINE])
        return take_line(all, r, e);
    return r->value[CODE] ? take_code(all, r, e) : take_number(all, r, e);
}

int meanings_take(struct meanings *all, const struct conf *file, struct err *e)
{
    if (file->n > MEANINGS_MAX)
        return err_set(e, -E2BIG, "%s: more than %d records", file->path, MEANINGS_MAX);
    for (size_t i = 0; i < file->n; i++) {
        struct record r = {.file = file, .line = &file->lines[i]};
        int rc = read_keys(&r, e);
        if (rc < 0)
            return rc;
        rc = take_record(all, &r, e);
        if (rc < 0)
            return err_wrap(e, rc, "%s:%d", file->path, file->lines[i].number);
    }
    return 0;
}
