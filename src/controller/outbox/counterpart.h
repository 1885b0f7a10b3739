/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_OUTBOX_COUNTERPART_H
#define FETTLE_CONTROLLER_OUTBOX_COUNTERPART_H

#include "base/json.h"
#include "watch/watch.h"

/*
 * How it stands with the other systems: the store, Slurm, OpenCHAMI, BMCs, the MQTT broker. Their drivers'
 * shells say here what became of each question; `fettle status` shows it, and an alarm stands while one is in
 * trouble.
 */

enum counterpart {
#define COUNTERPART(symbol, name, alarm, what, waits) COUNTERPART_##symbol,
#include "controller/outbox/counterpart.tbl"
#undef COUNTERPART
    COUNTERPARTS
};

/* UNKNOWN: configured, and neither answered nor refused since. */
enum counterpart_state { COUNTERPART_OFF, COUNTERPART_UNKNOWN, COUNTERPART_OK, COUNTERPART_TROUBLE };

struct counterparts {
    struct watch *watch;
    struct {
        enum counterpart_state state;
        struct wall since, succeeded; /* in this state; the last success, 0: none since the start */
        struct err why;
    } list[COUNTERPARTS];
};

void counterparts_init(struct counterparts *c, struct watch *w);
/* Whether the configuration names it. A counterpart that it names for the first time is unknown; one that
 * it names no more has no alarm. */
void counterpart_configure(struct counterparts *c, enum counterpart which, bool used);
/* It did what it was asked. One that is not configured is left alone. */
void counterpart_succeeded(struct counterparts *c, enum counterpart which);
/* It did so at this time, before this controller began. */
void counterpart_remembered(struct counterparts *c, enum counterpart which, struct wall at);
/* It did not, and why. nodes: that it is about, a folded list; may be "". */
void counterpart_failed(struct counterparts *c, enum counterpart which, const char *nodes,
                        const struct err *why);
/* The one or the other: it did when why is NULL. */
void counterpart_answered(struct counterparts *c, enum counterpart which, const char *nodes,
                          const struct err *why);
/* "Slurm" */
const char *counterpart_name(enum counterpart which);
/* Its line of Status; NULL while it is not configured. waiting: how much waits for it. */
json_t *counterpart_status(const struct counterparts *c, enum counterpart which, size_t waiting);

#endif
