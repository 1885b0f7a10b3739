/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char mounts[] = "1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
                             "2 1 0:9 / /home rw,noatime - nfs4 server:/home rw,hard\n"
                             "3 1 8:2 / /images ro - ext4 /dev/sdb ro\n"
                             "4 1 8:1 /x /bound ro - ext4 /dev/sda1 rw\n";

static void test_mounted(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=fs.mounted Path=/home", "unknown the list of mounts");
    trial_add(t, "proc/self/mountinfo", mounts);
    trial_expect(t, "Probe=fs.mounted Path=/home", "ok");
    trial_expect(t, "Probe=fs.mounted Path=/home Type=nfs4 Source=server:/home Options=rw,hard", "ok");
    trial_expect(t, "Probe=fs.mounted Path=/home Type=lustre",
                 "fatal mount /home: Type is \"nfs4\", not \"lustre\"");
    trial_expect(t, "Probe=fs.mounted Path=/home Source=other:/home",
                 "fatal mount /home: Source is \"server:/home\", not \"other:/home\"");
    trial_expect(t, "Probe=fs.mounted Path=/home Options=rw,nosuid",
                 "fatal mount /home: it has no option nosuid; it has rw,noatime and rw,hard");
    trial_begins(t, "Probe=fs.mounted Path=/images Options=rw", "fatal mount /images: it has no option rw");
    trial_begins(t, "Probe=fs.mounted Path=/bound Options=rw", "fatal mount /bound: it has no option rw");
    trial_expect(t, "Probe=fs.mounted Path=/bound Options=ro", "ok");
    trial_expect(t, "Probe=fs.mounted Path=/scratch", "fatal mount /scratch: nothing is mounted at /scratch");
    trial_expect(t, "Probe=fs.mounted Path=/home/x", "fatal mount /home/x: nothing is mounted at /home/x");
}

static void test_mounted_list_of_the_first_process(void **state)
{
    struct trial *t = *state;
    trial_add(t, "proc/self/mountinfo", "1 0 8:1 / / ro - ext4 /dev/sda1 rw\n");
    trial_add(t, "proc/1/mountinfo", mounts);
    trial_expect(t, "Probe=fs.mounted Path=/home", "ok");
    trial_add(t, "proc/1/mountinfo", "rubbish\n");
    trial_begins(t, "Probe=fs.mounted Path=/home", "unknown the list of mounts");
}

static void test_mounted_the_last_counts(void **state)
{
    struct trial *t = *state;
    trial_add(t, "proc/1/mountinfo",
              "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:9 / /home rw - nfs4 s:/home rw\n"
              "3 2 0:7 / /home rw - tmpfs tmpfs rw\n4 1 0:8 / /auto rw - autofs systemd-1 rw\n");
    trial_begins(t, "Probe=fs.mounted Path=/home Type=nfs4", "fatal mount /home: Type is \"tmpfs\"");
    trial_expect(t, "Probe=fs.mounted Path=/auto Type=nfs4", "ok"); /* mounted when somebody comes */
}

static void test_readonly(void **state)
{
    struct trial *t = *state;
    trial_add(t, "proc/1/mountinfo", "1 0 0:9 / / rw - tmpfs x rw\n");
    trial_expect(t, "Probe=fs.readonly", "unsupported no file system lies on a disk");
    trial_add(t, "proc/1/mountinfo", mounts);
    trial_expect(t, "Probe=fs.readonly", "ok"); /* /images is so on purpose */
    trial_add(t, "proc/1/mountinfo", "1 0 8:1 / / ro,relatime - ext4 /dev/sda1 ro\n");
    trial_expect(t, "Probe=fs.readonly",
                 "fatal mount /: the file system of / is read-only, which it was not before");
    trial_expect(t, "Probe=fs.readonly",
                 "fatal mount /: the file system of / is read-only, which it was not before");
    trial_forget(t);
    trial_expect(t, "Probe=fs.readonly", "ok");
}

static void test_readonly_after_an_error(void **state)
{
    struct trial *t = *state;
    trial_add(t, "proc/1/mountinfo", "1 0 8:1 / /a\\040b rw - xfs /dev/sda1 ro\n");
    trial_expect(t, "Probe=fs.readonly",
                 "fatal mount /a b: the file system of /a b is read-only, its mount is not");
}

static void test_readonly_of_a_path(void **state)
{
    struct trial *t = *state;
    trial_add(t, "proc/1/mountinfo", mounts);
    trial_expect(t, "Probe=fs.readonly Path=/home", "ok");
    trial_begins(t, "Probe=fs.readonly Path=/images",
                 "fatal mount /images: the file system of /images is read-only");
    trial_expect(t, "Probe=fs.readonly Path=/bound", "fatal mount /bound: /bound is mounted read-only");
    trial_expect(t, "Probe=fs.readonly Path=/scratch", "unsupported nothing is mounted at /scratch");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_mounted),
        IN_TRIAL(test_mounted_list_of_the_first_process),
        IN_TRIAL(test_mounted_the_last_counts),
        IN_TRIAL(test_readonly),
        IN_TRIAL(test_readonly_after_an_error),
        IN_TRIAL(test_readonly_of_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
