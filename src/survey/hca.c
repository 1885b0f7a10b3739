/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/part.h"

#include <errno.h>

/* InfiniBand and Slingshot adapters. The drivers keep in memory what /sys shows, so nothing blocks. */

static int open_device(const struct reading *r, const char *class, const struct device *d)
{
    char path[SYS_LINE_BYTES_MAX];
    snprintf(path, sizeof path, "%s/%s", class, d->name);
    return sys_open_dir(r->root, path);
}

void hca_read(const struct reading *r, struct notes *n)
{
    static const char class[] = "sys/class/infiniband";
    struct devices d = {0};
    int failed = devices_read(r->root, class, true, &d);
    if (failed) {
        notes_lost(n, failed, "/sys/class/infiniband", "hca");
        devices_fini(&d);
        return;
    }
    for (size_t i = 0; i < d.n; i++) {
        const char *address = d.list[i].address;
        CLEANUP_FD int dir = open_device(r, class, &d.list[i]);
        notes_text(n, dir, "hca_type", "hca.%s.type", address);
        notes_text(n, dir, "fw_ver", "hca.%s.firmware", address);
        notes_text(n, dir, "board_id", "hca.%s.board", address);
        notes_link(n, dir, "device/driver", "hca.%s.driver", address);
    }
    notes_number(n, devices_count(&d), "hca.count");
    devices_fini(&d);
}

/* The version of all that is in the card's flash memory; on cards without it the microcontroller's. */
static void note_firmware(struct notes *n, int dir, const char *address)
{
    char text[SYS_TEXT_BYTES_MAX];
    int r = sys_text(dir, "device/uc/qspi_blob_version", text);
    const char *file = r == -ENOENT ? "device/uc/version" : "device/uc/qspi_blob_version";
    notes_text(n, dir, file, "cxi.%s.firmware", address);
}

void cxi_read(const struct reading *r, struct notes *n)
{
    static const char class[] = "sys/class/cxi";
    struct devices d = {0};
    int failed = devices_read(r->root, class, true, &d);
    if (failed) {
        notes_lost(n, failed, "/sys/class/cxi", "cxi");
        devices_fini(&d);
        return;
    }
    for (size_t i = 0; i < d.n; i++) {
        char name[SYS_TEXT_BYTES_MAX];
        CLEANUP_FD int dir = open_device(r, class, &d.list[i]);
        CLEANUP_FD int card = dir >= 0 ? sys_open_dir(dir, "device") : -1;
        note_firmware(n, dir, d.list[i].address);
        snprintf(name, sizeof name, "cxi.%.100s.model", d.list[i].address);
        device_model(n, card, name);
    }
    notes_number(n, devices_count(&d), "cxi.count");
    devices_fini(&d);
}
