/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_STORE_SUITE_TEST_H
#define FETTLE_STORE_SUITE_TEST_H

#include "store/store.h"

/* The promises of store.h that do not depend on the engine, as tests. Each engine's program runs them on its
 * own. */

struct suite_engine {
    void *(*begin)(void); /* a new place, without a state */
    struct store *(*open)(void *place);
    void (*end)(void *place);
};

/* Returns how many cases failed. */
int suite_run(const struct suite_engine *of);

#endif
