/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_ANSWER_H
#define FETTLE_DRIVER_ANSWER_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Parsers of the answers of OpenCHAMI's services. Anything that is not understood is -EPROTO with a sentence,
 * and never guessed: an absent flag is not "OK", an unknown status is not "over".
 */

enum { XNAME_BYTES_MAX = 63, TRANSITION_ID_BYTES_MAX = 63, DETAIL_BYTES_MAX = 255 };

/* Letters and digits, such as "x0c0s0b0n0": safe in a path. */
bool xname_is_valid(const char *xname);
/* Letters, digits and '-'. */
bool transition_id_is_valid(const char *id);

/* The sentence of a problem document (RFC 7807); false when the bytes are not one. */
bool problem_read(const char *bytes, size_t len, char detail[static DETAIL_BYTES_MAX + 1]);

/* SMD, GET /State/Components/XNAME. */
struct component {
    char flag[16];   /* "OK", "Warning", ...; "" when there is none */
    char status[64]; /* SoftwareStatus; "" when there is none */
};
int component_read(const char *bytes, size_t len, struct component *out, struct err *e);

/* SMD, POST /State/Components/Query or /locks/status: fn is called for each component. how is for instance
 * "locked"; NULL: this answer shows no holder. out: somebody disabled the component; the other holds concern
 * its power and firmware. */
typedef void held_fn(void *arg, const char *xname, const char *how, bool out);
int held_read(const char *bytes, size_t len, held_fn *fn, void *arg, struct err *e);

/* SMD, GET /memberships/XNAME: whether the node is in this group. */
int membership_read(const char *bytes, size_t len, const char *group, bool *is_member, struct err *e);

/* BSS, GET /bootparameters?name=XNAME. Each part may be NULL: not given. */
struct boot_image {
    char *kernel, *initrd, *params;
};
void boot_image_fini(struct boot_image *i);
enum boot_found {
    BOOT_NONE,  /* the node has no parameters of its own */
    BOOT_OTHER, /* it has its own, and they differ from the image */
    BOOT_SAME
};
int bootparameters_read(const char *bytes, size_t len, const char *xname, const struct boot_image *image,
                        enum boot_found *out, struct err *e);

/* PCS, POST /transitions. */
int started_read(const char *bytes, size_t len, char id[static TRANSITION_ID_BYTES_MAX + 1], struct err *e);

/* PCS, GET /transitions/ID: its outcome for this node. */
enum transition_outcome { TRANSITION_UNDER_WAY, TRANSITION_COMPLETED, TRANSITION_FAILED };
struct transition {
    enum transition_outcome outcome;
    bool has_node;                  /* one of its tasks is the node's */
    char only[XNAME_BYTES_MAX + 1]; /* the node of its only task; "" when it has several */
    char why[DETAIL_BYTES_MAX + 1]; /* set for TRANSITION_FAILED */
};
int transition_read(const char *bytes, size_t len, const char *xname, struct transition *out, struct err *e);

/* PCS, GET /transitions: those that restart nodes. */
struct transitions {
    size_t n;
    struct listed {
        char id[TRANSITION_ID_BYTES_MAX + 1];
        char created[40]; /* by the server's clock, without the zone: comparable by strcmp */
        bool is_over;
    } * restarts;
    char newest[40]; /* when the newest transition of any kind was made; "" when there is none */
};
void transitions_fini(struct transitions *t); /* leaves it empty */
/* *out is empty on error. */
int transitions_read(const char *bytes, size_t len, struct transitions *out, struct err *e);

#endif
