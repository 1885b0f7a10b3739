/* SPDX-License-Identifier: Apache-2.0 */
#include "test/swarm/swarm.h"

#include "health/check.h"
#include "link/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Checks and operations: a player reports that all checks of its list are ok, except one while it is ill. Any
 * operation that it gets cures it at once.
 */

enum { PART_BYTES_MAX = 40 << 10 };

void swarm_take_checklist(struct swarm *s, const json_t *order)
{
    const char *text = order_text(order);
    CLEANUP_JSON json_t *body = text ? json_read(text, strlen(text), NULL) : NULL;
    const char *hash = json_text(body, "hash");
    const json_t *line;
    size_t i;
    CLEANUP_TEXT struct text all = {0};
    struct err e;
    if (strcmp(hash, s->checklist) == 0)
        return;
    json_array_foreach (json_object_get(body, "lines"), i, line)
        text_printf(&all, "%s\n", json_string_value(line));
    checks_fini(&s->checks);
    if (checks_parse("checklist", all.s ? all.s : "", all.len, &s->checks, &e) < 0) {
        fprintf(stderr, "swarm: %s\n", e.msg);
        exit(1);
    }
    snprintf(s->checklist, sizeof s->checklist, "%s", hash);
}

static void add_check(const struct player *p, const char *name, struct text *t)
{
    text_add(t, "{\"check\":");
    text_add_json(t, name);
    text_printf(t, ",\"age_ms\":1,\"result\":");
    text_add(
        t, p->ill && strcmp(p->ill, name) == 0
               ? "\"fatal\",\"findings\":[{\"result\":\"fatal\",\"device\":\"part 1\",\"text\":\"played\"}]}"
               : "\"ok\"}");
}

static void begin(const struct player *p, bool full, struct text *t)
{
    text_clear(t);
    text_printf(t, "{\"boot\":\"%s\",\"list\":\"%s\",\"full\":%s,\"checks\":[", p->boot, p->swarm->checklist,
                full ? "true" : "false");
}

static void end(struct player *p, struct text *t)
{
    text_add(t, "]}");
    peer_send(p->peer, FRAME_CHECKS, 0, t->s, t->len);
    p->swarm->totals.checks++;
}

void player_say_checks(struct player *p)
{
    const struct checks *c = &p->swarm->checks;
    CLEANUP_TEXT struct text t = {0};
    if (!p->peer || !p->swarm->has_checks || !*p->swarm->checklist)
        return;
    begin(p, true, &t);
    for (size_t i = 0; i < c->n; i++) {
        if (t.len > PART_BYTES_MAX) {
            end(p, &t);
            begin(p, false, &t);
        }
        text_add(&t, t.s[t.len - 1] == '[' ? "" : ",");
        add_check(p, c->list[i].name, &t);
    }
    end(p, &t);
}

static void say_one(struct player *p, const char *check)
{
    CLEANUP_TEXT struct text t = {0};
    if (!p->peer || !p->welcome || !checks_find(&p->swarm->checks, check))
        return;
    begin(p, false, &t);
    add_check(p, check, &t);
    end(p, &t);
}

void player_fall_ill(struct player *p, const char *check)
{
    free(p->ill);
    p->ill = mem_dup(check);
    p->swarm->totals.ills++;
    say_one(p, check);
}

static void recover(struct player *p)
{
    CLEANUP_FREE char *check = STEAL(p->ill);
    if (check)
        say_one(p, check);
}

static void say_done(struct player *p, const char *id, const char *state, const char *verdict)
{
    json_t *body =
        json_pack("{s:s,s:s,s:s,s:s}", "id", id, "boot", p->boot, "state", state, "text", "played");
    if (verdict)
        json_object_set_new(body, "verdict", json_pack("{s:s}", "result", verdict));
    swarm_send(p->peer, FRAME_DONE, body);
}

void player_operate(struct player *p, const json_t *body)
{
    const char *id = json_text(body, "id"), *run = json_text(body, "run");
    if (!p->swarm->has_checks)
        return;
    if (!*id) { /* tell */
        player_say_checks(p);
        if (*p->done)
            say_done(p, p->done, "done", NULL);
    } else if (strncmp(run, "check:", 6) == 0) {
        say_done(p, id, "done", p->ill && strcmp(p->ill, run + 6) == 0 ? "fatal" : "ok");
    } else {
        if (strcmp(id, p->done) != 0) {
            p->swarm->totals.operations++;
            say_done(p, id, "begun", NULL);
            recover(p);
        }
        snprintf(p->done, sizeof p->done, "%s", id);
        say_done(p, id, "done", NULL);
    }
}
