/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_MEANING_RULE_H
#define FETTLE_HEALTH_MEANING_RULE_H

#include "health/meaning.h"

#include <stdint.h>

/*
 * The rules behind meanings: shared by meaning.c, which fills and searches them, and meaning_conf.c, which
 * reads the file over them.
 */

enum { XID_MAX = 9999, SXID_MAX = 99999, SUB_MAX = 63, SUB_ANY = -1, RULE_NONE = UINT16_MAX };

/* A rule for lines of one pattern. */
struct line_rule {
    const char *pattern, *kind;
    unsigned xid; /* it has the meaning of this Xid; 0: the meaning below */
    struct meaning m;
    uint16_t next; /* the next rule with the same first byte */
};

/* A rule for numbered lines of the NVIDIA driver. */
struct number_rule {
    bool nvswitch; /* the number is an SXid */
    unsigned first, last;
    int sub;           /* SUB_ANY, or one sub-code of an NVLink error */
    const char *says;  /* a pattern of the text after the number; NULL for any */
    struct meaning m;  /* the code is made when it is asked for */
    enum act mild_act; /* for a switch that does not say Fatal */
    enum result mild_result;
};

/* Rules in order: the file's, then the tables'. The first that matches counts. */
struct meanings {
    size_t n_lines, n_own_lines, n_numbers, n_own_numbers;
    struct line_rule *lines;
    struct number_rule *numbers;
    uint16_t head[256], head_any; /* rules for lines, by the first byte of the pattern */
    size_t n_kept;
    char **kept; /* texts of the file */
};

/* Puts the file's records in front of the tables. -EINVAL "PATH:LINE: ...". */
struct conf;
int meanings_take(struct meanings *all, const struct conf *file, struct err *e);

#endif
