/* SPDX-License-Identifier: Apache-2.0 */
#include "health/tool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte is the tool, the second how it ended; the rest is what it said, in pieces of any length: the
 * verdict is the same, and can be told and read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct tool_said whole = {.tool = (enum tool)(data[0] % TOOLS)}, pieces = whole;
    const struct tool_end end = {data[1] & 0x7f, data[1] & 0x80, data[0] & 0x80, data[0] & 0x40 ? 1000 : 0};
    const char *output = (const char *)data + 2;
    struct verdict v, again;
    tool_read(&whole, output, size - 2);
    tool_end(&whole);
    for (size_t i = 0; i < size - 2; i++)
        tool_read(&pieces, output + i, 1);
    tool_end(&pieces);
    tool_judge(&whole, &end, &v);
    tool_judge(&pieces, &end, &again);
    if (v.result != again.result || strcmp(v.text, again.text) != 0)
        abort();
    CLEANUP_TEXT struct text t = {0};
    verdict_write(&v, &t);
    CLEANUP_JSON json_t *o = json_read(t.s, t.len, NULL);
    if (!o || verdict_read(o, &again, NULL) < 0 || again.result != v.result)
        abort();
    return 0;
}
