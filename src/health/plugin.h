/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_HEALTH_PLUGIN_H
#define FETTLE_HEALTH_PLUGIN_H

#include "health/finding.h"
#include "health/perf.h"

#include <stddef.h>

/*
 * The protocol of Nagios and Sensu plugins: exit status and output become a verdict. 0 ok, 1 warn, 2 fatal
 * (the record's Severity lowers it), 3 and everything else unknown; 126 and 127 (no such program)
 * unsupported. The first line that is not blank is the text, up to '|'. Performance data follow the first '|'
 * on its line, and a second one somewhere below it, to the end. They are read leniently: what is no datum is
 * passed over. Of a plugin that warns or worse the verdict has their values beside the finding
 * ("load1=5.310 /=120MB").
 */

/* What a plugin that ended with this exit status and said this came to; below 0: minus the signal that ended
 * it. *v is written anew. Any bytes are good; NUL bytes count as blanks. */
void plugin_read(int status, const char *output, size_t len, enum metric format, struct verdict *v);

#endif
