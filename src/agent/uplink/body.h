/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_UPLINK_BODY_H
#define FETTLE_AGENT_UPLINK_BODY_H

#include "agent/uplink/course.h"
#include "base/hostlist.h"
#include "base/json.h"
#include "base/text.h"
#include "conform/component.h"
#include "link/frame.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Bodies of frames (doc/spec/link-bodies.md) that an agent reads from a controller or collector, and a
 * collector from agents. Every reader returns 0, or -EINVAL with a sentence that names the frame and the
 * member; *out means nothing then. Strings are copied and bounded.
 */

enum {
    BODY_WORD_BYTES_MAX = 64,        /* boot ids, instances, versions, hashes */
    BODY_WORK_BYTES_MAX = 32 << 10,  /* the list of running work, as JSON text */
    BODY_SHARE_NODES_MAX = 16 << 10, /* the nodes that one collector hears */
    BODY_PART_BYTES_MAX = 48 << 10,  /* a frame reaches this size before the next one begins */
    BODY_INTERVAL_MS_MAX = 86400000,
    BODY_RECHECK_MS_MAX = INT32_MAX,         /* 24 days */
    BODY_CONTROLLERS_MAX = 64,               /* of one state; the first ADDRESS_LIST_MAX count */
    BODY_ALSO_MAX = 1024,                    /* components to read beside the usual ones */
    BODY_PARTS_MAX = 512,                    /* one list of components */
    BODY_CURES_BYTES_MAX = 2048,             /* codes that an operation may help */
    BODY_RUN_BYTES_MAX = 4096,               /* what an operation runs */
    BODY_NODES_BYTES_MAX = 8 << 10,          /* the nodes that run a check together */
    BODY_WHY_BYTES_MAX = 400,                /* an answer in words */
    BODY_DEADLINE_MS_MAX = 21 * 86400 * 1000 /* the deadline of an operation */
};

/* How fingerprints are to be read, as a controller signed it. A member that was not given stays as it is. */
struct body_survey {
    uint64_t revision; /* which of two is newer */
    bool has_recheck, has_also;
    struct span recheck;  /* zero: only on a change or on request */
    struct hostlist also; /* plain words; names of components */
    bool has_controllers;
    struct address_list controllers; /* where agents reach the controllers of this state */
    json_t *least; /* certificates of collectors and controllers, as least.h takes it; NULL: none given */
};
/* The caller calls body_survey_fini after success. After a failure there is nothing to free. */
int body_read_survey(const struct frame *f, struct body_survey *out, struct err *e);
void body_survey_fini(struct body_survey *s);

/* The timeouts (doc/spec/link.md, "Timeouts"). Zero: not said, as by an older controller. */
struct body_waits {
    struct span answer, pause;      /* for every agent */
    struct span hold, away, silent; /* for collectors */
};

struct body_welcome {
    bool has_interval;
    struct span interval; /* zero: report once and wait */
    struct span spread;
    struct body_waits waits;
    uint64_t term;
    char origin[BODY_WORD_BYTES_MAX + 1]; /* the state in which the term counts; "" when it was not said */
    char controller[BODY_WORD_BYTES_MAX + 1]; /* its instance */
    bool want;
    struct wall now; /* by the controller's clock; ns 0: it was not given */
    json_t *survey;  /* the order as it came; NULL: none. Here and with SETTINGS the caller releases it after
                        success; after a failure there is nothing to release */
};
int body_read_welcome(const struct frame *f, struct body_welcome *out, struct err *e);

struct body_settings {
    bool has_interval, has_spread;
    struct span interval, spread;
    struct body_waits waits;
    json_t *survey;
};
int body_read_settings(const struct frame *f, struct body_settings *out, struct err *e);

struct body_refuse {
    int code; /* negative errno; -EIO for a code that is not known */
    char message[256];
};
int body_read_refuse(const struct frame *f, struct body_refuse *out, struct err *e);

struct body_redirect {
    struct wall now; /* the controller's clock; 0: it was not said */
    bool to_collector;
    struct course_collector collector;
};
int body_read_redirect(const struct frame *f, struct body_redirect *out, struct err *e);

/* nodes is fini'd by the caller after success; empty after failure. */
struct body_share {
    uint64_t epoch;
    bool collect; /* nodes was there, if only empty */
    struct hostlist nodes;
};
int body_read_share(const struct frame *f, struct body_share *out, struct err *e);
/* WANT and RECHECK. nodes as above. */
struct body_want {
    bool own; /* it names no nodes: the receiver is meant */
    struct hostlist nodes;
    bool components; /* the lists behind these fingerprints are wanted, no inventories */
    struct fingerprint fingerprint;
};
int body_read_want(const struct frame *f, struct body_want *out, struct err *e);

/* The PEM in the member `key` of the body; the caller frees it. */
int body_read_pem(const struct frame *f, const char *key, char **out, struct err *e);

struct body_hello {
    char name[HOSTLIST_NAME_BYTES_MAX + 1];
    char version[BODY_WORD_BYTES_MAX + 1];
    char boot[BODY_WORD_BYTES_MAX + 1];
    char instance[BODY_WORD_BYTES_MAX + 1];
    char inventory[BODY_WORD_BYTES_MAX + 1]; /* hash; "" when unknown */
    char checklist[BODY_WORD_BYTES_MAX + 1]; /* hash of the one that it runs; "" for none */
};
int body_read_hello(const struct frame *f, struct body_hello *out, struct err *e);

struct body_heartbeat {
    char boot[BODY_WORD_BYTES_MAX + 1];
    char instance[BODY_WORD_BYTES_MAX + 1];
    uint64_t seq;
    uint64_t uptime_s;
    char *work; /* JSON text, "null" when unknown; the caller frees it */
};
int body_read_heartbeat(const struct frame *f, struct body_heartbeat *out, struct err *e);

struct body_inventory {
    char instance[BODY_WORD_BYTES_MAX + 1];
    char hash[BODY_WORD_BYTES_MAX + 1];
    char *members; /* JSON text of the members full, set, unset: "\"full\":true,\"set\":{...}"; the caller
                      frees it */
};
int body_read_inventory(const struct frame *f, struct body_inventory *out, struct err *e);

struct body_fingerprint {
    bool same; /* the fingerprint that was reported last; the rest means nothing */
    struct fingerprint fingerprint;
    char boot[BODY_WORD_BYTES_MAX + 1];
};
int body_read_fingerprint(const struct frame *f, struct body_fingerprint *out, struct err *e);

struct body_components {
    uint64_t part, parts;
    char *members; /* JSON text of all members but `name`, "\"fingerprint\":...,\"part\":0,..."; the caller
                      frees it */
};
int body_read_components(const struct frame *f, struct body_components *out, struct err *e);

/* The checks that nodes run, as a controller signed them. */
struct body_checklist {
    uint64_t revision; /* which of two is newer */
    char hash[BODY_WORD_BYTES_MAX + 1];
    struct hostlist lines, meanings; /* records as text, without line ends */
};
/* The caller calls body_checklist_fini after success. After a failure there is nothing to free. */
int body_read_checklist(const struct frame *f, struct body_checklist *out, struct err *e);
void body_checklist_fini(struct body_checklist *l);

/* An operation on the node. */
struct body_act {
    bool tell; /* report all checks again; the rest means nothing */
    char id[BODY_WORD_BYTES_MAX + 1];
    char boot[BODY_WORD_BYTES_MAX + 1];
    char nonce[BODY_WORD_BYTES_MAX + 1]; /* with which this agent asked for it; "" for none */
    uint64_t term;
    char origin[BODY_WORD_BYTES_MAX + 1]; /* as in WELCOME */
    struct span deadline;                 /* at least 1 ms */
    char cures[BODY_CURES_BYTES_MAX + 1]; /* words as in kernel_log_forget: what the kernel logged under them
                                             is over when it is done */
    uint64_t until;                       /* of the run "forget": a sequence number of the kernel's log */
    char run[BODY_RUN_BYTES_MAX + 1];
    char nodes[BODY_NODES_BYTES_MAX + 1]; /* all nodes that run a check together; "" for none */
    unsigned rank;                        /* the node's place in them */
    char end[BODY_WORD_BYTES_MAX + 1];    /* the look at this check that was asked for is not wanted any more:
                                             the rest but `term` means nothing; "" for none */
};
int body_read_act(const struct frame *f, struct body_act *out, struct err *e);

/* The answer to a node that asked whether a job may start. */
struct body_standing {
    struct fingerprint fingerprint;      /* the share's epoch */
    char nonce[BODY_WORD_BYTES_MAX + 1]; /* with which this agent asked */
    char why[BODY_WHY_BYTES_MAX + 1];    /* why new work is kept away; "" when it is not */
};
int body_read_standing(const struct frame *f, struct body_standing *out, struct err *e);

/* A frame for one of the collector's nodes. */
struct body_pass {
    char node[HOSTLIST_NAME_BYTES_MAX + 1];
    enum frame_type type; /* ACT, CHECKS, DONE or STANDING */
    char *body;           /* JSON text of an object; the caller frees it */
};
int body_read_pass(const struct frame *f, struct body_pass *out, struct err *e);
/* Writes the body of a PASS around a frame of this node. -EINVAL when the frame is no JSON object, or
 * too long to be passed on. */
int body_write_pass(const char *node, const struct frame *f, struct text *out, struct err *e);

#endif
