/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads slurm.conf into nodes, their lines and partitions.
 *
 * Two walks over the lines. The first takes the nodes, because partitions may come before them and "ALL"
 * means all. Settings for every node (TmpFS, SlurmdParameters) may come after the nodes, so they are judged
 * when the nodes are written. Values stay text; the writer interprets them.
 */
#include "import/slurmconf.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name, *ours, *what;
} node_keys[SLURM_KEYS] = {
#define NODE_KEY(symbol, name, ours, what) {name, ours, what},
#define PARTITION_KEY(name, ours, what)
#define OTHER_KEY(name, word, what)
#include "import/slurmconf_key.tbl"
#undef NODE_KEY
#undef PARTITION_KEY
#undef OTHER_KEY
};

static const struct partition_key {
    const char *name, *ours, *what;
} partition_keys[] = {
#define NODE_KEY(symbol, name, ours, what)
#define PARTITION_KEY(name, ours, what) {name, ours, what},
#define OTHER_KEY(name, word, what)
#include "import/slurmconf_key.tbl"
#undef NODE_KEY
#undef PARTITION_KEY
#undef OTHER_KEY
};

static const struct {
    const char *name, *word, *what;
} other_keys[] = {
#define NODE_KEY(symbol, name, ours, what)
#define PARTITION_KEY(name, ours, what)
#define OTHER_KEY(name, word, what) {name, word, what},
#include "import/slurmconf_key.tbl"
#undef NODE_KEY
#undef PARTITION_KEY
#undef OTHER_KEY
};

#define COUNT_OF(a) (sizeof(a) / sizeof(a)[0])

static const struct partition_key *partition_key(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(partition_keys); i++)
        if (strcasecmp(partition_keys[i].name, name) == 0)
            return &partition_keys[i];
    return NULL;
}

static enum slurmconf_key node_key(const char *name)
{
    for (int k = 0; k < SLURM_KEYS; k++)
        if (strcasecmp(node_keys[k].name, name) == 0)
            return (enum slurmconf_key)k;
    return SLURM_KEYS;
}

/* --- notes ----------------------------------------------------------------------------------- */

static void add_word(struct text *t, const char *word)
{
    char shown[200];
    text_line(shown, sizeof shown, word);
    text_add(t, shown);
}

void slurmconf_note(struct text *notes, const struct slurmconf_line *line, const char *key, const char *value,
                    const char *what)
{
    text_add(notes, "# ");
    add_word(notes, line->file);
    text_printf(notes, ":%d: ", line->number);
    add_word(notes, key);
    text_add_char(notes, '=');
    add_word(notes, value);
    text_printf(notes, ": %s\n", what);
}

/* Keys of one line with the same remark share one comment. */
struct left {
    const struct slurmconf_line *line;
    struct text *notes;
    const char *what;
};

static void slurmconf_leave(struct left *l, const struct slurmconf_pair *p, const char *what)
{
    if (l->what && strcmp(l->what, what) == 0) {
        text_add(l->notes, ", ");
    } else {
        text_add(l->notes, l->what ? ": " : "");
        text_add(l->notes, l->what ? l->what : "");
        text_add(l->notes, l->what ? "\n# " : "# ");
        add_word(l->notes, l->line->file);
        text_printf(l->notes, ":%d: ", l->line->number);
    }
    l->what = what;
    add_word(l->notes, p->key);
    text_add_char(l->notes, '=');
    add_word(l->notes, p->value);
}

static void leave_end(struct left *l)
{
    if (l->what)
        text_printf(l->notes, ": %s\n", l->what);
}

/* --- nodes ----------------------------------------------------------------------------------- */

struct defaults {
    char *value[SLURM_KEYS];
};

/* Sets the line's keys over the values; keys without a counterpart are noted. */
static void take_values(const struct slurmconf_line *line, const struct slurmconf_pairs *pairs,
                        char *value[SLURM_KEYS], struct text *notes)
{
    struct left left = {line, notes, NULL};
    for (size_t i = 1; i < pairs->n; i++) {
        const struct slurmconf_pair *p = &pairs->list[i];
        enum slurmconf_key k = node_key(p->key);
        if (k == SLURM_KEYS) {
            slurmconf_leave(&left, p, "Fettle does not know the key");
            continue;
        }
        free(value[k]);
        value[k] = mem_dup(p->value);
        if (*node_keys[k].ours == '\0' && k != SLURM_STATE && k != SLURM_REASON)
            slurmconf_leave(&left, p, node_keys[k].what);
    }
    leave_end(&left);
}

static int add_nodes(struct slurmconf *c, struct slurmconf_nodes *r, const char *list, struct err *e)
{
    CLEANUP_HOSTLIST struct hostlist names = {0};
    struct err why = {0};
    if (hostlist_parse(list, &names, &why) < 0) {
        CLEANUP_TEXT struct text what = {0};
        text_printf(&what, "the list could not be read (%s)", why.msg);
        slurmconf_note(&r->notes, r->line, "NodeName", list, what.s);
        return 0;
    }
    if (c->n_nodes + names.n > SLURM_NODES_MAX)
        return err_set(e, -E2BIG, "%s:%d: more than %d nodes", r->line->file, r->line->number,
                       SLURM_NODES_MAX);
    c->nodes = mem_grow(c->nodes, (c->n_nodes + names.n + 1) * sizeof *c->nodes);
    for (size_t i = 0; i < names.n; i++) {
        if (!hostlist_name_ok(names.names[i])) {
            slurmconf_note(&r->notes, r->line, "NodeName", names.names[i],
                           "it is not the name of a node here");
            continue;
        }
        c->nodes[c->n_nodes++] =
            (struct slurmconf_node){.name = mem_dup(names.names[i]), .record = c->n_records};
        r->n++;
    }
    return 0;
}

static int take_nodes(struct slurmconf *c, struct defaults *defaults, const struct slurmconf_line *line,
                      const struct slurmconf_pairs *pairs, struct err *e)
{
    const char *list = pairs->list[0].value;
    if (strcasecmp(list, "DEFAULT") == 0) {
        take_values(line, pairs, defaults->value, &c->notes);
        return 0;
    }
    c->records = mem_grow(c->records, (c->n_records + 1) * sizeof *c->records);
    struct slurmconf_nodes *r = &c->records[c->n_records];
    *r = (struct slurmconf_nodes){.line = line, .first = c->n_nodes};
    for (int k = 0; k < SLURM_KEYS; k++)
        r->value[k] = mem_dup(defaults->value[k]);
    take_values(line, pairs, r->value, &r->notes);
    int rc = add_nodes(c, r, list, e);
    c->n_records++;
    return rc;
}

static int node_by_name(const void *a, const void *b)
{
    return strcmp((*(struct slurmconf_node *const *)a)->name, (*(struct slurmconf_node *const *)b)->name);
}

/* All nodes by their names. The caller frees it. */
static int index_nodes(const struct slurmconf *c, struct slurmconf_node ***out, struct err *e)
{
    struct slurmconf_node **by_name = mem_alloc((c->n_nodes + 1) * sizeof *by_name);
    for (size_t i = 0; i < c->n_nodes; i++)
        by_name[i] = &c->nodes[i];
    if (c->n_nodes)
        qsort(by_name, c->n_nodes, sizeof *by_name, node_by_name);
    *out = by_name;
    for (size_t i = 1; i < c->n_nodes; i++) {
        if (strcmp(by_name[i - 1]->name, by_name[i]->name) != 0)
            continue;
        const struct slurmconf_line *a = c->records[by_name[i - 1]->record].line;
        const struct slurmconf_line *b = c->records[by_name[i]->record].line;
        return err_set(e, -EINVAL, "%s:%d: node \"%s\" stands on line %d of %s, too", a->file, a->number,
                       by_name[i]->name, b->number, b->file);
    }
    return 0;
}

/* --- partitions ------------------------------------------------------------------------------ */

struct places {
    struct slurmconf *c;
    struct slurmconf_node **by_name;
    size_t n_sets;
    struct slurmconf_pairs *sets; /* lines NodeSet= */
};

static struct slurmconf_node *find_node(const struct places *p, char *name)
{
    const struct slurmconf_node key = {.name = name};
    const struct slurmconf_node *wanted = &key;
    struct slurmconf_node **at =
        bsearch(&wanted, p->by_name, p->c->n_nodes, sizeof *p->by_name, node_by_name);
    return at ? *at : NULL;
}

static void put_all(const struct places *p, unsigned number)
{
    for (size_t i = 0; i < p->c->n_nodes; i++)
        slurmconf_set_add(&p->c->nodes[i].partitions, number);
}

static void put_feature(const struct places *p, const char *feature, unsigned number)
{
    for (size_t i = 0; i < p->c->n_nodes; i++) {
        struct slurmconf_node *n = &p->c->nodes[i];
        char *const *value = p->c->records[n->record].value;
        const char *has = value[SLURM_FEATURE] ? value[SLURM_FEATURE] : value[SLURM_FEATURES];
        if (has && text_has_word(has, ',', feature))
            slurmconf_set_add(&n->partitions, number);
    }
}

static void put_list(const struct places *p, struct slurmconf_partition *to, const char *list,
                     unsigned number, bool in_set);

static bool put_set(const struct places *p, struct slurmconf_partition *to, const char *name, unsigned number)
{
    for (size_t i = 0; i < p->n_sets; i++) {
        if (strcmp(p->sets[i].list[0].value, name) != 0)
            continue;
        const char *feature = slurmconf_pair(&p->sets[i], "Feature"),
                   *nodes = slurmconf_pair(&p->sets[i], "Nodes");
        if (feature)
            put_feature(p, feature, number);
        if (nodes)
            put_list(p, to, nodes, number, true);
        return true;
    }
    return false;
}

/* Adds the nodes of a list, which may name sets. Sets do not contain sets. */
static void put_list(const struct places *p, struct slurmconf_partition *to, const char *list,
                     unsigned number, bool in_set)
{
    CLEANUP_HOSTLIST struct hostlist names = {0};
    struct err why = {0};
    if (strcasecmp(list, "ALL") == 0) {
        put_all(p, number);
        return;
    }
    if (hostlist_parse(list, &names, &why) < 0) {
        CLEANUP_TEXT struct text what = {0};
        text_printf(&what, "the list could not be read (%s)", why.msg);
        slurmconf_note(&to->notes, to->line, "Nodes", list, what.s);
        return;
    }
    for (size_t i = 0; i < names.n; i++) {
        struct slurmconf_node *node = find_node(p, names.names[i]);
        if (node)
            slurmconf_set_add(&node->partitions, number);
        else if (in_set || !put_set(p, to, names.names[i], number))
            slurmconf_note(&to->notes, to->line, "Nodes", names.names[i],
                           "no NodeName= and no NodeSet= has it");
    }
}

static struct slurmconf_partition *find_partition(const struct slurmconf *c, const char *name)
{
    for (size_t i = 0; i < c->n_partitions; i++)
        if (strcmp(c->partitions[i].name, name) == 0)
            return &c->partitions[i];
    return NULL;
}

static int add_partition(struct slurmconf *c, const struct slurmconf_line *line, const char *name,
                         struct slurmconf_partition **out, struct err *e)
{
    if (text_check_line(name, e) < 0)
        return err_wrap(e, -EINVAL, "%s:%d: PartitionName", line->file, line->number);
    if (c->n_partitions == SLURM_PARTITIONS_MAX || strlen(name) > CONF_FIELD_BYTES_MAX)
        return err_set(e, -E2BIG, "%s:%d: more than %d partitions, or a name of more than %d bytes",
                       line->file, line->number, SLURM_PARTITIONS_MAX, CONF_FIELD_BYTES_MAX);
    c->partitions = mem_grow(c->partitions, (c->n_partitions + 1) * sizeof *c->partitions);
    *out = &c->partitions[c->n_partitions++];
    **out = (struct slurmconf_partition){.line = line, .name = mem_dup(name)};
    return 0;
}

static void note_partition(struct slurmconf_partition *to, const struct slurmconf_line *line,
                           const struct slurmconf_pairs *pairs)
{
    struct left left = {line, &to->notes, NULL};
    for (size_t i = 1; i < pairs->n; i++) {
        const struct partition_key *k = partition_key(pairs->list[i].key);
        if (!k || *k->ours == '\0')
            slurmconf_leave(&left, &pairs->list[i], k ? k->what : "Fettle does not know the key");
    }
    leave_end(&left);
}

/* DEFAULT's Nodes and Default, for the partitions after it. */
struct partition_defaults {
    char *nodes, *is_default;
};

static void slurmconf_keep(char **value, const char *now)
{
    if (!now)
        return;
    free(*value);
    *value = mem_dup(now);
}

static int take_partition(const struct places *p, struct partition_defaults *d,
                          const struct slurmconf_line *line, const struct slurmconf_pairs *pairs,
                          struct err *e)
{
    const char *name = pairs->list[0].value, *nodes = slurmconf_pair(pairs, "Nodes");
    const char *is_default = slurmconf_pair(pairs, "Default");
    if (strcasecmp(name, "DEFAULT") == 0) {
        struct slurmconf_partition all = {.line = line};
        note_partition(&all, line, pairs);
        text_add(&p->c->notes, all.notes.s ? all.notes.s : "");
        text_fini(&all.notes);
        slurmconf_keep(&d->nodes, nodes);
        slurmconf_keep(&d->is_default, is_default);
        return 0;
    }
    struct slurmconf_partition *to = find_partition(p->c, name);
    int rc = to ? 0 : add_partition(p->c, line, name, &to, e);
    if (rc < 0)
        return rc;
    note_partition(to, line, pairs);
    nodes = nodes ? nodes : d->nodes;
    is_default = is_default ? is_default : d->is_default;
    text_parse_bool(is_default ? is_default : "no", &to->is_default, NULL);
    if (nodes)
        put_list(p, to, nodes, (unsigned)(to - p->c->partitions) + 1, false);
    return 0;
}

/* --- other lines ----------------------------------------------------------------------------- */

static void take_other(struct slurmconf *c, const struct slurmconf_line *line, const char *key,
                       const char *value)
{
    if (strcasecmp(key, "SlurmdParameters") == 0)
        c->amounts_are_made_up = strcasestr(value, "config_overrides");
    if (strcasecmp(key, "TmpFS") == 0 && strcmp(value, "/tmp") != 0) {
        c->tmp_is_elsewhere = true;
        slurmconf_note(&c->notes, line, key, value, "agents report the size of /tmp: TmpDisk is left out");
    }
    for (size_t i = 0; i < COUNT_OF(other_keys); i++)
        if (strcasecmp(other_keys[i].name, key) == 0 && strcasestr(value, other_keys[i].word))
            slurmconf_note(&c->notes, line, key, value, other_keys[i].what);
}

/* --- walks ----------------------------------------------------------------------------------- */

static int take_set(struct places *p, const struct slurmconf_line *line, struct err *e)
{
    p->sets = mem_grow(p->sets, (p->n_sets + 1) * sizeof *p->sets);
    p->sets[p->n_sets] = (struct slurmconf_pairs){0};
    return slurmconf_pairs_read(line, &p->sets[p->n_sets++], e);
}

static int first_walk(struct places *p, const struct slurmconf_line *line, struct defaults *defaults,
                      struct err *e)
{
    CLEANUP_FREE char *key = NULL, *value = NULL;
    int rc = slurmconf_first(line, &key, &value, NULL, e);
    if (rc < 0)
        return rc;
    if (strcasecmp(key, "NodeSet") == 0)
        return take_set(p, line, e);
    if (strcasecmp(key, "NodeName") != 0) {
        take_other(p->c, line, key, value);
        return 0;
    }
    struct slurmconf_pairs pairs = {0};
    rc = slurmconf_pairs_read(line, &pairs, e);
    if (rc == 0)
        rc = take_nodes(p->c, defaults, line, &pairs, e);
    slurmconf_pairs_fini(&pairs);
    return rc;
}

static int second_walk(const struct places *p, const struct slurmconf_line *line,
                       struct partition_defaults *d, struct err *e)
{
    CLEANUP_FREE char *key = NULL, *value = NULL;
    int rc = slurmconf_first(line, &key, &value, NULL, e);
    if (rc < 0 || strcasecmp(key, "PartitionName") != 0)
        return rc;
    struct slurmconf_pairs pairs = {0};
    rc = slurmconf_pairs_read(line, &pairs, e);
    if (rc == 0)
        rc = take_partition(p, d, line, &pairs, e);
    slurmconf_pairs_fini(&pairs);
    return rc;
}

int slurmconf_read(const char *path, import_read_fn *read, void *arg, struct slurmconf *c, struct err *e)
{
    assert(path && read && c);
    struct places p = {.c = c};
    struct defaults defaults = {0};
    struct partition_defaults partition_defaults = {0};
    int rc = slurmconf_lines_read(path, read, arg, &c->lines, e);
    for (size_t i = 0; rc == 0 && i < c->lines.n; i++)
        rc = first_walk(&p, &c->lines.list[i], &defaults, e);
    if (rc == 0)
        rc = index_nodes(c, &p.by_name, e);
    for (size_t i = 0; rc == 0 && i < c->lines.n; i++)
        rc = second_walk(&p, &c->lines.list[i], &partition_defaults, e);
    for (int k = 0; k < SLURM_KEYS; k++)
        free(defaults.value[k]);
    for (size_t i = 0; i < p.n_sets; i++)
        slurmconf_pairs_fini(&p.sets[i]);
    free(p.sets);
    free(p.by_name);
    free(partition_defaults.nodes);
    free(partition_defaults.is_default);
    return rc;
}

void slurmconf_fini(struct slurmconf *c)
{
    for (size_t i = 0; i < c->n_nodes; i++)
        free(c->nodes[i].name);
    for (size_t i = 0; i < c->n_records; i++) {
        for (int k = 0; k < SLURM_KEYS; k++)
            free(c->records[i].value[k]);
        text_fini(&c->records[i].notes);
    }
    for (size_t i = 0; i < c->n_partitions; i++) {
        free(c->partitions[i].name);
        text_fini(&c->partitions[i].notes);
    }
    free(c->nodes);
    free(c->records);
    free(c->partitions);
    text_fini(&c->notes);
    slurmconf_lines_fini(&c->lines);
    *c = (struct slurmconf){0};
}

/* --- hints ----------------------------------------------------------------------------------- */

static bool slurmconf_hint(const char *name, const char *ours, const char *what, struct text *words)
{
    if (*ours)
        text_printf(words, "Slurm's %s is %s here", name, ours);
    else
        text_printf(words, "Slurm's %s has no counterpart: %s", name, what);
    return true;
}

bool import_slurm_node_hint(const char *key, struct text *words)
{
    enum slurmconf_key k = node_key(key);
    return k < SLURM_KEYS && slurmconf_hint(node_keys[k].name, node_keys[k].ours, node_keys[k].what, words);
}

bool import_slurm_partition_hint(const char *key, struct text *words)
{
    const struct partition_key *k = partition_key(key);
    return k && slurmconf_hint(k->name, k->ours, k->what, words);
}
