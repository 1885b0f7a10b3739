/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_OPERATE_OPERATION_RECORD_H
#define FETTLE_AGENT_OPERATE_OPERATION_RECORD_H

#include "agent/uplink/body.h"
#include "base/text.h"
#include "node/operation.h"

#include <stdbool.h>

/*
 * The last 16 operations that this node was asked for, so that none is carried out twice: each with its
 * kind and its state. They are kept in the agent's directory of state. Pure, except for reading and writing
 * the file.
 */

#define OPERATION_RECORDS_FILE "operations" /* in the agent's directories */

enum { OPERATION_RECORDS_MAX = 16, OPERATION_TEXT_BYTES_MAX = 4096 };

struct operation_record {
    struct operation op; /* its id, boot, state and text; the refusal is not kept in the file, since nothing
                            asks for it later */
    bool reboot;         /* a reboot: another boot is its aim */
    char *cures;   /* codes, with blanks between, under which the kernel's log is over when it is done; NULL:
                      none */
    char *verdict; /* JSON of a check's; NULL for others */
};

/* One that is in no list: it has this id and boot, and no state yet. */
void operation_record_init(struct operation_record *k, const char *id, const char *boot);
void operation_record_fini(struct operation_record *k);

/* Zero-initialise; operation_records_fini. */
struct operation_records {
    uint64_t term; /* the highest that asked, of this state of a controller: */
    char origin[BODY_WORD_BYTES_MAX + 1];
    size_t n;
    struct operation_record list[OPERATION_RECORDS_MAX]; /* oldest first */
};
void operation_records_fini(struct operation_records *d);

struct operation_record *operation_records_find(struct operation_records *d,
                                                const char *id); /* NULL when there is none */
/* A new one; the oldest that is not under way goes when there are 16. The pointer lives until the next call.
 */
struct operation_record *operation_records_add(struct operation_records *d, const char *id, const char *boot,
                                               bool reboot, enum operation_state state);
/* Sets how far it is; verdict may be NULL. Control characters of the text become blanks, and of what is too
 * long the end counts. */
void operation_record_set(struct operation_record *k, enum operation_state state, const char *text,
                          const char *verdict);

/* Settles what an agent that has ended began, except the operation that still runs (NULL: none does): a
 * reboot is done when this is another boot, everything else is unknown. True when there was any. */
bool operation_records_settle(struct operation_records *d, const char *boot, const char *running);

/* The body of DONE. */
void operation_record_write(const struct operation_record *k, struct text *out);

/* As kept in home. Loading finds none: 0. -EILSEQ and other errors leave *d empty. */
int operation_records_load(struct operation_records *d, const char *home, struct err *e);
int operation_records_store(const struct operation_records *d, const char *home, struct err *e);
int operation_records_parse(struct operation_records *d, const char *text, struct err *e);
void operation_records_format(const struct operation_records *d, struct text *out);

#endif
