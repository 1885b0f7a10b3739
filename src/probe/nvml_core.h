/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_PROBE_NVML_CORE_H
#define FETTLE_PROBE_NVML_CORE_H

#include <stddef.h>

/*
 * What everybody needs of NVIDIA's management library. It is not there when Fettle is built, nor on most
 * machines, so it is declared here as NVIDIA's NVML API Reference documents it, and found at run time. Every
 * function returns nvmlReturn_t, an int that is 0 (NVML_SUCCESS) or says why not.
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

/* Loads the library, a name for dlopen(3). The caller's to dlclose; NULL when there is none, or one without
 * the core. Others that it does not have are NULL. */
void *nvml_load(const char *library, struct nvml_core *core, const struct nvml_symbol *others, size_t n);

#endif
