/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/redfish_read.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever a BMC says: a path stays on it, and words are one line. */
static void check_path(const char *path)
{
    if (path[0] != '/' || strpbrk(path, " \r\n"))
        abort();
}

static void check_words(const struct text *t)
{
    if (t->s && (strpbrk(t->s, "\r\n\t") || t->len > REDFISH_WORDS_BYTES_MAX + 40))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    CLEANUP_TEXT struct text words = {0}, error = {0};
    redfish_path path;
    struct redfish_system s;
    unsigned allowed = 0;
    if (redfish_read_root(bytes, size, path, NULL) == 0)
        check_path(path);
    if (redfish_read_systems(bytes, size, "", path, NULL) == 0 ||
        redfish_read_systems(bytes, size, "1", path, NULL) == 0)
        check_path(path);
    if (redfish_read_system(bytes, size, &s, NULL) == 0) {
        check_path(s.target);
        if (strpbrk(s.bios.text, "\r\n\t") || strpbrk(s.watchdog, "\r\n\t"))
            abort();
    }
    redfish_read_action_info(bytes, size, &allowed, NULL);
    redfish_read_task(bytes, size, &words);
    redfish_read_error(bytes, size, &error);
    check_words(&words);
    check_words(&error);
    struct redfish_version v;
    CLEANUP_TEXT struct text lines = {0};
    if (redfish_read_manager(bytes, size, &v, path, NULL) == 0) {
        if (*path)
            check_path(path);
        if (strpbrk(v.text, "\r\n\t") || (*v.text && !v.is_there))
            abort();
    }
    if (redfish_read_logs(bytes, size, path, NULL) == 0 || redfish_read_log(bytes, size, path, NULL) == 0)
        check_path(path);
    if (redfish_read_entries(bytes, size, &lines, NULL) == 0 && lines.len > 5 * (REDFISH_WORDS_BYTES_MAX + 1))
        abort();
    redfish_read_id(bytes, size, path);
    if (*path)
        check_path(path);
    return 0;
}
