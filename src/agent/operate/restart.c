/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/operate/restart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SYNC_MS = 2000 };

int restart_prepare(const char *trigger)
{
    int fd = open(trigger, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    *program_invocation_name = '@'; /* systemd's documentation: ROOT_STORAGE_DAEMONS */
    (void)mlockall(MCL_CURRENT);
    return fd;
}

/* The kernel hands the writing to a thread of its own. */
void restart_force(int trigger)
{
    if (write(trigger, "s", 1) == 1)
        poll(NULL, 0, SYNC_MS);
    (void)!write(trigger, "b", 1);
}
