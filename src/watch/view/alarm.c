/* SPDX-License-Identifier: Apache-2.0 */

#include "watch/view/alarm.h"
#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static const char *const names[ALARMS] = {
#define ALARM(symbol, name, meaning, end, todo) [ALARM_##symbol] = name,
#include "watch/view/alarm.tbl"
#undef ALARM
};

const char *alarm_name(enum alarm_kind kind)
{
    assert((size_t)kind < ALARMS);
    return names[kind];
}

static void alarm_destroy(struct alarm *a)
{
    free(a->subject);
    free(a->nodes);
    free(a->text);
    free(a);
}

void alarms_fini(struct alarms *s)
{
    struct alarm *a, *next;
    DL_FOREACH_SAFE(s->list, a, next)
    {
        alarm_destroy(a);
    }
    s->list = NULL;
}

static struct alarm *alarm_get(const struct alarms *s, enum alarm_kind kind, const char *subject)
{
    struct alarm *a;
    DL_FOREACH (s->list, a) {
        if (a->kind == kind && strcmp(a->subject, subject) == 0)
            return a;
    }
    return NULL;
}

const struct alarm *alarms_find(const struct alarms *s, enum alarm_kind kind, const char *subject)
{
    return alarm_get(s, kind, subject);
}

static void text_replace(char **where, const char *with)
{
    char *copy = mem_dup(with);
    free(*where);
    *where = copy;
}

void alarms_raise(struct alarms *s, enum alarm_kind kind, const char *subject, const char *nodes,
                  const char *text, struct wall at)
{
    assert(nodes && text && "an alarm has its words");
    struct alarm *a = alarm_get(s, kind, subject);
    if (a) {
        text_replace(&a->nodes, nodes);
        text_replace(&a->text, text);
        return;
    }
    a = mem_alloc(sizeof *a);
    *a = (struct alarm){.kind = kind,
                        .subject = mem_dup(subject),
                        .nodes = mem_dup(nodes),
                        .text = mem_dup(text),
                        .since = at};
    DL_APPEND(s->list, a);
    s->fn(s->arg, a, NULL);
}

void alarms_end(struct alarms *s, enum alarm_kind kind, const char *subject, const char *why)
{
    struct alarm *a = alarm_get(s, kind, subject);
    if (!a)
        return;
    CLEANUP_FREE char *over = mem_dup(why); /* `why` may be the alarm's own text */
    DL_DELETE(s->list, a);
    s->fn(s->arg, a, over);
    alarm_destroy(a);
}
