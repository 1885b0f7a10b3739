/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_TABLE_H
#define FETTLE_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Hash tables: uthash with a keyed hash. Whoever wants a table includes this header, and nobody includes
 * uthash.h itself.
 *
 * Many keys come from outside: names of nodes, components, checks. With a hash that everybody can compute, a
 * peer chooses keys that all fall into one bucket, and each look-up walks through all of them. SipHash-1-3
 * under a key that each process draws at its start leaves nothing to choose. No result may depend on the
 * order of a hash: uthash iterates in the order of insertion.
 *
 * Running out of memory in a table ends the process, as everywhere else.
 */

/* The hash of a key under this process's key. */
uint64_t table_hash(const void *key, size_t len);

/* SipHash-1-3 under a given key: what table_hash is made of, for its test. */
uint64_t table_siphash(const uint64_t k[static 2], const void *bytes, size_t len);

#define uthash_fatal(message) abort()
#define HASH_FUNCTION(keyptr, keylen, hashv) ((hashv) = (unsigned)table_hash(keyptr, keylen))
#include <stdlib.h>
#include <uthash.h>

#endif
