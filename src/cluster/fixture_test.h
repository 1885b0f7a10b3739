/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_FIXTURE_TEST_H
#define FETTLE_CLUSTER_FIXTURE_TEST_H

#include "cluster/cluster.h"

/*
 * A cluster with the store's part played by a list of its records.
 */

struct world {
    struct cluster *c;
    int64_t at;       /* when commands are given, in ns */
    size_t parts_max; /* the controller ends after so many parts of a command; 0: it does not */
    size_t from;      /* of a command the parts before this node are done */
    size_t n_lists;
    struct {
        char *name;
        struct listing *listing;
    } * lists; /* what world_list made */
    size_t n;
    struct {
        char *key, *value;
    } * records;
};

/* lx01 to lx06 with 2 CPUs, all heard once. */
struct world *world_create(void);
/* The same with classes, and lists of components A, B, C (each differs from the one before it in one
 * thing) and U (something is unknown in it). */
struct world *world_conform(void);
/* lx[01-04] are of class gpu, which asks for reboots; lx05 is sensitive; the rest is of the default class. */
#define CONFORM_ROSTER                                                                                \
    "lx[01-04] CPUs=2; lx05 CPUs=2 Sensitive=yes; lx06 CPUs=2; class gpu Nodes=lx[01-04] Reboot=yes " \
    "Kernel=http://boot/vmlinuz"
#define OCHAMI_ROSTER \
    "x1000c0s0b0n[0-1]; lx01 Xname=x1c0s0b0n1; lx02; class gpu Nodes=lx01 Reboot=yes; ochami"
/* Class gpu and the default class have baselines: A. */
void world_baselines(struct world *w);
/* The same with OCHAMI_ROSTER. */
void world_ochami(struct world *w);
void world_destroy(struct world *w);
/* For cmocka: *state is a world_create. */
int world_setup(void **state);
/* The same with a world_conform. */
int world_conform_setup(void **state);
int world_teardown(void **state);

/* With " in the place of '; valid until the fourth call after it. */
const char *quoted(const char *text);

/* Takes what a configuration would: "lx[01-03] CPUs=2; lx04 Partition=1,3; class gpu Nodes=lx[01-02]
 * Reboot=yes; tenant physics Nodes=4 Allocations=2; pool 3; ochami". */
void world_configure(struct world *w, const char *roster, struct text *changes);
/* What it would change. */
void world_compare(const struct world *w, const char *roster, struct text *changes);

/* Gives a command to the nodes of a list, and commits what it comes to until all nodes are done.
 * Shows it as text that is valid until the next call: a line for each record, the journal's
 * sentence and the nodes changed; "nothing" when nothing changes; the sentence when it is refused. */
const char *world_do(struct world *w, enum command_kind kind, const char *actor, const char *nodes,
                     const char *reason_or_set, const char *claim);
/* The same of a command that carries `set`, as Fettle gives it. */
const char *world_tell(struct world *w, enum command_kind kind, const char *nodes, const char *set,
                       const char *claim);
/* The same of a person's, with a note (may be NULL). */
const char *world_ask(struct world *w, enum command_kind kind, const char *actor, const char *nodes,
                      const char *set, const char *note);
/* The same with an id for what it begins: "7.1". */
const char *world_say(struct world *w, enum command_kind kind, const char *actor, const char *nodes,
                      const char *set, const char *note);
/* Any command: note and claim may be NULL. */
const char *world_give(struct world *w, enum command_kind kind, const char *actor, const char *nodes,
                       const char *set, const char *note, const char *claim);
int world_rc(void); /* of the last command */
size_t world_parts(void);
bool world_takes_out(void);     /* its last part takes nodes out of service */
const char *world_about(void);  /* of the last command's last part; "" */
const char *world_fields(void); /* the same, as entry_fields_write has them */

/* The claims on a node: "1 drain by root: x (drained); ...". Valid until the next call. */
const char *world_claims(const struct world *w, const char *node);

/* A list of components that somebody sent, "kernel.release=6.1 nic.count=2 bmc.firmware=?"; "?" is
 * unknown. In what world_do and the others show, `name` stands for its fingerprint from then on. */
const char *world_list(struct world *w, const char *name, const char *components);
/* The fingerprint of such a list in hex. */
const char *world_hex(const struct world *w, const char *name);
/* The nodes say that they are what the list of this name says, and it is agreed. */
const char *world_seen(struct world *w, const char *nodes, const char *name);
/* What Fettle finds of some nodes; boot is the id of each. */
struct found {
    const char *class;
    unsigned version;
    const char *expected, *actual, *severity, *named;
    unsigned count;
    const char *boot;
    bool braked;
};
const char *world_found(struct world *w, enum command_kind kind, const char *nodes, const struct found *f,
                        const char *claim);
/* B where the first version of the baseline says A: of class gpu, and of the default class. */
extern const struct found FOUND_MAJOR, FOUND_MINOR, FOUND_DEFAULT;

/* The word for the lifecycle of a node. */
const char *world_state(const struct world *w, const char *node);
/* A field of a node in words. Valid until the next call. */
const char *world_field(const struct world *w, const char *node, enum field f);
/* The record as it stands, with names for fingerprints; "none". */
const char *world_record(const struct world *w, const char *key);

/* Puts a record that is no good: it is refused with a sentence that has `why` in it, and changes nothing. */
void world_refuses(struct world *w, const char *key, const char *record, const char *why);
/* Puts a record twice and removes it twice: it counts once, in the digest too, and nothing is left of it. */
void world_takes(struct world *w, const char *key, const char *record);

/* The records, loaded in the given rotation into a new cluster with the same roster. */
struct cluster *world_reload(const struct world *w, const char *roster, size_t rotation, bool backwards);

/* A trial of check "pair" begins on these nodes by this claim; it ends with results as {'lx01':'ok'}. */
void world_trial_begin(struct world *w, const char *nodes, const char *claim);
const char *world_trial_end(struct world *w, const char *nodes, const char *claim, const char *results);
const struct trial_record *world_trial(const struct world *w, const char *node); /* NULL: none ever was */
/* MEASURED of class gpu: nodes as 'lx01':{'bandwidth MB/s':1000}. */
const char *world_measured(struct world *w, const char *check, const char *sum, const char *nodes);
/* ann's transition of lx01, for this reason. */
const char *lx01_transition(struct world *w, const char *name, const char *why);

#endif
