/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_CHECKER_KERNEL_H
#define FETTLE_AGENT_CHECKER_KERNEL_H

#include "base/text.h"
#include "health/meaning.h"

#include <uv.h>

/*
 * Follows the kernel's log on the loop and keeps its meanings (check/kernel_log.h) across restarts of the
 * agent, however it ends: the facts of kernel_facts, and what kernel_forget ended, are in the agent's
 * directory of state when the call returns. A storm of lines costs a bounded part of each turn. Lines that
 * the kernel overwrote before they were read are counted and reported.
 */

struct kernel;

struct kernel_settings {
    const char *home, *root, *boot; /* borrowed; home may be NULL: nothing is kept */
    /* Something was found, said again, or over. */
    void (*on_news)(void *arg);
    void *arg;
};

/* Begins to read, and calls on_news from the loop alone. meanings are borrowed until others are given. */
struct kernel *kernel_create(uv_loop_t *loop, const struct kernel_settings *settings,
                             const struct meanings *meanings);
/* Writes down how far it came; frees it when the loop has closed its handles. */
void kernel_destroy(struct kernel *k);

void kernel_mean(struct kernel *k, const struct meanings *meanings);
/* Whether its lines are read as they come. */
bool kernel_is_followed(const struct kernel *k);
/* The facts for a check of the kernel's log. That there is no log, or that it cannot be read, is a fact
 * too. */
void kernel_facts(struct kernel *k, struct mono now, struct text *out);
/* The sequence number of the line that comes next: all facts are of lower ones. */
uint64_t kernel_next(const struct kernel *k);
/* A fault was put right: findings under these words (as in kernel_log_forget) are over when their last
 * line has a lower sequence number than until. KERNEL_ALL: every line that the log has by now, read or
 * not. */
#define KERNEL_ALL UINT64_MAX
void kernel_forget(struct kernel *k, const char *words, uint64_t until);

#endif
