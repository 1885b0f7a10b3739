/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/nvml_core.h"

#include <dlfcn.h>
#include <stdbool.h>

_Static_assert(sizeof(struct nvml_pci) == 68, "as nvml.h has it");

static bool nvml_core_find(void *so, const struct nvml_symbol *rows, size_t n)
{
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        *rows[i].to = dlsym(so, rows[i].name);
        all = all && *rows[i].to;
    }
    return all;
}

void *nvml_load(const char *library, struct nvml_core *core, const struct nvml_symbol *others, size_t n)
{
    const struct nvml_symbol rows[] = {{"nvmlInit_v2", (void **)&core->init},
                                       {"nvmlErrorString", (void **)&core->error},
                                       {"nvmlDeviceGetCount_v2", (void **)&core->count},
                                       {"nvmlDeviceGetHandleByIndex_v2", (void **)&core->handle},
                                       {"nvmlDeviceGetPciInfo_v3", (void **)&core->pci}};
#ifdef FETTLE_STATIC /* glibc loads into such a program only what was made for its own release */
    void *so = NULL;
#else
    void *so = dlopen(library, RTLD_NOW | RTLD_LOCAL);
#endif
    if (!so)
        return NULL;
    nvml_core_find(so, others, n);
    if (nvml_core_find(so, rows, sizeof rows / sizeof *rows))
        return so;
    dlclose(so);
    return NULL;
}
