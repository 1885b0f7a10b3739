/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_LIB_SCENE_TEST_H
#define FETTLE_LIB_SCENE_TEST_H

#include "fettle.h"
#include "lib/stub_test.h"

/*
 * A controller of prepared answers, and a handle to it.
 */
struct scene {
    struct stub *stub;
    struct fettle *f;
    struct fettle_error e;
};

/* timeout_ms as in fettle_options; 0 for the library's own. */
struct scene scene_open(const struct stub_answer *answers, size_t n, int timeout_ms);
void scene_close(struct scene *s);

#endif
