/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_space(void **state)
{
    static const char plenty[] = "bytes 500000000000 1000000000000\ninodes 900 1000\n";
    struct trial *t = *state;
    trial_expect(t, "Probe=fs.space Path=/nowhere", "unsupported /nowhere: No such file or directory");
    assert_string_equal(trial_judge(t, "Probe=fs.space", plenty), "ok");
    assert_string_equal(trial_judge(t, "Probe=fs.space Free=60% Warn=70%", plenty),
                        "fatal fs /: 500000 MB (50 %) of 1000000 MB are free, of at least 600000 MB");
    assert_string_equal(trial_judge(t, "Probe=fs.space Free=500MB Warn=600GB", plenty),
                        "warn fs /: 500000 MB (50 %) of 1000000 MB are free, of at least 600000 MB");
    assert_string_equal(trial_judge(t, "Probe=fs.space Free=50% Warn=50% Inodes=90%", plenty), "ok");
    assert_string_equal(trial_judge(t, "Probe=fs.space Inodes=95%", plenty),
                        "fatal fs /: 90 % of 1000 inodes are free, of at least 95 %");
    assert_string_equal(trial_judge(t, "Probe=fs.space", "bytes 0 1000000000\n"),
                        "fatal fs /: 0 MB (0 %) of 1000 MB are free, of at least 100 MB");
    assert_string_equal(trial_judge(t, "Probe=fs.space Path=/proc", "bytes 0 0\n"),
                        "unsupported the file system of /proc counts no space");
    assert_string_equal(trial_judge(t, "Probe=fs.space", "bytes many\n"),
                        "unknown the space of / is not understood");
}

static void test_space_is_gathered(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=fs.space Path=/ Free=0% Warn=0% Inodes=0%", "ok");
    trial_begins(t, "Probe=fs.space Path=/ Free=9000TB", "fatal fs /: ");
}

static void test_write(void **state)
{
    struct trial *t = *state;
    trial_add(t, "scratch/", "");
    trial_expect(t, "Probe=fs.write Path=/scratch Slow=10m", "ok");
    char path[64];
    snprintf(path, sizeof path, "%s/scratch", t->tree->root);
    DIR *d = opendir(path); /* nothing is left */
    int n = 0;
    while (readdir(d))
        n++;
    closedir(d);
    assert_int_equal(n, 2);
    trial_begins(t, "Probe=fs.write Path=/absent", "unsupported");
}

static void test_write_judged(void **state)
{
    struct trial *t = *state;
    assert_string_equal(trial_judge(t, "Probe=fs.write Path=/s", "written 1500\n"),
                        "warn fs /s: a small file on /s took 1500 ms, of at most 1000");
    assert_string_equal(trial_judge(t, "Probe=fs.write Path=/s", "failed 30 create: Read-only file system\n"),
                        "fatal fs /s: a small file on /s: create: Read-only file system");
    assert_string_equal(trial_judge(t, "Probe=fs.write Path=/s", "failed 13 create: Permission denied\n"),
                        "unknown cannot try on /s: create: Permission denied");
    assert_string_equal(trial_judge(t, "Probe=fs.write Path=/s", "written long\n"),
                        "unknown it is not known whether /s was written");
}

/* As squashfs is: read-only, and full by its nature. In a place of this process alone. */
static void an_image_is_no_disk_that_fills(void **state)
{
    struct trial *t = *state;
    CLEANUP_TEXT struct text place = {0};
    trial_add(t, "image/", "");
    text_printf(&place, "%s/image", t->tree->root);
    if (unshare(CLONE_NEWNS) < 0 || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("image", place.s, "tmpfs", 0, "size=4k") < 0)
        skip();
    trial_add(t, "image/full", "x");
    trial_begins(t, "Probe=fs.space Path=/image", "fatal fs /image: ");
    assert_int_equal(mount("image", place.s, "tmpfs", MS_REMOUNT | MS_RDONLY, ""), 0);
    trial_expect(t, "Probe=fs.space Path=/image",
                 "unsupported the file system of /image is read-only and has no space to lose");
    assert_int_equal(umount(place.s), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_space),        IN_TRIAL(test_space_is_gathered),         IN_TRIAL(test_write),
        IN_TRIAL(test_write_judged), IN_TRIAL(an_image_is_no_disk_that_fills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
