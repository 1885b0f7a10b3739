/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor under a durable answer: append 256 bytes to a file and fdatasync, n times.
 * usage: bench-fsync FILE N
 */
#include "base/clock.h"
#include "base/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    uint64_t n = 0;
    if (argc != 3 || text_parse_u64(argv[2], 1, 1000000, &n, NULL) < 0)
        return 2;
    int fd = open(argv[1], O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    char record[256];
    memset(record, 'x', sizeof record);
    int64_t *ns = mem_alloc(n * sizeof *ns);
    for (size_t i = 0; i < n; i++) {
        struct mono before = mono_now();
        if (write(fd, record, sizeof record) != (ssize_t)sizeof record || fdatasync(fd) != 0) {
            perror(argv[1]);
            return 1;
        }
        ns[i] = mono_sub(mono_now(), before).ns;
    }
    qsort(ns, n, sizeof *ns, ascending);
    int64_t p50 = ns[n / 2], p99 = ns[n * 99 / 100];
    printf("{\"p50_us\":%.1f,\"p99_us\":%.1f}\n", (double)p50 / 1e3, (double)p99 / 1e3);
    close(fd);
    unlink(argv[1]);
    free(ns);
    return 0;
}
