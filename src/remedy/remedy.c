/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remedies as records. A record is read into a remedy of its own, which joins the others when all its keys
 * are good. References between records (After) are checked when all are read.
 */
#include "remedy/remedy.h"

#include "base/conf.h"
#include "node/action.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PATTERNS_MAX = 64 };

typedef int take_fn(struct remedy *r, const char *value, struct err *e);
static take_fn take_name, take_run, take_helps, take_classes, take_confidence, take_weight, take_because,
    take_takes, take_deadline, take_settle, take_disturbs, take_needs, take_tries, take_window, take_approval,
    take_dry, take_after;

enum key {
    KEY_REMEDY,
    KEY_RUN,
    KEY_HELPS,
    KEY_CONFIDENCE,
    KEY_BECAUSE,
    KEY_TAKES, /* keys up to here are mandatory */
    KEY_CLASSES,
    KEY_WEIGHT,
    KEY_DEADLINE,
    KEY_SETTLE,
    KEY_DISTURBS,
    KEY_NEEDS,
    KEY_TRIES,
    KEY_WINDOW,
    KEY_APPROVAL,
    KEY_DRY,
    KEY_AFTER,
    KEYS
};
static const struct {
    const char *key;
    take_fn *take;
} takes[KEYS] = {
    [KEY_REMEDY] = {"Remedy", take_name},         [KEY_RUN] = {"Run", take_run},
    [KEY_HELPS] = {"Helps", take_helps},          [KEY_CONFIDENCE] = {"Confidence", take_confidence},
    [KEY_BECAUSE] = {"Because", take_because},    [KEY_TAKES] = {"Takes", take_takes},
    [KEY_CLASSES] = {"Classes", take_classes},    [KEY_WEIGHT] = {"Weight", take_weight},
    [KEY_DEADLINE] = {"Deadline", take_deadline}, [KEY_SETTLE] = {"Settle", take_settle},
    [KEY_DISTURBS] = {"Disturbs", take_disturbs}, [KEY_NEEDS] = {"Needs", take_needs},
    [KEY_TRIES] = {"Tries", take_tries},          [KEY_WINDOW] = {"Window", take_window},
    [KEY_APPROVAL] = {"Approval", take_approval}, [KEY_DRY] = {"Dry", take_dry},
    [KEY_AFTER] = {"After", take_after},
};

/* What the record has said so far, beside the remedy itself: the keys that it had. */
struct reading {
    struct remedy r;
    bool seen[KEYS];
};

static void remedy_fini(struct remedy *r)
{
    free(r->name);
    free(r->run);
    free(r->because);
    free(r->after);
    hostlist_fini(&r->helps);
    hostlist_fini(&r->classes);
    *r = (struct remedy){0};
}

void remedies_fini(struct remedies *r)
{
    for (size_t i = 0; i < r->n; i++)
        remedy_fini(&r->list[i]);
    free(r->list);
    *r = (struct remedies){0};
}

const struct remedy *remedies_find(const struct remedies *r, const char *name)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->list[i].name, name) == 0)
            return &r->list[i];
    return NULL;
}

/* --- what the keys say --------------------------------------------------------------------------- */

static int check_name(const char *value, struct err *e)
{
    if (strlen(value) > REMEDY_NAME_BYTES_MAX ||
        value[strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789._-")])
        return err_set(e, -EINVAL,
                       "\"%.80s\" is no name of a remedy: lower case, digits and . _ -, at most %d", value,
                       REMEDY_NAME_BYTES_MAX);
    return 0;
}

static int take_name(struct remedy *r, const char *value, struct err *e)
{
    int rc = check_name(value, e);
    if (rc == 0)
        r->name = mem_dup(value);
    return rc;
}

static int take_after(struct remedy *r, const char *value, struct err *e)
{
    int rc = check_name(value, e);
    if (rc == 0) {
        free(r->after);
        r->after = mem_dup(value);
    }
    return rc;
}

static int take_run(struct remedy *r, const char *value, struct err *e)
{
    struct action action = action_of(value);
    bool is_empty = action_is_shell(action) && action.rest[strspn(action.rest, " \t")] == '\0';
    bool is_operation =
        action.effect == ACTION_ASKS || action.effect == ACTION_ENDS; /* internal to Fettle, never part of a
                                                                         remedy */
    if (action.kind == ACTION_NONE || is_empty || is_operation)
        return err_set(
            e, -EINVAL,
            "\"%.80s\" is none of node:COMMAND, script:COMMAND, reboot, power.cycle, power.reset, power.off, "
            "power.on, power.netboot, replace",
            value);
    int rc = text_check_line(value, e);
    if (rc == 0)
        r->run = mem_dup(value);
    return rc;
}

static int take_because(struct remedy *r, const char *value, struct err *e)
{
    int rc = text_check_line(value, e);
    if (rc == 0)
        r->because = mem_dup(value);
    return rc;
}

static int check_pattern(const char *pattern, struct err *e)
{
    const char *p = pattern + (*pattern == '!');
    size_t len = strlen(p);
    if (len == 0)
        return err_set(e, -EINVAL, "a pattern is empty");
    if (len > FAULT_BYTES_MAX)
        return err_set(e, -EINVAL, "pattern \"%.80s\" has %zu bytes; %d are allowed", p, len,
                       FAULT_BYTES_MAX);
    for (; *p; p++)
        if (*p <= ' ' || *p > '~' || *p == '!')
            return err_set(e, -EINVAL, "\"%.80s\" matches no fault", pattern);
    return 0;
}

static int take_list(struct hostlist *out, const char *value, int (*check)(const char *, struct err *),
                     struct err *e)
{
    CLEANUP_FREE char *copy = mem_dup(value);
    char *rest = copy;
    int rc = 0;
    for (char *one; rc == 0 && (one = strsep(&rest, ","));) {
        rc = out->n == PATTERNS_MAX ? err_set(e, -EINVAL, "there are %d at most", PATTERNS_MAX)
                                    : check(one, e);
        if (rc == 0)
            hostlist_add(out, one);
    }
    return rc;
}

static int take_helps(struct remedy *r, const char *value, struct err *e)
{
    return take_list(&r->helps, value, check_pattern, e);
}

static int check_class(const char *name, struct err *e)
{
    return hostlist_name_ok(name) ? 0 : err_set(e, -EINVAL, "\"%.80s\" is no name of a class", name);
}

static int take_classes(struct remedy *r, const char *value, struct err *e)
{
    return take_list(&r->classes, value, check_class, e);
}

static int take_number(unsigned *out, const char *value, unsigned min, unsigned max, struct err *e)
{
    uint64_t n;
    int rc = text_parse_u64(value, min, max, &n, e);
    if (rc == 0)
        *out = (unsigned)n;
    return rc;
}

static int take_confidence(struct remedy *r, const char *value, struct err *e)
{
    CLEANUP_FREE char *number = mem_dup(value);
    size_t len = strlen(number);
    if (len > 0 && number[len - 1] == '%')
        number[len - 1] = '\0';
    return take_number(&r->confidence, number, 1, 99, e);
}

static int take_weight(struct remedy *r, const char *value, struct err *e)
{
    return take_number(&r->weight, value, 1, 1000, e);
}

static int take_disturbs(struct remedy *r, const char *value, struct err *e)
{
    return take_number(&r->disturbs, value, 0, 100, e);
}

static int take_tries(struct remedy *r, const char *value, struct err *e)
{
    return take_number(&r->tries, value, 1, ATTEMPTS_MAX, e);
}

static int take_span(struct span *out, const char *value, int64_t max_s, const char *max, struct err *e)
{
    int rc = span_parse(value, out, e);
    if (rc == 0 && (out->ns < span_s(1).ns || out->ns > span_s(max_s).ns))
        return err_set(e, -EINVAL, "\"%.80s\" is not from 1s to %s", value, max);
    return rc;
}

static int take_takes(struct remedy *r, const char *value, struct err *e)
{
    return take_span(&r->takes, value, 7 * 86400, "7d", e);
}

static int take_deadline(struct remedy *r, const char *value, struct err *e)
{
    return take_span(&r->deadline, value, 21 * 86400, "21d", e);
}

static int take_settle(struct remedy *r, const char *value, struct err *e)
{
    return take_span(&r->settle, value, 30 * 86400, "30d", e);
}

static int take_window(struct remedy *r, const char *value, struct err *e)
{
    return take_span(&r->window, value, 365 * 86400, "365d", e);
}

static int take_needs(struct remedy *r, const char *value, struct err *e)
{
    r->needs = strcasecmp(value, "idle") == 0 ? NEEDS_IDLE : NEEDS_NOTHING;
    if (r->needs != NEEDS_IDLE && strcasecmp(value, "nothing") != 0)
        return err_set(e, -EINVAL, "\"%.80s\" is neither nothing nor idle", value);
    return 0;
}

static int take_approval(struct remedy *r, const char *value, struct err *e)
{
    return text_parse_bool(value, &r->approval, e);
}

static int take_dry(struct remedy *r, const char *value, struct err *e)
{
    return text_parse_bool(value, &r->dry, e);
}

/* --- records ------------------------------------------------------------------------------------- */

static int unknown_key(const char *key, struct err *e)
{
    const char *known[KEYS];
    for (size_t i = 0; i < KEYS; i++)
        known[i] = takes[i].key;
    const char *near = text_nearest(key, known, KEYS);
    if (near)
        return err_set(e, -EINVAL, "unknown key \"%.80s\"; the nearest known is \"%s\"", key, near);
    return err_set(e, -EINVAL, "unknown key \"%.80s\"", key);
}

static int take_key(struct reading *x, const struct conf_field *field, struct err *e)
{
    for (size_t i = 0; i < KEYS; i++) {
        if (strcasecmp(takes[i].key, field->key) != 0)
            continue;
        x->seen[i] = true;
        int rc =
            *field->value ? takes[i].take(&x->r, field->value, e) : err_set(e, -EINVAL, "the value is empty");
        return rc < 0 ? err_wrap(e, -EINVAL, "%s", takes[i].key) : 0;
    }
    return unknown_key(field->key, e);
}

/* The worst is assumed for a command whose effect only its author knows. */
static unsigned default_disturbs(const char *run)
{
    struct action r = action_of(run);
    if (r.kind == ACTION_COMMAND)
        return 0;
    return r.kind == ACTION_REBOOT || r.by == ACTION_BY_BMC ? 60 : 100;
}

/* Fills in defaults. A remedy that takes the node away needs the node idle, however little it disturbs. */
static int remedy_fill(struct reading *x, struct err *e)
{
    struct remedy *r = &x->r;
    for (int i = 0; i <= KEY_TAKES; i++)
        if (!x->seen[i])
            return err_set(e, -EINVAL, "remedy \"%s\" has no %s", r->name, takes[i].key);
    if (!x->seen[KEY_DISTURBS])
        r->disturbs = default_disturbs(r->run);
    if (!x->seen[KEY_NEEDS])
        r->needs = r->disturbs > 0 || !action_is_shell(action_of(r->run)) ? NEEDS_IDLE : NEEDS_NOTHING;
    if (!x->seen[KEY_DEADLINE])
        r->deadline.ns = r->takes.ns > span_s(20).ns ? 3 * r->takes.ns : span_s(60).ns;
    if (r->deadline.ns < r->takes.ns)
        return err_set(e, -EINVAL, "remedy \"%s\" has a Deadline before it Takes", r->name);
    if (r->helps.names[0][0] == '!')
        return err_set(e, -EINVAL, "Helps: \"%s\" takes away from nothing", r->helps.names[0]);
    return 0;
}

static int read_record(struct reading *x, const struct conf_line *line, struct err *e)
{
    x->r = (struct remedy){.weight = 4, .settle = span_s(1800), .tries = 2, .window = span_s(7 * 86400)};
    x->r.after = mem_dup("");
    if (line->n == 0 || strcasecmp(line->fields[0].key, "Remedy") != 0)
        return err_set(e, -EINVAL, "the record of a remedy begins with Remedy=NAME");
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < line->n; i++)
        rc = take_key(x, &line->fields[i], e);
    return rc == 0 ? remedy_fill(x, e) : rc;
}

static int add_record(struct remedies *r, const struct conf_line *line, struct err *e)
{
    struct reading x = {0};
    int rc = read_record(&x, line, e);
    x.r.line = (unsigned)line->number;
    if (rc == 0 && remedies_find(r, x.r.name))
        rc = err_set(e, -EINVAL, "remedy \"%s\" is there already", x.r.name);
    if (rc == 0 && r->n == REMEDIES_MAX)
        rc = err_set(e, -EINVAL, "remedy \"%s\" is one too many; there are %d at most", x.r.name,
                     REMEDIES_MAX);
    if (rc < 0) {
        remedy_fini(&x.r);
        return rc;
    }
    r->list = mem_grow(r->list, (r->n + 1) * sizeof *r->list);
    r->list[r->n++] = x.r;
    return 0;
}

/* Every After names a remedy, and the chain ends. */
static int check_after(const struct remedies *r, const struct remedy *first, struct err *e)
{
    const struct remedy *at = first;
    for (size_t steps = 0; *at->after; steps++) {
        const struct remedy *next = remedies_find(r, at->after);
        if (!next)
            return err_set(e, -EINVAL, "remedy \"%s\": After: no remedy \"%s\"", at->name, at->after);
        if (steps == r->n)
            return err_set(e, -EINVAL, "remedy \"%s\": After: it follows itself", first->name);
        at = next;
    }
    return 0;
}

static int take_lines(const struct conf *c, struct remedies *r, struct err *e)
{
    for (size_t i = 0; i < c->n; i++) {
        int rc = add_record(r, &c->lines[i], e);
        if (rc < 0)
            return err_wrap(e, rc, "%s:%d", c->path, c->lines[i].number);
    }
    for (size_t i = 0; i < r->n; i++) /* each line is one remedy by now */
        if (check_after(r, &r->list[i], e) < 0)
            return err_wrap(e, -EINVAL, "%s:%d", c->path, c->lines[i].number);
    return 0;
}

static int take_conf(struct conf *c, struct remedies *r, struct err *e)
{
    int rc = take_lines(c, r, e);
    if (rc < 0)
        remedies_fini(r);
    conf_fini(c);
    return rc;
}

int remedies_parse(const char *path, const char *bytes, size_t len, struct remedies *r, struct err *e)
{
    assert(path && r);
    assert(bytes || len == 0);
    struct conf c = {0};
    *r = (struct remedies){0};
    int rc = conf_parse(path, bytes, len, CONF_RECORDS, &c, e);
    return rc < 0 ? rc : take_conf(&c, r, e);
}

/* --- what it may help ---------------------------------------------------------------------------- */

/* '*' stands for any run of characters. After a mismatch the last star takes one more, so the cost is at most
 * the product of both lengths. */
static bool remedy_matches(const char *pattern, const char *s)
{
    const char *star = NULL, *from = NULL;
    while (*s) {
        if (*pattern == '*') {
            star = ++pattern;
            from = s;
        } else if (*pattern == *s) {
            pattern++;
            s++;
        } else if (star) {
            pattern = star;
            s = ++from;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

enum way remedy_way(const char *run)
{
    enum action_by by = action_of(run).by;
    if (by == ACTION_BY_BMC)
        return WAY_BMC;
    if (by == ACTION_BY_SITE)
        return WAY_SCRIPT;
    return by == ACTION_BY_PROVIDER ? WAY_PROVIDER : WAY_AGENT;
}

bool remedy_helps(const struct remedy *r, const char *fault, const char *class)
{
    if (strcmp(r->name, WIPE_REMEDY) == 0)
        return false; /* what it destroys is no cure */
    bool of_class = r->classes.n == 0, helps = false;
    for (size_t i = 0; i < r->classes.n; i++)
        of_class = of_class || strcmp(r->classes.names[i], class) == 0;
    for (size_t i = 0; of_class && i < r->helps.n; i++) {
        const char *pattern = r->helps.names[i];
        bool not = *pattern == '!';
        if (remedy_matches(pattern + not, fault))
            helps = !not ;
    }
    return helps;
}
