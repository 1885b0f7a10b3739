/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_OPERATE_DEEDS_H
#define FETTLE_AGENT_OPERATE_DEEDS_H

#include "agent/uplink/body.h"
#include "base/text.h"
#include "node/refusal.h"

#include <stdbool.h>

/*
 * The operations that this node was asked for, the last 16, so that none is carried out twice: what it was,
 * and how far it is. Kept in the agent's directory of state. Pure but for reading and writing it.
 */

#define DEEDS_FILE "operations" /* in the agent's directories */

enum { DEEDS_MAX = 16, DEED_TEXT_BYTES_MAX = 4096 };

enum deed_state { DEED_BEGUN, DEED_DONE, DEED_FAILED, DEED_REFUSED, DEED_UNKNOWN, DEED_STATES };
const char *deed_state_name(enum deed_state s);

struct deed {
    char id[BODY_WORD_BYTES_MAX + 1];
    char boot[BODY_WORD_BYTES_MAX + 1];
    bool reboot; /* what it was: a new boot is what it was for */
    char *cures; /* codes, with blanks between, under which the kernel's log is over when it is done; NULL:
                    none */
    enum deed_state state;
    enum refusal refusal; /* why it was; not kept in the file, since nothing asks for it later */
    char *text;           /* never NULL */
    char *verdict;        /* JSON of a check's; NULL for others */
};

/* Zero-initialise; deeds_fini. */
struct deeds {
    uint64_t term; /* the highest that asked, of this state of a controller: */
    char origin[BODY_WORD_BYTES_MAX + 1];
    size_t n;
    struct deed list[DEEDS_MAX]; /* oldest first */
};
void deeds_fini(struct deeds *d);

struct deed *deeds_find(struct deeds *d, const char *id); /* NULL when there is none */
/* A new one; the oldest that is not under way goes when there are 16. The pointer lives until the next call.
 */
struct deed *deeds_add(struct deeds *d, const char *id, const char *boot, bool reboot, enum deed_state state);
/* Sets how far it is; verdict may be NULL. Control characters of the text become blanks, and of what is too
 * long the end counts. */
void deed_set(struct deed *k, enum deed_state state, const char *text, const char *verdict);

/* What was begun by an agent that is no more, but for the one that still runs (NULL: none does): a reboot is
 * done when this is another boot, everything else is unknown. True when there was any. */
bool deeds_settle(struct deeds *d, const char *boot, const char *running);

/* The body of DONE. */
void deed_write(const struct deed *k, struct text *out);

/* As kept in home. Loading finds none: 0. -EILSEQ and other errors leave *d empty. */
int deeds_load(struct deeds *d, const char *home, struct err *e);
int deeds_store(const struct deeds *d, const char *home, struct err *e);
int deeds_parse(struct deeds *d, const char *text, struct err *e);
void deeds_format(const struct deeds *d, struct text *out);

#endif
