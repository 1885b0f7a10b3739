/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_MEANING_H
#define FETTLE_HEALTH_MEANING_H

#include "base/clock.h"
#include "health/act.h"
#include "health/blame.h"
#include "health/finding.h"

/*
 * The meanings of kernel log lines. They are data with provenance: xid.tbl, sxid.tbl and kernel.tbl are the
 * defaults, and records of a file (meanings.conf(5)) override them:
 *
 *   Xid=94 Act=job Result=info Because="our applications retry"
 *   Xid=149 Sub=4 Act=hardware Because="cartridge"
 *   Line="mydriver: link dead on <dev>" Code=mydriver.link Device=link Act=reset Because="vendor note 12"
 *   Line="mydriver: link up on <dev>" Code=mydriver.link Device=link Result=ok
 *   Code=oom.system Act=reboot Because="nothing of ours survives it"
 *
 * A pattern matches the whole line. In it `*` is any run of characters, `#` one or more digits, and `<dev>`
 * one or more characters that are not white space: the device. Each matches as little as possible. A meaning
 * whose result is ok ends the finding with the same code and device.
 */

struct meaning {
    char code[FINDING_CODE_BYTES_MAX + 1]; /* "xid.79", "xid.149.4", "sxid.12020", "oom.system" */
    enum act act;
    enum result result;        /* OK: the line ends the finding with this code and device */
    enum blame blame;          /* the possible cause */
    const char *what, *source; /* from the table or the file; borrowed from the meanings */
    unsigned often;            /* the action counts only when the line came this often (at most OFTEN_MAX)
                                  within often_within; 0: at once */
    struct span often_within;
    enum result often_result;
    struct span warn_for; /* it stays a warning until it has lasted this long; 0: the full result at once */
    struct span keep;     /* the finding ends after this time, whatever the check says; 0: no limit of its
                             own */
    uint64_t taint; /* it stays a warning until the kernel's taint has one of these bits; 0: no condition */
};

enum { OFTEN_MAX = 10, MEANINGS_MAX = 1024, MEANING_LINE_BYTES_MAX = 255 };

struct meanings;
/* Reads the defaults, and a file over them; path may be NULL. NULL with a sentence: "PATH:LINE: ...". */
struct meanings *meanings_read(const char *path, struct err *e);
struct meanings *meanings_parse(const char *path, const char *bytes, size_t len, struct err *e);
void meanings_destroy(struct meanings *m);

/* Reads a line as the kernel wrote it, without priority and time. True when it has a meaning: *f is then the
 * finding (result, device "gpu 0000:9b:00", code, text), and *m its entry. by_process: the line is about a
 * process that is not the kernel's own, and meanings that blame the node are skipped. A line that begins with
 * a process's name and number is treated the same way. The cost is at most the length of the line times the
 * patterns that share its first byte. */
bool meaning_of(const struct meanings *all, const char *line, bool by_process, struct finding *f,
                struct meaning *m);
/* The number of the process that the line names: a line of the NVIDIA driver ("Xid (...): 31, pid=7, ..."),
 * of the kernel's OOM killer, or about a hung task ("INFO: task NAME:7 blocked ..."); 0 for none. */
unsigned meaning_pid(const char *line);
/* The same, for hung tasks only. */
unsigned meaning_waits(const char *line);
/* Finds a meaning by its code; false for an unknown code. */
bool meaning_find(const struct meanings *all, const char *code, struct meaning *m);
/* Calls fn for all meanings in order, the file's first; used to explain them. A row for several numbers is
 * one meaning, "xid.39-41". */
typedef void meaning_fn(void *arg, const struct meaning *m);
void meanings_each(const struct meanings *all, meaning_fn *fn, void *arg);

#endif
