/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/machine_test.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void the_stamp_changes_with_files(void **state)
{
    static const struct leaf changes[] = {
        {"var/lib/dpkg/status", "Package: slurmd\n"},
        {"var/lib/rpm/rpmdb.sqlite", "another database"},
        {"etc/os-release", "ID=other\n"},
        {"etc/gres.conf", "NodeName=all\n"},
    };
    struct tree *t = *state;
    struct survey_conf conf = {0};
    survey_conf_name(&conf, "file./etc/gres.conf");
    machine_add(t, "gpu.tree");
    uint64_t last = survey_stamp(t->root, &conf);
    assert_int_equal(survey_stamp(t->root, &conf), last);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        tree_add(t, changes[i].path, changes[i].text);
        uint64_t now = survey_stamp(t->root, &conf);
        if (now == last)
            fail_msg("%s makes no difference to the stamp", changes[i].path);
        last = now;
    }
    survey_conf_fini(&conf);
}

static void a_path_on_a_server_is_not_local(void **state)
{
    struct tree *t = *state;
    CLEANUP_HOSTLIST struct hostlist paths = {0}, local = {0};
    tree_add(t, "proc/self/mountinfo",
             "22 1 259:2 / / rw - xfs /dev/nvme0n1p2 rw\n23 22 0:30 / /home rw - nfs4 srv:/home rw\n");
    hostlist_add(&paths, "/home/me/x");
    hostlist_add(&paths, "/etc/x");
    survey_local(t->root, &paths, &local);
    assert_int_equal(local.n, 1);
    assert_string_equal(local.names[0], "/etc/x");
}

static void packages_images_and_named_files_are_watched(void **state)
{
    struct survey_conf conf = {0};
    CLEANUP_HOSTLIST struct hostlist paths = {0};
    CLEANUP_TEXT struct text all = {0};
    survey_conf_name(&conf, "file./etc/gres.conf");
    survey_conf_name(&conf, "file./proc/version");
    survey_watched(&conf, &paths);
    for (size_t i = 0; i < paths.n; i++)
        text_printf(&all, "%s ", paths.names[i]);
    assert_string_equal(all.s, "/var/lib/dpkg/status /var/lib/rpm/Packages /var/lib/rpm/Packages.db "
                               "/var/lib/rpm/rpmdb.sqlite /var/lib/rpm/rpmdb.sqlite-wal "
                               "/usr/lib/sysimage/rpm/Packages /usr/lib/sysimage/rpm/Packages.db "
                               "/usr/lib/sysimage/rpm/rpmdb.sqlite /usr/lib/sysimage/rpm/rpmdb.sqlite-wal "
                               "/etc/os-release "
                               "/usr/lib/os-release /run/fettle/image /etc/fettle-image /etc/gres.conf ");
    survey_conf_fini(&conf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(the_stamp_changes_with_files),
        IN_TREE(a_path_on_a_server_is_not_local),
        cmocka_unit_test(packages_images_and_named_files_are_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
