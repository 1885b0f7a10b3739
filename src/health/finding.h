/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_FINDING_H
#define FETTLE_HEALTH_FINDING_H

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "health/result.h"

/*
 * What a check found: one finding for each device that is not as it should be. A check that found
 * nothing has no findings and is ok.
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
    char device[FINDING_DEVICE_BYTES_MAX +
                1];                        /* "gpu 0000:9b:00", "mount /scratch", "eth0"; "" for the node */
    char code[FINDING_CODE_BYTES_MAX + 1]; /* what remedies may name: of a table of meanings
                                              ("xid.79") or a probe's own ("gpu.lost"); mostly "" */
    char
        text[FINDING_TEXT_BYTES_MAX + 1]; /* a clause for a person, with the numbers; no control characters */
    unsigned count;  /* how often it was seen on this boot; 0: nobody counts, it is there or it is not */
    unsigned others; /* devices of its kind that the same work used and that are well; 0: not known */
    char work[FINDING_WORK_BYTES_MAX + 1]; /* under which it was seen last, "slurm.1234"; "": not known */
    char user[FINDING_USER_BYTES_MAX + 1]; /* whose work it was, or "uid 1000"; "": not known */
};

/* "xid.79@gpu_0000:9b:00", code and device as one word without blanks: what was put right on one device. */
void finding_word(const struct finding *f, struct text *t);

/* What one look came to. */
struct verdict {
    enum result result;                    /* the worst of the findings; OK without */
    char text[FINDING_TEXT_BYTES_MAX + 1]; /* why unknown or unsupported; the plugin's line; may be "" */
    size_t n;
    struct finding findings[FINDINGS_A_CHECK_MAX]; /* what is beyond is counted in `more` */
    unsigned more;
};

void verdict_clear(struct verdict *v); /* ok, nothing found */
/* Adds a finding; control characters become spaces, what is no UTF-8 '?', and what is too long is cut at a
 * character. Of too many the mildest are counted only. OK and what is below is no finding, and not added. The
 * finding, until another is added; NULL when it was not added. */
struct finding *verdict_add(struct verdict *v, enum result r, const char *device, const char *code,
                            const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Nothing could be said: UNKNOWN or UNSUPPORTED, with why. Findings go. */
void verdict_cannot(struct verdict *v, enum result r, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Says something beside the findings, as a plugin that is content does. */
void verdict_note(struct verdict *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Lowers what is worse than this. */
void verdict_cap(struct verdict *v, enum result worst);

/* As JSON: {"result","text","findings":[{"result","device","code","text","count",
 * "others","work","user"}],"more"}; what is empty or 0 is left
 * out. Reading is strict: -EINVAL with the member, also where the result is not the worst of the findings; *v
 * is unknown then. Members of the outer object beside these four are the caller's. */
void verdict_write(const struct verdict *v, struct text *t);
int verdict_read(const json_t *o, struct verdict *v, struct err *e);

/* The members of a finding that say how often and under whose work it was seen, as ",KEY:VALUE" and back.
 * What is missing is 0, or empty. */
void finding_write_origin(const struct finding *f, struct text *t);
int finding_read_origin(const json_t *o, struct finding *f, struct err *e);

#endif
