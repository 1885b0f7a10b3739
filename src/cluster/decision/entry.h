/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_ENTRY_H
#define FETTLE_CLUSTER_ENTRY_H

#include "base/err.h"
#include "base/text.h"
#include "node/lifecycle.h"
#include "remedy/remedy.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The fields of a journal entry for programs, beside its sentence: programs that count or choose entries
 * read these fields, and no program reads the sentence (ADR 0047). A decision fills them. The store keeps
 * them as the members of a JSON object without braces, so that a writer of an entry as JSON puts them
 * beside the other members. An entry without fields, or from an older fettled, has "".
 */

enum entry_id {
#define ID(symbol, member, what) ENTRY_##symbol,
#define OUTCOME(symbol, name, what)
#include "cluster/decision/entry.tbl"
#undef ID
#undef OUTCOME
    ENTRY_IDS
};

enum entry_outcome {
    ENTRY_OUTCOME_NONE,
#define ID(symbol, member, what)
#define OUTCOME(symbol, name, what) ENTRY_OUTCOME_##symbol,
#include "cluster/decision/entry.tbl"
#undef ID
#undef OUTCOME
    ENTRY_OUTCOMES
};

enum { ENTRY_BACKUP_BYTES_MAX = 63 };

struct entry_fields {
    struct text ids[ENTRY_IDS]; /* with a blank between two; each once */
    bool moves;                 /* a repair goes from one step to another, or begins the same one again */
    enum step from, to;         /* STEP_NONE: it begins, or ends */
    enum step_event event;      /* what led to the move; NONE: an older fettled did not say it */
    char remedy[REMEDY_NAME_BYTES_MAX + 1]; /* "": none */
    enum entry_outcome outcome;
    char *owner_from, *owner_to; /* the owner that loses the nodes, and the one that gets them; NULL: none */
    struct entry_backup {
        char name[ENTRY_BACKUP_BYTES_MAX + 1];
        int64_t at_ns;
        uint64_t revision, bytes;
    } backup;     /* that was made; name "": none */
    int64_t cost; /* expected of the remedy, in thousandths of a minute of one node; 0: it was not reckoned */
};
void entry_fields_fini(struct entry_fields *f);

/* NULL and "" are no id. */
void entry_fields_add(struct entry_fields *f, enum entry_id of, const char *id);
/* The table of moves has this one (node/step_move.tbl). */
void entry_fields_move(struct entry_fields *f, enum step from, enum step_event event, enum step to);
/* ENTRY_OUTCOME_NONE for an unknown word. */
enum entry_outcome entry_outcome_find(const char *name);

/* Writes them into *out, which is empty, as members of a JSON object with commas between; nothing where there
 * are none. */
void entry_fields_write(const struct entry_fields *f, struct text *out);
/* Reads what entry_fields_write wrote; NULL and "" are none. Members, outcomes and events that this version
 * does not know are left out. -EINVAL when it is something else; *out is empty then. Else entry_fields_fini.
 */
int entry_fields_read(const char *members, struct entry_fields *out, struct err *e);

#endif
