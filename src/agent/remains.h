/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_REMAINS_H
#define FETTLE_AGENT_REMAINS_H

#include "base/err.h"
#include "base/text.h"

/*
 * Collects what the boot before the present one left: what its kernel wrote into pstore (also where
 * systemd-pstore has put it by now), a crash dump, the ends of wtmp and of the journal, what a watchdog's
 * driver and the BMC say. For a child with a deadline: it reads disks and runs journalctl, which may hang.
 * Below root; "" is this machine, and journalctl is run there alone.
 *
 * out: the value of the inventory's member "LastBoot" (node/ended.h), as JSON. What cannot be read says
 * nothing. -errno with a sentence when root is none.
 */
int remains_collect(const char *root, struct text *out, struct err *e);

#endif
