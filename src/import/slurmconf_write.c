/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes slurm.conf's nodes and partitions as nodes.conf and partitions.conf.
 *
 * Every record is complete. The only DEFAULT record puts a node that is in none of Slurm's partitions into no
 * partition here. Nodes of one line NodeName= in the same partitions are one record, or several when their
 * list is longer than a value may be. A partition's nodes are written with the nodes, since its own record
 * has one line.
 */
#include "import/slurmconf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const uint64_t NUMBER16_MAX = 65535, AMOUNT_MAX = UINT64_C(1000000000000);

/* --- numbers --------------------------------------------------------------------------------- */

int slurmconf_number(const struct slurmconf_line *line, const char *key, const char *value, uint64_t most,
                     uint64_t *out, struct err *e)
{
    char *end = NULL;
    errno = 0;
    unsigned long long n = *value >= '0' && *value <= '9' ? strtoull(value, &end, 0) : 0;
    bool kilo = end && (*end == 'k' || *end == 'K');
    if (!end || end[kilo] != '\0' || errno == ERANGE || n > most / (kilo ? 1024 : 1))
        return err_set(e, -EINVAL, "%s:%d: %s: \"%.80s\" is not a number from 0 to %" PRIu64, line->file,
                       line->number, key, value, most);
    *out = kilo ? n * 1024 : n;
    return 0;
}

/* A count of at least one; `otherwise` when it is not given. */
static int take_count(const struct slurmconf_nodes *r, enum slurmconf_key k, const char *name,
                      uint64_t otherwise, uint64_t *out, struct err *e)
{
    *out = otherwise;
    int rc = r->value[k] ? slurmconf_number(r->line, name, r->value[k], NUMBER16_MAX, out, e) : 0;
    if (r->value[k] && *out == 0)
        *out = 1;
    return rc;
}

/* As _parse_nodename in Slurm's read_config.c: boards are part of the sockets. */
int slurmconf_cpus(const struct slurmconf_nodes *r, uint64_t *cpus, bool *known, struct err *e)
{
    uint64_t boards = 0, sockets = 0, a_board = 0, cores = 0, threads = 0, given = 0;
    enum slurmconf_key of = r->value[SLURM_CPUS] ? SLURM_CPUS : SLURM_PROCS;
    int rc = take_count(r, of, "CPUs", 0, &given, e);
    rc = rc < 0 ? rc : take_count(r, SLURM_BOARDS, "Boards", 1, &boards, e);
    rc = rc < 0 ? rc : take_count(r, SLURM_SOCKETS, "Sockets", 0, &sockets, e);
    rc = rc < 0 ? rc : take_count(r, SLURM_SOCKETS_PER_BOARD, "SocketsPerBoard", 0, &a_board, e);
    rc = rc < 0 ? rc : take_count(r, SLURM_CORES, "CoresPerSocket", 1, &cores, e);
    rc = rc < 0 ? rc : take_count(r, SLURM_THREADS, "ThreadsPerCore", 1, &threads, e);
    if (rc < 0)
        return rc;
    *known = given || r->value[SLURM_BOARDS] || sockets || a_board || r->value[SLURM_CORES] ||
             r->value[SLURM_THREADS];
    if (a_board)
        sockets = boards * a_board;
    else if (sockets == 0)
        sockets = given && given % (cores * threads) == 0 ? given / (cores * threads) : boards;
    bool fits = given == sockets || given == sockets * cores || given == sockets * cores * threads;
    *cpus = fits ? given : sockets * cores * threads;
    return 0;
}

/* --- records --------------------------------------------------------------------------------- */

struct writer {
    struct slurmconf *c;
    struct text *out;
    struct err *e;
};

/* Adds the value, in quotes when white space or a quote requires them. */
static void add_value(struct text *t, const char *value)
{
    if (*value && !strpbrk(value, " \t\"\\")) {
        text_add(t, value);
        return;
    }
    text_add_char(t, '"');
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            text_add_char(t, '\\');
        text_add_char(t, *value);
    }
    text_add_char(t, '"');
}

/* Adds the name when a list in Partition= can have it, otherwise the number. */
static void add_partition_word(const struct slurmconf *c, unsigned number, bool by_name, struct text *t)
{
    const char *name = c->partitions[number - 1].name;
    bool digits = name[strspn(name, "0123456789")] == '\0';
    if (by_name && !digits && !strpbrk(name, ", \t\"\\"))
        text_add(t, name);
    else
        text_printf(t, "%u", number);
}

static void add_partitions(const struct slurmconf *c, const struct slurmconf_set *set, bool by_name,
                           struct text *t)
{
    for (unsigned i = 1; i <= c->n_partitions; i++) {
        if (!slurmconf_set_has(set, i))
            continue;
        text_add(t, t->len ? "," : "");
        add_partition_word(c, i, by_name, t);
    }
}

static bool state_is(const struct slurmconf_nodes *r, const char *word)
{
    const char *state = r->value[SLURM_STATE];
    size_t len = state ? strcspn(state, "+") : 0;
    return len == strlen(word) && strncasecmp(state, word, len) == 0;
}

static int add_amount(struct writer *w, const struct slurmconf_nodes *r, enum slurmconf_key k,
                      const char *name, struct text *t)
{
    uint64_t n;
    if (!r->value[k])
        return 0;
    int rc = slurmconf_number(r->line, name, r->value[k], AMOUNT_MAX, &n, w->e);
    if (rc == 0)
        text_printf(t, " %s=%" PRIu64, name, n);
    return rc;
}

/* Adds what follows the name and precedes the partitions. */
static int add_amounts(struct writer *w, const struct slurmconf_nodes *r, struct text *t)
{
    uint64_t cpus;
    bool known;
    if (!w->c->amounts_are_made_up) {
        int rc = slurmconf_cpus(r, &cpus, &known, w->e);
        if (rc == 0 && known)
            text_printf(t, " CPUs=%" PRIu64, cpus);
        rc = rc < 0 ? rc : add_amount(w, r, SLURM_REAL_MEMORY, "RealMemory", t);
        if (rc == 0 && !w->c->tmp_is_elsewhere)
            rc = add_amount(w, r, SLURM_TMP_DISK, "TmpDisk", t);
        if (rc < 0)
            return rc;
    }
    if (state_is(r, "CLOUD"))
        text_add(t, " Remediate=no");
    return 0;
}

/* One record, or several when the list is too long for a value. */
static void add_records(struct writer *w, const char *sign, struct slurmconf_node **nodes, size_t n,
                        const char *rest)
{
    CLEANUP_FREE const char **names = mem_alloc((n + 1) * sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = nodes[i]->name;
    CLEANUP_FREE char *list = hostlist_fold(names, n);
    if (strlen(list) > CONF_FIELD_BYTES_MAX && n > 1) {
        add_records(w, sign, nodes, n / 2, rest);
        add_records(w, sign, nodes + n / 2, n - n / 2, rest);
        return;
    }
    text_printf(w->out, "%sName=%s%s\n", sign, list, rest);
}

static int by_partitions(const void *a, const void *b)
{
    const struct slurmconf_node *x = *(struct slurmconf_node *const *)a,
                                *y = *(struct slurmconf_node *const *)b;
    int d = memcmp(&x->partitions, &y->partitions, sizeof x->partitions);
    return d != 0 ? d : x < y ? -1 : x > y;
}

/* Nodes of a line that are in the same partitions. */
struct bundle {
    struct slurmconf_node **nodes;
    size_t n;
};

static int by_place(const void *a, const void *b)
{
    const struct bundle *x = a, *y = b;
    return *x->nodes < *y->nodes ? -1 : *x->nodes > *y->nodes;
}

static void add_bundle(struct writer *w, const char *sign, const struct bundle *b, const char *amounts)
{
    CLEANUP_TEXT struct text partitions = {0}, rest = {0};
    const struct slurmconf_set *set = &b->nodes[0]->partitions;
    add_partitions(w->c, set, true, &partitions);
    if (partitions.len > CONF_FIELD_BYTES_MAX) {
        text_clear(&partitions);
        add_partitions(w->c, set, false, &partitions);
    }
    text_add(&rest, amounts);
    if (partitions.len)
        text_printf(&rest, " Partition=%s", partitions.s);
    text_add(&rest, "");
    add_records(w, sign, b->nodes, b->n, rest.s);
}

static void add_bundles(struct writer *w, const struct slurmconf_nodes *r, const char *sign,
                        const char *amounts)
{
    CLEANUP_FREE struct slurmconf_node **nodes = mem_alloc((r->n + 1) * sizeof *nodes);
    CLEANUP_FREE struct bundle *bundles = mem_alloc((r->n + 1) * sizeof *bundles);
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        nodes[i] = &w->c->nodes[r->first + i];
    if (r->n)
        qsort(nodes, r->n, sizeof *nodes, by_partitions);
    for (size_t i = 0; i < r->n; i++) {
        if (i == 0 ||
            memcmp(&nodes[i]->partitions, &nodes[i - 1]->partitions, sizeof nodes[i]->partitions) != 0)
            bundles[n++].nodes = &nodes[i];
        bundles[n - 1].n++;
    }
    if (n)
        qsort(bundles, n, sizeof *bundles, by_place);
    for (size_t i = 0; i < n; i++)
        add_bundle(w, sign, &bundles[i], amounts);
}

/* Notes the remarks on the states that slurm.conf gives nodes. */
static void note_state(struct slurmconf_nodes *r)
{
    static const char *const quiet[] = {"UNKNOWN", "IDLE", "ALLOCATED", "BUSY"};
    const char *what = "hold the nodes by fettle node drain";
    if (!r->value[SLURM_STATE])
        return;
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
        if (state_is(r, quiet[i]))
            return;
    if (state_is(r, "FUTURE"))
        what = "the nodes do not exist yet; take the comment signs away when they do";
    if (state_is(r, "CLOUD"))
        what = "Slurm switches the nodes on and off, so Fettle only observes them (Remediate=no)";
    slurmconf_note(&r->notes, r->line, "State", r->value[SLURM_STATE], what);
    if (r->value[SLURM_REASON])
        slurmconf_note(&r->notes, r->line, "Reason", r->value[SLURM_REASON], what);
}

static int write_nodes(struct writer *w)
{
    struct text *t = w->out;
    text_add(t, "# Slurm's nodes for Fettle: nodes.conf(5). What has no counterpart stands in comments.\n");
    text_add(t, w->c->notes.s ? w->c->notes.s : "");
    if (w->c->n_records)
        text_add(t, "\n# A node is in the partitions that its record names, and in no other.\nName=DEFAULT "
                    "Partition=\n\n");
    for (size_t i = 0; i < w->c->n_records; i++) {
        struct slurmconf_nodes *r = &w->c->records[i];
        CLEANUP_TEXT struct text amounts = {0};
        int rc = add_amounts(w, r, &amounts);
        if (rc < 0)
            return rc;
        note_state(r);
        text_add(t, r->notes.s ? r->notes.s : "");
        text_add(&amounts, "");
        add_bundles(w, r, state_is(r, "FUTURE") ? "#" : "", amounts.s);
    }
    return 0;
}

static void write_partitions(const struct slurmconf *c, struct text *t)
{
    enum { MAX_PARTITION = 31 }; /* the default in fettle.conf */
    text_add(
        t, "# Slurm's partitions for Fettle: partitions.conf(5). nodes.conf says which nodes are in them.\n");
    if (c->n_partitions > MAX_PARTITION)
        text_printf(t, "# fettle.conf needs the line: MaxPartition = %zu\n", c->n_partitions);
    for (size_t i = 0; i < c->n_partitions; i++)
        if (c->partitions[i].is_default)
            text_printf(t, "# fettle.conf, for Slurm's default: DefaultPartition = %s\n",
                        c->partitions[i].name);
    for (size_t i = 0; i < c->n_partitions; i++) {
        const struct slurmconf_partition *p = &c->partitions[i];
        text_add(t, p->notes.s ? p->notes.s : "");
        text_printf(t, "Partition=%zu Name=", i + 1);
        add_value(t, p->name);
        text_add_char(t, '\n');
    }
}

int import_slurm(const char *path, import_read_fn *read, void *arg, struct text *nodes,
                 struct text *partitions, struct err *e)
{
    struct slurmconf c = {0};
    struct writer w = {.c = &c, .out = nodes, .e = e};
    int rc = slurmconf_read(path, read, arg, &c, e);
    if (rc == 0)
        rc = write_nodes(&w);
    if (rc == 0)
        write_partitions(&c, partitions);
    slurmconf_fini(&c);
    return rc;
}
