/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/*
 * A link counts as what it points to: below a root of a test its target may lie outside.
 */

static bool any_has(int root, const char *const *directories, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        CLEANUP_TEXT struct text path = {0};
        struct stat st;
        text_printf(&path, "%s/%s", directories[i], name);
        if (fstatat(root, path.s, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)))
            return true;
    }
    return false;
}

bool program_installed(int root, const char *command)
{
    static const char *const directories[] = {"usr/local/sbin", "usr/local/bin", "usr/sbin",  "usr/bin",
                                              "sbin",           "bin",           "etc/init.d"};
    return any_has(root, directories, sizeof directories / sizeof *directories, command);
}

bool unit_installed(int root, const char *unit)
{
    static const char *const directories[] = {"etc/systemd/system",     "run/systemd/system",
                                              "run/systemd/generator",  "run/systemd/generator.late",
                                              "run/systemd/transient",  "usr/local/lib/systemd/system",
                                              "usr/lib/systemd/system", "lib/systemd/system"};
    enum { N = sizeof directories / sizeof *directories };
    CLEANUP_TEXT struct text file = {0}, template = {0};
    const char *dot = strrchr(unit, '.'), *at = strchr(unit, '@');
    text_printf(&file, "%s%s", unit, dot ? "" : ".service");
    if (at && (!dot || at < dot))
        text_printf(&template, "%.*s@%s", (int)(at - unit), unit, dot ? dot : ".service");
    return any_has(root, directories, N, file.s) || (template.s && any_has(root, directories, N, template.s));
}
