/* SPDX-License-Identifier: Apache-2.0 */
/* OUTCOME: whether a remedy has helped is noted at its attempt, and counted. */
#include "cluster/decide/decide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(const char *word, size_t max)
{
    return decide_key_ok(word, max) && !strchr(word, ' ');
}

static int check_outcome(const struct outcome_command *o, struct err *e)
{
    if (!is_word(o->remedy, REMEDY_NAME_BYTES_MAX))
        return err_set(e, -EINVAL, "\"%.80s\" is not the name of a remedy", o->remedy);
    for (size_t i = 0; i < o->n; i++)
        if (!is_word(o->faults[i].name, FAULT_BYTES_MAX))
            return err_set(e, -EINVAL, "fault %zu is none", i + 1);
    return 0;
}

static struct attempt_record *find_attempt(struct repair *r, const struct outcome_command *o)
{
    for (size_t i = 0; i < r->n_attempts; i++) {
        struct attempt_record *a = &r->attempts[i];
        if (a->verdict == '?' && a->at.ns == o->at.ns && strcmp(a->remedy, o->remedy) == 0)
            return a;
    }
    return NULL;
}

static char *say_outcome(const struct outcome_command *o)
{
    struct text t = {0};
    text_printf(&t, "%s %s", o->remedy,
                o->verdict == '+'   ? "helped against"
                : o->verdict == '-' ? "did not help against"
                                    : "is not judged for");
    for (size_t i = 0; i < o->n && i < 8; i++)
        text_printf(&t, "%s %s", i ? "," : "", o->faults[i].name);
    return text_take(&t);
}

/* The attempt notes what was counted, so that it can be taken back. */
static void count_outcome(const struct cluster *c, struct attempt_record *a, const struct outcome_command *o,
                          struct decision *d)
{
    struct tally_edit x = {0};
    CLEANUP_TEXT struct text counted = {0};
    text_add(&counted, "");
    for (size_t i = 0; i < o->n; i++) {
        if (counted.len + 1 + strlen(o->faults[i].name) > FAULT_BYTES_MAX)
            continue;
        text_printf(&counted, "%s%s", counted.len ? "," : "", o->faults[i].name);
        tally_count(c, &x, o->remedy, o->class, o->faults[i].name, o->verdict == '+', false);
    }
    memcpy(a->counted, counted.s, counted.len + 1);
    memcpy(a->class, o->class, strlen(o->class) + 1);
    tally_edit_put(&x, d);
}

/* Once for each attempt: one that has its verdict, or is forgotten, counts no more. */
int decide_outcome(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    const struct outcome_command *o = &cmd->outcome;
    struct member *m;
    int rc = decide_one(c, cmd, &m, e);
    if (rc < 0 || check_outcome(o, e) < 0)
        return rc < 0 ? rc : -EINVAL;
    if (!member_repairs(m))
        return 0;
    struct repair r;
    repair_copy(&r, member_repairs(m));
    struct attempt_record *a = find_attempt(&r, o);
    if (a) {
        a->verdict = o->verdict;
        if (o->verdict != '0' && o->n)
            count_outcome(c, a, o, d);
        decision_add(d, "repair/", m->name, repair_record(&r));
        hostlist_add(&d->changed, m->name);
        memcpy(d->fields.remedy, o->remedy, sizeof o->remedy);
        d->fields.outcome = o->verdict == '+'   ? ENTRY_OUTCOME_HELPED
                            : o->verdict == '-' ? ENTRY_OUTCOME_FAILED
                                                : ENTRY_OUTCOME_NOT_JUDGED;
        d->text = say_outcome(o);
    }
    repair_fini(&r);
    return 0;
}
