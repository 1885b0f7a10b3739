/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_ETCD_ENDPOINTS_H
#define FETTLE_STORE_ETCD_ENDPOINTS_H

#include "base/err.h"
#include "fetch/fetch.h"
#include "store/etcd/etcd.h"

#include <stddef.h>
#include <stdint.h>

/* The members of etcd that are asked, one at a time, and a copy of the options. */
struct endpoints {
    struct etcd_options options; /* its texts are copies */
    char *texts;
    size_t n, at; /* how many there are, and which one is asked next */
    char *urls[ETCD_ENDPOINTS_MAX];
    uint64_t cluster; /* the id of etcd's cluster, from the first answer; 0: none yet */
};

/* -EINVAL with a sentence, and nothing to be freed, when the options cannot be used. */
int endpoints_init(struct endpoints *p, const struct etcd_options *o, struct err *e);
void endpoints_fini(struct endpoints *p);

/* Writes the URL of a call of the present member into memory that the caller frees. */
char *endpoints_url(const struct endpoints *p, const char *call);
/* The present member has not answered as it should. */
void endpoints_next(struct endpoints *p);
/* Whether an answer with this cluster id comes from the same etcd as all before; -EAGAIN with a sentence. */
int endpoints_same(struct endpoints *p, uint64_t cluster, struct err *e);

/* What fetch_create needs to ask them. */
struct fetch_options endpoints_fetch(const struct endpoints *p, unsigned answered_ms);

#endif
