/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/probe.h"

#include "base/digest.h"
#include "base/text.h"
#include "probe/part.h"

#include <inttypes.h>
#include <stdio.h>

int probe_inventory(const char *root, const char *tmp_dir, json_t **out, struct err *e)
{
    CLEANUP_FD int at = sys_open_root(root, e);
    if (at < 0)
        return at;
    *out = json_object();
    host_read(at, *root == '\0', *out);
    cpu_read(at, *out);
    memory_read(at, *out);
    disk_read(at, tmp_dir, *out);
    nic_read(at, *out);
    gpu_read(at, *out);
    dmi_read(at, *out);
    return 0;
}

static int add_bytes(const char *bytes, size_t n, void *hash)
{
    *(uint64_t *)hash = digest_fnv(*(uint64_t *)hash, bytes, n);
    return 0;
}

void probe_hash(const json_t *inventory, char out[static 17])
{
    uint64_t h = DIGEST_FNV_START;
    json_dump_callback(inventory, add_bytes, &h, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    snprintf(out, 17, "%016" PRIx64, h);
}
