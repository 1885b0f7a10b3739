/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/checker_said.h"

#include "agent/uplink/body.h"

#include <inttypes.h>

static void checker_said_begin(struct said_frame *f)
{
    text_clear(&f->body);
    text_printf(&f->body, "{\"boot\":\"%s\",\"list\":\"%s\",%s", f->boot, f->list,
                f->full ? "\"full\":true," : "");
    if (f->log_next)
        text_printf(&f->body, "\"log_next\":%" PRIu64 ",", f->log_next);
    text_add(&f->body, "\"checks\":[");
    f->begun = true;
    f->any = false;
}

static void checker_said_emit(struct said_frame *f)
{
    text_add(&f->body, "]}");
    f->emit(f->arg, f->body.s, f->body.len);
    f->full = f->begun = false;
}

/* The members of a verdict, without braces. A check that never had an answer is unknown because of its
 * last look, or because there was no look. */
static void add_verdict(const struct said *s, struct text *t)
{
    struct verdict none;
    const struct verdict *v = &s->steady->said;
    if (!s->looked) {
        verdict_cannot(&none, RESULT_UNKNOWN, "it was not looked at yet");
        v = &none;
    } else if (s->stuck && s->steady->any) { /* beside the older answer, which still counts */
        none = *v;
        verdict_add(&none, RESULT_WARN, "", "probe.stuck", "the check %s hangs in the kernel: %s",
                    s->check->name, s->blind);
        v = &none;
    }
    CLEANUP_TEXT struct text all = {0};
    verdict_write(v, &all);
    text_add_bytes(t, all.s + 1, all.len - 2);
}

static void checker_said_add(const struct said *s, struct mono now, struct text *t)
{
    struct mono at = s->steady->any ? s->steady->looked : s->at;
    text_add(t, "{\"check\":");
    text_add_json(t, s->check->name);
    text_add_char(t, ',');
    add_verdict(s, t);
    if (s->blind[0] && s->steady->any) {
        text_add(t, ",\"blind\":");
        text_add_json(t, s->blind);
    }
    text_printf(t, ",\"age_ms\":%" PRId64 "}", s->looked ? span_to_ms(mono_sub(now, at)) : 0);
}

void said_add(struct said_frame *f, const struct said *s, struct mono now)
{
    CLEANUP_TEXT struct text one = {0};
    checker_said_add(s, now, &one);
    if (f->begun && f->any && f->body.len + one.len + 3 > BODY_PART_BYTES_MAX)
        checker_said_emit(f);
    if (!f->begun)
        checker_said_begin(f);
    if (f->any)
        text_add_char(&f->body, ',');
    text_add_bytes(&f->body, one.s, one.len);
    f->any = true;
}

void said_end(struct said_frame *f)
{
    if (!f->begun && f->full)
        checker_said_begin(f);
    if (f->begun)
        checker_said_emit(f);
    text_fini(&f->body);
}
