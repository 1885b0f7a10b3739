/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_LOG_H
#define FETTLE_BASE_LOG_H

#include "base/err.h"

#include <stdint.h>

/*
 * The log of a daemon: lines on standard error, which systemd's journal or a file takes. A line begins with
 * syslog's level in angle brackets when the journal reads it, otherwise with a time and a word. Only shells
 * log; decisions and library code return what they have to say.
 */

enum log_flag {
#define FLAG(symbol, name, what) LOG_##symbol,
#include "base/log.tbl"
#undef FLAG
    LOG_FLAGS
};

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Logs only when the flag is set. */
void log_debug(enum log_flag flag, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Reads a comma-separated list of flag names ("init,msg"; "" for none) into a mask of 1 << flag. -EINVAL
 * names the unknown flag and the nearest known one. */
int log_parse_flags(const char *list, uint32_t *mask, struct err *e);
void log_set_flags(uint32_t mask);

#endif
