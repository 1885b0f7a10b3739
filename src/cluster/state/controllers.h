/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_CONTROLLERS_H
#define FETTLE_CLUSTER_CONTROLLERS_H

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Controllers that a person admitted to a state in etcd, or removed from it. One that was admitted has the
 * authority in an envelope that its key alone opens (link/envelope.h). A controller to which an administrator
 * copied the authority by hand has no record, until it is removed.
 *
 *   controller/NAME {"at","by","key","envelope"} or {"at","by","why"}
 */

struct cluster;

enum {
    CONTROLLER_NAME_BYTES_MAX = 64, /* etcd's members have no longer names, either */
    CONTROLLER_KEY_BYTES = 66,
    CONTROLLER_ENVELOPE_BYTES_MAX = 8 << 10,
    CONTROLLERS_MAX = 64 /* that may have a record */
};

struct controller_record {
    char *name;
    char *by;       /* who admitted or removed it */
    struct wall at; /* when */
    char *key;      /* its public key; NULL: it was removed */
    char *envelope; /* the authority for this key; NULL likewise */
    char *why;      /* why it was removed; NULL: it was not */
};

/* NULL: it has no record. Borrowed until the next record is put. */
const struct controller_record *cluster_controller(const struct cluster *c, const char *name);
/* Calls fn with each, in order of their names. */
typedef void controller_record_fn(void *arg, const struct controller_record *r);
void cluster_each_controller(const struct cluster *c, controller_record_fn *fn, void *arg);
size_t cluster_controllers(const struct cluster *c);

/* Letters, digits, '-', '_' and '.', at most CONTROLLER_NAME_BYTES_MAX. -EINVAL. */
int controller_name_check(const char *name, struct err *e);
/* CONTROLLER_KEY_BYTES lower-case hex digits. */
bool controller_key_ok(const char *key);

#endif
