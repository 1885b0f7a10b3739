/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_FINDING_H
#define FETTLE_HEALTH_FINDING_H

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "health/result.h"

/*
 * The findings of a check: one for each faulty device. A check that found nothing has no findings, and its
 * result is ok.
 */

enum {
    FINDING_WORK_BYTES_MAX = 63,
    FINDING_USER_BYTES_MAX = 32,
    FINDING_DEVICE_BYTES_MAX = 63,
    FINDING_TEXT_BYTES_MAX = 255,
    FINDING_CODE_BYTES_MAX = 31,
    FINDINGS_A_CHECK_MAX = 16
};

struct finding {
    enum result result;
    char device[FINDING_DEVICE_BYTES_MAX + 1]; /* the device: "gpu 0000:9b:00", "mount /scratch", "eth0"; ""
                                                  for the node */
    char code[FINDING_CODE_BYTES_MAX + 1];     /* a word that remedies may name: from a table of meanings
                                                  ("xid.79") or the probe's own ("gpu.lost"); mostly "" */
    char
        text[FINDING_TEXT_BYTES_MAX + 1]; /* a clause for a person, with the numbers; no control characters */
    unsigned count;                       /* how often it was seen on this boot; 0: not counted */
    unsigned others; /* how many devices of its kind were used by the same work and are well; 0: unknown */
    char work[FINDING_WORK_BYTES_MAX + 1]; /* the work under which it was last seen, "slurm.1234"; "":
                                              unknown */
    char user[FINDING_USER_BYTES_MAX + 1]; /* the user of that work, or "uid 1000"; "": unknown */
};

/* Writes code and device as one word without blanks: "xid.79@gpu_0000:9b:00". It names a finding that was
 * corrected on one device. */
void finding_word(const struct finding *f, struct text *t);

/* The result of one look. */
struct verdict {
    enum result result;                    /* the worst of the findings; OK without findings */
    char text[FINDING_TEXT_BYTES_MAX + 1]; /* why it is unknown or unsupported; or the plugin's line; may be
                                              "" */
    size_t n;
    struct finding findings[FINDINGS_A_CHECK_MAX]; /* further findings are only counted in `more` */
    unsigned more;
};

void verdict_clear(struct verdict *v); /* result ok, no findings */
/* Adds a finding. Control characters become spaces, bytes that are not UTF-8 become '?', and a text that is
 * too long is cut at a character. When there are too many, the mildest are only counted. OK and milder
 * results are not findings and are not added. Returns the finding, which is valid until another is added;
 * NULL when it was not added. */
struct finding *verdict_add(struct verdict *v, enum result r, const char *device, const char *code,
                            const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Drops the findings: the look had no answer. r is UNKNOWN or UNSUPPORTED; the text says why. */
void verdict_cannot(struct verdict *v, enum result r, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets the text of a verdict beside its findings, for instance the line of a plugin that passes. */
void verdict_note(struct verdict *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Lowers results that are worse than this one. */
void verdict_cap(struct verdict *v, enum result worst);

/* As JSON: {"result","text","findings":[{"result","device","code","text","count",
 * "others","work","user"}],"more"}; empty and zero members are left out. Reading is strict: -EINVAL names the
 * member, and *v is then unknown; a result that is not the worst of the findings is refused too. Other
 * members of the outer object belong to the caller. */
void verdict_write(const struct verdict *v, struct text *t);
int verdict_read(const json_t *o, struct verdict *v, struct err *e);

/* Writes the members of a finding that say how often, and under whose work, it was seen, as ",KEY:VALUE"; and
 * reads them. Absent members are 0 or empty. */
void finding_write_origin(const struct finding *f, struct text *t);
int finding_read_origin(const json_t *o, struct finding *f, struct err *e);

#endif
