/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/apart.h"
#include "survey/part.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Firmware of the board and of its management controller. */

struct member {
    const char *file, *name;
};

/* A file that exists and is empty means that the maker left the field out. Whether two such boards are the
 * same is not known. */
static void read_member(int dir, const struct member *m, struct notes *n)
{
    CLEANUP_NOTES struct notes one = {0};
    notes_text(&one, dir, m->file, "%s", m->name);
    if (one.list[0].state == COMPONENT_ABSENT && faccessat(dir, m->file, F_OK, 0) == 0)
        notes_unknown(n, "it is empty", "%s", m->name);
    else
        notes_take(n, one.list[0].name, one.list[0].state, one.list[0].value);
}

static void read_dmi(const struct reading *r, struct notes *n, const struct member *members, size_t count,
                     const char *prefix)
{
    CLEANUP_FD int dir = sys_open_dir(r->root, "sys/class/dmi/id");
    if (dir < 0 && (dir != -ENOENT || !sys_mounted(r->root))) {
        notes_lost(n, dir, "/sys/class/dmi/id", prefix);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (dir < 0)
            notes_absent(n, "%s", members[i].name);
        else
            read_member(dir, &members[i], n);
    }
}

void bios_read(const struct reading *r, struct notes *n)
{
    static const struct member members[] = {
        {"bios_vendor", "bios.vendor"}, {"bios_version", "bios.version"}, {"bios_date", "bios.date"}};
    read_dmi(r, n, members, sizeof members / sizeof *members, "bios");
}

void board_read(const struct reading *r, struct notes *n)
{
    static const struct member members[] = {{"board_vendor", "board.vendor"},
                                            {"board_name", "board.name"},
                                            {"board_version", "board.version"},
                                            {"product_name", "board.product"}};
    read_dmi(r, n, members, sizeof members / sizeof *members, "board");
}

/* --- management controller -------------------------------------------------------------------------- */

static const char BMC[] = "sys/class/ipmi/ipmi0/device/bmc";
static const struct member BMC_MEMBERS[] = {{"firmware_revision", "bmc.firmware"},
                                            {"aux_firmware_revision", "bmc.aux"},
                                            {"manufacturer_id", "bmc.manufacturer"},
                                            {"product_id", "bmc.product"}};
enum { BMC_MEMBERS_N = sizeof BMC_MEMBERS / sizeof *BMC_MEMBERS };

/* The firmware says that there is one: ACPI by its device, SMBIOS by a structure of type 38. */
static bool has_bmc(int root)
{
    static const char *const signs[] = {"sys/bus/acpi/devices/IPI0001:00", "sys/firmware/dmi/entries/38-0"};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (faccessat(root, signs[i], F_OK, 0) == 0)
            return true;
    return false;
}

/* The driver may ask the controller for each file, and the controller may be busy starting. */
static void say_bmc(void *root)
{
    for (size_t i = 0; i < BMC_MEMBERS_N; i++) {
        char path[128];
        CLEANUP_NOTES struct notes one = {0};
        snprintf(path, sizeof path, "%s/%s", BMC, BMC_MEMBERS[i].file);
        notes_text(&one, *(const int *)root, path, "%s", BMC_MEMBERS[i].name);
        apart_say(one.list[0].name, one.list[0].state, one.list[0].value);
    }
}

void bmc_read(const struct reading *r, struct notes *n)
{
    CLEANUP_NOTES struct notes said = {0};
    struct err why = {0};
    int root = r->root;
    bool there = faccessat(root, BMC, F_OK, 0) == 0;
    if (!there && !sys_mounted(root)) {
        notes_lost(n, -ENOENT, "/sys/class", "bmc");
        return;
    }
    if (there)
        apart_notes(root, reading_timeout(r, BMC_MS_MAX), say_bmc, &root, &said, &why);
    for (size_t i = 0; i < BMC_MEMBERS_N; i++) {
        if (there)
            notes_expect(n, &said, BMC_MEMBERS[i].name, why.msg, "%s", BMC_MEMBERS[i].name);
        else if (has_bmc(root))
            notes_unknown(n, "there is one, and the kernel's IPMI driver is not loaded", "%s",
                          BMC_MEMBERS[i].name);
        else
            notes_absent(n, "%s", BMC_MEMBERS[i].name);
    }
}
