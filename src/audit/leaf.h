/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AUDIT_LEAF_H
#define FETTLE_AUDIT_LEAF_H

#include "base/clock.h"
#include "base/text.h"

/*
 * An entry of the journal as a leaf of the tree: bytes that are always the same for the same entry
 * (doc/spec/audit.md, "Leaves"), and bundles of them (c2sp.org/tlog-tiles). The form never changes: a leaf
 * that was written years ago is written again when somebody asks for it.
 */

enum { LEAF_BYTES_MAX = 65535 };

struct leaf {
    uint64_t revision;
    uint64_t n; /* its place among the entries of the revision, from 0 */
    struct wall at;
    const char *actor, *what, *nodes, *text;
    const char *about, *fields; /* NULL or "": none */
};

/* Adds the entry's bytes: a JSON object. Of an entry that would take more than LEAF_BYTES_MAX it has the
 * place, the time, the SHA-256 and the length alone. */
void leaf_format(const struct leaf *l, struct text *out);

/* Reads which entry it is, from the beginning of its bytes. False for anything else. */
struct leaf_head {
    uint64_t revision, n;
    struct wall at;
};
bool leaf_head(const char *bytes, size_t len, struct leaf_head *out);

/* Adds an entry to a bundle; len is at most LEAF_BYTES_MAX. */
void bundle_add(struct text *bundle, const char *bytes, size_t len);

/* Takes the next entry of a bundle, which is borrowed. 1, 0 after the last, -EINVAL when it is cut off. */
struct bundle_walk {
    const char *at, *end;
};
int bundle_next(struct bundle_walk *w, const char **bytes, size_t *len, struct err *e);

#endif
