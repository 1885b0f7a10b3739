/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_POWER_H
#define FETTLE_DRIVER_POWER_H

#include "base/hostlist.h"
#include "base/text.h"
#include "driver/operate.h"
#include "driver/program.h"
#include "fetch/fetch.h"

/*
 * One node's power: what BmcConf says of its BMC, and one thing that is done to it. Inside this folder.
 */

enum verb {
    VERB_STATUS,
    VERB_ON,
    VERB_OFF,
    VERB_CYCLE,
    VERB_RESET,
    VERB_NETBOOT,
    VERB_LOOK /* status, and all else that a BMC knows */,
    VERBS
};
const char *verb_name(enum verb v);
bool verb_find(const char *name, enum verb *out); /* of what people and remedies may name */

enum bmc_driver { BMC_IPMI, BMC_REDFISH, BMC_SCRIPT };

struct bmc {
    unsigned line; /* of bmc.conf */
    struct hostlist nodes;
    enum bmc_driver driver;
    char *address;              /* {node} stands for the node's name */
    char *user, *password_file; /* "" for none */
    char *cipher;  /* IPMI: number of the cipher suite; "" for what ipmitool and the BMC agree on */
    char *ca_file; /* Redfish: its authorities; "" for the system's */
    char *system;  /* Redfish: which of the BMC's systems; "" for the only one */
    char *run;     /* script */
};

struct bmcs {
    size_t n;
    struct bmc *list;
};

/* NULL when none has the node. */
const struct bmc *bmcs_find(const struct bmcs *b, const char *node);
/* One node's own: without the list of nodes, and with the node's name in the address. bmc_fini when done. */
void bmc_copy(const struct bmc *b, const char *node, struct bmc *out);
void bmc_fini(struct bmc *b);
/* The first line of its password file. -errno, or -EINVAL, with a sentence. */
int bmc_password(const struct bmc *b, struct text *out, struct err *e);

struct power;
typedef void power_step_fn(struct power *p);

/* Something that is under way; exactly one of program and fetch at a time. */
struct power {
    uv_loop_t *loop;
    struct bmc bmc;       /* its own, so that the configuration may change */
    struct text password; /* of the BMC; empty for none */
    char *node;
    enum verb verb;
    unsigned step, tries;
    bool is_on; /* as the BMC said last */
    struct program *program;
    struct fetch *fetch;
    struct redfish *redfish;
    uv_timer_t timer;
    power_step_fn *next;  /* when the timer comes */
    bool is_sent;         /* something that changes its power was, or may have been */
    struct bmc_look look; /* VERB_LOOK: what was said so far; until done has returned */
    bool is_ending;
    operate_done_fn *done;
    void *arg;
};

/* Begins; b is copied. done is called once from the loop, and then *p is gone. */
struct power *power_start(uv_loop_t *loop, const struct bmc *b, const char *node, enum verb verb,
                          operate_done_fn *done, void *arg);
/* Ends it and calls nobody. NULL is fine. */
void power_cancel(struct power *p);

/* For tests: after how long a result is said again that no record has taken. */
void operate_set_pace(struct operate *o, struct span result_again);

/* --- for its drivers ------------------------------------------------------------------------- */

/* It is over: why NULL when it was done. */
void power_end(struct power *p, const char *answer, const struct err *why);
/* Calls step after a while. */
void power_later(struct power *p, int ms, power_step_fn *step);
void ipmi_begin(struct power *p);
void redfish_begin(struct power *p);
void redfish_free(struct redfish *r);
/* Looks again after a while, or has ended when it did often enough. */
void power_wait(struct power *p, power_step_fn *look);
/* After verb: ends when the power is where it should be, else power_wait. It goes off and on again within a
 * cycle: what counts is where it ends. */
void power_settle(struct power *p, power_step_fn *look);

enum { POWER_CALL_S = 20, POWER_SETTLE_MS = 1000, POWER_SETTLE_TRIES = 30 };

/* What `ipmitool mc watchdog get` prints, in one line without what every watchdog has; NULL when it says
 * nothing of one. The caller frees it. */
char *ipmi_read_watchdog(const char *text);
/* What `ipmitool chassis status` prints. is_locked: the power interlock is active, and nobody is to switch
 * it. -EPROTO where it does not say whether the power is on. */
int ipmi_read_chassis(const char *text, bool *is_on, bool *is_locked, struct err *e);

#endif
