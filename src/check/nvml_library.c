/* SPDX-License-Identifier: Apache-2.0 */
#include "check/nvml.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct nvml_pci) == 68, "as nvml.h has it");
_Static_assert(sizeof(struct nvml_field) == 40, "as nvml.h has it");
_Static_assert(sizeof(struct nvml_fabric) == 40, "as nvml.h has it");
_Static_assert(sizeof(struct nvml_temperature) == 12, "as nvml.h has it");
_Static_assert(sizeof(struct nvml_memory) == 40, "as nvml.h has it");
_Static_assert(sizeof(struct nvml_violation) == 16, "as nvml.h has it");
_Static_assert(sizeof(struct nvml_process) == 24, "as nvml.h has it");

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
                {"nvmlDeviceGetViolationStatus", (void **)&v->violation},
                {"nvmlDeviceGetComputeRunningProcesses_v3", (void **)&v->processes}};
    v->so = dlopen(v->library, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; v->so && i < sizeof rows / sizeof *rows; i++)
        *rows[i].to = dlsym(v->so, rows[i].symbol);
    return v->so && v->init && v->shutdown && v->error && v->count && v->handle && v->pci;
}

void nvml_end(struct look_shared *s)
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

const struct nvml *nvml_start(struct look_shared *s, const char *library)
{
    if (s->nvml && strcmp(s->nvml->library, library) == 0)
        return s->nvml;
    nvml_end(s);
    struct nvml *v = s->nvml = mem_alloc(sizeof *v);
    v->library = mem_dup(library);
    v->usable = load(v);
    if (v->usable)
        v->started = v->init();
    return v;
}
