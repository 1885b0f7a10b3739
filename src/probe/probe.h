/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_PROBE_PROBE_H
#define FETTLE_PROBE_PROBE_H

#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The hardware of this machine, read from /proc, /sys and system calls below a root directory that tests
 * can set ("" for the real one). Absence is an answer: a machine without GPUs has an empty list. A value
 * that could not be read is missing from the object, which means unknown.
 *
 * Reading may hang (a dead NFS mount, a firmware table), so it runs in a child process with a deadline; the
 * parent only reads a pipe.
 */

/* The inventory, as a JSON object with these members (units in the names of the 2001 document):
 *   Name, OS ("Linux.6.1.0-13-amd64"), CPUs (online), Sockets, Cores (per socket), Threads (per
 *   core), Speed (MHz, thousandths as a decimal number), RealMemory, VirtualMemory (real + swap),
 *   TmpDisk (MiB, of the file system that holds tmp_dir), Arch, CPUModel,
 *   BootTime (whole seconds since 1970),
 *   NICs   [{name, mac, driver, speed_mbps, state, pci}]      without loopback and virtual ones
 *   GPUs   [{pci, vendor, device, driver}]                    PCI class 0x03 with 3D or known vendor,
 *                                                             or AMD's accelerators of class 0x12
 *   Disks  [{name, model, serial, size_mb, rotational}]       without loop, ram and dm devices
 *   DMI    {vendor, product, serial, bios_vendor, bios_version, bios_date, board, board_serial, uuid}
 * The agent adds LastBoot {ended, text} (node/ended.h).
 * Lists are sorted by name or bus address and have at most 256 members; texts are cut at 127 bytes;
 * vendor and device are PCI's, as "0x10de". Volatile values (uptime, load) are not in it: two
 * readings of an unchanged machine are equal.
 * 0, or -errno with a sentence when root is no directory that can be read; *out is the caller's. */
int probe_inventory(const char *root, const char *tmp_dir, json_t **out, struct err *e);

/* The UUID of the machine, as DMI has it; "" where it has none, or where it may not be read. */
void probe_machine(const char *root, char out[static 37]);
/* The kernel's boot id (36 characters) below root. -errno, or -EINVAL for something else there. */
int probe_boot_id(const char *root, char out[static 37], struct err *e);
/* Seconds since boot. */
int probe_uptime(const char *root, uint64_t *seconds, struct err *e);
/* Memory in MiB: available to new work, and the whole. -ENODATA where the kernel does not say. */
int probe_memory_free(const char *root, uint64_t *free_mb, uint64_t *all_mb, struct err *e);

/* The running work, as a JSON array of strings, sorted: the names of the files in
 * ROOT/run/fettle/work (any launcher makes one for each piece of work), and of Slurm's job cgroups
 * ("slurm.1234"; v1 and v2 layouts). An empty array means idle. -errno when a directory that is
 * there cannot be read, -E2BIG for more names than 32 KiB hold: the work is unknown then. */
int probe_work(const char *root, json_t **out, struct err *e);
/* The same as text, added to out: "[]" means idle. */
int probe_work_text(const char *root, struct text *out, struct err *e);

/* The owner of a process: its user, the Slurm job that its cgroup names ("slurm.1234"; "" for none), and
 * how many GPUs the job's processes hold open, as far as 4,096 of their files show. False when there is no
 * such process. It never blocks, and takes a few milliseconds at most. */
struct whose {
    char work[64], user[33]; /* the user as /etc/passwd has it, else "uid 1000" */
    unsigned gpus;
};
bool probe_whose(const char *root, unsigned pid, struct whose *out);
/* Whether the process is a thread of the kernel: its parent is the process 2, or it is that. False when there
 * is no such process, and where it cannot be read. */
bool probe_kernels(const char *root, unsigned pid);

/* A short name for an inventory, for asking "do you still have this one?": 64-bit FNV-1a over its
 * JSON text with sorted keys, as 16 hex characters. */
void probe_hash(const json_t *inventory, char out[static 17]);

#endif
