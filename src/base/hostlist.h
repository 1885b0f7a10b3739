/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_HOSTLIST_H
#define FETTLE_BASE_HOSTLIST_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Host lists: "lx[01-64,70]" for many names, in several dimensions ("r[1-4]n[01-16]"), expanded
 * and folded exactly as `nodeset` of clustershell 1.9 does: same members, same order, same zero
 * padding, steps ("n[0-8/2]") and the operators "," (or white space) union, "!" difference,
 * "&" intersection and "^" symmetric difference, read from left to right. Groups ("@name") and
 * wildcards are refused with a sentence: Fettle has no group sources. So are negative numbers and
 * numbers of more than 17 digits in brackets; longer runs of digits in a name are text.
 */

enum {
    HOSTLIST_TEXT_BYTES_MAX = 1 << 20, /* of a written list */
    HOSTLIST_HOSTS_MAX = 1 << 18,      /* of an expanded one, before its operators */
    HOSTLIST_NAME_BYTES_MAX = 255      /* of one name */
};

/* Names, each once, in nodeset's order. Zero-initialise; hostlist_fini when done. The names lie in blocks
 * that the list owns. Names are added and never removed. */
struct hostlist_block;
struct hostlist {
    char **names;
    size_t n;
    size_t cap;
    struct hostlist_block *blocks; /* the last one first */
};

void hostlist_fini(struct hostlist *h);

/* Reads a list into h, which must be empty. -EINVAL with a sentence (which bracket, which range)
 * for what nodeset refuses or the limits forbid; h stays empty then. */
int hostlist_parse(const char *text, struct hostlist *h, struct err *e);

/* Like hostlist_parse, for a list from a peer: at most hosts_max hosts before its operators. A few bytes can
 * stand for very many names; set the limit to the most names that the sender can have a reason to name. The
 * work is proportional to the text and hosts_max, however many names the text stands for. */
int hostlist_parse_max(const char *text, size_t hosts_max, struct hostlist *h, struct err *e);

/* Walks a list name by name, for a caller that must not stall on a long list: most of the work is in the
 * names. The caller owns the walk after success. hostwalk_next borrows a name until the next call; NULL after
 * the last. */
struct hostwalk;
int hostwalk_create(const char *text, size_t hosts_max, struct hostwalk **out, struct err *e);
void hostwalk_destroy(struct hostwalk *w);
const char *hostwalk_next(struct hostwalk *w);

/* Adds one plain name as it stands, at the end, without looking for duplicates. */
void hostlist_add(struct hostlist *h, const char *name);
void hostlist_add_all(struct hostlist *h, const struct hostlist *more);

/* Writes names (n of them, any order, duplicates allowed) as the shortest list, as `nodeset -f`
 * does. "" for none. The caller frees it. */
char *hostlist_fold(const char *const *names, size_t n);

/* Folds name by name, for a caller that must not stall on a long list. hostfolder_end returns the list, which
 * the caller frees, and destroys f. */
struct hostfolder;
struct hostfolder *hostfolder_create(void);
void hostfolder_destroy(struct hostfolder *f);
void hostfolder_add(struct hostfolder *f, const char *name);
char *hostfolder_end(struct hostfolder *f);

/* True when name is one plain host name: letters, digits, '-', '_' and '.', a letter or digit
 * first, at most HOSTLIST_NAME_BYTES_MAX. */
bool hostlist_name_ok(const char *name);

void hostlist_cleanup(struct hostlist *h);
#define CLEANUP_HOSTLIST __attribute__((cleanup(hostlist_cleanup)))

#endif
