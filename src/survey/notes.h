/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_SURVEY_NOTES_H
#define FETTLE_SURVEY_NOTES_H

#include "base/hostlist.h"
#include "base/text.h"
#include "conform/component.h"

#include <stddef.h>

/*
 * The findings of one part of the reading, before they become components: any name, any value, in any
 * order, the same name more than once. notes_settle makes components of them. It alone knows what becomes
 * of notes that do not fit.
 *
 * Names are given in the manner of printf. A byte that may not stand in a component's name is written as in
 * a URL ("%20"), and so is "%".
 */

struct note {
    char *name, *value;
    enum component_state state;
};
/* Zero-initialise; notes_fini. */
struct notes {
    size_t n, cap;
    struct note *list;
};
void notes_fini(struct notes *n);
void notes_cleanup(struct notes *n);
#define CLEANUP_NOTES __attribute__((cleanup(notes_cleanup)))

void notes_value(struct notes *n, const char *value, const char *name, ...)
    __attribute__((format(printf, 3, 4)));
void notes_number(struct notes *n, size_t value, const char *name, ...) __attribute__((format(printf, 3, 4)));
void notes_absent(struct notes *n, const char *name, ...) __attribute__((format(printf, 2, 3)));
void notes_unknown(struct notes *n, const char *why, const char *name, ...)
    __attribute__((format(printf, 3, 4)));
/* A note as it stands, with a name that needs no writing over. */
void notes_take(struct notes *n, const char *name, enum component_state state, const char *value);
/* For what -errno says. */
void notes_error(struct notes *n, int code, const char *name, ...) __attribute__((format(printf, 3, 4)));

/* "PREFIX.*" is unknown: nothing could be read there. path is absolute. */
void notes_lost(struct notes *n, int code, const char *path, const char *prefix);

/* The text of a file, white space and control bytes as single blanks, trimmed; absent when there is no
 * such file or an empty one; else unknown. */
void notes_text(struct notes *n, int at, const char *path, const char *name, ...)
    __attribute__((format(printf, 4, 5)));
/* The last part of what a symbolic link points to. */
void notes_link(struct notes *n, int at, const char *path, const char *name, ...)
    __attribute__((format(printf, 4, 5)));

/* The first note with that name (as it is written in notes); NULL. */
const struct note *notes_find(const struct notes *n, const char *name);
/* Takes the note `from` of another list under a new name; unknown with the sentence `why` where there is
 * none. */
void notes_expect(struct notes *n, const struct notes *got, const char *from, const char *why,
                  const char *name, ...) __attribute__((format(printf, 5, 6)));

/* Adds everything to out, for a part whose names begin with "PREFIX." Notes with one name become one
 * component: their different values in order with ", " between; unknown when one of them is. Names that
 * match a pattern of `ignore` ('*' is any run of characters) are left out. A value that does not fit is
 * unknown. When the part as a whole, or a name, does not fit, "PREFIX.*" is unknown. */
void notes_settle(struct notes *n, const char *prefix, const struct hostlist *ignore, struct components *out);

/* The file whole, at most limit bytes; -EFBIG when it is longer. Never waits for a pipe. */
int notes_read(int at, const char *path, size_t limit_bytes, struct text *out);
/* Runs of white space and control bytes become one blank; none at the ends. NULL stays. */
void notes_squeeze(struct text *t);

#endif
