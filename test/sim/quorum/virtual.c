/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual clocks, and threads that take turns. The process's clock_gettime and nanosleep are replaced, so
 * that libuv's timers and everything under test see virtual time; and uv_queue_work, so that a committer's
 * thread runs when it is its turn, which makes a seed one history.
 */
#include "quorum.h"

#include "base/err.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>
#include <uv.h>

enum { BEGAN_S = 1800000000 };

static int64_t now_ns;
static uint64_t state;

void chance_begin(uint64_t seed)
{
    state = seed * 2 + 1;
    now_ns = 1000 * (int64_t)MS;
}

/* splitmix64 */
uint64_t chance(uint64_t below)
{
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % below;
}

bool chance_of(unsigned per_mille)
{
    return chance(1000) < per_mille;
}

int64_t virtual_now(void)
{
    return now_ns;
}

void virtual_advance(int64_t to)
{
    now_ns = to > now_ns ? to : now_ns;
}

/* Replaces the C library's. */
int clock_gettime(clockid_t clock, struct timespec *out)
{
    bool is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    if (!is_wall && clock != CLOCK_MONOTONIC && clock != CLOCK_MONOTONIC_COARSE && clock != CLOCK_BOOTTIME)
        return (int)syscall(SYS_clock_gettime, clock, out);
    out->tv_sec = now_ns / 1000000000 + (is_wall ? BEGAN_S : 0);
    out->tv_nsec = now_ns % 1000000000;
    return 0;
}

/* --- tasks ------------------------------------------------------------------------------------- */

struct task {
    void *owner, *arg;
    task_fn *fn, *after;
    pthread_t thread;
    int64_t due;
    bool has_ended;
    struct task *prev, *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static struct task *turn; /* which runs; NULL: the loop's thread */
static struct task *tasks;
static void *outer_owner;
static _Thread_local struct task *self;

static void turn_wait(struct task *t)
{
    while (turn != t)
        pthread_cond_wait(&turned, &lock);
}

static void turn_give(struct task *from, struct task *to)
{
    pthread_mutex_lock(&lock);
    turn = to;
    pthread_cond_broadcast(&turned);
    turn_wait(from);
    pthread_mutex_unlock(&lock);
}

static void *task_main(void *arg)
{
    struct task *t = arg;
    self = t;
    pthread_mutex_lock(&lock);
    turn_wait(t);
    pthread_mutex_unlock(&lock);
    t->fn(t->arg);
    t->has_ended = true;
    pthread_mutex_lock(&lock);
    turn = NULL;
    pthread_cond_broadcast(&turned);
    pthread_mutex_unlock(&lock);
    return NULL;
}

void task_begin(void *owner, task_fn *fn, task_fn *after, void *arg)
{
    struct task *t = mem_alloc(sizeof *t);
    *t = (struct task){.owner = owner, .arg = arg, .fn = fn, .after = after};
    t->due = now_ns + (int64_t)chance(2 * MS);
    if (pthread_create(&t->thread, NULL, task_main, t) != 0)
        abort();
    DL_APPEND(tasks, t);
}

struct task *task_self(void)
{
    return self;
}

void *task_owner(void)
{
    return self ? self->owner : outer_owner;
}

void owner_set(void *owner)
{
    outer_owner = owner;
}

size_t tasks_of(const void *owner)
{
    const struct task *t;
    size_t n = 0;
    DL_FOREACH (tasks, t)
        n += t->owner == owner;
    return n;
}

int64_t tasks_due(void)
{
    const struct task *t;
    int64_t due = INT64_MAX;
    DL_FOREACH (tasks, t)
        due = t->due < due ? t->due : due;
    return due;
}

static struct task *task_next(void)
{
    struct task *t;
    DL_FOREACH (tasks, t)
        if (t->due <= now_ns)
            return t;
    return NULL;
}

void tasks_run(void)
{
    for (struct task *t; (t = task_next());) {
        turn_give(NULL, t);
        if (!t->has_ended)
            continue;
        pthread_join(t->thread, NULL);
        DL_DELETE(tasks, t);
        owner_set(t->owner);
        t->after(t->arg);
        owner_set(NULL);
        free(t);
    }
}

void task_wait(int64_t until)
{
    self->due = until;
    turn_give(self, NULL);
}

void task_wake(struct task *t)
{
    t->due = now_ns;
}

/* Replaces the C library's. */
int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    if (!self)
        return (int)syscall(SYS_nanosleep, wanted, left);
    task_wait(now_ns + wanted->tv_sec * 1000000000 + wanted->tv_nsec);
    return 0;
}

/* --- libuv's work ------------------------------------------------------------------------------ */

struct queued {
    uv_work_t *work;
    uv_work_cb fn;
    uv_after_work_cb after;
};

static void queued_run(void *arg)
{
    const struct queued *q = arg;
    q->fn(q->work);
}

static void queued_after(void *arg)
{
    struct queued *q = arg;
    q->after(q->work, 0);
    free(q);
}

/* Replaces libuv's. */
int uv_queue_work(uv_loop_t *loop, uv_work_t *work, uv_work_cb fn, uv_after_work_cb after)
{
    struct queued *q = mem_alloc(sizeof *q);
    (void)loop;
    *q = (struct queued){work, fn, after};
    task_begin(work_owner(work), queued_run, queued_after, q);
    return 0;
}
