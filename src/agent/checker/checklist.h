/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_CHECKER_CHECKLIST_H
#define FETTLE_AGENT_CHECKER_CHECKLIST_H

#include "agent/uplink/body.h"
#include "health/check.h"
#include "health/meaning.h"

/*
 * The checks that this node runs: what a controller said, or its copy from the time before the agent was
 * started, or the node's own file, whichever there is first. A record that this agent does not understand
 * costs that record alone, and a line in the log.
 */

#define CHECKLIST_FILE "checklist"                   /* below the agent's directory of state */
#define CHECKLIST_OWN_PATH "/etc/fettle/checks.conf" /* below the node's root */

/* Zero-initialise; checklist_fini. */
struct checklist {
    char hash[BODY_WORD_BYTES_MAX + 1]; /* "" for the node's own file */
    uint64_t revision;                  /* of the controller's; 0 for the node's own file */
    struct checks checks;               /* their lists of nodes are empty */
    struct meanings *meanings;          /* never NULL once it was read */
};

void checklist_fini(struct checklist *l);

/* Those of what the controller said that this node runs. */
void checklist_take(const struct body_checklist *said, const char *node, struct checklist *out);
/* The copy in home of what the controller said. -ENOENT when there is none; else -errno with a sentence.
 * *body is as below. */
int checklist_copy(const char *home, const char *node, struct checklist *out, char **body, struct err *e);
/* The copy in home, or the file below root. -ENOENT when there is neither; else -errno with a sentence.
 * *body is the copy as it came, signed (it was believed then), NULL when it is not from there; the caller
 * frees it. */
int checklist_load(const char *home, const char *root, const char *node, struct checklist *out, char **body,
                   struct err *e);
/* A file of checks, all of which are this node's; checks_default when path is NULL. */
int checklist_read(const char *path, const char *node, struct checklist *out, struct err *e);

#endif
