/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_TABLE_H
#define FETTLE_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Hash tables: uthash with a keyed hash. Include this header; nobody includes uthash.h itself.
 *
 * Many keys come from outside: names of nodes, components, checks. With a public hash a peer could choose
 * keys that all fall into one bucket, and each look-up would walk through all of them. SipHash-1-3, under a
 * key that each process draws at its start, prevents that. No result may depend on the order of a hash:
 * uthash iterates in the order of insertion.
 *
 * A table that runs out of memory ends the process, as everywhere else.
 */

/* Hashes a key under this process's key. */
uint64_t table_hash(const void *key, size_t len);

/* SipHash-1-3 under a given key. table_hash uses it; it is visible for its test. */
uint64_t table_siphash(const uint64_t k[static 2], const void *bytes, size_t len);

#define uthash_fatal(message) abort()
#define HASH_FUNCTION(keyptr, keylen, hashv) ((hashv) = (unsigned)table_hash(keyptr, keylen))
#include <stdlib.h>
#include <uthash.h>

#endif
