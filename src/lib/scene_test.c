/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/scene_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct scene scene_open(const struct stub_answer *answers, size_t n, int timeout_ms)
{
    struct scene s = {.stub = stub_start(answers, n)};
    struct fettle_options o = {.controller = stub_path(s.stub), .timeout_ms = timeout_ms};
    assert_int_equal(fettle_open(&o, &s.f, &s.e), 0);
    return s;
}

void scene_close(struct scene *s)
{
    fettle_close(s->f);
    stub_stop(s->stub);
}
