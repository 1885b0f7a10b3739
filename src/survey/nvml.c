/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/nvml.h"

#include "probe/nvml_core.h"
#include "survey/apart.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NVML_TEXT_BYTES = 96 };

struct nvml {
    struct nvml_core core;
    int (*driver)(char *, unsigned);
    int (*name)(void *, char *, unsigned);
    int (*vbios)(void *, char *, unsigned);
    int (*ecc)(void *, unsigned *, unsigned *); /* now, and after the next reset */
    int (*mig)(void *, unsigned *, unsigned *);
};

/* False when one is missing: the library is older than all that runs on today's GPUs. */
static bool nvml_open(const char *library, struct nvml *v)
{
    const struct nvml_symbol rows[] = {{"nvmlSystemGetDriverVersion", (void **)&v->driver},
                                       {"nvmlDeviceGetName", (void **)&v->name},
                                       {"nvmlDeviceGetVbiosVersion", (void **)&v->vbios},
                                       {"nvmlDeviceGetEccMode", (void **)&v->ecc},
                                       {"nvmlDeviceGetMigMode", (void **)&v->mig}};
    return nvml_load(library, &v->core, rows, sizeof rows / sizeof *rows) && v->driver && v->name &&
           v->vbios && v->ecc && v->mig;
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
static void nvml_say(const struct nvml *v, const char *whose, const char *what, int r, const char *value)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", whose, *whose ? "/" : "", what);
    if (r == NVML_SUCCESS)
        apart_say(name, COMPONENT_VALUE, value);
    else if (r == NVML_ERROR_NOT_SUPPORTED)
        apart_say(name, COMPONENT_ABSENT, "");
    else
        apart_say(name, COMPONENT_UNKNOWN, v->core.error(r));
}

static const char *nvml_mode(unsigned on)
{
    return on ? "enabled" : "disabled";
}

static void say_gpu(const struct nvml *v, void *gpu, const char *address)
{
    char text[NVML_TEXT_BYTES] = "";
    unsigned now = 0, next = 0;
    int r = v->name(gpu, text, sizeof text);
    nvml_say(v, address, "model", r, text);
    r = v->vbios(gpu, text, sizeof text);
    nvml_say(v, address, "vbios", r, text);
    r = v->ecc(gpu, &now, &next);
    nvml_say(v, address, "ecc", r, nvml_mode(now));
    r = v->mig(gpu, &now, &next);
    nvml_say(v, address, "mig", r, nvml_mode(now));
}

/* A GPU that cannot be asked for its address is one of those that will be missing. */
static void say_gpus(const struct nvml *v)
{
    unsigned n = 0;
    int r = v->core.count(&n);
    if (r != NVML_SUCCESS)
        apart_say("failed", COMPONENT_UNKNOWN, v->core.error(r));
    for (unsigned i = 0; r == NVML_SUCCESS && i < n; i++) {
        void *gpu;
        struct nvml_pci pci = {.domain = 0};
        char address[32];
        if (v->core.handle(i, &gpu) == NVML_SUCCESS && v->core.pci(gpu, &pci) == NVML_SUCCESS &&
            nvml_address(pci.bus_id, address))
            say_gpu(v, gpu, address);
    }
}

static void nvml_child(void *library)
{
    struct nvml v;
    char text[NVML_TEXT_BYTES] = "";
    if (!nvml_open(library, &v)) {
        apart_say("none", COMPONENT_UNKNOWN, "there is no NVML library that can be used");
        return;
    }
    int r = v.core.init();
    if (r != NVML_SUCCESS) {
        apart_say("failed", COMPONENT_UNKNOWN, v.core.error(r));
        return;
    }
    r = v.driver(text, sizeof text);
    nvml_say(&v, "", "driver", r, text);
    say_gpus(&v);
}

void nvml_ask(const char *library, struct span deadline, struct notes *into, struct err *why)
{
    struct err failed = {0};
    CLEANUP_FREE char *name = mem_dup(library);
    apart_notes(-1, deadline, nvml_child, name, into, &failed);
    const struct note *n = notes_find(into, "failed");
    if (n)
        err_set(why, -EIO, "NVML: %.200s", n->value);
    else if (failed.code == -ENODATA)
        err_set(why, -ENODATA, "NVML does not have this GPU");
    else
        err_set(why, failed.code, "NVML: %.200s", failed.msg);
}
