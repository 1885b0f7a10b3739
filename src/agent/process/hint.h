/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_PROCESS_HINT_H
#define FETTLE_AGENT_PROCESS_HINT_H

#include <stdbool.h>
#include <sys/types.h>
#include <uv.h>

/*
 * Events that the kernel announces at once and that a look would find only when it is due: the list of
 * mounts changed, or a process ended. A hint is no result but a reason to look. Without hints, everything
 * is still found, only later.
 */

/* The list of mounts. */
struct mount_hint;
typedef void hint_fn(void *arg);
/* NULL when the kernel gives none. */
struct mount_hint *mount_hint_create(uv_loop_t *loop, hint_fn *fn, void *arg);
void mount_hint_destroy(struct mount_hint *h);

/* One process. */
struct process_hint;
struct process_hint *process_hint_create(uv_loop_t *loop, hint_fn *fn, void *arg);
void process_hint_destroy(struct process_hint *h);
/* From now on this process, until it ends. False when it has ended already. */
bool process_hint_watch(struct process_hint *h, pid_t pid);
/* Whether the end of a process will be told. */
bool process_hint_stands(const struct process_hint *h);

#endif
