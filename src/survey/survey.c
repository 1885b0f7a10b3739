/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/survey.h"

#include "survey/part.h"

#include <string.h>

/*
 * Each part takes notes, which notes_settle makes components of before the next part begins. The parts
 * that may be large come last, so that what they leave no room for are they themselves.
 */

static const struct part {
    const char *prefix;
    void (*read)(const struct reading *r, struct notes *n);
} PARTS[] = {
    {"kernel", kernel_read},   {"os", os_read},         {"image", image_read},     {"cpu", processor_read},
    {"bios", bios_read},       {"board", board_read},   {"bmc", bmc_read},         {"gpu", accelerator_read},
    {"nic", card_read},        {"hca", hca_read},       {"cxi", cxi_read},         {"nvme", nvme_read},
    {"setting", setting_read}, {"sysctl", sysctl_read}, {"command", command_read}, {"file", file_read},
    {"mount", mount_read},     {"module", module_read}, {"package", package_read},
};

void survey_cache_fini(struct survey_cache *c)
{
    components_fini(&c->packages);
    *c = (struct survey_cache){0};
}

struct span reading_patience(const struct reading *r, int usual_ms)
{
    return r->calls->patience.ns > 0 ? r->calls->patience : span_ms(usual_ms);
}

/* Of what is ignored as a whole nobody is asked: NVML wakes a GPU. */
static bool skipped(const struct survey_conf *conf, const char *prefix)
{
    char whole[64];
    snprintf(whole, sizeof whole, "%s.*", prefix);
    for (size_t i = 0; i < conf->ignore.n; i++)
        if (strcmp(conf->ignore.names[i], whole) == 0 || strcmp(conf->ignore.names[i], "*") == 0)
            return true;
    return false;
}

int survey_read(const char *root, const char *node, const struct survey_conf *conf,
                const struct survey_calls *calls, struct survey_cache *cache, struct components *out,
                struct err *e)
{
    CLEANUP_FD int at = sys_open_root(root, e);
    if (at < 0)
        return at;
    struct reading r = {.root = at,
                        .root_path = root,
                        .real = !*root || strcmp(root, "/") == 0,
                        .node = node,
                        .conf = conf,
                        .calls = calls,
                        .cache = cache};
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        CLEANUP_NOTES struct notes notes = {0};
        if (skipped(conf, PARTS[i].prefix))
            continue;
        PARTS[i].read(&r, &notes);
        notes_settle(&notes, PARTS[i].prefix, &conf->ignore, out);
    }
    return components_sort(out, e);
}
