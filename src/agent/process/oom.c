/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/process/oom.h"

#include "probe/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int oom_score_set(int score, int *before)
{
    char is[16] = "", wanted[16];
    CLEANUP_FD int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    if (fd < 0 || read(fd, is, sizeof is - 1) < 0)
        return -errno;
    int n = snprintf(wanted, sizeof wanted, "%d", score);
    if (write(fd, wanted, (size_t)n) < 0)
        return -errno;
    if (before)
        *before = (int)strtol(is, NULL, 10);
    return 0;
}
