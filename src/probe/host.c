/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/part.h"
#include "probe/probe.h"

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* `uname -s -r | sed 's/ /./g'`, as the 2001 document defines it. */
static void put_os(int root, json_t *into)
{
    char type[SYS_TEXT_BYTES_MAX], release[SYS_TEXT_BYTES_MAX];
    if (sys_text(root, "proc/sys/kernel/ostype", type) < 0 || !*type ||
        sys_text(root, "proc/sys/kernel/osrelease", release) < 0 || !*release)
        return;
    char os[2 * SYS_TEXT_BYTES_MAX];
    snprintf(os, sizeof os, "%s.%s", type, release);
    for (char *p = os; *p; p++)
        if (*p == ' ')
            *p = '.';
    json_object_set_new(into, "OS", sys_string(os));
}

static bool boot_time_line(const char *line, void *arg)
{
    uint64_t seconds;
    if (strncmp(line, "btime ", 6) != 0)
        return true;
    if (text_parse_u64(line + 6, 0, INT64_MAX, &seconds, NULL) == 0)
        json_object_set_new(arg, "BootTime", json_integer((json_int_t)seconds));
    return false;
}

/* The file is there since Linux 6.1; the system call knows only the machine that this runs on. */
static void put_arch(int root, bool real, json_t *into)
{
    sys_put_text(into, "Arch", root, "proc/sys/kernel/arch");
    struct utsname name;
    if (real && !json_object_get(into, "Arch") && uname(&name) == 0)
        json_object_set_new(into, "Arch", sys_string(name.machine));
}

void host_read(int root, bool real, json_t *into)
{
    sys_put_text(into, "Name", root, "proc/sys/kernel/hostname");
    put_os(root, into);
    put_arch(root, real, into);
    sys_each_line(root, "proc/stat", boot_time_line, into);
}

static bool is_uuid(const char *s)
{
    for (size_t i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s[i] != '-' : !isxdigit((unsigned char)s[i]))
            return false;
    }
    return s[36] == '\0';
}

/* The text of one small file below root, or the sentence that says why not. */
static int read_below(const char *root, const char *path, char text[static SYS_TEXT_BYTES_MAX], struct err *e)
{
    CLEANUP_FD int at = sys_open_root(root, e);
    if (at < 0)
        return at;
    int r = sys_text(at, path, text);
    return r < 0 ? err_set(e, r, "%s/%s: %s", root, path, strerror(-r)) : 0;
}

void probe_machine(const char *root, char out[static 37])
{
    char text[SYS_TEXT_BYTES_MAX];
    *out = '\0';
    if (read_below(root, "sys/class/dmi/id/product_uuid", text, NULL) == 0 && is_uuid(text))
        memcpy(out, text, 37);
}

int probe_boot_id(const char *root, char out[static 37], struct err *e)
{
    static const char path[] = "proc/sys/kernel/random/boot_id";
    char text[SYS_TEXT_BYTES_MAX];
    int r = read_below(root, path, text, e);
    if (r < 0)
        return r;
    if (!is_uuid(text))
        return err_set(e, -EINVAL, "%s/%s: no boot id", root, path);
    memcpy(out, text, 37);
    return 0;
}

int probe_uptime(const char *root, uint64_t *seconds, struct err *e)
{
    static const char path[] = "proc/uptime";
    char text[SYS_TEXT_BYTES_MAX];
    int r = read_below(root, path, text, e);
    if (r < 0)
        return r;
    text[strcspn(text, ". ")] = '\0';
    r = text_parse_u64(text, 0, INT64_MAX, seconds, e);
    return r < 0 ? err_wrap(e, r, "%s/%s", root, path) : 0;
}
