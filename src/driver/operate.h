/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_OPERATE_H
#define FETTLE_DRIVER_OPERATE_H

#include "base/clock.h"
#include "base/err.h"
#include "driver/slurm.h"

#include <stdbool.h>
#include <uv.h>

/*
 * Carries out operations on nodes that are not the agent's own: through the BMC (IPMI by ipmitool, Redfish by
 * HTTPS), a script of the site, or Slurm, which is asked to end work. An operation is a record of the outbox:
 * effect/operate.NAME is a repair's (doc/spec/repair.md), effect/power.NAME a person's power command; one of
 * each a node, and one of them at a time. Before anything is done the record says that it is begun; one that
 * is found begun after a restart is never done a second time: its end is looked for (power status), or it is
 * reported as not known.
 *
 * BMCs are records, one a line (bmc.conf(5)):
 *   Nodes=lx[01-64] Driver=ipmi Address=bmc-{node}:623 User=admin PasswordFile=/etc/fettle/bmc.secret
 *   Nodes=gx[001-016] Driver=redfish Address=https://bmc-{node} User=admin PasswordFile=... System=1
 *   Nodes=vm[1-9] Driver=script Run=/etc/fettle/power.sh
 */

struct bmcs;
/* path is for the sentences. -EINVAL "PATH:LINE: ..." */
int bmcs_parse(const char *path, const char *bytes, size_t len, struct bmcs **out, struct err *e);
void bmcs_destroy(struct bmcs *b);
/* A record: which nodes it is for, and the files that it names ("" for none). */
struct bmc_record {
    unsigned line;
    const struct hostlist *nodes;
    const char *password_file, *ca_file, *run;
};
/* Calls fn with each record; it returns 0, or an error that ends the walk. b may be NULL. */
typedef int bmc_record_fn(void *arg, const struct bmc_record *r, struct err *e);
int bmcs_each(const struct bmcs *b, bmc_record_fn *fn, void *arg, struct err *e);

struct operate_sink {
    void *arg;
    void (*result)(void *arg, const char *key, const char *done);
    /* Asked right before it is begun, and again when that is written down: 0, -EAGAIN or -EBUSY with why;
     * -ESTALE: it is asked again in a moment. */
    int (*may)(void *arg, const char *node, const char *operation, struct err *e);
    /* The node's BMC, or the script in its place, did what it was asked (why NULL), or did not. */
    void (*asked)(void *arg, const char *node, const struct err *why);
};

struct operate;
/* Who does what. Borrowed until another one is configured or it is destroyed. */
struct operate_with {
    const struct bmcs *bmcs; /* NULL: none */
    const char *replace;     /* the provider's script, or NULL */
    struct slurm_conf slurm; /* asked to end work; its scontrol NULL: no Slurm */
};
struct operate *operate_create(uv_loop_t *loop, const struct operate_with *with,
                               const struct operate_sink *sink);
void operate_configure(struct operate *o, const struct operate_with *with);
void operate_destroy(struct operate *o);
/* An effect's record, new or changed; value NULL: it is gone, and what is not begun is dropped. Operations
 * whose run is the agent's (node:, reboot, check:) are ignored. */
void operate_effect(struct operate *o, const char *key, const char *value);

size_t operate_waiting(const struct operate *o); /* operations that have not come to their end yet */

/* Whether a driver knows how to do this to the node: 0, or -ENOENT with why not. */
int operate_can(const struct operate *o, const char *node, const char *run, struct err *e);
/* Whether the node's power is on, for a person. done is called once from the loop with the answer in words,
 * or why not. */
typedef void operate_done_fn(void *arg, const char *answer, const struct err *why);
void operate_status(struct operate *o, const char *node, operate_done_fn *done, void *arg);

/* What a BMC knows of its node. A text is one line, or several of the log; NULL: it does not say. */
struct bmc_look {
    bool is_on;
    char *locked;   /* why its power is to be left alone: "its power interlock is active" */
    char *watchdog; /* in the BMC's words: "Started/Running, action Hard Reset" */
    char *log;      /* the end of its log */
    bool
        tells_firmware; /* the next two were asked for: NULL, it has no such thing; "", it does not say now */
    char *firmware, *bios; /* versions: the BMC's own, and the host's firmware */
};
/* Looks at a node's BMC, and changes nothing. done is called once from the loop: said is borrowed, and NULL
 * where the BMC did not say whether the power is on, with why. */
typedef void operate_look_fn(void *arg, const struct bmc_look *said, const struct err *why);
void operate_look(struct operate *o, const char *node, operate_look_fn *done, void *arg);
/* Whether a BMC can say more of the node than where its power is: not where there is none, or a script. */
bool operate_tells(const struct operate *o, const char *node);

#endif
