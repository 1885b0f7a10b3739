/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/part.h"

#include <errno.h>

static const struct member {
    const char *key, *file;
} members[] = {
    {"vendor", "sys_vendor"},       {"product", "product_name"},      {"serial", "product_serial"},
    {"bios_vendor", "bios_vendor"}, {"bios_version", "bios_version"}, {"bios_date", "bios_date"},
    {"board", "board_name"},        {"board_serial", "board_serial"}, {"uuid", "product_uuid"},
};

/* A machine without DMI has an empty object; serial numbers and UUID can be read by root alone. */
void dmi_read(int root, json_t *into)
{
    CLEANUP_FD int dir = sys_open_dir(root, "sys/class/dmi/id");
    if (dir < 0 && (dir != -ENOENT || !sys_mounted(root)))
        return;
    json_t *dmi = json_object();
    for (size_t i = 0; dir >= 0 && i < sizeof members / sizeof members[0]; i++)
        sys_put_text(dmi, members[i].key, dir, members[i].file);
    json_object_set_new(into, "DMI", dmi);
}
