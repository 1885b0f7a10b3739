/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_STAGE_TEST_H
#define FETTLE_API_STAGE_TEST_H

#include "api/api.h"
#include "api/wire_test.h"
#include "api/world_test.h"

/*
 * The interface over one of the worlds, with a shell that decides at once and commits into memory. Tests ask
 * it over its socket.
 */

/* What is submitted is decided and taken when stage_commit is called, at a time that does not change, with a
 * claim id that does not either. */
struct stage {
    struct world world;
    struct events *events;
    struct api *api;
    struct wire wire;
    bool commits_at_once;
    int fails; /* with this code, when not 0 */
    uint64_t revision;
    unsigned revisions; /* how often it was asked for: each table begins with it */

    struct submitted {
        outcome_fn *fn;
        void *fn_arg;
        struct command *cmd; /* a copy */
        struct submitted *prev, *next;
    } * waiting; /* oldest first */
    char actor[64];
    unsigned named;          /* look-ups of users' names */
    bool tokens_later;       /* the test answers for a token */
    shell_token_fn *telling; /* of the token that waits */
    void *telling_arg;
    unsigned submitted;
    unsigned ended;
    size_t rechecked;           /* nodes that were to be told */
    shell_verdict_fn *checking; /* of the check that was asked for last, until the test answers it */
    void *checking_arg;
    struct auditor_ask audited; /* what the audit log was asked last */
    size_t journal;             /* entries that there are beside the three of 2026 */
    uint64_t journal_first;     /* the first revision of the journal */
    struct mirror_gap missing;
    struct store_entry *entries; /* their revisions are 4 and so on */
    bool closed;                 /* the wire is */
};

/* Begins with a world that is age_s seconds old, and that lets nobody read over HTTPS. */
int stage_open(void **state, struct world (*make)(struct mono now), int age_s);
int stage_close(void **state);
/* Takes the oldest command that waits. */
void stage_commit(struct stage *s);
/* Runs until a command waits. */
void stage_wait(struct stage *s);
/* Runs until a token waits; and says that it is good: of Sue, with the subject 77. */
void stage_wait_token(struct stage *s);
void stage_answer_token(struct stage *s);
/* The request, its status and the answer, times and numbers that change masked. */
void stage_transcribe(struct stage *s, const char *method, const char *target, const char *body,
                      struct text *t);
/* The same of many, one after the other. */
void stage_read_all(struct stage *s, const char *const *targets, size_t n, struct text *t);
struct posted {
    const char *target, *body;
};
void stage_post_all(struct stage *s, const struct posted *asked, size_t n, struct text *t);
/* A good answer, which is the caller's; how large it was and how long it took is printed. */
json_t *stage_ask_large(struct stage *s, const char *target);

#endif
