/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_REMAINS_H
#define FETTLE_AGENT_REMAINS_H

#include "base/err.h"
#include "base/text.h"

/*
 * Collects what the boot before the present one left: the kernel's records in pstore (also where systemd-
 * pstore has moved them), a crash dump, the ends of wtmp and of the journal, and what a watchdog's driver
 * and the BMC say. Call it in a child with a deadline: it reads disks and runs journalctl, which may hang.
 * It looks below root; "" is this machine, and only there it runs journalctl.
 *
 * out: the value of the inventory's member "LastBoot" (node/ended.h), as JSON. A source that cannot be read
 * adds nothing. -errno with a sentence when root does not exist.
 */
int remains_collect(const char *root, struct text *out, struct err *e);

#endif
