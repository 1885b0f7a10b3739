/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <assert.h>
#include <errno.h>
#include <linux/pci_regs.h>

/* The longer part of a device's configuration space, from its first capability on. */

struct config {
    const uint8_t *data;
    size_t size;
};

static int read_config(void *arg, unsigned at, uint32_t *out)
{
    const struct config *c = arg;
    size_t from = at - PCI_CFG_SPACE_SIZE;
    assert(at >= PCI_CFG_SPACE_SIZE && at % 4 == 0);
    if (from + 4 > c->size)
        return -EACCES;
    *out = (uint32_t)bytes_little(c->data + from, 4);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config c = {data, size};
    uint16_t control;
    int r = acs_control(read_config, &c, &control);
    assert(r == 0 || r == -ENOENT || r == -EACCES || r == -EIO);
    return 0;
}
