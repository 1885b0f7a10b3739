/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "probe/probe.h"
#include "probe/tree_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void expect_work(const struct tree *t, const char *json)
{
    json_t *work = NULL;
    struct err e = {0};
    if (probe_work(t->root, &work, &e) < 0)
        fail_msg("%s", e.msg);
    CLEANUP_FREE char *text = json_write(work);
    CLEANUP_TEXT struct text same = {0};
    json_decref(work);
    assert_string_equal(text, json);
    assert_int_equal(probe_work_text(t->root, &same, NULL), 0);
    assert_string_equal(same.s, json);
}

static void expect_unknown(const struct tree *t, int code, const char *sentence)
{
    json_t *work = NULL;
    struct err e = {0};
    assert_int_equal(probe_work(t->root, &work, &e), code);
    assert_null(work);
    CLEANUP_TEXT struct text none = {0};
    assert_int_equal(probe_work_text(t->root, &none, NULL), code);
    assert_int_equal(none.len, 0);
    if (!strstr(e.msg, sentence))
        fail_msg("\"%s\" without \"%s\"", e.msg, sentence);
}

static void test_no_directory_is_idle(void **state)
{
    expect_work(*state, "[]");
}

static void test_an_empty_directory_is_idle(void **state)
{
    tree_add(*state, "run/fettle/work/", NULL);
    expect_work(*state, "[]");
}

static void test_files(void **state)
{
    struct tree *t = *state;
    tree_add(t, "run/fettle/work/render.7", "");
    tree_add(t, "run/fettle/work/k8s.pod-1", "");
    tree_add(t, "run/fettle/work/.being-written", "");
    tree_add(t, "run/fettle/work/a-directory/", NULL);
    expect_work(t, "[\"k8s.pod-1\",\"render.7\"]");
}

static void test_slurm_with_cgroup_v1(void **state)
{
    static const struct leaf jobs[] = {
        {"sys/fs/cgroup/freezer/slurm/uid_1000/job_1234/step_0/", NULL},
        {"sys/fs/cgroup/freezer/slurm/uid_1001/job_99/", NULL},
        {"sys/fs/cgroup/memory/slurm/uid_1000/job_1234/", NULL}, /* the same once more */
        {"sys/fs/cgroup/cpuset/slurm_lx02/uid_1000/job_77/", NULL},
        {"sys/fs/cgroup/freezer/slurm/uid_1000/freezer.state", "THAWED\n"},
        {"sys/fs/cgroup/freezer/docker/uid_1000/job_5/", NULL},
    };
    struct tree *t = *state;
    TREE_ADD(t, jobs);
    expect_work(t, "[\"slurm.1234\",\"slurm.77\",\"slurm.99\"]");
}

static void test_slurm_with_cgroup_v2(void **state)
{
    static const struct leaf jobs[] = {
        {"sys/fs/cgroup/system.slice/slurmstepd.scope/system/", NULL},
        {"sys/fs/cgroup/system.slice/slurmstepd.scope/cgroup.procs", ""},
        {"sys/fs/cgroup/system.slice/slurmstepd.scope/job_1234/step_batch/user/", NULL},
        {"sys/fs/cgroup/system.slice/lx02_slurmstepd.scope/job_8/", NULL},
        {"sys/fs/cgroup/system.slice/ssh.service/job_5/", NULL},
        {"sys/fs/cgroup/unified/system.slice/slurmstepd.scope/job_9/", NULL},
    };
    struct tree *t = *state;
    TREE_ADD(t, jobs);
    tree_add(t, "run/fettle/work/render.7", "");
    expect_work(t, "[\"render.7\",\"slurm.1234\",\"slurm.8\",\"slurm.9\"]");
}

static void test_names_of_any_bytes(void **state)
{
    struct tree *t = *state;
    tree_add(t, "run/fettle/work/a\xff\"b", "");
    expect_work(t, "[\"a\xef\xbf\xbd\\\"b\"]");
}

static void test_a_file_in_the_directorys_place_is_unknown(void **state)
{
    struct tree *t = *state;
    tree_add(t, "run/fettle/work", "");
    expect_unknown(t, -ENOTDIR, "/run/fettle/work: Not a directory");
}

static void expect_unknown_when_closed(struct tree *t, const char *dir, const char *sentence)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", t->root, dir);
    assert_int_equal(chmod(t->root, 0755), 0);
    assert_int_equal(chmod(path, 0), 0);
    bool root = geteuid() == 0;
    if (root)
        assert_int_equal(seteuid(65534), 0);
    json_t *work = NULL;
    struct err e = {0};
    int r = probe_work(t->root, &work, &e);
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(r, -EACCES);
    assert_non_null(strstr(e.msg, sentence));
}

static void test_a_directory_that_may_not_be_read_is_unknown(void **state)
{
    struct tree *t = *state;
    tree_add(t, "run/fettle/work/", NULL);
    expect_unknown_when_closed(t, "run/fettle/work", "/run/fettle/work: Permission denied");
}

static void test_a_cgroup_that_may_not_be_read_is_unknown(void **state)
{
    struct tree *t = *state;
    tree_add(t, "sys/fs/cgroup/freezer/slurm/uid_1000/job_1234/", NULL);
    expect_unknown_when_closed(t, "sys/fs/cgroup/freezer/slurm/uid_1000",
                               "/sys/fs/cgroup/freezer: Permission denied");
}

static void test_more_than_a_heartbeat_holds_is_unknown(void **state)
{
    struct tree *t = *state;
    char name[256];
    memset(name, 'x', 200);
    for (unsigned i = 0; i < 200; i++) {
        snprintf(name + 200, sizeof name - 200, ".%u", i);
        char path[512];
        snprintf(path, sizeof path, "run/fettle/work/%s", name);
        tree_add(t, path, "");
    }
    expect_unknown(t, -E2BIG, "the names of the running work");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(test_no_directory_is_idle),
        IN_TREE(test_an_empty_directory_is_idle),
        IN_TREE(test_files),
        IN_TREE(test_slurm_with_cgroup_v1),
        IN_TREE(test_slurm_with_cgroup_v2),
        IN_TREE(test_names_of_any_bytes),
        IN_TREE(test_a_file_in_the_directorys_place_is_unknown),
        IN_TREE(test_a_directory_that_may_not_be_read_is_unknown),
        IN_TREE(test_a_cgroup_that_may_not_be_read_is_unknown),
        IN_TREE(test_more_than_a_heartbeat_holds_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
