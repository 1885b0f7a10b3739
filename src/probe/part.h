/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_PROBE_PART_H
#define FETTLE_PROBE_PART_H

#include "base/err.h"
#include "base/json.h"
#include "probe/sys.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The subjects of the inventory, for probe.c and their tests. Each reads below the open directory
 * `root` and sets those members of `into` that it could read (probe.h names them all).
 */

/* Name, OS, Arch, BootTime. real: root is this machine's own. */
void host_read(int root, bool real, json_t *into);
void cpu_read(int root, json_t *into);    /* CPUs, Sockets, Cores, Threads, Speed, CPUModel */
void memory_read(int root, json_t *into); /* RealMemory, VirtualMemory */
void disk_read(int root, const char *tmp_dir, json_t *into); /* TmpDisk, Disks */
void nic_read(int root, json_t *into);                       /* NICs */
void gpu_read(int root, json_t *into);                       /* GPUs */
void dmi_read(int root, json_t *into);                       /* DMI */

/* True when the PCI device of that directory counts as a GPU. */
bool gpu_is_one(int dir);

/* A set of processors: as many as the kernel can be built for. */
enum { CPU_MAX = 8192 };
struct cpu_set {
    uint64_t bits[CPU_MAX / 64];
};

/* Reads the kernel's list of processors ("0-3,8\n"; "" is an empty list). -EINVAL with a sentence for
 * anything else, for a range that runs backwards, and for a number of CPU_MAX or more. */
int cpu_list_parse(const char *text, struct cpu_set *out, struct err *e);
unsigned cpu_set_count(const struct cpu_set *s);

/* The first processor in /proc/cpuinfo, and the number of processors. Zero-initialise. */
struct cpu_info {
    char model[SYS_TEXT_BYTES_MAX];
    uint64_t mhz_milli;      /* 0 when unknown */
    uint64_t bogomips_milli; /* 0 when unknown */
    bool measured;           /* the MHz are measured at every reading */
    bool count;              /* asked for: read on, to count the processors */
    unsigned processors;
};
/* Takes one line; a sys_line_fn with a struct cpu_info. */
bool cpu_info_line(const char *line, void *info);

/* /proc/meminfo, in KiB. Zero-initialise. */
struct memory_info {
    bool has_total, has_swap;
    uint64_t total_kb, swap_kb;
};
/* Takes one line; a sys_line_fn with a struct memory_info. */
bool memory_info_line(const char *line, void *info);

#endif
