/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/part.h"

#include <errno.h>
#include <string.h>

/* NVMe drives of this machine. Drives over a network belong to another machine. */

static bool is_local(int dir)
{
    char transport[SYS_TEXT_BYTES_MAX];
    return sys_text(dir, "transport", transport) < 0 || strcmp(transport, "pcie") == 0;
}

void nvme_read(const struct reading *r, struct notes *n)
{
    static const char class[] = "sys/class/nvme";
    struct devices d = {0};
    size_t count = 0;
    int failed = devices_read(r->root, class, true, &d);
    if (failed) {
        notes_lost(n, failed, "/sys/class/nvme", "nvme");
        devices_fini(&d);
        return;
    }
    for (size_t i = 0; i < d.n; i++) {
        char path[SYS_LINE_BYTES_MAX];
        snprintf(path, sizeof path, "%s/%s", class, d.list[i].name);
        CLEANUP_FD int dir = sys_open_dir(r->root, path);
        if (!is_local(dir))
            continue;
        notes_text(n, dir, "model", "nvme.%s.model", d.list[i].address);
        notes_text(n, dir, "firmware_rev", "nvme.%s.firmware", d.list[i].address);
        count++;
    }
    notes_number(n, count, "nvme.count");
    devices_fini(&d);
}
