/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/slurm_log.h"
#include "driver/slurm_plan.h"
#include "driver/slurm_read.h"
#include "driver/slurm_view.h"

#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_nodes(const char *bytes, size_t size)
{
    char *copy = mem_dup_len(bytes, size);
    struct slurm_mark mark;
    struct slurm_lines l;
    if (slurm_read_nodes(copy, size, &l, NULL) == 0 && l.n == 0)
        abort();
    for (size_t i = 0; i < l.n; i++) {
        if (!l.lines[i].name[0] || strpbrk(l.lines[i].name, " \n"))
            abort();
        if (slurm_read_mark(l.lines[i].reason, "a1", &mark) && !*mark.claim)
            abort();
    }
    slurm_lines_fini(&l);
    free(copy);
}

static void try_reservations(const char *bytes, size_t size)
{
    char *copy = mem_dup_len(bytes, size);
    struct slurm_reservations r;
    size_t sum = 0;
    slurm_read_reservations(copy, size, &r, NULL);
    for (size_t i = 0; i < r.n; i++) {
        slurm_is_window(&r.list[i], "a1");
        sum += strlen(r.list[i].name) + strlen(r.list[i].nodes) + strlen(r.list[i].users) +
               strlen(r.list[i].flags) + strlen(r.list[i].state);
    }
    if (sum > size)
        abort();
    slurm_reservations_fini(&r);
    free(copy);
}

/* Whatever is printed, what is handed to scontrol is numbers. */
static void try_jobs(const char *bytes)
{
    struct slurm_jobs jobs;
    slurm_read_jobs(bytes, &jobs, NULL);
    for (size_t i = 0; i < jobs.n; i++)
        if (!*jobs.list[i].id || strspn(jobs.list[i].id, "0123456789") != strlen(jobs.list[i].id))
            abort();
    slurm_jobs_fini(&jobs);
}

/* Whatever words are given: what is written is read as Fettle's own, and is one harmless line. */
static void try_reason(const char *words)
{
    char reason[SLURM_REASON_BYTES];
    const struct slurm_mark ours = {.claim = "12.1", .problem = "node_problem"};
    struct slurm_mark mark;
    slurm_write_reason("a1", &ours, words, reason);
    if (!slurm_read_mark(reason, "a1", &mark) || strcmp(mark.claim, ours.claim) != 0 ||
        strcmp(mark.problem, ours.problem) != 0 || strpbrk(reason, "\n\r\"'`\\"))
        abort();
}

/* What it finds is no reason of ours, and not the one that was put back. */
static void try_log(const char *log)
{
    struct slurm_lost lost;
    char path[SLURM_LOG_PATH_BYTES];
    struct slurm_mark mark;
    if (slurm_log_lost(log, "c1", "a1", NULL, &lost) &&
        (!*lost.reason || slurm_read_mark(lost.reason, "a1", &mark)))
        abort();
    if (slurm_log_lost(log, "c1", "a1", "mine", &lost) && strcmp(lost.reason, "mine") == 0)
        abort();
    slurm_read_log_path(log, path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    char boot[SLURM_BOOT_BYTES], *text = mem_dup_len(bytes, size);
    struct slurm_record record;
    try_nodes(bytes, size);
    try_reservations(bytes, size);
    slurm_read_boot(text, size, boot, NULL);
    slurm_read_state(text);
    slurm_says_not_found(text, "c1");
    try_jobs(text);
    try_reason(text);
    try_log(text);
    if (slurm_record_read(text, &record, NULL) == 0) {
        char *again = slurm_record_write(&record, 1);
        if (slurm_record_read(again, &record, NULL) < 0)
            abort();
        free(again);
    }
    free(text);
    return 0;
}
