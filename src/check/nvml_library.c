/* SPDX-License-Identifier: Apache-2.0 */
#include "check/nvml.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct nvml_field) == 40, "as nvml.h has it");
_Static_assert(sizeof(struct nvml_fabric) == 40, "as nvml.h has it");
_Static_assert(sizeof(struct nvml_temperature) == 12, "as nvml.h has it");
_Static_assert(sizeof(struct nvml_memory) == 40, "as nvml.h has it");
_Static_assert(sizeof(struct nvml_violation) == 16, "as nvml.h has it");
_Static_assert(sizeof(struct nvml_process) == 24, "as nvml.h has it");

static bool nvml_library_load(struct nvml *v)
{
    const struct nvml_symbol rows[] = {
        {"nvmlShutdown", (void **)&v->shutdown},
        {"nvmlDeviceGetTotalEccErrors", (void **)&v->ecc},
        {"nvmlDeviceGetRemappedRows", (void **)&v->rows},
        {"nvmlDeviceGetRowRemapperHistogram", (void **)&v->histogram},
        {"nvmlDeviceGetRetiredPages", (void **)&v->pages},
        {"nvmlDeviceGetRetiredPagesPendingStatus", (void **)&v->pages_pending},
        {"nvmlDeviceGetTemperature", (void **)&v->temperature},
        {"nvmlDeviceGetTemperatureV", (void **)&v->temperature_v},
        {"nvmlDeviceGetUtilizationRates", (void **)&v->use},
        {"nvmlDeviceGetTemperatureThreshold", (void **)&v->threshold},
        {"nvmlDeviceGetCurrentClocksEventReasons", (void **)&v->reasons},
        {"nvmlDeviceGetCurrentClocksThrottleReasons", (void **)&v->old_reasons},
        {"nvmlDeviceGetClockInfo", (void **)&v->clock},
        {"nvmlDeviceGetApplicationsClock", (void **)&v->application_clock},
        {"nvmlDeviceGetDefaultApplicationsClock", (void **)&v->default_clock},
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
    v->so = nvml_load(v->library, &v->core, rows, sizeof rows / sizeof *rows);
    return v->so && v->shutdown;
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
    v->usable = nvml_library_load(v);
    if (v->usable)
        v->started = v->core.init();
    return v;
}
