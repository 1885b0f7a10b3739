/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has the driver make each kind of call, against the stand-in, and prints what it sent as JSON, for
 * contract_test.py.
 */
#include "driver/ochami_fixture_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X "x0c0s0b0n0"
#define IMAGE \
    "{\"kernel\":\"http://boot/vmlinuz\",\"initrd\":\"http://boot/initrd\",\"params\":\"console=ttyS0\"}"
#define OTHER "{\"kernel\":null,\"initrd\":null,\"params\":\"console=ttyS0 quiet\"}"

static bool is_asked(struct world *w)
{
    CLEANUP_FREE char *done = world_done(w, "effect/reboot.lx01");
    return strstr(done, "\"asked\"") != NULL;
}

static void reboot(struct world *w, const char *id, const char *image)
{
    world_reboot(w, "lx01", X, id, image);
    world_until(w, is_asked);
    world_tell(w, "/test/transitions", "{\"status\":\"completed\"}");
    world_settle(w);
}

static void test_calls(void **state)
{
    struct world *w = *state;
    world_want(w, "lx01", X, WANT("major")); /* makes the group */
    world_settle(w);
    world_want(w, "lx01", X, NULL);
    world_settle(w);
    world_want(w, "lx01", X, WANT("minor")); /* joins it */
    world_settle(w);
    reboot(w, "r1", IMAGE); /* PUT */
    reboot(w, "r2", OTHER); /* PATCH */
    json_decref(world_ask(w, "POST", "/pcs/transitions",
                          "{\"operation\":\"soft-restart\",\"location\":[{\"xname\":\"" X "\"}]}"));
    reboot(w, "r3", NULL); /* adopts */
    CLEANUP_JSON json_t *all = world_ask(w, "GET", "/test/log", NULL);
    CLEANUP_FREE char *text = json_write(all);
    printf("%s\n", text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_calls, world_setup, world_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
