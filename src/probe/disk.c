/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/part.h"

#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { SECTORS_PER_MB = 2048 }; /* sectors of 512 bytes, whatever the disk's own are */

/* SCSI and SATA: page 80h of the vital product data, a header of four bytes before the text. */
static void put_scsi_serial(json_t *disk, int dir)
{
    char page[256] = "";
    if (sys_read(dir, "device/vpd_pg80", page, sizeof page) < 0 || page[1] != (char)0x80)
        return;
    const char *serial = page + 4 + strspn(page + 4, " ");
    size_t len = strnlen(serial, SYS_TEXT_BYTES_MAX);
    while (len > 0 && serial[len - 1] == ' ')
        len--;
    page[serial - page + (ptrdiff_t)len] = '\0';
    if (len > 0)
        json_object_set_new(disk, "serial", sys_string(serial));
}

/* NVMe has it below the controller, virtio beside the disk. */
static void put_serial(json_t *disk, int dir)
{
    sys_put_text(disk, "serial", dir, "device/serial");
    if (!json_object_get(disk, "serial"))
        sys_put_text(disk, "serial", dir, "serial");
    if (!json_object_get(disk, "serial"))
        put_scsi_serial(disk, dir);
}

/* Only what sits on a device is a disk: loop, ram, zram, dm and md do not. Drives whose medium
 * changes, partitions, and the hidden paths of a multipath NVMe are none either. */
static bool is_disk(int dir, const char *name)
{
    uint64_t hidden = 0;
    if (strncmp(name, "sr", 2) == 0 || strncmp(name, "fd", 2) == 0)
        return false;
    if (faccessat(dir, "device", F_OK, 0) != 0 || faccessat(dir, "partition", F_OK, 0) == 0)
        return false;
    return sys_u64(dir, "hidden", &hidden) < 0 || hidden == 0;
}

static json_t *disk_device(int dir, const char *name)
{
    if (!is_disk(dir, name))
        return NULL;
    json_t *disk = json_object();
    json_object_set_new(disk, "name", sys_string(name));
    sys_put_text(disk, "model", dir, "device/model");
    put_serial(disk, dir);
    uint64_t sectors, rotational;
    if (sys_u64(dir, "size", &sectors) == 0)
        json_object_set_new(disk, "size_mb", json_integer((json_int_t)(sectors / SECTORS_PER_MB)));
    if (sys_u64(dir, "queue/rotational", &rotational) == 0)
        json_object_set_new(disk, "rotational", json_boolean(rotational != 0));
    return disk;
}

static void put_space(int root, const char *tmp_dir, json_t *into)
{
    const char *below = tmp_dir + strspn(tmp_dir, "/");
    CLEANUP_FD int dir = sys_open_dir(root, *below ? below : ".");
    struct statvfs fs;
    if (dir < 0 || fstatvfs(dir, &fs) < 0)
        return;
    json_object_set_new(into, "TmpDisk",
                        json_integer((json_int_t)((uint64_t)fs.f_blocks * fs.f_frsize >> 20)));
}

void disk_read(int root, const char *tmp_dir, json_t *into)
{
    put_space(root, tmp_dir, into);
    sys_put_devices(into, "Disks", root, "sys/block", disk_device);
}
