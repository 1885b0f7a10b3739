/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_PROBE_NVML_CORE_H
#define FETTLE_PROBE_NVML_CORE_H

#include <stddef.h>

/*
 * The core of NVIDIA's management library. The library is absent when Fettle is built and on most machines,
 * so its functions are declared here as NVIDIA's NVML API Reference documents them, and found at run time.
 * Every function returns nvmlReturn_t, an int that is 0 (NVML_SUCCESS) or an error code.
 */

enum { NVML_SUCCESS = 0, NVML_ERROR_NOT_SUPPORTED = 3 };

struct nvml_pci { /* nvmlPciInfo_t as of nvmlDeviceGetPciInfo_v3, 68 bytes */
    char legacy_bus_id[16];
    unsigned domain, bus, device, pci_device, pci_subsystem;
    char bus_id[32];
};

struct nvml_core {
    int (*init)(void);
    const char *(*error)(int);
    int (*count)(unsigned *);
    int (*handle)(unsigned, void **);
    int (*pci)(void *, struct nvml_pci *);
};

/* One more function, and where it goes. */
struct nvml_symbol {
    const char *name;
    void **to;
};

/* Loads the library, a name for dlopen(3). The caller closes it with dlclose. NULL when there is no
 * library, or one without the core functions. Other functions that it lacks are NULL. */
void *nvml_load(const char *library, struct nvml_core *core, const struct nvml_symbol *others, size_t n);

#endif
