/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONFORM_COMPONENT_H
#define FETTLE_CONFORM_COMPONENT_H

#include "base/err.h"
#include "base/json.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a node is made of, as far as it matters whether two nodes are the same: named components
 * ("kernel.release", "gpu.0000:3b:00.0.vbios"), each with a value, known to be absent, or unknown.
 *
 * A list of components has one fingerprint: the SHA-256 of its canonical encoding, which is versioned
 * and length-prefixed, so that no two different lists have the same encoding
 * (doc/spec/fingerprint.md). Unknown is encoded, too, so that a list with unknown components has a
 * name, but equality of fingerprints alone proves nothing then: unknown equals nothing.
 */

enum component_state {
    COMPONENT_VALUE = 0,
    COMPONENT_ABSENT = 1, /* looked for and not there: a value like any other */
    COMPONENT_UNKNOWN = 2 /* could not be read; the value says why. Equal to nothing, itself included */
};

enum {
    COMPONENT_NAME_BYTES_MAX = 255,
    COMPONENT_VALUE_BYTES_MAX = 4096,
    COMPONENTS_MAX = 16384,           /* of one list */
    COMPONENTS_BYTES_MAX = 768 << 10, /* of one list's names and values together */
    FINGERPRINT_VERSION = 1,
    FINGERPRINT_HEX = 64
};

struct component {
    char *name;  /* printable ASCII without blanks, '"' and '\\' */
    char *value; /* UTF-8 without NUL; why it is unknown; "" when absent */
    enum component_state state;
};

/* A list while it is made. Zero-initialise; components_fini. */
struct components {
    size_t n, cap;
    size_t bytes;
    bool sorted;
    struct component *list;
};
void components_fini(struct components *c);

/* Adds a copy. -EINVAL for a name that is none, a value that is no UTF-8, an absent component with a
 * value; -E2BIG with the limit in words for a name or value that is too long or a list that is full. A
 * list with an entry refused is as it was. */
int components_add(struct components *c, const char *name, enum component_state state, const char *value,
                   struct err *e);
/* Sorts by name (bytes). -EEXIST names a component that stands twice. To be called before all below. */
int components_sort(struct components *c, struct err *e);

struct fingerprint {
    unsigned char bytes[32];
};
/* Of a sorted list. */
struct fingerprint components_fingerprint(const struct components *c);
/* Of one component alone: equal exactly when name, state and value are. */
struct fingerprint component_hash(const struct component *c);
/* The canonical encoding, of which the fingerprint is the hash: for tests and for the other
 * implementation. */
void components_encode(const struct components *c, struct text *bytes);

bool fingerprint_equal(const struct fingerprint *a, const struct fingerprint *b);
int fingerprint_compare(const struct fingerprint *a, const struct fingerprint *b); /* by bytes */
/* 64 lower-case hex characters. Returns out. */
char *fingerprint_format(const struct fingerprint *f, char out[static FINGERPRINT_HEX + 1]);
/* Short names for people and schedulers: the first 12 hex characters, behind a word that says what was
 * hashed. A cohort ("fp_0123456789ab") is what counts in a class, a list ("list_0123456789ab") is everything.
 * Return out. */
enum { FINGERPRINT_SHORT_BYTES = 18 };
char *fingerprint_cohort(const struct fingerprint *f, char out[static FINGERPRINT_SHORT_BYTES]);
char *fingerprint_list(const struct fingerprint *f, char out[static FINGERPRINT_SHORT_BYTES]);
/* False for anything but 64 lower-case hex characters. */
bool fingerprint_parse(const char *hex, struct fingerprint *out);

/* As JSON, in frames and records: {"components":{NAME:VALUE},"absent":[NAME],"unknown":{NAME:WHY}}, each
 * member left out when empty. */
void components_format(const struct components *c, struct text *t);
/* Adds those of an object of that form; other members are ignored. -EINVAL, -E2BIG as components_add, and
 * none of them is added then. */
int components_parse(struct components *c, const json_t *object, struct err *e);

/* A list of names as records and commands have it: one text, with ", " between the names. A name has no
 * blank. */
struct component_names {
    size_t n;
    char **list;
};
/* Adds one to such a text. */
void component_names_add(struct text *t, const char *name);
/* The names in such a text; give *out to component_names_fini. */
void component_names_read(const char *text, struct component_names *out);
void component_names_fini(struct component_names *names);

/* Components that the controller learns from a node's BMC by Redfish have names that begin with this. A
 * node's own list has none. */
#define COMPONENT_REDFISH "redfish."
bool component_is_redfish(const char *name);
const char *component_state_name(enum component_state s); /* "value", "absent", "unknown" */

#endif
