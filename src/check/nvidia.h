/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CHECK_NVIDIA_H
#define FETTLE_CHECK_NVIDIA_H

#include "check/part.h"

/*
 * Facts of NVML about GPUs, line by line, for the files that judge them: nvidia.c, and nvidia_link.c for
 * links. nvml.c describes the lines.
 */

struct gpu_line {
    const char *key;
    struct words w; /* the first is the GPU's address */
    char device[FINDING_DEVICE_BYTES_MAX + 1];
    const char *facts; /* all lines */
};
typedef void gpu_line_fn(struct look *l, const struct gpu_line *line, struct verdict *v);

/* Says which GPUs are lost or have to be reset, and that NVML does not start; fn judges the other lines. */
void gpu_lines_judge(struct look *l, const char *facts, gpu_line_fn *fn, struct verdict *v);

bool gpu_line_is(const struct gpu_line *line, const char *key);
/* A number of the line; 0 when it is malformed. */
uint64_t gpu_line_number(const struct gpu_line *line, size_t i);
/* The growth of its counter in a minute, over the last ten minutes. */
uint64_t gpu_line_grown(struct look *l, const char *what, const struct gpu_line *line, uint64_t value);

/* How busy and how hot the GPUs are, by the facts of nvidia.temperature: the mean of their use in percent,
 * and the hottest in degrees Celsius. Values without a fact stay unknown. */
struct gpu_capacity {
    bool has_use, has_celsius;
    uint64_t use, celsius;
};
void gpu_capacity_read(const char *facts, struct gpu_capacity *out);

#endif
