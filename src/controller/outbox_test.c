/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/outbox.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KEY "effect/ochami.lx1"
#define WANT                                                                                               \
    "{\"id\":\"11\",\"xname\":\"x0c0s0b0n0\",\"want\":{\"flag\":\"Warning\",\"status\":\"drift:major:0\"," \
    "\"group\":\"drifted\",\"message\":\"m\"},\"done\":null}"

/* --- in the place of the driver, the committer and the watch ---------------------------------- */

static struct {
    bool exists;
    struct ochami_sink sink;
    unsigned created, configured, told;
    char key[128];
    char smd[64];
} driver;

struct ochami *ochami_create(uv_loop_t *loop, const struct ochami_conf *conf, const struct ochami_sink *sink)
{
    driver.exists = true;
    driver.sink = *sink;
    driver.created++;
    snprintf(driver.smd, sizeof driver.smd, "%s", conf->smd);
    return (struct ochami *)&driver;
}

void ochami_destroy(struct ochami *o)
{
    driver.exists = false;
}

void ochami_configure(struct ochami *o, const struct ochami_conf *conf)
{
    driver.configured++;
    snprintf(driver.smd, sizeof driver.smd, "%s", conf->smd);
}

void ochami_effect(struct ochami *o, const char *key, const char *value)
{
    assert_true(driver.exists);
    driver.told++;
    snprintf(driver.key, sizeof driver.key, "%s%s", key, value ? "" : " is gone");
}

size_t ochami_waiting(const struct ochami *o)
{
    return 7;
}

static struct {
    unsigned n;
    enum command_kind kind;
    char set[256];
    outcome_fn *fn;
    void *arg;
} submitted;

void committer_submit(struct committer *k, const struct command *cmd, outcome_fn *fn, void *arg)
{
    submitted.n++;
    submitted.kind = cmd->kind;
    snprintf(submitted.set, sizeof submitted.set, "%s", cmd->set);
    submitted.fn = fn;
    submitted.arg = arg;
}

static void committed(int rc)
{
    struct err why;
    err_set(&why, rc, "refused");
    const struct outcome o = {.rc = rc, .why = rc ? &why : NULL};
    submitted.fn(submitted.arg, &o);
}

int watch_may_reboot(const struct watch *w, struct mono now, const struct member *m, const char *boot,
                     struct err *e)
{
    return strcmp(boot, "right") == 0 ? 0 : err_set(e, -EBUSY, "node %s is busy", m->name);
}

static char noticed[256];

static void on_notice(void *arg, const char *what, const char *nodes, const char *text)
{
    snprintf(noticed, sizeof noticed, "%s %s: %s", what, nodes, text);
}

/* --------------------------------------------------------------------------------------------- */

static const struct ochami_conf none = {.group = "drifted"}, smd = {.smd = "http://smd", .group = "drifted"},
                                other = {.smd = "http://other", .group = "drifted"};
static struct cluster *cluster;
static struct outbox *outbox;

static int setup(void **state)
{
    memset(&driver, 0, sizeof driver);
    memset(&submitted, 0, sizeof submitted);
    cluster = cluster_create();
    cluster_meet(cluster, "lx1");
    const struct outbox_setup with = {.cluster = cluster, .notice = on_notice};
    outbox = outbox_create(&with, *state ? *state : &smd);
    return 0;
}

static int teardown(void **state)
{
    outbox_stop(outbox);
    assert_false(driver.exists);
    outbox_destroy(outbox);
    cluster_destroy(cluster);
    return 0;
}

static void put(const char *value)
{
    struct err e;
    if (cluster_put(cluster, KEY, value, &e) < 0)
        fail_msg("%s", e.msg);
}

static void without_a_service_effects_wait(void **state)
{
    put(WANT);
    assert_false(driver.exists);
    assert_int_equal(outbox_waiting(outbox), 0);
    outbox_configure(outbox, &smd);
    assert_int_equal(driver.told, 1); /* what waited meanwhile */
    assert_string_equal(driver.key, KEY);
    assert_int_equal(outbox_waiting(outbox), 7);
    outbox_configure(outbox, &none);
    assert_false(driver.exists);
    put(NULL); /* nobody to tell */
}

static void an_effect_is_told_as_it_changes(void **state)
{
    put(WANT);
    assert_string_equal(driver.key, KEY);
    put(NULL);
    assert_string_equal(driver.key, KEY " is gone");
    assert_int_equal(driver.told, 2);
}

static void a_driver_is_configured_and_not_made_anew(void **state)
{
    outbox_configure(outbox, &other);
    assert_int_equal(driver.created, 1);
    assert_int_equal(driver.configured, 1);
    assert_string_equal(driver.smd, "http://other");
}

static void a_driver_that_was_made_anew_is_told_once(void **state)
{
    put(WANT);
    outbox_configure(outbox, &none);
    outbox_configure(outbox, &smd);
    assert_int_equal(driver.told, 2);
    put(NULL);
    assert_int_equal(driver.told, 3);
}

static void a_result_is_committed(void **state)
{
    driver.sink.result(driver.sink.arg, KEY, "{\"step\":\"asked\"}");
    assert_int_equal(submitted.n, 1);
    assert_int_equal(submitted.kind, COMMAND_EFFECT);
    assert_string_equal(submitted.set, "{\"key\":\"" KEY "\",\"done\":{\"step\":\"asked\"}}");
    committed(0);
    outbox_turn(outbox, mono_add(mono_now(), span_s(5)));
    assert_int_equal(submitted.n, 1);
}

static void what_cannot_be_committed_is_tried_again(void **state)
{
    driver.sink.result(driver.sink.arg, KEY, "null");
    committed(-EAGAIN);
    outbox_turn(outbox, mono_now());
    assert_int_equal(submitted.n, 1);
    outbox_turn(outbox, mono_add(mono_now(), span_s(2)));
    assert_int_equal(submitted.n, 2);
    assert_string_equal(submitted.set, "{\"key\":\"" KEY "\",\"done\":null}");
    outbox_turn(outbox, mono_add(mono_now(), span_s(4))); /* it is on its way */
    assert_int_equal(submitted.n, 2);
    committed(-EIO);
    driver.sink.result(driver.sink.arg, KEY, "7"); /* newer: goes at once, and in its place */
    assert_int_equal(submitted.n, 3);
    committed(0);
    outbox_turn(outbox, mono_add(mono_now(), span_s(5)));
    assert_int_equal(submitted.n, 3);
}

static void a_newer_result_comes_after_the_older(void **state)
{
    driver.sink.result(driver.sink.arg, KEY, "1");
    driver.sink.result(driver.sink.arg, KEY, "2");
    driver.sink.result(driver.sink.arg, KEY, "3");
    assert_int_equal(submitted.n, 1);
    committed(0);
    assert_int_equal(submitted.n, 2);
    assert_string_equal(submitted.set, "{\"key\":\"" KEY "\",\"done\":3}");
    committed(0);
    assert_int_equal(submitted.n, 2);
}

static void a_result_of_what_is_gone_is_dropped(void **state)
{
    driver.sink.result(driver.sink.arg, KEY, "1");
    committed(-ENOENT);
    outbox_turn(outbox, mono_add(mono_now(), span_s(5)));
    assert_int_equal(submitted.n, 1);
}

static void who_may_reboot_is_asked_of_the_watch(void **state)
{
    struct err e = {0};
    assert_int_equal(driver.sink.may_reboot(driver.sink.arg, "lx1", "right", &e), 0);
    assert_int_equal(driver.sink.may_reboot(driver.sink.arg, "lx1", "wrong", &e), -EBUSY);
    assert_int_equal(driver.sink.may_reboot(driver.sink.arg, "lx2", "right", &e), -ENOENT);
    assert_string_equal(e.msg, "no node \"lx2\"");
}

static void trouble_is_an_alarm_until_it_is_over(void **state)
{
    struct err why;
    err_set(&why, -ECONNREFUSED, "connection refused");
    driver.sink.trouble(driver.sink.arg, "SMD", &why);
    assert_string_equal(noticed, "alarm.openchami : SMD: connection refused");
    driver.sink.trouble(driver.sink.arg, "SMD", NULL);
    assert_string_equal(noticed, "alarm.over : SMD answers again");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate_setup_teardown(without_a_service_effects_wait, setup, teardown,
                                                 (void *)(uintptr_t)&none),
        TEST(an_effect_is_told_as_it_changes),
        TEST(a_driver_is_configured_and_not_made_anew),
        TEST(a_driver_that_was_made_anew_is_told_once),
        TEST(a_result_is_committed),
        TEST(what_cannot_be_committed_is_tried_again),
        TEST(a_newer_result_comes_after_the_older),
        TEST(a_result_of_what_is_gone_is_dropped),
        TEST(who_may_reboot_is_asked_of_the_watch),
        TEST(trouble_is_an_alarm_until_it_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
