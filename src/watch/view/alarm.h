/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_VIEW_ALARM_H
#define FETTLE_WATCH_VIEW_ALARM_H

#include "base/clock.h"

#include <stddef.h>

/*
 * The alarms that stand. An alarm is known by its kind and its subject. It is told once when it begins and
 * once when it is over, and is in the list between the two. The code that raises an alarm also ends it.
 */

enum alarm_kind {
#define ALARM(symbol, name, meaning, end, todo) ALARM_##symbol,
#include "watch/view/alarm.tbl"
#undef ALARM
    ALARMS
};

struct alarm {
    enum alarm_kind kind;
    char *subject; /* "" where there is only one alarm of the kind; else "class gpu", "Slurm" */
    char *nodes;   /* folded list, may be "" */
    char *text;    /* a sentence */
    struct wall since;
    struct alarm *prev, *next;
};

/* over: NULL when the alarm begins, else why it is over. The alarm is borrowed. */
typedef void alarm_fn(void *arg, const struct alarm *a, const char *over);

struct alarms {
    struct alarm *list; /* oldest first */
    alarm_fn *fn;
    void *arg;
};

/* "silence" */
const char *alarm_name(enum alarm_kind kind);

void alarms_fini(struct alarms *s);
const struct alarm *alarms_find(const struct alarms *s, enum alarm_kind kind, const char *subject);
/* An alarm that already stands gets the new nodes and the text, and is not told again. */
void alarms_raise(struct alarms *s, enum alarm_kind kind, const char *subject, const char *nodes,
                  const char *text, struct wall at);
/* An alarm that does not stand is not told. why: a sentence. */
void alarms_end(struct alarms *s, enum alarm_kind kind, const char *subject, const char *why);

#endif
