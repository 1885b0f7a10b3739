/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_TEST_SIM_H
#define FETTLE_TEST_SIM_H

#include "beat/waits.h"
#include "cluster/cluster.h"
#include "watch/share.h"
#include "watch/watch.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A cluster in virtual time: the real cluster, watch and share between a model of the fleet (nodes,
 * agents, collectors, the network) and a model of the store. One seed is one history. A step is one
 * tick of the controller, 100 ms.
 *
 *   fleet    nodes, agents and the network; the truth about each fault
 *   shell    the controller around the decisions: sessions, shares, proposals (as src/controller does)
 *   agreed   the store, with commits that take time, fail, or are durable before they are answered;
 *            and a second, naive opinion of the result of each command
 *   checks   the invariants, after every step; each alarm that begins ends by an alarm.over of its own (15)
 *   conform  the components of nodes, and what follows from them
 *   ill      the faults of nodes, the results of their checks, the scheduler
 *   repair   the parties that carry out operations, and the commands of people in a repair
 *   mend     the invariants of health and repair
 *   held     people who hold nodes in the scheduler
 *   lost     nodes that stay silent, and their BMCs
 *   machine  which machine has a name, and swaps
 *
 * A node reports to CONTROLLER or to the index of a collector.
 */

enum {
    NODES_MAX = 200,
    CONTROLLER = -1,
    NOBODY = -2,
    OWNERS = 3,
    FORMER_MAX = 3,
    VARIANTS = 6,
    BOOTS_KEPT = 64
};
static const int64_t STEP_NS = WATCH_TICK_MS * INT64_C(1000000);

enum link { LINK_NONE, LINK_CONNECTING, LINK_OPEN };

/* The true state of a node. */
struct fleet_node {
    char name[24];
    bool up, agent, busy;
    int64_t up_at, agent_at; /* when it boots, and when its agent starts again */
    int64_t booted_at;
    unsigned loops; /* it will crash this many times more, each time a while after it came up */
    int64_t loop_at;
    unsigned boot, asked_boot; /* the number of its boot; the last boot that somebody asked for, or that is
                                  about to come */
    unsigned machine, machines[BOOTS_KEPT]; /* the present machine; the machine of each boot, by its number
                                               modulo BOOTS_KEPT */
    int64_t swap_at;                        /* when its machine is swapped again; 0: it is not */
    uint64_t instance, seq;
    uint64_t lost;       /* heartbeats below this one were sent before one was lost */
    int64_t cut_until;   /* until then the network holds back its traffic, and then its links are lost */
    int64_t still_until; /* until then its agent's process is stopped, while its kernel answers */
    bool mass;           /* cut off together with most others, and otherwise well */
    enum link link;
    int to, redirect; /* CONTROLLER, a collector, NOBODY */
    int sent_to; /* the collector to which this controller sent it, and which has not heard it yet; or NOBODY
                  */
    int64_t sent_at;
    uint64_t conn;
    int64_t next_try, next_beat, deadline;
    int left;  /* the collector that it left for a controller, until another welcomes it; or NOBODY */
    bool asks; /* its collector has not answered a heartbeat yet */
    int64_t interval;

    /* As a collector. */
    bool given[NODES_MAX];
    struct ledger {
        uint64_t conn, instance, seq;
        unsigned boot;
        int work, made;
        int64_t beat, ago; /* when it was last heard; how long that was before it was found missing */
        enum { MISSES_NEXT, SILENT_NEXT, TOLD_ALL } finds; /* what it will be found as next */
        bool misses;                                       /* which is to be reported */
        bool open, heard, changed, told; /* told: in the last batch, or reported at once since then */
    } ledger[NODES_MAX];
    bool news; /* something is to be reported before the batch is due */
    int64_t last_batch, uplink_lost;
    int64_t answered; /* when the controller last answered */

    /* The truth about it, for the checks. */
    bool own_fault;              /* it causes its silence itself, until it is heard */
    int64_t last_good;           /* when it was last heard, or would have been if the others had worked */
    int64_t quiet;               /* how long a listening controller has heard nothing */
    int64_t quiet_max;           /* the upper limit of that, because it was excused then */
    int64_t down_due;            /* how long it should have been found silent */
    int64_t well;                /* how long nothing at all was wrong */
    int64_t heard_well;          /* the same, while it was live */
    bool heard;                  /* since the controller started */
    uint64_t former[FORMER_MAX]; /* instances that this controller saw replaced */

    /* The components of the node. */
    int made;                      /* variant */
    int told;                      /* the variant that this controller knows, of this boot; -1: none */
    bool said;                     /* it was sent over this connection */
    bool lies;                     /* it was caught lying, and has not shown a correct list since */
    int64_t told_at, verified_at;  /* when it last changed; when it was last verified */
    int64_t drift_since;           /* of its drift record */
    int64_t record_due;            /* how long its record should have followed */
    int64_t hold_due;              /* how long it should have been held */
    enum conformance opinion;      /* the naive opinion, and since when */
    bool held_drift, held_overdue; /* before the commit */
    bool reboot_asked;
};

enum message_kind {
    MESSAGE_HELLO,
    MESSAGE_BEAT,
    MESSAGE_BATCH,
    MESSAGE_SHARE,
    MESSAGE_LIST,
    MESSAGE_INVENTORY,
    MESSAGE_CHECKS,
    MESSAGE_ACT,
    MESSAGE_DONE
};

/* The faults of a node, and the checks that find them. The last two belong to the extensive stage. */
enum ail { AIL_SERVICE, AIL_MOUNT, AIL_GPU, AIL_LINK, AIL_WATCHED, AIL_DEEP, AIL_DEEPER, AILS };
enum {
    DEEDS_KEPT = 16,
    OPERATIONS_KEPT = 64,
    OPERATION_RUN_MAX = 32,
    AWAY_MAX = 6,
    DEEP_CHECKS = AILS - AIL_DEEP
};

/* An agent's result of one check. */
struct word {
    enum ail check;
    enum result result;
    int64_t looked;
};

/* The true state of a machine, under any name: its faults, what its disk has, and what was done to it. */
struct hardware {
    unsigned id;
    struct {
        bool on, flaps, hidden;
        int64_t until;  /* when it ends by itself; 0: it does not */
        unsigned cures; /* bits of enum cure */
        enum result worst;
    } ails[AILS];
    bool mute; /* a check has no answer */
    struct deed {
        char id[CLAIM_ID_BYTES_MAX + 1], run[OPERATION_RUN_MAX], verdict[160];
        unsigned boot;
        const char *state;
    } deeds[DEEDS_KEPT];
    size_t n_deeds;
    int64_t tried_at;                                       /* when a remedy was last carried out on it */
    int64_t passed_at[DEEP_CHECKS], failed_at[DEEP_CHECKS]; /* when each extensive check passed, and failed */
    int64_t person_at;                                      /* when a person answered for it */
};

/* The true health of a node, what its agent knows, and what is done to it. */
struct patient {
    struct hardware here, away[AWAY_MAX]; /* the present machine, and earlier ones */
    size_t n_away;

    enum result is[AILS]; /* the last results on this boot */
    int64_t looked[AILS];
    int64_t fails_since[AILS],
        bad_since; /* each that runs by itself, without a break; the earliest; 0: none */
    bool told;     /* everything was sent, over this path */
    uint64_t told_way;

    struct {
        bool on, hangs, fails;
        int64_t ends, deadline;
    } now; /* of the last operation */
    struct {
        bool on, fails, replaces, asks;
        int64_t ends;
        char id[CLAIM_ID_BYTES_MAX + 1];
    } power; /* by the driver */

    /* The controller's part in carrying out operations. */
    struct {
        char id[CLAIM_ID_BYTES_MAX + 1];
        int state; /* 0 waits, 1 begins, 2 begun */
        bool own;  /* this controller began it */
        bool told; /* the agent was told */
        int64_t next;
    } actor;

    struct wall
        work_asked;      /* the `since` of the step in which the scheduler was last asked to end the work */
    bool recorded_there; /* the record says that the scheduler has the drain, or was told to set it */

    /* What it runs in a trial, for which the controller waits. */
    struct {
        bool on, hangs;
        uint64_t run;
        int64_t ends, deadline;
    } trial;

    /* The override as it is recorded. */
    struct {
        struct wall at; /* ns 0: there is none */
        int64_t since;
        size_t n;
        struct override_of of[INCIDENTS_OPEN_MAX];
    } word;

    /* The scheduler. */
    bool drained_there;
    int64_t drain_at, completing_until;
    int64_t held_from, held_until;   /* a person's hold there */
    int64_t bmc_asked, bmc_answered; /* when its answer is due; when it last answered; 0: not */
    int64_t bmc_locked_until;        /* until then the BMC locks its power */
    bool bmc_locks;                  /* the last answer about that to this controller */
    unsigned bmc_silent;             /* how often in a row the BMC has not answered since */
    int64_t unread_at;               /* when its holds are read by name; 0: no question is open */

    /* The opinion: what this controller was told about the present boot, and what happened to the node. */
    struct {
        enum result result;
        unsigned boot;
        int64_t looked, told; /* told 0: never */
    } heard[AILS];
    enum work scheduled;
    bool scheduler;
    int64_t person_at, kept_since, overridden_at;
    int64_t claimed_at;        /* since when a person's drain or down rests on it; 0: none */
    int64_t answered_at[AILS]; /* when a person repaired it, so that only later results may find it again; 0:
                                  never */
    bool broken;               /* its examination was broken off and not made up for */
    bool proven;               /* on this boot all its checks have passed once, or a person answered for it */
    unsigned proven_boot;
    unsigned moves; /* steps since something was last observed about it */
    char begun[OPERATIONS_KEPT][CLAIM_ID_BYTES_MAX + 1], done[OPERATIONS_KEPT][CLAIM_ID_BYTES_MAX + 1];
    size_t n_begun, n_done;
    enum step step; /* before the commit */
    bool manual;
    bool waits; /* in the work queue, for a person: taken, or there for a reason that is not over */
    enum approval approval;
    char repair[CLAIM_ID_BYTES_MAX + 1];
};

struct batch_item {
    int node;
    bool heard, changed, open, missed;
    int64_t ago;
    uint64_t instance, seq;
    unsigned boot;
    int work, made;
};

struct message {
    int64_t at;
    uint64_t order;
    enum message_kind kind;
    int from, to;
    uint64_t conn, instance, seq;
    unsigned boot;
    int work; /* -1 unknown, 0 idle, 1 busy */
    int made;
    unsigned machine; /* INVENTORY */
    bool uuid;        /* INVENTORY: the UUID is read, too */
    bool lie;         /* LIST: it is another node's */
    size_t n;
    struct batch_item *items; /* BATCH; SHARE: the nodes given */
    struct word *words;       /* CHECKS */
    bool full;                /* CHECKS: all of them; BATCH: it was due */
    int64_t not_before;
    struct deed deed; /* ACT, DONE */
    int64_t deadline;
    struct message *next;
};

/* A connection at the controller. */
struct session {
    int node;
    uint64_t conn;
    bool collects;
    int64_t came, batch_at;
    int64_t close_at; /* when the controller learns that the other end is gone; 0: never */
    struct session *next;
};

struct job {
    enum command_kind kind;
    char actor[16], reason[32], claim[CLAIM_ID_BYTES_MAX + 1];
    struct command *cmd; /* a copy */
    bool named;          /* the caller gave the claim's name */
    bool proposal;
    struct hostlist nodes;
    struct wall at;
    size_t from, next;
    bool listed[NODES_MAX], sensitive[NODES_MAX]; /* at the time of the decision */
    int64_t asked_at, durable_at;
    bool durable, failed;
    struct decision decision;
    struct job *after;
};

/* A claim on one node: the naive opinion. */
struct opinion {
    char id[CLAIM_ID_BYTES_MAX + 1], owner[16], reason[32];
    enum claim_kind kind;
    int node;
    bool drained;
};

struct record {
    char *key, *value;
};

/* An alarm that this controller has begun and not ended. */
enum { STANDING_MAX = 512 };
struct told_alarm {
    enum alarm_kind kind;
    char subject[128];
};

struct sim {
    uint64_t seed, random;
    int64_t now;
    int64_t wall_step; /* of the controller's wall clock */
    long step, steps;
    bool verbose;
    bool excepted[NODES_MAX]; /* Remediate=no: nothing may be done to the node (16) */
    int follow;               /* a node's number, or -1 */
    struct told_alarm standing[STANDING_MAX];
    size_t n_standing;

    /* the fleet */
    size_t n;
    struct fleet_node *nodes;
    struct message *messages;
    uint64_t conns, instances, orders;
    unsigned loss_per_mille;
    int64_t delay_max;

    /* the configuration */
    int64_t unit; /* the short heartbeat interval; the timeouts are multiples of it */
    bool slow;    /* the long interval is in force */
    bool swept;   /* this history has its own settings: */
    struct {
        int late,
            more; /* in percent of the possible range above the interval, and above the shortest timeout */
    } chosen[2];  /* with the short interval, with the long one */
    struct watch_policy policy;
    int64_t interval;
    struct waits waits;
    struct span more;    /* how much longer a window is after a collector was lost */
    struct span longest; /* the most by which a window was ever longer than a timeout in this history */
    bool listed[NODES_MAX], sensitive[NODES_MAX], borrowed[NODES_MAX];
    unsigned cpus[NODES_MAX];
    bool collector[NODES_MAX];
    size_t n_collectors;
    bool ignores; /* a class ignores some components */

    /* the controller */
    bool running;
    struct span first; /* how much longer its first window is */
    int64_t start_at, began, stalled_from, stalled_until, wake_first;
    int64_t stood_still; /* since it started, as it noticed */
    uint64_t term;
    struct cluster *cluster;
    struct watch *watch;
    struct share *share;
    struct session *sessions;
    int64_t shares_from, balance_at, calm_at; /* calm_at: last time that anything but nodes was at fault */
    int64_t timeouts_at;                      /* when a timeout was last changed */
    int64_t store_bad_at, alarm_at;           /* when the store last failed; when the alarm last stood */
    size_t duplicates, refused;               /* notices and refusals so far */
    int64_t mass_at[2]; /* since when most nodes of a class (the second: gpu) drift; 0: they do not */
    int64_t judged_at;  /* when baselines or classes last changed */
    int64_t counted_at; /* since when nodes that were accounted for count again */
    int64_t wall_at;    /* when the wall clock was last set */

    /* the store and the opinion */
    struct record *records;
    size_t n_records;
    struct job *jobs; /* the first one may be under way */
    bool committing;
    uint64_t claims;
    int64_t full_until;
    uint8_t owner[NODES_MAX]; /* by node, as owners.c numbers them; 0: nobody */
    struct opinion *opinions;
    size_t n_opinions, cap_opinions;
    bool admitted[NODES_MAX];
    int edit_cpus[NODES_MAX], edit_sensitive[NODES_MAX]; /* -1: not edited */
    size_t committed, acknowledged, crashes;
    size_t downs, alarms, leads;

    /* machines */
    unsigned machines;
    int64_t uuids_at;   /* from then on agents run as root, and also read UUIDs */
    int64_t renamed_at; /* when another machine was last recorded */
    size_t swaps, swaps_back, renamed, boots_found;

    /* health */
    bool ill;            /* this history has faults */
    bool calm;           /* faults have ended, and people answer */
    bool slurm;          /* there is a scheduler */
    int64_t quiet_since; /* when the controller last stood still */
    struct patient *patients;
    int64_t server_until, broken_until, slurm_until; /* how long the shared services have their fault */
    int64_t raised_at, reload_at; /* when a person last gave nodes back to Fettle; when the last reload was */
    int64_t latch_at;
    /* When a trial last began that had been taken as lost after a long silence, with its room given to
     * others. It is ended at once; until then more nodes are out. */
    int64_t late_at;
    int64_t bmcs_until; /* until then no BMC answers */
    size_t revived;     /* operations on nodes that were not heard */
    int64_t wave_until,
        wave_next; /* in this time nodes fall ill one after the other, with different faults */
    unsigned waves;
    int64_t isolating[NODES_MAX]; /* when that was proposed of each for something new; 0: not */
    bool isolated[NODES_MAX];     /* and it is recorded, by the clock as it is: leaders after count it, too */
    bool stopped, latched;        /* before a commit */
    size_t trials, tried, examined, measured; /* examined: runs on nodes in the extensive stage */
    int64_t counted_tally, counted_attempts;  /* before a commit */
    size_t given_back;                        /* outcomes, by the end of a shared cause */
    size_t tended, answers;                   /* answers: persons' words on single findings */
    size_t works_ended, isolations, returns, operations, queued, shared_causes, latches, helped, overrides;
    size_t drifts, restored, persists, overdue, reboots, approved, liars;
};

/* main.c: what happens, for the trace; and the end when something may not be. */
void sim_say(struct sim *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sim_fail(struct sim *s, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));

/* sim.c */
uint64_t sim_random(struct sim *s, uint64_t below);
bool sim_chance(struct sim *s, unsigned per_million);
struct sim *sim_create(uint64_t seed, long steps);
void sim_step(struct sim *s);
void sim_destroy(struct sim *s);
const struct beat_timeouts *sim_timeouts(const struct sim *s, int node);
void sim_policy(struct sim *s);
int sim_index(const struct sim *s, const char *name); /* -1: none of the fleet */

/* fleet.c */
void fleet_create(struct sim *s);
void fleet_step(struct sim *s);
void fleet_faults(struct sim *s);
bool fleet_reaches(const struct sim *s, int node);
void fleet_lose_link(struct sim *s, int node, int64_t wait);
/* No controller is to be had: it tries again, or the collector that it left. */
void fleet_in_vain(struct sim *s, int node);
/* The longest wait before a node tries again. */
int64_t fleet_pause(const struct sim *s);
void fleet_take_share(struct sim *s, int collector, const bool given[static NODES_MAX]);
void fleet_send(struct sim *s, struct message *m);
void fleet_boot_id(unsigned boot, int node, char buf[static 37]);
bool fleet_collects(const struct sim *s, int collector);
void fleet_reboot(struct sim *s, int node);
/* It is off, from now on or already, and boots after a while. */
void fleet_off(struct sim *s, int node);

/* shell.c */
void shell_start(struct sim *s);
void shell_crash(struct sim *s);
void shell_stop(struct sim *s);
void shell_tick(struct sim *s);
bool shell_listens(const struct sim *s);
void shell_hello(struct sim *s, const struct message *m);
void shell_beat(struct sim *s, const struct message *m);
void shell_batch(struct sim *s, const struct message *m);
void shell_reload(struct sim *s);
void shell_attack(struct sim *s);
void shell_gone(struct sim *s, int node, int64_t learns_at);
void shell_roster(struct sim *s, struct roster *r);

/* agreed.c */
void agreed_submit(struct sim *s, const struct command *cmd);
void agreed_step(struct sim *s);
void agreed_drop_jobs(struct sim *s);
/* The limits of the policy are agreed. */
void agreed_limits(struct sim *s);
void agreed_load(struct sim *s, struct cluster *c);
void agreed_operator(struct sim *s);
void agreed_fini(struct sim *s);

/* owners.c */
void owners_roster(struct roster *r);
/* A scheduler asks for something. */
void owners_operator(struct sim *s);
void owners_take(struct sim *s, const struct job *j);
void owners_check(struct sim *s, const char *when);

/* trial.c */
void trial_turn(struct sim *s);
void trial_after(struct sim *s, const struct job *j);
bool trial_all_well(const struct sim *s, char *why, size_t size);

/* conform.c */
void conform_begin(struct sim *s);
void conform_classes(const struct sim *s, struct roster *r);
void conform_faults(struct sim *s);
void conform_tick(struct sim *s);
void conform_opened(struct sim *s, int node, bool anew); /* a session; anew: on another boot */
void conform_told(struct sim *s, int node, int made, unsigned boot);
void conform_list(struct sim *s, const struct message *m);
/* False when there is no command. */
bool conform_operator(struct sim *s, struct command *cmd, struct hostlist *nodes);
void conform_note_holds(struct sim *s);
void check_release(struct sim *s, const struct job *j);
void check_conform(struct sim *s, int node, const struct member *m);
void check_conform_proposal(struct sim *s, enum command_kind kind, const struct hostlist *nodes);

/* ill.c */
void ill_create(struct sim *s);
void ill_policy(struct sim *s);
void ill_begin(struct sim *s); /* a controller starts */
void ill_step(struct sim *s);
void ill_started(struct sim *s, int node, bool booted);
bool ill_may_work(const struct sim *s, int node);
void ill_opened(struct sim *s, int node, bool anew);
void ill_checks(struct sim *s, const struct message *m);
void ill_scheduler(struct sim *s);
void ill_changed(struct sim *s, const struct hostlist *nodes);
void ill_untold(struct sim *s);
void ill_attack(struct sim *s, int node);
void ill_calm(struct sim *s);
void ill_cure(struct sim *s, int node, const char *run);
enum result ill_truth(const struct sim *s, int node, enum ail check);
void ill_fini(struct sim *s);
const char *ill_check_name(enum ail check);
json_t *ill_verdict(enum ail check, enum result r);

/* repair.c */
void repair_agent_step(struct sim *s, int node);
void repair_agent_started(struct sim *s, int node, bool booted);
void repair_tell(struct sim *s, int node);
void repair_act(struct sim *s, const struct message *m);
void repair_done(struct sim *s, const struct message *m);
void repair_drivers(struct sim *s);
bool repair_operator(struct sim *s, struct command *cmd, struct hostlist *nodes, struct finding_name *named);
void repair_people(struct sim *s);

/* mend.c */
void mend_proposal(struct sim *s, const struct command *cmd);
void mend_opened(struct sim *s, int i);
void mend_answered(struct sim *s,
                   int i); /* a person moved its repair, so the consequences are the person's */
/* Its checks have reported on this boot. */
void mend_heard(struct sim *s, int i, unsigned boot);
/* New work may land on it. */
void mend_fit(struct sim *s, int i, const struct member *m);
/* The nodes that are out, including node `of`, are no more than allowed. */
void mend_budgets(struct sim *s, int of);
void mend_before(struct sim *s);
void mend_after(struct sim *s, const struct job *j);
void mend_durable(struct sim *s, const struct job *j);
bool mend_ends_work(const struct sim *s);
void mend_may(struct sim *s, int node, const char *run, const char *of);
void mend_executed(struct sim *s, int node, const char *id, const char *run);
bool mend_all_well(const struct sim *s, char *why, size_t size);

/* held.c */
bool held_there(const struct sim *s, int node); /* a person holds it there now */
void lost_policy(struct sim *s);
void lost_step(struct sim *s);
void lost_turn(struct sim *s);
void lost_begin(struct sim *s, int node);                /* a controller starts */
bool lost_may_be(const struct sim *s, int node);         /* it is silent for long enough */
void lost_may(struct sim *s, int node, const char *run); /* something begins on it while it is not heard */
void lost_cycled(struct sim *s, int node);
void held_step(struct sim *s);
void held_read(struct sim *s, int node); /* a reading informs the controller */
void held_turn(struct sim *s);
void held_over(struct sim *s, int node, const char *run); /* something begins on it, or is done to it */

/* machine.c */
void machine_create(struct sim *s);
void machine_step(struct sim *s);
/* An operation on a node, or a finding, makes a swap of its machine soon more likely. */
void machine_tempts(struct sim *s, int node);
void machine_booted(struct sim *s, int node);
void machine_replace(struct sim *s, int node);
void machine_hash(const struct sim *s, int node, unsigned boot, char buf[static 17]);
void machine_wanted(struct sim *s, int node);
void machine_inventory(struct sim *s, const struct message *m);
/* The machine whose boot the controller knows; NULL when it is not known any more. */
struct hardware *machine_of(const struct sim *s, int node);
bool machine_is_recorded(const struct sim *s, int node); /* or none is */
void machine_calm(struct sim *s);                        /* an hour passes by the wall clock */
bool machine_all_well(const struct sim *s, char *why, size_t size);

/* checks.c */
void check_step(struct sim *s);
void check_state(struct sim *s, const char *when);
void check_proposal(struct sim *s, enum command_kind kind, const struct hostlist *nodes);

#endif
