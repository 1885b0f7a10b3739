/* SPDX-License-Identifier: Apache-2.0 */
#include "node/report.h"

#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void report_fini(struct report *r)
{
    free(r->json);
    free(r->os);
    free(r->arch);
    machine_fini(&r->machine);
    *r = (struct report){0};
}

static struct maybe report_number(const json_t *o, const char *key)
{
    struct maybe m = {0};
    m.known = json_take_u64(o, key, UINT64_C(1000000000000), &m.value, NULL) == 0;
    return m;
}

/* Speed is the one decimal number. It is rounded to thousandths, because 863.8 travels as
 * 863.79999999999995. */
static struct maybe report_milli(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    struct maybe m = {0};
    if (json_is_number(v)) {
        CLEANUP_FREE char *text = json_write(v);
        m.known = text_parse_milli(text, &m.value, NULL) == 0;
        const char *dot = strchr(text, '.');
        if (m.known && dot && strlen(dot) > 4 && dot[4] >= '5')
            m.value++;
    }
    return m;
}

static struct maybe report_count(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return (struct maybe){json_is_array(v), json_array_size(v)};
}

static char *report_word(const json_t *o, const char *key)
{
    const char *s = NULL;
    return json_take_string(o, key, &s, NULL) == 0 ? mem_dup(s) : NULL;
}

static struct report report_derive(const json_t *inventory)
{
    struct report r = {
        .json = json_write(inventory),
        .os = report_word(inventory, "OS"),
        .arch = report_word(inventory, "Arch"),
        .cpus = report_number(inventory, "CPUs"),
        .sockets = report_number(inventory, "Sockets"),
        .cores = report_number(inventory, "Cores"),
        .threads = report_number(inventory, "Threads"),
        .speed_milli = report_milli(inventory, "Speed"),
        .real_memory_mb = report_number(inventory, "RealMemory"),
        .virtual_memory_mb = report_number(inventory, "VirtualMemory"),
        .tmp_disk_mb = report_number(inventory, "TmpDisk"),
        .gpus = report_count(inventory, "GPUs"),
        .nics = report_count(inventory, "NICs"),
        .disks = report_count(inventory, "Disks"),
        .free_memory_mb = report_number(inventory, "FreeMemory"),
        .gpu_use = report_number(inventory, "GPUUse"),
        .gpu_celsius = report_number(inventory, "GPUTemperature"),
    };
    machine_read(inventory, &r.machine);
    last_boot_read(inventory, &r.last_boot);
    return r;
}

static int report_apply(json_t *inventory, json_t *set, const json_t *unset, struct err *e)
{
    if ((set && !json_is_object(set)) || (unset && !json_is_array(unset)))
        return err_set(e, -EINVAL, "an inventory whose \"set\" is no object or whose \"unset\" is no array");
    if (set)
        json_object_update(inventory, set);
    size_t i;
    json_t *key;
    json_array_foreach (unset, i, key) {
        if (!json_is_string(key))
            return err_set(e, -EINVAL, "an inventory whose \"unset\" holds something else than names");
        json_object_del(inventory, json_string_value(key));
    }
    return 0;
}

int report_update(struct report *r, const json_t *message, struct err *e)
{
    assert(r && message);
    const char *hash = "";
    bool full = false;
    json_take_bool(message, "full", &full, NULL);
    int rc = json_take_string(message, "hash", &hash, e);
    if (rc < 0 || strlen(hash) >= sizeof r->hash)
        return err_set(e, -EINVAL, "an inventory without a hash of at most 16 characters");
    if (!full && !r->json)
        return err_set(e, -ENOENT, "a change of an inventory that is not known");

    CLEANUP_JSON json_t *inventory = full ? json_object() : json_read(r->json, strlen(r->json), e);
    if (!inventory)
        return e ? e->code : -EINVAL;
    rc = report_apply(inventory, json_object_get(message, "set"), json_object_get(message, "unset"), e);
    if (rc < 0)
        return rc;

    struct report now = report_derive(inventory);
    if (strlen(now.json) > REPORT_BYTES_MAX) {
        report_fini(&now);
        return err_set(e, -EINVAL, "an inventory of more than %d bytes", REPORT_BYTES_MAX);
    }
    memcpy(now.hash, hash, strlen(hash) + 1);
    report_fini(r);
    *r = now;
    return 0;
}
