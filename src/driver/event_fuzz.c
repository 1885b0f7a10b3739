/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/event.h"

#include "base/hostlist.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_event(const char *bytes, size_t size)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";
    struct sensu_event x;
    if (sensu_event_read(bytes, size, &x, NULL) < 0)
        return;
    if (!x.node[0] || strncmp(x.check, "sensu.", 6) != 0 || strspn(x.check, good) != strlen(x.check))
        abort();
    if (x.verdict.n > 1 || x.verdict.result > RESULT_FATAL || x.at.ns < 0)
        abort();
}

static void try_wish(const char *bytes, size_t size)
{
    struct transition_wish w;
    if (transition_wish_read(bytes, size, &w, NULL) < 0)
        return;
    if (!hostlist_name_ok(w.node) || !w.transition[0] || !w.message[0])
        abort();
    for (const char *p = w.message; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1); /* so that a byte too many is noticed */
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    try_event(copy, size);
    try_wish(copy, size);
    free(copy);
    return 0;
}
