/* SPDX-License-Identifier: Apache-2.0 */
#include "product/product.h"

#include "product/ochami.h"
#include "product/slurm.h"

#include <assert.h>
#include <string.h>

static const struct product_record records[PRODUCT_EFFECTS] = {
    [PRODUCT_DRIFT] = {"ochami.", "OpenCHAMI", false, ochami_drift_check, ochami_drift_say},
    [PRODUCT_REBOOT] = {"reboot.", "OpenCHAMI", false, ochami_reboot_check, ochami_reboot_say},
    [PRODUCT_HOLD] = {"slurm.", "Slurm", true, slurm_note_check, slurm_note_say},
};

const struct product_record *product_record(enum product_effect effect)
{
    assert(effect < PRODUCT_EFFECTS);
    return &records[effect];
}

const struct product_record *product_record_find(const char *key)
{
    for (size_t i = 0; i < PRODUCT_EFFECTS; i++)
        if (strncmp(key, records[i].key, strlen(records[i].key)) == 0)
            return &records[i];
    return NULL;
}
