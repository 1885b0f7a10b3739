/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CONFORM_PROPOSAL_INSIDE_H
#define FETTLE_WATCH_CONFORM_PROPOSAL_INSIDE_H

#include "base/table.h"
#include "watch/conform/conformity_inside.h"
#include "watch/view/view.h"

/*
 * The commands that are proposed at the end of a sweep, each for all nodes that call for it. Its state is
 * w->proposals.
 */

/* Nodes for whom one command is to be proposed at the end of the sweep. */
struct group {
    struct group_key {
        uint16_t command;
        uint8_t rolls;    /* DRIFT, PERSISTS: nodes of a rollout */
        uint8_t rested;   /* RESTORED: drift that flaps, and nodes that were right for long enough */
        uint32_t version; /* of the baseline */
        struct kind *kind;
        struct listing *was;
    } key;
    struct command cmd;  /* without its nodes, and what is known of each of them */
    char *class, *named; /* to which it points */
    size_t n, cap;
    uint32_t *members;
    UT_hash_handle hh;
};

/* What the drift response says of a member that is grouped. */
struct group_rules {
    /* m, which is judged, calls for the command now. */
    bool (*calls)(struct watch *w, struct mono now, const struct member *m, enum command_kind kind);
    /* A command for it holds nothing up when it comes later. */
    bool (*is_news)(struct watch *w, struct mono now, const struct member *m, enum command_kind kind);
    /* What m is, or how it drifted, was proposed to be written down. */
    void (*written)(struct watch *w, struct mono now, const struct member *m, enum command_kind kind);
};

void groups_create(struct watch *w, const struct group_rules *rules);
/* m calls for a command: it is proposed at the end of the sweep. */
void groups_add(struct watch *w, struct mono now, enum command_kind kind, const struct member *m);
/* The sweep is over: what is proposed of them is proposed by groups_step, */
void groups_propose(struct watch *w);
struct proposals {
    const struct group_rules *rules;
    struct group *groups;
    bool proposing;           /* they are being proposed */
    size_t grouped[COMMANDS]; /* nodes in them */
    uint32_t news_from;       /* members below may make no news in this sweep: it is the turn of the others */
    uint32_t news_left;       /* the first member whose news found no room, UINT32_MAX for none */
};

#endif
