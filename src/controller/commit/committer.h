/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_COMMIT_COMMITTER_H
#define FETTLE_CONTROLLER_COMMIT_COMMITTER_H

#include "cluster/cluster.h"
#include "controller/commit/outcome.h"
#include "store/mirror.h"
#include "store/store.h"

#include <uv.h>

/*
 * From commands to commits, in groups and outside of the loop: commands that arrive while a batch is written
 * are the next batch. A command is decided against the committed state only. A command that touches a node or
 * a record of the present batch waits for the next batch, so that no decision rests on a commit that may
 * still fail. A command that makes a baseline or a rollout never shares a batch with a command that rests on
 * one, and a command that sets a switch never shares one with a command that begins an operation.
 *
 * After the commit the state changes, then the event stream is told, then the caller is answered. A refused
 * commit has changed nothing. When the outcome of a commit is not known (STORE_UNKNOWN), the store is asked
 * about it before anything else is decided. It is then done or refused. While the store cannot tell, the
 * callers are answered that the outcome is not known, further commands are refused, and the store is asked
 * again each second. A commit that the store reports later is followed like the commit of another controller
 * (committer_follow). A record enters the state at once. Its consequences for each of very many nodes, and
 * the answers, may take several turns of the loop; the next commit waits for them.
 */

struct committer;
struct store_change;

/* A committed entry. Borrowed until the callback returns. */
struct committed {
    enum command_kind kind; /* COMMANDS: this version does not know the kind */
    const struct store_entry *entry;
    const struct hostlist *changed; /* the nodes that it changed */
    uint64_t revision;
};

struct committer_events {
    void *arg;
    void (*on_entry)(void *arg, const struct committed *c);
    /* Some of the nodes that changed, until all were named: for what has to be done for each node. */
    void (*on_changed)(void *arg, const struct hostlist *some);
    /* The store refuses (with the error), or works again (NULL). */
    void (*on_store)(void *arg, const struct err *why);
    /* A tidying step failed, or the mirror of the journal (with the error), or both succeeded (NULL). */
    void (*on_journal)(void *arg, const struct err *why);
    /* Another controller leads, or the store cannot tell any more what was committed, and is to be loaded
     * anew: nothing may be done any more. */
    void (*on_deposed)(void *arg, const struct err *why);
};

/* With term 0 it follows: commands are refused until committer_lead. */
struct committer *committer_create(uv_loop_t *loop, struct cluster *c, struct store *s, uint64_t term,
                                   uint64_t revision, const struct store_keep *keep,
                                   const struct committer_events *events);
/* Waits for the present batch, answers the other commands with -EAGAIN, and frees. */
void committer_destroy(struct committer *k);

/* The store is one that several controllers share: its journal is read from this mirror from now on, which is
 * taken over and follows each commit (doc/adr/0073). on_journal tells when it cannot. Before anything else is
 * done with the committer. */
void committer_mirror(struct committer *k, struct mirror *mirror);
/* How far the mirror is. False: there is none. */
struct committer_mirrored {
    bool complete; /* it has what was committed, but for moments */
    uint64_t revision, first;
    struct mirror_gap missing;
};
bool committer_mirrored(const struct committer *k, struct committer_mirrored *out);

/* Queues a command (copied). A new claim (incident, repair, operation) without an id gets one ("TERM.N",
 * never used again). fn is called once, later; with -EAGAIN when 10,000 commands were waiting already. A dry
 * command waits for its turn like any other and is decided in that turn; it has no effect but its outcome. */
void committer_submit(struct committer *k, const struct command *cmd, outcome_fn *fn, void *arg);

/* Leads from now on, under the term. Before the first command is decided, the store is asked for what was
 * committed last, and that is applied. Commands that come meanwhile wait. */
void committer_lead(struct committer *k, uint64_t term);
/* Leads no more: commands that wait, and later ones, are refused. Commits of others are followed. */
void committer_depose(struct committer *k);

/* Takes over a commit that this process did not make, or whose outcome it did not know, as the store reports
 * it (store_resolve). Such commits are applied and announced in the order of their arrival, like the
 * process's own (on_entry, on_changed), before anything else is decided. A commit that the state already has
 * is dropped. */
void committer_follow(struct committer *k, struct store_change *c);

/* While it leads: checks each second whether the store's files are in their place, also while nothing is
 * committed, and tells on_store. Then moves older entries of the journal out of what the next start reads, in
 * steps between commits (store_tidy). Call it some times a second. */
void committer_turn(struct committer *k, struct mono now);

uint64_t committer_revision(const struct committer *k);
/* The number of commits so far, and the longest duration within the last minute in ms. */
uint64_t committer_count(const struct committer *k, double *ms_max);

size_t committer_waiting(const struct committer *k); /* commands that are not committed yet */

/* Sets how much of the journal is kept from now on (copied). */
void committer_keep(struct committer *k, const struct store_keep *keep);
/* Entries of this revision and later ones are not in the audit log's archive yet: they stay. */
void committer_audited(struct committer *k, uint64_t stays_from);
/* The first revision of which the journal has entries, 0 without any; and where earlier entries are. */
uint64_t committer_journal_first(const struct committer *k, const char **directory);

/* Copies the store into `dir` in small steps between commits (store_copy); nothing is tidied meanwhile. fn is
 * called once, later, with the copy and the digest of its state, or with the reason why there is none. One
 * copy at a time. */
typedef void copied_fn(void *arg, const struct store_copied *copied, uint64_t digest, const struct err *why);
void committer_copy(struct committer *k, const char *dir, copied_fn *fn, void *arg);

/* Reads the journal between commits. -EAGAIN when the store was busy for 20 ms, or its mirror is not
 * complete.
 */
int committer_journal(struct committer *k, uint64_t after, size_t max, store_journal_fn *fn, void *arg,
                      struct err *e);
/* The same, from threads other than the loop's: it waits as long as necessary, and asks the store while its
 * mirror is not complete. */
int committer_journal_wait(struct committer *k, uint64_t after, size_t max, store_journal_fn *fn, void *arg,
                           struct err *e);
/* The same backwards (store_journal_back), from such threads. */
int committer_journal_back(struct committer *k, uint64_t before, size_t max, store_journal_fn *fn, void *arg,
                           struct err *e);

#endif
