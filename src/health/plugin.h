/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_PLUGIN_H
#define FETTLE_HEALTH_PLUGIN_H

#include "health/finding.h"
#include "health/perf.h"

#include <stddef.h>

/*
 * The protocol of Nagios and Sensu plugins: exit status and output become a verdict. Status 0 is ok, 1 warn,
 * 2 fatal (the record's Severity lowers it), 3 and all others unknown; 126 and 127 (no such program)
 * unsupported. The text is the first line that is not blank, up to '|'. Performance data follow the first '|'
 * on that line, and from a second '|' on a later line to the end. Malformed data are skipped. When a plugin
 * warns or worse, the verdict shows their values beside the finding ("load1=5.310 /=120MB").
 */

/* Judges a plugin by its exit status and output. A negative status is minus the signal that ended it. *v is
 * overwritten. Any bytes are allowed; NUL bytes count as blanks. */
void plugin_read(int status, const char *output, size_t len, enum metric format, struct verdict *v);

#endif
