/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/part.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* "NAME SIZE REFERENCES USERS STATE ADDRESS": the name, if the module is not on its way in or out. */
bool module_live(const char *line, char name[static 64])
{
    const char *p = line;
    size_t len = strcspn(p, " ");
    if (len == 0 || len > 63)
        return false;
    for (int field = 0; field < 4; field++) {
        p += strcspn(p, " ");
        p += strspn(p, " ");
    }
    if (strncmp(p, "Live", 4) != 0)
        return false;
    memcpy(name, line, len);
    name[len] = '\0';
    return true;
}

struct modules {
    int dir; /* sys/module */
    struct notes *notes;
};

static bool module_line(const char *line, void *modules)
{
    struct modules *m = modules;
    char name[64], path[96], version[SYS_TEXT_BYTES_MAX];
    if (!module_live(line, name))
        return true;
    snprintf(path, sizeof path, "%s/version", name);
    if (sys_text(m->dir, path, version) < 0 || !*version) {
        snprintf(path, sizeof path, "%s/srcversion", name);
        if (sys_text(m->dir, path, version) < 0 || !*version)
            snprintf(version, sizeof version, "loaded");
    }
    notes_value(m->notes, version, "module.%s", name);
    return true;
}

/* A kernel without modules has no such file. */
void module_read(const struct reading *r, struct notes *n)
{
    CLEANUP_FD int dir = sys_open_dir(r->root, "sys/module");
    struct modules m = {.dir = dir, .notes = n};
    int failed = stream_lines(r->root, "proc/modules", MODULES_BYTES_MAX, module_line, &m);
    if (failed == -ENOENT && faccessat(r->root, "proc/sys/kernel", F_OK, 0) == 0)
        return;
    if (failed)
        notes_lost(n, failed, "/proc/modules", "module");
}
