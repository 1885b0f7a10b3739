/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_FINGERPRINT_READING_H
#define FETTLE_AGENT_FINGERPRINT_READING_H

#include "base/err.h"
#include "base/text.h"
#include "conform/component.h"
#include "survey/survey.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The survey's result as an agent keeps it, and what it told the other side. Pure.
 *
 * The list of components lives only in the child that reads it. The child writes a report: the fingerprint,
 * and the list as the bodies of COMPONENTS frames. The agent keeps the report as text, to answer a request
 * for the list, and to give the next child the packages, which are expensive to read and seldom change.
 */

enum {
    READING_PART_BYTES_MAX = 40 << 10, /* the body of a COMPONENTS frame */
    /* A value may be of characters that JSON writes in six. */
    READING_REPORT_BYTES_MAX = 6 * COMPONENTS_BYTES_MAX + 32 * COMPONENTS_MAX
};

/* Cheap stamps of the node, taken before the list was read. */
struct reading_stamps {
    uint64_t files;    /* survey_stamp */
    uint64_t packages; /* as in struct survey_cache */
    uint64_t glance;   /* survey_glance */
};

/* Zero-initialise; reading_fini. */
struct reading {
    bool known;    /* fingerprint is what the node is; else the last survey failed */
    bool told_any; /* told is what was last said over the present link */
    struct fingerprint fingerprint, told;
    struct reading_stamps stamps;
    char *report;       /* NULL before the first */
    const char *bodies; /* in it */
};
void reading_fini(struct reading *r);

/* In the child: writes the report of a sorted list. */
void reading_report(const struct components *c, const struct reading_stamps *stamps, struct text *out);

/* Takes a copy of a report. -EINVAL when it is cut short or damaged; the earlier report stays then. */
int reading_take(struct reading *r, const char *report, size_t len, struct err *e);
/* Nothing is known any more; the packages stay at hand. */
void reading_forget(struct reading *r);

/* Writes the body of the FINGERPRINT to send now, and notes it as told; when it is the same as before, the
 * body says that. False: the fingerprint is not known, and there is no body. */
bool reading_say(struct reading *r, const char *boot, struct text *body);
/* The next body of COMPONENTS and its length; *at is 0 for the first. NULL after the last. */
const char *reading_next_part(const struct reading *r, size_t *at, size_t *len);

/* The packages of the last report as a cache (zero-initialised; the caller's). It stays empty when
 * they are not all there. */
void reading_packages(const struct reading *r, struct survey_cache *cache);

#endif
