/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/part.h"

#include "probe/part.h"

#include <errno.h>
#include <string.h>

/*
 * Only the beginning of /proc/cpuinfo is read: all of it costs a measurement on each processor. Each
 * processor's microcode stands in /sys, where a reading wakes no processor.
 */

struct first {
    char model[SYS_TEXT_BYTES_MAX], microcode[SYS_TEXT_BYTES_MAX];
    /* For a processor without a name: ARM's numbers for its maker and its model. */
    char implementer[32], part[32], variant[32], revision[32];
};

static const char *value_of(const char *line, const char *key)
{
    size_t n = strlen(key);
    if (strncmp(line, key, n) != 0)
        return NULL;
    line += n + strspn(line + n, " \t");
    return *line == ':' ? line + 1 + strspn(line + 1, " \t") : NULL;
}

static bool cpu_line(const char *line, void *first)
{
    struct first *f = first;
    const struct {
        const char *key;
        char *to;
        size_t size;
    } rows[] = {{"model name", f->model, sizeof f->model},
                {"microcode", f->microcode, sizeof f->microcode},
                {"CPU implementer", f->implementer, sizeof f->implementer},
                {"CPU part", f->part, sizeof f->part},
                {"CPU variant", f->variant, sizeof f->variant},
                {"CPU revision", f->revision, sizeof f->revision}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *value = value_of(line, rows[i].key);
        if (value)
            snprintf(rows[i].to, rows[i].size, "%s", value);
    }
    return *line != '\0'; /* the next processor's */
}

static void note_model(const struct first *f, struct notes *n)
{
    CLEANUP_TEXT struct text t = {0};
    if (*f->model)
        text_add(&t, f->model);
    else if (*f->part)
        text_printf(&t, "ARM implementer %s part %s variant %s revision %s", f->implementer, f->part,
                    f->variant, f->revision);
    notes_squeeze(&t);
    if (t.len)
        notes_value(n, t.s, "cpu.model");
    else
        notes_unknown(n, "/proc/cpuinfo names no model", "cpu.model");
}

/* The values of the processors that are online, each different value once. Without them the first
 * processor's value in cpuinfo, unless that reading failed. */
static void note_microcode(int cpus, int failed, const struct first *f, struct notes *n)
{
    struct sys_names names = {0};
    bool found = false;
    if (cpus >= 0)
        sys_names_read(&names, cpus);
    for (size_t i = 0; i < names.n; i++) {
        char path[SYS_TEXT_BYTES_MAX], version[SYS_TEXT_BYTES_MAX];
        snprintf(path, sizeof path, "%.64s/microcode/version", names.names[i]);
        if (strncmp(names.names[i], "cpu", 3) != 0 || sys_text(cpus, path, version) < 0)
            continue;
        notes_value(n, version, "cpu.microcode");
        found = true;
    }
    sys_names_fini(&names);
    if (!found && *f->microcode)
        notes_value(n, f->microcode, "cpu.microcode");
    else if (!found && failed)
        notes_error(n, failed, "cpu.microcode");
    else if (!found)
        notes_absent(n, "cpu.microcode"); /* ARM, and some virtual machines */
}

static void note_number(const json_t *object, const char *key, const char *name, struct notes *n)
{
    const json_t *number = json_object_get(object, key);
    if (json_is_integer(number))
        notes_number(n, (size_t)json_integer_value(number), "%s", name);
    else
        notes_unknown(n, "/sys/devices/system/cpu does not say", "%s", name);
}

/* How many are online, in how many sockets: as the inventory has it. */
static void note_count(const struct reading *r, struct notes *n)
{
    CLEANUP_JSON json_t *inventory = json_object();
    cpu_read(r->root, inventory);
    note_number(inventory, "CPUs", "cpu.count", n);
    note_number(inventory, "Sockets", "cpu.sockets", n);
}

void processor_read(const struct reading *r, struct notes *n)
{
    struct first first = {0};
    int failed = sys_each_line(r->root, "proc/cpuinfo", cpu_line, &first);
    if (failed)
        notes_error(n, failed, "cpu.model");
    else
        note_model(&first, n);
    CLEANUP_FD int cpus = sys_open_dir(r->root, "sys/devices/system/cpu");
    note_microcode(cpus, failed, &first, n);
    note_count(r, n);
}
