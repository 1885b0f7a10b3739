/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job is about to start on a node in which something changed, and its agent asks what follows from that.
 * The answer comes when it is decided: the fingerprint has come and its list is known, and the claim that
 * keeps new work away is committed or not called for. An agent does not wait for longer than some seconds, so
 * a question that cannot be answered by then is forgotten.
 */
#include "controller/sessions/frames_inside.h"

#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { ANSWER_WITHIN_S = 10, WHY_BYTES_MAX = 400 /* BODY_WHY_BYTES_MAX of an agent */ };

struct asker {
    struct asker *next;
    struct member *m;
    struct fingerprint id;
    char nonce[ORDER_NONCE_HEX + 1];
    struct mono since;
};

static struct asker *asker_of(struct agents *a, struct member *m)
{
    struct asker *k;
    LL_FOREACH (a->askers, k)
        if (k->m == m)
            return k;
    k = mem_alloc(sizeof *k);
    k->m = m;
    LL_PREPEND(a->askers, k);
    return k;
}

/* A node has one question; a new one takes the place of the one before. */
void standings_asked(struct agents *a, struct member *m, const json_t *body)
{
    const char *hex = "", *nonce = "";
    struct fingerprint id;
    json_take_string(body, "fingerprint", &hex, NULL);
    json_take_string(body, "nonce", &nonce, NULL);
    if (!fingerprint_parse(hex, &id) || strlen(nonce) != ORDER_NONCE_HEX)
        return;
    struct asker *k = asker_of(a, m);
    k->id = id;
    k->since = mono_now();
    memcpy(k->nonce, nonce, sizeof k->nonce);
}

static void asker_drop(struct agents *a, struct asker *k)
{
    LL_DELETE(a->askers, k);
    free(k);
}

static void asker_answer(struct agents *a, const struct asker *k, const char *why)
{
    char hex[FINGERPRINT_HEX + 1];
    json_t *body = json_pack("{s:s,s:s}", "fingerprint", fingerprint_format(&k->id, hex), "nonce", k->nonce);
    if (*why)
        json_object_set_new(body, "why", json_string(why));
    agents_send(a, k->m, FRAME_STANDING, body);
}

void standings_second(struct agents *a, struct mono now)
{
    struct asker *k, *next;
    LL_FOREACH_SAFE(a->askers, k, next)
    {
        CLEANUP_TEXT struct text why = {0};
        text_add(&why, "");
        int r = watch_excludes(a->with.watch, now, k->m, &k->id, &why);
        if (r != -EAGAIN) {
            CLEANUP_FREE char *line = mem_line(why.s, WHY_BYTES_MAX);
            asker_answer(a, k, line);
        }
        if (r != -EAGAIN || mono_sub(now, k->since).ns > span_s(ANSWER_WITHIN_S).ns)
            asker_drop(a, k);
    }
}

void standings_drop(struct agents *a)
{
    struct asker *k, *next;
    LL_FOREACH_SAFE(a->askers, k, next)
    asker_drop(a, k);
}
