/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include "probe/part.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * What NVIDIA's management library says of its GPUs. The library is not there when Fettle is built, nor on
 * most machines, so its functions are declared here as NVIDIA's NVML API Reference documents them, and are
 * found when a check looks: it is loaded, asked and let go, in a child that is killed when the driver hangs.
 * Looks that share a child share the library, too: to start it takes longer than to ask it, seconds where
 * persistence mode is off. Functions that a driver does not have yet, or no more, count as those that a GPU
 * does not support: of what is not said there is no fact.
 *
 * Any of the probes:     "lost ADDRESS" and "reset ADDRESS": the GPU is gone, or has to be reset, with "-"
 *                        where it could not be said which; "failed CODE TEXT": the library does not start
 * nvidia.count           "pci ADDRESS" of each GPU that has the driver, "gpu ADDRESS" of each that NVML has
 * nvidia.ecc             "ecc ADDRESS CORRECTED UNCORRECTED" since the last reset
 * nvidia.remap           "rows ADDRESS UNCORRECTED PENDING FAILED", "banks ADDRESS WITHOUT-SPARE",
 *                        "pages ADDRESS SINGLE DOUBLE PENDING" on GPUs that do not remap
 * nvidia.temperature     "temperature ADDRESS NOW SLOWDOWN MOST MEMORY MEMORY-MOST" in degrees; 0: not said
 * nvidia.slowdown        "reasons ADDRESS BITS"
 * nvidia.pcie            "pcie ADDRESS GENERATION MOST LANES MOST WORKING", "replays ADDRESS N"
 * nvidia.nvlink          "links ADDRESS ACTIVE ALL", "errors ADDRESS LINK REPLAY RECOVERY CRC" of each
 *                        that is active
 * nvidia.fabric          "fabric ADDRESS STATE STATUS HEALTH SUMMARY" of GPUs that belong to one
 * nvidia.persistence     "persistence ADDRESS ON"
 * nvidia.recovery        "recovery ADDRESS ACTION"
 * nvidia.idle            "use ADDRESS BYTES PROCESSES PID": memory in use, processes that compute and the
 *                        first of them; "work N"
 */

enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_DRIVER_NOT_LOADED = 9,
    NVML_ERROR_FUNCTION_NOT_FOUND = 13,
    NVML_ERROR_GPU_IS_LOST = 15,
    NVML_ERROR_RESET_REQUIRED = 16,
    NVML_ERROR_NO_DATA = 21,
    NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
};

enum {
    FIELD_MEMORY_TEMP = 82,
    FIELD_NVLINK_REPLAY = 161,
    FIELD_NVLINK_RECOVERY = 162,
    FIELD_NVLINK_CRC = 163,
    FIELD_RECOVERY_ACTION = 230,
};
enum { THRESHOLD_SLOWDOWN = 1, THRESHOLD_MEMORY_MAX = 2, THRESHOLD_GPU_MAX = 3 };
enum { LINKS_MAX = 36, GPUS_MAX = 64, REASON_IDLE = 1 };

struct nvml_pci { /* nvmlPciInfo_t as of nvmlDeviceGetPciInfo_v3, 68 bytes */
    char legacy_bus_id[16];
    unsigned domain, bus, device, pci_device, pci_subsystem;
    char bus_id[32];
};

struct nvml_field { /* nvmlFieldValue_t */
    unsigned id, scope;
    long long timestamp, latency_us;
    unsigned type; /* of the value, below */
    int result;
    union {
        double d;
        unsigned ui;
        unsigned long ul;
        unsigned long long ull;
        long long sll;
        int si;
        unsigned short us;
    } value;
};
enum { TYPE_UINT = 1, TYPE_ULONG = 2, TYPE_ULLONG = 3, TYPE_SLLONG = 4, TYPE_SINT = 5, TYPE_USHORT = 6 };

struct nvml_fabric { /* nvmlGpuFabricInfoV_t: 36 bytes as of v2, 40 as of v3 */
    unsigned version;
    unsigned char cluster[16];
    int status;
    unsigned clique;
    unsigned char state;
    unsigned health;
    unsigned char summary; /* v3 */
};
enum { FABRIC_V2 = 36 | 2 << 24, FABRIC_V3 = 40 | 3 << 24 };

struct nvml_histogram { /* nvmlRowRemapperHistogramValues_t: banks by what spare rows they have */
    unsigned max, high, partial, low, none;
};

struct nvml_temperature { /* nvmlTemperature_v1_t */
    unsigned version;
    int sensor, degrees;
};
enum { TEMPERATURE_V1 = 12 | 1 << 24 };

struct nvml_memory { /* nvmlMemory_v2_t */
    unsigned version;
    unsigned long long total, reserved, free, used;
};
enum { MEMORY_V2 = 40 | 2 << 24 };

struct nvml_process { /* nvmlProcessInfo_t as of nvmlDeviceGetComputeRunningProcesses_v3 */
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};
enum { PROCESSES_MAX = 64 };

_Static_assert(sizeof(struct nvml_pci) == 68, "as nvml.h has it");
_Static_assert(sizeof(struct nvml_field) == 40, "as nvml.h has it");
_Static_assert(sizeof(struct nvml_fabric) == 40, "as nvml.h has it");
_Static_assert(sizeof(struct nvml_temperature) == 12, "as nvml.h has it");
_Static_assert(sizeof(struct nvml_memory) == 40, "as nvml.h has it");
_Static_assert(sizeof(struct nvml_process) == 24, "as nvml.h has it");

struct nvml {
    char *library;
    bool usable; /* all of the first group is there */
    int started; /* what its start came to */
    void *so;
    /* Without these there is nothing to ask. */
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error)(int);
    int (*count)(unsigned *);
    int (*handle)(unsigned, void **);
    int (*pci)(void *, struct nvml_pci *);
    /* Each of these may be missing. */
    int (*ecc)(void *, int, int, unsigned long long *);
    int (*rows)(void *, unsigned *, unsigned *, unsigned *, unsigned *);
    int (*histogram)(void *, struct nvml_histogram *);
    int (*pages)(void *, int, unsigned *, unsigned long long *);
    int (*pages_pending)(void *, int *);
    int (*temperature)(void *, int, unsigned *);
    int (*temperature_v)(void *, struct nvml_temperature *);
    int (*threshold)(void *, int, unsigned *);
    int (*reasons)(void *, unsigned long long *);
    int (*old_reasons)(void *, unsigned long long *);
    int (*link_generation)(void *, unsigned *);
    int (*max_link_generation)(void *, unsigned *);
    int (*link_width)(void *, unsigned *);
    int (*max_link_width)(void *, unsigned *);
    int (*replays)(void *, unsigned *);
    int (*nvlink)(void *, unsigned, int *);
    int (*nvlink_errors)(void *, unsigned, int, unsigned long long *);
    int (*fabric)(void *, struct nvml_fabric *);
    int (*persistence)(void *, int *);
    int (*fields)(void *, int, struct nvml_field *);
    int (*memory)(void *, struct nvml_memory *);
    int (*processes)(void *, unsigned *, struct nvml_process *);
};

/* A function that is missing is not found. */
#define ASK(function, ...) ((function) ? (function)(__VA_ARGS__) : NVML_ERROR_FUNCTION_NOT_FOUND)

static bool load(struct nvml *v)
{
    const struct {
        const char *symbol;
        void **to;
    } rows[] = {{"nvmlInit_v2", (void **)&v->init},
                {"nvmlShutdown", (void **)&v->shutdown},
                {"nvmlErrorString", (void **)&v->error},
                {"nvmlDeviceGetCount_v2", (void **)&v->count},
                {"nvmlDeviceGetHandleByIndex_v2", (void **)&v->handle},
                {"nvmlDeviceGetPciInfo_v3", (void **)&v->pci},
                {"nvmlDeviceGetTotalEccErrors", (void **)&v->ecc},
                {"nvmlDeviceGetRemappedRows", (void **)&v->rows},
                {"nvmlDeviceGetRowRemapperHistogram", (void **)&v->histogram},
                {"nvmlDeviceGetRetiredPages", (void **)&v->pages},
                {"nvmlDeviceGetRetiredPagesPendingStatus", (void **)&v->pages_pending},
                {"nvmlDeviceGetTemperature", (void **)&v->temperature},
                {"nvmlDeviceGetTemperatureV", (void **)&v->temperature_v},
                {"nvmlDeviceGetTemperatureThreshold", (void **)&v->threshold},
                {"nvmlDeviceGetCurrentClocksEventReasons", (void **)&v->reasons},
                {"nvmlDeviceGetCurrentClocksThrottleReasons", (void **)&v->old_reasons},
                {"nvmlDeviceGetCurrPcieLinkGeneration", (void **)&v->link_generation},
                {"nvmlDeviceGetMaxPcieLinkGeneration", (void **)&v->max_link_generation},
                {"nvmlDeviceGetCurrPcieLinkWidth", (void **)&v->link_width},
                {"nvmlDeviceGetMaxPcieLinkWidth", (void **)&v->max_link_width},
                {"nvmlDeviceGetPcieReplayCounter", (void **)&v->replays},
                {"nvmlDeviceGetNvLinkState", (void **)&v->nvlink},
                {"nvmlDeviceGetNvLinkErrorCounter", (void **)&v->nvlink_errors},
                {"nvmlDeviceGetGpuFabricInfoV", (void **)&v->fabric},
                {"nvmlDeviceGetPersistenceMode", (void **)&v->persistence},
                {"nvmlDeviceGetFieldValues", (void **)&v->fields},
                {"nvmlDeviceGetMemoryInfo_v2", (void **)&v->memory},
                {"nvmlDeviceGetComputeRunningProcesses_v3", (void **)&v->processes}};
    v->so = dlopen(v->library, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; v->so && i < sizeof rows / sizeof *rows; i++)
        *rows[i].to = dlsym(v->so, rows[i].symbol);
    return v->so && v->init && v->shutdown && v->error && v->count && v->handle && v->pci;
}

void look_shared_fini(struct look_shared *s)
{
    struct nvml *v = STEAL(s->nvml);
    if (!v)
        return;
    if (v->usable && v->started == NVML_SUCCESS)
        v->shutdown();
    if (v->so)
        dlclose(v->so);
    free(v->library);
    free(v);
}

/* The library of this name, as the look before left it. */
static const struct nvml *start(struct look_shared *s, const char *library)
{
    if (s->nvml && strcmp(s->nvml->library, library) == 0)
        return s->nvml;
    look_shared_fini(s);
    struct nvml *v = s->nvml = mem_alloc(sizeof *v);
    v->library = mem_dup(library);
    v->usable = load(v);
    if (v->usable)
        v->started = v->init();
    return v;
}

/* --- asking a GPU --------------------------------------------------------------------------- */

struct asked {
    const struct nvml *v;
    void *gpu;
    char address[32];
    struct text *out;
};

static bool not_there(int r)
{
    return r == NVML_ERROR_NOT_SUPPORTED || r == NVML_ERROR_FUNCTION_NOT_FOUND || r == NVML_ERROR_NO_DATA ||
           r == NVML_ERROR_INVALID_ARGUMENT;
}

/* Whether there is an answer. When there is none, it says why, unless the GPU has no such thing. */
static bool said(const struct asked *a, const char *what, int r)
{
    if (r == NVML_ERROR_GPU_IS_LOST)
        fact(a->out, "lost", "%s", a->address);
    else if (r == NVML_ERROR_RESET_REQUIRED)
        fact(a->out, "reset", "%s", a->address);
    else if (r != NVML_SUCCESS && !not_there(r))
        fact(a->out, "unknown", "NVML: %s of the GPU %s: %s", what, a->address, a->v->error(r));
    return r == NVML_SUCCESS;
}

static int field(const struct asked *a, unsigned id, unsigned scope, uint64_t *out)
{
    struct nvml_field f = {.id = id, .scope = scope};
    int r = ASK(a->v->fields, a->gpu, 1, &f);
    if (r == NVML_SUCCESS)
        r = f.result;
    switch (f.type) {
    case TYPE_UINT: *out = f.value.ui; break;
    case TYPE_ULONG: *out = f.value.ul; break;
    case TYPE_ULLONG: *out = f.value.ull; break;
    case TYPE_SLLONG: *out = f.value.sll > 0 ? (uint64_t)f.value.sll : 0; break;
    case TYPE_SINT: *out = f.value.si > 0 ? (uint64_t)f.value.si : 0; break;
    case TYPE_USHORT: *out = f.value.us; break;
    default: return r == NVML_SUCCESS ? NVML_ERROR_NO_DATA : r;
    }
    return r;
}

static void ask_count(const struct asked *a)
{
    fact(a->out, "gpu", "%s", a->address);
}

static void ask_ecc(const struct asked *a)
{
    unsigned long long corrected, uncorrected;
    if (said(a, "ECC errors", ASK(a->v->ecc, a->gpu, 0, 0, &corrected)) &&
        said(a, "ECC errors", ASK(a->v->ecc, a->gpu, 1, 0, &uncorrected)))
        fact(a->out, "ecc", "%s %llu %llu", a->address, corrected, uncorrected);
}

/* Asked for no addresses, it says how many there are by an error that is none. */
static int count_pages(const struct asked *a, int cause, unsigned *n)
{
    *n = 0;
    int r = ASK(a->v->pages, a->gpu, cause, n, NULL);
    return r == NVML_ERROR_INSUFFICIENT_SIZE ? NVML_SUCCESS : r;
}

static void ask_pages(const struct asked *a)
{
    unsigned single, twice;
    int pending;
    if (said(a, "retired pages", count_pages(a, 0, &single)) &&
        said(a, "retired pages", count_pages(a, 1, &twice)) &&
        said(a, "retired pages", ASK(a->v->pages_pending, a->gpu, &pending)))
        fact(a->out, "pages", "%s %u %u %d", a->address, single, twice, pending != 0);
}

static void ask_remap(const struct asked *a)
{
    unsigned corrected, uncorrected, pending, failed;
    struct nvml_histogram h;
    int r = ASK(a->v->rows, a->gpu, &corrected, &uncorrected, &pending, &failed);
    if (not_there(r)) {
        ask_pages(a);
        return;
    }
    if (said(a, "remapped rows", r))
        fact(a->out, "rows", "%s %u %u %u", a->address, uncorrected, pending, failed);
    if (r == NVML_SUCCESS && said(a, "spare rows", ASK(a->v->histogram, a->gpu, &h)))
        fact(a->out, "banks", "%s %u", a->address, h.none);
}

static unsigned threshold(const struct asked *a, int which)
{
    unsigned degrees = 0;
    return ASK(a->v->threshold, a->gpu, which, &degrees) == NVML_SUCCESS ? degrees : 0;
}

static int temperature(const struct asked *a, unsigned *degrees)
{
    int r = ASK(a->v->temperature, a->gpu, 0, degrees);
    struct nvml_temperature t = {.version = TEMPERATURE_V1};
    if (r != NVML_ERROR_FUNCTION_NOT_FOUND && r != NVML_ERROR_NOT_SUPPORTED)
        return r;
    r = ASK(a->v->temperature_v, a->gpu, &t);
    *degrees = t.degrees > 0 ? (unsigned)t.degrees : 0;
    return r;
}

static void ask_temperature(const struct asked *a)
{
    unsigned now = 0;
    uint64_t memory = 0;
    if (!said(a, "temperature", temperature(a, &now)))
        return;
    if (field(a, FIELD_MEMORY_TEMP, 0, &memory) != NVML_SUCCESS)
        memory = 0;
    fact(a->out, "temperature", "%s %u %u %u %" PRIu64 " %u", a->address, now,
         threshold(a, THRESHOLD_SLOWDOWN), threshold(a, THRESHOLD_GPU_MAX), memory,
         threshold(a, THRESHOLD_MEMORY_MAX));
}

static int reasons(const struct asked *a, unsigned long long *bits)
{
    int r = ASK(a->v->reasons, a->gpu, bits);
    return r == NVML_ERROR_FUNCTION_NOT_FOUND ? ASK(a->v->old_reasons, a->gpu, bits) : r;
}

static void ask_slowdown(const struct asked *a)
{
    unsigned long long bits;
    if (said(a, "clocks", reasons(a, &bits)))
        fact(a->out, "reasons", "%s %llu", a->address, bits);
}

/* A GPU that idles lowers the speed of its link. */
static void ask_pcie(const struct asked *a)
{
    unsigned generation, most, lanes, most_lanes, replays;
    unsigned long long bits;
    bool works = reasons(a, &bits) == NVML_SUCCESS && !(bits & REASON_IDLE);
    if (said(a, "PCIe", ASK(a->v->link_generation, a->gpu, &generation)) &&
        said(a, "PCIe", ASK(a->v->max_link_generation, a->gpu, &most)) &&
        said(a, "PCIe", ASK(a->v->link_width, a->gpu, &lanes)) &&
        said(a, "PCIe", ASK(a->v->max_link_width, a->gpu, &most_lanes)))
        fact(a->out, "pcie", "%s %u %u %u %u %d", a->address, generation, most, lanes, most_lanes, works);
    if (said(a, "PCIe replays", ASK(a->v->replays, a->gpu, &replays)))
        fact(a->out, "replays", "%s %u", a->address, replays);
}

/* Each link by itself: one that is down has no counters, and their sum would jump when it comes back. A newer
 * GPU has them as fields. */
static void ask_link_errors(const struct asked *a, unsigned link)
{
    static const struct {
        unsigned field;
        int counter;
    } which[] = {{FIELD_NVLINK_REPLAY, 0}, {FIELD_NVLINK_RECOVERY, 1}, {FIELD_NVLINK_CRC, 2}};
    uint64_t values[3] = {0};
    bool any = false;
    for (size_t i = 0; i < 3; i++) {
        unsigned long long n = 0;
        int r = ASK(a->v->nvlink_errors, a->gpu, link, which[i].counter, &n);
        values[i] = n;
        if (not_there(r))
            r = field(a, which[i].field, link, &values[i]);
        if (r == NVML_SUCCESS)
            any = true;
        else
            values[i] = 0;
    }
    if (any)
        fact(a->out, "errors", "%s %u %" PRIu64 " %" PRIu64 " %" PRIu64, a->address, link, values[0],
             values[1], values[2]);
}

static void ask_nvlink(const struct asked *a)
{
    unsigned all = 0, up = 0;
    for (unsigned link = 0; link < LINKS_MAX; link++) {
        int active = 0, r = ASK(a->v->nvlink, a->gpu, link, &active);
        if (r != NVML_SUCCESS && !not_there(r)) {
            said(a, "NVLink", r);
            return;
        }
        all += r == NVML_SUCCESS;
        up += r == NVML_SUCCESS && active;
        if (r == NVML_SUCCESS && active)
            ask_link_errors(a, link);
    }
    if (all > 0)
        fact(a->out, "links", "%s %u %u", a->address, up, all);
}

static void ask_fabric(const struct asked *a)
{
    struct nvml_fabric f = {.version = FABRIC_V3};
    int r = ASK(a->v->fabric, a->gpu, &f);
    if (r == NVML_ERROR_ARGUMENT_VERSION_MISMATCH || r == NVML_ERROR_INVALID_ARGUMENT) {
        f = (struct nvml_fabric){.version = FABRIC_V2};
        r = ASK(a->v->fabric, a->gpu, &f);
        f.summary = 0;
    }
    if (said(a, "fabric", r) && f.state != 0)
        fact(a->out, "fabric", "%s %u %d %u %u", a->address, f.state, f.status, f.health, f.summary);
}

static void ask_persistence(const struct asked *a)
{
    int on;
    if (said(a, "persistence mode", ASK(a->v->persistence, a->gpu, &on)))
        fact(a->out, "persistence", "%s %d", a->address, on != 0);
}

static void ask_recovery(const struct asked *a)
{
    uint64_t action;
    if (said(a, "recovery action", field(a, FIELD_RECOVERY_ACTION, 0, &action)))
        fact(a->out, "recovery", "%s %" PRIu64, a->address, action);
}

/* Without what the driver keeps for itself, which the older function counts as used. */
static void ask_use(const struct asked *a)
{
    struct nvml_memory m = {.version = MEMORY_V2};
    struct nvml_process processes[PROCESSES_MAX] = {{0}};
    unsigned n = PROCESSES_MAX;
    if (!said(a, "memory", ASK(a->v->memory, a->gpu, &m)))
        return;
    int r = ASK(a->v->processes, a->gpu, &n, processes);
    if (r != NVML_ERROR_INSUFFICIENT_SIZE && !said(a, "processes", r))
        return;
    unsigned long long kept = m.reserved + m.free;
    fact(a->out, "use", "%s %llu %u %u", a->address, m.total > kept ? m.total - kept : 0, n,
         processes[0].pid);
}

/* --- the GPUs ------------------------------------------------------------------------------- */

typedef void ask_fn(const struct asked *a);

/* "00000000:9B:00.0" as NVML writes an address, as /sys does. */
static bool address_of(const char *bus_id, char out[static 32])
{
    unsigned domain, bus, device, function;
    char end;
    if (sscanf(bus_id, "%8x:%2x:%2x.%1x%c", &domain, &bus, &device, &function, &end) != 4)
        return false;
    snprintf(out, 32, "%04x:%02x:%02x.%x", domain, bus, device, function);
    return true;
}

/* Of one whose address it does not say either, nobody knows which it is. */
static void ask_gpu(struct asked *a, unsigned index, ask_fn *ask)
{
    struct nvml_pci pci = {.domain = 0};
    snprintf(a->address, sizeof a->address, "-");
    int r = a->v->handle(index, &a->gpu);
    if (r == NVML_SUCCESS)
        r = a->v->pci(a->gpu, &pci);
    if (not_there(r))
        fact(a->out, "unknown", "NVML: GPU %u: %s", index, a->v->error(r));
    else if (said(a, "address", r) && address_of(pci.bus_id, a->address))
        ask(a);
}

static void ask_gpus(struct asked *a, ask_fn *ask)
{
    unsigned n = 0;
    int r = a->v->started == NVML_SUCCESS ? a->v->count(&n) : a->v->started;
    if (r != NVML_SUCCESS)
        fact(a->out, "failed", "%d %s", r, a->v->error(r));
    for (unsigned i = 0; r == NVML_SUCCESS && i < n && i < GPUS_MAX; i++)
        ask_gpu(a, i, ask);
}

/* Writes "unsupported" where there is no library. */
static void ask_library(const struct look *l, ask_fn *ask, struct text *out)
{
    const char *named = check_arg(l->check, "Library");
    struct look_shared alone = {.nvml = NULL}, *shared = l->shared ? l->shared : &alone;
    struct asked a = {.v = start(shared, named ? named : "libnvidia-ml.so.1"), .out = out};
    if (a.v->usable)
        ask_gpus(&a, ask);
    else
        fact(out, "unsupported", "there is no NVML library that can be used");
    look_shared_fini(&alone);
}

static void gather(const struct look *l, ask_fn *ask, struct text *out)
{
    ask_library(l, ask, out);
    if (out->len == 0)
        fact(out, "unsupported", "no NVIDIA GPU says it");
}

/* Virtual functions are their owner's, and who gave a GPU another driver wants it so. */
static void add_pci(int dir, const char *name, struct text *out)
{
    char vendor[SYS_TEXT_BYTES_MAX], driver[SYS_TEXT_BYTES_MAX];
    if (gpu_is_one(dir) && faccessat(dir, "physfn", F_OK, 0) != 0 && sys_text(dir, "vendor", vendor) == 0 &&
        strcmp(vendor, "0x10de") == 0 && sys_link(dir, "driver", driver) == 0 &&
        strcmp(driver, "nvidia") == 0)
        fact(out, "pci", "%s", name);
}

void gather_NVIDIA_COUNT(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    int r = each_entry(root, "sys/bus/pci/devices", add_pci, out);
    if (r < 0 && (r != -ENOENT || !sys_mounted(root)))
        fact_cannot(root, out, "sys/bus/pci/devices", r);
    ask_library(l, ask_count, out);
    if (out->len == 0)
        fact(out, "none", "0");
}

void gather_NVIDIA_ECC(const struct look *l, struct text *out)
{
    gather(l, ask_ecc, out);
}

void gather_NVIDIA_REMAP(const struct look *l, struct text *out)
{
    gather(l, ask_remap, out);
}

void gather_NVIDIA_TEMPERATURE(const struct look *l, struct text *out)
{
    gather(l, ask_temperature, out);
}

void gather_NVIDIA_SLOWDOWN(const struct look *l, struct text *out)
{
    gather(l, ask_slowdown, out);
}

void gather_NVIDIA_PCIE(const struct look *l, struct text *out)
{
    gather(l, ask_pcie, out);
}

void gather_NVIDIA_NVLINK(const struct look *l, struct text *out)
{
    gather(l, ask_nvlink, out);
}

void gather_NVIDIA_FABRIC(const struct look *l, struct text *out)
{
    gather(l, ask_fabric, out);
}

void gather_NVIDIA_PERSISTENCE(const struct look *l, struct text *out)
{
    gather(l, ask_persistence, out);
}

void gather_NVIDIA_RECOVERY(const struct look *l, struct text *out)
{
    gather(l, ask_recovery, out);
}

void gather_NVIDIA_IDLE(const struct look *l, struct text *out)
{
    gather(l, ask_use, out);
    fact_work(l, out);
}
