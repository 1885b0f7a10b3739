/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/part.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The texts of /proc and /sys. The first byte says which: 'l' a list of processors, 'c' cpuinfo,
 * 'n' cpuinfo with the processors counted, 'm' meminfo. */

static void list(const char *bytes, size_t n)
{
    char *text = malloc(n + 1);
    if (!text)
        return;
    memcpy(text, bytes, n);
    text[n] = '\0';
    struct cpu_set s;
    struct err e = {0};
    int r = cpu_list_parse(text, &s, &e);
    assert(r == 0 || (r < 0 && e.code == r && *e.msg));
    assert(cpu_set_count(&s) <= CPU_MAX);
    free(text);
}

/* In two pieces, so that lines are put together. */
static void lines(const char *bytes, size_t n, sys_line_fn *fn, void *arg)
{
    struct sys_lines l = {.len = 0};
    if (sys_lines_feed(&l, bytes, n / 2, fn, arg))
        sys_lines_feed(&l, bytes + n / 2, n - n / 2, fn, arg);
    assert(l.len < SYS_LINE_BYTES_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *bytes = (const char *)data + 1;
    struct cpu_info cpu = {.count = data[0] == 'n'};
    struct memory_info memory = {0};
    switch (data[0]) {
    case 'l': list(bytes, size - 1); break;
    case 'c':
    case 'n':
        lines(bytes, size - 1, cpu_info_line, &cpu);
        assert(strlen(cpu.model) < sizeof cpu.model);
        break;
    case 'm':
        lines(bytes, size - 1, memory_info_line, &memory);
        assert(memory.total_kb + memory.swap_kb <= INT64_MAX);
        break;
    default: break;
    }
    return 0;
}
