/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_CONFORM_CONFORMITY_INSIDE_H
#define FETTLE_WATCH_CONFORM_CONFORMITY_INSIDE_H

#include "base/table.h"
#include "watch/view/view.h"

/*
 * Kinds of nodes, and what is proven about each node. The state is w->conformity.
 */

/* An earlier comparison, and the listing that it was made with. */
struct versus {
    bool done;
    struct fingerprint with;
    struct comparison result;
};

/* Nodes of one fingerprint and one class whose BMCs give the same components. What is the same for all of
 * them is computed once. */
struct kind {
    struct kind_key {
        struct fingerprint id;  /* from the nodes */
        struct fingerprint bmc; /* of the components that their BMCs give; zeros for none */
        uint32_t class;
    } key;
    struct listing *own;     /* the components from the nodes; counted reference */
    struct listing *bmc;     /* the components from their BMCs; counted reference; NULL: none */
    struct listing *listing; /* both together; `own` until they are joined; counted reference */
    uint32_t users;          /* members, and groups of proposals */
    uint32_t ask_from;       /* the next member to be asked for `own`, or the first one after it */
    uint32_t generation;     /* the generation of the classes for which the fields below hold; 0: none yet */
    struct fingerprint cohort;
    uint32_t unknown; /* components that count and could not be read */
    struct versus base, to;
    struct {
        bool done, same;
        struct fingerprint with;
    } seen; /* whether the kind differs, in anything that counts, from the listing that was recorded */
    UT_hash_handle hh;
};

enum {
    KNOWN_VERIFIED = 1, /* the fingerprint is of the present boot */
    KNOWN_LIES = 2,
    KNOWN_DIRTY = 4,   /* to be judged anew */
    KNOWN_COUNTS = 8,  /* at the last judgement: verified, fresh, honest */
    KNOWN_ROLLS = 16,  /* its class's rollout names it */
    KNOWN_ROLLED = 32, /* it matches the listing of the rollout */
    KNOWN_SHORT = 64,  /* it has less than specified */
    KNOWN_SHOWN = 128, /* it has shown a correct list under this leader */
    KNOWN_MUTE = 256   /* its BMC does not answer, and the BMC's last answer does not count any more */
};

/* What is known about one member beside the observations. */
struct known {
    struct kind *kind;    /* NULL: it never sent a fingerprint */
    uint32_t verified_ds; /* when it was verified, in tenths of seconds since the watch was made */
    uint32_t seen_ds;     /* the same for the last SEEN proposal */
    uint16_t epoch;       /* the epoch of baselines and classes in which it was judged */
    uint16_t flags;
    uint32_t cohort; /* its number among w->conformity->cohorts; COHORT_NONE: in none */
    /* hash of how its report falls short of its specification, as last announced; 0: it does not */
    uint32_t lacks;
    uint8_t proof : 2; /* enum conformance: what its fingerprint proves, whatever is recorded */
    uint8_t spent : 4; /* how many SEEN proposals were made without an hour's rest */
};

/* What is followed for one class; by its number. */
struct class_state {
    char name[CLASS_NAME_BYTES_MAX + 1];
    uint32_t version; /* of its baseline; 0 without one */
    struct wall rollout_at;
    bool rolls;
    struct mono rolls_until;
    bool overrun;         /* the notice was given that the rollout is past its deadline */
    uint32_t n, drifting; /* in the present sweep */
    uint32_t alarm_n, alarm_drifting;
    bool alarm;
    bool suggested; /* the next fields are of this sweep */
    const struct member *suggestion;
    uint32_t suggestion_share, suggestion_all;
};

/* Judges a member. With `must` at any cost; else the judgement may be left for another tick. */
void conformity_judge(struct watch *w, struct mono now, struct member *m, bool must);
void conformity_set_kind(struct watch *w, struct member *m, const struct fingerprint *id);
/* True when a kind differs from the recorded listing only in ignored components. Also true while that has to
 * wait for another tick. */
bool conformity_trifle(struct watch *w, struct kind *k, const struct listing *seen);
struct kind *kind_ref(struct kind *k);
void kind_unref(struct watch *w, struct kind *k);
bool conformity_fresh(const struct watch *w, struct mono now, const struct known *k);
bool conformity_rolls(const struct watch *w, struct mono now, const struct member *m);
struct conformity {
    struct known *known;  /* by member id */
    struct listing *mute; /* what counts for a BMC that does not answer */
    struct kind *kinds;
    struct cohorts *cohorts;
    size_t n_classes;
    struct class_state *classes;
    uint32_t generation; /* of the classes */
    uint16_t epoch;      /* of baselines and classes */
    int64_t work_left;   /* in this tick, in components to compare */
};
struct known *known_of(struct watch *w, const struct member *m);

#endif
