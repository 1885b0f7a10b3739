/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_SLURM_FIXTURE_TEST_H
#define FETTLE_DRIVER_SLURM_FIXTURE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "driver/slurm_inside.h"

/*
 * The driver of Slurm, a stand-in for scontrol, and a sink that writes down what it is told. A result comes
 * back as a record at once, as a commit would bring it.
 *
 * The stand-in is a shell script that keeps nodes and reservations in files. Its sentences, and the form of
 * each line, are those that scontrol of Slurm 22.05.8 was recorded to print for the same call; slurmctld
 * itself is in the tests of test/slurm.
 */

enum { WANTS_MAX = 8 };

struct world {
    uv_loop_t loop;
    struct slurm *slurm;
    char dir[48], scontrol[64];
    struct {
        const char *node;
        struct slurm_want want;
    } wants[WANTS_MAX];
    size_t n_wants;
    bool is_held;      /* results do not come back as records */
    unsigned readings; /* of all nodes, complete */
    struct text saw;   /* the nodes of the last reading: "c1 IDLE; c2 ?; " */
    struct text alone; /* nodes that came alone since the start, in the same form */
    struct text said;  /* what else the sink was told, a line each */
    char *record;      /* the last result, with the time in it cut out */
};

/* Nodes c1, c2 and c3 are idle; the driver has not been started. */
int world_setup(void **state);
int world_teardown(void **state);
void world_start(struct world *w);
void world_start_every(struct world *w, struct span every, struct span deadline);

/* Replaces a file of the stand-in: "nodes", "reservations", "config"; "list": what it prints for all nodes
 * instead of "nodes"; "away": what it prints before it fails; "refusal": the same for an update; "deaf": an
 * update changes nothing; "asleep": it does not end; "log": slurmctld's log, where it
 * writes an update of c1, and before that once what "race" has. */
void world_write(const struct world *w, const char *file, const char *text);
void world_remove(const struct world *w, const char *file);
/* A line of `scontrol -o show node`. more: " Reason=..." or "". */
void world_add_node(struct text *t, const char *name, const char *state, const char *more);
/* c1, c2 and c3, of which c1 has this state and this more. */
void world_set_c1(const struct world *w, const char *state, const char *more);
/* The calls so far, a line each; the caller frees it. */
char *world_calls(const struct world *w);
/* How many calls begin so. */
unsigned world_count(const struct world *w, const char *beginning);

/* Fettle wants this of the node from now on; WISH_NOTHING takes it back. */
void world_want(struct world *w, const char *node, enum slurm_wish wish, const char *claim);
/* The same without telling the driver. */
struct slurm_want *world_want_quietly(struct world *w, const char *node, enum slurm_wish wish,
                                      const char *claim);

typedef bool world_true_fn(const struct world *w, const void *arg);
/* Runs the loop until it is true; fails after 20 s. */
void world_until(struct world *w, world_true_fn *is_true, const void *arg);
void world_until_readings(struct world *w, unsigned more);
void world_until_said(struct world *w, const char *line);
void world_until_called(struct world *w, const char *beginning);
void world_until_alone(struct world *w, const char *node);

#define OWNER "0123456789ab"
#define BOOT "2026-11-24T22:42:11"
#define AWAY "slurm_load_node error: Unable to contact slurm controller (connect failure)\n"

#endif
