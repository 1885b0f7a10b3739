/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/survey.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void system_copy(char to[static 33], const char *from)
{
    snprintf(to, 33, "%.32s", from);
}

static int system_driver(void *arg, const char *interface, char name[static 33], char version[static 33],
                         char firmware[static 33])
{
    struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
    struct ifreq request = {.ifr_data = (void *)&info};
    if (strlen(interface) >= IFNAMSIZ)
        return -ENAMETOOLONG;
    memcpy(request.ifr_name, interface, strlen(interface) + 1);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int r = ioctl(fd, SIOCETHTOOL, &request) < 0 ? -errno : 0;
    close(fd);
    system_copy(name, info.driver);
    system_copy(version, info.version);
    system_copy(firmware, info.fw_version);
    return r;
}

const struct survey_calls survey_system = {.driver = system_driver, .nvml = "libnvidia-ml.so.1"};
