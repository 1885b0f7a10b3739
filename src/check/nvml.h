/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CHECK_NVML_H
#define FETTLE_CHECK_NVML_H

#include "check/look.h"
#include "probe/nvml_core.h"

#include <stdbool.h>

/*
 * NVIDIA's management library, as far as checks use it beside what everybody does (probe/nvml_core.h).
 * Numbers and structures have the names of nvml.h in comments.
 */

enum {
    NVML_ERROR_INVALID_ARGUMENT = 2,
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
    FIELD_NVLINK_MALFORMED = 206, /* from here on of NVLink 5 */
    FIELD_NVLINK_OVERRUNS = 207,
    FIELD_NVLINK_RECEIVE_ERRORS = 208,
    FIELD_NVLINK_REMOTE_ERRORS = 209,
    FIELD_NVLINK_GENERAL_ERRORS = 210,
    FIELD_NVLINK_INTEGRITY_ERRORS = 211,
    FIELD_NVLINK_RECOVERIES = 215,
    FIELD_NVLINK_EFFECTIVE_ERRORS = 219, /* the errors that error correction left */
    FIELD_NVLINK_EFFECTIVE_BER = 220,
    FIELD_RECOVERY_ACTION = 230,
};
enum { THRESHOLD_SLOWDOWN = 1, THRESHOLD_MEMORY_MAX = 2, THRESHOLD_GPU_MAX = 3 };
enum { REASON_IDLE = 1 };
enum { CLOCK_GRAPHICS = 0, CLOCK_MEMORY = 2 };

struct nvml_field { /* nvmlFieldValue_t */
    unsigned id, scope;
    long long timestamp, latency_us;
    unsigned type; /* the type of the value, below */
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

struct nvml_violation { /* nvmlViolationTime_t */
    unsigned long long reference_us, violation_ns;
};
struct nvml_use { /* nvmlUtilization_t: percent of the last moments */
    unsigned gpu, memory;
};

enum { POLICY_POWER = 0, POLICY_THERMAL = 1, POLICY_BOARD = 3, POLICY_RELIABILITY = 5 };

struct nvml {
    char *library;
    bool usable; /* the core is there, and its end */
    int started; /* the result of starting it */
    void *so;
    struct nvml_core core;
    int (*shutdown)(void);
    /* Each of these may be missing. */
    int (*ecc)(void *, int, int, unsigned long long *);
    int (*rows)(void *, unsigned *, unsigned *, unsigned *, unsigned *);
    int (*histogram)(void *, struct nvml_histogram *);
    int (*pages)(void *, int, unsigned *, unsigned long long *);
    int (*pages_pending)(void *, int *);
    int (*temperature)(void *, int, unsigned *);
    int (*temperature_v)(void *, struct nvml_temperature *);
    int (*threshold)(void *, int, unsigned *);
    int (*use)(void *, struct nvml_use *);
    int (*reasons)(void *, unsigned long long *);
    int (*old_reasons)(void *, unsigned long long *);
    int (*clock)(void *, int, unsigned *);
    int (*application_clock)(void *, int, unsigned *);
    int (*default_clock)(void *, int, unsigned *);
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
    int (*violation)(void *, int, struct nvml_violation *);
    int (*processes)(void *, unsigned *, struct nvml_process *);
};

/* Loads and starts the library, unless an earlier look did: then it is as that look left it. library is a
 * name for dlopen(3). Call its functions only where it is usable, and ask for GPUs only where it started.
 * Borrowed from s. */
const struct nvml *nvml_start(struct look_shared *s, const char *library);
void nvml_end(struct look_shared *s);

#endif
