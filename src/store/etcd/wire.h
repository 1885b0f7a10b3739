/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_ETCD_WIRE_H
#define FETTLE_STORE_ETCD_WIRE_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The JSON of etcd's gateway: requests as text, answers as structs. Pure. Keys and values are in base64
 * there, and numbers of 64 bits are strings. Whatever an answer has is checked here: a value is text without
 * zero bytes, a key is short, a number is one.
 */

enum {
    WIRE_KEY_BYTES_MAX = 600,
    WIRE_VALUE_BYTES_MAX = 2 << 20,
    WIRE_KEYS_MAX = 1 << 20 /* in one answer */
};

/* A transaction: when all comparisons hold, the first list is carried out, otherwise the second.
 * Zero-initialise; wire_txn_fini when done. */
struct wire_txn {
    struct text compare, success, failure;
};
void wire_txn_fini(struct wire_txn *t);
#define CLEANUP_TXN __attribute__((cleanup(wire_txn_fini)))

/* The key's value, the revision that created it (0: there is none), or that changed it last. */
void wire_compare_value(struct wire_txn *t, const char *key, const char *value);
void wire_compare_created(struct wire_txn *t, const char *key, uint64_t revision);
void wire_compare_modified(struct wire_txn *t, const char *key, uint64_t revision);

/* Operations of one of the two lists. */
void wire_put(struct text *list, const char *key, const char *value, size_t len);
void wire_delete(struct text *list, const char *key, const char *end); /* end NULL: the one key */
void wire_get(struct text *list, const char *key, const char *end);    /* [key, end) */
void wire_txn_write(const struct wire_txn *t, struct text *out);

/* [key, end), or one key when end is NULL. revision 0: the present. limit 0: all of them. */
void wire_range_write(const char *key, const char *end, uint64_t revision, uint64_t limit, struct text *out);
/* Every change of [key, end) since the revision. */
void wire_watch_write(const char *key, const char *end, uint64_t revision, struct text *out);
void wire_compact_write(uint64_t revision, struct text *out);

struct wire_kv {
    const char *key;
    const char *value; /* NULL: the key was deleted (in events) */
    size_t len;
    uint64_t created, modified;
};

/* What one operation of a transaction found. One that read nothing, or a put, has no keys. */
struct wire_found {
    size_t first, n; /* of kvs */
    bool more;       /* there are more keys than the limit */
};

/* An answer. wire_answer_fini frees what it has. */
struct wire_answer {
    uint64_t cluster;  /* the id that etcd gave itself */
    uint64_t revision; /* etcd's */
    bool succeeded;    /* the comparisons held */
    size_t n_found;
    struct wire_found *found;
    size_t n_kvs;
    struct wire_kv *kvs;
    struct text own; /* the bytes to which they point */
};
void wire_answer_fini(struct wire_answer *a);
#define CLEANUP_ANSWER __attribute__((cleanup(wire_answer_fini)))

/* The first key that the operation found; NULL: none, or there is no such operation. */
const struct wire_kv *wire_first(const struct wire_answer *a, size_t operation);

/* Each reads an answer into `a`, which is empty afterwards when it fails: -EPROTO with a sentence. */
int wire_txn_read(const char *bytes, size_t len, struct wire_answer *a, struct err *e);
int wire_range_read(const char *bytes, size_t len, struct wire_answer *a, struct err *e);

/* One line of a watch. Events are kvs, in the order of their revisions. */
struct wire_events {
    struct wire_answer answer;
    bool created;   /* the watch has begun */
    bool continues; /* the next line continues this one: a revision can be in both */
};
void wire_events_fini(struct wire_events *v);
/* -EPROTO: not such a line. -ERANGE: the history does not reach back that far. -EAGAIN: etcd has ended the
 * watch, because it has no leader or for another reason. */
int wire_events_read(const char *bytes, size_t len, struct wire_events *v, struct err *e);

/* What an answer with an HTTP status other than 200 says, always with a sentence. *definite: nothing was
 * carried out, and nothing will be. -EINVAL refused as it stands; -EACCES not allowed; -ERANGE a revision
 * that is compacted, or not there yet; -ENOSPC no space, or too much to do; -EAGAIN no leader, a deadline, or
 * anything else */
int wire_refusal(int status, const char *bytes, size_t len, bool *definite, struct err *e);

/* Of /v3/maintenance/status, /v3/cluster/member/list and /v3/maintenance/alarm. */
struct wire_status {
    char version[32];
    uint64_t member, leader, bytes, bytes_used;
};
int wire_status_read(const char *bytes, size_t len, struct wire_status *s, struct err *e);
struct wire_member {
    uint64_t id;
    char name[65];
};
int wire_members_read(const char *bytes, size_t len, struct wire_member *out, size_t max, size_t *n,
                      struct err *e);
int wire_alarms_read(const char *bytes, size_t len, bool *no_space, bool *corrupt, struct err *e);

#endif
