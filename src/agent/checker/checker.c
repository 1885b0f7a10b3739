/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/checker.h"

#include "agent/checker/checker_inside.h"
#include "agent/checker/checker_said.h"
#include "base/digest.h"
#include "check/kernel_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/*
 * One timer for all checks. It is set to the first that is due, and then looks at everything that is due by
 * then, the longest overdue first, until TURN_MS of the loop are used; the rest is for the next turn. Moments
 * lie on a grid of whole seconds of the node's own, so that a node with a hundred checks wakes up once a
 * second and no more.
 *
 * What the kernel tells of by itself, the mounts, its log and the end of a process, is as it was when it was
 * fine and nothing was told since: such a look costs nothing. It is looked at all the same every TOLD_MS, and
 * as often as the record says while it is not fine.
 *
 * A check that finds its target's child at work, or too many children, waits (`waits`) and is tried again
 * when some child is done. It is never in two children at once, because a target has one. Those of a target
 * that are due together are one child's work (checker_apart.c).
 */

enum {
    TURN_MS = 4,
    GATHER_MS = 10, /* news within this are one frame */
    GRID_MS = 1000,
    COUNTS_MS = 5000,
    TOLD_MS = 30000
};

/* --- when ----------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *s)
{
    return digest_fnv(DIGEST_FNV_START, s, strlen(s));
}

/* The node's place within a second, and of the check a second within its interval. What the loop does by
 * itself is done in one go, which costs half of what it does one by one; what needs children is spread, but
 * for those of one target, which are looked at together. */
struct mono checker_due(const char *node, const struct check *k, struct mono after)
{
    const int64_t grid_ns = GRID_MS * 1000000LL;
    char family[CHECKER_TARGET_BYTES];
    uint64_t hash = hash_of(node);
    int64_t place = (int64_t)(hash % GRID_MS) * 1000000;
    int64_t seconds = k->every.ns / grid_ns;
    if (seconds < 1)
        seconds = 1;
    const char *target = check_target(k, family);
    enum probe_how how = probe_row(k->probe)->how;
    if (how != PROBE_READ && how != PROBE_FOLLOW)
        hash = digest_fnv(hash, target, strlen(target));
    int64_t every = seconds * grid_ns;
    place += (int64_t)((hash >> 16) % (uint64_t)seconds) * grid_ns;
    int64_t past = (after.ns - place) % every;
    if (past < 0)
        past += every;
    return (struct mono){after.ns + every - past};
}

void item_rest(struct item *k, struct mono now)
{
    bool by_itself = k->check->when & CHECK_PERIODIC && !k->c->settings.by_hand;
    k->due = by_itself ? checker_due(k->c->settings.node, k->check, now) : (struct mono){CHECKER_NEVER};
    k->deadline = k->check->deadline;
    k->asked = false;
    free(STEAL(k->nodes));
    parts_destroy(STEAL(k->parts));
}

void item_make_due(struct item *k, struct mono at)
{
    if (at.ns < k->due.ns)
        k->due = at;
}

/* --- what is said --------------------------------------------------------------------------- */

static void emit(void *arg, const char *body, size_t len)
{
    struct checker *c = arg;
    c->settings.say(c->settings.arg, body, len);
}

/* What will not run by itself and did not yet is not among what the node runs. */
static bool is_said(const struct item *k)
{
    return k->any_look || k->check->when & (CHECK_BOOT | CHECK_PERIODIC);
}

/* How often all that is found was seen. */
static uint64_t counts_of(const struct verdict *v)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < v->n; i++)
        sum += v->findings[i].count;
    return sum;
}

/* That something is seen again and again is told, but not each time. */
static bool counts_are_news(const struct item *k, struct mono now)
{
    return counts_of(&k->steady.said) != k->counts && mono_sub(now, k->told).ns >= span_ms(COUNTS_MS).ns;
}

static bool is_stuck(const struct item *k)
{
    return strncmp(k->blind, CHECKER_STUCK, strlen(CHECKER_STUCK)) == 0;
}

static void say(struct checker *c, bool full)
{
    struct mono now = mono_now();
    struct said_frame f = {.boot = c->settings.boot,
                           .list = c->list.hash,
                           .full = full,
                           .log_next = c->log_next,
                           .emit = emit,
                           .arg = c};
    for (size_t i = 0; i < c->list.checks.n; i++) {
        struct item *k = c->items[i];
        if (full ? is_said(k) : k->news) {
            struct said s = {k->check, &k->steady, k->blind, is_stuck(k), k->any_look, k->looked};
            said_add(&f, &s, now);
            k->told = now;
            k->counts = counts_of(&k->steady.said);
        }
        k->news = false;
    }
    said_end(&f);
}

static void on_tell(uv_timer_t *timer)
{
    struct checker *c = timer->data;
    say(c, false);
    if (c->boot_news)
        checker_keep_boot(c);
}

void checker_tell(struct checker *c)
{
    uv_timer_stop(&c->tell);
    if (c->any_list)
        say(c, true);
    if (c->boot_news)
        checker_keep_boot(c);
}

static void tell_soon(struct checker *c)
{
    if (!uv_is_active((uv_handle_t *)&c->tell))
        uv_timer_start(&c->tell, on_tell, GATHER_MS, 0);
}

static void is_news(struct item *k)
{
    k->news = true;
    tell_soon(k->c);
}

static void keep_soon(struct item *k)
{
    bool remembers = memory_news(k->memory);
    if (!k->c->settings.home || !(remembers || (check_once_a_boot(k->check) && k->steady.any)))
        return;
    k->c->boot_news = true;
    tell_soon(k->c);
}

/* --- looks ---------------------------------------------------------------------------------- */

static void take(struct item *k, const struct verdict *v)
{
    struct mono now = mono_now();
    const char *blind = v->result <= RESULT_UNKNOWN ? v->text : "";
    bool first = !k->any_look, was_blind = k->blind[0] != 0, was_stuck = is_stuck(k);
    k->any_look = true;
    k->hinted = false;
    k->well = v->result == RESULT_OK;
    k->looked = now;
    snprintf(k->blind, sizeof k->blind, "%s", blind);
    bool news = steady_look(&k->steady, k->check, now, v);
    bool renews = k->renewed.ns && k->began.ns >= k->renewed.ns;
    if (news || first || renews || counts_are_news(k, now) || was_blind != (k->blind[0] != 0) ||
        was_stuck != is_stuck(k))
        is_news(k);
    keep_soon(k);
    item_rest(k, now);
    if (renews)
        k->renewed = (struct mono){0};
    else if (k->renewed.ns)
        item_make_due(k, now); /* this look began before */
    checker_answer_waiters(k, v, mono_sub(now, k->began));
    checker_answer_questions(k->c);
}

struct look item_look(struct item *k, struct mono now)
{
    return (struct look){.check = k->check,
                         .company = {k->nodes, k->rank},
                         .root = k->c->settings.root,
                         .now = now,
                         .clock = k->c->clock.at.ns ? &k->c->clock : NULL,
                         .memory = k->memory};
}

static void on_process_end(void *arg)
{
    struct item *k = arg;
    k->hinted = true;
    item_make_due(k, mono_now());
    checker_arm(k->c);
}

/* The end of the process that was found is told at once. */
static void watch_process(struct item *k, const char *facts)
{
    struct fact_line line;
    uint64_t pid;
    if (k->check->probe != PROBE_SERVICE || *k->c->settings.root || k->c->settings.by_hand)
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        if (strcmp(line.key, "process") != 0 || text_parse_u64(line.value, 1, INT32_MAX, &pid, NULL))
            continue;
        if (!k->process)
            k->process = process_hint_create(k->c->loop, on_process_end, k);
        if (!process_hint_watch(k->process, (pid_t)pid)) {
            k->hinted = true;
            item_make_due(k, mono_add(mono_now(), span_ms(CHECKER_HINT_MS)));
        }
        return;
    }
}

void item_judge(struct item *k, const char *facts)
{
    struct verdict v;
    struct look l = item_look(k, mono_now());
    look_judge(&l, facts, &v);
    if (k->check->probe == PROBE_NVIDIA_TEMPERATURE)
        gpu_capacity_read(facts, &k->c->gpus);
    take(k, &v);
    watch_process(k, facts);
}

const struct gpu_capacity *checker_gpus(const struct checker *c)
{
    return &c->gpus;
}

void item_cannot(struct item *k, const char *what, const char *why)
{
    struct verdict v;
    verdict_cannot(&v, RESULT_UNKNOWN, "%s%s", what, why);
    if (k->check->probe == PROBE_NVIDIA_TEMPERATURE)
        k->c->gpus = (struct gpu_capacity){0};
    take(k, &v);
}

static void gather(struct item *k)
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
    item_judge(k, c->facts.s ? c->facts.s : "");
}

/* There may be room for a child now. */
void checker_try_waiting(struct checker *c)
{
    for (size_t i = 0; i < c->list.checks.n; i++)
        c->items[i]->waits = false;
    checker_arm(c);
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

static void begin(struct item *k, struct mono now)
{
    static const struct verdict well = {.result = RESULT_OK};
    struct look l = item_look(k, now);
    if (k->check->when & CHECK_IDLE && !k->asked && !checker_is_quiet(k->c)) {
        item_rest(k, now);
    } else if (is_as_it_was(k, now)) {
        k->began = now;
        take(k, &well);
    } else if (look_apart(&l)) {
        if (item_has_parts(k))
            item_begin_parts(k);
        else
            item_begin_apart(k);
    } else {
        k->began = now;
        gather(k);
    }
}

/* --- turns ---------------------------------------------------------------------------------- */

static struct item *most_overdue(const struct checker *c)
{
    struct item *first = NULL;
    for (size_t i = 0; i < c->list.checks.n; i++) {
        struct item *k = c->items[i];
        if (!k->waits && !k->under_way && (!first || k->due.ns < first->due.ns))
            first = k;
    }
    return first;
}

static void on_turn(uv_timer_t *timer)
{
    struct checker *c = timer->data;
    struct mono began = mono_now(), now = began;
    struct item *k;
    c->in_turn = true;
    while ((k = most_overdue(c)) && k->due.ns <= began.ns && span_to_ms(mono_sub(now, began)) < TURN_MS) {
        begin(k, now);
        now = mono_now();
    }
    if (!k || k->due.ns > began.ns) /* else the next turn goes on with this one's */
        look_shared_fini(&c->shared);
    c->in_turn = false;
    checker_arm(c);
}

void checker_arm(struct checker *c)
{
    struct item *k = most_overdue(c);
    if (c->in_turn || c->destroyed)
        return;
    if (!k || k->due.ns == CHECKER_NEVER) {
        uv_timer_stop(&c->turn);
        return;
    }
    int64_t wait_ns = mono_sub(k->due, mono_now()).ns;
    uv_update_time(c->loop); /* from which the timer counts */
    uv_timer_start(&c->turn, on_turn, wait_ns > 0 ? (uint64_t)((wait_ns + 999999) / 1000000) : 0, 0);
}

/* Of a check that is under way, or was just looked at, another look follows. */
void checker_look_within(struct checker *c, enum probe probe, int64_t ms)
{
    struct mono at = mono_add(mono_now(), span_ms(ms));
    for (size_t i = 0; i < c->list.checks.n; i++)
        if (c->items[i]->check->probe == probe) {
            c->items[i]->hinted = true;
            item_make_due(c->items[i], at);
        }
    checker_arm(c);
}

/* --- its checks ---------------------------------------------------------------------------------- */

struct item *item_create(struct checker *c, const struct check *record)
{
    struct item *k = mem_alloc(sizeof *k);
    k->c = c;
    k->check = record;
    k->memory = memory_create();
    item_rest(k, mono_now());
    if (k->check->when & CHECK_BOOT && !c->settings.by_hand)
        k->due = mono_now();
    return k;
}

void item_destroy(struct item *k)
{
    process_hint_destroy(k->process);
    memory_destroy(k->memory);
    free(k->nodes);
    parts_destroy(k->parts);
    free(k);
}

/* --- its life ------------------------------------------------------------------------------- */

struct checker *checker_create(uv_loop_t *loop, const struct checker_settings *settings)
{
    struct checker *c = mem_alloc(sizeof *c);
    c->loop = loop;
    c->settings = *settings;
    c->work = true; /* until somebody has looked */
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
