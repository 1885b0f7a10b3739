/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CONFORM_SPELL_INSIDE_H
#define FETTLE_WATCH_CONFORM_SPELL_INSIDE_H

#include "base/table.h"
#include "watch/view/view.h"

/*
 * Drift that comes and goes. Its state is w->spells.
 */

enum { CAME_MAX = 3 };

/* What is remembered of a member whose drift comes and goes. */
struct spell {
    uint32_t member;
    bool found;                 /* by this watch, and its record is not here yet */
    bool here, good;            /* as last proven; neither: unknown */
    unsigned n;                 /* of came */
    struct mono came[CAME_MAX]; /* newest first */
    struct mono good_since;     /* conformant without a break */
    bool dated;                 /* the next two are given */
    struct wall since;          /* as the record says */
    struct mono since_at;       /* the same by the watch's own time: a clock that is set ages no drift */
    struct mono dated_at;       /* when that was reckoned */
    bool written, reboot;       /* the following are given */
    struct fingerprint what;    /* that was proposed to be recorded as its drift, */
    struct mono written_at;     /* when, */
    unsigned rewrites;          /* and how often it was something else without an hour's rest */
    struct mono reboot_at;      /* the reboot was proposed */
    struct wall worn;           /* since when the drift is of which was said that reboots do not cure it */
    UT_hash_handle hh;
};

struct spell *spell_find(const struct watch *w, const struct member *m);
struct spell *spell_of(struct watch *w, const struct member *m); /* made when there is none */
/* Something else is proven of m than before. */
void spell_note(struct watch *w, struct mono now, const struct member *m, enum conformance was,
                enum conformance is);
/* In each sweep: dates the record by the watch's own time when it is seen first, and forgets who has been
 * well for long. */
void spell_look(struct watch *w, struct mono now, const struct member *m);
struct spells {
    struct spell *all; /* by member */
};

#endif
