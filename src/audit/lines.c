/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/lines.h"

#include "base/base64.h"

#include <string.h>

bool lines_take(struct lines *l, const char **line, size_t *len)
{
    const char *nl = l->at < l->end ? memchr(l->at, '\n', (size_t)(l->end - l->at)) : NULL;
    if (!nl)
        return false;
    *line = l->at;
    *len = (size_t)(nl - l->at);
    l->at = nl + 1;
    return true;
}

bool line_number(const char *line, size_t len, uint64_t *out)
{
    enum { DIGITS_MAX = 19 };
    if (len == 0 || len > DIGITS_MAX || (len > 1 && line[0] == '0'))
        return false;
    uint64_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (line[i] < '0' || line[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(line[i] - '0');
    }
    *out = n;
    return n >> TREE_HEIGHT_MAX == 0;
}

bool line_hash(const char *line, size_t len, struct tree_hash *out)
{
    return base64_take_exactly(line, len, out->bytes, sizeof out->bytes);
}
