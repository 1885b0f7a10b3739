/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_OPERATE_H
#define FETTLE_DRIVER_OPERATE_H

#include "base/clock.h"
#include "base/err.h"
#include "driver/slurm.h"

#include <stdbool.h>
#include <uv.h>

/*
 * Carries out operations on nodes that the agent cannot: through the BMC (IPMI by ipmitool, Redfish by
 * HTTPS), a script of the site, or Slurm, which is asked to end work. An operation is a record of the outbox:
 * effect/operate.NAME is a repair's (doc/spec/repair.md), effect/power.NAME a person's power command. A node
 * has at most one of each kind, and one at a time is carried out. The record says that an operation has begun
 * before anything is done. An operation that is found begun after a restart is never done a second time: its
 * outcome is looked for (power status), or reported as unknown.
 *
 * BMCs are records, one a line (bmc.conf(5)):
 *   Nodes=lx[01-64] Driver=ipmi Address=bmc-{node}:623 User=admin PasswordFile=/etc/fettle/bmc.secret
 *   Nodes=gx[001-016] Driver=redfish Address=https://bmc-{node} User=admin PasswordFile=... System=1
 *   Nodes=vm[1-9] Driver=script Run=/etc/fettle/power.sh
 */

struct bmcs;
/* path is only for the sentences. -EINVAL "PATH:LINE: ..." */
int bmcs_parse(const char *path, const char *bytes, size_t len, struct bmcs **out, struct err *e);
void bmcs_destroy(struct bmcs *b);
/* A record: its nodes, and the files that it names ("" for none). */
struct bmc_record {
    unsigned line;
    const struct hostlist *nodes;
    const char *password_file, *ca_file, *run;
};
/* Calls fn with each record; fn returns 0, or an error that ends the walk. b may be NULL. */
typedef int bmc_record_fn(void *arg, const struct bmc_record *r, struct err *e);
int bmcs_each(const struct bmcs *b, bmc_record_fn *fn, void *arg, struct err *e);

struct operate_sink {
    void *arg;
    void (*result)(void *arg, const char *key, const char *done);
    /* Asked right before an operation begins, and again when its start is recorded: 0, -EAGAIN or -EBUSY with
     * why; -ESTALE: ask again in a moment. */
    int (*may)(void *arg, const char *node, const char *operation, struct err *e);
    /* The node's BMC, or the script in its place, did as asked (why NULL), or failed. */
    void (*asked)(void *arg, const char *node, const struct err *why);
};

struct operate;
/* The means of the driver. Borrowed until other means are configured or it is destroyed. */
struct operate_with {
    const struct bmcs *bmcs; /* NULL: none */
    const char *replace;     /* the provider's script; NULL: none */
    struct slurm_conf slurm; /* asked to end work; scontrol NULL: no Slurm */
};
struct operate *operate_create(uv_loop_t *loop, const struct operate_with *with,
                               const struct operate_sink *sink);
void operate_configure(struct operate *o, const struct operate_with *with);
void operate_destroy(struct operate *o);
/* A new or changed record of an effect; value NULL: it is gone, and an operation that has not begun is
 * dropped. Operations of the agent (node:, reboot, check:) are ignored. */
void operate_effect(struct operate *o, const char *key, const char *value);

size_t operate_waiting(const struct operate *o); /* operations without an outcome yet */

/* Whether a driver can do this to the node: 0, or -ENOENT with why not. */
int operate_can(const struct operate *o, const char *node, const char *run, struct err *e);
/* Reads the node's power status for a person. done is called once from the loop with the answer in words, or
 * an error. */
typedef void operate_done_fn(void *arg, const char *answer, const struct err *why);
void operate_status(struct operate *o, const char *node, operate_done_fn *done, void *arg);

/* The knowledge of a BMC about its node. A text is one line, or several lines of the log; NULL: not given. */
struct bmc_look {
    bool is_on;
    char *locked;          /* why its power must not be touched: "its power interlock is active" */
    char *watchdog;        /* in the BMC's words: "Started/Running, action Hard Reset" */
    char *log;             /* the end of its log */
    bool tells_firmware;   /* the next two were asked for: NULL, the BMC has none; "", it does not say now */
    char *firmware, *bios; /* versions: of the BMC, and of the host's firmware */
};
/* Looks at a node's BMC, and changes nothing. done is called once from the loop. `said` is borrowed; NULL,
 * with why, when the BMC did not give the power status. */
typedef void operate_look_fn(void *arg, const struct bmc_look *said, const struct err *why);
void operate_look(struct operate *o, const char *node, operate_look_fn *done, void *arg);
/* Whether a BMC can tell more about the node than its power status: false without a BMC, and for a script. */
bool operate_tells(const struct operate *o, const char *node);

#endif
