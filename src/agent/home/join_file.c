/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/home/join_file.h"

#include "agent/home/home.h"
#include "base/private.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int make_directories(const char *root, struct err *e)
{
    static const char *const below[] = {"/etc", "/etc/fettle"};
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        CLEANUP_TEXT struct text path = {0};
        text_printf(&path, "%s%s", root, below[i]);
        if (mkdir(path.s, 0755) < 0 && errno != EEXIST)
            return err_set(e, -errno, "%s: %s", path.s, strerror(errno));
    }
    return 0;
}

int join_file_write(const char *root, const char *token, const struct address *controller, struct err *e)
{
    CLEANUP_TEXT struct text directory = {0}, line = {0};
    char at[ADDRESS_HOST_BYTES_MAX + 16];
    int r = make_directories(root, e);
    text_printf(&directory, "%s/etc/fettle", root);
    text_printf(&line, "%s %s\n", token, address_format(controller, at));
    return r ? r : home_write(directory.s, "join", line.s, true, e);
}

int join_file_read(const char *root, char token[static JOIN_TOKEN_BYTES_MAX], struct address *controller,
                   struct err *e)
{
    CLEANUP_TEXT struct text path = {0};
    char line[JOIN_TOKEN_BYTES_MAX + ADDRESS_HOST_BYTES_MAX + 16], host[sizeof line], more[2];
    text_printf(&path, "%s%s", root, JOIN_FILE_PATH);
    FILE *f = fopen(path.s, "re");
    if (!f)
        return err_set(e, -errno, "%s: %s; \"fettle-agent join --at-boot\" makes it", path.s,
                       strerror(errno));
    bool any = fgets(line, sizeof line, f);
    fclose(f);
    int r = private_check(path.s, PRIVATE_TO_READ, e);
    if (r)
        return r;
    char own[sizeof line];
    if (!any || sscanf(line, "%s %s %1s", own, host, more) != 2 || strlen(own) >= JOIN_TOKEN_BYTES_MAX)
        return err_set(e, -EINVAL, "%s: the line is not TOKEN HOST[:PORT]", path.s);
    memcpy(token, own, strlen(own) + 1);
    r = address_parse(host, controller, e);
    return r ? err_wrap(e, r, "%s", path.s) : 0;
}
