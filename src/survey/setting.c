/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/part.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* --- sysctls ------------------------------------------------------------------------------------------ */

static const char *const SYSCTLS[] = {
#define SYSCTL(name) name,
#define SETTING(name, form, path)
#include "survey/setting.tbl"
#undef SYSCTL
#undef SETTING
};

/* As sysctl(8): net.ipv4.conf.eth0/1.rp_filter is of the interface eth0.1. No way leads out of proc/sys,
 * because no part is empty or begins with a dot. */
bool sysctl_path(const char *name, char path[static 300])
{
    size_t len = strlen(name);
    bool begins = true;
    if (len == 0 || len > COMPONENT_NAME_BYTES_MAX - strlen("sysctl."))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (name[i] <= ' ' || name[i] > '~' || (begins && (name[i] == '.' || name[i] == '/')))
            return false;
        begins = name[i] == '.';
        path[i] = name[i] == '.' ? '/' : name[i] == '/' ? '.' : name[i];
    }
    path[len] = '\0';
    return !begins;
}

void sysctl_names(const struct survey_conf *conf, struct sys_names *out)
{
    for (size_t i = 0; i < sizeof SYSCTLS / sizeof *SYSCTLS; i++)
        sys_names_add(out, SYSCTLS[i]);
    for (size_t i = 0; i < conf->sysctls.n; i++)
        sys_names_add(out, conf->sysctls.names[i]);
    sys_names_sort(out);
}

void sysctl_read(const struct reading *r, struct notes *n)
{
    CLEANUP_FD int dir = sys_open_dir(r->root, "proc/sys");
    if (dir < 0) {
        notes_lost(n, dir, "/proc/sys", "sysctl");
        return;
    }
    struct sys_names names = {0};
    sysctl_names(r->conf, &names);
    for (size_t i = 0; i < names.n; i++) {
        char path[300];
        if (sysctl_path(names.names[i], path))
            notes_text(n, dir, path, "sysctl.%s", names.names[i]);
    }
    sys_names_fini(&names);
    if (r->conf->sysctls.n >= CONF_NAMED_MAX)
        notes_unknown(n, "too many are named", "sysctl.*");
}

/* --- settings ----------------------------------------------------------------------------------------- */

enum form { TEXT, CHOSEN };

static const struct setting {
    const char *name;
    enum form form;
    const char *path;
} SETTINGS[] = {
#define SYSCTL(name)
#define SETTING(name, form, path) {name, form, path},
#include "survey/setting.tbl"
#undef SYSCTL
#undef SETTING
};
enum { SETTINGS_N = sizeof SETTINGS / sizeof *SETTINGS };

/* The word in brackets; the whole text when there are none. */
static void setting_choose(char *text)
{
    const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
    if (!close)
        return;
    size_t len = (size_t)(close - open) - 1;
    memmove(text, open + 1, len);
    text[len] = '\0';
}

static void note_setting(int root, struct notes *n, const struct setting *s)
{
    notes_text(n, root, s->path, "setting.%s", s->name);
    struct note *last = &n->list[n->n - 1];
    if (s->form == CHOSEN && last->state == COMPONENT_VALUE)
        setting_choose(last->value);
}

/* The huge pages that were asked for. The file's count includes pages that the kernel lends beyond that,
 * for as long as a job holds them. */
static int persistent_pages(int dir, const char *size, uint64_t *out)
{
    char path[SYS_TEXT_BYTES_MAX];
    uint64_t pages = 0, surplus = 0, again = 0;
    for (int tries = 0; tries < 3; tries++) {
        snprintf(path, sizeof path, "%.64s/surplus_hugepages", size);
        int r = sys_u64(dir, path, &surplus);
        snprintf(path, sizeof path, "%.64s/nr_hugepages", size);
        if (r == 0)
            r = sys_u64(dir, path, &pages);
        snprintf(path, sizeof path, "%.64s/surplus_hugepages", size);
        if (r == 0)
            r = sys_u64(dir, path, &again);
        if (r < 0)
            return r;
        if (surplus == again && surplus <= pages) {
            *out = pages - surplus;
            return 0;
        }
    }
    return -EAGAIN;
}

static void note_hugepages(const struct reading *r, struct notes *n)
{
    static const char prefix[] = "hugepages-";
    struct sys_names sizes = {0};
    CLEANUP_FD int dir = sys_open_dir(r->root, "sys/kernel/mm/hugepages");
    int failed = dir >= 0 ? sys_names_read(&sizes, dir) : dir;
    if (failed && failed != -ENOENT)
        notes_error(n, failed, "setting.hugepages.*");
    for (size_t i = 0; i < sizes.n; i++) {
        const char *size = sizes.names[i];
        uint64_t pages;
        if (strncmp(size, prefix, sizeof prefix - 1) != 0)
            continue;
        failed = persistent_pages(dir, size, &pages);
        if (failed)
            notes_error(n, failed, "setting.hugepages.%s", size + sizeof prefix - 1);
        else
            notes_number(n, pages, "setting.hugepages.%s", size + sizeof prefix - 1);
    }
    sys_names_fini(&sizes);
}

static void note_mitigations(const struct reading *r, struct notes *n)
{
    struct sys_names names = {0};
    CLEANUP_FD int dir = sys_open_dir(r->root, "sys/devices/system/cpu/vulnerabilities");
    int failed = dir >= 0 ? sys_names_read(&names, dir) : dir;
    if (failed && failed != -ENOENT)
        notes_error(n, failed, "setting.mitigation.*");
    for (size_t i = 0; i < names.n; i++)
        notes_text(n, dir, names.names[i], "setting.mitigation.%s", names.names[i]);
    sys_names_fini(&names);
}

/* Each different governor once: notes of one name are joined. */
static void note_governor(const struct reading *r, struct notes *n)
{
    struct sys_names names = {0};
    CLEANUP_FD int dir = sys_open_dir(r->root, "sys/devices/system/cpu/cpufreq");
    int failed = dir >= 0 ? sys_names_read(&names, dir) : dir;
    notes_absent(n, "setting.governor");
    if (failed && failed != -ENOENT)
        notes_error(n, failed, "setting.governor");
    for (size_t i = 0; i < names.n; i++) {
        char path[SYS_TEXT_BYTES_MAX];
        snprintf(path, sizeof path, "%.64s/scaling_governor", names.names[i]);
        if (strncmp(names.names[i], "policy", 6) == 0)
            notes_text(n, dir, path, "setting.governor");
    }
    sys_names_fini(&names);
}

/* Intel says whether it is off, the others whether it is on. */
static void note_turbo(const struct reading *r, struct notes *n)
{
    uint64_t flag;
    int failed = sys_u64(r->root, "sys/devices/system/cpu/intel_pstate/no_turbo", &flag);
    bool on = failed == 0 && flag == 0;
    if (failed == -ENOENT) {
        failed = sys_u64(r->root, "sys/devices/system/cpu/cpufreq/boost", &flag);
        on = failed == 0 && flag != 0;
    }
    if (failed == -ENOENT)
        notes_absent(n, "setting.turbo");
    else if (failed)
        notes_error(n, failed, "setting.turbo");
    else
        notes_value(n, on ? "on" : "off", "setting.turbo");
}

void setting_read(const struct reading *r, struct notes *n)
{
    if (!sys_mounted(r->root)) {
        notes_lost(n, -ENOENT, "/sys/class", "setting");
        return;
    }
    for (size_t i = 0; i < SETTINGS_N; i++)
        note_setting(r->root, n, &SETTINGS[i]);
    note_hugepages(r, n);
    note_mitigations(r, n);
    note_governor(r, n);
    note_turbo(r, n);
}

/* --- for the look --------------------------------------------------------------------------------------- */

void setting_paths(const struct survey_conf *conf, struct sys_names *out)
{
    static const char *const others[] = {"sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
                                         "sys/devices/system/cpu/intel_pstate/no_turbo",
                                         "sys/devices/system/cpu/cpufreq/boost"};
    struct sys_names names = {0};
    sysctl_names(conf, &names);
    for (size_t i = 0; i < names.n; i++) {
        char path[300], whole[320];
        if (!sysctl_path(names.names[i], path))
            continue;
        snprintf(whole, sizeof whole, "proc/sys/%s", path);
        sys_names_add(out, whole);
    }
    sys_names_fini(&names);
    for (size_t i = 0; i < SETTINGS_N; i++)
        sys_names_add(out, SETTINGS[i].path);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        sys_names_add(out, others[i]);
}
