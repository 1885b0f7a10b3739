/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_IMPORT_SLURMCONF_LINES_H
#define FETTLE_IMPORT_SLURMCONF_LINES_H

#include "base/conf.h"
#include "import/import.h"

/*
 * The lines of slurm.conf as slurmctld reads them (src/common/parse_config.c there). A '#' without a
 * backslash before it begins a comment; a line that ends with a backslash continues in the next; "Include
 * FILE" at the beginning of a line stands for a file, beside slurm.conf when its name is relative, with %c
 * for ClusterName.
 */

enum { SLURM_FILES_MAX = 1024, SLURM_DEPTH_MAX = 16, SLURM_LINES_MAX = 1 << 18, SLURM_PAIRS_MAX = 128 };

struct slurmconf_line {
    const char *file; /* as its path was written; lives until slurmconf_lines_fini */
    int number;       /* the number of its first part, from 1 */
    char *text;       /* from the first key on */
};

/* All lines in order, with included files in place. Zero-initialise; slurmconf_lines_fini, even after an
 * error. */
struct slurmconf_lines {
    size_t n, cap;
    struct slurmconf_line *list;
    size_t n_files;
    char **files;
};

int slurmconf_lines_read(const char *path, import_read_fn *read, void *arg, struct slurmconf_lines *out,
                         struct err *e);
void slurmconf_lines_fini(struct slurmconf_lines *l);

/* The first key of the line, and its value. -EINVAL when the line does not begin with KEY=VALUE; *rest (may
 * be NULL) is the text after it. The caller frees both. */
int slurmconf_first(const struct slurmconf_line *line, char **key, char **value, const char **rest,
                    struct err *e);

/* All KEY=VALUE of the line. A value in double quotes may have white space, and white space may surround the
 * equal sign. Zero-initialise; slurmconf_pairs_fini, even after an error. -EINVAL for any other line. */
struct slurmconf_pairs {
    size_t n;
    struct slurmconf_pair {
        char *key, *value;
    } list[SLURM_PAIRS_MAX];
};
int slurmconf_pairs_read(const struct slurmconf_line *line, struct slurmconf_pairs *out, struct err *e);
void slurmconf_pairs_fini(struct slurmconf_pairs *p);

/* The value of the last of this key, in any case; NULL without. */
const char *slurmconf_pair(const struct slurmconf_pairs *p, const char *key);

#endif
