/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_OCHAMI_FIXTURE_TEST_H
#define FETTLE_DRIVER_OCHAMI_FIXTURE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/text.h"
#include "driver/job.h"

/*
 * The world of the tests of the OpenCHAMI driver: the stand-in server (server.py, a child process), an outbox
 * whose records change as the controller's do (a result is a commit, and comes back as a record), and a
 * driver that can be killed and made anew from the records.
 */

struct record {
    char *key, *value; /* value NULL: deleted */
    struct record *next;
};

struct world {
    uv_loop_t loop;
    struct mono since;
    pid_t server;
    int server_in;
    unsigned port;
    struct fetch *fetch; /* the test's own */
    struct ochami *o;
    char *smd, *bss, *pcs;
    struct record *records;
    struct record *commits;       /* results that are not in the records yet, oldest first */
    uv_timer_t commit, metronome; /* a turn of the loop never waits for long */
    bool is_held;                 /* nothing is committed */
    const char *refusal;          /* may_reboot's; NULL: it may */
    bool is_for_now;              /* the refusal */
    unsigned n_away, n_back, n_results, n_may;
    char last_trouble[ERR_MSG_BYTES_MAX + 40];
};

/* OCHAMI_SERVER names the stand-in, or OCHAMI_URLS three base URLs with commas between. */
int world_setup(void **state);
int world_teardown(void **state);

void world_start(struct world *w); /* a driver from the records */
void world_kill(struct world *w);  /* reported results that are not committed are lost */

/* Writes a record as another commit would: its `done` stays. want or image may be NULL. */
void world_want(struct world *w, const char *node, const char *xname, const char *want);
void world_reboot(struct world *w, const char *node, const char *xname, const char *id, const char *image);
void world_put(struct world *w, const char *key, const char *value);
const char *world_record(const struct world *w, const char *key); /* NULL when it is deleted */
/* The text of a record's `done`; the caller frees it. */
char *world_done(const struct world *w, const char *key);

void world_release(struct world *w); /* commits the results that is_held kept back */

/* Runs the loop until nothing waits, or is_true returns true; fails after 20 s. */
void world_settle(struct world *w);
typedef bool world_true_fn(struct world *w);
void world_until(struct world *w, world_true_fn *is_true);
void world_turn(struct world *w); /* one turn of the loop; fails when the test takes too long */

/* Asks the stand-in directly; the caller releases the answer (NULL when it is not JSON). */
json_t *world_ask(struct world *w, const char *method, const char *path, const char *body);
void world_tell(struct world *w, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* How many requests began with this prefix since the last count. */
struct counted {
    size_t n, changes, posts;
};
struct counted world_count(struct world *w, const char *beginning);

#define WANT(severity)                                                                            \
    "{\"flag\":\"Warning\",\"status\":\"drift:" severity ":0123456789ab\",\"group\":\"drifted\"," \
    "\"message\":\"lx01 is not what its baseline says\"}"

#endif
