/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/checker.h"

#include "agent/checker/checker_inside.h"
#include "check/kernel_log.h"

#include <stdlib.h>

/*
 * One timer serves all checks. It is set to the check that is due first. When it fires, the checker looks
 * at everything that is due, the longest overdue first, until it has used TURN_MS of the loop; the rest
 * waits for the next turn.
 *
 * The kernel announces changes of mounts, of its log, and the end of a process. While nothing is announced
 * and the last result was good, such a check costs nothing. It still looks every TOLD_MS, and as often as
 * its record says while its result is not good.
 *
 * A check waits (`waits`) when the child of its target is at work, or when too many children are; it is
 * tried again when a child is done. It is never in two children at once, because a target has one child.
 * Checks of one target that are due together share a child (checker_apart.c).
 */

enum { TURN_MS = 4, TOLD_MS = 30000 };

const struct gpu_capacity *checker_gpus(const struct checker *c)
{
    return &c->gpus;
}

static void checker_gather(struct item *k)
{
    struct checker *c = k->c;
    struct mono now = mono_now();
    struct look l = item_look(k, now);
    const struct probe_code *code = probe_code(k->check->probe);
    l.memory = NULL;
    l.shared = &c->shared;
    k->gathered = now;
    text_clear(&c->facts);
    if (code->gather)
        code->gather(&l, &c->facts);
    else if (c->settings.by_hand)
        kernel_log_gather(&l, &c->facts);
    else
        kernel_facts(c->kernel, now, &c->facts), c->log_next = kernel_next(c->kernel);
    item_judge(k, c->facts.s ? c->facts.s : "", false);
}

static bool is_told(const struct item *k)
{
    const struct check *r = k->check;
    const struct checker *c = k->c;
    if (r->probe == PROBE_FS_MOUNTED)
        return c->mounts && !check_arg(r, "Options");
    if (r->probe == PROBE_KERNEL_LOG)
        return c->kernel && kernel_is_followed(c->kernel);
    bool only_process = !check_arg(r, "Socket") && !check_arg(r, "Port") && !check_arg(r, "Unit");
    return r->probe == PROBE_SERVICE && only_process && k->process && process_hint_stands(k->process);
}

static bool is_as_it_was(const struct item *k, struct mono now)
{
    return k->well && !k->hinted && !k->asked && is_told(k) &&
           mono_sub(now, k->gathered).ns < span_ms(TOLD_MS).ns;
}

static void checker_begin(struct item *k, struct mono now)
{
    static const struct verdict well = {.result = RESULT_OK};
    struct look l = item_look(k, now);
    if (k->check->when & CHECK_IDLE && !k->asked && !checker_is_quiet(k->c)) {
        item_rest(k, now);
    } else if (is_as_it_was(k, now)) {
        k->began = now;
        item_take(k, &well, false);
    } else if (look_apart(&l)) {
        if (item_has_parts(k))
            item_begin_parts(k);
        else
            item_begin_apart(k);
    } else {
        k->began = now;
        checker_gather(k);
    }
}

static void on_turn(uv_timer_t *timer)
{
    struct checker *c = timer->data;
    struct mono began = mono_now(), now = began;
    struct item *k;
    c->in_turn = true;
    while ((k = checker_most_overdue(c)) && k->due.ns <= began.ns &&
           span_to_ms(mono_sub(now, began)) < TURN_MS) {
        checker_begin(k, now);
        now = mono_now();
    }
    if (!k || k->due.ns > began.ns) /* else the next turn goes on with this one's */
        look_shared_fini(&c->shared);
    c->in_turn = false;
    checker_arm(c);
}

struct checker *checker_create(uv_loop_t *loop, const struct checker_settings *settings)
{
    struct checker *c = mem_alloc(sizeof *c);
    c->loop = loop;
    c->settings = *settings;
    c->on_turn = on_turn;
    c->work = true; /* until a look has been made */
    c->workers = workers_create(loop, checker_answer, c);
    uv_timer_init(loop, &c->turn);
    uv_timer_init(loop, &c->tell);
    c->turn.data = c->tell.data = c;
    c->handles = 2;
    return c;
}

static void on_closed(uv_handle_t *handle)
{
    struct checker *c = handle->data;
    if (--c->handles == 0)
        free(c);
}

void checker_destroy(struct checker *c)
{
    if (!c || c->destroyed)
        return;
    c->destroyed = true;
    if (c->boot_news)
        checker_keep_boot(c);
    while (c->waiters)
        checker_cancel(c, c->waiters->arg);
    while (c->questions)
        checker_cancel(c, c->questions->arg);
    workers_destroy(c->workers);
    for (size_t i = 0; i < c->list.checks.n; i++)
        item_destroy(c->items[i]);
    free(c->items);
    kernel_destroy(c->kernel);
    mount_hint_destroy(c->mounts);
    meanings_destroy(c->own_meanings);
    checklist_fini(&c->list);
    checker_forget_jobs(c);
    text_fini(&c->facts);
    look_shared_fini(&c->shared);
    uv_close((uv_handle_t *)&c->turn, on_closed);
    uv_close((uv_handle_t *)&c->tell, on_closed);
}
