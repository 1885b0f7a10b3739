/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_IMPORT_IMPORT_H
#define FETTLE_IMPORT_IMPORT_H

#include "base/err.h"
#include "base/text.h"

#include <stddef.h>

/*
 * Converts the configuration of other programs: slurm.conf into nodes.conf and partitions.conf, and the
 * nhc.conf of LBNL's Node Health Check into checks.conf. fettled reads what the functions write. Settings
 * without a counterpart stay in the text as comments with file, line and key, so that a person can judge
 * them.
 *
 * Nothing here opens or writes a file: the caller reads and keeps the texts.
 */

/* Reads the whole file at path into bytes. -errno with a sentence. */
typedef int import_read_fn(void *arg, const char *path, struct text *bytes, struct err *e);

/* Reads slurm.conf as slurmctld does: keys in any case, comments, lines that go on after a backslash,
 * Include, DEFAULT, NodeSet. `read` is called for path and for each Include. The texts of nodes.conf and
 * partitions.conf are added to `nodes` and `partitions`. -EINVAL "FILE:LINE: ..." for what slurmctld would
 * refuse as well (a line without a key, a node that stands twice, a number that is none, an Include of
 * itself); -E2BIG for more than 2^18 nodes or 255 partitions; what `read` says. */
int import_slurm(const char *path, import_read_fn *read, void *arg, struct text *nodes,
                 struct text *partitions, struct err *e);

/* Writes the checks.conf that does the same as the checks of an nhc.conf; path is for the comments. The
 * checks that run without any file come first, because a file replaces them. -EINVAL for a file with a NUL
 * byte, or with more checks than a checks.conf may have. */
int import_nhc(const char *path, const char *bytes, size_t len, struct text *checks, struct err *e);

/* Writes the name that a key of Slurm's has here, as a hint for a key in nodes.conf or partitions.conf:
 * "Slurm's NodeName is Name here". False for a key that Slurm does not have there. */
bool import_slurm_node_hint(const char *key, struct text *words);
bool import_slurm_partition_hint(const char *key, struct text *words);

#endif
