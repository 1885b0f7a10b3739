/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/life_test.h"

#include "base/text.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

int life_setup(void **state)
{
    struct fake *f = mem_alloc(sizeof *f);
    signal(SIGPIPE, SIG_IGN);
    fake_init(f);
    f->welcome = WELCOME(60000, false);
    *state = f;
    return 0;
}

void life_on_done(void *arg, const struct err *why)
{
    struct node *n = arg;
    n->done = true;
    n->agent = NULL;
    if (why)
        n->why = *why;
}

bool life_is_done(void *arg)
{
    return ((struct node *)arg)->done;
}

void life_start_with(struct fake *f, struct node *n, const char *name, bool once)
{
    struct address_list none = {0};
    struct err e = {0};
    *n = (struct node){.home = n->home ? n->home : fake_home(f, name, span_s(3600)),
                       .root = n->root ? n->root : fake_root(f, name)};
    struct agent_settings s = {.home = n->home,
                               .root = n->root,
                               .controllers = &none,
                               .interval = span_s(60),
                               .once = once,
                               .collect_port = 0};
    if (agent_start(&f->loop, &s, life_on_done, n, &n->agent, &e))
        fail_msg("%s", e.msg);
}

void life_start(struct fake *f, struct node *n, const char *name)
{
    *n = (struct node){0};
    life_start_with(f, n, name, false);
}

void life_stop(struct fake *f, struct node *n)
{
    if (n->agent)
        agent_stop(n->agent);
    assert_true(fake_wait(f, life_is_done, n));
    free(n->home);
    free(n->root);
}

json_t *life_frame(struct fake *f, uint8_t type, int from, int nth, int *index)
{
    int i = fake_wait_frame(f, type, from, nth);
    assert_true(i >= 0);
    if (index)
        *index = i;
    return f->frames[i].body;
}

const char *life_string(json_t *body, const char *key)
{
    const char *s = NULL;
    assert_int_equal(json_take_string(body, key, &s, NULL), 0);
    return s;
}

uint64_t life_number(json_t *body, const char *key)
{
    uint64_t n = 0;
    assert_int_equal(json_take_u64(body, key, INT64_MAX, &n, NULL), 0);
    return n;
}

char *life_survey_order(struct fake *f, int revision, const char *members)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{\"type\":%d,\"revision\":%d,%s}", (int)FRAME_SETTINGS, revision, members);
    return fake_order(f, t.s);
}

/* A WELCOME that says how fingerprints are read, of revision 1. The caller frees it. */
char *life_welcome(struct fake *f, int interval_ms, const char *members)
{
    struct text t = {0};
    CLEANUP_FREE char *survey = life_survey_order(f, 1, members);
    text_printf(&t, "{\"interval_ms\":%d,\"spread_ms\":10,\"term\":3,\"controller\":\"c1\",\"survey\":%s}",
                interval_ms, survey);
    return text_take(&t);
}

const struct component *life_component(const struct components *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->list[i].name, name) == 0)
            return &c->list[i];
    return NULL;
}
