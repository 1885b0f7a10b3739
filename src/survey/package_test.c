/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/machine_test.h"
#include "survey/part.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct survey_conf NOTHING;

static void add_rpm(struct tree *t, const char *script)
{
    char path[64];
    tree_add(t, "var/lib/rpm/rpmdb.sqlite", "database");
    tree_add(t, "usr/bin/rpm", script);
    snprintf(path, sizeof path, "%s/usr/bin/rpm", t->root);
    chmod(path, 0755);
}

/* Surveys with a cache that the caller keeps, and says one component of it. */
static void expect_cached(struct tree *t, struct survey_cache *cache, const char *name, const char *said)
{
    struct components c = {0};
    struct err e = {0};
    assert_int_equal(survey_read(t->root, "a", &NOTHING, &machine_calls, cache, &c, &e), 0);
    assert_string_equal(machine_say(&c, name), said);
    components_fini(&c);
}

static const char ONE[] = "Package: one\nStatus: install ok installed\nArchitecture: all\nVersion: 1\n";

static void only_installed_packages_count(void **state)
{
    tree_add(*state, "var/lib/dpkg/status",
             "Package: one\nStatus: install ok installed\nArchitecture: all\nVersion: 1\n\n"
             "Package: two\nStatus: deinstall ok config-files\nArchitecture: all\nVersion: 1\n\n"
             "Package: three\nStatus: install ok half-configured\nArchitecture: all\nVersion: 1\n\n"
             "Package: four\nStatus: hold ok installed\nArchitecture: all\nVersion: 4\n");
    machine_expect(*state, "package.one", "1 all");
    machine_expect(*state, "package.two", "-");
    machine_expect(*state, "package.three", "-");
    machine_expect(*state, "package.four", "4 all");
}

static void a_damaged_database_is_unknown_as_a_whole(void **state)
{
    tree_add(*state, "var/lib/dpkg/status",
             "Package: one\nStatus: install ok installed\nArchitecture: all\nVersion: 1\n\n"
             "Package: two\nStatus: install ok installed\n");
    machine_expect(*state, "package.*",
                   "? /var/lib/dpkg/status: an installed package without a name, version or architecture");
    machine_expect(*state, "package.one", "-");
}

static void a_database_without_its_file_is_unknown(void **state)
{
    tree_add(*state, "var/lib/dpkg/", "");
    machine_expect(*state, "package.*", "? /var/lib/dpkg/status: No such file or directory");
}

static void no_database_is_no_packages(void **state)
{
    machine_expect(*state, "package.*", "-");
}

static void rpm_is_asked_in_a_process_of_its_own(void **state)
{
    struct tree *t = *state;
    add_rpm(t,
            "#!/bin/sh\n[ \"$3\" = \"${0%/usr/bin/rpm}/var/lib/rpm\" ] || [ \"$2\" = --dbpath ] || exit 9\n"
            "echo 'kernel 0:5.14.0-503.11.1.el9 x86_64'\necho 'kernel 0:5.14.0-427.el9 x86_64'\n"
            "echo 'gpg-pubkey 0:8483c65d-5ccc5b19 (none)'\n");
    machine_expect(t, "package.kernel", "0:5.14.0-427.el9 x86_64, 0:5.14.0-503.11.1.el9 x86_64");
    machine_expect(t, "package.gpg-pubkey", "0:8483c65d-5ccc5b19 (none)");
}

static void an_rpm_that_fails_is_unknown(void **state)
{
    add_rpm(*state, "#!/bin/sh\necho 'one 1 x86_64'\nexit 1\n");
    machine_expect(*state, "package.*", "? rpm -qa: exit status 1");
    add_rpm(*state, "#!/bin/sh\necho nonsense\n");
    machine_expect(*state, "package.*", "? rpm -qa says \"nonsense\"");
}

static void an_rpm_that_hangs_is_unknown(void **state)
{
    struct survey_calls calls = machine_calls;
    struct components c = {0};
    calls.timeout = span_ms(300);
    add_rpm(*state, "#!/bin/sh\nsleep 100\n");
    machine_survey_as(*state, "a", &NOTHING, &calls, &c);
    assert_string_equal(machine_say(&c, "package.*"), "? rpm -qa: no answer within 300ms");
    components_fini(&c);
}

/* The cache is told apart from a reading by a lie in it. */
static void an_unchanged_database_is_not_read_again(void **state)
{
    struct survey_cache cache = {0};
    tree_add(*state, "var/lib/dpkg/status", ONE);
    expect_cached(*state, &cache, "package.one", "1 all");
    assert_true(cache.packages_stamp != 0);
    assert_int_equal(cache.packages.n, 1);
    cache.packages.list[0].value[0] = '7';
    expect_cached(*state, &cache, "package.one", "7 all");
    survey_cache_fini(&cache);
}

static void a_changed_database_is_read_again(void **state)
{
    struct survey_cache cache = {0};
    tree_add(*state, "var/lib/dpkg/status", ONE);
    expect_cached(*state, &cache, "package.one", "1 all");
    tree_add(*state, "var/lib/dpkg/status",
             "Package: two\nStatus: install ok installed\nArchitecture: all\nVersion: 2\n");
    expect_cached(*state, &cache, "package.one", "-");
    expect_cached(*state, &cache, "package.two", "2 all");
    survey_cache_fini(&cache);
}

static void a_list_that_could_not_be_read_is_not_kept(void **state)
{
    struct survey_cache cache = {0};
    tree_add(*state, "var/lib/dpkg/status", "Status: install ok installed\n");
    expect_cached(*state, &cache, "package.one", "-");
    assert_int_equal(cache.packages_stamp, 0);
    survey_cache_fini(&cache);
}

static void thousands_of_packages_fit(void **state)
{
    CLEANUP_TEXT struct text many = {0};
    for (int i = 0; i < 12000; i++)
        text_printf(
            &many,
            "Package: library-%d\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.%d\n\n", i,
            i);
    tree_add(*state, "var/lib/dpkg/status", many.s);
    machine_expect(*state, "package.library-11999", "1.11999 amd64");
    machine_expect(*state, "package.*", "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(only_installed_packages_count),
        IN_TREE(a_damaged_database_is_unknown_as_a_whole),
        IN_TREE(a_database_without_its_file_is_unknown),
        IN_TREE(no_database_is_no_packages),
        IN_TREE(rpm_is_asked_in_a_process_of_its_own),
        IN_TREE(an_rpm_that_fails_is_unknown),
        IN_TREE(an_rpm_that_hangs_is_unknown),
        IN_TREE(an_unchanged_database_is_not_read_again),
        IN_TREE(a_changed_database_is_read_again),
        IN_TREE(a_list_that_could_not_be_read_is_not_kept),
        IN_TREE(thousands_of_packages_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
