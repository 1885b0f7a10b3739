/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_ASK_H
#define FETTLE_API_ASK_H

#include "api/route.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "cluster/cluster.h"
#include "node/field.h"

/*
 * The arguments of a changing call: its body, read strictly. Knows no nodes: whether names and claims exist
 * is checked later. Inside this folder.
 */

enum {
    VALUE_BYTES_MAX = 1024,
    PEM_BYTES_MAX = 16 << 10,
    OPERATOR_NAME_BYTES_MAX = 64,
    ROLLOUT_DAYS_MAX = 90,
    FINDINGS_NAMED_MAX = 16,
    ASK_PARTS_MAX = 32,
    ASK_WARNINGS_MAX = 200
};

/* Members that the call does not have stay NULL or 0. Zero-initialise; ask_fini. */
struct ask {
    struct hostlist nodes;
    char *reason;
    char *claim;
    size_t n_settings;
    struct ask_setting {
        enum field field;
        char *value; /* NULL: unset */
    } * settings;    /* of a node, each field once */
    char *name;      /* of an operator or a controller; or whose certificates */
    enum role role;
    char *request;
    struct span valid;    /* the default of the route when the body has none */
    char *node;           /* a node that shows what is right */
    char *class_name;     /* of nodes */
    uint32_t version;     /* the version of a baseline */
    struct span deadline; /* the deadline of a rollout */
    uint64_t count;       /* how many may join with a token, */
    bool again;           /* also nodes with a certificate that is valid, */
    char *from, *uuid;    /* from these addresses, as this machine; NULL: any */
    uint64_t serial;      /* of a certificate, when it is given */
    char *word; /* a check, a transition, a remedy, a switch, a power command, a token's id or a controller's
                   key */
    struct owner owner; /* the owner that a claim makes, or that a release or a transfer ends */
    struct owner new_owner;
    size_t n_parts; /* of a configuration, ASK_PARTS_MAX at most */
    struct ask_part {
        char *name, *text;
    } * parts;
    uint64_t revision;    /* with which it was compared */
    struct text warnings; /* about it, one a line */
    size_t n_findings;    /* FINDINGS_NAMED_MAX at most */
    struct ask_finding {
        char *fault, *device; /* device NULL: on any */
    } * findings;
    bool gives, on; /* a switch: on; a certificate's number is given; a node of the work queue: given, and
                       taken or given back; forgetting a node, and power: by force */
};

/* Reads the body of a call of this route. -EINVAL with a sentence that names the key; *a is empty
 * then. */
int ask_parse(enum route r, const char *body, size_t len, struct ask *a, struct err *e);
void ask_fini(struct ask *a);

#endif
