/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INSIDE_H
#define FETTLE_WATCH_INSIDE_H

#include "watch/watch.h"

#include <uthash.h>

/*
 * The inside of a watch, shared by the files of this folder only.
 *
 *   watch.c       sessions, heartbeats, the sweep
 *   conformity.c  kinds of nodes; what is proven of a node, and what is answered about it
 *   gather.c      fingerprints and components as they come in, and whom to ask for them
 *   standing.c    what is answered about a node
 *   drift.c       what follows from it for what is agreed, and the brake
 *   spell.c       drift that comes and goes
 *   proposal.c    the commands that are proposed at the end of a sweep
 *
 * All moments in here are of the watch's own time (watch_awake), but where a name says otherwise.
 */

/* --- conformity.c ---------------------------------------------------------------------------- */

/* A comparison that was made before, and with which listing. */
struct versus {
    bool done;
    struct fingerprint with;
    struct comparison result;
};

/* Nodes of one fingerprint and one class: what is the same for all of them is reckoned once. */
struct kind {
    struct kind_key {
        struct fingerprint id;
        uint32_t class;
    } key;
    struct listing *listing; /* with a reference */
    uint32_t users;          /* members, and groups of proposals */
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
    KNOWN_FLAPS = 64,
    KNOWN_SHORT = 128, /* it has less than specified */
    KNOWN_SHOWN = 256  /* it has shown a list that was right, under this leader */
};

/* What is known of one member beside what was observed. */
struct known {
    struct kind *kind;    /* NULL: never said */
    uint32_t verified_ds; /* tenths of seconds since the watch was made */
    uint32_t seen_ds;     /* the same, when it was proposed last to write down what it is */
    uint16_t epoch;       /* of baselines and classes, when it was judged */
    uint16_t flags;
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

void conformity_create(struct watch *w);
void conformity_destroy(struct watch *w);
/* Room for members up to n - 1; the first `from` have been there. */
void conformity_grow(struct watch *w, size_t from, size_t n);
/* Classes may be other ones now: everything is judged anew, in the sweeps to come. */
void conformity_reconfigure(struct watch *w);
/* Notes baselines and rollouts that are new or gone, and gives the tick its share of work. */
void conformity_tick(struct watch *w);
/* Judges a member. With `must` whatever it costs; else it may be left for another tick. */
void conformity_judge(struct watch *w, struct mono now, struct member *m, bool must);
/* Judges it when there is a reason to. False: it is still to be judged. */
bool conformity_look(struct watch *w, struct mono now, struct member *m, bool must);
/* Nodes that are judged before others when there is more to do than fits in a tick. */
bool conformity_pressing(const struct watch *w, const struct member *m);
void conformity_boot(struct watch *w, struct mono now, struct member *m); /* it came up anew */
void conformity_set_kind(struct watch *w, struct member *m, const struct fingerprint *id);
/* True when a kind differs from what a node was seen to be in ignored components alone; also while that is
 * to be found out in another tick. */
bool conformity_trifle(struct watch *w, struct kind *k, const struct listing *seen);
struct kind *kind_ref(struct kind *k);
void kind_unref(struct watch *w, struct kind *k);
void row_refresh(struct watch *w, const struct member *m);
void row_shortfall(struct watch *w, const struct member *m);
/* What is said of a member: drift that is recorded stands until the opposite is proven. */
enum conformance conformity_shown(const struct watch *w, const struct member *m);
bool conformity_fresh(const struct watch *w, struct mono now, const struct known *k);
bool conformity_rolls(const struct watch *w, struct mono now, const struct member *m);
const struct baseline *baseline_of(const struct watch *w, const struct member *m);
const struct node_class *class_of(const struct watch *w, const struct member *m);
const struct drift *drift_of(const struct member *m); /* NULL without; also one that is remedied */

/* --- gather.c -------------------------------------------------------------------------------- */

enum { ASKS_MAX = 80 };

/* Somebody was asked for a list. */
struct ask {
    struct fingerprint id;
    uint32_t member;
    bool used;
    bool check; /* the list is known; whether the node has it is asked */
    struct mono at;
};

/* A list of which not all parts are here. */
struct assembly {
    uint32_t member;
    struct fingerprint id;
    uint32_t next, parts;
    struct mono last;
    struct components list;
    UT_hash_handle hh;
};

void gather_forget(struct watch *w, const struct member *m);
void gather_sweep(struct watch *w, struct mono now);
void gather_destroy(struct watch *w);

/* --- spell.c --------------------------------------------------------------------------------- */

enum { CAME_MAX = 3 };

/* What is remembered of a member whose drift comes and goes. */
struct spell {
    uint32_t member;
    bool found;                 /* by this watch, and its record is not here yet */
    bool here, good;            /* as last proven; neither: unknown */
    unsigned n;                 /* of came */
    struct mono came[CAME_MAX]; /* newest first */
    struct mono good_since;     /* conformant without a break */
    bool dated;                 /* the next two are given */
    struct wall since;          /* as the record says */
    struct mono since_at;       /* the same by the watch's own time: a clock that is set ages no drift */
    struct mono dated_at;       /* when that was reckoned */
    bool written, reboot;       /* the following are given */
    struct fingerprint what;    /* that was proposed to be recorded as its drift, */
    struct mono written_at;     /* when, */
    unsigned rewrites;          /* and how often it was something else without an hour's rest */
    struct mono reboot_at;      /* the reboot was proposed */
    struct wall worn;           /* since when the drift is of which was said that reboots do not cure it */
    UT_hash_handle hh;
};

struct spell *spell_find(const struct watch *w, const struct member *m);
struct spell *spell_of(struct watch *w, const struct member *m); /* made when there is none */
/* Something else is proven of m than before. */
void spell_note(struct watch *w, struct mono now, const struct member *m, enum conformance was,
                enum conformance is);
/* In each sweep: dates the record by the watch's own time when it is seen first, and forgets who has been
 * well for long. */
void spell_look(struct watch *w, struct mono now, const struct member *m);
void spells_destroy(struct watch *w);

/* --- proposal.c ------------------------------------------------------------------------------ */

/* Nodes for whom one command is to be proposed at the end of the sweep. */
struct group {
    struct group_key {
        uint16_t command;
        uint16_t rolls;   /* DRIFT, PERSISTS: nodes of a rollout */
        uint32_t version; /* of the baseline */
        struct kind *kind;
        struct listing *was;
    } key;
    char *set; /* without its end, where boots follow */
    size_t n, cap;
    uint32_t *members;
    UT_hash_handle hh;
};

/* m calls for a command: it is proposed at the end of the sweep. */
void groups_add(struct watch *w, struct mono now, enum command_kind kind, const struct member *m);
void groups_propose(struct watch *w);
void groups_drop(struct watch *w);

/* --- drift.c --------------------------------------------------------------------------------- */

/* Whether a judged member calls for a command now. */
bool drift_calls(struct watch *w, struct mono now, const struct member *m, enum command_kind kind);
/* A command for it holds nothing up when it comes later. */
bool drift_is_news(struct watch *w, struct mono now, const struct member *m, enum command_kind kind);
/* What m is, or how it drifted, was proposed to be written down. */
void drift_written(struct watch *w, struct mono now, const struct member *m, enum command_kind kind);
/* In each sweep, for a listed member. judged: nothing about it waits for another tick. */
void drift_examine(struct watch *w, struct mono now, const struct member *m, bool judged);
void drift_end_sweep(struct watch *w);

/* --- watch.c --------------------------------------------------------------------------------- */

/* What one sweep found. */
struct findings {
    struct hostlist silent, heard, admit, drained, draining, late, live;
    size_t quiet; /* not heard for longer than `late`, and not held for it already */
    size_t watched;
};

struct watch {
    struct cluster *cluster;
    struct watch_policy policy;
    struct watch_sink sink;
    struct observed *seen; /* by member id, as known and rows */
    size_t n, cap;
    struct mono created, began;
    struct mono last_tick;
    struct wall wall; /* of the last tick */
    struct span stood_still;
    uint32_t cursor;
    unsigned slice, sweeps;
    struct findings found;
    bool alarm;
    struct mono calm; /* when the last alarm ended: nobody is taken down for a full window from then */
    size_t alarm_quiet, alarm_watched;

    struct known *known;
    struct place_row *rows;
    struct kind *kinds;
    struct cohorts *cohorts;
    size_t n_classes;
    struct class_state *classes;
    uint32_t generation;
    uint16_t epoch;
    int64_t work_left; /* of this tick, in components to compare */

    struct ask asks[ASKS_MAX];
    struct assembly *assemblies;
    size_t assembled_bytes;
    uint32_t ask_cursor;
    bool wanting;
    struct mono full_until; /* no list is asked for before: there is no room */

    struct spell *spells;
    struct group *groups;
    size_t grouped[COMMANDS]; /* nodes in them */
    uint32_t news_from;       /* members below may make no news in this sweep: it is the turn of the others */
    uint32_t news_left;       /* the first member whose news found no room, UINT32_MAX for none */
};

/* A moment that is kept in tenths of seconds since the watch was made. */
struct mono watch_at(const struct watch *w, uint32_t ds);
uint32_t watch_ds(const struct watch *w, struct mono at);
static inline bool within(struct mono now, struct mono then, int64_t seconds)
{
    return mono_sub(now, then).ns < span_s(seconds).ns;
}
/* The monotonic clock less the time in which this process stood still. */
struct mono watch_awake(const struct watch *w, struct mono now);
/* The same at a moment at which something was observed. */
struct mono watch_observed_at(struct watch *w, struct mono now);
/* What was observed of m; makes room for members that were met since. */
struct observed *watch_of(struct watch *w, const struct member *m);
struct known *known_of(struct watch *w, const struct member *m);

#endif
