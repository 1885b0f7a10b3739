/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CHECK_LOOK_H
#define FETTLE_CHECK_LOOK_H

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "health/check.h"
#include "health/finding.h"
#include "health/steady.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/timex.h>

/*
 * The probes behind the checks, in two halves. The first gathers: it reads below a root that tests can set
 * ("" for the real one) and writes facts, a line each; it may run in a child that is killed when it hangs.
 * The second judges the facts, in the process that remembers: it reads nothing and waits for nothing.
 *
 *   gather_SYMBOL(look, out)          "KEY VALUE\n" lines, as the probe's file says
 *   judge_SYMBOL(look, facts, v)      *v is ok and empty when it is called
 *
 * A gatherer that finds no such device, library or file writes "unsupported WHY"; one that could not read
 * what is there writes "unknown WHY". With nothing but these, judging is not asked. A part that is unknown
 * beside others that are not makes the whole unknown, unless something is bad all the same.
 */

/* The memory of one check between two looks: counters by name. A counter that a judged look did not use is
 * forgotten at its end: a device that went away begins anew when it comes back. Pointers live until then. */
struct memory;
struct memory *memory_create(void);
void memory_destroy(struct memory *m);
/* The counter with this name; it is made when there is none. At most 4,096; beyond, each call makes a new
 * one. */
struct counter *memory_counter(struct memory *m, const char *name);
/* A number of the probe's own, 0 at first. */
int64_t *memory_number(struct memory *m, const char *name);
/* The same number, which is remembered over a restart of the agent on the same boot. */
void memory_keep(struct memory *m, const char *name, int64_t number);
/* Whether what is kept has changed since this was asked last. */
bool memory_news(struct memory *m);
/* The kept values, as members of an object; and back. */
void memory_save(const struct memory *m, json_t *into);
void memory_restore(struct memory *m, const json_t *kept);
/* The growth within the window until now, to an eighth of the window. Adds `growth` first. */
uint64_t memory_window(struct memory *m, const char *name, struct mono now, struct span window,
                       uint64_t growth);
/* Drops everything that counts for one boot only. Call it when the boot id changed. */
void memory_forget(struct memory *m);

/* System calls that a tree of files cannot stand for; NULL: the system's. */
struct look_calls {
    void *arg;
    /* adjtimex(2) that changes nothing; the state of the clock, or -errno. */
    int (*clock)(void *arg, struct timex *out);
    /* ioctl(2) on a device below root: its result, or -errno. */
    int (*control)(void *arg, int fd, unsigned long request, void *what);
};

/* Shared by looks that are gathered one after another, in one turn or in one child: NVML is loaded and
 * started once for all of them, and one walk goes through the processes. Zero-initialise; look_shared_fini
 * releases it. */
struct look_shared {
    struct nvml *nvml;
    struct processes *processes;
};
void look_shared_fini(struct look_shared *s);

/* With whom a node runs a check of a group. */
struct company {
    const char *nodes; /* all that run it, in order, with commas between; NULL: it runs it by itself */
    unsigned rank;     /* the node's own place in them, from 0 */
};

/* The controller's clock at a moment of this machine's own time. */
struct look_clock {
    struct wall controller;
    struct mono at;
};

struct look {
    const struct check *check;
    struct company company;
    const char *root;
    struct mono now;
    struct memory *memory;          /* NULL while gathering */
    const struct look_calls *calls; /* NULL: this machine's */
    struct look_shared *shared;     /* NULL: it is gathered alone */
    const struct look_clock *clock; /* for judging; NULL: not known */
    const char *part;               /* of look_parts, to which gathering is limited; NULL: all */
};

typedef void gather_fn(const struct look *l, struct text *out);
typedef void judge_fn(struct look *l, const char *facts, struct verdict *v);
struct probe_code {
    gather_fn *gather; /* NULL: FOLLOW, whose facts kernel_log_facts writes */
    judge_fn *judge;
};
const struct probe_code *probe_code(enum probe p);

/* Judges what was gathered: unsupported, unknown, or what the probe says, and no worse than the record's
 * Severity. */
void look_judge(struct look *l, const char *facts, struct verdict *v);
/* Whether the probe walks through all processes, as others do that are due at the same time. */
bool look_walks(enum probe p);
/* Whether it has to be gathered in a child: APART, IDLE, BENCH; a walk through more processes than a loop
 * may wait for; a service that does not run where it did; and a clock that no program keeps. The answer
 * may change each time. */
bool look_apart(const struct look *l);
/* The devices that are looked at one after another, each apart from the others, so that one that hangs
 * delays no other: their paths, a line each. All facts are judged together. NULL: the look is not divided. */
void look_parts(const struct look *l, struct text *out);
/* Gathers in this process, and judges; also what is otherwise followed. May hang where look_apart says so. */
void look_now(struct look *l, struct verdict *v);

/* --- for probes ---------------------------------------------------------------------------- */

/* A line; control characters become blanks. */
void fact_add(struct text *out, const char *key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The next line's key and value; false at the end. *at is moved on. Borrowed until the next call. */
struct fact_line {
    char key[128], value[768]; /* cut */
};
bool fact_next(const char **at, struct fact_line *out);

#endif
