/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/survey.h"

#include "survey/part.h"

#include <assert.h>
#include <string.h>

/*
 * Each part takes notes, which notes_settle makes components of before the next part begins. The parts
 * that may be large come last, so that what they leave no room for are they themselves.
 */

/* CHEAP: files of /proc and /sys that the kernel answers from its memory, few enough to be read before each
 * job. A part is DEAR when it runs a command, makes a system call that waits for a device or its firmware,
 * reads a disk, or reads some files for each processor. */
enum cost { DEAR, CHEAP };

static const struct part {
    const char *prefix;
    void (*read)(const struct reading *r, struct notes *n);
    enum cost cost;
} PARTS[] = {
    {"kernel", kernel_read, CHEAP},   {"os", os_read, DEAR},           {"image", image_read, DEAR},
    {"cpu", processor_read, DEAR},    {"bios", bios_read, CHEAP},      {"board", board_read, CHEAP},
    {"bmc", bmc_read, DEAR},          {"gpu", accelerator_read, DEAR}, {"nic", card_read, DEAR},
    {"hca", hca_read, CHEAP},         {"cxi", cxi_read, CHEAP},        {"nvme", nvme_read, CHEAP},
    {"setting", setting_read, CHEAP}, {"sysctl", sysctl_read, CHEAP},  {"command", command_read, DEAR},
    {"file", file_read, DEAR},        {"mount", mount_read, CHEAP},    {"module", module_read, CHEAP},
    {"package", package_read, DEAR},
};

/* Components that are ignored as a whole are not read: NVML wakes a GPU. */
static bool survey_skipped(const struct survey_conf *conf, const char *prefix)
{
    char whole[64];
    snprintf(whole, sizeof whole, "%s.*", prefix);
    for (size_t i = 0; i < conf->ignore.n; i++)
        if (strcmp(conf->ignore.names[i], whole) == 0 || strcmp(conf->ignore.names[i], "*") == 0)
            return true;
    return false;
}

static void read_parts(const struct reading *r, enum cost at_least, struct components *out)
{
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        CLEANUP_NOTES struct notes notes = {0};
        if (PARTS[i].cost < at_least || survey_skipped(r->conf, PARTS[i].prefix))
            continue;
        PARTS[i].read(r, &notes);
        notes_settle(&notes, PARTS[i].prefix, &r->conf->ignore, out);
    }
}

static struct reading reading_of(const char *root, int at, const char *node, const struct survey_conf *conf)
{
    bool real = !*root || strcmp(root, "/") == 0;
    return (struct reading){.root = at, .root_path = root, .real = real, .node = node, .conf = conf};
}

int survey_read(const char *root, const char *node, const struct survey_conf *conf,
                const struct survey_calls *calls, struct survey_cache *cache, struct components *out,
                struct err *e)
{
    CLEANUP_FD int at = sys_open_root(root, e);
    if (at < 0)
        return at;
    assert(calls->driver && "there is a way to ask the drivers");
    struct reading r = reading_of(root, at, node, conf);
    r.calls = calls;
    r.cache = cache;
    read_parts(&r, DEAR, out);
    return components_sort(out, e);
}

uint64_t survey_glance(const char *root, const char *node, const struct survey_conf *conf)
{
    struct components list = {0};
    CLEANUP_FD int at = sys_open_root(root, NULL);
    if (at < 0)
        return 0;
    const struct reading r = reading_of(root, at, node, conf);
    read_parts(&r, CHEAP, &list);
    int failed = components_sort(&list, NULL);
    struct fingerprint id = components_fingerprint(&list);
    components_fini(&list);
    return stamp_number(stamp_bytes(0, &id, sizeof id), (uint64_t)failed);
}
