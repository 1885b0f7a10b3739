/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/conform/baseline_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What is half known when the room ends is given back: the leak checker sees the rest. */
static void test_the_room_ends_at_any_moment(void **state)
{
    struct err e;
    struct world *x = conformant(4, &reboots, "lx04");
    world_says(x, 2, 2, B);
    world_claims(x, 3, MINOR);
    assert_int_equal(world_sends(x, 3, MINOR, "kernel.release=6.1", 9, &e), -EBADMSG);
    char hex[FINGERPRINT_HEX + 1];
    const struct fingerprint id = world_fingerprint(C);
    fingerprint_format(&id, hex);
    world_claims(x, 2, C);
    CLEANUP_JSON json_t *half = json_pack("{s:s,s:i,s:i,s:{s:s}}", "fingerprint", hex, "part", 0, "parts", 2,
                                          "components", "kernel.release", "6.7");
    assert_int_equal(watch_components(x->w, world_now(x), world_node(x, 2), half, &e), -EAGAIN);
    x->refuse = true;
    world_run(x, 1);
    world_lead_anew(x);
    assert_null(world_cohort(x, 1)); /* and what the next one has begins empty */
    world_stands(x, 1, "unknown", "it has not sent its fingerprint since this controller started");
    world_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_room_ends_at_any_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
