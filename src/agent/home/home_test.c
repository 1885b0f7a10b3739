/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/home/home.h"

#include "agent/fake_test.h"
#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static bool exists(const char *dir, const char *file)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    return access(path, F_OK) == 0;
}

static void rename_in(const char *dir, const char *from, const char *to)
{
    char a[512], b[512];
    snprintf(a, sizeof a, "%s/%s", dir, from);
    snprintf(b, sizeof b, "%s/%s", dir, to);
    assert_int_equal(rename(a, b), 0);
}

static void stores_and_loads(void **state)
{
    struct fake *f = *state;
    CLEANUP_FREE char *home = fake_home(f, "lx01", span_s(3600));
    struct home_identity id;
    struct stat st;
    char path[512];
    assert_int_equal(home_load(home, &id, NULL), 0);
    assert_string_equal(id.name, "lx01");
    assert_non_null(strstr(id.key, "PRIVATE KEY"));
    home_identity_fini(&id);
    snprintf(path, sizeof path, "%s/node.key", home);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_false(exists(home, "node.key.new"));
    assert_false(exists(home, "node.pem.new"));
}

static void an_empty_directory_has_no_identity(void **state)
{
    struct fake *f = *state;
    struct home_identity id;
    struct err e = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/none", f->dir);
    assert_int_equal(home_load(path, &id, &e), -ENOENT);
    assert_non_null(strstr(e.msg, path));
}

static void a_directory_that_may_not_be_read_is_not_an_empty_one(void **state)
{
    struct fake *f = *state;
    struct home_identity id;
    struct err e = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/file/home", f->dir);
    fake_write(f->dir, "file", "");
    assert_int_equal(home_load(path, &id, &e), -ENOTDIR);
    assert_non_null(strstr(e.msg, path));
}

static void damaged_files_are_refused_with_their_name(void **state)
{
    struct fake *f = *state;
    CLEANUP_FREE char *home = fake_home(f, "lx01", span_s(3600));
    struct home_identity id;
    struct err e = {0};
    fake_write(home, "node.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n");
    assert_int_equal(home_load(home, &id, &e), -EILSEQ);
    assert_non_null(strstr(e.msg, "node.pem"));
    assert_null(id.key);
}

/* A machine may stop between any two steps of replacing the pair: it is the old or the new one. */
static void a_pair_is_replaced_whole_whenever_the_machine_stops(void **state)
{
    struct fake *f = *state;
    CLEANUP_FREE char *home = fake_home(f, "lx01", span_s(3600));
    struct home_identity old, id;
    assert_int_equal(home_load(home, &old, NULL), 0);
    CLEANUP_FREE char *other = fake_home(f, "lx02", span_s(3600));
    struct home_identity next;
    assert_int_equal(home_load(other, &next, NULL), 0);

    fake_write(home, "node.key.new", next.key); /* before the certificate was written */
    assert_int_equal(home_load(home, &id, NULL), 0);
    assert_string_equal(id.key, old.key);
    assert_false(exists(home, "node.key.new"));
    home_identity_fini(&id);

    fake_write(home, "node.key.new", next.key); /* before the first rename */
    fake_write(home, "node.pem.new", next.cert);
    assert_int_equal(home_load(home, &id, NULL), 0);
    assert_string_equal(id.name, "lx01");
    assert_string_equal(id.key, old.key);
    home_identity_fini(&id);

    fake_write(home, "node.key.new", next.key); /* between the two */
    fake_write(home, "node.pem.new", next.cert);
    rename_in(home, "node.key.new", "node.key");
    assert_int_equal(home_load(home, &id, NULL), 0);
    assert_string_equal(id.name, "lx02");
    assert_string_equal(id.key, next.key);
    assert_false(exists(home, "node.pem.new"));
    home_identity_fini(&id);
    home_identity_fini(&old);
    home_identity_fini(&next);
}

static void keeps_the_controllers(void **state)
{
    struct fake *f = *state;
    struct address_list list = {0}, got = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/new", f->dir);
    assert_int_equal(home_load_controllers(path, &got, NULL), 0);
    assert_int_equal(got.n, 0);
    address_list_add(&list, "a:1,[::1]:2", NULL);
    assert_int_equal(home_store_controllers(path, &list, NULL), 0);
    assert_int_equal(home_load_controllers(path, &got, NULL), 0);
    assert_int_equal(got.n, 2);
    assert_string_equal(got.at[1].host, "::1");
    fake_write(path, "controllers", "a:nonsense\n");
    struct err e = {0};
    assert_int_equal(home_load_controllers(path, &got, &e), -EINVAL);
    assert_non_null(strstr(e.msg, "controllers"));
    memset(&got, 0, sizeof got);
    assert_int_equal(home_load_learned(path, &got, NULL), 0);
    assert_int_equal(got.n, 0);
    assert_int_equal(home_write(path, HOME_LEARNED, "c1:6120\nc2:6120\n", true, NULL), 0);
    assert_int_equal(home_load_learned(path, &got, NULL), 0);
    assert_int_equal(got.n, 2);
}

static void a_certificate_names_its_node(void **state)
{
    struct fake *f = *state;
    char longest[240], name[256];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    const char *const names[] = {"a", "lx01", "node-01.example.org", longest};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CLEANUP_FREE char *home = fake_home(f, names[i], span_s(3600));
        struct home_identity id;
        struct err e = {0};
        if (home_load(home, &id, &e))
            fail_msg("%s", e.msg);
        assert_string_equal(id.name, names[i]);
        home_identity_fini(&id);
    }
    assert_int_equal(home_cert_name(authority_pem(f->ca), name, NULL), -EILSEQ);
    assert_int_equal(home_cert_name("", name, NULL), -EILSEQ);
}

static void renews_in_the_last_third(void **state)
{
    assert_false(home_renewal_due(span_s(90), span_s(0)));
    assert_false(home_renewal_due(span_s(31), span_s(59)));
    assert_true(home_renewal_due(span_s(29), span_s(61)));
    assert_true(home_renewal_due(span_s(-1), span_s(0)));
    assert_false(home_renewal_due(span_s(90), span_s(-1000))); /* the clock went back */
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fake_setup, fake_teardown)
    const struct CMUnitTest tests[] = {
        T(stores_and_loads),
        T(an_empty_directory_has_no_identity),
        T(a_directory_that_may_not_be_read_is_not_an_empty_one),
        T(damaged_files_are_refused_with_their_name),
        T(a_pair_is_replaced_whole_whenever_the_machine_stops),
        T(keeps_the_controllers),
        T(a_certificate_names_its_node),
        cmocka_unit_test(renews_in_the_last_third),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
