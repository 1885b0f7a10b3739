/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/config/config_inside.h"
#include "import/import.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int unknown_node_key(const struct conf *file, const struct conf_line *line, const char *key,
                            struct err *e)
{
    const char *known[FIELDS];
    CLEANUP_TEXT struct text hint = {0};
    size_t n = 0;
    if (import_slurm_node_hint(key, &hint))
        return err_set(e, -EINVAL, "%s:%d: unknown key \"%.80s\"; %s", file->path, line->number, key, hint.s);
    known[n++] = "Name";
    for (int f = 0; f < FIELDS; f++)
        if (field_get((enum field)f)->settable)
            known[n++] = field_get((enum field)f)->name;
    return conf_unknown_key(file, line, key, known, n, e);
}

/* Takes a field's value. Partitions may be given by name. */
static int take_value(const struct config *c, struct spec *s, enum field f, const char *value, struct err *e)
{
    unsigned partition_max = (unsigned)c->number[SETTING_MAX_PARTITION];
    CLEANUP_TEXT struct text numbers = {0};
    if (f != FIELD_PARTITION)
        return spec_set(s, f, value, partition_max, e);
    int rc = partition_numbers(c->roster.partitions, c->roster.n_partitions, value, &numbers, e);
    return rc < 0 ? err_wrap(e, rc, "Partition") : spec_set(s, f, numbers.s, partition_max, e);
}

/* Applies the keys of one record to a specification, all but the xnames. */
static int take_spec(const struct config *c, const struct conf *file, const struct conf_line *line,
                     struct spec *s, struct err *e)
{
    for (size_t i = 0; i < line->n; i++) {
        const struct conf_field *kv = &line->fields[i];
        enum field f;
        if (strcasecmp(kv->key, "Name") == 0)
            continue;
        if (field_find(kv->key, &f, NULL) < 0 || !field_get(f)->settable)
            return unknown_node_key(file, line, kv->key, e);
        if (f == FIELD_XNAME)
            continue;
        int rc = take_value(c, s, f, kv->value, e);
        if (rc < 0)
            return err_wrap(e, rc, "%s:%d", file->path, line->number);
    }
    return 0;
}

struct line_of {
    const char *name;
    int line;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct line_of *)a)->name, ((const struct line_of *)b)->name);
}

static int refuse_twice(const struct conf *file, const char *noun, struct line_of *all, size_t n,
                        struct err *e)
{
    qsort(all, n, sizeof *all, by_name);
    for (size_t i = 1; i < n; i++)
        if (strcmp(all[i - 1].name, all[i].name) == 0)
            return err_set(e, -EINVAL, "%s:%d: %s \"%s\" is already on line %d", file->path,
                           all[i].line > all[i - 1].line ? all[i].line : all[i - 1].line, noun, all[i].name,
                           all[i].line > all[i - 1].line ? all[i - 1].line : all[i].line);
    return 0;
}

static int refuse_duplicates(const struct conf *file, const struct roster *r, const int *lines, struct err *e)
{
    CLEANUP_FREE struct line_of *all = mem_alloc((r->n + 1) * sizeof *all);
    size_t xnames = 0;
    for (size_t i = 0; i < r->n; i++)
        all[i] = (struct line_of){r->nodes[i].name, lines[i]};
    int rc = refuse_twice(file, "node", all, r->n, e);
    for (size_t i = 0; i < r->n; i++)
        if (r->nodes[i].spec.xname)
            all[xnames++] = (struct line_of){r->nodes[i].spec.xname, lines[i]};
    return rc == 0 ? refuse_twice(file, "xname", all, xnames, e) : rc;
}

/* The record's nodes while they are added to the roster. */
struct adding {
    struct config *config;
    const struct conf *file;
    struct spec defaults;
    int *lines; /* of each node of the roster */
    size_t cap;
};

static int add_node(struct adding *a, int line, const char *name, const char *xname, const struct spec *s,
                    struct err *e)
{
    struct roster *r = &a->config->roster;
    if (!hostlist_name_ok(name))
        return err_set(e, -EINVAL, "%s:%d: \"%s\" is not the name of a node", a->file->path, line, name);
    if (r->n == a->cap) {
        a->cap = a->cap ? a->cap * 2 : 64;
        r->nodes = mem_grow(r->nodes, a->cap * sizeof *r->nodes);
        a->lines = mem_grow(a->lines, a->cap * sizeof *a->lines);
    }
    a->lines[r->n] = line;
    struct roster_node *node = &r->nodes[r->n++];
    node->name = mem_dup(name);
    spec_init(&node->spec);
    spec_copy(&node->spec, s);
    int rc = xname ? spec_set(&node->spec, FIELD_XNAME, xname, PARTITION_MAX, e) : 0;
    return rc < 0 ? err_wrap(e, rc, "%s:%d", a->file->path, line) : 0;
}

/* Reads one xname for each name, in the same order as nodeset; empty when the record has none. */
static int read_xnames(const struct conf *file, const struct conf_line *line, const struct hostlist *names,
                       struct hostlist *xnames, struct err *e)
{
    const struct conf_field *given = config_field(line, "Xname");
    if (!given || *given->value == '\0')
        return 0;
    int rc = hostlist_parse(given->value, xnames, e);
    if (rc < 0)
        return err_wrap(e, rc, "%s:%d: Xname", file->path, line->number);
    if (xnames->n != names->n)
        return err_set(e, -EINVAL, "%s:%d: Xname has %zu names, Name has %zu", file->path, line->number,
                       xnames->n, names->n);
    return 0;
}

static int add_nodes(struct adding *a, const struct conf_line *line, const char *list, struct err *e)
{
    CLEANUP_HOSTLIST struct hostlist names = {0}, xnames = {0};
    int rc = hostlist_parse(list, &names, e);
    if (rc < 0)
        return err_wrap(e, rc, "%s:%d: Name", a->file->path, line->number);
    struct spec s;
    spec_init(&s);
    spec_copy(&s, &a->defaults);
    rc = take_spec(a->config, a->file, line, &s, e);
    if (rc == 0)
        rc = read_xnames(a->file, line, &names, &xnames, e);
    assert(rc != 0 || xnames.n == 0 || xnames.n == names.n);
    for (size_t i = 0; rc == 0 && i < names.n; i++)
        rc = add_node(a, line->number, names.names[i], xnames.n ? xnames.names[i] : NULL, &s, e);
    spec_fini(&s);
    return rc;
}

static int take_node_line(struct adding *a, const struct conf_line *line, struct err *e)
{
    const struct conf_field *name = config_field(line, "Name");
    if (!name) {
        struct spec nothing; /* the keys are checked first, so that a misspelt Name is reported as such */
        spec_init(&nothing);
        int rc = take_spec(a->config, a->file, line, &nothing, e);
        spec_fini(&nothing);
        if (rc < 0)
            return rc;
    }
    if (!name || *name->value == '\0')
        return err_set(e, -EINVAL, "%s:%d: a record without Name", a->file->path, line->number);
    if (strcmp(name->value, "DEFAULT") != 0)
        return add_nodes(a, line, name->value, e);
    if (config_field(line, "Xname"))
        return err_set(e, -EINVAL, "%s:%d: DEFAULT has an Xname, which belongs to one node", a->file->path,
                       line->number);
    return take_spec(a->config, a->file, line, &a->defaults, e);
}

int config_read_nodes(struct config *c, struct err *e)
{
    struct conf file;
    int rc = config_part_read(c, CONFIG_NODES, &file, e);
    if (rc < 0)
        return config_refuse_file(c, SETTING_NODE_SPEC_CONF, rc, e);
    struct adding a = {.config = c, .file = &file};
    spec_init(&a.defaults);
    for (size_t i = 0; rc == 0 && i < file.n; i++)
        rc = take_node_line(&a, &file.lines[i], e);
    if (rc == 0)
        rc = refuse_duplicates(&file, &c->roster, a.lines, e);
    spec_fini(&a.defaults);
    free(a.lines);
    conf_fini(&file);
    return rc;
}
