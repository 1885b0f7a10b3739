/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_COMMIT_COMMITTER_H
#define FETTLE_CONTROLLER_COMMIT_COMMITTER_H

#include "cluster/cluster.h"
#include "controller/commit/outcome.h"
#include "store/store.h"

#include <uv.h>

/*
 * Commands to commits, in groups and off the loop: what arrives while one batch is written is the
 * next batch. A command is decided against the committed state only. One that touches a node or a
 * record of the batch that is being put together waits for the next, so that no decision rests on
 * something that may yet fail; and one that makes a baseline or a rollout shares its batch with none
 * that rests on one, one that sets a switch with none that begins an operation. The state changes, the stream
 * hears of it and the caller is answered after the commit, in this order. When a commit is refused, nothing
 * has changed. When its outcome is not known (STORE_UNKNOWN), the store is asked what became of it before
 * anything else is decided: it turns out done or refused, or, while the store cannot tell, the callers are
 * answered that it is not known, further commands are refused, and the store is asked again each second. What
 * the store then tells of is followed like the commits of another controller (committer_follow). A record is
 * put into the state at once. What follows from it for each of very many nodes, and the answers, may take
 * several turns of the loop; the next commit waits for them.
 */

struct committer;
struct store_change;

/* An entry that was committed. Borrowed until the callback returns. */
struct committed {
    enum command_kind kind; /* COMMANDS: of none that this version knows */
    const struct store_entry *entry;
    const struct hostlist *changed; /* the nodes that changed by it */
    uint64_t revision;
};

struct committer_events {
    void *arg;
    void (*on_entry)(void *arg, const struct committed *c);
    /* The same of some of them at a time, until all were told: what is to be done for each. */
    void (*on_changed)(void *arg, const struct hostlist *some);
    /* The store refuses (with the error) or works again (NULL). */
    void (*on_store)(void *arg, const struct err *why);
    /* A step of what is done beside commits was not taken (with the error), or was (NULL). */
    void (*on_journal)(void *arg, const struct err *why);
    /* Somebody else leads: nothing may be done any more. */
    void (*on_deposed)(void *arg, const struct err *why);
};

struct committer *committer_create(uv_loop_t *loop, struct cluster *c, struct store *s, uint64_t term,
                                   uint64_t revision, const struct store_keep *keep,
                                   const struct committer_events *events);
/* Waits for the batch under way, answers what is left with -EAGAIN, and frees. */
void committer_destroy(struct committer *k);

/* Queues a command (copied). A new claim (incident, repair, operation) without an id gets one ("TERM.N",
 * never used again). fn is called once, later, with -EAGAIN when 10,000 were waiting already. A dry command
 * waits for its turn like any other, and is decided as it would be then; nothing comes of it but the outcome.
 */
void committer_submit(struct committer *k, const struct command *cmd, outcome_fn *fn, void *arg);

/* Takes a commit that this process did not make, or of which it did not know the outcome, as the store tells
 * it (store_resolve), and takes the change over. In the order of their coming, each is applied and told as
 * one of its own (on_entry, on_changed), before anything else is decided. One that the state has already is
 * let go. */
void committer_follow(struct committer *k, struct store_change *c);

/* Looks each second whether the store's files are in their place, also when nothing is committed; on_store is
 * told. Then older entries of the journal leave what the next start reads, in steps between commits
 * (store_tidy). Called some times a second. */
void committer_turn(struct committer *k, struct mono now);

uint64_t committer_revision(const struct committer *k);
/* Commits so far, and the longest of the last minute in ms. */
uint64_t committer_count(const struct committer *k, double *ms_max);

size_t committer_waiting(const struct committer *k); /* commands that are not committed yet */

/* How much of the journal is kept from now on (copied). */
void committer_keep(struct committer *k, const struct store_keep *keep);
/* The first revision of which the journal has entries, 0 without any; and where those before it are. */
uint64_t committer_journal_first(const struct committer *k, const char **directory);

/* Reads the journal between commits. -EAGAIN when the store has been busy for 20 ms. */
int committer_journal(struct committer *k, uint64_t after, size_t max, store_journal_fn *fn, void *arg,
                      struct err *e);
/* The same backwards (store_journal_back), and waits as long as it takes: from other threads than the loop's.
 */
int committer_journal_back(struct committer *k, uint64_t before, size_t max, store_journal_fn *fn, void *arg,
                           struct err *e);

#endif
