/* SPDX-License-Identifier: Apache-2.0 */
#include "check/nvml.h"
#include "check/part.h"

#include "probe/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * What NVIDIA's management library says of its GPUs: it is loaded, asked and let go, in a child that is
 * killed when the driver hangs. Looks that share a child share the library, too: to start it takes longer
 * than to ask it, seconds where persistence mode is off. Functions that a driver does not have yet, or no
 * more, count as those that a GPU does not support: of what is not said there is no fact.
 *
 * Any of the probes:     "lost ADDRESS" and "reset ADDRESS": the GPU is gone, or has to be reset, with "-"
 *                        where it could not be said which; "failed CODE TEXT": the library does not start
 * nvidia.count           "pci ADDRESS" of each GPU that has the driver, "gpu ADDRESS" of each that NVML has
 * nvidia.ecc             "ecc ADDRESS CORRECTED UNCORRECTED" since the last reset
 * nvidia.remap           "rows ADDRESS UNCORRECTED PENDING FAILED", "banks ADDRESS WITHOUT-SPARE",
 *                        "pages ADDRESS SINGLE DOUBLE PENDING" on GPUs that do not remap
 * nvidia.temperature     "temperature ADDRESS NOW SLOWDOWN MOST MEMORY MEMORY-MOST" in degrees; 0: not said;
 *                        "use ADDRESS PERCENT", which nobody judges: it is told as the node's capacity
 * nvidia.slowdown        "reasons ADDRESS BITS"
 * nvidia.power           "violations ADDRESS POWER HEAT BOARD RELIABILITY": how long each kept clocks down,
 *                        in ns since the driver was loaded; "-" for one that is not said
 * nvidia.clocks          "clocks ADDRESS GRAPHICS DEFAULT MEMORY DEFAULT NOW WORKING": what is set for
 *                        applications and what is by default, the graphics clock now, in MHz or "-"
 * nvidia.pcie            "pcie ADDRESS GENERATION MOST LANES MOST WORKING", "replays ADDRESS N"
 * nvidia.nvlink          "links ADDRESS ACTIVE ALL", "errors ADDRESS LINK REPLAY RECOVERY CRC" of each
 *                        that is active, "bits ADDRESS LINK RECOVERIES ERRORS RATE" where they are of the
 *                        fifth generation: errors of any kind, and the rate of bits that stay wrong as
 *                        NVML writes it
 * nvidia.fabric          "fabric ADDRESS STATE STATUS HEALTH SUMMARY" of GPUs that belong to one
 * nvidia.persistence     "persistence ADDRESS ON"
 * nvidia.recovery        "recovery ADDRESS ACTION"
 * nvidia.idle            "use ADDRESS BYTES PROCESSES PID": memory in use, processes that compute and the
 *                        first of them; "work N"
 */

enum { LINKS_MAX = 36, GPUS_MAX = 64, PROCESSES_MAX = 64 };

/* A function that is missing is not found. */
#define ASK(function, ...) ((function) ? (function)(__VA_ARGS__) : NVML_ERROR_FUNCTION_NOT_FOUND)

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

/* Whether there is an answer. When there is none, *out gets the reason, unless the GPU has no such thing. */
static bool nvml_said(const struct asked *a, const char *what, int r)
{
    if (r == NVML_ERROR_GPU_IS_LOST)
        fact_add(a->out, "lost", "%s", a->address);
    else if (r == NVML_ERROR_RESET_REQUIRED)
        fact_add(a->out, "reset", "%s", a->address);
    else if (r != NVML_SUCCESS && !not_there(r))
        fact_add(a->out, "unknown", "NVML: %s of the GPU %s: %s", what, a->address, a->v->core.error(r));
    return r == NVML_SUCCESS;
}

static int field_value(const struct nvml_field *f, uint64_t *out)
{
    switch (f->type) {
    case TYPE_UINT: *out = f->value.ui; break;
    case TYPE_ULONG: *out = f->value.ul; break;
    case TYPE_ULLONG: *out = f->value.ull; break;
    case TYPE_SLLONG: *out = f->value.sll > 0 ? (uint64_t)f->value.sll : 0; break;
    case TYPE_SINT: *out = f->value.si > 0 ? (uint64_t)f->value.si : 0; break;
    case TYPE_USHORT: *out = f->value.us; break;
    default: return f->result == NVML_SUCCESS ? NVML_ERROR_NO_DATA : f->result;
    }
    return f->result;
}

static int gpu_field(const struct asked *a, unsigned id, unsigned scope, uint64_t *out)
{
    struct nvml_field f = {.id = id, .scope = scope};
    int r = ASK(a->v->fields, a->gpu, 1, &f);
    return r == NVML_SUCCESS ? field_value(&f, out) : r;
}

static void ask_count(const struct asked *a)
{
    fact_add(a->out, "gpu", "%s", a->address);
}

static void ask_ecc(const struct asked *a)
{
    unsigned long long corrected, uncorrected;
    if (nvml_said(a, "ECC errors", ASK(a->v->ecc, a->gpu, 0, 0, &corrected)) &&
        nvml_said(a, "ECC errors", ASK(a->v->ecc, a->gpu, 1, 0, &uncorrected)))
        fact_add(a->out, "ecc", "%s %llu %llu", a->address, corrected, uncorrected);
}

/* Asked for no addresses, the function gives their number by an "error" that is none. */
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
    if (nvml_said(a, "retired pages", count_pages(a, 0, &single)) &&
        nvml_said(a, "retired pages", count_pages(a, 1, &twice)) &&
        nvml_said(a, "retired pages", ASK(a->v->pages_pending, a->gpu, &pending)))
        fact_add(a->out, "pages", "%s %u %u %d", a->address, single, twice, pending != 0);
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
    if (nvml_said(a, "remapped rows", r))
        fact_add(a->out, "rows", "%s %u %u %u", a->address, uncorrected, pending, failed);
    if (r == NVML_SUCCESS && nvml_said(a, "spare rows", ASK(a->v->histogram, a->gpu, &h)))
        fact_add(a->out, "banks", "%s %u", a->address, h.none);
}

static unsigned nvml_threshold(const struct asked *a, int which)
{
    unsigned degrees = 0;
    return ASK(a->v->threshold, a->gpu, which, &degrees) == NVML_SUCCESS ? degrees : 0;
}

static int gpu_temperature(const struct asked *a, unsigned *degrees)
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
    struct nvml_use use;
    unsigned now = 0;
    uint64_t memory = 0;
    if (!nvml_said(a, "temperature", gpu_temperature(a, &now)))
        return;
    if (gpu_field(a, FIELD_MEMORY_TEMP, 0, &memory) != NVML_SUCCESS)
        memory = 0;
    if (ASK(a->v->use, a->gpu, &use) == NVML_SUCCESS)
        fact_add(a->out, "use", "%s %u", a->address, use.gpu);
    fact_add(a->out, "temperature", "%s %u %u %u %" PRIu64 " %u", a->address, now,
             nvml_threshold(a, THRESHOLD_SLOWDOWN), nvml_threshold(a, THRESHOLD_GPU_MAX), memory,
             nvml_threshold(a, THRESHOLD_MEMORY_MAX));
}

static int nvml_reasons(const struct asked *a, unsigned long long *bits)
{
    int r = ASK(a->v->reasons, a->gpu, bits);
    return r == NVML_ERROR_FUNCTION_NOT_FOUND ? ASK(a->v->old_reasons, a->gpu, bits) : r;
}

static void ask_slowdown(const struct asked *a)
{
    unsigned long long bits;
    if (nvml_said(a, "clocks", nvml_reasons(a, &bits)))
        fact_add(a->out, "reasons", "%s %llu", a->address, bits);
}

/* False when something else went wrong than that it does not say. */
static bool nvml_put(const struct asked *a, const char *what, int r, unsigned long long value,
                     struct text *values, bool *any)
{
    if (!not_there(r) && !nvml_said(a, what, r))
        return false;
    if (r == NVML_SUCCESS)
        text_printf(values, " %llu", value);
    else
        text_add(values, " -");
    *any |= r == NVML_SUCCESS;
    return true;
}

static void ask_power(const struct asked *a)
{
    static const int policies[] = {POLICY_POWER, POLICY_THERMAL, POLICY_BOARD, POLICY_RELIABILITY};
    CLEANUP_TEXT struct text values = {0};
    bool any = false;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct nvml_violation t = {.violation_ns = 0};
        int r = ASK(a->v->violation, a->gpu, policies[i], &t);
        if (!nvml_put(a, "violations", r, t.violation_ns, &values, &any))
            return;
    }
    if (any)
        fact_add(a->out, "violations", "%s%s", a->address, values.s);
}

/* A GPU that idles lowers its clocks, and the speed of its link. */
static bool nvml_works(const struct asked *a)
{
    unsigned long long bits;
    return nvml_reasons(a, &bits) == NVML_SUCCESS && !(bits & REASON_IDLE);
}

/* NVML does not tell locked clocks, which replace application clocks. */
static void ask_clocks(const struct asked *a)
{
    const struct {
        int (*ask)(void *, int, unsigned *);
        int clock;
    } which[] = {{a->v->application_clock, CLOCK_GRAPHICS},
                 {a->v->default_clock, CLOCK_GRAPHICS},
                 {a->v->application_clock, CLOCK_MEMORY},
                 {a->v->default_clock, CLOCK_MEMORY},
                 {a->v->clock, CLOCK_GRAPHICS}};
    CLEANUP_TEXT struct text values = {0};
    bool any = false;
    for (size_t i = 0; i < sizeof which / sizeof *which; i++) {
        unsigned mhz = 0;
        int r = ASK(which[i].ask, a->gpu, which[i].clock, &mhz);
        if (!nvml_put(a, "clocks", r, mhz, &values, &any))
            return;
    }
    if (any)
        fact_add(a->out, "clocks", "%s%s %d", a->address, values.s, nvml_works(a));
}

static void ask_pcie(const struct asked *a)
{
    unsigned generation, most, lanes, most_lanes, replays;
    if (nvml_said(a, "PCIe", ASK(a->v->link_generation, a->gpu, &generation)) &&
        nvml_said(a, "PCIe", ASK(a->v->max_link_generation, a->gpu, &most)) &&
        nvml_said(a, "PCIe", ASK(a->v->link_width, a->gpu, &lanes)) &&
        nvml_said(a, "PCIe", ASK(a->v->max_link_width, a->gpu, &most_lanes)))
        fact_add(a->out, "pcie", "%s %u %u %u %u %d", a->address, generation, most, lanes, most_lanes,
                 nvml_works(a));
    if (nvml_said(a, "PCIe replays", ASK(a->v->replays, a->gpu, &replays)))
        fact_add(a->out, "replays", "%s %u", a->address, replays);
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
            r = gpu_field(a, which[i].field, link, &values[i]);
        if (r == NVML_SUCCESS)
            any = true;
        else
            values[i] = 0;
    }
    if (any)
        fact_add(a->out, "errors", "%s %u %" PRIu64 " %" PRIu64 " %" PRIu64, a->address, link, values[0],
                 values[1], values[2]);
}

/* All of a link at once; false where the GPU has no such links. */
static bool ask_link_bits(const struct asked *a, unsigned link)
{
    static const unsigned which[] = {
        FIELD_NVLINK_RECOVERIES,    FIELD_NVLINK_EFFECTIVE_BER,  FIELD_NVLINK_EFFECTIVE_ERRORS,
        FIELD_NVLINK_MALFORMED,     FIELD_NVLINK_OVERRUNS,       FIELD_NVLINK_RECEIVE_ERRORS,
        FIELD_NVLINK_REMOTE_ERRORS, FIELD_NVLINK_GENERAL_ERRORS, FIELD_NVLINK_INTEGRITY_ERRORS};
    enum { FIELDS = sizeof which / sizeof *which };
    struct nvml_field fields[FIELDS] = {{0}};
    uint64_t recoveries = 0, errors = 0, rate = 0;
    bool any = false;
    for (size_t i = 0; i < FIELDS; i++)
        fields[i] = (struct nvml_field){.id = which[i], .scope = link};
    if (ASK(a->v->fields, a->gpu, FIELDS, fields) != NVML_SUCCESS)
        return false;
    for (size_t i = 0; i < FIELDS; i++) {
        uint64_t n;
        if (field_value(&fields[i], &n) != NVML_SUCCESS)
            continue;
        any = true;
        *(i == 0 ? &recoveries : i == 1 ? &rate : &errors) += n;
    }
    if (any)
        fact_add(a->out, "bits", "%s %u %" PRIu64 " %" PRIu64 " %" PRIu64, a->address, link, recoveries,
                 errors, rate);
    return any;
}

static void ask_nvlink(const struct asked *a)
{
    unsigned all = 0, up = 0;
    bool fifth = true; /* until a link says otherwise */
    for (unsigned link = 0; link < LINKS_MAX; link++) {
        int active = 0, r = ASK(a->v->nvlink, a->gpu, link, &active);
        if (r != NVML_SUCCESS && !not_there(r)) {
            nvml_said(a, "NVLink", r);
            return;
        }
        all += r == NVML_SUCCESS;
        up += r == NVML_SUCCESS && active;
        if (r != NVML_SUCCESS || !active)
            continue;
        ask_link_errors(a, link);
        fifth = fifth && ask_link_bits(a, link);
    }
    if (all > 0)
        fact_add(a->out, "links", "%s %u %u", a->address, up, all);
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
    if (nvml_said(a, "fabric", r) && f.state != 0)
        fact_add(a->out, "fabric", "%s %u %d %u %u", a->address, f.state, f.status, f.health, f.summary);
}

static void ask_persistence(const struct asked *a)
{
    int on;
    if (nvml_said(a, "persistence mode", ASK(a->v->persistence, a->gpu, &on)))
        fact_add(a->out, "persistence", "%s %d", a->address, on != 0);
}

static void ask_recovery(const struct asked *a)
{
    uint64_t action;
    if (nvml_said(a, "recovery action", gpu_field(a, FIELD_RECOVERY_ACTION, 0, &action)))
        fact_add(a->out, "recovery", "%s %" PRIu64, a->address, action);
}

/* Without what the driver keeps for itself, which the older function counts as used. */
static void ask_use(const struct asked *a)
{
    struct nvml_memory m = {.version = MEMORY_V2};
    struct nvml_process processes[PROCESSES_MAX] = {{0}};
    unsigned n = PROCESSES_MAX;
    if (!nvml_said(a, "memory", ASK(a->v->memory, a->gpu, &m)))
        return;
    int r = ASK(a->v->processes, a->gpu, &n, processes);
    if (r != NVML_ERROR_INSUFFICIENT_SIZE && !nvml_said(a, "processes", r))
        return;
    unsigned long long kept = m.reserved + m.free;
    fact_add(a->out, "use", "%s %llu %u %u", a->address, m.total > kept ? m.total - kept : 0, n,
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

/* A lost GPU whose address NVML does not give is counted without a name. */
static void ask_gpu(struct asked *a, unsigned index, ask_fn *ask)
{
    struct nvml_pci pci = {.domain = 0};
    snprintf(a->address, sizeof a->address, "-");
    int r = a->v->core.handle(index, &a->gpu);
    if (r == NVML_SUCCESS)
        r = a->v->core.pci(a->gpu, &pci);
    if (not_there(r))
        fact_add(a->out, "unknown", "NVML: GPU %u: %s", index, a->v->core.error(r));
    else if (nvml_said(a, "address", r) && address_of(pci.bus_id, a->address))
        ask(a);
}

static void ask_gpus(struct asked *a, ask_fn *ask)
{
    unsigned n = 0;
    int r = a->v->started == NVML_SUCCESS ? a->v->core.count(&n) : a->v->started;
    if (r != NVML_SUCCESS)
        fact_add(a->out, "failed", "%d %s", r, a->v->core.error(r));
    for (unsigned i = 0; r == NVML_SUCCESS && i < n && i < GPUS_MAX; i++)
        ask_gpu(a, i, ask);
}

/* Writes "unsupported" where there is no library. */
static void ask_library(const struct look *l, ask_fn *ask, struct text *out)
{
    const char *named = check_arg(l->check, "Library");
    struct look_shared alone = {.nvml = NULL}, *shared = l->shared ? l->shared : &alone;
    struct asked a = {.v = nvml_start(shared, named ? named : "libnvidia-ml.so.1"), .out = out};
    if (a.v->usable)
        ask_gpus(&a, ask);
    else
        fact_add(out, "unsupported", "there is no NVML library that can be used");
    look_shared_fini(&alone);
}

static void nvml_gather(const struct look *l, ask_fn *ask, struct text *out)
{
    ask_library(l, ask, out);
    if (out->len == 0)
        fact_add(out, "unsupported", "no NVIDIA GPU says it");
}

/* Virtual functions are their owner's, and who gave a GPU another driver wants it so. */
static void add_pci(int dir, const char *name, struct text *out)
{
    char vendor[SYS_TEXT_BYTES_MAX], driver[SYS_TEXT_BYTES_MAX];
    if (gpu_is_one(dir) && faccessat(dir, "physfn", F_OK, 0) != 0 && sys_text(dir, "vendor", vendor) == 0 &&
        strcmp(vendor, "0x10de") == 0 && sys_link(dir, "driver", driver) == 0 &&
        strcmp(driver, "nvidia") == 0)
        fact_add(out, "pci", "%s", name);
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
        fact_add(out, "none", "0");
}

void gather_NVIDIA_ECC(const struct look *l, struct text *out)
{
    nvml_gather(l, ask_ecc, out);
}

void gather_NVIDIA_REMAP(const struct look *l, struct text *out)
{
    nvml_gather(l, ask_remap, out);
}

void gather_NVIDIA_TEMPERATURE(const struct look *l, struct text *out)
{
    nvml_gather(l, ask_temperature, out);
}

void gather_NVIDIA_SLOWDOWN(const struct look *l, struct text *out)
{
    nvml_gather(l, ask_slowdown, out);
}

void gather_NVIDIA_POWER(const struct look *l, struct text *out)
{
    nvml_gather(l, ask_power, out);
}

void gather_NVIDIA_CLOCKS(const struct look *l, struct text *out)
{
    nvml_gather(l, ask_clocks, out);
}

void gather_NVIDIA_PCIE(const struct look *l, struct text *out)
{
    nvml_gather(l, ask_pcie, out);
}

void gather_NVIDIA_NVLINK(const struct look *l, struct text *out)
{
    nvml_gather(l, ask_nvlink, out);
}

void gather_NVIDIA_FABRIC(const struct look *l, struct text *out)
{
    nvml_gather(l, ask_fabric, out);
}

void gather_NVIDIA_PERSISTENCE(const struct look *l, struct text *out)
{
    nvml_gather(l, ask_persistence, out);
}

void gather_NVIDIA_RECOVERY(const struct look *l, struct text *out)
{
    nvml_gather(l, ask_recovery, out);
}

void gather_NVIDIA_IDLE(const struct look *l, struct text *out)
{
    nvml_gather(l, ask_use, out);
    fact_work(l, out);
}
