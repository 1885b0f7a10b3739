/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CONFORM_CONFORMITY_INSIDE_H
#define FETTLE_WATCH_CONFORM_CONFORMITY_INSIDE_H

#include "base/table.h"
#include "watch/view/view.h"

/*
 * Kinds of nodes, and what is proven of each node. Its state is w->conformity.
 */

/* A comparison that was made before, and with which listing. */
struct versus {
    bool done;
    struct fingerprint with;
    struct comparison result;
};

/* Nodes of one fingerprint and one class, whose BMCs tell the same: what is the same for all of them is
 * reckoned once. */
struct kind {
    struct kind_key {
        struct fingerprint id;  /* as the nodes say it */
        struct fingerprint bmc; /* of what their BMCs tell; zeros for nothing */
        uint32_t class;
    } key;
    struct listing *own;     /* what the nodes say, with a reference; */
    struct listing *bmc;     /* what their BMCs tell, with one; NULL: nothing; */
    struct listing *listing; /* and both together, with one: all that counts. `own` until that is known */
    uint32_t users;          /* members, and groups of proposals */
    uint32_t ask_from;       /* the member that is asked for `own` next, or the first one after it */
    uint32_t generation;     /* of the classes by which the following was reckoned; 0: not yet */
    struct fingerprint cohort;
    uint32_t unknown; /* components that count and could not be read */
    struct versus base, to;
    struct {
        bool done, same;
        struct fingerprint with;
    } seen; /* whether it differs from what a node was seen to be in anything that counts */
    UT_hash_handle hh;
};

enum {
    KNOWN_VERIFIED = 1, /* the fingerprint is of the present boot */
    KNOWN_LIES = 2,
    KNOWN_DIRTY = 4,   /* to be judged anew */
    KNOWN_COUNTS = 8,  /* as last judged: verified, fresh, honest */
    KNOWN_ROLLS = 16,  /* its class's rollout names it */
    KNOWN_ROLLED = 32, /* it is what the rollout leads to */
    KNOWN_SHORT = 64,  /* it has less than specified */
    KNOWN_SHOWN = 128, /* it has shown a list that was right, under this leader */
    KNOWN_MUTE = 256   /* its BMC does not answer: what it told is not known any more */
};

/* What is known of one member beside what was observed. */
struct known {
    struct kind *kind;    /* NULL: never said */
    uint32_t verified_ds; /* tenths of seconds since the watch was made */
    uint32_t seen_ds;     /* the same, when it was proposed last to write down what it is */
    uint16_t epoch;       /* of baselines and classes, when it was judged */
    uint16_t flags;
    uint32_t cohort; /* its number among w->conformity->cohorts; COHORT_NONE: in none */
    uint32_t
        lacks; /* hash of how its report falls short of its specification, as last told; 0: it does not */
    uint8_t proof : 2; /* enum conformance: what its fingerprint proves, whatever is recorded */
    uint8_t spent : 4; /* how often that was proposed without an hour's rest */
};

/* What is followed of one class; by its number. */
struct class_state {
    char name[CLASS_NAME_BYTES_MAX + 1];
    uint32_t version; /* of its baseline, 0 without one */
    struct wall rollout_at;
    bool rolls;
    struct mono rolls_until;
    bool overrun;         /* that was said to be over */
    uint32_t n, drifting; /* in the sweep under way */
    uint32_t alarm_n, alarm_drifting;
    bool alarm;
    bool suggested; /* the following is of this sweep */
    const struct member *suggestion;
    uint32_t suggestion_share, suggestion_all;
};

/* Judges a member. With `must` whatever it costs; else it may be left for another tick. */
void conformity_judge(struct watch *w, struct mono now, struct member *m, bool must);
void conformity_set_kind(struct watch *w, struct member *m, const struct fingerprint *id);
/* True when a kind differs from what a node was seen to be in ignored components alone; also while that is
 * to be found out in another tick. */
bool conformity_trifle(struct watch *w, struct kind *k, const struct listing *seen);
struct kind *kind_ref(struct kind *k);
void kind_unref(struct watch *w, struct kind *k);
bool conformity_fresh(const struct watch *w, struct mono now, const struct known *k);
bool conformity_rolls(const struct watch *w, struct mono now, const struct member *m);
struct conformity {
    struct known *known;  /* by member id */
    struct listing *mute; /* what counts of a BMC that does not answer */
    struct kind *kinds;
    struct cohorts *cohorts;
    size_t n_classes;
    struct class_state *classes;
    uint32_t generation; /* of the classes */
    uint16_t epoch;      /* of baselines and classes */
    int64_t work_left;   /* of this tick, in components to compare */
};
struct known *known_of(struct watch *w, const struct member *m);

#endif
