/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for NVIDIA's libnvidia-ml, for tests: the functions that the survey calls, with two GPUs and
 * the moods that NVML_STAND_IN names in the environment:
 *   ok; hang (at once), hang_second (at the second GPU's VBIOS), mismatch (the driver is another),
 *   unsupported (no ECC, no MIG), lost (the second GPU), crash (at the second GPU), one (GPU)
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, NOT_SUPPORTED = 3, LIB_RM_VERSION_MISMATCH = 18, GPU_IS_LOST = 15 };

struct pci {
    char legacy[16];
    unsigned domain, bus, device, pci_device, subsystem;
    char bus_id[32];
};

static int gpus[2];

static bool mood(const char *name)
{
    const char *now = getenv("NVML_STAND_IN");
    return now && strcmp(now, name) == 0;
}

static void hang(void)
{
    for (;;)
        pause();
}

int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
    if (mood("hang"))
        hang();
    return mood("mismatch") ? LIB_RM_VERSION_MISMATCH : OK;
}

const char *nvmlErrorString(int code);
const char *nvmlErrorString(int code)
{
    return code == GPU_IS_LOST ? "GPU is lost" : "Driver/library version mismatch";
}

int nvmlSystemGetDriverVersion(char *out, unsigned size);
int nvmlSystemGetDriverVersion(char *out, unsigned size)
{
    snprintf(out, size, "550.54.14");
    return OK;
}

int nvmlDeviceGetCount_v2(unsigned *n);
int nvmlDeviceGetCount_v2(unsigned *n)
{
    *n = mood("one") ? 1 : 2;
    return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **gpu);
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **gpu)
{
    *gpu = &gpus[i];
    return OK;
}

int nvmlDeviceGetPciInfo_v3(void *gpu, struct pci *out);
int nvmlDeviceGetPciInfo_v3(void *gpu, struct pci *out)
{
    snprintf(out->bus_id, sizeof out->bus_id, "%s",
             gpu == &gpus[0] ? "00000000:18:00.0" : "00000000:2A:00.0");
    return OK;
}

int nvmlDeviceGetName(void *gpu, char *out, unsigned size);
int nvmlDeviceGetName(void *gpu, char *out, unsigned size)
{
    snprintf(out, size, "Stand-in H100");
    return mood("lost") && gpu == &gpus[1] ? GPU_IS_LOST : OK;
}

int nvmlDeviceGetVbiosVersion(void *gpu, char *out, unsigned size);
int nvmlDeviceGetVbiosVersion(void *gpu, char *out, unsigned size)
{
    if (gpu == &gpus[1] && mood("crash"))
        abort();
    if (gpu == &gpus[1] && mood("hang_second"))
        hang();
    snprintf(out, size, "96.00.74.00.01");
    return mood("lost") && gpu == &gpus[1] ? GPU_IS_LOST : OK;
}

int nvmlDeviceGetEccMode(void *gpu, unsigned *now, unsigned *next);
int nvmlDeviceGetEccMode(void *gpu, unsigned *now, unsigned *next)
{
    *now = 1;
    *next = 0;
    return mood("unsupported") ? NOT_SUPPORTED : OK;
}

int nvmlDeviceGetMigMode(void *gpu, unsigned *now, unsigned *next);
int nvmlDeviceGetMigMode(void *gpu, unsigned *now, unsigned *next)
{
    *now = 0;
    *next = 1;
    return mood("unsupported") ? NOT_SUPPORTED : OK;
}
