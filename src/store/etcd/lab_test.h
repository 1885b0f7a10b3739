/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_ETCD_LAB_TEST_H
#define FETTLE_STORE_ETCD_LAB_TEST_H

#include "base/text.h"
#include "store/etcd/etcd.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Real etcd, of one or three members, on ports of the loopback and in a directory of its own. All of it goes
 * with lab_destroy, or with this process. Nothing here returns when it cannot do its work.
 */

enum { LAB_MEMBERS_MAX = 3, LAB_LEASE_MS = 400 };

struct lab {
    char *dir;
    size_t n;
    bool tls;
    struct {
        pid_t pid;        /* 0: it does not run */
        int client, peer; /* ports */
    } members[LAB_MEMBERS_MAX];
    const char *quota; /* of the database in bytes; NULL: etcd's own */
    char *ca, *cert, *key, *stranger_cert, *stranger_key;
};

/* Ends the program with 77, which skips the test, when there is no etcd or no etcdctl. */
void lab_need(void);

/* Starts the members and waits until they answer. */
struct lab *lab_create(size_t n, bool tls, const char *quota);
void lab_destroy(struct lab *l);

/* Starts, signals, kills a member. */
void lab_run(struct lab *l, size_t i);
void lab_signal(struct lab *l, size_t i, int signal);
void lab_kill(struct lab *l, size_t i);
/* Kills all, puts the directories of the data aside (`to`), or such ones back (`from`); and starts all again.
 */
void lab_copy(struct lab *l, const char *from, const char *to);

/* Asks any member, again until it answers with 200, and gives the answer. */
void lab_ask(struct lab *l, const char *call, const char *body, struct text *out);
/* Puts and deletes a key of the state by hand; value NULL deletes it, and all that begin with it. */
void lab_put(struct lab *l, const char *key, const char *value);
/* Makes room in a database that is full, and ends the space alarm. */
void lab_make_room(struct lab *l);
/* Nothing is there any more. */
void lab_wipe(struct lab *l);

/* Options of a controller of this name. `endpoints` belongs to the caller, who frees it. */
char *lab_endpoints(const struct lab *l);
struct etcd_options lab_options(const struct lab *l, const char *endpoints, const char *name);

/* A port that nobody has. */
int lab_port(void);

#endif
