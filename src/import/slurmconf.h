/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_IMPORT_SLURMCONF_H
#define FETTLE_IMPORT_SLURMCONF_H

#include "base/hostlist.h"
#include "import/slurmconf_lines.h"

/*
 * What slurm.conf says about nodes and partitions: between the reader (slurmconf.c) and the writer
 * (slurmconf_write.c).
 */

enum slurmconf_key {
#define NODE_KEY(symbol, name, ours, what) SLURM_##symbol,
#define PARTITION_KEY(name, ours, what)
#define OTHER_KEY(name, word, what)
#include "import/slurmconf_key.tbl"
#undef NODE_KEY
#undef PARTITION_KEY
#undef OTHER_KEY
    SLURM_KEYS
};

enum { SLURM_NODES_MAX = 1 << 18, SLURM_PARTITIONS_MAX = 255 };

/* Numbers of partitions. */
struct slurmconf_set {
    uint64_t bits[SLURM_PARTITIONS_MAX / 64 + 1];
};
static inline bool slurmconf_set_has(const struct slurmconf_set *s, unsigned number)
{
    return s->bits[number / 64] >> (number % 64) & 1;
}
static inline void slurmconf_set_add(struct slurmconf_set *s, unsigned number)
{
    s->bits[number / 64] |= UINT64_C(1) << (number % 64);
}

/* A line NodeName=, with the values of DEFAULT lines before it. A value is NULL when neither has the key. */
struct slurmconf_nodes {
    const struct slurmconf_line *line;
    size_t first, n; /* its nodes, in slurmconf.nodes */
    char *value[SLURM_KEYS];
    struct text notes; /* comments for it, each a line */
};

struct slurmconf_partition {
    const struct slurmconf_line *line;
    char *name;
    bool is_default;
    struct text notes;
};

struct slurmconf {
    struct slurmconf_lines lines;
    size_t n_nodes;
    struct slurmconf_node {
        char *name;
        size_t record; /* its line, in records */
        struct slurmconf_set partitions;
    } * nodes; /* in the order of the file */
    size_t n_records;
    struct slurmconf_nodes *records;
    size_t n_partitions;
    struct slurmconf_partition *partitions; /* the first has the number 1 */
    struct text notes;                      /* on lines of other kinds */
    bool amounts_are_made_up;               /* config_overrides: nodes may have less than the file says */
    bool tmp_is_elsewhere;                  /* TmpFS is not /tmp */
};

/* *c must be zero before, and is given to slurmconf_fini afterwards, even after an error. */
int slurmconf_read(const char *path, import_read_fn *read, void *arg, struct slurmconf *c, struct err *e);
void slurmconf_fini(struct slurmconf *c);

/* Adds a comment on a line: "# FILE:LINE: KEY=VALUE: what to do". */
void slurmconf_note(struct text *notes, const struct slurmconf_line *line, const char *key, const char *value,
                    const char *what);

/* The processors of each node by Slurm's rule: CPUs, or the product of sockets, cores and threads. *known is
 * false when neither is given. -EINVAL for a malformed number. */
int slurmconf_cpus(const struct slurmconf_nodes *r, uint64_t *cpus, bool *known, struct err *e);
/* A number as Slurm reads it: decimal, 0x..., 0..., with k for 1,024. */
int slurmconf_number(const struct slurmconf_line *line, const char *key, const char *value, uint64_t most,
                     uint64_t *out, struct err *e);

#endif
