/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_BACKUPS_H
#define FETTLE_CONTROLLER_BACKUPS_H

#include "base/json.h"
#include "controller/commit/committer.h"
#include "controller/config/config.h"
#include "controller/outbox/counterpart.h"

/*
 * Makes backups of the state while the controller runs: when BackupEvery says so, and when somebody asks. One
 * at a time. The store is copied in steps between commits, and the rest is done in a thread. A backup that
 * was made is committed (backup.made); one that was not is trouble of the counterpart `backup`.
 */

struct backups;

struct backups_setup {
    uv_loop_t *loop;
    struct cluster *cluster;
    struct committer *committer;
    struct counterparts *counterparts;
    const char *state_dir; /* these live as long as it */
};

struct backups *backups_create(const struct backups_setup *setup, const struct config *conf);
void backups_configure(struct backups *b, const struct config *conf);
/* The controller is stopping: nothing new is begun. */
void backups_stop(struct backups *b);
/* Waits for what a thread does, and frees. Call it after the committer is destroyed. */
void backups_destroy(struct backups *b);

/* Begins one when it is due. Call it some times a second. */
void backups_turn(struct backups *b, struct mono now);

/* Begins one for this actor; *number is what `ended` of the list comes to when it has ended. -ENOENT without
 * BackupDirectory; -EBUSY while one is made. With `dry` nothing is begun. */
int backups_begin(struct backups *b, const char *actor, bool dry, uint64_t *number, struct err *e);

/* The list as JSON (doc/openapi.yaml). fn is called once, later. */
typedef void backups_list_fn(void *arg, const char *answer, const struct err *why);
void backups_list(struct backups *b, backups_list_fn *fn, void *arg);

/* Its members of Status: `backup`, and `restored` when the state once was. */
void backups_status(const struct backups *b, json_t *status);

#endif
