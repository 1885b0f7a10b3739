/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/power.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bmcs *b = NULL;
    struct err e = {0};
    bool is_on, is_locked;
    char *text = mem_dup_len((const char *)data, size);
    if (ipmi_read_chassis(text, &is_on, &is_locked, NULL) == 0 && !strstr(text, "System Power"))
        abort();
    CLEANUP_FREE char *watchdog = ipmi_read_watchdog(text);
    if (watchdog && (strpbrk(watchdog, "\r\n") || !strstr(text, "Watchdog Timer Is")))
        abort();
    free(text);
    if (bmcs_parse("bmc.conf", (const char *)data, size, &b, &e) < 0) {
        if (b || !e.msg[0])
            abort();
        return 0;
    }
    for (size_t i = 0; i < b->n; i++) {
        const char *node = b->list[i].nodes.names[0];
        struct bmc one;
        if (!b->list[i].nodes.n)
            continue;
        if (bmcs_find(b, node) != &b->list[i])
            abort();
        bmc_copy(&b->list[i], node, &one);
        if (strstr(one.address, "{node}") || one.address[0] == '-')
            abort();
        bmc_fini(&one);
    }
    bmcs_destroy(b);
    return 0;
}
