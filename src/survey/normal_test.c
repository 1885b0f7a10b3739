/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/normal.h"

#include "survey/part.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *text, const char *node, const char *normal)
{
    CLEANUP_TEXT struct text out = {0};
    text_add(&out, "");
    normal_cmdline(text, node, &out);
    assert_string_equal(out.s, normal);
}

static void parameters_of_one_node_lose_their_value(void **state)
{
    expect("ip=10.0.0.7:::::eth0:dhcp BOOTIF=01-aa-bb-cc-dd-ee-ff quiet", "lx07", "ip=* BOOTIF=* quiet");
    expect("hostname=lx07 systemd.hostname=lx07 nid=17", "lx07", "hostname=* systemd.hostname=* nid=*");
    expect("systemd.machine-id=1234 systemd.machine_id=5678", "",
           "systemd.machine-id=* systemd.machine_id=*");
}

/* That a parameter is there at all is a difference. */
static void parameters_stay_without_their_values(void **state)
{
    expect("quiet", "lx07", "quiet");
    expect("ip=dhcp quiet", "lx07", "ip=* quiet");
}

static void identifiers_go_wherever_they_stand(void **state)
{
    expect("root=UUID=0a3e4f70-5bd1-4c3a-9f1b-6d8a3c1f2e10 ro", "", "root=UUID=* ro");
    expect("root=PARTUUID=abcd1234-02 resume=UUID=1234-ABCD", "", "root=PARTUUID=* resume=UUID=*");
    expect("rd.luks.uuid=luks-0a3e4f70-5bd1-4c3a-9f1b-6d8a3c1f2e10", "", "rd.luks.uuid=luks-*");
    expect("root=/dev/disk/by-uuid/0A3E4F70-5bd1-4c3a-9f1b-6d8a3c1f2e10", "", "root=/dev/disk/by-uuid/*");
}

static void addresses_go(void **state)
{
    expect("nfsroot=10.0.0.1:/images/x,ro", "", "nfsroot=*:/images/x,ro");
    expect("root=live:http://10.0.0.1:8080/img", "", "root=live:http://*:8080/img");
    expect("ds=nocloud;s=http://[fd00::17]/", "", "ds=nocloud;s=http://[*]/");
    expect("ifname=eth0:aa:bb:cc:dd:ee:ff", "", "ifname=eth0:*");
    expect("x=80:00:02:08:fe:80:00:00:00:00:00:00:f4:52:14:03:00:7b:cb:a1", "", "x=*");
    expect("a=300.1.1.1 b=1.2.3 c=1.2.3.4.5", "", "a=300.1.1.1 b=1.2.3 c=1.2.3.4.5");
}

static void versions_are_no_addresses(void **state)
{
    expect("BOOT_IMAGE=/vmlinuz-5.14.0.1 initrd=/initrd-4.18.0.553.img", "",
           "BOOT_IMAGE=/vmlinuz-5.14.0.1 initrd=/initrd-4.18.0.553.img");
    expect("vfio-pci.ids=10de:2330 pci=resource_alignment=20@0000:3b:00.0", "",
           "vfio-pci.ids=10de:2330 pci=resource_alignment=20@0000:3b:00.0");
    expect("crashkernel=1G-4G:192M,4G-64G:256M", "", "crashkernel=1G-4G:192M,4G-64G:256M");
}

static void the_nodes_name_goes_as_a_whole_word(void **state)
{
    expect("a=/images/lx07/root b=lx070 c=xlx07 d=LX07-bmc e=lx07", "lx07",
           "a=/images/*/root b=lx070 c=xlx07 d=*-bmc e=*");
    expect("a=lx07.cluster.local b=lx07", "lx07.cluster.local", "a=* b=*");
    expect("lx07 quiet", "lx07", "lx07 quiet"); /* a parameter's name is no value */
}

static void a_name_that_could_be_anything_stays(void **state)
{
    expect("isolcpus=1 a=n", "1", "isolcpus=1 a=n");
    expect("isolcpus=1 a=n", "n", "isolcpus=1 a=n");
    expect("isolcpus=1", "", "isolcpus=1");
}

static void places_in_a_cray_go(void **state)
{
    expect("a=x1000c0s1b0n0 b=x1000c0s1b0 c=x1000c0 d=x11", "", "a=* b=* c=x1000c0 d=x11");
}

static void order_counts_and_white_space_does_not(void **state)
{
    expect("  b  a\n", "", "b a");
    expect("dyndbg=\"file  x.c +p\"   quiet", "", "dyndbg=\"file  x.c +p\" quiet");
    expect("", "", "");
}

static void options(const char *text, const char *normal)
{
    CLEANUP_TEXT struct text out = {0};
    normal_options(text, "lx07", &out);
    assert_string_equal(out.s ? out.s : "", normal);
}

static void options_of_mounts_lose_addresses(void **state)
{
    options("rw,vers=4.2,clientaddr=10.0.0.7,addr=10.0.0.1", "rw,vers=4.2,clientaddr=*,addr=*");
    options("rw,size=1024k,nr_inodes=9", "rw,size=*,nr_inodes=*");
    options("rw,lowerdir=/run/lx07", "rw,lowerdir=/run/*");
    options("", "");
}

/* --- mounts
 * ------------------------------------------------------------------------------------------------- */

static void add_mount(void *all, const char *path, const char *value)
{
    text_printf(all, "%s: %s\n", path, value);
}

static void mounts(const char *text, const char *expected)
{
    CLEANUP_TEXT struct text all = {0};
    text_add(&all, "");
    assert_int_equal(mounts_parse(text, "lx07", add_mount, &all), 0);
    assert_string_equal(all.s, expected);
}

static void a_mount_says_type_options_and_server(void **state)
{
    mounts("1 0 8:1 / / rw,relatime shared:1 master:2 - ext4 /dev/sda1 rw,errors=remount-ro\n",
           "/: ext4 rw,relatime rw,errors=remount-ro\n");
    mounts("1 0 0:1 / /home rw - nfs4 home:/export rw,addr=10.0.0.1",
           "/home: nfs4 rw rw,addr=* from home:/export\n");
    mounts("1 0 0:1 /sub /a\\040b ro - xfs /dev/sda1 rw", "/a b: xfs ro rw root /sub\n");
}

static void the_last_mount_at_a_place_counts(void **state)
{
    mounts("1 0 0:1 / /mnt rw - ext4 a rw\n2 1 0:2 / /mnt ro - tmpfs b rw\n", "/mnt: tmpfs ro rw\n");
}

static void mounts_that_come_and_go_are_left_out(void **state)
{
    mounts("1 0 0:1 / /run/user/1000 rw - tmpfs a rw\n"
           "2 0 0:1 / /var/lib/docker/overlay2/x/merged rw - overlay a rw\n"
           "3 0 0:1 / /proc/sys/fs/binfmt_misc rw - autofs a rw\n"
           "4 0 0:1 / /run/netns/x rw - nsfs a rw\n"
           "5 0 0:1 / /home/me/x rw - fuse.sshfs me@host:/ rw,user_id=1000,group_id=1000\n"
           "6 0 0:1 / /run/users rw - tmpfs a rw\n"
           "7 0 0:1 / /s rw - fuse.s3fs s3fs rw,user_id=0,group_id=0\n",
           "/run/users: tmpfs rw rw\n/s: fuse.s3fs rw rw,user_id=0,group_id=0\n");
}

static void mounts_of_an_automounter_are_left_out(void **state)
{
    mounts("1 0 0:1 / /net rw - autofs systemd-1 rw,fd=5,pgrp=1\n"
           "2 1 0:2 / /net/tools rw - nfs4 tools:/tools rw\n"
           "3 1 0:3 / /network rw - ext4 a rw\n"
           "4 1 0:4 / /data rw - autofs auto.data rw\n"
           "5 4 0:5 / /data rw - nfs4 data:/data rw\n",
           "/net: autofs\n/network: ext4 rw rw\n/data: autofs\n");
}

static void text_that_is_no_mountinfo_is_refused(void **state)
{
    assert_int_equal(mounts_parse("", "", add_mount, NULL), -EINVAL);
    assert_int_equal(mounts_parse("nothing of the kind\n", "", add_mount, NULL), -EINVAL);
    CLEANUP_TEXT struct text many = {0}, all = {0};
    for (int i = 0; i < 3000; i++)
        text_printf(&many, "1 0 0:1 / /%d rw - ext4 a rw\n", i);
    assert_int_equal(mounts_parse(many.s, "", add_mount, &all), -E2BIG);
}

static void files_on_servers_are_told_from_local_ones(void **state)
{
    static const char text[] = "1 0 8:1 / / rw - ext4 a rw\n"
                               "2 1 0:1 / /home rw - nfs4 home:/export rw\n"
                               "3 2 0:2 / /home/local rw - xfs b rw\n"
                               "4 1 0:3 / /net rw - autofs c rw\n";
    assert_false(mounts_remote(text, "/etc/hosts"));
    assert_true(mounts_remote(text, "/home/me/x"));
    assert_false(mounts_remote(text, "/home/local/x"));
    assert_true(mounts_remote(text, "/net/x"));
    assert_false(mounts_remote(text, "/homework"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_of_one_node_lose_their_value),
        cmocka_unit_test(parameters_stay_without_their_values),
        cmocka_unit_test(identifiers_go_wherever_they_stand),
        cmocka_unit_test(addresses_go),
        cmocka_unit_test(versions_are_no_addresses),
        cmocka_unit_test(the_nodes_name_goes_as_a_whole_word),
        cmocka_unit_test(a_name_that_could_be_anything_stays),
        cmocka_unit_test(places_in_a_cray_go),
        cmocka_unit_test(order_counts_and_white_space_does_not),
        cmocka_unit_test(options_of_mounts_lose_addresses),
        cmocka_unit_test(a_mount_says_type_options_and_server),
        cmocka_unit_test(the_last_mount_at_a_place_counts),
        cmocka_unit_test(mounts_that_come_and_go_are_left_out),
        cmocka_unit_test(mounts_of_an_automounter_are_left_out),
        cmocka_unit_test(text_that_is_no_mountinfo_is_refused),
        cmocka_unit_test(files_on_servers_are_told_from_local_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
