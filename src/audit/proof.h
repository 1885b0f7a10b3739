/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AUDIT_PROOF_H
#define FETTLE_AUDIT_PROOF_H

#include "audit/tree.h"
#include "base/text.h"

/*
 * Proofs as files: that an entry is in a log (c2sp.org/tlog-proof), with the entry itself as its extra data;
 * and that a log has grown from an earlier checkpoint, as witnesses are told it (c2sp.org/tlog-witness). Both
 * end with the checkpoint that they lead to.
 */

enum { PROOF_BYTES_MAX = 256 << 10 };

enum proof_kind { PROOF_INCLUSION, PROOF_CONSISTENCY };

struct proof {
    enum proof_kind kind;
    uint64_t place;    /* the entry's index, or the size of the earlier tree */
    struct text entry; /* the entry's bytes; empty when the file has none */
    struct tree_proof path;
    const char *note; /* the checkpoint; borrowed from what was read */
    size_t note_len;
};

/* Reads either file. The caller calls proof_fini, also after an error. -EINVAL when it is neither. */
int proof_parse(const char *bytes, size_t len, struct proof *out, struct err *e);
void proof_format(const struct proof *p, struct text *out);
void proof_fini(struct proof *p);

#endif
