/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define KEY_A "02aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define KEY_B "03bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static struct command admission(const char *name, const char *key)
{
    return (struct command){.kind = COMMAND_CONTROLLER_ADMIT,
                            .actor = "ann",
                            .at = {6000000000},
                            .controller = {name, key, "sealed"}};
}

static struct command removal(const char *name, const char *reason)
{
    return (struct command){.kind = COMMAND_CONTROLLER_REMOVE,
                            .actor = "bob",
                            .at = {7000000000},
                            .reason = reason,
                            .controller = {name, NULL, NULL}};
}

/* Decides it, and takes the records. */
static int carry_out(struct world *w, const struct command *cmd, struct decision *d, struct err *e)
{
    *d = (struct decision){0};
    int rc = cluster_decide(w->c, cmd, 0, d, e);
    for (size_t i = 0; rc == 0 && i < d->n_ops; i++)
        assert_int_equal(cluster_put(w->c, d->ops[i].key, d->ops[i].value, NULL), 0);
    return rc;
}

static size_t records_of(struct world *w, const struct command *cmd)
{
    struct decision d;
    assert_int_equal(carry_out(w, cmd, &d, NULL), 0);
    size_t n = d.n_ops;
    decision_fini(&d);
    return n;
}

static void refused(struct world *w, const struct command *cmd, int code, const char *part)
{
    struct decision d;
    struct err e = {0};
    assert_int_equal(carry_out(w, cmd, &d, &e), code);
    assert_non_null(strstr(e.msg, part));
}

static void test_an_admission_is_a_record_and_an_entry(void **state)
{
    struct world *w = *state;
    struct decision d;
    CLEANUP_TEXT struct text fields = {0};
    const struct command cmd = admission("c2", KEY_A);
    assert_int_equal(carry_out(w, &cmd, &d, NULL), 0);
    entry_fields_write(&d.fields, &fields);
    assert_string_equal(fields.s, "\"controllers\":[\"c2\"]");
    assert_string_equal(d.text, "controller c2 has the authority, sealed for its key " KEY_A);
    decision_fini(&d);
    const struct controller_record *r = cluster_controller(w->c, "c2");
    assert_non_null(r);
    assert_string_equal(r->key, KEY_A);
    assert_string_equal(r->envelope, "sealed");
    assert_string_equal(r->by, "ann");
    assert_int_equal(records_of(w, &cmd), 0); /* the same again */
}

static void test_a_name_has_one_key_until_it_is_removed(void **state)
{
    struct world *w = *state;
    const struct command first = admission("c2", KEY_A), second = admission("c2", KEY_B);
    const struct command gone = removal("c2", "new disk");
    assert_int_equal(records_of(w, &first), 1);
    refused(w, &second, -EEXIST, "remove it first");
    assert_int_equal(records_of(w, &gone), 1);
    assert_null(cluster_controller(w->c, "c2")->envelope);
    assert_string_equal(cluster_controller(w->c, "c2")->why, "new disk");
    assert_int_equal(records_of(w, &gone), 0);
    assert_int_equal(records_of(w, &second), 1);
    assert_string_equal(cluster_controller(w->c, "c2")->key, KEY_B);
}

/* Also the one in use; the next process of a controller that comes back has a higher number. */
static void test_a_removal_ends_all_certificates(void **state)
{
    struct world *w = *state;
    const struct command gone = removal("c1", "sold");
    static const char record[] =
        "{\"least\":\"0\",\"ends\":\"0\",\"made\":[{\"serial\":\"7\",\"key\":\"1\",\"role\":\"\","
        "\"at\":\"1\",\"from\":\"1\",\"until\":\"9000000000000\",\"by\":\"fettled\"}]}";
    assert_int_equal(cluster_put(w->c, "certificate/controller:c1", record, NULL), 0);
    assert_int_equal(cluster_certificate_judge(w->c, "controller:c1", 7, NULL), 0);
    assert_int_equal(records_of(w, &gone), 2);
    assert_int_equal(cluster_certificate_judge(w->c, "controller:c1", 7, NULL), -EPERM);
    assert_int_equal(cluster_certificate_judge(w->c, "controller:c1", 6, NULL), -EPERM);
    assert_int_equal(cluster_certificate_judge(w->c, "controller:c1", 8, NULL), 0);
}

static void test_what_is_refused(void **state)
{
    struct world *w = *state;
    const struct command no_name = admission("c 2", KEY_A), no_key = admission("c2", "02aa");
    const struct command upper =
        admission("c2", "02AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    const struct command no_reason = removal("c2", ""), nobody = removal("", "gone");
    struct command empty = admission("c2", KEY_A);
    empty.controller.envelope = "";
    refused(w, &no_name, -EINVAL, "is not the name of a controller");
    refused(w, &no_key, -EINVAL, "no key");
    refused(w, &upper, -EINVAL, "no key");
    refused(w, &empty, -EINVAL, "nothing sealed");
    refused(w, &no_reason, -EINVAL, "reason");
    refused(w, &nobody, -EINVAL, "is not the name of a controller");
    assert_int_equal(cluster_controllers(w->c), 0);
}

static void test_there_are_not_too_many(void **state)
{
    struct world *w = *state;
    const struct command more = admission("one-more", KEY_A);
    for (int i = 0; i < CONTROLLERS_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", i);
        const struct command cmd = admission(name, KEY_A);
        assert_int_equal(records_of(w, &cmd), 1);
    }
    refused(w, &more, -EBUSY, "have a record already");
    const struct command gone = removal("c3", "sold");
    assert_int_equal(records_of(w, &gone), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_admission_is_a_record_and_an_entry, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(test_a_name_has_one_key_until_it_is_removed, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(test_a_removal_ends_all_certificates, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_what_is_refused, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_there_are_not_too_many, world_setup, world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
