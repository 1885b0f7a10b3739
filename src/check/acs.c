/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include "probe/part.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * pcie.acs   "port ADDRESS CONTROL" of each port of a PCIe switch between a GPU and another one, or an RDMA
 *            adapter: its ACS control register, "-" where it has none
 *
 * Devices below one switch reach each other by its ports, unless Access Control Services send what they write
 * up to the root complex, as is meant for virtual machines that own devices: GPUDirect is slow then, or
 * hangs. What counts as that is what the kernel takes for it (pci_bridge_has_acs_redir). Bridges that several
 * devices share are not on the way between those. The register lies where root alone may read.
 */

/* --- the register --------------------------------------------------------------------------- */

int acs_control(config_fn *read, void *arg, uint16_t *out)
{
    enum { CAPABILITIES_MAX = (PCI_CFG_SPACE_EXP_SIZE - PCI_CFG_SPACE_SIZE) / 8 };
    unsigned at = PCI_CFG_SPACE_SIZE;
    uint32_t header, registers;
    for (int i = 0; i < CAPABILITIES_MAX && at >= PCI_CFG_SPACE_SIZE; i++) {
        int r = read(arg, at, &header);
        if (r < 0)
            return r;
        if (header == UINT32_MAX) /* the device does not answer */
            return -EIO;
        if (PCI_EXT_CAP_ID(header) == PCI_EXT_CAP_ID_ACS) {
            r = read(arg, at + PCI_ACS_CAP, &registers);
            *out = r < 0 ? 0 : (uint16_t)(registers >> 16);
            return r;
        }
        at = PCI_EXT_CAP_NEXT(header);
    }
    return -ENOENT;
}

/* The file ends here for a device without the longer space, and also for readers other than root. */
static int read_config(void *arg, unsigned at, uint32_t *out)
{
    const int *fd = arg;
    uint8_t bytes[4];
    struct stat st;
    ssize_t n = pread(*fd, bytes, sizeof bytes, at);
    if (n < 0 || fstat(*fd, &st) < 0)
        return -errno;
    if (n < (ssize_t)sizeof bytes)
        return st.st_size > PCI_CFG_SPACE_SIZE ? -EACCES : -ENOENT;
    *out = (uint32_t)bytes_little(bytes, sizeof bytes);
    return 0;
}

static void add_port(int bus, const char *name, struct text *out)
{
    char path[SYS_TEXT_BYTES_MAX];
    uint16_t control;
    snprintf(path, sizeof path, "%.64s/config", name);
    CLEANUP_FD int fd = openat(bus, path, O_RDONLY | O_CLOEXEC);
    int r = fd < 0 ? -errno : acs_control(read_config, &fd, &control);
    if (fd >= 0 && r == -ENOENT)
        fact_add(out, "port", "%s -", name);
    else if (r < 0)
        fact_add(out, "unknown", "the configuration of %s: %s", name, strerror(-r));
    else
        fact_add(out, "port", "%s %u", name, control);
}

/* --- the ports on the way ------------------------------------------------------------------- */

/* A GPU or an RDMA adapter, with what is above it: the host bridge, a root port, a switch's ports. */
struct end {
    bool gpu;
    struct words way;
};

struct ends {
    size_t n;
    struct end list[SYS_DEVICES_MAX];
};

/* "../../../devices/pci0000:16/0000:16:01.0/0000:17:00.0/0000:18:00.0/0000:19:00.0"; a host bridge may lie
 * below another. */
static bool read_way(int bus, const char *name, struct words *out)
{
    char link[512], *host = NULL;
    ssize_t n = readlinkat(bus, name, link, sizeof link - 1);
    if (n < 0)
        return false;
    link[n] = '\0';
    for (char *p = link; (p = strstr(p, "/pci")); p++)
        host = p;
    for (char *p = host; p && *p; p++)
        if (*p == '/')
            *p = ' ';
    words_of(host ? host : "", out);
    return host != NULL;
}

/* Virtual functions lie where their card does. */
static void add_end(int bus, const char *name, struct ends *ends)
{
    CLEANUP_FD int dir = sys_open_dir(bus, name);
    if (dir < 0 || faccessat(dir, "physfn", F_OK, 0) == 0 || ends->n == SYS_DEVICES_MAX)
        return;
    struct end *e = &ends->list[ends->n];
    e->gpu = gpu_is_one(dir);
    if (e->gpu || faccessat(dir, "infiniband", F_OK, 0) == 0)
        ends->n += read_way(bus, name, &e->way);
}

static void add_below(const struct words *way, size_t shared, struct sys_names *ports)
{
    for (size_t i = shared; i + 1 < way->n; i++)
        sys_names_add(ports, way->w[i]);
}

/* The host bridge and the root port come first in what two devices share; the third is a switch. */
static void add_between(const struct end *a, const struct end *b, struct sys_names *ports)
{
    enum { HOST_BRIDGE, ROOT_PORT, SWITCH };
    size_t shared = 0;
    while (shared < a->way.n && shared < b->way.n && strcmp(a->way.w[shared], b->way.w[shared]) == 0)
        shared++;
    if (shared <= SWITCH || !(a->gpu || b->gpu))
        return;
    add_below(&a->way, shared, ports);
    add_below(&b->way, shared, ports);
}

static void find_ports(int bus, struct sys_names *ports)
{
    struct sys_names names = {0};
    CLEANUP_FREE struct ends *ends = mem_alloc(sizeof *ends);
    sys_names_read(&names, bus);
    for (size_t i = 0; i < names.n; i++)
        add_end(bus, names.names[i], ends);
    for (size_t i = 0; i < ends->n; i++)
        for (size_t k = 0; k < i; k++)
            add_between(&ends->list[i], &ends->list[k], ports);
    sys_names_sort(ports);
    sys_names_fini(&names);
}

/* "flags : fpu vme ... hypervisor ..." */
static bool on_flags(const char *line, void *arg)
{
    bool *is = arg;
    if (strncmp(line, "flags", 5) != 0)
        return true;
    const char *word = strstr(line, " hypervisor");
    *is = word && (word[11] == ' ' || word[11] == '\0');
    return false;
}

void gather_PCIE_ACS(const struct look *l, struct text *out)
{
    static const char path[] = "sys/bus/pci/devices";
    struct sys_names ports = {0};
    bool virtual = false;
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    sys_each_line(root, "proc/cpuinfo", on_flags, &virtual);
    CLEANUP_FD int bus = sys_open_dir(root, path);
    if (bus < 0) {
        fact_cannot(root, out, path, bus);
        return;
    }
    if (!virtual)
        find_ports(bus, &ports);
    for (size_t i = 0; i < ports.n; i++)
        add_port(bus, ports.names[i], out);
    if (virtual)
        fact_add(out, "unsupported", "a virtual machine does not see its host's PCIe switches");
    else if (out->len == 0)
        fact_add(out, "unsupported", "no GPU shares a PCIe switch with another one or an RDMA adapter");
    sys_names_fini(&ports);
}

/* --- judging -------------------------------------------------------------------------------- */

void judge_PCIE_ACS(struct look *l, const char *facts, struct verdict *v)
{
    uint64_t ports = 0, redirect = 0, control;
    char one[64] = "";
    struct fact_line line;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        words_of(line.value, &w);
        if (strcmp(line.key, "port") != 0)
            continue;
        ports++;
        if (word_u64(&w, 1, &control) && control & (PCI_ACS_RR | PCI_ACS_CR | PCI_ACS_EC) && redirect++ == 0)
            snprintf(one, sizeof one, "%.63s", w.w[0]);
    }
    if (redirect > 0)
        verdict_add(v, RESULT_DEGRADED, "pcie", "",
                    "%" PRIu64 " of %" PRIu64
                    " switch ports between GPUs and RDMA adapters redirect what these send each other to the "
                    "root complex (ACS); one is %s",
                    redirect, ports, one);
}
