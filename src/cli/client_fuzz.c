/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/client.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct conf file;
    struct client c;
    if (conf_parse("client.conf", (const char *)data, size, CONF_RECORDS, &file, NULL) < 0)
        return 0;
    if (client_take(&file, "prod", &c, NULL) == 1)
        client_fini(&c);
    if (client_take(&file, NULL, &c, NULL) == 1)
        client_fini(&c);
    conf_fini(&file);
    return 0;
}
