/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/nvml.h"
#include "survey/part.h"

#include "probe/part.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The bus shows how many GPUs there are and which; that never blocks. Their drivers know the rest: NVIDIA's
 * by NVML, or in /proc where that library is missing; AMD's in the device's directory.
 */

static const char BUS[] = "sys/bus/pci/devices";

struct nvidia {
    bool asked, none;  /* none: there is no library */
    struct notes said; /* by NVML */
    struct err why;
};

static void ask_nvml(const struct reading *r, struct nvidia *v)
{
    if (v->asked)
        return;
    v->asked = true;
    if (r->calls->nvml)
        nvml_ask(r->calls->nvml, reading_timeout(r, NVML_MS_MAX), &v->said, &v->why);
    v->none = !r->calls->nvml || notes_find(&v->said, "none");
}

/* --- NVIDIA without NVML ---------------------------------------------------------------------------- */

struct wanted {
    const char *key;
    char value[SYS_TEXT_BYTES_MAX];
};

static bool information_line(const char *line, void *wanted)
{
    struct wanted *w = wanted;
    size_t n = strlen(w->key);
    if (strncmp(line, w->key, n) != 0 || line[n] != ':')
        return true;
    snprintf(w->value, sizeof w->value, "%s", line + n + 1 + strspn(line + n + 1, " \t"));
    return false;
}

/* The driver writes "??.??.??.??.??" for a GPU that was not used since the driver was loaded. */
static void note_information(const struct reading *r, struct notes *n, const char *address, const char *key,
                             const char *name)
{
    char path[SYS_TEXT_BYTES_MAX];
    struct wanted w = {.key = key};
    snprintf(path, sizeof path, "proc/driver/nvidia/gpus/%.32s/information", address);
    int failed = sys_each_line(r->root, path, information_line, &w);
    if (failed)
        notes_error(n, failed, "gpu.%s.%s", address, name);
    else if (!*w.value || *w.value == '?')
        notes_unknown(n, "the driver does not say", "gpu.%s.%s", address, name);
    else
        notes_value(n, w.value, "gpu.%s.%s", address, name);
}

static void note_without_nvml(const struct reading *r, struct notes *n, const char *address)
{
    note_information(r, n, address, "Model", "model");
    note_information(r, n, address, "Video BIOS", "vbios");
    notes_unknown(n, "there is no NVML library that can be used", "gpu.%s.ecc", address);
    notes_unknown(n, "there is no NVML library that can be used", "gpu.%s.mig", address);
}

/* --- the cards ----------------------------------------------------------------------------------------- */

static void note_nvidia(const struct reading *r, struct notes *n, const char *address, struct nvidia *v)
{
    static const char *const what[] = {"model", "vbios", "ecc", "mig"};
    ask_nvml(r, v);
    if (v->none) {
        note_without_nvml(r, n, address);
        return;
    }
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        char from[SYS_TEXT_BYTES_MAX];
        snprintf(from, sizeof from, "%.64s/%s", address, what[i]);
        notes_expect(n, &v->said, from, v->why.msg, "gpu.%s.%s", address, what[i]);
    }
}

static void note_amd(int dir, struct notes *n, const char *address)
{
    char name[SYS_TEXT_BYTES_MAX];
    if (sys_text(dir, "product_name", name) == 0 && *name)
        notes_value(n, name, "gpu.%s.model", address);
    else {
        snprintf(name, sizeof name, "gpu.%.64s.model", address);
        device_model(n, dir, name);
    }
    notes_text(n, dir, "vbios_version", "gpu.%s.vbios", address);
    notes_text(n, dir, "ras/features", "gpu.%s.ecc", address);
    notes_text(n, dir, "current_compute_partition", "gpu.%s.compute_partition", address);
    notes_text(n, dir, "current_memory_partition", "gpu.%s.memory_partition", address);
}

/* GPUs without a bound driver: the bus shows the model, and nothing shows their firmware. */
static void note_other(int dir, struct notes *n, const char *address)
{
    char name[SYS_TEXT_BYTES_MAX];
    snprintf(name, sizeof name, "gpu.%.64s.model", address);
    device_model(n, dir, name);
    notes_unknown(n, "its maker's driver is not bound to it", "gpu.%s.vbios", address);
}

static void note_gpu(const struct reading *r, struct notes *n, int dir, const char *address, struct nvidia *v)
{
    char driver[SYS_TEXT_BYTES_MAX] = "";
    int failed = sys_link(dir, "driver", driver);
    notes_text(n, dir, "vendor", "gpu.%s.vendor", address);
    notes_link(n, dir, "driver", "gpu.%s.driver", address);
    if (failed == 0 && strcmp(driver, "nvidia") == 0)
        note_nvidia(r, n, address, v);
    else if (failed == 0 && strcmp(driver, "amdgpu") == 0)
        note_amd(dir, n, address);
    else
        note_other(dir, n, address);
}

/* --- drivers ----------------------------------------------------------------------------------------------
 */

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu ...": the first word of digits and dots
 * that begins with a digit. */
static bool version_line(const char *line, void *version)
{
    for (const char *p = line; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
        size_t n = strspn(p, "0123456789.");
        if (n < 3 || (p[n] != ' ' && p[n] != '\0') || !isdigit((unsigned char)*p))
            continue;
        snprintf(version, SYS_TEXT_BYTES_MAX, "%.*s", (int)(n < 64 ? n : 64), p);
        return false;
    }
    return false;
}

static void note_driver(const struct reading *r, struct notes *n, const char *module)
{
    char path[64], version[SYS_TEXT_BYTES_MAX] = "";
    CLEANUP_TEXT struct text t = {0};
    snprintf(path, sizeof path, "sys/module/%s", module);
    if (faccessat(r->root, path, F_OK, 0) != 0)
        return;
    snprintf(path, sizeof path, "sys/module/%s/version", module);
    sys_text(r->root, path, version);
    if (!*version && strcmp(module, "nvidia") == 0)
        sys_each_line(r->root, "proc/driver/nvidia/version", version_line, version);
    text_printf(&t, "%s%s%s", module, *version ? " " : "", version);
    notes_value(n, t.s, "gpu.driver");
}

static void note_drivers(const struct reading *r, struct notes *n)
{
    static const char *const modules[] = {"nvidia", "amdgpu", "nouveau", "i915", "xe"};
    size_t before = n->n;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        note_driver(r, n, modules[i]);
    if (n->n == before)
        notes_absent(n, "gpu.driver");
}

/* Virtual functions are their owner's. */
static bool gpu_counts(int dir)
{
    return gpu_is_one(dir) && faccessat(dir, "physfn", F_OK, 0) != 0;
}

void accelerator_read(const struct reading *r, struct notes *n)
{
    struct sys_names names = {0};
    struct nvidia v = {.asked = false};
    size_t count = 0;
    CLEANUP_FD int bus = sys_open_dir(r->root, BUS);
    int failed = bus >= 0 ? sys_names_read(&names, bus) : bus;
    if (failed == 0 && names.n == SYS_ENTRIES_MAX)
        failed = -E2BIG;
    if (failed && (failed != -ENOENT || !sys_mounted(r->root))) {
        notes_lost(n, failed, "/sys/bus/pci/devices", "gpu");
        sys_names_fini(&names);
        return;
    }
    sys_names_sort(&names);
    for (size_t i = 0; i < names.n; i++) {
        CLEANUP_FD int dir = sys_open_dir(bus, names.names[i]);
        if (dir < 0 || !gpu_counts(dir))
            continue;
        note_gpu(r, n, dir, names.names[i], &v);
        count++;
    }
    notes_number(n, count, "gpu.count");
    note_drivers(r, n);
    notes_fini(&v.said);
    sys_names_fini(&names);
}
