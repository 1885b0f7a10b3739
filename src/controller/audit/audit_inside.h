/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_AUDIT_AUDIT_INSIDE_H
#define FETTLE_CONTROLLER_AUDIT_AUDIT_INSIDE_H

#include "archive/archive.h"
#include "controller/audit/auditor.h"

/*
 * The files of this room, on their floors: trail.c reads the journal as leaves, heard.c compares the heads of
 * other controllers, follow.c lets tree and archive follow it, answer.c answers, and auditor.c has the thread
 * and the turns. All but the last run in the thread.
 */

enum { AUDITOR_CONTROLLER_BYTES = 65 };

/* What the thread works with. */
struct trail {
    struct committer *committer;
    struct treefile *tree;
    struct archive *archive; /* NULL until it could be opened */
    char *archive_dir;
    struct span keep;
    uint64_t archived;  /* entries */
    bool is_shared;     /* each revision has an entry */
    uint64_t first;     /* with is_shared: from this revision on the journal is whole */
    bool is_compared;   /* its last leaves are the journal's */
    struct err differs; /* another controller's log does: nothing is added or signed; code 0: none does */
    char differing[AUDITOR_CONTROLLER_BYTES]; /* which one */
};

/* --- trail.c ---------------------------------------------------------------------------------- */

/* An entry of the journal as a leaf. */
void trail_format(uint64_t revision, uint64_t n, const struct store_entry *entry, struct text *out);

/* Where the walk through the journal is. */
struct trail_walk {
    uint64_t revision, n;
    bool any;
};
/* The place of the next entry, which is of this revision. */
struct treefile_place trail_next(struct trail_walk *w, uint64_t revision);

/* Adds the bundle of a tile of leaves, from the archive or the journal. Each entry has the hash that the tree
 * has. -ENOENT when they are not kept, -EILSEQ when one is not what was logged. */
int trail_bundle(struct trail *t, const struct tile *tile, struct text *out, struct err *e);

/* Whether the tree's last leaves are the journal's, as far as that has them. -EILSEQ: they are not. */
int trail_compare(struct trail *t, struct err *e);

/* --- heard.c ---------------------------------------------------------------------------------- */

/* The head of another controller's log. */
struct heard {
    char controller[AUDITOR_CONTROLLER_BYTES];
    uint64_t size;
    struct tree_hash root;
    bool is_good;   /* it is the beginning of this log */
    bool is_judged; /* this log is as long, and was compared */
};
/* Compares those that this log is as long as. `differs` of the trail says whether one differs, until that
 * controller has told a head that does not. */
int trail_judge(struct trail *t, struct heard *list, size_t n, struct err *e);
/* Reads what was told; false: it is no head. */
bool heard_read(const char *told, struct heard *h);

/* --- follow.c --------------------------------------------------------------------------------- */

/* Adds entries that the tree lacks, some thousand at most. *more: there are others. */
int trail_follow(struct trail *t, bool *more, struct err *e);
/* Copies bundles that the archive lacks, some at most, and removes one that is too old. */
int trail_archive(struct trail *t, struct wall now, bool *more, struct err *e);
/* The first revision of which an entry is not in the archive: it stays in the journal. */
int trail_stays_from(struct trail *t, uint64_t *revision, struct err *e);

/* --- answer.c --------------------------------------------------------------------------------- */

int trail_answer(struct trail *t, const struct auditor_ask *ask, struct text *out, struct err *e);

#endif
