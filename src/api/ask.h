/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_ASK_H
#define FETTLE_API_ASK_H

#include "api/route.h"
#include "base/clock.h"
#include "base/hostlist.h"

/*
 * What a changing call asks for: its body, read strictly. Knows no node: whether names and claims
 * exist is for later. Inside this folder.
 */

enum {
    VALUE_BYTES_MAX = 1024,
    PEM_BYTES_MAX = 16 << 10,
    OPERATOR_NAME_BYTES_MAX = 64,
    ROLLOUT_DAYS_MAX = 90,
    FINDINGS_NAMED_MAX = 16
};

/* Members that the call does not have stay NULL or 0. Zero-initialise; ask_fini. */
struct ask {
    struct hostlist nodes;
    char *reason;
    char *claim;
    char *set;  /* JSON object: fields by their proper names, to strings and nulls */
    char *name; /* of an operator; or whose certificates */
    enum role role;
    char *request;
    struct span valid;    /* the route's own length of time when the body does not say */
    char *node;           /* one name: that shows what is right */
    char *class_name;     /* of nodes */
    uint32_t version;     /* of a baseline */
    struct span deadline; /* of a rollout */
    char *word;           /* a check, a transition, a remedy, a switch, what to do to the power, or a
                             certificate's number */
    size_t n_findings;    /* FINDINGS_NAMED_MAX at most */
    struct ask_finding {
        char *fault, *device; /* device NULL: on any */
    } * findings;
    bool gives, on; /* of a switch: on; of a node of the work queue: given, and taken or given back; of
                       a node that is forgotten, and of power: forced */
};

/* Reads the body of a call of this route. -EINVAL with a sentence that names the key; *a is empty
 * then. */
int ask_parse(enum route r, const char *body, size_t len, struct ask *a, struct err *e);
void ask_fini(struct ask *a);

#endif
