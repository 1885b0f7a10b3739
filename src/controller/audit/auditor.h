/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_AUDIT_AUDITOR_H
#define FETTLE_CONTROLLER_AUDIT_AUDITOR_H

#include "archive/treefile.h"
#include "base/clock.h"
#include "base/text.h"
#include "controller/commit/committer.h"

#include <uv.h>

/*
 * The audit log of this controller: a tree over the journal's entries (doc/spec/audit.md), and an archive of
 * them. It follows the journal, in a thread and in steps between which commits go on; a commit does not wait
 * for it. What it has of an entry follows from the entry alone, so a controller that ends at any moment goes
 * on where its tree ends. No entry leaves the journal before it is in the archive.
 *
 * Questions are answered in the same thread, one after the other.
 */

struct auditor;

struct auditor_setup {
    uv_loop_t *loop;
    struct committer *committer;
    struct treefile *tree; /* taken over */
    const char *archive;   /* its directory */
    struct span keep;      /* the archive's entries that are older are removed */
    bool is_shared;        /* other controllers have the same log, of the same journal, in which each revision
                              has an entry; the tree is compared with the journal in the thread */
    void *arg;
    /* A step failed (with the error), or succeeded (NULL). */
    void (*on_step)(void *arg, const struct err *why);
};

/* The name of a log, by the name of the state. */
enum { AUDITOR_NAME_BYTES = 64 };
char *auditor_name(const char *origin, char out[static AUDITOR_NAME_BYTES]);

/* The head of a log as controllers tell it to one another: "SIZE ROOT". */
enum { AUDITOR_TOLD_BYTES = 72 };
char *auditor_told(const struct checkpoint *head, char out[static AUDITOR_TOLD_BYTES]);

/* Whether the tree is that of this journal, which stands at `revision`: its last leaves are the journal's
 * entries. -EILSEQ: one of the two is older than the other, or was changed. Before the committer is there. */
int auditor_compare(struct treefile *tree, struct store *s, uint64_t revision, struct err *e);

struct auditor *auditor_create(const struct auditor_setup *setup);
/* Waits for the step under way, and answers the waiting questions with -EAGAIN. Before the committer goes. */
void auditor_destroy(struct auditor *a);
void auditor_configure(struct auditor *a, const char *archive, struct span keep);

/* Follows the journal when it has gone on. Call it some times a second. */
void auditor_turn(struct auditor *a, struct mono now);

/* What this controller tells the others of its log; "" before there is an entry. Returns out. */
char *auditor_tell(struct auditor *a, char out[static AUDITOR_TOLD_BYTES]);
/* Another controller told this of its log. It is compared with this one's, as soon as that is as long. When
 * the two differ, this log grows no more: nothing is added, signed or archived, and each step fails with
 * -EILSEQ and both names, until that controller has told a head of this log. */
void auditor_hear(struct auditor *a, const char *controller, const char *told);

enum auditor_kind {
    AUDITOR_SHOW,        /* what the log is, in JSON */
    AUDITOR_CHECKPOINT,  /* its head */
    AUDITOR_MINIMUM,     /* the note that says which entries are kept; -ENOENT when all are */
    AUDITOR_TILE,        /* a tile or a bundle */
    AUDITOR_PROOF,       /* that an entry is in the log: a file of proof.h */
    AUDITOR_CONSISTENCY, /* that the log has grown from a tree of this size */
};
struct auditor_ask {
    enum auditor_kind kind;
    struct tile tile;
    struct treefile_place place;
    uint64_t old;
};
/* Called with the answer's bytes, or the reason why there is none; both are borrowed. */
typedef void auditor_answer_fn(void *arg, const struct text *answer, const struct err *why);
/* fn is called once, later: with -ENOENT for what is not in the log, or not kept; -EILSEQ when an entry of
 * the journal is not what was logged; -EAGAIN when too many questions wait. */
void auditor_begin(struct auditor *a, const struct auditor_ask *ask, auditor_answer_fn *fn, void *arg);

#endif
