/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_FINGERPRINT_GLANCE_H
#define FETTLE_AGENT_FINGERPRINT_GLANCE_H

#include "survey/survey.h"

#include <stdint.h>
#include <uv.h>

/*
 * The cheap part of a reading, for a job that is about to start. A child of its own stays for it, so that
 * neither a fork nor a look at the files that hangs holds up the job.
 */

struct glance;

/* All but the loop is borrowed as long as it exists. The child knows conf as it was when it was started:
 * glance_renew after a change. */
struct glance *glance_create(uv_loop_t *loop, const char *root, const char *node,
                             const struct survey_conf *conf);
/* Calls back nobody from now on. */
void glance_destroy(struct glance *g);
void glance_renew(struct glance *g);

/* One at a time. fn has the value of survey_glance, or NULL where it could not be read within half a second.
 * It may be called before this returns. */
typedef void glance_fn(void *arg, const uint64_t *value);
void glance_take(struct glance *g, glance_fn *fn, void *arg);

#endif
