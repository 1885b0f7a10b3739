/* SPDX-License-Identifier: Apache-2.0 */
#include "base/directory.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int files_remove(int fd)
{
    DIR *list = fdopendir(fd);
    int r = list ? 0 : -errno;
    if (!list)
        close(fd);
    for (struct dirent *d; !r && (d = readdir(list));)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 &&
            unlinkat(dirfd(list), d->d_name, 0))
            r = -errno;
    if (list)
        closedir(list);
    return r;
}

int directory_remove(int at, const char *name)
{
    assert(name);
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    int r = files_remove(fd);
    return r ? r : unlinkat(at, name, AT_REMOVEDIR) ? -errno : 0;
}
