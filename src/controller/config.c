/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/config.h"

#include "base/conf.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum kind { IS_TEXT, IS_PATH, IS_NUMBER, IS_SPAN, IS_FLAG, IS_HOSTS, IS_WORDS, IS_CHOICE };

static const struct row {
    const char *name;
    enum kind kind;
    const char *def;
    uint64_t min, max;
    const char *unit, *what;
} rows[SETTINGS] = {
#define SETTING(symbol, name, kind, def, min, max, unit, what) \
    [SETTING_##symbol] = {name, IS_##kind, def, min, max, unit, what},
#include "controller/setting.tbl"
#undef SETTING
};

void config_fini(struct config *c)
{
    for (int i = 0; i < SETTINGS; i++)
        free(c->text[i]);
    free(c->path);
    hostlist_fini(&c->collectors);
    roster_fini(&c->roster);
    *c = (struct config){0};
}

struct span config_spread(size_t n)
{
    return (struct span){(int64_t)n * 1500000};
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

static int parse_value(struct config *c, enum setting s, struct err *e)
{
    const struct row *row = &rows[s];
    const char *value = c->text[s];
    switch (row->kind) {
    case IS_TEXT:
        if (strlen(value) < row->min || strlen(value) > row->max)
            return err_set(e, -EINVAL, "a value of %zu characters; it has %llu to %llu", strlen(value),
                           (unsigned long long)row->min, (unsigned long long)row->max);
        return 0;
    case IS_PATH: return check_path(value, e);
    case IS_NUMBER: return text_parse_u64(value, row->min, row->max, &c->number[s], e);
    case IS_SPAN: return *value ? parse_span(row, value, &c->number[s], e) : 0;
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

/* --- fettle.conf ----------------------------------------------------------------------------- */

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
                          struct err *e)
{
    enum setting s = SETTINGS;
    int rc = find_setting(file, line, &s, e);
    if (rc < 0)
        return rc;
    if (c->given[s])
        return err_set(e, -EINVAL, "%s:%d: %s stands twice", file->path, line->number, rows[s].name);
    free(c->text[s]);
    c->text[s] = mem_dup(line->fields[0].value);
    c->given[s] = true;
    c->line[s] = line->number;
    rc = *c->text[s] || rows[s].kind != IS_SPAN ? parse_value(c, s, e)
                                                : err_set(e, -EINVAL, "a length of time is missing");
    return rc < 0 ? err_wrap(e, rc, "%s:%d: %s", file->path, line->number, rows[s].name) : 0;
}

static int read_parameters(struct config *c, struct err *e)
{
    struct conf file;
    int rc = conf_read(c->path, CONF_PARAMETERS, &file, e);
    if (rc < 0)
        return rc;
    for (int i = 0; i < SETTINGS; i++) {
        c->text[i] = mem_dup(rows[i].def);
        rc = parse_value(c, (enum setting)i, e); /* defaults are values like any other */
        if (rc < 0)
            break;
    }
    for (size_t i = 0; rc == 0 && i < file.n; i++)
        rc = take_parameter(c, &file, &file.lines[i], e);
    conf_fini(&file);
    return rc;
}

/* --- patience -------------------------------------------------------------------------------- */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Both are lengths of time; the sentence stands at the line of the first that was given. */
static int refuse_pair(const struct config *c, enum setting a, const char *how, enum setting b, struct err *e)
{
    char x[32], y[32];
    span_format((struct span){(int64_t)c->number[a]}, x);
    span_format((struct span){(int64_t)c->number[b]}, y);
    int line = c->given[a] ? c->line[a] : c->line[b];
    return err_set(e, -EINVAL, "%s:%d: %s (%s) is %s %s (%s)", c->path, line, rows[a].name, x, how,
                   rows[b].name, y);
}

static int set_patience(struct config *c, enum setting late, enum setting silent, uint64_t late_default,
                        uint64_t grace_default, struct patience *out, struct err *e)
{
    const uint64_t second = UINT64_C(1000000000);
    uint64_t interval = c->number[SETTING_HEARTBEAT_INTERVAL];
    if (!c->given[late])
        c->number[late] = larger(late_default * second, interval * 3 / 2);
    if (*c->text[silent] == '\0')
        c->number[silent] = larger(c->number[late] + grace_default * second, interval * 2);
    if (!c->given[late] && c->number[late] >= c->number[silent])
        c->number[late] = c->number[silent] * 3 / 4; /* only HeartBeatTimeout was made short */
    out->late = (struct span){(int64_t)c->number[late]};
    out->silent = (struct span){(int64_t)c->number[silent]};
    if (c->number[silent] <= interval)
        return refuse_pair(c, silent, "not longer than", SETTING_HEARTBEAT_INTERVAL, e);
    if (c->number[late] <= interval)
        return refuse_pair(c, late, "not longer than", SETTING_HEARTBEAT_INTERVAL, e);
    if (c->number[late] > c->number[silent])
        return refuse_pair(c, late, "longer than", silent, e);
    return 0;
}

static int set_policies(struct config *c, struct err *e)
{
    struct watch_policy *w = &c->watch;
    w->judge = c->number[SETTING_HEARTBEAT_INTERVAL] > 0;
    w->silent_share_percent = (unsigned)c->number[SETTING_MAX_SILENT_SHARE];
    w->spread = config_spread(c->roster.n);
    c->api.readers = (enum api_readers)c->number[SETTING_API_READERS];
    c->api.privileged_port = c->number[SETTING_API_PRIVILEGED_PORT];
    int rc = set_patience(c, SETTING_LATE_AFTER, SETTING_HEARTBEAT_TIMEOUT, 30, 60, &w->plain, e);
    if (rc == 0)
        rc = set_patience(c, SETTING_SENSITIVE_LATE_AFTER, SETTING_SENSITIVE_TIMEOUT, 120, 300, &w->sensitive,
                          e);
    if (rc == 0)
        rc = set_patience(c, SETTING_BORROWED_LATE_AFTER, SETTING_BORROWED_TIMEOUT, 30, 30, &w->borrowed, e);
    return rc;
}

/* --- NodeSpecConf ---------------------------------------------------------------------------- */

/* A file with a bad line names itself; for one that cannot be read, who wanted it. */
static int refuse_file(const struct config *c, enum setting s, int rc, struct err *e)
{
    if (rc == -EINVAL)
        return rc;
    if (!c->given[s])
        return err_wrap(e, rc, "%s: %s, by default", c->path, rows[s].name);
    return err_wrap(e, rc, "%s:%d: %s", c->path, c->line[s], rows[s].name);
}

static const struct conf_field *field_of(const struct conf_line *line, const char *key)
{
    for (size_t i = 0; i < line->n; i++)
        if (strcasecmp(line->fields[i].key, key) == 0)
            return &line->fields[i];
    return NULL;
}

static int unknown_node_key(const struct conf *file, const struct conf_line *line, const char *key,
                            struct err *e)
{
    const char *known[FIELDS];
    size_t n = 0;
    known[n++] = "Name";
    for (int f = 0; f < FIELDS; f++)
        if (field_get((enum field)f)->settable)
            known[n++] = field_get((enum field)f)->name;
    return conf_unknown_key(file, line, key, known, n, e);
}

/* Lays the keys of one record over a specification. */
static int take_spec(const struct conf *file, const struct conf_line *line, unsigned partition_max,
                     struct spec *s, struct err *e)
{
    for (size_t i = 0; i < line->n; i++) {
        const struct conf_field *kv = &line->fields[i];
        enum field f;
        if (strcasecmp(kv->key, "Name") == 0)
            continue;
        if (field_find(kv->key, &f, NULL) < 0 || !field_get(f)->settable)
            return unknown_node_key(file, line, kv->key, e);
        int rc = spec_set(s, f, kv->value, partition_max, e);
        if (rc < 0)
            return err_wrap(e, rc, "%s:%d", file->path, line->number);
    }
    return 0;
}

struct line_of_node {
    char *name;
    int line;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct line_of_node *)a)->name, ((const struct line_of_node *)b)->name);
}

static int refuse_duplicates(const struct conf *file, const struct roster *r, const int *lines, struct err *e)
{
    CLEANUP_FREE struct line_of_node *all = mem_alloc((r->n + 1) * sizeof *all);
    for (size_t i = 0; i < r->n; i++)
        all[i] = (struct line_of_node){r->nodes[i].name, lines[i]};
    qsort(all, r->n, sizeof *all, by_name);
    for (size_t i = 1; i < r->n; i++)
        if (strcmp(all[i - 1].name, all[i].name) == 0)
            return err_set(e, -EINVAL, "%s:%d: node \"%s\" is already on line %d", file->path,
                           all[i].line > all[i - 1].line ? all[i].line : all[i - 1].line, all[i].name,
                           all[i].line > all[i - 1].line ? all[i - 1].line : all[i].line);
    return 0;
}

static int take_node_line(struct config *c, const struct conf *file, const struct conf_line *line,
                          struct spec *defaults, int **lines, size_t *cap, struct err *e)
{
    unsigned partition_max = (unsigned)c->number[SETTING_MAX_PARTITION];
    const struct conf_field *name = field_of(line, "Name");
    if (!name) {
        struct spec nothing; /* a misspelt Name is told by the keys, if it is that */
        spec_init(&nothing);
        int rc = take_spec(file, line, partition_max, &nothing, e);
        spec_fini(&nothing);
        if (rc < 0)
            return rc;
    }
    if (!name || *name->value == '\0')
        return err_set(e, -EINVAL, "%s:%d: a record without Name", file->path, line->number);
    if (strcmp(name->value, "DEFAULT") == 0)
        return take_spec(file, line, partition_max, defaults, e);

    CLEANUP_HOSTLIST struct hostlist names = {0};
    int rc = hostlist_parse(name->value, &names, e);
    if (rc < 0)
        return err_wrap(e, rc, "%s:%d: Name", file->path, line->number);
    struct spec s;
    spec_init(&s);
    spec_copy(&s, defaults);
    rc = take_spec(file, line, partition_max, &s, e);
    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        struct roster *r = &c->roster;
        if (!hostlist_name_ok(names.names[i])) {
            rc = err_set(e, -EINVAL, "%s:%d: \"%s\" is not the name of a node", file->path, line->number,
                         names.names[i]);
            break;
        }
        if (r->n == *cap) {
            *cap = *cap ? *cap * 2 : 64;
            r->nodes = mem_grow(r->nodes, *cap * sizeof *r->nodes);
            *lines = mem_grow(*lines, *cap * sizeof **lines);
        }
        (*lines)[r->n] = line->number;
        r->nodes[r->n].name = mem_dup(names.names[i]);
        spec_init(&r->nodes[r->n].spec);
        spec_copy(&r->nodes[r->n].spec, &s);
        r->n++;
    }
    spec_fini(&s);
    return rc;
}

static int read_nodes(struct config *c, struct err *e)
{
    struct conf file;
    int rc = conf_read(c->text[SETTING_NODE_SPEC_CONF], CONF_RECORDS, &file, e);
    if (rc < 0)
        return refuse_file(c, SETTING_NODE_SPEC_CONF, rc, e);
    struct spec defaults;
    spec_init(&defaults);
    CLEANUP_FREE int *lines = NULL;
    size_t cap = 0;
    for (size_t i = 0; rc == 0 && i < file.n; i++)
        rc = take_node_line(c, &file, &file.lines[i], &defaults, &lines, &cap, e);
    if (rc == 0)
        rc = refuse_duplicates(&file, &c->roster, lines, e);
    spec_fini(&defaults);
    conf_fini(&file);
    return rc;
}

/* --- PartitionConf --------------------------------------------------------------------------- */

/* The roster's nodes by name: a partition may name all of a hundred thousand. */
struct node_index {
    size_t n;
    struct roster_node **nodes;
};

static int by_node_name(const void *a, const void *b)
{
    return strcmp((*(struct roster_node *const *)a)->name, (*(struct roster_node *const *)b)->name);
}

static void index_nodes(const struct roster *r, struct node_index *index)
{
    index->n = r->n;
    index->nodes = mem_alloc(r->n * sizeof *index->nodes);
    for (size_t i = 0; i < r->n; i++)
        index->nodes[i] = &r->nodes[i];
    qsort(index->nodes, index->n, sizeof *index->nodes, by_node_name);
}

static struct roster_node *index_find(const struct node_index *index, char *name)
{
    const struct roster_node key = {.name = name};
    const struct roster_node *wanted = &key;
    struct roster_node **at = bsearch(&wanted, index->nodes, index->n, sizeof *index->nodes, by_node_name);
    return at ? *at : NULL;
}

static int add_partition_nodes(const struct node_index *index, const char *list, unsigned number,
                               struct err *e)
{
    CLEANUP_HOSTLIST struct hostlist names = {0};
    int rc = hostlist_parse(list, &names, e);
    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        struct roster_node *node = index_find(index, names.names[i]);
        if (!node)
            return err_set(e, -ENOENT, "no node \"%s\" in NodeSpecConf", names.names[i]);
        struct spec *s = &node->spec;
        if (!spec_given(s, FIELD_PARTITION))
            rc = spec_set(s, FIELD_PARTITION, "", PARTITION_MAX, e);
        partition_add(&s->partitions, number);
    }
    return rc;
}

static int take_partition(struct config *c, const struct node_index *index, const struct conf *file,
                          const struct conf_line *line, struct err *e)
{
    static const char *const known[] = {"Partition", "Name", "Nodes"};
    for (size_t i = 0; i < line->n; i++)
        if (strcasecmp(line->fields[i].key, known[0]) && strcasecmp(line->fields[i].key, known[1]) &&
            strcasecmp(line->fields[i].key, known[2]))
            return conf_unknown_key(file, line, line->fields[i].key, known, 3, e);
    const struct conf_field *number = field_of(line, "Partition"), *name = field_of(line, "Name");
    const struct conf_field *nodes = field_of(line, "Nodes");
    uint64_t n;
    if (!number)
        return err_set(e, -EINVAL, "%s:%d: a record without Partition", file->path, line->number);
    if (text_parse_u64(number->value, 0, c->number[SETTING_MAX_PARTITION], &n, e) < 0)
        return err_wrap(e, -EINVAL, "%s:%d: Partition", file->path, line->number);
    struct roster *r = &c->roster;
    for (size_t i = 0; i < r->n_partitions; i++)
        if (r->partitions[i].number == n ||
            (name && *name->value && strcmp(r->partitions[i].name, name->value) == 0))
            return err_set(e, -EINVAL, "%s:%d: partition %s stands twice", file->path, line->number,
                           r->partitions[i].number == n ? number->value : name->value);
    r->partitions = mem_grow(r->partitions, (r->n_partitions + 1) * sizeof *r->partitions);
    r->partitions[r->n_partitions++] =
        (struct partition){.number = (unsigned)n, .name = mem_dup(name ? name->value : "")};
    if (nodes && add_partition_nodes(index, nodes->value, (unsigned)n, e) < 0)
        return err_wrap(e, -EINVAL, "%s:%d: Nodes", file->path, line->number);
    return 0;
}

static int by_number(const void *a, const void *b)
{
    unsigned x = ((const struct partition *)a)->number, y = ((const struct partition *)b)->number;
    return x < y ? -1 : x > y;
}

/* DefaultPartition names a partition of PartitionConf, or any number up to MaxPartition. */
static int set_default_partition(struct config *c, struct err *e)
{
    struct roster *r = &c->roster;
    const char *want = c->text[SETTING_DEFAULT_PARTITION];
    uint64_t number;
    if (*want == '\0')
        return 0;
    bool is_number = text_parse_u64(want, 0, c->number[SETTING_MAX_PARTITION], &number, NULL) == 0;
    for (size_t i = 0; i < r->n_partitions; i++) {
        if (strcmp(r->partitions[i].name, want) == 0 || (is_number && r->partitions[i].number == number)) {
            r->partitions[i].is_default = true;
            return 0;
        }
    }
    if (!is_number)
        return err_set(e, -EINVAL, "%s:%d: DefaultPartition: no partition \"%s\" in %s", c->path,
                       c->line[SETTING_DEFAULT_PARTITION], want, c->text[SETTING_PARTITION_CONF]);
    r->partitions = mem_grow(r->partitions, (r->n_partitions + 1) * sizeof *r->partitions);
    r->partitions[r->n_partitions++] =
        (struct partition){.number = (unsigned)number, .name = mem_dup(""), .is_default = true};
    return 0;
}

static int read_partitions(struct config *c, struct err *e)
{
    struct conf file = {0};
    int rc = conf_read(c->text[SETTING_PARTITION_CONF], CONF_RECORDS, &file, e);
    if (rc == -ENOENT && !c->given[SETTING_PARTITION_CONF])
        rc = 0; /* the document never describes this file: a site that names none has none */
    if (rc < 0)
        return refuse_file(c, SETTING_PARTITION_CONF, rc, e);
    struct node_index index;
    index_nodes(&c->roster, &index);
    for (size_t i = 0; rc == 0 && i < file.n; i++)
        rc = take_partition(c, &index, &file, &file.lines[i], e);
    free(index.nodes);
    conf_fini(&file);
    if (rc == 0)
        rc = set_default_partition(c, e);
    if (rc == 0 && c->roster.n_partitions)
        qsort(c->roster.partitions, c->roster.n_partitions, sizeof *c->roster.partitions, by_number);
    return rc;
}

static int check_collectors(const struct config *c, struct err *e)
{
    for (size_t i = 0; i < c->collectors.n; i++)
        if (!hostlist_name_ok(c->collectors.names[i]))
            return err_set(e, -EINVAL, "%s:%d: CollectorNodes: \"%s\" is not the name of a node", c->path,
                           c->line[SETTING_COLLECTOR_NODES], c->collectors.names[i]);
    return 0;
}

int config_read(const char *path, struct config *c, struct err *e)
{
    *c = (struct config){.path = mem_dup(path)};
    int rc = read_parameters(c, e);
    if (rc == 0)
        rc = read_nodes(c, e);
    if (rc == 0)
        rc = read_partitions(c, e);
    if (rc == 0)
        rc = check_collectors(c, e);
    if (rc == 0)
        rc = set_policies(c, e);
    c->roster.partition_max = (unsigned)c->number[SETTING_MAX_PARTITION];
    if (rc < 0) {
        config_fini(c);
        if (rc != -ENOENT) /* whatever keeps a file from being read, the mistake is the configuration's */
            rc = -EINVAL;
    }
    return rc;
}

void config_compare(const struct config *was, const struct config *is, struct text *changes)
{
    for (int i = 0; i < SETTINGS; i++) {
        if (strcmp(was->text[i], is->text[i]) == 0)
            continue;
        bool at_start = strstr(rows[i].what, "Read at start") != NULL;
        text_printf(changes, "%s \"%s\" -> \"%s\"%s\n", rows[i].name, was->text[i], is->text[i],
                    at_start ? "; takes effect when fettled starts anew" : "");
    }
}
