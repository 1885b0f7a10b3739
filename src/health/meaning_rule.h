/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_MEANING_RULE_H
#define FETTLE_HEALTH_MEANING_RULE_H

#include "health/meaning.h"

#include <stdint.h>

/*
 * What meanings are made of; for meaning.c, which fills and asks them, and meaning_conf.c, which reads the
 * file over them.
 */

enum { XID_MAX = 9999, SXID_MAX = 99999, SUB_MAX = 63, SUB_ANY = -1, RULE_NONE = UINT16_MAX };

/* A line that is of a pattern. */
struct line_rule {
    const char *pattern, *kind;
    unsigned xid; /* it means what that one means; 0: what stands here */
    struct meaning m;
    uint16_t next; /* of those that begin with the same byte */
};

/* A line of the NVIDIA driver with a number. */
struct number_rule {
    bool nvswitch; /* SXid */
    unsigned first, last;
    int sub;           /* SUB_ANY, or that of an NVLink error alone */
    const char *says;  /* pattern of what stands behind the number, or NULL for any */
    struct meaning m;  /* its code is made when it is asked for */
    enum act mild_act; /* of a switch that does not say Fatal */
    enum result mild_result;
};

/* Rules in order: those of the file, then those of the tables. The first that fits counts. */
struct meanings {
    size_t n_lines, n_own_lines, n_numbers, n_own_numbers;
    struct line_rule *lines;
    struct number_rule *numbers;
    uint16_t head[256], head_any; /* of lines; by the first byte of the pattern */
    size_t n_kept;
    char **kept; /* texts of the file */
};

/* Puts the records of the file in front of the tables. -EINVAL "PATH:LINE: ...". */
struct conf;
int meanings_take(struct meanings *all, const struct conf *file, struct err *e);

#endif
