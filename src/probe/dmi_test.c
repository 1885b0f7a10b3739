/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "probe/tree_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct leaf dmi[] = {
    {"sys/class/dmi/id/sys_vendor", "Supermicro\n"},
    {"sys/class/dmi/id/product_name", "SYS-821GE-TNHR\n"},
    {"sys/class/dmi/id/product_serial", "A123456X4700001\n"},
    {"sys/class/dmi/id/bios_vendor", "American Megatrends International, LLC.\n"},
    {"sys/class/dmi/id/bios_version", "2.1\n"},
    {"sys/class/dmi/id/bios_date", "01/30/2024\n"},
    {"sys/class/dmi/id/board_name", "X13DEG-OAD\n"},
    {"sys/class/dmi/id/board_serial", "UM238S000123\n"},
    {"sys/class/dmi/id/product_uuid", "4c4c4544-0039-3510-8052-b4c04f4e3332\n"},
};

static void test_dmi(void **state)
{
    struct tree *t = *state;
    TREE_ADD(t, dmi);
    tree_expect(t, "DMI",
                "{'vendor':'Supermicro','product':'SYS-821GE-TNHR','serial':'A123456X4700001',"
                "'bios_vendor':'American Megatrends International, LLC.','bios_version':'2.1',"
                "'bios_date':'01/30/2024','board':'X13DEG-OAD','board_serial':'UM238S000123',"
                "'uuid':'4c4c4544-0039-3510-8052-b4c04f4e3332'}");
}

/* As another user than root sees it. */
static void test_dmi_with_a_secret_serial_number(void **state)
{
    struct tree *t = *state;
    char path[64];
    tree_add(t, "sys/class/dmi/id/sys_vendor", "QEMU\n");
    tree_add(t, "sys/class/dmi/id/product_serial", "secret\n");
    snprintf(path, sizeof path, "%s/sys/class/dmi/id/product_serial", t->root);
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(chmod(t->root, 0755), 0);
    bool root = geteuid() == 0;
    if (root)
        assert_int_equal(seteuid(65534), 0);
    json_t *inventory = tree_inventory(t);
    if (root)
        assert_int_equal(seteuid(0), 0);
    CLEANUP_FREE char *text = json_write(json_object_get(inventory, "DMI"));
    json_decref(inventory);
    assert_string_equal(text, "{\"vendor\":\"QEMU\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(test_dmi),
        IN_TREE(test_dmi_with_a_secret_serial_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
