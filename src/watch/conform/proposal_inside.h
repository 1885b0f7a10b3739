/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CONFORM_PROPOSAL_INSIDE_H
#define FETTLE_WATCH_CONFORM_PROPOSAL_INSIDE_H

#include "base/table.h"
#include "watch/conform/conformity_inside.h"
#include "watch/view/view.h"

/*
 * The commands that are proposed at the end of a sweep, each for all nodes that need it. The state is
 * w->proposals.
 */

/* Nodes for which one command is to be proposed at the end of the sweep. */
struct group {
    struct group_key {
        uint16_t command;
        uint8_t rolls;    /* DRIFT, PERSISTS: the nodes are part of a rollout */
        uint8_t rested;   /* RESTORED: the drift flaps, and the nodes were right for long enough */
        uint32_t version; /* of the baseline */
        struct kind *kind;
        struct listing *was;
    } key;
    struct command cmd;  /* without its nodes, and without the details of each node */
    char *class, *named; /* the command points to these */
    size_t n, cap;
    uint32_t *members;
    UT_hash_handle hh;
};

/* What the drift response knows about a member that is grouped. */
struct group_rules {
    /* m, which is judged, needs the command now. */
    bool (*calls)(struct watch *w, struct mono now, const struct member *m, enum command_kind kind);
    /* The command may come later without holding anything up. */
    bool (*is_news)(struct watch *w, struct mono now, const struct member *m, enum command_kind kind);
    /* A record of what m is, or of how it drifted, was proposed. */
    void (*written)(struct watch *w, struct mono now, const struct member *m, enum command_kind kind);
};

void groups_create(struct watch *w, const struct group_rules *rules);
/* m needs a command, which is proposed at the end of the sweep. */
void groups_add(struct watch *w, struct mono now, enum command_kind kind, const struct member *m);
/* The sweep is over: groups_step now proposes the groups. */
void groups_propose(struct watch *w);
struct proposals {
    const struct group_rules *rules;
    struct group *groups;
    bool proposing;           /* the groups are being proposed */
    size_t grouped[COMMANDS]; /* nodes in the groups, by command */
    uint32_t
        news_from; /* members below may make no news in this sweep, because it is the turn of the others */
    uint32_t news_left; /* the first member whose news found no room; UINT32_MAX: none */
};

#endif
