/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_NODE_SPEC_H
#define FETTLE_NODE_SPEC_H

#include "base/err.h"
#include "base/text.h"
#include "node/field.h"
#include "node/report.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A node's specification: what it must have. A field that was not specified demands nothing.
 */

enum { GROUP_MAX = 65535, XNAME_BYTES_MAX = 63 };
enum { PARTITION_MAX = 255 }; /* the highest number that MaxPartition may allow */

struct partition_set {
    uint64_t bits[(PARTITION_MAX + 1) / 64];
};

struct spec {
    uint32_t given; /* bit 1 << n: the n-th settable field was specified */
    char *os;
    uint64_t cpus;
    uint64_t speed_milli;
    uint64_t real_memory_mb;
    uint64_t virtual_memory_mb;
    uint64_t tmp_disk_mb;
    struct partition_set partitions; /* partition 0 when not specified */
    bool sensitive;
    bool borrowed;
    bool excepted;  /* Remediate=no: the node is only observed */
    uint16_t group; /* of the topology; 0: none */
    char *xname;    /* OpenCHAMI's name for the node; NULL when not given */
};

/* Nothing is specified; the node is a member of partition 0. */
void spec_init(struct spec *s);
void spec_fini(struct spec *s);
void spec_copy(struct spec *to, const struct spec *from); /* `to` must be initialised */
bool spec_equal(const struct spec *a, const struct spec *b);

bool spec_given(const struct spec *s, enum field f);

/* Sets one settable field from its text in NodeSpecConf: a number up to 10^12, Partition as "1,3" or "" for
 * none, an OS, yes or no, a Group up to 65535, an Xname. An empty value makes any other field unspecified
 * again. -EINVAL with a sentence that names the field, for a bad value or a field that cannot be set. */
int spec_set(struct spec *s, enum field f, const char *value, unsigned partition_max, struct err *e);

/* Adds the text that spec_set would read back; adds nothing when the field is not specified. */
void spec_format(const struct spec *s, enum field f, struct text *t);

/* Lists what the report has less of than the specification, "CPUs 2 < 4; OS ...", in `out` (emptied first).
 * False when nothing is missing. A value that is absent from the report is unknown: it is listed, because it
 * cannot be shown to suffice. More than specified is fine. */
bool spec_shortfall(const struct spec *s, const struct report *r, struct text *out);

/* Returns <0, 0, >0 when release a is lower than, equal to or higher than b: runs of digits compare by value,
 * other characters by their code ("2.4.7-10" < "2.4.18" < "6.1.0-13-amd64"). */
int spec_compare_release(const char *a, const char *b);

bool partition_has(const struct partition_set *p, unsigned number);
void partition_add(struct partition_set *p, unsigned number);

#endif
