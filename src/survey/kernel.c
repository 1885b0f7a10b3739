/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/normal.h"
#include "survey/part.h"

#include <errno.h>
#include <sys/utsname.h>

static void read_cmdline(const struct reading *r, struct notes *n)
{
    CLEANUP_TEXT struct text raw = {0}, normal = {0};
    int failed = notes_read(r->root, "proc/cmdline", SYS_FILE_BYTES_MAX, &raw);
    if (failed) {
        notes_error(n, failed, "kernel.cmdline");
        return;
    }
    normal_cmdline(raw.s, r->node, &normal);
    text_add(&normal, "");
    notes_squeeze(&normal);
    notes_value(n, normal.s, "kernel.cmdline");
}

/* The file is there since Linux 6.1; the system call knows only the machine that this runs on. */
static void read_arch(const struct reading *r, struct notes *n)
{
    struct utsname name;
    char text[SYS_TEXT_BYTES_MAX];
    int failed = sys_text(r->root, "proc/sys/kernel/arch", text);
    if (failed && r->real && uname(&name) == 0)
        notes_value(n, name.machine, "kernel.arch");
    else if (failed)
        notes_error(n, failed, "kernel.arch");
    else
        notes_value(n, text, "kernel.arch");
}

/* Every kernel has these: a missing file is no absence. */
static void read_sure(const struct reading *r, struct notes *n, const char *path, const char *name)
{
    struct notes one = {0};
    notes_text(&one, r->root, path, "%s", name);
    if (one.list[0].state == COMPONENT_ABSENT)
        notes_error(n, -ENOENT, "%s", name);
    else
        notes_expect(n, &one, name, "", "%s", name);
    notes_fini(&one);
}

void kernel_read(const struct reading *r, struct notes *n)
{
    read_sure(r, n, "proc/sys/kernel/osrelease", "kernel.release");
    read_sure(r, n, "proc/sys/kernel/version", "kernel.version");
    read_arch(r, n);
    read_cmdline(r, n);
}
