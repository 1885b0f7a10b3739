/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_REMAINS_READ_H
#define FETTLE_AGENT_REMAINS_READ_H

#include "node/ended.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the boot before the present one left, read from bytes: records of pstore, the end of wtmp, the end
 * of the journal as journalctl prints it in JSON, and the BMC's cause of the machine's start. Pure.
 */

enum { REMAINS_LINE_BYTES_MAX = 160 };

/* A record of pstore, or the text that systemd-pstore made of several. True when it is of a panic; then line
 * is the line that says which, or "". */
bool remains_panic(const char *bytes, size_t len, char line[static REMAINS_LINE_BYTES_MAX]);

/* The end of wtmp, in whole records. */
struct remains_wtmp {
    bool known;      /* the present boot is in it, and one before */
    bool is_orderly; /* the one before was shut down */
    int64_t began_s; /* when the one before began, since 1970; 0: not known */
};
/* boot_s: when the present boot began, since 1970. */
void remains_wtmp(const char *bytes, size_t len, int64_t boot_s, struct remains_wtmp *out);

/* The end of the journal of the boot before: a JSON object a line. */
struct remains_journal {
    bool known, is_orderly;
    char last[REMAINS_LINE_BYTES_MAX]; /* its last message; "" without */
};
void remains_journal(const char *bytes, size_t len, struct remains_journal *out);

/* IPMI 2.0, 28.11: the cause of a system restart, the low four bits. UNKNOWN where it says nothing. */
enum ended remains_restart_cause(uint8_t cause);

/* All of these together. */
struct remains {
    bool panicked;
    char panic[REMAINS_LINE_BYTES_MAX];
    char dump[64]; /* the name of a crash dump of the boot before; "" for none */
    struct remains_wtmp wtmp;
    struct remains_journal journal;
    bool watchdog;    /* a watchdog's driver says that it reset the machine */
    enum ended cause; /* as the BMC says; UNKNOWN: it was not asked, or does not say */
};
void remains_judge(const struct remains *r, struct last_boot *out);

#endif
