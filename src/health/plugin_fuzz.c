/* SPDX-License-Identifier: Apache-2.0 */
#include "health/plugin.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct output {
    const char *at, *end;
};

/* A datum lies within the output. */
static void look(void *arg, const struct perf *p)
{
    const struct output *o = arg;
    if (p->label < o->at || p->label_len == 0 || p->label_len > (size_t)(o->end - p->label) ||
        strlen(p->unit) >= sizeof p->unit)
        abort();
}

/* The first byte is the exit status, and the format of the metrics; the rest is what the plugin said: the
 * verdict can be told and read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct verdict v, again;
    CLEANUP_TEXT struct text t = {0};
    const char *output = (const char *)data + 1;
    enum metric format = (enum metric)(data[0] / 4 % METRICS);
    plugin_read((int8_t)data[0], output, size - 1, format, &v);
    verdict_write(&v, &t);
    CLEANUP_JSON json_t *o = json_read(t.s, t.len, NULL);
    if (!o || verdict_read(o, &again, NULL) < 0 || again.result != v.result ||
        strcmp(again.text, v.text) != 0)
        abort();
    for (int m = 0; m < METRICS; m++)
        metric_each((enum metric)m, output, size - 1, look, &(struct output){output, output + size - 1});
    return 0;
}
