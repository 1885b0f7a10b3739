/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_POWER_H
#define FETTLE_DRIVER_POWER_H

#include "base/hostlist.h"
#include "base/text.h"
#include "driver/operate.h"
#include "driver/program.h"
#include "fetch/fetch.h"

/*
 * A node's power: the record of its BMC in BmcConf, and one action on it. Inside this folder.
 */

enum verb {
    VERB_STATUS,
    VERB_ON,
    VERB_OFF,
    VERB_CYCLE,
    VERB_RESET,
    VERB_NETBOOT,
    VERB_LOOK /* status, and everything else that a BMC knows */,
    VERBS
};
const char *verb_name(enum verb v);
bool verb_find(const char *name, enum verb *out); /* finds verbs that people and remedies may name */

enum bmc_driver { BMC_IPMI, BMC_REDFISH, BMC_SCRIPT };

struct bmc {
    unsigned line; /* the line of bmc.conf */
    struct hostlist nodes;
    enum bmc_driver driver;
    char *address;              /* {node} stands for the node's name */
    char *user, *password_file; /* "" for none */
    char *cipher;  /* IPMI: the number of the cipher suite; "": the one that ipmitool and the BMC agree on */
    char *ca_file; /* Redfish: its authorities; "": the system's */
    char *system;  /* Redfish: the name of the system among the BMC's; "": the only one */
    char *run;     /* the site's script */
};

struct bmcs {
    size_t n;
    struct bmc *list;
};

/* NULL when no record has the node. */
const struct bmc *bmcs_find(const struct bmcs *b, const char *node);
/* One node's own record: without the list of nodes, and with the node's name in the address. bmc_fini when
 * done. */
void bmc_copy(const struct bmc *b, const char *node, struct bmc *out);
void bmc_fini(struct bmc *b);
/* The first line of its password file. -errno, or -EINVAL, with a sentence. */
int bmc_password(const struct bmc *b, struct text *out, struct err *e);

struct power;
typedef void power_step_fn(struct power *p);

/* An action under way; it has at most one of program and fetch at a time. */
struct power {
    uv_loop_t *loop;
    struct bmc bmc;       /* a copy, so that the configuration may change */
    struct text password; /* the BMC's password; empty for none */
    char *node;
    enum verb verb;
    unsigned step, tries;
    bool is_on; /* the BMC's last answer */
    struct program *program;
    struct fetch *fetch;
    struct redfish *redfish;
    power_step_fn *forget; /* frees what the driver keeps; NULL: nothing */
    uv_timer_t timer;
    power_step_fn *next;  /* called when the timer fires */
    bool is_sent;         /* a command that changes the power was sent, or may have been */
    struct bmc_look look; /* VERB_LOOK: the answers so far; until done has returned */
    bool is_ending;
    operate_done_fn *done;
    void *arg;
};

/* Begins; b is copied. done is called once from the loop, after which *p is gone. */
struct power *power_start(uv_loop_t *loop, const struct bmc *b, const char *node, enum verb verb,
                          operate_done_fn *done, void *arg);
/* Ends it without a callback. NULL is fine. */
void power_cancel(struct power *p);

/* For tests: how soon a result that no record has taken is repeated. */
void operate_set_pace(struct operate *o, struct span result_again);

/* --- for its drivers ------------------------------------------------------------------------- */

/* Ends it: why NULL when it was done. */
void power_end(struct power *p, const char *answer, const struct err *why);
/* Calls step after a while. */
void power_later(struct power *p, int ms, power_step_fn *step);
void ipmi_begin(struct power *p);
void redfish_begin(struct power *p);
/* Looks again after a while, or gives up after enough tries. */
void power_wait(struct power *p, power_step_fn *look);
/* After a command: ends when the power has the wanted state, otherwise power_wait. Within a cycle the power
 * goes off and on again: only the final state counts. */
void power_settle(struct power *p, power_step_fn *look);

enum { POWER_CALL_S = 20, POWER_SETTLE_MS = 1000, POWER_SETTLE_TRIES = 30 };

/* The output of `ipmitool mc watchdog get` in one line, without what all watchdogs have in common; NULL when
 * there is none. The caller frees it. */
char *ipmi_read_watchdog(const char *text);
/* Reads the output of `ipmitool chassis status`. is_locked: the power interlock is active, and nobody may
 * switch the power. -EPROTO when the power status is missing. */
int ipmi_read_chassis(const char *text, bool *is_on, bool *is_locked, struct err *e);

#endif
