/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_OPERATE_ACTOR_H
#define FETTLE_AGENT_OPERATE_ACTOR_H

#include "agent/checker/checker.h"
#include "agent/home/writer.h"
#include "agent/uplink/body.h"

#include <uv.h>

/*
 * Carries out what a controller asks of the node (ACT) and reports the result (DONE): a command, a reboot,
 * or one look at a check. It does one operation at a time and each id once, whatever happens to the agent:
 * it writes down that an operation begins before it begins. The agents of this boot know the operation
 * then, and so do those of the next boot, unless the disk hangs or fails. A reboot is refused while the
 * disk hangs or fails.
 */

struct actor;

struct actor_settings {
    const char *home, *root, *boot; /* borrowed as long as it exists */
    struct checker *checker;        /* outlives it */
    struct writer *writer;          /* for copies that outlive a boot; NULL: home is on the disk */
    const char *disk;               /* where the writer writes */
    /* The body of a DONE frame. */
    void (*say)(void *arg, const char *body, size_t len);
    void *arg;
};

/* Takes up what an earlier agent began. An operation that still runs is waited for; one without a result
 * is unknown from now on; a reboot is done when this is another boot. */
struct actor *actor_create(uv_loop_t *loop, const struct actor_settings *settings);
/* Lets running commands run. Calls back nobody from now on. */
void actor_destroy(struct actor *a);

/* Reports the results of the last operations again, for a listener that may not know them. */
void actor_tell(struct actor *a);
/* An id that is known is told about again and not done again. Refused: another boot, a term older than one
 * seen, a kind that is not known, something else under way, or nothing could be written down. */
void actor_act(struct actor *a, const struct body_act *act);
/* A peer that is not believed says that there is something to do. The actor asks for the order with its
 * nonce, or reports the result when it is known. */
void actor_ask(struct actor *a, const struct body_act *act, const char *nonce);
/* A controller of this state said this term. Orders of lower ones are refused from now on, also by the next
 * agent.
 */
void actor_heard(struct actor *a, const char *origin, uint64_t term);
/* The highest term that was heard, and its state; origin "": none was. */
uint64_t actor_remembers(const struct actor *a, const char **origin);
/* Ends the look at this check that is under way for an operation, and reports it as unknown. Does nothing
 * when there is no such look, or when a later term was seen. */
void actor_end(struct actor *a, uint64_t term, const char *check);

#endif
