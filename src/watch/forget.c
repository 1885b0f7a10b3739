/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A person answers for what was found, and takes the node back: what the kernel's log had said by then does
 * not stand against it any more. Its agent is told to forget it, up to the line that it had told of; until
 * that is done nothing that it says of the kernel's log is believed, and afterwards it tells all anew.
 */
#include "watch/inside.h"

#include <inttypes.h>
#include <string.h>

enum { FORGET_S = 60, CODES_BYTES_MAX = 1900 /* of an operation's 2,048 */ };

static bool is_of_log(const struct watch *w, size_t i)
{
    return probe_row(check_at(w, i)->probe)->how == PROBE_FOLLOW;
}

bool forget_waits(const struct watch *w, const struct member *m)
{
    const struct repair *r = member_repair(m);
    const struct vitals *v = vitals_find(w, m);
    return r && r->answered && r->step == STEP_PROVISION && (!v || v->answered.ns != r->since.ns);
}

bool forget_doubts(const struct watch *w, const struct member *m, size_t check)
{
    return is_of_log(w, check) && forget_waits(w, m);
}

/* The codes under which its log has something against it. */
static void collect_codes(const struct watch *w, const struct vitals *v, struct text *codes)
{
    text_add(codes, "");
    for (size_t i = 0; i < v->n_sayings; i++) {
        const struct saying *s = &v->sayings[i];
        for (size_t k = 0; is_of_log(w, s->check) && k < s->n; k++) {
            const char *code = s->findings[k].code;
            if (*code && !text_has_word(codes->s, ' ', code) && codes->len + strlen(code) < CODES_BYTES_MAX)
                text_printf(codes, "%s%s", codes->len ? " " : "", code);
        }
    }
}

/* It is over: what was said before is out of date. */
static void end(struct watch *w, struct vitals *v, const struct repair *r)
{
    for (size_t i = 0; v->said && i < check_count(w); i++)
        if (is_of_log(w, i))
            said_forget(v, i);
    v->answered = r->since;
    v->anew = ANEW_NOT;
}

void forget_look(struct watch *w, struct mono now, const struct member *m)
{
    const struct repair *r = member_repair(m);
    struct vitals *v = vitals_of(w, m);
    CLEANUP_TEXT struct text codes = {0};
    struct operation o;
    if (!forget_waits(w, m))
        return;
    operation_read(w, m, &o);
    bool is_begun = o.id && operation_forgets(o.run);
    bool is_over = is_begun && ((o.state != OPERATION_WAITS && o.state != OPERATION_BEGUN) ||
                                operation_overdue(w, now, m, &o));
    operation_fini(&o);
    if (is_over)
        end(w, v, r);
    if (is_begun || !v->told || !speaks(w, m, v))
        return;
    collect_codes(w, v, &codes);
    if (!codes.len)
        v->answered = r->since; /* its log has nothing against it */
}

bool forget_propose(struct watch *w, struct mono now, const struct member *m)
{
    const struct vitals *v = vitals_of(w, m);
    CLEANUP_TEXT struct text codes = {0}, run = {0};
    if (!forget_waits(w, m) || *member_repair(m)->operation || !v->told || !speaks(w, m, v))
        return false;
    collect_codes(w, v, &codes);
    text_printf(&run, "forget:%" PRIu64 ":%s", v->log_next, codes.s);
    operation_propose(w, now, m, run.s, "resolve", span_s(FORGET_S));
    return true;
}
