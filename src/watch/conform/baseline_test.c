/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/conform/baseline_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const char A[] = "kernel.release=6.1 nic.count=2 package.bash=5.1",
           B[] = "kernel.release=6.6 nic.count=2 package.bash=5.1",
           C[] = "kernel.release=6.7 nic.count=2 package.bash=5.2",
           MINOR[] = "kernel.release=6.1 nic.count=2 package.bash=5.2",
           UNREAD[] = "kernel.release=6.1 nic.count=?denied package.bash=5.1";

const struct class_lines reboots = {"gpu",
                                    {{"Nodes", "lx[01-40]"}, {"Reboot", "yes"}, {"Critical", "nic.*"}}};

const struct class_lines excludes = {"gpu", {{"Nodes", "lx[01-40]"}, {"Drifted", "exclude"}}};

struct world *conformant(size_t n, const struct class_lines *class, const char *sensitive)
{
    struct world *x = world_create(n);
    world_configure(x, class, class != NULL, sensitive);
    world_says(x, 1, (int)n, A);
    world_run(x, 2);
    assert_int_equal(world_command(x, COMMAND_BASELINE_ACCEPT, "lx01", NULL), 0);
    world_run(x, 2);
    text_clear(&x->log);
    return x;
}

void rollout_start(struct world *x, const char *class, const char *node, const char *nodes, int hours)
{
    CLEANUP_TEXT struct text set = {0};
    text_printf(&set, "{\"class\":\"%s\",\"node\":\"%s\",\"deadline\":\"%lld\"}", class, node,
                (long long)(world_wall(x).ns + hours * INT64_C(3600000000000)));
    if (world_command(x, COMMAND_ROLLOUT_START, nodes, set.s) < 0)
        fail_msg("%s", x->log.s);
}

void run_verified(struct world *x, int first, int last, int hours)
{
    for (int h = 0; h < hours; h++) {
        world_run(x, HOUR);
        world_verifies(x, first, last);
    }
}

size_t times_said(const struct world *x, const char *what)
{
    size_t n = 0;
    for (const char *p = x->log.s; p && (p = strstr(p, what)); p++)
        n++;
    return n;
}
