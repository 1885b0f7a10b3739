/* SPDX-License-Identifier: Apache-2.0 */
/* What one parameter of fettle.conf may be. */
#include "controller/config/config_fixture_test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void test_bad_parameters(void **state)
{
    static const struct {
        const char *text, *why;
    } mistakes[] = {
        {"HeartBeatInterval = fast\n", "fettle.conf:3: HeartBeatInterval: \"fast\" is not a length of time "
                                       "(90, 90s, 1500ms, 2m, 6h or 7d)"},
        {"HeartBeatInterval = -5\n",
         "fettle.conf:3: HeartBeatInterval: \"-5\" is not a length of time (90, 90s, 1500ms, 2m, 6h or 7d)"},
        {"HeartBeatInterval = 100000\n",
         "fettle.conf:3: HeartBeatInterval: \"100000\" is not from 0 to 86400 seconds"},
        {"HeartBeatInterval =\n", "fettle.conf:3: HeartBeatInterval: a length of time is missing"},
        {"HeartBeatTimeout = 0\n", "fettle.conf:3: HeartBeatTimeout: \"0\" is not from 1 to 604800 seconds"},
        {"HeartBeatTimeout = 10\n",
         "fettle.conf:3: HeartBeatTimeout (10s) is not longer than HeartBeatInterval (10s)"},
        {"HeartBeatTimeout = 90\nHeartBeatInterval = 300\n",
         "fettle.conf:3: HeartBeatTimeout (90s) is not longer than HeartBeatInterval (5m)"},
        {"HeartBeatTimeout = 90\nLateAfter = 100\n",
         "fettle.conf:4: LateAfter (100s) is longer than HeartBeatTimeout (90s)"},
        {"LateAfter = 10\n", "fettle.conf:3: LateAfter (10s) is not longer than HeartBeatInterval (10s)"},
        {"SensitiveTimeout = 60\nSensitiveLateAfter = 90\n",
         "fettle.conf:4: SensitiveLateAfter (90s) is longer than SensitiveTimeout (1m)"},
        {"MachStatusPort = 65536\n",
         "fettle.conf:3: MachStatusPort: \"65536\" is not a number from 0 to 65535"},
        {"MachStatusPort = ssh\n", "fettle.conf:3: MachStatusPort: \"ssh\" is not a number from 0 to 65535"},
        {"MachStatusPort =\n", "fettle.conf:3: MachStatusPort: \"\" is not a number from 0 to 65535"},
        {"MachStatusDaemon = daemon\n",
         "fettle.conf:3: MachStatusDaemon: \"daemon\" is not an absolute path"},
        {"MachStatusManager = /usr/local/\n",
         "fettle.conf:3: MachStatusManager: \"/usr/local/\" names a directory, not a file"},
        {"MachStatusDaemon =\n", "fettle.conf:3: MachStatusDaemon: \"\" is not an absolute path"},
        {"HeartBeatIntervall = 5\n",
         "fettle.conf:3: unknown key \"HeartBeatIntervall\"; the nearest known is \"HeartBeatInterval\""},
        {"ControlMachine = a\ncontrolmachine = b\n", "fettle.conf:4: ControlMachine stands twice"},
        {"CollectorNodes = lx[01-\n", NULL},
        {"CollectorNodes = a/b\n", "fettle.conf:3: CollectorNodes: \"a/b\" is not the name of a node"},
        {"MachStatusDebug = init,mgs\n", NULL},
        {"MaxPartition = 256\n", "fettle.conf:3: MaxPartition: \"256\" is not a number from 0 to 255"},
        {"MaxSilentShare = 0\n", "fettle.conf:3: MaxSilentShare: \"0\" is not a number from 1 to 100"},
        {"ApiReaders = everyone\n",
         "fettle.conf:3: ApiReaders: \"everyone\" is none of nobody,certificate,anyone"},
        {"ClassConf = classes\n", "fettle.conf:3: ClassConf: \"classes\" is not an absolute path"},
        {"FingerprintInterval = 30\n",
         "fettle.conf:3: FingerprintInterval: \"30\" is not from 60 to 604800 seconds"},
        {"FingerprintInterval = 2h\nFingerprintStale = 2h\n",
         "fettle.conf:4: FingerprintStale (2h) is not longer than FingerprintInterval (2h)"},
        {"DriftTimeout = never\n",
         "fettle.conf:3: DriftTimeout: \"never\" is not a length of time (90, 90s, 1500ms, 2m, 6h or 7d)"},
        {"MaxDriftShare = 101\n", "fettle.conf:3: MaxDriftShare: \"101\" is not a number from 1 to 100"},
        {"OpenChamiCA = ca.pem\n", "fettle.conf:3: OpenChamiCA: \"ca.pem\" is not an absolute path"},
        {"OpenChamiToken = /etc/\n",
         "fettle.conf:3: OpenChamiToken: \"/etc/\" names a directory, not a file"},
        {"OpenChamiGroup = a/b\n", "fettle.conf:3: OpenChamiGroup: \"a/b\" is not the name of a group"},
        {"ApiPrivilegedPort = 3\n", "fettle.conf:3: ApiPrivilegedPort: \"3\" is neither yes nor no"},
        {"DefaultPartition = batch\n", NULL},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const char *why = config_bad(mistakes[i].text, "Name=lx01\n", NULL);
        if (mistakes[i].why)
            assert_string_equal(why, mistakes[i].why);
        else
            assert_ptr_equal(strstr(why, "fettle.conf:3: "), why);
    }
}

static void test_urls(void **state)
{
    static const char *const mistakes[] = {"smd:27779/hsm/v2",  "ftp://smd/hsm/v2",   "https://",
                                           "https:///hsm/v2",   "http://:80/hsm",     "https://smd/hsm v2",
                                           "https://smd/hsm?x", "https://a:b@smd/v2", "HTTPS//smd"};
    char text[256], want[256];
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        snprintf(text, sizeof text, "OpenChamiBSS = %s\n", mistakes[i]);
        snprintf(want, sizeof want,
                 "fettle.conf:3: OpenChamiBSS: \"%s\" is not a URL like https://smd:27779/hsm/v2",
                 mistakes[i]);
        assert_string_equal(config_bad(text, "Name=lx01\n", NULL), want);
    }
    struct config c =
        config_good("OpenChamiSMD = https://smd:27779/hsm/v2//\nOpenChamiPCS = http://[2001:db8::1]:28007\n"
                    "OpenChamiToken = /etc/token\nOpenChamiGroup = not-right\n",
                    "Name=lx01\n", NULL);
    assert_string_equal(c.ochami.smd, "https://smd:27779/hsm/v2"); /* without the slashes */
    assert_string_equal(c.ochami.pcs, "http://[2001:db8::1]:28007");
    assert_string_equal(c.ochami.token, "/etc/token");
    assert_string_equal(c.ochami.group, "not-right");
    assert_null(c.ochami.bss);
    assert_null(c.ochami.ca);
    assert_true(c.roster.tells_drift);
    config_fini(&c);
    c = config_good("OpenChamiPCS = http://pcs\n", "Name=lx01\n", NULL);
    assert_false(c.roster.tells_drift); /* it is the State Manager that is told */
    assert_string_equal(c.ochami.group, "drifted");
    config_fini(&c);
}

static void test_a_field_has_1024_characters(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "Name=lx01 OS=");
    for (int i = 0; i < 1024; i++)
        text_add_char(&t, 'x');
    text_add_char(&t, '\n');
    struct config c = config_good("", t.s, NULL);
    config_fini(&c);
    t.s[t.len - 1] = 'x';
    const char *why = config_bad("", t.s, NULL);
    assert_ptr_equal(strstr(why, "nodes:1:"), why);
    assert_non_null(strstr(why, "1024"));
}

static void test_files_that_cannot_be_read(void **state)
{
    struct config c;
    struct err e;
    assert_int_equal(config_read("/nonexistent/fettle.conf", &c, &e), -ENOENT);
    assert_non_null(strstr(e.msg, "/nonexistent/fettle.conf"));
    const char *why = config_bad("PartitionConf = /nonexistent/partitions\n", "Name=lx01\n", NULL);
    assert_ptr_equal(strstr(why, "fettle.conf:3: PartitionConf: "), why);
    assert_non_null(strstr(why, "/nonexistent/partitions"));
    config_write("fettle.conf", "NodeSpecConf = /nonexistent/nodes\n");
    char path[128];
    snprintf(path, sizeof path, "%s/fettle.conf", config_dir);
    assert_int_equal(config_read(path, &c, &e), -ENOENT);
    assert_non_null(strstr(e.msg, "fettle.conf:1: NodeSpecConf: /nonexistent/nodes"));
    config_write("fettle.conf", "ControlMachine = localhost\n");
    assert_int_equal(config_read(path, &c, &e), -ENOENT);
    assert_non_null(strstr(e.msg,
                           "fettle.conf: NodeSpecConf is not given, and its default, "
                           "/usr/local/SLURM/NodeSpecConf, cannot be read (No such file or directory)"));
    config_write("fettle.conf", "NodeSpecConf = /proc/self\n");
    assert_true(config_read(path, &c, &e) < 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, config_setup, config_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bad_parameters),
        TEST(test_urls),
        TEST(test_a_field_has_1024_characters),
        TEST(test_files_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
