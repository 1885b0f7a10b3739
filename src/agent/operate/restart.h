/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_OPERATE_RESTART_H
#define FETTLE_AGENT_OPERATE_RESTART_H

/*
 * The kernel's own restart (sysrq-trigger in proc(5)), for a machine whose shutdown does not come to its end:
 * it waits for no process and asks no device, which reboot(2) does.
 */

/* Prepares the process to outlast a shutdown: from now on it needs nothing from a disk, and systemd, which
 * kills every process in the end, leaves it alone. Returns the open trigger, or -errno with nothing
 * changed. */
int restart_prepare(const char *trigger);
/* Has the kernel write what it can within two seconds, and restart at once. Returns where it does not. */
void restart_force(int trigger);

#endif
