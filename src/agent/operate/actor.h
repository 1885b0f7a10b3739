/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_OPERATE_ACTOR_H
#define FETTLE_AGENT_OPERATE_ACTOR_H

#include "agent/checker/checker.h"
#include "agent/home/writer.h"
#include "agent/uplink/body.h"

#include <uv.h>

/*
 * Carries out what a controller asks of the node (ACT) and says what came of it (DONE): a command, a reboot,
 * one look at a check. One at a time, each id once, whatever happens to the agent meanwhile: that an
 * operation begins is written down before it does. It is known to the agents of this boot then, and to those
 * of the next one unless the disk hangs or refuses. A reboot is refused while the disk hangs or fails.
 */

struct actor;

struct actor_settings {
    const char *home, *root, *boot; /* borrowed as long as it exists */
    struct checker *checker;        /* outlives it */
    struct writer *writer;          /* of copies for after a boot, outlives it; NULL: home is on the disk */
    const char *disk;               /* where the writer writes */
    /* The body of a DONE frame. */
    void (*say)(void *arg, const char *body, size_t len);
    void *arg;
};

/* What was begun before and still runs is waited for; what has no end is unknown from now on; a reboot into
 * another boot is done. */
struct actor *actor_create(uv_loop_t *loop, const struct actor_settings *settings);
/* Kills no command that runs; calls nobody any more. */
void actor_destroy(struct actor *a);

/* Says what came of the last operations: somebody listens who may not know. */
void actor_tell(struct actor *a);
/* An id that is known is told about again and not done again. Refused: another boot, a term older than one
 * seen, a kind that is not known, something else under way, or nothing could be written down. */
void actor_act(struct actor *a, const struct body_act *act);
/* Somebody who is not believed says that there is this to do: asks for the order with the nonce, or says what
 * came of it when it is known. */
void actor_ask(struct actor *a, const struct body_act *act, const char *nonce);
/* The look at this check that is under way for somebody who asked is ended, and said to be unknown. Nothing
 * where there is none, or a later term was seen. */
void actor_end(struct actor *a, uint64_t term, const char *check);

#endif
