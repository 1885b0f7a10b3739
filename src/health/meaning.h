/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_MEANING_H
#define FETTLE_HEALTH_MEANING_H

#include "base/clock.h"
#include "health/act.h"
#include "health/blame.h"
#include "health/finding.h"

/*
 * What lines of the kernel log mean. Meanings are data with provenance: xid.tbl, sxid.tbl and kernel.tbl are
 * the defaults, records of a file (meanings.conf(5)) lie over them:
 *
 *   Xid=94 Act=job Result=info Because="our applications retry"
 *   Xid=149 Sub=4 Act=hardware Because="cartridge"
 *   Line="mydriver: link dead on <dev>" Code=mydriver.link Device=link Act=reset Because="vendor note 12"
 *   Line="mydriver: link up on <dev>" Code=mydriver.link Device=link Result=ok
 *   Code=oom.system Act=reboot Because="nothing of ours survives it"
 *
 * A pattern is the whole line. In it `*` is any run of characters, `#` one or more digits, and `<dev>` one or
 * more characters that are no white space: the device. Each stands for as little as it can. A meaning whose
 * result is ok ends what was found under the same code and device.
 */

struct meaning {
    char code[FINDING_CODE_BYTES_MAX + 1]; /* "xid.79", "xid.149.4", "sxid.12020", "oom.system" */
    enum act act;
    enum result result;        /* OK: it ends what was found under its code and device */
    enum blame blame;          /* what can bring it about */
    const char *what, *source; /* of the table, or of the file; borrowed from the meanings */
    unsigned often;            /* said so often (OFTEN_MAX at most) within so long it is that; 0: never */
    struct span often_within;
    enum result often_result;
    struct span warn_for; /* a warning at most until it lasted so long; 0: at once what it is */
    struct span keep;     /* after this it is over, whatever the check says; 0: nothing of its own */
    uint64_t taint; /* a warning at most until the kernel's taint has one of these bits; 0: needs none */
};

enum { OFTEN_MAX = 10, MEANINGS_MAX = 1024, MEANING_LINE_BYTES_MAX = 255 };

struct meanings;
/* The defaults, and a file over them; path may be NULL. NULL with a sentence: "PATH:LINE: ...". */
struct meanings *meanings_read(const char *path, struct err *e);
struct meanings *meanings_parse(const char *path, const char *bytes, size_t len, struct err *e);
void meanings_destroy(struct meanings *m);

/* A line as the kernel said it, without priority and time. True when it means something: then *f is what it
 * is a finding of (result, device "gpu 0000:9b:00", code, text), and *m what the table says. by_process: the
 * line is about a process that is not the kernel's own, so what blames the node is passed over; so it is for
 * a line that begins with the name and the number of a process. Takes no more steps than the line is long
 * times the patterns that begin as it does. */
bool meaning_of(const struct meanings *all, const char *line, bool by_process, struct finding *f,
                struct meaning *m);
/* The process that a line of the NVIDIA driver ("Xid (...): 31, pid=7, ..."), of the kernel's OOM killer or
 * of its watch over processes that wait ("INFO: task NAME:7 blocked ...") names; 0 for none. */
unsigned meaning_pid(const char *line);
/* The same of the last kind alone. */
unsigned meaning_waits(const char *line);
/* By its code; false for one that nobody knows. */
bool meaning_find(const struct meanings *all, const char *code, struct meaning *m);
/* All of them, in order, those of the file first; for explaining. A row of several numbers is one,
 * "xid.39-41". */
typedef void meaning_fn(void *arg, const struct meaning *m);
void meanings_each(const struct meanings *all, meaning_fn *fn, void *arg);

#endif
