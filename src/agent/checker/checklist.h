/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_CHECKER_CHECKLIST_H
#define FETTLE_AGENT_CHECKER_CHECKLIST_H

#include "agent/uplink/body.h"
#include "health/check.h"
#include "health/meaning.h"

/*
 * The checks that this node runs: the controller's list, or its copy from before the agent was started, or
 * the node's own file, whichever there is first. A record that this agent does not understand costs that
 * record alone and a line in the log.
 */

#define CHECKLIST_FILE "checklist"                   /* below the agent's directory of state */
#define CHECKLIST_OWN_PATH "/etc/fettle/checks.conf" /* below the node's root */

/* Zero-initialise; checklist_fini. */
struct checklist {
    char hash[BODY_WORD_BYTES_MAX + 1]; /* "" for the node's own file */
    uint64_t revision;                  /* the revision of the controller's list; 0 for the node's own file */
    struct checks checks;               /* their lists of nodes are empty */
    struct meanings *meanings;          /* never NULL once it was read */
};

void checklist_fini(struct checklist *l);

/* Takes the records of the controller's list that name this node. */
void checklist_take(const struct body_checklist *said, const char *node, struct checklist *out);
/* Reads the copy of the controller's list in home. -ENOENT when there is none; else -errno with a
 * sentence. *body is as below. */
int checklist_copy(const char *home, const char *node, struct checklist *out, char **body, struct err *e);
/* The copy in home, or the file below root. -ENOENT when there is neither; else -errno with a sentence.
 * *body is the copy as it came, signed (it was believed then), NULL when it is not from there; the caller
 * frees it. */
int checklist_load(const char *home, const char *root, const char *node, struct checklist *out, char **body,
                   struct err *e);
/* Reads a file of checks, all of them for this node; checks_default when path is NULL. */
int checklist_read(const char *path, const char *node, struct checklist *out, struct err *e);

#endif
