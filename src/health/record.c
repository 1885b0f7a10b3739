/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes the records of checks. key.h has the keys that any check may have. Any other key is the
 * probe's, and argument.h checks its value.
 *
 * The name and the probe are read first, because the probe sets the defaults of the others. A record is read
 * into a check of its own, which joins the others when all of it is good.
 */
#include "base/conf.h"
#include "health/argument.h"
#include "health/key.h"
#include "health/steady.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void check_fini(struct check *k)
{
    free(k->name);
    hostlist_fini(&k->classes);
    hostlist_fini(&k->nodes);
    for (size_t i = 0; i < k->n_args; i++) {
        free(k->args[i].key);
        free(k->args[i].value);
    }
    *k = (struct check){0};
}

void checks_fini(struct checks *c)
{
    for (size_t i = 0; i < c->n; i++)
        check_fini(&c->list[i]);
    free(c->list);
    *c = (struct checks){0};
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, each once. */
static void sort_names(struct hostlist *h)
{
    size_t n = 0;
    if (h->n > 0)
        qsort(h->names, h->n, sizeof *h->names, by_name);
    for (size_t i = 0; i < h->n; i++)
        if (n == 0 || strcmp(h->names[n - 1], h->names[i]) != 0)
            h->names[n++] = h->names[i];
    h->n = n;
}

/* --- one record ---------------------------------------------------------------------------------- */

static const char *field_find(const struct conf_line *line, const char *key)
{
    for (size_t i = 0; i < line->n; i++)
        if (strcasecmp(line->fields[i].key, key) == 0)
            return line->fields[i].value;
    return NULL;
}

static int check_name(const char *name, struct err *e)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-");
    if (len == 0 || name[len] || len > CHECK_NAME_BYTES_MAX || strchr("._-", *name))
        return err_set(
            e, -EINVAL,
            "\"%.80s\" is no name of a check: lower-case letters, digits, '.', '-' and '_', a letter or "
            "digit first, at most %d",
            name, CHECK_NAME_BYTES_MAX);
    return 0;
}

static int no_probe(const char *name, bool named, struct err *e)
{
    const char *known[PROBES];
    for (int p = 0; p < PROBES; p++)
        known[p] = probe_row((enum probe)p)->name;
    const char *near = text_nearest(name, known, PROBES);
    const char *hint = named ? "" : "; a check of another name says which Probe it is";
    if (near)
        return err_set(e, -EINVAL, "no probe \"%.80s\"; the nearest is \"%s\"%s", name, near, hint);
    return err_set(e, -EINVAL, "no probe \"%.80s\"%s", name, hint);
}

/* Reads name and probe, and sets the defaults that follow from them. */
static int record_begin(struct check *k, const struct conf_line *line, struct err *e)
{
    if (strcasecmp(line->fields[0].key, "Check") != 0)
        return err_set(e, -EINVAL, "the record of a check begins with Check=NAME");
    const char *name = line->fields[0].value;
    const char *probe = field_find(line, "Probe");
    int rc = check_name(name, e);
    if (rc < 0)
        return rc;
    if (!probe_find(probe ? probe : name, &k->probe))
        return no_probe(probe ? probe : name, probe, e);
    k->name = mem_dup(name);
    key_defaults(k);
    return 0;
}

static int check_text(const char *value, struct err *e)
{
    return *value ? text_check_line(value, e) : err_set(e, -EINVAL, "the value is empty");
}

/* The probes that have this key, separated by commas. */
static void find_probes(const char *key, struct text *out)
{
    struct argument a;
    for (int p = 0; p < PROBES; p++)
        if (argument_find((enum probe)p, key, &a))
            text_printf(out, "%s%s", out->len > 0 ? ", " : "", probe_row((enum probe)p)->name);
}

static int unknown_key(const struct check *k, const char *key, struct err *e)
{
    CLEANUP_TEXT struct text probes = {0};
    struct argument own[CHECK_ARGS_MAX];
    const char *known[64];
    size_t n = 0;
    find_probes(key, &probes);
    if (probes.len > 0)
        return err_set(e, -EINVAL, "key \"%.80s\" belongs to %s, and the probe here is %s", key, probes.s,
                       probe_row(k->probe)->name);
    for (size_t i = 0; i < key_rows_n; i++)
        known[n++] = key_rows[i].key;
    for (size_t i = 0; i < CHECK_ARGS_MAX && argument_at(k->probe, i, &own[i]); i++)
        known[n++] = own[i].key;
    const char *near = text_nearest(key, known, n);
    if (near)
        return err_set(e, -EINVAL, "unknown key \"%.80s\"; the nearest known is \"%s\"", key, near);
    return err_set(e, -EINVAL, "unknown key \"%.80s\"", key);
}

static int take_argument(const struct check *k, const struct conf_field *f, struct err *e)
{
    struct argument a;
    if (!argument_find(k->probe, f->key, &a))
        return unknown_key(k, f->key, e);
    int rc = argument_check(&a, f->value, e);
    return rc < 0 ? err_wrap(e, rc, "%s", a.key) : 0;
}

static int take_field(struct check *k, const struct conf_field *f, struct err *e)
{
    const struct key *key = key_find(f->key);
    int rc = check_text(f->value, e);
    if (rc < 0)
        return err_wrap(e, rc, "%.80s", f->key);
    if (!key)
        return take_argument(k, f, e);
    rc = key->take ? key->take(k, f->value, e) : 0;
    return rc < 0 ? err_wrap(e, rc, "%s", key->key) : 0;
}

/* Keeps the probe's own keys in the order of its table. */
static int keep_arguments(struct check *k, const struct conf_line *line, struct err *e)
{
    struct argument a;
    for (size_t i = 0; argument_at(k->probe, i, &a); i++) {
        const char *value = field_find(line, a.key);
        if (!value && a.must)
            return err_set(e, -EINVAL, "probe %s must have %s", probe_row(k->probe)->name, a.key);
        if (!value)
            continue;
        assert(k->n_args < CHECK_ARGS_MAX);
        k->args[k->n_args].key = mem_dup(a.key);
        k->args[k->n_args++].value = mem_dup(value);
    }
    return 0;
}

static int check_scheduled(const struct check *k, struct err *e)
{
    enum { MINUTE_S = 60, WEEK_S = 7 * 86400 };
    bool scheduled = k->when & CHECK_SCHEDULED;
    if (scheduled && (k->when & ~(unsigned)(CHECK_SCHEDULED | CHECK_EXTENSIVE | CHECK_DEMAND)))
        return err_set(
            e, -EINVAL,
            "When: scheduled goes only with extensive and demand; idle is for checks that the node "
            "runs at its own times");
    if (scheduled && probe_row(k->probe)->how == PROBE_FOLLOW)
        return err_set(e, -EINVAL, "When: probe %s reports events as they come, and cannot be scheduled",
                       probe_row(k->probe)->name);
    if (scheduled && k->every.ns < span_s(MINUTE_S).ns)
        return err_set(e, -EINVAL, "Every: a scheduled check takes the node from work; 1m is the minimum");
    if (!scheduled && k->every.ns > span_s(WEEK_S).ns)
        return err_set(e, -EINVAL, "Every: more than 7d is for When=scheduled");
    return 0;
}

static const char *value_of(const void *arg, const char *key)
{
    return check_arg(arg, key);
}

/* Checks that involve several keys. */
static int check_together(const struct check *k, struct err *e)
{
    if (k->probe == PROBE_SERVICE && k->n_args == 0)
        return err_set(e, -EINVAL, "probe service must have one of Name, Command, Socket, Port and Unit");
    int64_t room = k->window.ns / k->every.ns;
    if (k->fail_percent > 0 && (room < 1 || room > STEADY_LOOKS_MAX))
        return err_set(e, -EINVAL,
                       "FailWindow has room for %" PRId64 " looks; with FailPercent it takes 1 to %d", room,
                       STEADY_LOOKS_MAX);
    bool counters =
        k->probe == PROBE_IB_COUNTERS || k->probe == PROBE_IB_FLAP || k->probe == PROBE_IB_CONGESTION;
    if (counters && k->every.ns < span_s(30).ns)
        return err_set(e, -EINVAL,
                       "Every: the counters of InfiniBand ports are asked of firmware, each 30s at most");
    int rc = argument_order(k->probe, value_of, k, e);
    if (rc < 0)
        return rc;
    if (k->group > 1 && (k->when & ~(unsigned)(CHECK_SCHEDULED | CHECK_EXTENSIVE | CHECK_DEMAND)))
        return err_set(e, -EINVAL,
                       "Group: nodes run a check together only with When=scheduled, extensive or demand");
    return check_scheduled(k, e);
}

static int read_check(struct check *k, const struct conf_line *line, struct err *e)
{
    int rc = record_begin(k, line, e);
    for (size_t i = 0; rc == 0 && i < line->n; i++)
        rc = take_field(k, &line->fields[i], e);
    key_finish(k);
    sort_names(&k->classes);
    sort_names(&k->nodes);
    if (rc == 0)
        rc = keep_arguments(k, line, e);
    return rc < 0 ? rc : check_together(k, e);
}

/* --- files --------------------------------------------------------------------------------------- */

static int check_beside(const struct checks *c, const struct check *k, struct err *e)
{
    size_t names = k->nodes.n, scheduled = (k->when & CHECK_SCHEDULED) != 0;
    for (size_t i = 0; i < c->n; i++) {
        names += c->list[i].nodes.n;
        scheduled += (c->list[i].when & CHECK_SCHEDULED) != 0;
    }
    if (checks_find(c, k->name))
        return err_set(e, -EINVAL, "check \"%s\" is there already", k->name);
    if (c->n == CHECKS_MAX)
        return err_set(e, -EINVAL, "check \"%s\" is one too many; there are %d at most", k->name, CHECKS_MAX);
    if (scheduled > CHECKS_SCHEDULED_MAX)
        return err_set(e, -EINVAL, "check \"%s\" is one too many with When=scheduled; there are %d at most",
                       k->name, CHECKS_SCHEDULED_MAX);
    if (names > CHECKS_NODES_MAX)
        return err_set(e, -EINVAL, "with check \"%s\" the checks name %zu nodes; %d are allowed", k->name,
                       names, CHECKS_NODES_MAX);
    return 0;
}

static int add_check(struct checks *c, const struct conf_line *line, struct err *e)
{
    struct check k = {.line = (unsigned)line->number};
    int rc = read_check(&k, line, e);
    if (rc == 0)
        rc = check_beside(c, &k, e);
    if (rc < 0) {
        check_fini(&k);
        return rc;
    }
    c->list = mem_grow(c->list, (c->n + 1) * sizeof *c->list);
    c->list[c->n++] = k;
    return 0;
}

static const struct {
    const char *set, *record;
} ready[] = {
#define SET(name, what)
#define READY(set, record, what) {set, record "\n"},
#include "health/set.tbl"
#undef SET
#undef READY
#define DEFAULT(record, what) {"default", record "\n"},
#include "health/default.tbl"
#undef DEFAULT
};

static const char *const sets[] = {
    "default",
#define SET(name, what) name,
#define READY(set, record, what)
#include "health/set.tbl"
#undef SET
#undef READY
};

static bool is_include(const struct conf_line *line)
{
    return strcasecmp(line->fields[0].key, "Include") == 0;
}

/* True when the file has a record of this name. */
static bool stands_in(const struct conf *file, const char *name)
{
    for (size_t i = 0; i < file->n; i++)
        if (!is_include(&file->lines[i]) && strcmp(file->lines[i].fields[0].value, name) == 0)
            return true;
    return false;
}

static int add_ready(struct checks *c, const struct conf *file, int line, const char *record, struct err *e)
{
    struct conf one;
    int rc = conf_parse("", record, strlen(record), CONF_RECORDS, &one, e);
    assert(rc == 0 && one.n == 1);
    one.lines[0].number = line;
    if (!stands_in(file, one.lines[0].fields[0].value))
        rc = add_check(c, &one.lines[0], e);
    conf_fini(&one);
    return rc;
}

static int no_set(const char *name, struct err *e)
{
    CLEANUP_TEXT struct text all = {0};
    size_t n = sizeof sets / sizeof sets[0];
    for (size_t i = 0; i < n; i++)
        text_printf(&all, "%s%s", i ? ", " : "", sets[i]);
    return err_set(e, -EINVAL, "Include: there is no set \"%.80s\"; there are %s", name, all.s);
}

/* "Include=nvidia": adds the records of a ready-made set, except those that the file defines itself. */
static int include_set(struct checks *c, const struct conf *file, const struct conf_line *line, struct err *e)
{
    const char *name = line->fields[0].value;
    bool is_there = false;
    int rc = 0;
    if (line->n > 1)
        return err_set(e, -EINVAL, "%.80s: a line with Include has nothing beside it", line->fields[1].key);
    for (size_t i = 0; rc == 0 && i < sizeof ready / sizeof ready[0]; i++) {
        if (strcmp(ready[i].set, name) != 0)
            continue;
        is_there = true;
        rc = add_ready(c, file, line->number, ready[i].record, e);
    }
    return rc == 0 && !is_there ? no_set(name, e) : rc;
}

static int take_file(const struct conf *file, struct checks *c, struct err *e)
{
    for (size_t i = 0; i < file->n; i++) {
        const struct conf_line *line = &file->lines[i];
        int rc = is_include(line) ? include_set(c, file, line, e) : add_check(c, line, e);
        if (rc < 0) {
            checks_fini(c);
            return err_wrap(e, rc, "%s:%d", file->path, line->number);
        }
    }
    return 0;
}

int checks_read(const char *path, struct checks *c, struct err *e)
{
    struct conf file = {0};
    *c = (struct checks){0};
    int rc = conf_read(path, CONF_RECORDS, &file, e);
    if (rc == 0)
        rc = take_file(&file, c, e);
    conf_fini(&file);
    return rc;
}

int checks_parse(const char *path, const char *bytes, size_t len, struct checks *c, struct err *e)
{
    struct conf file = {0};
    *c = (struct checks){0};
    int rc = conf_parse(path, bytes, len, CONF_RECORDS, &file, e);
    if (rc == 0)
        rc = take_file(&file, c, e);
    conf_fini(&file);
    return rc;
}

void checks_default(struct checks *c)
{
    static const char records[] = "Include=default\n";
    int rc = checks_parse("defaults", records, strlen(records), c, NULL);
    assert(rc == 0);
}

/* --- writing ------------------------------------------------------------------------------------- */

static void put_field(struct text *t, const char *key, const char *value)
{
    text_printf(t, " %s=", key);
    if (*value != '"' && !strpbrk(value, " \t")) {
        text_add(t, value);
        return;
    }
    text_add_char(t, '"');
    for (const char *p = value; *p; p++) {
        if (*p == '"' || *p == '\\')
            text_add_char(t, '\\');
        text_add_char(t, *p);
    }
    text_add_char(t, '"');
}

/* Writes the nodes as one list or, when it is too long for a value, as those of both halves. */
static void put_nodes(struct text *t, const char *const *names, size_t n, unsigned *part)
{
    CLEANUP_FREE char *list = hostlist_fold(names, n);
    if (strlen(list) > CONF_FIELD_BYTES_MAX && n > 1) {
        put_nodes(t, names, n / 2, part);
        put_nodes(t, names + n / 2, n - n / 2, part);
        return;
    }
    char key[32] = "Nodes";
    if (++*part > 1)
        snprintf(key, sizeof key, "Nodes%u", *part);
    put_field(t, key, list);
}

void check_format(const struct check *k, const struct hostlist *nodes, struct text *t)
{
    CLEANUP_TEXT struct text value = {0};
    unsigned part = 0;
    text_printf(t, "Check=%s", k->name);
    if (strcmp(k->name, probe_row(k->probe)->name) != 0)
        put_field(t, "Probe", probe_row(k->probe)->name);
    for (size_t i = 0; i < k->n_args; i++)
        put_field(t, k->args[i].key, k->args[i].value);
    for (size_t i = 0; i < key_rows_n; i++) {
        text_clear(&value);
        if (!key_rows[i].put || (nodes && key_rows[i].who))
            continue;
        key_rows[i].put(k, &value);
        if (value.len > 0)
            put_field(t, key_rows[i].key, value.s);
    }
    CLEANUP_HOSTLIST struct hostlist sorted = {0};
    for (size_t i = 0; nodes && i < nodes->n; i++)
        hostlist_add(&sorted, nodes->names[i]);
    sort_names(&sorted);
    const struct hostlist *who = nodes ? &sorted : &k->nodes;
    if (who->n > 0)
        put_nodes(t, (const char *const *)who->names, who->n, &part);
}
