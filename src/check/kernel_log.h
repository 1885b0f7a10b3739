/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CHECK_KERNEL_LOG_H
#define FETTLE_CHECK_KERNEL_LOG_H

#include "check/kmsg_follow.h"
#include "check/look.h"
#include "health/meaning.h"

/*
 * What the kernel said and what is still true of it: the findings behind the check kernel.log. Whoever
 * follows the log tells it each record; it has the facts that judge_KERNEL_LOG judges.
 *
 * How long a finding stays:
 *   - what a person or a remedy has to put right (reset, reboot, hardware, lost): until the next boot, or
 *     until kernel_log_forget says that it was. That nothing more is said proves nothing;
 *   - what another line ends (an NFS server that answers again): until that line, an hour at most; it is a
 *     warning until it has lasted for ten minutes, since a switch that boots takes some;
 *   - everything else: for the check's Keep (10m, a day at most) after it was last said.
 * What was said very often is worse than what was said once; the tables say of what. It stays that for Keep,
 * whatever else is said. Lines of one finding within a second are one event, and count once.
 *
 * At most 128 findings, of one code and device each; of more, the mildest and oldest go.
 */

enum { KERNEL_LOG_FINDINGS_MAX = 128 };

struct kernel_log;
/* meanings are borrowed, and may be another's later (kernel_log_mean). */
struct kernel_log *kernel_log_create(const struct meanings *meanings);
void kernel_log_destroy(struct kernel_log *k);
void kernel_log_mean(struct kernel_log *k, const struct meanings *meanings);
/* Processes that lines name are looked for below this root (borrowed), so that findings name their work. */
void kernel_log_root(struct kernel_log *k, const char *root);

/* Takes a record. Its own time counts, but never a later time than now. True when a finding came, went, or
 * was repeated. */
bool kernel_log_take(struct kernel_log *k, struct mono now, const struct kmsg *r);
/* Takes the news that this many records were overwritten before they were read, as kmsg_next says. True
 * when there is a finding because of it; never for 0. */
bool kernel_log_lose(struct kernel_log *k, struct mono now, uint64_t lost);

/* Ends the findings under these words whose last line has a lower sequence number than until; others stay.
 * Words have blanks between them. A word is a code, for any device, or a code and a device as finding_word
 * has them. True when there was such a finding. */
bool kernel_log_forget(struct kernel_log *k, const char *words, uint64_t until);

/* The facts, for look_judge. */
void kernel_log_facts(const struct kernel_log *k, struct mono now, struct text *out);

/* Facts and cursor as a text that outlives the agent, and back. A text of another boot than `boot`, or a
 * damaged one, leaves *k and *cursor empty, and the whole log is read again. */
void kernel_log_save(const struct kernel_log *k, struct mono now, const struct kmsg_cursor *cursor,
                     struct text *out);
void kernel_log_load(struct kernel_log *k, const char *text, const char *boot, struct kmsg_cursor *cursor);

/* As a gatherer: reads the whole log below l->root at once, with the check's Meanings. For a look by hand,
 * where the log is not followed. */
void kernel_log_gather(const struct look *l, struct text *out);

#endif
