/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_INSIDE_H
#define FETTLE_WATCH_INSIDE_H

#include "base/table.h"
#include "health/group.h"
#include "health/recur.h"
#include "watch/watch.h"

/*
 * The inside of a watch, shared by the files of this folder only.
 *
 *   watch.c       sessions, heartbeats, the sweep
 *   call.c        what the sweep finds that members call for
 *   silence.c     who is late, who goes down, and when too many are silent at once
 *   conformity.c  kinds of nodes; what is proven of a node, and what is answered about it
 *   gather.c      fingerprints and components as they come in, and whom to ask for them
 *   standing.c    what is answered about a node
 *   drift.c       what follows from it for what is agreed, and the brake
 *   spell.c       drift that comes and goes
 *   proposal.c    the commands that are proposed at the end of a sweep
 *   health.c      what checks say, as they tell it
 *   answer.c      what is answered about it
 *   outside.c     what others' checks say of a node
 *   incident.c    what of it is an incident, and when one is over
 *   recur.c       what it means when it comes back
 *   shared.c      one cause of the same fault on many nodes
 *   repair.c      the next step of a repair
 *   choose.c      which remedy
 *   measure.c     whether a node is as fast as others of its class
 *   outcome.c     what remedies came to
 *   operation.c   what is to be done to a node, and how far it is
 *   machine.c     which machine answers by a name
 *   window.c      maintenance windows that the scheduler keeps
 *   held.c        whether somebody other than Fettle holds a node
 *   lost.c        nodes that stay silent, and what is known of them from outside
 *   bmc.c         when each BMC is asked, and what follows from its answer for a node that is well
 *   boot.c        boots that nobody asked for
 *   trial.c       checks for which idle nodes are held: those under way
 *   trial_begin.c who is due, and who is held
 *   trial_group.c what a check that several run together came to
 *   forget.c      what a person answered for
 *   override.c    nodes that are in service by a person's word
 *   brake.c       what keeps a node from being isolated or operated on
 *
 * All moments in here are of the watch's own time (watch_awake), but where a name says otherwise.
 */

/* Members that call for something. */
struct called {
    uint32_t *ids;
    size_t n, cap;
    size_t at; /* those before it are done with */
};
void called_add(struct called *c, const struct member *m);

/* --- conformity.c ---------------------------------------------------------------------------- */

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
void conformity_bmc(struct watch *w,
                    const struct member *m); /* its BMC tells something else, or nothing now */
/* True when a kind differs from what a node was seen to be in ignored components alone; also while that is
 * to be found out in another tick. */
bool conformity_trifle(struct watch *w, struct kind *k, const struct listing *seen);
struct kind *kind_ref(struct kind *k);
void kind_unref(struct watch *w, struct kind *k);
void row_refresh(struct watch *w, const struct member *m);
/* The report or the specification is another one: judges the one by the other, and says so when the answer is
 * new. */
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
void gather_end_sweep(struct watch *w);
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
/* The sweep is over: what is proposed of them is proposed by groups_step, */
void groups_propose(struct watch *w);
/* for one of them. False: none is left. */
bool groups_step(struct watch *w);
void groups_drop(struct watch *w);

/* --- drift.c --------------------------------------------------------------------------------- */

/* Whether a judged member calls for a command now. */
bool drift_calls(struct watch *w, struct mono now, const struct member *m, enum command_kind kind);
/* Its drift, which is proven, is to keep new work away, and no claim does so yet. */
bool drift_lacks_claim(const struct watch *w, struct mono now, const struct member *m);
/* A command for it holds nothing up when it comes later. */
bool drift_is_news(struct watch *w, struct mono now, const struct member *m, enum command_kind kind);
/* What m is, or how it drifted, was proposed to be written down. */
void drift_written(struct watch *w, struct mono now, const struct member *m, enum command_kind kind);
/* In each sweep, for a listed member. judged: nothing about it waits for another tick. */
void drift_examine(struct watch *w, struct mono now, const struct member *m, bool judged);
void drift_end_sweep(struct watch *w);

/* --- health.c -------------------------------------------------------------------------------- */

enum {
    SAID_RESULT = 15,   /* enum result + 1; 0: nothing was said */
    SAID_ASSIGNED = 16, /* the node runs the check */
    SAID_ANSWERED = 32  /* of an extensive one: it ran in the present step */
};

/* What a check says that is not plainly ok. */
struct saying {
    uint16_t check;
    struct mono since, told;
    char *text;
    bool blind; /* text is why the last look had no answer: the result is that of an older one */
    unsigned more;
    size_t n;
    struct finding *findings;
};

/* What is known of one member's health, and of its repair beside the records. Of a node that never said
 * anything and was never ill there is none. */
/* What is asked most often of a check's record. */
struct check_rule {
    int64_t age_max_ns; /* what it said is out of date then; INT64_MAX: never */
    bool repeats;
    uint64_t sum;   /* of the record, whoever runs it, */
    uint32_t since; /* and the generation of the records since which it is this one */
};

enum anew { ANEW_NOT, ANEW_ASKED, ANEW_TOLD };

struct vitals {
    char boot[37];      /* of which all that is said is */
    uint64_t log_next;  /* the line of its kernel's log up to which it told */
    bool told;          /* everything was told in this session, */
    enum anew anew;     /* and after this controller stood still */
    bool follow;        /* to be looked at in the next tick */
    uint16_t class;     /* for which `said` knows what is assigned, */
    uint32_t checks;    /* and of which generation of the records */
    uint32_t list;      /* the last of which the node had the list; 0: it had none */
    uint8_t *said;      /* by the check's place in the records */
    int32_t *looked_ds; /* when each was looked at, in tenths of seconds since the watch was made */
    size_t n_sayings;
    struct saying *sayings;
    size_t n_outside;
    struct outside *outside;

    struct trial *trial;   /* in which it takes part; NULL: in none */
    struct wall trial_due; /* the earliest moment at which a check is to run on it again, */
    uint16_t trial_check;  /* and which, when the next is true */
    bool trial_known;
    struct mono trial_rest;  /* none is begun before */
    struct mono trial_doubt; /* when it ran a check with others last, and did not pass; ns 0: not */

    struct mono jobs_at; /* when it was read whose jobs run on it; ns 0: never */
    bool asked;          /* a command about it is under way, */
    struct mono asked_at;
    struct mono tell_at;       /* when it was to tell everything anew last; ns 0: never */
    bool patient;              /* it is among the watch's patients */
    bool counted;              /* towards a surge, for what is wrong with it now */
    bool isolating;            /* proposed, and the record is not here yet */
    bool waits;                /* for room in a budget */
    struct mono commits_paid;  /* its commits are paid for until then; one that is too far ahead waits */
    struct mono restless;      /* that two machines answer by its name was told; ns 0: never */
    struct wall answered;      /* the person's word for which its agent forgot what the kernel's log said */
    struct wall word;          /* the last such word; ns 0: none */
    struct mono word_at;       /* and when it was known here */
    struct wall override_of;   /* the `at` of the override for which the next is; ns 0: of none */
    struct mono override_from; /* since when it counts */
    struct wall mild_of;       /* since when it is no worse than degraded, as its incidents say, */
    struct mono mild_from;     /* and by the watch's own time */
    struct wall stage;         /* the step's `since`, for which the next are; ns 0: none */
    struct mono stage_at, stage_due;
    bool stage_limited;
    char operation[CLAIM_ID_BYTES_MAX + 1]; /* for which the next is */
    struct mono operation_due;
    struct absence *absence; /* of one that stays silent; NULL without */
    struct finding *booted;  /* that its last boot was asked for by nobody, until it is recorded; or NULL */
    char refused[CLAIM_ID_BYTES_MAX + 1]; /* a check of this step that was not begun, the last of so many; */
    unsigned refusals;
    struct mono refused_until; /* and when the next may be asked for */
};

void health_create(struct watch *w);
void health_destroy(struct watch *w);
/* The records of checks may be other ones now. */
void health_reconfigure(struct watch *w);
void health_open(struct watch *w, const struct member *m); /* a session began */
/* This process did nothing for a while: what was said before, and what lay in buffers meanwhile, is no fresh
 * evidence of anything until each node was asked and has told everything anew. */
void health_stood_still(struct watch *w);
/* Whether m has since then. */
bool told_anew(const struct vitals *v);
void health_boot(struct watch *w, const struct member *m); /* it came up anew */
/* In each sweep, and as soon as something changed: what m calls for is proposed. */
void health_look(struct watch *w, struct mono now, const struct member *m);
/* In each tick: takes the records in, when that has to be. */
void health_tick(struct watch *w, struct mono now);
/* Looks at so many at most of those of which something had changed before the tick, and returns at how many
 * it did. */
size_t health_step(struct watch *w, struct mono now, size_t nodes);
void health_changed(struct watch *w, const struct member *m);
/* A command about m. Nothing else is proposed about it until it is decided, when the shell takes it. */
void health_propose(struct watch *w, struct mono now, const struct member *m, enum command_kind kind,
                    const char *reason, const json_t *set);

bool health_asked(const struct vitals *v, struct mono now); /* such a one is under way */

struct vitals *vitals_find(const struct watch *w, const struct member *m); /* NULL when there are none */
struct vitals *vitals_of(struct watch *w, const struct member *m);
/* The place of a check's record; SIZE_MAX when there is none. */
size_t check_place(const struct watch *w, const char *name);
const struct check *check_at(const struct watch *w, size_t i);
size_t check_count(const struct watch *w);
/* What the check says of m now: UNKNOWN when nothing is known. */
enum result said_now(const struct watch *w, struct mono now, const struct member *m, size_t i);
/* Whether anything that it said counts: it is live, and has said it on this boot. */
bool speaks(const struct watch *w, const struct member *m, const struct vitals *v);
bool was_said(const struct vitals *v, size_t i); /* anything, on this boot */
void said_forget(struct vitals *v, size_t i);
/* It runs by itself, not on demand or in the extensive stage alone. */
bool check_repeats(const struct check *k);
/* It is looked at again and again, whatever runs: what it said goes out of date. */
bool check_ages(const struct check *k);
bool check_runs(const struct watch *w, const struct member *m, size_t i); /* m runs this check */
bool said_assigned(const struct vitals *v, size_t i); /* the same of a node of which something is known */
/* The worst that its checks say, and its incidents are; OK without. */
enum result health_worst(const struct watch *w, struct mono now, const struct member *m);
/* Fettle acts for m: health does, and neither m nor its class is excepted. */
bool acts_for(const struct watch *w, const struct member *m);
/* m takes no new work for its health, as far as that is known (service.tbl). */
bool health_excludes(const struct watch *w, struct mono now, const struct member *m);
/* Says in f what follows from m's health for new work, or would follow. */
void health_fitness(const struct watch *w, struct mono now, const struct member *m, struct fitness *f);
const struct saying *saying_find(const struct vitals *v, size_t i); /* NULL: nothing but its result */
/* Whether what it says is new enough for something that cannot be undone. */
bool said_fresh(const struct watch *w, struct mono now, const struct vitals *v, size_t i);
struct mono said_looked(const struct watch *w, const struct vitals *v, size_t i);
/* An extensive check came to this, just now. */
void said_note(struct watch *w, struct mono now, const struct member *m, size_t i, const struct verdict *x);
bool watch_live(const struct watch *w, const struct member *m);

/* One word of somebody's about m came in: what follows from it is proposed. */
void health_heard(struct watch *w, struct mono now, struct wall wall, struct member *m);

/* --- outside.c ------------------------------------------------------------------------------- */

#define OUTSIDE_PREFIX "sensu."
enum { OUTSIDE_MAX = 32 };

/* What was said last of a check that others run. */
struct outside {
    char name[CHECK_NAME_BYTES_MAX + 1];
    struct check record; /* nothing but the name, for whoever asks whose finding it is */
    enum result result;
    struct mono since, looked, told;
    char *text;
    unsigned more;
    size_t n;
    struct finding *findings;
    struct outside *next;
};

/* A check that no record here has, and others may. */
bool outside_is(const struct watch *w, const char *check);
const struct outside *outside_find(const struct vitals *v, const char *check); /* NULL without */
void outside_drop(struct vitals *v);
/* In each sweep: forgets those of which nobody speaks any more. */
void outside_look(struct mono now, const struct member *m, struct vitals *v);
enum result outside_now(const struct watch *w, struct mono now, const struct member *m,
                        const struct outside *x);
bool outside_fresh(const struct watch *w, struct mono now, const struct outside *x);
bool outside_ill(const struct vitals *v);
enum result outside_worst(const struct watch *w, struct mono now, const struct member *m);
/* As finding_gone. */
bool outside_gone(const struct watch *w, struct mono now, const struct member *m, const char *check,
                  const struct finding *f);
/* It is said to be well, whatever the device. */
bool outside_recovered(const struct watch *w, struct mono now, const struct member *m, const char *check);
/* Nodes of which it was said; of a Group, but with 0. */
unsigned outside_runners(const struct watch *w, const char *check, unsigned group);
void outside_note_faults(struct watch *w, struct mono now, const struct member *m);
void outside_each(const struct watch *w, struct mono now, const struct member *m, struct said *said,
                  said_fn *fn, void *arg);

/* --- incident.c ------------------------------------------------------------------------------ */

/* The name of a finding's fault, for remedies. */
const char *fault_of(const char *check, const struct finding *f);
/* A finding of a check that says now that it is no more: not so while nothing is known. */
bool finding_gone(const struct watch *w, struct mono now, const struct member *m, const char *check,
                  const struct finding *f);
size_t incidents_open(const struct member *m); /* how many such there are */
/* Proposes what is to be written down of m's incidents. True when something is. */
bool incident_look(struct watch *w, struct mono now, const struct member *m);
/* A finding of this incident that the remedy may help is said now, and freshly. */
bool incident_shown(const struct watch *w, struct mono now, const struct member *m, const struct incident *i,
                    const struct remedy *remedy);
/* The k-th finding of an incident is none that is gone, while others keep it open. */
bool finding_left(const struct watch *w, struct mono now, const struct member *m, const struct incident *i,
                  size_t k);
/* Something of it that is left is what this remedy may help. */
bool incident_is_for(const struct watch *w, struct mono now, const struct member *m, const struct incident *i,
                     const struct remedy *remedy);
/* Something of m is lost as it says now, and freshly: its user has nothing of it any more. */
bool incident_lost(const struct watch *w, struct mono now, const struct member *m);

/* --- recur.c --------------------------------------------------------------------------------- */

/* What a table says of this finding with all that was found on m before; NULL: nothing. known: the open
 * incident that has it, or NULL. again: so often more than is written down. */
const struct recur_row *recur_find(const struct member *m, const struct incident *known, const char *check,
                                   const struct finding *f, bool observe, struct wall now, unsigned again);
/* What goes and comes back by itself is not well: the last of those that are over since the repair began, and
 * that came too often within a week; NULL without. */
const struct incident *recur_often(const struct member *m, struct wall began, struct wall now);
/* How many incidents of this group there were within 30 days. */
unsigned recur_count(const struct member *m, const char *group, bool observe, struct wall now);

/* --- shared.c -------------------------------------------------------------------------------- */

struct outbreak;
/* Whether it counts as a fault of others, too: what takes a node out, and links that are about to. */
bool shared_counts(const struct watch *w, const char *check, const struct finding *f);
/* m has this fault now. */
void shared_note(struct watch *w, struct mono now, const struct member *m, const char *check,
                 const struct finding *f);
/* It has it for a cause that it shares with others. */
bool shared_excuses(const struct watch *w, const struct member *m, const char *check,
                    const struct finding *f);
/* All for which it is kept out has such a cause. */
bool shared_holds(const struct watch *w, const struct member *m);
void shared_end_sweep(struct watch *w);
void shared_load(struct watch *w, struct mono now); /* what is recorded, and not known here */
void shared_destroy(struct watch *w);

/* --- repair.c -------------------------------------------------------------------------------- */

/* Before anything is looked at: takes note of the step that m's repair is at. */
void repair_stage(struct watch *w, struct mono now, const struct member *m);
/* Proposes the next step of m's repair, where there is one. True when something was proposed. */
bool repair_look(struct watch *w, struct mono now, const struct member *m);
/* Proposes that m, in no repair, goes through provisioning. */
void repair_provision(struct watch *w, struct mono now, const struct member *m, const char *why);
/* The time of m's step, which waited, begins anew. */
void repair_restart_step(struct watch *w, const struct member *m);
/* What may be done to m while it is in service, as it is degraded: the choice among remedies that disturb
 * nobody and need nothing. NULL: none, or m is not degraded, or too much was tried. */
const struct remedy *repair_gentle(const struct watch *w, struct mono now, const struct member *m,
                                   struct choice *out);
/* A remedy that may be applied to a node in service: it takes no node away, and asks for nobody. */
bool remedy_is_gentle(const struct remedy *r);
/* m came up, for the first time or on another boot than it was put into service on, and its checks have to
 * pass before it is in service. Not where a person took it back a while ago: it is his. */
bool repair_comes_up(const struct watch *w, const struct member *m);
/* How long m may be in provision: its class says so, or the setting of all classes. */
struct span repair_provision_deadline(const struct watch *w, const struct member *m);

/* --- measure.c -------------------------------------------------------------------------------- */

/* Holds what a benchmark came to against what is recorded of other nodes of m's class; one that is too slow
 * fails. It is to be written down in turn. */
void measure_judge(struct watch *w, struct mono now, const struct member *m, const struct check *k,
                   struct verdict *x);
void measures_end_sweep(struct watch *w);

/* --- trial.c --------------------------------------------------------------------------------- */

enum seat_state {
    SEAT_WAITS,  /* for the hold, or for its next run */
    SEAT_CALLED, /* its run is to be begun, by the shell */
    SEAT_RUNS,
    SEAT_HEARD, /* its run is over */
    SEAT_OVER,  /* it takes part no more, and is to be let go */
    SEAT_LEFT   /* it was */
};

/* One node's part in a trial. */
struct seat {
    uint32_t member;
    enum seat_state state;
    size_t of;     /* a group's: its run, of the grouping */
    uint64_t run;  /* by which the shell knows what it began; */
    char boot[37]; /* and the boot on which */
    bool stop;     /* what it runs is not wanted any more, and its agent was not told */
    bool ran;      /* over, and this is what it came to */
    enum result result;
    char *why;              /* over */
    struct verdict *said;   /* what its last run said; NULL: nothing */
    char *failed;           /* a group's: what was said in its last run that failed; NULL: none did */
    struct mono told, wait; /* its end was proposed; what came of it was noted */
};

/* A check for which nodes are held. */
struct trial {
    char claim[CLAIM_ID_BYTES_MAX + 1]; /* "" until it is recorded */
    char check[CHECK_NAME_BYTES_MAX + 1];
    unsigned group;
    bool examines;     /* the first seat's node, which its repair keeps, and whose partners the others are; */
    struct wall stage; /* in the step that began then */
    struct mono began, due;
    struct wall began_wall;
    size_t n;
    struct seat *seats; /* in order of their members; or who is examined, then his partners in theirs */
    struct grouping *grouping; /* of their places; NULL: each runs it by itself */
    unsigned rounds;
    bool called; /* the first round was begun */
    struct trial *next;
};

enum { TRIAL_HOLD_S = 120, TRIAL_MARGIN_S = 30, TRIAL_ROUNDS_MAX = 16 };

/* In each sweep, for every member: one that is held for nothing is let go; one that is due is noted. */
void trial_look(struct watch *w, struct mono now, const struct member *m);
void trial_tick(struct watch *w, struct mono now);
/* Something that is agreed of m changed. */
void trial_changed(struct watch *w, const struct member *m);
/* It is out of service for a check, or about to be; not so for one that is examined. */
bool trial_holds(const struct watch *w, const struct member *m);
/* What m says of this check is not to be believed by itself: a trial says it. */
bool trial_says(const struct watch *w, const struct member *m, size_t check);
/* An ill node needs the room: all that are under way end. */
void trials_yield(struct watch *w);
void trials_fini(struct watch *w);
/* It takes part no more; ran: with this result. */
void seat_end(struct watch *w, struct mono now, struct seat *s, bool ran, enum result r, const char *why);
/* Notes what the check says of its node now, and ends its part with that. Of one that is examined it is what
 * its examination wanted to know; where it is unknown, that counts as no run. */
void seat_conclude(struct watch *w, struct mono now, const struct trial *t, struct seat *s,
                   struct verdict *x);
/* It came to nothing, for which its node can do nothing. */
void seat_fail(struct watch *w, struct mono now, const struct trial *t, struct seat *s, const char *why);
/* Whether it is held and free, now. */
bool seat_ready(const struct watch *w, const struct trial *t, const struct seat *s);
void seat_call(struct watch *w, struct seat *s, size_t run);
const struct member *seat_member(const struct watch *w, const struct seat *s);
struct trial *trial_add(struct watch *w, struct mono now, const char *check, unsigned group,
                        struct span limit);
struct seat *trial_seat(struct watch *w, struct trial *t, const struct member *m);
void trial_drop(struct watch *w, struct trial *t);

/* --- trial_begin.c --------------------------------------------------------------------------- */

/* A node on which a check may run. */
struct trial_due {
    int64_t due_ns;
    uint16_t check;
    uint32_t member;
};

enum { PARTNERS_MAX = 2 * (CHECK_GROUP_MAX + GROUP_WITNESSES) };

/* One that looks free. */
struct partner {
    int64_t doubt_ns, ran_ns; /* trial_doubt; when it ran the check last in a trial; 0: never */
    uint32_t member;
};

/* Examinations that want partners for a check of several nodes. In a sweep they are noted for one. */
struct trial_wish {
    bool noting;     /* for this one: */
    uint32_t member; /* kept when it is over, as it says who is the next */
    uint16_t check;
    size_t in_service; /* nodes that may be its partners, now or when they are free */
    size_t n;
    struct partner partners[PARTNERS_MAX]; /* the best first */
    bool asked;                            /* in this sweep, and the next is: */
    uint32_t next;
    uint16_t next_check;
};

void trial_reconfigure(struct watch *w);
/* m, which is in the examination, is to run this check with others: they are looked for when it is its turn,
 * unless it has them, or had some a moment ago. To be called in each sweep until it is answered. */
void trial_ask(struct watch *w, struct mono now, const struct member *m, size_t check);
/* m is examined, and nobody was found yet to run this check with. */
bool trial_waits(const struct watch *w, const struct member *m, size_t check);
/* Notes m as a partner of the one whose turn it is. */
void trial_note_partner(struct watch *w, struct mono now, const struct member *m);
/* Notes m, which is in no trial, when it is due. */
void trial_note_due(struct watch *w, struct mono now, const struct member *m);
void trial_end_sweep(struct watch *w);

/* --- trial_group.c --------------------------------------------------------------------------- */

/* Goes on with a trial of a group. */
void trial_group_go(struct watch *w, struct mono now, struct trial *t, const struct check *k);
/* The key of a shared cause that a trial found. */
bool trial_is_shared(const char *key);

/* --- choose.c -------------------------------------------------------------------------------- */

/* What runs on m, for whoever wants to repair it. */
enum work repair_work(const struct watch *w, const struct member *m);
/* What would be done for m now. undone: of the attempt under way nothing was done, and it is no try; and
 * why, where it was refused. */
void repair_choose(const struct watch *w, struct mono now, const struct member *m, bool undone,
                   enum refusal refusal, struct choice *out);
/* Why no remedy of this one's way is carried out in this repair any more; NULL: it may be. `refusal` is of
 * the attempt under way. */
const char *repair_bars(const struct watch *w, const struct member *m, enum refusal refusal,
                        const struct remedy *remedy);
/* Something that is open is the hardware's, by the tables or because it came back. */
bool is_hardware(const struct member *m);

/* --- outcome.c ------------------------------------------------------------------------------- */

/* Judges what remedies came to. True when something was proposed. */
bool outcome_look(struct watch *w, struct mono now, const struct member *m);

/* --- operation.c ----------------------------------------------------------------------------- */

enum operation_state {
    OPERATION_NONE,
    OPERATION_WAITS,
    OPERATION_BEGUN,
    OPERATION_DONE,
    OPERATION_FAILED,
    OPERATION_REFUSED,
    OPERATION_UNKNOWN
};

/* An effect as it stands. Zero-initialise; operation_fini. */
struct operation {
    enum operation_state state;
    const char *id, *run, *of, *boot, *text; /* of `record` */
    enum refusal refusal;                    /* of one that was refused, where that is known */
    struct wall deadline, began;             /* began.ns 0: it is not under way */
    json_t *record;
};
void operation_read(const struct watch *w, const struct member *m, struct operation *o);
/* The same of a person's power command: `of` and `boot` are "". */
void power_read(const struct watch *w, const struct member *m, struct operation *o);
void operation_fini(struct operation *o);
void operation_propose(struct watch *w, struct mono now, const struct member *m, const char *run,
                       const char *of, struct span deadline);
/* What came of it was seen by the watch, and whoever carries it out does not say so. */
void operation_end(struct watch *w, struct mono now, const struct member *m, const struct operation *o,
                   const char *state, const char *text);
/* Whether its time is over, by the watch's own time; of one that is begun, long over. */
bool operation_overdue(struct watch *w, struct mono now, const struct member *m, const struct operation *o);
/* What comes up again on another boot when it has been done. */
bool run_boots(const char *run);
/* It boots the same machine from where it boots. */
bool run_restarts(const char *run);

/* --- forget.c -------------------------------------------------------------------------------- */

/* A person answered for m, and its agent has not looked anew yet, and forgotten what the kernel's log said.
 */
bool forget_waits(const struct watch *w, const struct member *m);
/* What was found of m by a look at this moment is what a person answered for, and not judged anew since.
 * place: of the check; SIZE_MAX for others' checks. */
bool forget_covers(const struct watch *w, const struct member *m, const struct check *k,
                   const struct finding *f, size_t place, struct mono looked);
/* What this check says of m is not believed meanwhile. */
bool forget_doubts(const struct watch *w, const struct member *m, size_t check);
/* Before anything is looked at: notes that it was forgotten. */
void forget_look(struct watch *w, struct mono now, const struct member *m);
/* Proposes that it is. True when something was proposed. */
bool forget_propose(struct watch *w, struct mono now, const struct member *m);

/* --- override.c ------------------------------------------------------------------------------ */

/* A person wants m in service in spite of incidents of this group that are no worse than this. */
bool overridden(const struct member *m, const char *group, enum result severity);
/* A person wants m in service, and its repair gives way. */
bool repair_yields(const struct member *m);
/* In each sweep, for every member: writes down how long its override has stood, and ends it in time. */
void override_look(struct watch *w, struct mono now, const struct member *m);

/* --- brake.c --------------------------------------------------------------------------------- */

/* Whether m may be isolated now for what began at `since`; if not, whoever has to know is told. */
bool brake_isolate(struct watch *w, struct mono now, const struct member *m, struct wall since);
/* Whether remedies may be carried out at all: 0, or -EAGAIN with why not. */
int brake_stopped(const struct watch *w, struct err *e);
/* What Fettle has written of m into Slurm, as its driver recorded it; NULL: nothing. The caller's. */
json_t *slurm_recorded(const struct watch *w, const struct member *m);
/* A person's claim rests on m. */
bool person_holds(const struct member *m);
/* Another machine is found under the name of m, which has to be tested: it is out from now on, whatever room
 * there is, and others find that it is. */
void brake_swapped(struct watch *w, const struct member *m);
/* Whether m may be taken out now for a maintenance event: as brake_isolate, but that is no surge. */
bool brake_maintain(struct watch *w, const struct member *m);
/* A maintenance event asks for it: that the node is replaced, or restarted. It is asked for no evidence. */
bool maintenance_wants(const struct member *m, const struct remedy *remedy);
/* Something is open that it may help, or it has to follow what was done last. */
bool remedy_wanted(const struct watch *w, struct mono now, const struct member *m,
                   const struct remedy *remedy);
/* Whether this may be done to m now: 0; -EAGAIN, not now; -EBUSY, not any more. remedy NULL: a check. */
int brake_operate(const struct watch *w, struct mono now, const struct member *m, const struct remedy *remedy,
                  struct err *e);
/* The same for a remedy on a node in service, which has to be degraded and in nobody's hands. */
int brake_tend(const struct watch *w, struct mono now, const struct member *m, const struct remedy *remedy,
               struct err *e);
/* Whether the scheduler may be asked now to end the work on m, which is lost, as its class says. */
int brake_end_work(const struct watch *w, struct mono now, const struct member *m, struct err *e);
/* Why nothing may be done that needs m idle, and which work it is: "work runs on it: slurm.4711". */
void work_say(const struct watch *w, const struct member *m, struct text *out);
unsigned remedies_of_week(const struct watch *w, const struct member *m);
unsigned brake_listed(struct watch *w); /* nodes that a configuration file names */
/* There is room for m among those that may be out. */
bool brake_room(struct watch *w, const struct member *m);
void brake_load(struct watch *w, struct mono now); /* what is recorded of isolations, once */
void brake_end_sweep(struct watch *w);
void brake_patient(struct watch *w, const struct member *m); /* its repair began, changed or is over */
void brake_destroy(struct watch *w);

/* Nodes that a budget is of; made when it is needed. */
struct totals {
    bool good;
    size_t n_classes, n_groups;
    uint32_t all, *classes, *groups, partitions[PARTITION_MAX + 1];
};

/* --- machine.c ------------------------------------------------------------------------------- */

/* In each sweep, for a listed member: notes which machine it is, and proposes what follows from another one.
 */
void machine_look(struct watch *w, struct mono now, const struct member *m);
void machines_end_sweep(struct watch *w);
/* False while a machine is recorded, and this session's inventory is not here. */
bool machine_seen(const struct watch *w, const struct member *m);
/* -EAGAIN while it is not known that the machine that answers is the recorded one, or when it is another. 0
 * also when nothing tells it from others: nothing follows from that. */
int machine_check(const struct watch *w, const struct member *m, struct err *e);
/* The surest name of the machine that answers; NULL while it is unknown. Borrowed. */
const char *machine_here(const struct watch *w, const struct member *m);
/* Whether the machine that answers had the name already, now or before; also when that is not known any more,
 * because as many had it since as are remembered. */
bool machine_may_be_known(const struct watch *w, const struct member *m);

/* --- window.c -------------------------------------------------------------------------------- */

/* The maintenance window of the scheduler's that m lies in, in words: hands off. NULL: in none. Borrowed. */
const char *window_of(const struct watch *w, const struct member *m);
/* In each sweep, for every member: notes what is to be written down. */
void window_look(struct watch *w, struct mono now, const struct member *m);
void windows_end_sweep(struct watch *w);

/* --- held.c ---------------------------------------------------------------------------------- */

/* Whether nobody but Fettle holds m, as far as is known: 0, or -EAGAIN with who does. Asked before anything
 * destructive. */
int held_check(const struct watch *w, const struct member *m, struct err *e);
/* The same right before it is acted on, `now` being the clock's; -ESTALE: the scheduler has to be read first.
 */
int held_check_now(const struct watch *w, struct mono now, const struct member *m, struct err *e);
/* The latter alone: -ESTALE where somebody who can say who holds it, or what runs on it, is to be read first.
 */
int held_read_now(const struct watch *w, struct mono now, const struct member *m, struct err *e);
/* Says in f what others say of m for new work. */
void held_fitness(const struct watch *w, const struct member *m, struct fitness *f);
/* Somebody holds it, in the scheduler, in OpenCHAMI or at its BMC. */
bool held_elsewhere(const struct watch *w, const struct member *m);
/* Somebody holds it, works on it, or has set it aside in its repair. */
bool is_somebodys(const struct watch *w, const struct member *m);
/* Has OpenCHAMI read of m when that is due. */
void held_look(struct watch *w, struct mono now, const struct member *m);

/* --- lost.c ---------------------------------------------------------------------------------- */

/* Its BMC answered, or did not. */
void lost_answered(struct watch *w, struct mono now, const struct member *m, const struct bmc_said *is);
/* In each sweep, for a listed member: of one that stays silent the BMC is to be asked, and then it is lost.
 */
void lost_look(struct watch *w, struct mono now, const struct member *m);
void lost_drop(struct watch *w, struct vitals *v);
const struct check *lost_record(void); /* nothing but the name */
bool lost_is(const struct watch *w, const char *check);
/* What is found of one that is lost; NULL: it is not. Borrowed. */
const struct finding *lost_finding(const struct watch *w, const struct member *m);
bool lost_stands(const struct watch *w, const struct member *m); /* it is, and not many with it */
/* Whether something may be done to m, which is not heard: 0, or -EAGAIN with why not. */
int lost_check(const struct watch *w, struct mono now, const struct member *m, struct err *e);
/* It is silent for so long that what keeps it from being repaired is a person's. */
bool lost_lasts(const struct watch *w, struct mono now, const struct member *m);
/* What runs on one that is lost, as far as anybody can say. */
enum work lost_work(const struct watch *w, const struct member *m);
/* Nobody can say what runs on m, which is lost for long, and nobody ever will: there is no scheduler. */
bool lost_work_unsaid(const struct watch *w, struct mono now, const struct member *m);
/* Nodes that would be missed; of a Group, but with 0. */
unsigned lost_runners(const struct watch *w, unsigned group);
/* The boot on which m was last, as far as it is known; else "". */
const char *boot_of(const struct watch *w, const struct member *m);

/* --- bmc.c ----------------------------------------------------------------------------------- */

/* What is known of asking one node's BMC. */
struct bmc_asking {
    uint32_t due_ds; /* when it is asked next by itself, in tenths of seconds since the watch was made; 0: not
                        set */
    uint32_t asked_ds; /* when it was asked last, likewise */
    uint8_t tries;     /* so often in a row it did not answer */
    bool none;         /* there is nothing to ask */
    bool wanted;       /* it is to be asked, */
    bool urgent;       /* before those that are due, for something waits for it; */
    bool asked;        /* or was, and has not answered yet */
    bool mute;         /* what it told once is not known any more */
};

/* In each sweep, for a listed member: its BMC is to be asked when it is due. */
void bmc_look(struct watch *w, struct mono now, const struct member *m);
void bmcs_end_sweep(struct watch *w);
/* Something waits for an answer of it. */
void bmc_want(struct watch *w, const struct member *m);
bool bmc_is_asked(const struct watch *w, struct mono now, const struct member *m); /* or about to be */
void bmc_boot(struct watch *w, struct mono now, const struct member *m);           /* m came up anew */
/* Other BMCs may be configured now. */
void bmcs_reconfigure(struct watch *w);
/* What m's BMC tells, as it counts now; NULL: nothing. Borrowed. */
struct listing *bmc_listing(const struct watch *w, const struct member *m);
void bmc_create(struct watch *w);
void bmc_destroy(struct watch *w);

/* --- boot.c ----------------------------------------------------------------------------------- */

#define BOOT_CHECK "node.boot" /* in the place of a check's name */
#define BOOT_DEVICE "boot"     /* its incidents are apart from all others of the node */

/* A session opens on another boot than the one before; o->boot is that still. */
void boot_opened(struct watch *w, struct mono now, const struct member *m, const char *boot);
/* In each sweep, for a listed member: notes what explains a boot, and judges one that awaits it. */
void boot_look(struct watch *w, struct mono now, const struct member *m);
void boot_drop(struct vitals *v);
bool boot_is(const struct watch *w, const char *check);
const struct check *boot_record(void); /* nothing but the name */
/* That the present boot was asked for by nobody, as judged or as recorded; NULL: it was, or that is over.
 * Borrowed until something is put into the records. */
const struct finding *boot_finding(const struct watch *w, const struct member *m);
/* As finding_gone. */
bool boot_gone(const struct watch *w, const struct member *m, const struct finding *f);
/* What can bring it about. */
enum blame boot_blame(const struct finding *f);
/* The present boot is not judged yet, or the finding is not recorded. */
bool boot_awaits(const struct watch *w, const struct member *m);
/* The node keeps booting by itself, and that takes it out of service. */
bool boot_stands(const struct watch *w, const struct member *m);
/* The open incident of a lost node that is heard again, of which the record does not say yet what the boot
 * ended in on which it was lost. NULL: there is none, or nobody knows, and nobody will. */
const struct incident *boot_unexplained(const struct watch *w, struct mono now, const struct member *m);
/* What it ended in, in the words of a finding. False: that is still to be heard. */
bool boot_cause(const struct watch *w, const struct member *m, struct finding *out);

/* --- alarm_watch.c ---------------------------------------------------------------------------- */

/* At the end of each sweep: ends alarms whose cause is gone, and raises those of shared causes. */
void alarms_end_sweep(struct watch *w);

/* --- silence.c ------------------------------------------------------------------------------- */

enum { DUE_TICKS = 1024, DUE_NONE = -1 };

/* When a member is looked at next, and how it counts for the alarm. */
struct due {
    int64_t tick;        /* DUE_NONE: not by itself */
    uint32_t prev, next; /* of those of the same tick, modulo DUE_TICKS; UINT32_MAX: none */
    bool watched, quiet;
    bool fallen; /* it is among those that are to be taken down */
};

void silence_create(struct watch *w);
void silence_destroy(struct watch *w);
void silence_grow(struct watch *w, size_t from, size_t n); /* as conformity_grow */
/* Something that decides when m falls silent is another: also in each sweep. */
void silence_look(struct watch *w, const struct member *m);
/* m was heard. */
static inline void silence_heard(struct watch *w, const struct member *m);
/* In each tick: has taken down who was found silent in ticks before. */
void silence_tick(struct watch *w, struct mono now);
/* Looks at so many at most of those that are due, and returns at how many it did. */
size_t silence_step(struct watch *w, struct mono now, size_t nodes);
/* Judges mass silence. */
void silence_end_sweep(struct watch *w);

/* --- watch.c --------------------------------------------------------------------------------- */

/* --- call.c ---------------------------------------------------------------------------------- */

/* ADMIT, AGAIN: put into service, for the first time or on another boot. */
enum call { CALL_ADMIT, CALL_AGAIN, CALL_HEARD, CALL_DRAINED, CALL_DRAINING, CALL_KINDS };

/* Found by the sweep under way. */
void call_add(struct watch *w, enum call call, const struct member *m);
void calls_end_sweep(struct watch *w);
/* In each tick: some of what is left may be proposed. */
void calls_tick(struct watch *w);
/* One command of them. False: no other in this tick. */
bool calls_step(struct watch *w);
void calls_destroy(struct watch *w);

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
    struct mono resumed; /* when it had stood still for long the last time */
    uint32_t cursor;
    unsigned slice, sweeps;
    unsigned ended;                  /* so much of what is judged on the whole is */
    struct called found[CALL_KINDS]; /* by the sweep under way, */
    struct called calls[CALL_KINDS]; /* and by the one that is being proposed */
    unsigned called;                 /* so many of this tick's commands were looked for */
    struct alarms alarms;

    struct due *due;           /* by member id */
    uint32_t wheel[DUE_TICKS]; /* the first member of each; UINT32_MAX: none */
    int64_t tick;              /* the last that came, */
    int64_t ticked;            /* and the last whose members are looked at */
    bool round;                /* it is time to tell, once all are looked at */
    size_t watched, quiet;     /* for the alarm: in service, and of them not heard of late */
    size_t n_fallen, fallen_cap;
    uint32_t *fallen;           /* members to be taken down, found in ticks before */
    struct hostlist late, live; /* to be told */
    bool alarm;                 /* of mass silence */
    struct mono calm; /* when the last one ended: nobody is taken down for a full window from then */
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
    bool proposing;           /* they are being proposed */
    size_t grouped[COMMANDS]; /* nodes in them */
    uint32_t news_from;       /* members below may make no news in this sweep: it is the turn of the others */
    uint32_t news_left;       /* the first member whose news found no room, UINT32_MAX for none */

    struct bmc_asking *bmcs;  /* by member id */
    bool bmcs_wanted;         /* of some node the BMC is to be asked; */
    unsigned bmcs_asked;      /* so many were, and have not answered yet */
    json_t *bmc_news;         /* what BMCs tell now, and is to be written down; NULL for none */
    struct listing *bmc_mute; /* what counts of one that does not answer */
    bool unread;              /* of some node who holds it is to be read again */
    json_t *windows;          /* by their words, nodes of which it is to be written down; NULL for none */
    json_t *machines;         /* that are to be written down at the end of the sweep; NULL for none */

    struct vitals **vitals; /* by member id */
    size_t n_vitals;
    char **check_names; /* as of the records that vitals know */
    struct check_rule *rules;
    size_t n_checks;
    uint32_t checks_generation;
    char list[CHECKLIST_HASH_BYTES_MAX + 1]; /* of the checks as agents are told them; "" not known */
    struct called follow;                    /* members to look at in the next tick, */
    struct called following;                 /* and in this one */
    struct outbreak *outbreaks;
    json_t *measured;          /* that is to be written down, by class and check; NULL for none */
    struct mono measured_from; /* when the first of it came */

    size_t n_scheduled;
    uint16_t *scheduled; /* places of the checks that are scheduled */
    struct trial *trials;
    uint64_t trial_runs;      /* begun so far */
    bool trials_may;          /* more may be begun, as the last sweep found */
    struct mono trials_yield; /* their room was needed; ns 0: never */
    size_t n_candidates, candidates_cap;
    struct trial_due *candidates; /* of the sweep under way */
    struct trial_wish wish;

    bool health_began; /* what the records say is taken in */
    uint32_t *runners; /* by check: nodes that run it; NULL: to be counted */
    size_t n_patients;
    uint32_t *patients; /* members that are out by Fettle's decision */
    struct totals totals;
    size_t n_surge;
    struct mono *surge;    /* when each of the last came that would be isolated, and those recorded before */
    bool surge_loaded;     /* with those of leaders before */
    bool tripped, latched; /* the latch: proposed and not yet recorded; as seen last */
    bool budget_alarm;     /* that nodes wait for room was told */
    size_t untold_from;    /* of the nodes that are well, the first that watch_untold looks at next */
    size_t waiting;        /* of them, in the sweep under way */
};

/* said_now of a node that speaks: for those who ask about all checks of all nodes. */
static inline enum result said_of(const struct watch *w, struct mono now, const struct vitals *v, size_t i)
{
    int64_t age_ns = now.ns - w->created.ns - INT64_C(100000000) * v->looked_ds[i];
    uint8_t said = v->said[i] & SAID_RESULT;
    return !said || age_ns > w->rules[i].age_max_ns ? RESULT_UNKNOWN : (enum result)(said - 1);
}

/* A moment that is kept in tenths of seconds since the watch was made. */
struct mono watch_at(const struct watch *w, uint32_t ds);
uint32_t watch_ds(const struct watch *w, struct mono at);
static inline void silence_heard(struct watch *w, const struct member *m)
{
    const struct due *d = &w->due[m->id];
    if (d->tick == DUE_NONE || d->quiet)
        silence_look(w, m);
}
static inline bool within(struct mono now, struct mono then, int64_t seconds)
{
    return mono_sub(now, then).ns < span_s(seconds).ns;
}
const struct patience *patience_of(const struct watch *w, const struct member *m);
/* The monotonic clock less the time in which this process stood still. */
struct mono watch_awake(const struct watch *w, struct mono now);
/* The same at a moment at which something was observed. */
struct mono watch_observed_at(struct watch *w, struct mono now);
/* What was observed of m; makes room for members that were met since. */
struct observed *watch_of(struct watch *w, const struct member *m);
/* Nothing has to pass first, and the record does not say that it is in service on this boot. */
bool is_put_into_service(const struct watch *w, const struct member *m);
/* And held for its checks, where they have to pass first: no work lands in between. */
bool is_heard(const struct watch *w, const struct member *m);
struct known *known_of(struct watch *w, const struct member *m);

#endif
