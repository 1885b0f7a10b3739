/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/nvml.h"

#include "survey/apart.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * The library is not there when Fettle is built, nor on most machines, so its few functions are
 * declared here as NVIDIA's NVML API Reference documents them: every function returns nvmlReturn_t,
 * an int that is 0 (NVML_SUCCESS) or says why not.
 */

enum { NVML_SUCCESS = 0, NVML_ERROR_NOT_SUPPORTED = 3, NVML_TEXT_BYTES = 96 };

struct nvml_pci { /* nvmlPciInfo_t as of nvmlDeviceGetPciInfo_v3 */
    char legacy_bus_id[16];
    unsigned domain, bus, device, pci_device, pci_subsystem;
    char bus_id[32];
};

struct nvml {
    int (*init)(void);
    const char *(*error)(int);
    int (*driver)(char *, unsigned);
    int (*count)(unsigned *);
    int (*handle)(unsigned, void **);
    int (*pci)(void *, struct nvml_pci *);
    int (*name)(void *, char *, unsigned);
    int (*vbios)(void *, char *, unsigned);
    int (*ecc)(void *, unsigned *, unsigned *); /* now, and after the next reset */
    int (*mig)(void *, unsigned *, unsigned *);
};

/* False when one is missing: the library is older than all that runs on today's GPUs. */
static bool load(const char *library, struct nvml *v)
{
    void *so = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    const struct {
        const char *symbol;
        void **to;
    } rows[] = {{"nvmlInit_v2", (void **)&v->init},
                {"nvmlErrorString", (void **)&v->error},
                {"nvmlSystemGetDriverVersion", (void **)&v->driver},
                {"nvmlDeviceGetCount_v2", (void **)&v->count},
                {"nvmlDeviceGetHandleByIndex_v2", (void **)&v->handle},
                {"nvmlDeviceGetPciInfo_v3", (void **)&v->pci},
                {"nvmlDeviceGetName", (void **)&v->name},
                {"nvmlDeviceGetVbiosVersion", (void **)&v->vbios},
                {"nvmlDeviceGetEccMode", (void **)&v->ecc},
                {"nvmlDeviceGetMigMode", (void **)&v->mig}};
    for (size_t i = 0; so && i < sizeof rows / sizeof *rows; i++)
        if (!(*rows[i].to = dlsym(so, rows[i].symbol)))
            return false;
    return so;
}

bool nvml_address(const char *bus_id, char out[static 32])
{
    unsigned domain, bus, device, function;
    char end;
    if (sscanf(bus_id, "%8x:%2x:%2x.%1x%c", &domain, &bus, &device, &function, &end) != 4)
        return false;
    snprintf(out, 32, "%04x:%02x:%02x.%x", domain, bus, device, function);
    return true;
}

/* The name of the note "WHOSE/WHAT". */
static void say(const struct nvml *v, const char *whose, const char *what, int r, const char *value)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", whose, *whose ? "/" : "", what);
    if (r == NVML_SUCCESS)
        apart_say(name, COMPONENT_VALUE, value);
    else if (r == NVML_ERROR_NOT_SUPPORTED)
        apart_say(name, COMPONENT_ABSENT, "");
    else
        apart_say(name, COMPONENT_UNKNOWN, v->error(r));
}

static const char *mode(unsigned on)
{
    return on ? "enabled" : "disabled";
}

static void say_gpu(const struct nvml *v, void *gpu, const char *address)
{
    char text[NVML_TEXT_BYTES] = "";
    unsigned now = 0, next = 0;
    int r = v->name(gpu, text, sizeof text);
    say(v, address, "model", r, text);
    r = v->vbios(gpu, text, sizeof text);
    say(v, address, "vbios", r, text);
    r = v->ecc(gpu, &now, &next);
    say(v, address, "ecc", r, mode(now));
    r = v->mig(gpu, &now, &next);
    say(v, address, "mig", r, mode(now));
}

/* A GPU that cannot be asked for its address is one of those that will be missing. */
static void say_gpus(const struct nvml *v)
{
    unsigned n = 0;
    int r = v->count(&n);
    if (r != NVML_SUCCESS)
        apart_say("failed", COMPONENT_UNKNOWN, v->error(r));
    for (unsigned i = 0; r == NVML_SUCCESS && i < n; i++) {
        void *gpu;
        struct nvml_pci pci = {.domain = 0};
        char address[32];
        if (v->handle(i, &gpu) == NVML_SUCCESS && v->pci(gpu, &pci) == NVML_SUCCESS &&
            nvml_address(pci.bus_id, address))
            say_gpu(v, gpu, address);
    }
}

static void ask(void *library)
{
    struct nvml v;
    char text[NVML_TEXT_BYTES] = "";
    if (!load(library, &v)) {
        apart_say("none", COMPONENT_UNKNOWN, "there is no NVML library that can be used");
        return;
    }
    int r = v.init();
    if (r != NVML_SUCCESS) {
        apart_say("failed", COMPONENT_UNKNOWN, v.error(r));
        return;
    }
    r = v.driver(text, sizeof text);
    say(&v, "", "driver", r, text);
    say_gpus(&v);
}

void nvml_ask(const char *library, struct span deadline, struct notes *into, struct err *why)
{
    struct err failed = {0};
    CLEANUP_FREE char *name = mem_dup(library);
    apart_notes(-1, deadline, ask, name, into, &failed);
    const struct note *n = notes_find(into, "failed");
    if (n)
        err_set(why, -EIO, "NVML: %.200s", n->value);
    else if (failed.code == -ENODATA)
        err_set(why, -ENODATA, "NVML does not have this GPU");
    else
        err_set(why, failed.code, "NVML: %.200s", failed.msg);
}
