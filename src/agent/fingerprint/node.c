/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/fingerprint/node.h"

#include "base/digest.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>

enum {
    FILE_EVENTS = IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_MASK_ADD,
    DIR_EVENTS = IN_CREATE | IN_DELETE | IN_MOVE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_MASK_ADD
};

char *node_path(const char *root, const char *path)
{
    struct text t = {0};
    text_printf(&t, "%s%s", root, path);
    return text_take(&t);
}

/* A tree of files cannot answer this, and this machine's answer must not stand in for it. */
static int no_driver(void *arg, const char *interface, char driver[static 33], char version[static 33],
                     char firmware[static 33])
{
    return -EOPNOTSUPP;
}

int node_read(const char *root, const char *node, const struct survey_conf *conf, struct survey_cache *cache,
              struct components *out, struct err *e)
{
    static const struct survey_calls none = {.driver = no_driver};
    int r = survey_read(root, node, conf, *root ? &none : &survey_system, cache, out, e);
    return r ? r : components_sort(out, e);
}

static uint64_t node_mix(uint64_t hash, uint64_t n)
{
    return digest_fnv(hash, &n, sizeof n);
}

/* With the stamp of the configuration itself, which says what there is to look at. */
uint64_t node_stamp(const char *root, const struct survey_conf *conf)
{
    CLEANUP_FREE char *path = node_path(root, NODE_CONF_PATH);
    uint64_t stamp = survey_stamp(root, conf);
    struct stat st;
    if (stat(path, &st))
        return node_mix(stamp, 0);
    stamp = node_mix(node_mix(stamp, st.st_ino), (uint64_t)st.st_size);
    return node_mix(node_mix(stamp, (uint64_t)st.st_mtim.tv_sec), (uint64_t)st.st_mtim.tv_nsec);
}

/* The file, for what is done to it, and the nearest directory that is there, for what comes in its place
 * or on the way to it. Watches that are there already stay. */
void node_watch(int inotify, const char *root, const char *path)
{
    assert(path[0] == '/');
    CLEANUP_FREE char *whole = node_path(root, path);
    char *first = whole + strlen(root), *slash;
    (void)inotify_add_watch(inotify, whole, FILE_EVENTS);
    do {
        slash = strrchr(first, '/');
        slash[slash == whole] = '\0'; /* leaves "/" of "/x" */
        if (inotify_add_watch(inotify, whole, DIR_EVENTS) >= 0)
            return;
    } while ((errno == ENOENT || errno == ENOTDIR) && slash > first);
}
