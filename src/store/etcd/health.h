/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_ETCD_HEALTH_H
#define FETTLE_STORE_ETCD_HEALTH_H

#include "base/err.h"
#include "store/etcd/etcd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

/*
 * How etcd itself is: each endpoint's answer, etcd's members, its leader, its space. For people and alarms;
 * nothing is decided by it.
 */

struct etcd_endpoint {
    const char *url;
    bool answers;
    struct err why;             /* why it does not answer */
    char version[32];           /* "3.4.23" */
    uint64_t member;            /* the id of the member that answered */
    uint64_t leader;            /* the id of etcd's leader, as this member knows it; 0: it knows none */
    uint64_t bytes, bytes_used; /* of its database: on the disk, and in use */
};

struct etcd_member {
    uint64_t id;
    char name[ETCD_NAME_BYTES_MAX + 1]; /* "" until it has started for the first time */
};

struct etcd_health {
    size_t n_endpoints;
    struct etcd_endpoint endpoints[ETCD_ENDPOINTS_MAX];
    size_t n_members;
    struct etcd_member members[ETCD_ENDPOINTS_MAX];
    bool has_majority; /* it answered a question that needs one */
    bool no_space;     /* the space alarm is on: etcd takes no writes until it is defragmented and disarmed */
    bool corrupt;      /* the alarm of a damaged member is on */
};

struct etcd_asking;
/* Asks every endpoint at once. fn is called once, later; h is borrowed until it returns. */
typedef void etcd_health_fn(void *arg, const struct etcd_health *h);
struct etcd_asking *etcd_health_ask(uv_loop_t *loop, const struct etcd_options *o, etcd_health_fn *fn,
                                    void *arg);
/* Ends the question without calling back. Not after fn was called. */
void etcd_asking_destroy(struct etcd_asking *a);

#endif
