/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_ETCD_BOOKMARK_H
#define FETTLE_STORE_ETCD_BOOKMARK_H

#include "base/err.h"
#include "store/etcd/layout.h"

/*
 * What this controller remembers of the state in etcd, in a file on its own disk: the cluster's id, and the
 * newest commit that it saw, by revision and mark. An etcd that was restored from an older backup does not
 * have that commit, or has another one in its place.
 */
struct bookmark {
    char *path;                          /* NULL: nothing is remembered */
    char cluster[ETCD_ID_BYTES_MAX + 1]; /* "": nothing was seen yet */
    struct layout_head head;
};

/* -EILSEQ: the file is damaged. -errno: it cannot be read. An absent one has seen nothing. */
int bookmark_init(struct bookmark *s, const char *path, struct err *e);
void bookmark_fini(struct bookmark *s);

/* Remembers a commit, unless the file has a newer one of this cluster. It becomes durable at the kernel's
 * discretion: after a power failure it may lag, but never runs ahead. -errno: it cannot be written. */
int bookmark_note(struct bookmark *s, const char *cluster, const struct layout_head *head, struct err *e);

#endif
