/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/config/config_inside.h"
#include "import/import.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The roster's nodes by name, because a partition may name all of a hundred thousand. */
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

static int unknown_key(const struct conf *file, const struct conf_line *line, const char *key, struct err *e)
{
    static const char *const known[] = {"Partition", "Name", "Nodes"};
    CLEANUP_TEXT struct text hint = {0};
    if (import_slurm_partition_hint(key, &hint))
        return err_set(e, -EINVAL, "%s:%d: unknown key \"%.80s\"; %s", file->path, line->number, key, hint.s);
    return conf_unknown_key(file, line, key, known, 3, e);
}

/* Names are part of lists with commas, and of a budget's name. */
static int check_name(const char *name, struct err *e)
{
    if (strlen(name) > PARTITION_NAME_BYTES_MAX)
        return err_set(e, -EINVAL, "\"%.80s\" is longer than %d bytes", name, PARTITION_NAME_BYTES_MAX);
    if (strchr(name, ','))
        return err_set(e, -EINVAL, "\"%s\" has a comma, which separates names", name);
    return 0;
}

static int take_partition(struct config *c, const struct conf *file, const struct conf_line *line,
                          struct err *e)
{
    for (size_t i = 0; i < line->n; i++)
        if (strcasecmp(line->fields[i].key, "Partition") != 0 &&
            strcasecmp(line->fields[i].key, "Name") != 0 && strcasecmp(line->fields[i].key, "Nodes") != 0)
            return unknown_key(file, line, line->fields[i].key, e);
    const struct conf_field *number = config_field(line, "Partition"), *name = config_field(line, "Name");
    uint64_t n;
    if (!number)
        return err_set(e, -EINVAL, "%s:%d: a record without Partition", file->path, line->number);
    if (text_parse_u64(number->value, 0, c->number[SETTING_MAX_PARTITION], &n, e) < 0)
        return err_wrap(e, -EINVAL, "%s:%d: Partition", file->path, line->number);
    if (name && check_name(name->value, e) < 0)
        return err_wrap(e, -EINVAL, "%s:%d: Name", file->path, line->number);
    struct roster *r = &c->roster;
    for (size_t i = 0; i < r->n_partitions; i++)
        if (r->partitions[i].number == n ||
            (name && *name->value && strcmp(r->partitions[i].name, name->value) == 0))
            return err_set(e, -EINVAL, "%s:%d: partition %s stands twice", file->path, line->number,
                           r->partitions[i].number == n ? number->value : name->value);
    r->partitions = mem_grow(r->partitions, (r->n_partitions + 1) * sizeof *r->partitions);
    r->partitions[r->n_partitions++] =
        (struct partition){.number = (unsigned)n, .name = mem_dup(name ? name->value : "")};
    return 0;
}

static int by_number(const void *a, const void *b)
{
    unsigned x = ((const struct partition *)a)->number, y = ((const struct partition *)b)->number;
    return x < y ? -1 : x > y;
}

/* DefaultPartition names a partition of PartitionConf, or is any number up to MaxPartition. */
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

int config_read_partitions(struct config *c, struct conf *file, struct err *e)
{
    int rc = config_part_read(c, CONFIG_PARTITIONS, file, e);
    if (rc == -ENOENT && !c->given[SETTING_PARTITION_CONF])
        rc = 0; /* the 2001 document never describes this file, so a site that names none has no partitions */
    if (rc < 0)
        return config_refuse_file(c, SETTING_PARTITION_CONF, rc, e);
    for (size_t i = 0; rc == 0 && i < file->n; i++)
        rc = take_partition(c, file, &file->lines[i], e);
    if (rc == 0)
        rc = set_default_partition(c, e);
    if (rc == 0 && c->roster.n_partitions)
        qsort(c->roster.partitions, c->roster.n_partitions, sizeof *c->roster.partitions, by_number);
    return rc;
}

int config_fill_partitions(struct config *c, const struct conf *file, struct err *e)
{
    struct node_index index;
    int rc = 0;
    index_nodes(&c->roster, &index);
    for (size_t i = 0; rc == 0 && i < file->n; i++) {
        const struct conf_line *line = &file->lines[i];
        const struct conf_field *nodes = config_field(line, "Nodes"),
                                *number = config_field(line, "Partition");
        uint64_t n = 0;
        assert(number && "a record without Partition was refused");
        if (nodes)
            rc = text_parse_u64(number->value, 0, PARTITION_MAX, &n, e);
        if (nodes && rc == 0 && add_partition_nodes(&index, nodes->value, (unsigned)n, e) < 0)
            rc = err_wrap(e, -EINVAL, "%s:%d: Nodes", file->path, line->number);
    }
    free(index.nodes);
    return rc;
}
