/* SPDX-License-Identifier: Apache-2.0 */
#include "base/conf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(const char *bytes, size_t len, enum conf_form form)
{
    struct conf c;
    struct err e = {0};
    if (conf_parse("fuzz", bytes, len, form, &c, &e) < 0 && (e.msg[0] == '\0' || c.n != 0))
        abort();
    for (size_t i = 0; i < c.n; i++)
        for (size_t k = 0; k < c.lines[i].n; k++)
            if (c.lines[i].fields[k].key[0] == '\0' ||
                strlen(c.lines[i].fields[k].value) > CONF_FIELD_BYTES_MAX)
                abort();
    conf_fini(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse((const char *)data, size, CONF_PARAMETERS);
    parse((const char *)data, size, CONF_RECORDS);
    return 0;
}
