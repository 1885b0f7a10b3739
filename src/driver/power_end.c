/* SPDX-License-Identifier: Apache-2.0 */
/* The ends and waits of an action on a node's power: what power.c and the drivers of BMCs share. */
#include "driver/power.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static void bmc_look_fini(struct bmc_look *l)
{
    free(l->locked);
    free(l->watchdog);
    free(l->log);
    free(l->firmware);
    free(l->bios);
}

static void on_closed(uv_handle_t *h)
{
    struct power *p = h->data;
    if (p->forget)
        p->forget(p);
    bmc_look_fini(&p->look);
    bmc_fini(&p->bmc);
    text_fini(&p->password);
    free(p->node);
    free(p);
}

void power_cancel(struct power *p)
{
    if (!p || p->is_ending)
        return;
    p->is_ending = true;
    program_kill(p->program);
    fetch_destroy(p->fetch);
    uv_close((uv_handle_t *)&p->timer, on_closed);
}

void power_end(struct power *p, const char *answer, const struct err *why)
{
    operate_done_fn *done = p->done;
    void *arg = p->arg;
    CLEANUP_FREE char *words = mem_dup(answer);
    struct err copy = why ? *why : (struct err){0};
    power_cancel(p);
    done(arg, why ? NULL : words, why ? &copy : NULL);
}

static void on_timer(uv_timer_t *t)
{
    struct power *p = t->data;
    power_step_fn *step = p->next;
    step(p);
}

void power_later(struct power *p, int ms, power_step_fn *step)
{
    assert(ms >= 0);
    p->next = step;
    uv_timer_start(&p->timer, on_timer, (uint64_t)ms, 0);
}

void power_wait(struct power *p, power_step_fn *look)
{
    struct err e = {0};
    if (++p->tries < POWER_SETTLE_TRIES) {
        power_later(p, POWER_SETTLE_MS, look);
        return;
    }
    err_set(&e, -ETIMEDOUT, "the power is still %s", p->is_on ? "on" : "off");
    power_end(p, NULL, &e);
}

void power_settle(struct power *p, power_step_fn *look)
{
    bool wanted = p->verb != VERB_OFF;
    if (p->is_on == wanted)
        power_end(p, wanted ? "on" : "off", NULL);
    else
        power_wait(p, look);
}
