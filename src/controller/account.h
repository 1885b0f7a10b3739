/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_ACCOUNT_H
#define FETTLE_CONTROLLER_ACCOUNT_H

#include "base/json.h"

#include <uv.h>

/*
 * Measures the turns of the controller's loop (base/loop.h), and renders them for the status.
 */

struct account {
    uv_prepare_t prepare;
};

/* Before the loop runs. */
void account_start(struct account *w, uv_loop_t *loop);
/* The loop has to run on afterwards. */
void account_stop(struct account *w);
/* The member "turns" of Status (doc/openapi.yaml). */
json_t *account_status(void);

#endif
