/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for NVIDIA's libnvidia-ml, for tests. STAND_IN_SAYS in the environment has words "NAME=VALUE"
 * for each GPU, or "GPU.NAME=VALUE" for one of them; "NAME=!CODE" is an error of NVML. Without a word a
 * healthy machine with two GPUs answers. Built with OLD, it has only the functions that every driver has.
 * Each start adds an "i" to the file that STAND_IN_COUNTS names, and each end an "s". With "hang=1" it never
 * comes back from its start.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, NOT_SUPPORTED = 3, INSUFFICIENT_SIZE = 7, VERSION_MISMATCH = 25 };

struct pci {
    char legacy[16];
    unsigned domain, bus, device, pci_device, subsystem;
    char bus_id[32];
};

static int gpus[8];

static const char *find(const char *word)
{
    const char *says = getenv("STAND_IN_SAYS");
    size_t n = strlen(word);
    for (const char *p = says ? says : ""; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (strncmp(p, word, n) == 0 && p[n] == '=')
            return p + n + 1;
    return NULL;
}

/* 0, or the error; *value is what is said, or as it was. */
static int say(void *gpu, const char *name, long long *value)
{
    char word[64];
    snprintf(word, sizeof word, "%d.%s", (int)((int *)gpu - gpus), name);
    const char *said = gpu ? find(word) : NULL;
    if (!said)
        said = find(name);
    if (said && *said == '!')
        return (int)strtol(said + 1, NULL, 10);
    if (said)
        *value = strtoll(said, NULL, 10);
    return OK;
}

static int say_unsigned(void *gpu, const char *name, long long usual, unsigned *out)
{
    int r = say(gpu, name, &usual);
    *out = (unsigned)usual;
    return r;
}

static void count(char what)
{
    const char *path = getenv("STAND_IN_COUNTS");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (!f)
        return;
    fputc(what, f);
    fclose(f);
}

int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
    long long none;
    count('i');
    while (find("hang"))
        pause();
    return say(NULL, "init", &none);
}

int nvmlShutdown(void);
int nvmlShutdown(void)
{
    count('s');
    return OK;
}

const char *nvmlErrorString(int code);
const char *nvmlErrorString(int code)
{
    static char text[32];
    snprintf(text, sizeof text, "error %d", code);
    return text;
}

int nvmlDeviceGetCount_v2(unsigned *n);
int nvmlDeviceGetCount_v2(unsigned *n)
{
    return say_unsigned(NULL, "gpus", 2, n);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **gpu);
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **gpu)
{
    long long none;
    *gpu = &gpus[i];
    return say(*gpu, "handle", &none);
}

int nvmlDeviceGetPciInfo_v3(void *gpu, struct pci *out);
int nvmlDeviceGetPciInfo_v3(void *gpu, struct pci *out)
{
    snprintf(out->bus_id, sizeof out->bus_id, "00000000:%X8:00.0", (unsigned)((int *)gpu - gpus) + 1);
    return OK;
}

#ifndef OLD

int nvmlDeviceGetTotalEccErrors(void *gpu, int uncorrected, int aggregate, unsigned long long *out);
int nvmlDeviceGetTotalEccErrors(void *gpu, int uncorrected, int aggregate, unsigned long long *out)
{
    long long n = aggregate ? 99999 : 0;
    int r = say(gpu, uncorrected ? "uncorrected" : "corrected", &n);
    *out = (unsigned long long)n;
    return r;
}

int nvmlDeviceGetRemappedRows(void *gpu, unsigned *c, unsigned *u, unsigned *pending, unsigned *failed);
int nvmlDeviceGetRemappedRows(void *gpu, unsigned *c, unsigned *u, unsigned *pending, unsigned *failed)
{
    int r = say_unsigned(gpu, "rows", 0, u);
    say_unsigned(gpu, "rows_pending", 0, pending);
    say_unsigned(gpu, "rows_failed", 0, failed);
    *c = 7777;
    return r;
}

int nvmlDeviceGetRowRemapperHistogram(void *gpu, unsigned out[5]);
int nvmlDeviceGetRowRemapperHistogram(void *gpu, unsigned out[5])
{
    memset(out, 0, 5 * sizeof *out);
    out[0] = 640;
    return say_unsigned(gpu, "banks", 0, &out[4]);
}

int nvmlDeviceGetRetiredPages(void *gpu, int cause, unsigned *n, unsigned long long *addresses);
int nvmlDeviceGetRetiredPages(void *gpu, int cause, unsigned *n, unsigned long long *addresses)
{
    int r = say_unsigned(gpu, cause ? "pages_double" : "pages_single", 0, n);
    return r == OK && *n > 0 && !addresses ? INSUFFICIENT_SIZE : r;
}

int nvmlDeviceGetRetiredPagesPendingStatus(void *gpu, unsigned *pending);
int nvmlDeviceGetRetiredPagesPendingStatus(void *gpu, unsigned *pending)
{
    return say_unsigned(gpu, "pages_pending", 0, pending);
}

int nvmlDeviceGetTemperature(void *gpu, int sensor, unsigned *out);
int nvmlDeviceGetTemperature(void *gpu, int sensor, unsigned *out)
{
    (void)sensor;
    return say_unsigned(gpu, "temperature", 35, out);
}

struct temperature {
    unsigned version;
    int sensor, degrees;
};

int nvmlDeviceGetTemperatureV(void *gpu, struct temperature *t);
int nvmlDeviceGetTemperatureV(void *gpu, struct temperature *t)
{
    unsigned degrees;
    int r = say_unsigned(gpu, "temperature_v", 35, &degrees);
    t->degrees = (int)degrees;
    return t->version == (sizeof *t | 1 << 24) ? r : VERSION_MISMATCH;
}

struct use {
    unsigned gpu, memory;
};

int nvmlDeviceGetUtilizationRates(void *gpu, struct use *out);
int nvmlDeviceGetUtilizationRates(void *gpu, struct use *out)
{
    out->memory = 0;
    return say_unsigned(gpu, "use", 0, &out->gpu);
}

int nvmlDeviceGetTemperatureThreshold(void *gpu, int which, unsigned *out);
int nvmlDeviceGetTemperatureThreshold(void *gpu, int which, unsigned *out)
{
    static const char *const names[] = {"shutdown", "slowdown", "memory_most", "most"};
    static const int usual[] = {92, 89, 95, 87};
    return say_unsigned(gpu, names[which], usual[which], out);
}

int nvmlDeviceGetCurrentClocksEventReasons(void *gpu, unsigned long long *out);
int nvmlDeviceGetCurrentClocksEventReasons(void *gpu, unsigned long long *out)
{
    long long bits = 1;
    int r = say(gpu, "reasons", &bits);
    *out = (unsigned long long)bits;
    return r;
}

struct violation {
    unsigned long long reference, violation;
};

int nvmlDeviceGetViolationStatus(void *gpu, int policy, struct violation *t);
int nvmlDeviceGetViolationStatus(void *gpu, int policy, struct violation *t)
{
    static const char *const names[] = {"power", "thermal", "sync", "board", "idle", "reliability"};
    char name[32];
    long long ns = 0;
    snprintf(name, sizeof name, "violation_%s", names[policy]);
    int r = say(gpu, name, &ns);
    *t = (struct violation){123, (unsigned long long)ns};
    return r;
}

int nvmlDeviceGetClockInfo(void *gpu, int clock, unsigned *out);
int nvmlDeviceGetClockInfo(void *gpu, int clock, unsigned *out)
{
    return say_unsigned(gpu, clock == 0 ? "clock" : "other_clock", 345, out);
}

static int say_clock(void *gpu, const char *what, int clock, unsigned *out)
{
    static const char *const names[] = {"graphics", "sm", "memory"};
    static const int usual[] = {1410, 1, 1593};
    char name[32];
    snprintf(name, sizeof name, "%s_%s", what, names[clock]);
    return say_unsigned(gpu, name, usual[clock], out);
}

int nvmlDeviceGetApplicationsClock(void *gpu, int clock, unsigned *out);
int nvmlDeviceGetApplicationsClock(void *gpu, int clock, unsigned *out)
{
    return say_clock(gpu, "application", clock, out);
}

int nvmlDeviceGetDefaultApplicationsClock(void *gpu, int clock, unsigned *out);
int nvmlDeviceGetDefaultApplicationsClock(void *gpu, int clock, unsigned *out)
{
    return say_clock(gpu, "default", clock, out);
}

int nvmlDeviceGetCurrPcieLinkGeneration(void *gpu, unsigned *out);
int nvmlDeviceGetCurrPcieLinkGeneration(void *gpu, unsigned *out)
{
    return say_unsigned(gpu, "generation", 5, out);
}

int nvmlDeviceGetMaxPcieLinkGeneration(void *gpu, unsigned *out);
int nvmlDeviceGetMaxPcieLinkGeneration(void *gpu, unsigned *out)
{
    return say_unsigned(gpu, "max_generation", 5, out);
}

int nvmlDeviceGetCurrPcieLinkWidth(void *gpu, unsigned *out);
int nvmlDeviceGetCurrPcieLinkWidth(void *gpu, unsigned *out)
{
    return say_unsigned(gpu, "lanes", 16, out);
}

int nvmlDeviceGetMaxPcieLinkWidth(void *gpu, unsigned *out);
int nvmlDeviceGetMaxPcieLinkWidth(void *gpu, unsigned *out)
{
    return say_unsigned(gpu, "max_lanes", 16, out);
}

int nvmlDeviceGetPcieReplayCounter(void *gpu, unsigned *out);
int nvmlDeviceGetPcieReplayCounter(void *gpu, unsigned *out)
{
    return say_unsigned(gpu, "replays", 4, out);
}

/* 18 links, of which "links" are active. */
int nvmlDeviceGetNvLinkState(void *gpu, unsigned link, int *active);
int nvmlDeviceGetNvLinkState(void *gpu, unsigned link, int *active)
{
    unsigned links;
    int r = say_unsigned(gpu, "links", 18, &links);
    *active = link < links;
    return r == OK && link >= 18 ? NOT_SUPPORTED : r;
}

/* All errors are those of the first link. */
int nvmlDeviceGetNvLinkErrorCounter(void *gpu, unsigned link, int counter, unsigned long long *out);
int nvmlDeviceGetNvLinkErrorCounter(void *gpu, unsigned link, int counter, unsigned long long *out)
{
    static const char *const names[] = {"replay", "recovery", "crc", "crc_data", "ecc"};
    long long n = 0;
    int r = say(gpu, names[counter], &n);
    *out = link == 0 ? (unsigned long long)n : 0;
    return r;
}

struct fabric {
    unsigned version;
    unsigned char cluster[16];
    int status;
    unsigned clique;
    unsigned char state;
    unsigned health;
};

int nvmlDeviceGetGpuFabricInfoV(void *gpu, struct fabric *out);
int nvmlDeviceGetGpuFabricInfoV(void *gpu, struct fabric *out)
{
    unsigned state, summary, version;
    say_unsigned(gpu, "fabric_version", 3, &version);
    if (version == 2 ? out->version != (36 | 2 << 24) : out->version != (40 | 3 << 24))
        return VERSION_MISMATCH;
    int r = say_unsigned(gpu, "fabric", 3, &state);
    out->state = (unsigned char)state;
    say_unsigned(gpu, "fabric_status", 0, (unsigned *)&out->status);
    say_unsigned(gpu, "fabric_health", 0x2aa, &out->health);
    say_unsigned(gpu, "fabric_summary", 1, &summary);
    if (version == 3)
        ((unsigned char *)out)[36] = (unsigned char)summary;
    return r;
}

int nvmlDeviceGetPersistenceMode(void *gpu, unsigned *on);
int nvmlDeviceGetPersistenceMode(void *gpu, unsigned *on)
{
    return say_unsigned(gpu, "persistence", 1, on);
}

struct field {
    unsigned id, scope;
    long long timestamp, latency;
    unsigned type;
    int result;
    unsigned long long value;
};

int nvmlDeviceGetFieldValues(void *gpu, int n, struct field *f);
int nvmlDeviceGetFieldValues(void *gpu, int n, struct field *f)
{
    for (; n > 0; n--, f++) {
        long long value = 0;
        char name[32];
        snprintf(name, sizeof name, "field%u", f->id);
        f->result = say(gpu, name, &value);
        f->type = 1; /* unsigned: what stands behind it in the union is not the value's */
        f->value = (unsigned long long)value | 0xabcdef0000000000;
    }
    return OK;
}

struct memory {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

int nvmlDeviceGetMemoryInfo_v2(void *gpu, struct memory *m);
int nvmlDeviceGetMemoryInfo_v2(void *gpu, struct memory *m)
{
    long long used = 4 << 20;
    if (m->version != (sizeof *m | 2 << 24))
        return VERSION_MISMATCH;
    int r = say(gpu, "memory", &used);
    *m = (struct memory){.total = 80ull << 30, .reserved = 500 << 20, .used = 12345};
    m->free = m->total - m->reserved - (unsigned long long)used;
    return r;
}

struct process {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};

int nvmlDeviceGetComputeRunningProcesses_v3(void *gpu, unsigned *n, struct process *out);
int nvmlDeviceGetComputeRunningProcesses_v3(void *gpu, unsigned *n, struct process *out)
{
    unsigned room = *n;
    int r = say_unsigned(gpu, "processes", 0, n);
    if (r == OK && *n > room)
        return INSUFFICIENT_SIZE;
    for (unsigned i = 0; r == OK && i < *n; i++)
        out[i] = (struct process){.pid = 4000 + i};
    return r;
}

#endif
