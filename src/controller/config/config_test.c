/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/config/config.h"

#include "base/log.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64];

static int setup(void **state)
{
    snprintf(dir, sizeof dir, "/tmp/fettle-config-XXXXXX");
    assert_non_null(mkdtemp(dir));
    return 0;
}

static int teardown(void **state)
{
    static const char *const files[] = {"fettle.conf", "nodes",    "partitions", "classes",
                                        "checks",      "meanings", "remedies",   "bmc"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        unlink(path);
    }
    return rmdir(dir);
}

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Writes the three files (the first gets the others' paths on its first two lines; NULL: no
 * partitions) and reads them. The sentence's mention of the directory is left out. */
static int read_config(const char *parameters, const char *nodes, const char *partitions, struct config *c,
                       char why[512])
{
    CLEANUP_TEXT struct text t = {0};
    char path[128];
    struct err e = {0};
    text_printf(&t, "NodeSpecConf = %s/nodes\n%s%s%s\n%s", dir, partitions ? "PartitionConf = " : "#",
                partitions ? dir : "", partitions ? "/partitions" : "", parameters);
    write_file("fettle.conf", t.s);
    write_file("nodes", nodes);
    if (partitions)
        write_file("partitions", partitions);
    snprintf(path, sizeof path, "%s/fettle.conf", dir);
    int rc = config_read(path, c, &e);
    why[0] = '\0';
    for (const char *p = e.msg; rc < 0 && *p; p++) {
        if (strncmp(p, dir, strlen(dir)) == 0)
            p += strlen(dir) + 1;
        size_t n = strlen(why);
        snprintf(why + n, 512 - n, "%c", *p);
    }
    return rc;
}

static struct config good(const char *parameters, const char *nodes, const char *partitions)
{
    struct config c;
    char why[512];
    int rc = read_config(parameters, nodes, partitions, &c, why);
    assert_string_equal(why, "");
    assert_int_equal(rc, 0);
    return c;
}

static const char *bad(const char *parameters, const char *nodes, const char *partitions)
{
    static char why[512];
    struct config c;
    if (read_config(parameters, nodes, partitions, &c, why) == 0)
        fail_msg("this was taken: %s%s%s", parameters, nodes, partitions ? partitions : "");
    assert_null(c.path);
    assert_int_equal(c.roster.n, 0);
    return why;
}

/* The parameters with ClassConf before them, and its file. Valid until the next call. */
static const char *with_classes(const char *parameters, const char *classes)
{
    static char text[4096];
    snprintf(text, sizeof text, "ClassConf = %s/classes\n%s", dir, parameters);
    write_file("classes", classes);
    return text;
}

/* "lx01 CPUs=2 Partition=1; ...": what the roster says. Valid until the next call. */
static const char *roster(const struct config *c)
{
    static char shown[4096];
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "");
    for (size_t i = 0; i < c->roster.n; i++) {
        text_printf(&t, "%s%s", i ? "; " : "", c->roster.nodes[i].name);
        for (int f = 0; f < FIELDS; f++) {
            if (!field_get((enum field)f)->settable || !spec_given(&c->roster.nodes[i].spec, (enum field)f))
                continue;
            text_printf(&t, " %s=", field_get((enum field)f)->name);
            spec_format(&c->roster.nodes[i].spec, (enum field)f, &t);
        }
    }
    snprintf(shown, sizeof shown, "%s", t.s);
    return shown;
}

static char *slurp(const char *path)
{
    char *bytes = mem_alloc(65536);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    bytes[fread(bytes, 1, 65535, f)] = '\0';
    fclose(f);
    return bytes;
}

/* --- the samples ----------------------------------------------------------------------------- */

static void test_the_document_s_samples(void **state)
{
    CLEANUP_FREE char *parameters = slurp(TEST_DATA "/2001/slurm.conf");
    CLEANUP_FREE char *nodes = slurp(TEST_DATA "/2001/NodeSpecConf");
    CLEANUP_TEXT struct text t = {0};
    char path[128];
    const char *rest = parameters, *at;
    while ((at = strstr(rest, "/usr/local/SLURM/"))) { /* only the place of the two files is ours */
        text_add_bytes(&t, rest, (size_t)(at - rest));
        rest = at + strlen("/usr/local/SLURM/");
        text_printf(&t, "%s/", dir);
    }
    text_add(&t, rest);
    write_file("fettle.conf", t.s);
    snprintf(path, sizeof path, "%s/NodeSpecConf", dir);
    assert_int_equal(symlink(TEST_DATA "/2001/NodeSpecConf", path), 0);
    char partitions[128];
    snprintf(partitions, sizeof partitions, "%s/PartitionConf", dir);
    FILE *f = fopen(partitions, "w");
    assert_non_null(f);
    fclose(f);

    struct config c;
    struct err e = {0};
    char conf[128];
    snprintf(conf, sizeof conf, "%s/fettle.conf", dir);
    int rc = config_read(conf, &c, &e);
    unlink(path);
    unlink(partitions);
    assert_string_equal(e.msg, "");
    assert_int_equal(rc, 0);
    assert_string_equal(c.text[SETTING_CONTROL_MACHINE], "lx_control");
    assert_int_equal(c.collectors.n, 2);
    assert_int_equal(c.number[SETTING_MACH_STATUS_PORT], 612);
    assert_int_equal(c.debug_flags, 1 << LOG_INIT | 1 << LOG_MSG);
    assert_int_equal(c.watch.plain.silent.ns, span_s(600).ns);
    assert_int_equal(c.watch.plain.late.ns, span_s(450).ns);
    assert_int_equal(c.number[SETTING_HEARTBEAT_INTERVAL], span_s(300).ns);
#define COMMON " RealMemory=2048 VirtualMemory=4096 TmpDisk=16384 Partition=1"
    assert_string_equal(
        roster(&c),
        "lx01 OS=Linux.2.4.7-10 CPUs=2 Speed=1" COMMON "; lx02 OS=Linux.2.4.7-10 CPUs=2 Speed=1" COMMON
        "; lx03 OS=Linux.2.4.7-10 CPUs=2 Speed=1.5 RealMemory=3072 VirtualMemory=4096 TmpDisk=16384 "
        "Partition=1,2; lx04 OS=Linux.2.4.7-10 CPUs=1 Speed=1.3" COMMON
        ",3; lx05 OS=Linux.2.4.7-10 CPUs=2 Speed=1" COMMON "; lx06 OS=Linux.2.4.7-10 CPUs=2 Speed=1" COMMON);
    config_fini(&c);
}

static void test_defaults(void **state)
{
    struct config c = good("", "Name=lx[01-64]\n", NULL);
    assert_int_equal(c.roster.n, 64);
    assert_int_equal(c.collectors.n, 0);
    assert_int_equal(c.number[SETTING_MACH_STATUS_PORT], 6120);
    assert_int_equal(c.number[SETTING_HEARTBEAT_INTERVAL], span_s(10).ns);
    assert_int_equal(c.watch.plain.late.ns, span_s(30).ns);
    assert_int_equal(c.watch.plain.silent.ns, span_s(90).ns);
    assert_int_equal(c.watch.sensitive.late.ns, span_s(120).ns);
    assert_int_equal(c.watch.sensitive.silent.ns, span_s(420).ns);
    assert_int_equal(c.watch.borrowed.late.ns, span_s(30).ns);
    assert_int_equal(c.watch.borrowed.silent.ns, span_s(60).ns);
    assert_int_equal(c.watch.silent_share_percent, 25);
    assert_int_equal(c.watch.spread.ns, span_ms(96).ns);
    assert_true(c.watch.judge);
    assert_int_equal(c.roster.partition_max, 31);
    config_fini(&c);
}

/* --- parameters ------------------------------------------------------------------------------ */

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
        {"MqttBroker = a:b\n", "fettle.conf:3: MqttBroker: \"a:b\" does not end with a port"},
        {"MqttBroker = ::1\n", "fettle.conf:3: MqttBroker: \"::1\" is not a broker like mqtt.example:1883"},
        {"MqttPrefix = a/#\n",
         "fettle.conf:3: MqttPrefix: \"a/#\" is not the beginning of a topic like site/fettle"},
        {"MqttEvents = a/b, c/#/d\n", "fettle.conf:3: MqttEvents: \"c/#/d\" is no topic to subscribe to"},
        {"MqttCertificate = /etc/own.pem\nMqttCA = /etc/ca.pem\n",
         "fettle.conf:3: MqttCertificate: a certificate without MqttKey and MqttCA"},
        {"MqttCertificate = /etc/own.pem\nMqttKey = /etc/own.key\n",
         "fettle.conf:3: MqttCertificate: a certificate without MqttKey and MqttCA"},
        {"MqttKey = /etc/own.key\n", "fettle.conf:3: MqttKey: a key without MqttCertificate"},
        {"MqttPasswordFile = /etc/secret\n", "fettle.conf:3: MqttPasswordFile: a password without MqttUser"},
        {"ApiPrivilegedPort = 3\n", "fettle.conf:3: ApiPrivilegedPort: \"3\" is neither yes nor no"},
        {"DefaultPartition = batch\n", NULL},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const char *why = bad(mistakes[i].text, "Name=lx01\n", NULL);
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
        assert_string_equal(bad(text, "Name=lx01\n", NULL), want);
    }
    struct config c =
        good("OpenChamiSMD = https://smd:27779/hsm/v2//\nOpenChamiPCS = http://[2001:db8::1]:28007\n"
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
    c = good("OpenChamiPCS = http://pcs\n", "Name=lx01\n", NULL);
    assert_false(c.roster.tells_drift); /* it is the State Manager that is told */
    assert_string_equal(c.ochami.group, "drifted");
    config_fini(&c);
}

static void test_how_long_a_fingerprint_counts(void **state)
{
    struct config c = good("", "Name=lx01\n", NULL);
    assert_int_equal(c.number[SETTING_FINGERPRINT_INTERVAL], span_s(6 * 3600).ns);
    assert_int_equal(c.watch.conform.stale.ns, span_s(13 * 3600).ns);
    assert_int_equal(c.watch.conform.timeout.ns, span_s(24 * 3600).ns);
    assert_int_equal(c.watch.conform.sensitive.ns, span_s(4 * 3600).ns);
    assert_int_equal(c.watch.conform.drift_share_percent, 25);
    config_fini(&c);
    c = good(
        "FingerprintInterval = 24h\nDriftTimeout = 2h\nSensitiveDriftTimeout = 10m\nMaxDriftShare = 10\n",
        "Name=lx01\n", NULL);
    assert_int_equal(c.watch.conform.stale.ns, span_s(49 * 3600).ns);
    assert_int_equal(c.watch.conform.timeout.ns, span_s(7200).ns);
    assert_int_equal(c.watch.conform.sensitive.ns, span_s(600).ns);
    assert_int_equal(c.watch.conform.drift_share_percent, 10);
    config_fini(&c);
    c = good("FingerprintStale = 7h\n", "Name=lx01\n", NULL);
    assert_int_equal(c.watch.conform.stale.ns, span_s(7 * 3600).ns);
    config_fini(&c);
}

static void test_a_field_has_1024_characters(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "Name=lx01 OS=");
    for (int i = 0; i < 1024; i++)
        text_add_char(&t, 'x');
    text_add_char(&t, '\n');
    struct config c = good("", t.s, NULL);
    config_fini(&c);
    t.s[t.len - 1] = 'x';
    const char *why = bad("", t.s, NULL);
    assert_ptr_equal(strstr(why, "nodes:1:"), why);
    assert_non_null(strstr(why, "1024"));
}

static void test_files_that_cannot_be_read(void **state)
{
    struct config c;
    struct err e;
    assert_int_equal(config_read("/nonexistent/fettle.conf", &c, &e), -ENOENT);
    assert_non_null(strstr(e.msg, "/nonexistent/fettle.conf"));
    const char *why = bad("PartitionConf = /nonexistent/partitions\n", "Name=lx01\n", NULL);
    assert_ptr_equal(strstr(why, "fettle.conf:3: PartitionConf: "), why);
    assert_non_null(strstr(why, "/nonexistent/partitions"));
    write_file("fettle.conf", "NodeSpecConf = /nonexistent/nodes\n");
    char path[128];
    snprintf(path, sizeof path, "%s/fettle.conf", dir);
    assert_int_equal(config_read(path, &c, &e), -ENOENT);
    assert_non_null(strstr(e.msg, "fettle.conf:1: NodeSpecConf: /nonexistent/nodes"));
    write_file("fettle.conf", "ControlMachine = localhost\n");
    assert_int_equal(config_read(path, &c, &e), -ENOENT);
    assert_non_null(strstr(e.msg,
                           "fettle.conf: NodeSpecConf is not given, and its default, "
                           "/usr/local/SLURM/NodeSpecConf, cannot be read (No such file or directory)"));
    write_file("fettle.conf", "NodeSpecConf = /proc/self\n");
    assert_true(config_read(path, &c, &e) < 0);
}

static void test_timeouts_follow_the_interval(void **state)
{
    struct config c = good("HeartBeatInterval = 60\nHeartBeatTimeout = 600\n", "Name=lx01\n", NULL);
    assert_int_equal(c.watch.plain.late.ns, span_s(90).ns);
    assert_int_equal(c.watch.borrowed.late.ns, span_s(90).ns);
    assert_int_equal(c.watch.borrowed.silent.ns, span_s(120).ns);
    config_fini(&c);
    c = good("HeartBeatInterval = 300\n", "Name=lx01\n", NULL);
    assert_int_equal(c.watch.plain.late.ns, span_s(450).ns);
    assert_int_equal(c.watch.plain.silent.ns, span_s(600).ns);
    config_fini(&c);
    c = good("HeartBeatTimeout = 24\n", "Name=lx01\n", NULL); /* only the timeout was made short */
    assert_int_equal(c.watch.plain.late.ns, span_s(18).ns);
    config_fini(&c);
    c = good("HeartBeatInterval = 0\n", "Name=lx01\n", NULL);
    assert_false(c.watch.judge);
    config_fini(&c);
}

/* --- nodes ----------------------------------------------------------------------------------- */

static void test_default_records(void **state)
{
    struct config c = good("",
                           "Name=lx00\n"
                           "Name=DEFAULT CPUs=2 Partition=1,3\n"
                           "Name=lx01\n"
                           "Name=lx02 CPUs=8 Partition= \n"
                           "Name=DEFAULT CPUs=4\n"
                           "Name=lx[03-04]\n"
                           "Name=DEFAULT CPUs= Partition=\n"
                           "Name=lx05\n"
                           "Name=DEFAULT CPUs=99\n",
                           NULL);
    assert_string_equal(roster(&c), "lx00; lx01 CPUs=2 Partition=1,3; lx02 CPUs=8 Partition=; "
                                    "lx03 CPUs=4 Partition=1,3; lx04 CPUs=4 Partition=1,3; lx05 Partition=");
    assert_true(partition_has(&c.roster.nodes[0].spec.partitions, 0));
    assert_false(partition_has(&c.roster.nodes[5].spec.partitions, 0));
    config_fini(&c);
}

static void test_nodes_keep_their_order(void **state)
{
    struct config c = good("", "Name=z\n\n# comment\nName=lx[10-11]\nName=a CPUs=1\nName=lx[01-02]\n", NULL);
    assert_string_equal(roster(&c), "z; lx10; lx11; a CPUs=1; lx01; lx02");
    config_fini(&c);
}

static void test_names_of_others_for_the_nodes(void **state)
{
    struct config c = good("",
                           "Name=DEFAULT Group=7\n"
                           "Name=lx[01-02] Xname=x0c0s[0-1]b0n0\n"
                           "Name=lx03 Xname=x9c0s0b0n0 Group=8\n"
                           "Name=r[1-2]n[1-2] Xname=x[1-2]c0s[1-2]\n"
                           "Name=lx04 Xname= Group=\n",
                           NULL);
    assert_string_equal(
        roster(&c), "lx01 Group=7 Xname=x0c0s0b0n0; lx02 Group=7 Xname=x0c0s1b0n0; "
                    "lx03 Group=8 Xname=x9c0s0b0n0; r1n1 Group=7 Xname=x1c0s1; r1n2 Group=7 Xname=x1c0s2; "
                    "r2n1 Group=7 Xname=x2c0s1; r2n2 Group=7 Xname=x2c0s2; lx04");
    config_fini(&c);
}

static void test_bad_nodes(void **state)
{
    static const struct {
        const char *text, *why;
    } mistakes[] = {
        {"Name=lx01\nName=lx02 CPUs=two\n", "nodes:2: CPUs: \"two\" is not a number from 0 to 1000000000000"},
        {"Name=DEFAULT CPUs=two\n", "nodes:1: CPUs: \"two\" is not a number from 0 to 1000000000000"},
        {"Name=DEFAULT State=IDLE\n", NULL},
        {"Name=lx01 CPU=2\n", "nodes:1: unknown key \"CPU\"; the nearest known is \"CPUs\""},
        {"Name=lx01 Partition=1,32\n", "nodes:1: Partition: \"32\" is not a number from 0 to 31"},
        {"Name=lx01 Partition=1,batch\n",
         "nodes:1: Partition: \"batch\" is neither a number nor a partition of PartitionConf"},
        {"NodeName=lx01 CPUs=2\n", "nodes:1: unknown key \"NodeName\"; Slurm's NodeName is Name here"},
        {"Name=lx01 Sockets=2\n", "nodes:1: unknown key \"Sockets\"; Slurm's Sockets is CPUs here"},
        {"Name=lx01 Weight=2\n",
         "nodes:1: unknown key \"Weight\"; Slurm's Weight has no counterpart: it is for Slurm alone"},
        {"CPUs=2\n", "nodes:1: a record without Name"},
        {"Name= CPUs=2\n", "nodes:1: a record without Name"},
        {"Name=lx[01-03]\nName=lx02\n", "nodes:2: node \"lx02\" is already on line 1"},
        {"Name=-x\n", "nodes:1: \"-x\" is not the name of a node"},
        {"Name=lx[1-3] Xname=x0c0s[0-1]b0n0\n", "nodes:1: Xname has 2 names, Name has 3"},
        {"Name=lx1 Xname=x0,x1\n", "nodes:1: Xname has 2 names, Name has 1"},
        {"Name=lx01 Xname=X0\n",
         "nodes:1: Xname: \"X0\" is not an xname: lower-case letters and digits, as x1000c0s0b0n0"},
        {"Name=lx01 Xname=x0\nName=lx02\nName=lx[03-04] Xname=x[0-1]\n",
         "nodes:3: xname \"x0\" is already on line 1"},
        {"Name=DEFAULT Xname=x0\n", "nodes:1: DEFAULT has an Xname, which belongs to one node"},
        {"Name=lx01 Xname=x[\n", NULL},
        {"Name=lx01 Group=65536\n", "nodes:1: Group: \"65536\" is not a number from 0 to 65535"},
        {"Name=lx01 Groups=1\n", "nodes:1: unknown key \"Groups\"; the nearest known is \"Group\""},
        {"Name=lx[3-1]\n", NULL},
        {"Name=lx01 CPUs=1 CPUs=2\n", NULL},
        {"lx01\n", NULL},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const char *why = bad("", mistakes[i].text, NULL);
        if (mistakes[i].why)
            assert_string_equal(why, mistakes[i].why);
        else
            assert_ptr_equal(strstr(why, "nodes:1: "), why);
    }
}

/* --- partitions ------------------------------------------------------------------------------ */

static void test_partitions(void **state)
{
    struct config c = good("DefaultPartition = batch\n", "Name=lx[01-03]\nName=lx04 Partition=5\n",
                           "Partition=3 Name=batch Nodes=lx[01,04]\nPartition=1 Name=debug\n");
    assert_string_equal(roster(&c), "lx01 Partition=3; lx02; lx03; lx04 Partition=3,5");
    assert_int_equal(c.roster.n_partitions, 2);
    assert_int_equal(c.roster.partitions[0].number, 1);
    assert_string_equal(c.roster.partitions[1].name, "batch");
    assert_true(c.roster.partitions[1].is_default && !c.roster.partitions[0].is_default);
    config_fini(&c);
    c = good("DefaultPartition = 7\n", "Name=lx01\n", NULL);
    assert_int_equal(c.roster.n_partitions, 1);
    assert_true(c.roster.partitions[0].is_default && c.roster.partitions[0].number == 7);
    config_fini(&c);
    c = good("", "Name=lx01 Partition=debug,5\nName=DEFAULT Partition=batch\nName=lx02\n",
             "Partition=3 Name=batch Nodes=lx01\nPartition=1 Name=debug\n");
    assert_string_equal(roster(&c), "lx01 Partition=1,3,5; lx02 Partition=3");
    config_fini(&c);

    c = good("MaxPartition = 200\n", "Name=lx01 Partition=200\n", NULL);
    config_fini(&c);
}

static void test_bad_partitions(void **state)
{
    static const struct {
        const char *text, *why;
    } mistakes[] = {
        {"Partition=32\n", "partitions:1: Partition: \"32\" is not a number from 0 to 31"},
        {"Name=batch\n", "partitions:1: a record without Partition"},
        {"Partition=1\nPartition=1\n", "partitions:2: partition 1 stands twice"},
        {"Partition=1 Name=a\nPartition=2 Name=a\n", "partitions:2: partition a stands twice"},
        {"Partition=1 Name=a,b\n", "partitions:1: Name: \"a,b\" has a comma, which separates names"},
        {"Partition=1 Name=abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv\n",
         "partitions:1: Name: \"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv\" is longer than 47 bytes"},
        {"Partition=1 Nodes=lx09\n", "partitions:1: Nodes: no node \"lx09\" in NodeSpecConf"},
        {"Partition=1 Node=lx01\n", "partitions:1: unknown key \"Node\"; the nearest known is \"Nodes\""},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        assert_string_equal(bad("", "Name=lx01\n", mistakes[i].text), mistakes[i].why);
}

static void test_a_large_partition_is_read_at_once(void **state)
{
    struct config c = good("", "Name=n[000001-100000]\n", "Partition=1 Nodes=n[000001-100000]\n");
    assert_true(partition_has(&c.roster.nodes[99999].spec.partitions, 1));
    config_fini(&c);
}

/* --- classes --------------------------------------------------------------------------------- */

static void test_classes(void **state)
{
    struct config c = good("", "Name=lx01\n", NULL);
    assert_int_equal(c.roster.classes.n, 1); /* without a file, default alone */
    assert_string_equal(c.roster.classes.list[0].name, "default");
    config_fini(&c);
    c = good(with_classes(
                 "OpenChamiBSS = http://b\nOpenChamiPCS = http://p\n",
                 "# GPU nodes\n"
                 "Class=gpu Nodes=gx[01-16] critical=gpu.*.driver,gpu.driver Ignore=package.* "
                 "Drifted=exclude Reboot=yes Kernel=/boot/k Params=\"quiet ro\"\n"
                 "Class=regulated Sensitive=yes Major=sysctl.kernel.randomize_va_space,file./etc/hosts\n"),
             "Name=lx01\n", NULL);
    assert_int_equal(c.roster.classes.n, 3);
    const struct node_class *gpu = &c.roster.classes.list[0];
    assert_string_equal(gpu->name, "gpu");
    assert_int_equal(gpu->nodes.n, 16);
    assert_int_equal(class_severity(gpu, "gpu.driver"), SEVERITY_CRITICAL);
    assert_int_equal(class_severity(gpu, "package.x"), SEVERITY_IGNORE);
    assert_true(gpu->exclude && gpu->reboot);
    assert_string_equal(gpu->params, "quiet ro");
    assert_true(c.roster.classes.list[1].has_spec && c.roster.classes.list[1].spec.sensitive);
    assert_string_equal(c.roster.classes.list[2].name, "default");
    config_fini(&c);
}

static void test_a_class_has_partitions_by_name(void **state)
{
    const char *partitions = "Partition=3 Name=batch\n";
    struct config c = good(with_classes("", "Class=gpu partition=1,batch\n"), "Name=lx01\n", partitions);
    assert_true(partition_has(&c.roster.classes.list[0].spec.partitions, 1));
    assert_true(partition_has(&c.roster.classes.list[0].spec.partitions, 3));
    assert_false(partition_has(&c.roster.classes.list[0].spec.partitions, 0));
    config_fini(&c);
    assert_string_equal(bad(with_classes("", "Class=gpu Partition=bach\n"), "Name=lx01\n", partitions),
                        "classes:1: Partition: \"bach\" is neither a number nor a partition; the nearest is "
                        "\"batch\"");
}

static void test_bad_classes(void **state)
{
    static const struct {
        const char *text, *why;
    } mistakes[] = {
        {"Class=gpu\nClass=a Nods=lx01\n", "classes:2: unknown key \"Nods\"; the nearest known is \"Nodes\""},
        {"Clas=gpu\n", "classes:1: the record of a node class begins with Class=NAME"},
        {"Nodes=lx01\n", NULL},
        {"Class=gpu\n\nClass=gpu\n", NULL},
        {"Class=gpu Drifted=maybe\n", NULL},
        {"Class=gpu Reboot=3\n", NULL},
        {"Class=gpu Nodes=lx[\n", NULL},
        {"Class=gpu CPUs=two\n", NULL},
        {"Class=gpu Partition=32\n", NULL},
        {"Class=gpu Critical=a,,b\n", NULL},
        {"Class=gpu Class=gpu\n", NULL},
        {"Class=a/b\n", NULL},
        {"gpu\n", NULL},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const char *why = bad(with_classes("", mistakes[i].text), "Name=lx01\n", NULL);
        char line[32];
        snprintf(line, sizeof line, "classes:%d: ", i == 0 ? 2 : strstr(mistakes[i].text, "\n\n") ? 3 : 1);
        if (mistakes[i].why)
            assert_string_equal(why, mistakes[i].why);
        else if (strstr(why, line) != why || strlen(why) < strlen(line) + 10)
            fail_msg("%s of %s", why, mistakes[i].text);
    }
}

static void test_a_class_asks_for_what_there_is(void **state)
{
    const char *why = bad(with_classes("", "Class=gpu Reboot=yes\n"), "Name=lx01\n", NULL);
    assert_string_equal(
        why, "classes:1: class \"gpu\" has Reboot=yes, but there is no OpenChamiPCS in fettle.conf");
    why = bad(with_classes("OpenChamiPCS = http://p\n", "Class=gpu Reboot=yes Initrd=/i\n"), "Name=lx01\n",
              NULL);
    assert_string_equal(
        why, "classes:1: class \"gpu\" names an image, but there is no OpenChamiBSS in fettle.conf");
}

static void test_the_classes_file_is_wanted(void **state)
{
    const char *why = bad("ClassConf = /nonexistent/classes\n", "Name=lx01\n", NULL);
    assert_ptr_equal(strstr(why, "fettle.conf:3: ClassConf: /nonexistent/classes"), why);
}

static void test_what_classes_name_fits_a_frame(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    for (int i = 0; i < 40; i++) { /* each names four files of 250 characters */
        text_printf(&t, "Class=c%d Major=", i);
        for (int k = 0; k < 4; k++)
            text_printf(&t, "%sfile./%0240d", k ? "," : "", 4 * i + k);
        text_add_char(&t, '\n');
    }
    const char *why = bad(with_classes("", t.s), "Name=lx01\n", NULL);
    assert_string_equal(
        why, "classes: the sysctls and files that the classes name are 39840 bytes together; at most "
             "32768 can be told to the agents");
}

static void doubts_of(const char *parameters, const char *nodes, const char *want)
{
    struct config c = good(parameters, nodes, NULL);
    CLEANUP_TEXT struct text said = {0};
    for (const char *line = c.warnings.s; line && *line; line += strcspn(line, "\n") + 1)
        text_printf(&said, "%.*s\n", (int)strcspn(line + strlen(dir) + 1, "\n"), line + strlen(dir) + 1);
    assert_string_equal(said.s ? said.s : "", want);
    config_fini(&c);
}

static void doubts(const char *classes, const char *nodes, const char *want)
{
    doubts_of(with_classes("", classes), nodes, want);
}

#define NO_NODE " has no node: none of NodeSpecConf is as it asks, or those are in classes before it\n"

static void test_classes_of_nodes_that_nobody_configured(void **state)
{
    static const char nodes[] = "Name=lx[01-04] Group=1\nName=gx01 Group=2\n";
    doubts("Class=a Nodes=lx[01-02]\nClass=b Group=2\nClass=default Minor=x\n", nodes, "");
    doubts("# one\n\nClass=a Nodes=lx[03-06],gx1\n", nodes,
           "classes:3: class \"a\" names nodes that are not in NodeSpecConf: gx1,lx[05-06]\n");
    doubts("Class=a Nodes=gx01\nClass=b Nodes=hx[01-02]\n", nodes,
           "classes:2: class \"b\" names nodes that are not in NodeSpecConf: hx[01-02]\n"
           "classes:2: class \"b\"" NO_NODE);
    doubts("Class=rack3 Group=3\n", nodes, "classes:1: class \"rack3\"" NO_NODE);
    doubts("Class=all\nClass=a Nodes=lx01\n", nodes, "classes:2: class \"a\"" NO_NODE);
    doubts("Class=a Nodes=lx[05-06]\nClass=rack3 Group=3\n", "# they come by themselves\n", "");
}

static void test_nodes_and_files_that_are_not_there(void **state)
{
    static const char nodes[] = "Name=lx[01-04]\n";
    CLEANUP_TEXT struct text t = {0};
    write_file("checks", "Check=a Probe=zombies Nodes=lx[01-02]\n#\nCheck=b Probe=load Nodes=lx[03-06]\n");
    text_printf(&t, "CheckConf = %s/checks\n", dir);
    doubts_of(t.s, nodes, "checks:3: check \"b\" names nodes that are not in NodeSpecConf: lx[05-06]\n");
    doubts_of(t.s, "# they come by themselves\n", "");
    doubts_of("CollectorNodes = lx01,gx1\n", nodes,
              "fettle.conf:3: CollectorNodes names nodes that are not in NodeSpecConf: gx1\n");
    doubts_of("SlurmScontrol = /nonexistent/scontrol\nReplaceProgram = /bin/sh\n", nodes,
              "fettle.conf:3: SlurmScontrol names a file that is not there: /nonexistent/scontrol\n");
    doubts_of("CollectorNodes = lx01\nSlurmScontrol =\nReplaceProgram = /bin/sh\n", nodes, "");
}

static void test_which_classes_changed(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct config was =
        good(with_classes("", "Class=a\nClass=b Drifted=avoid\nClass=c\n"), "Name=lx01\n", NULL);
    struct config is =
        good(with_classes("", "Class=b Drifted=exclude\nClass=c\nClass=d\n"), "Name=lx01\n", NULL);
    config_compare(&was, &is, &t);
    assert_string_equal(t.s, "class b changed\nclass d added\nclass a removed\n");
    config_fini(&was);
    was = good(with_classes("", "Class=d\nClass=b Drifted=exclude\nClass=c\n"), "Name=lx01\n", NULL);
    text_clear(&t);
    config_compare(&was, &is, &t);
    assert_string_equal(t.s, "the classes stand in another order\n");
    text_clear(&t);
    config_compare(&is, &is, &t);
    assert_int_equal(t.len, 0);
    config_fini(&was);
    config_fini(&is);
}

/* --- health ---------------------------------------------------------------------------------- */

/* The parameters with one that names a file of this text. Valid until the next call. */
static const char *with_file(const char *parameter, const char *name, const char *file,
                             const char *parameters)
{
    static char text[1024];
    snprintf(text, sizeof text, "%s = %s/%s\n%s", parameter, dir, name, parameters);
    write_file(name, file);
    return text;
}

#define CYCLE "Remedy=cycle Run=power.cycle Helps=* Confidence=50% Because=x Takes=1m\n"
#define REPLACE "Remedy=replace Run=replace Helps=* Confidence=50% Because=x Takes=1m\n"
#define A_BMC "Nodes=lx01 Driver=script Run=/bin/true\n"

static void test_files_of_health(void **state)
{
    struct config c = good("", "Name=lx01\n", NULL); /* without files: the usual checks, no remedies */
    assert_true(c.checks->n > 0);
    assert_int_equal(c.remedies->n, 0);
    assert_int_equal(c.meaning_lines.n, 0);
    config_fini(&c);
    c = good("Health = off\n", "Name=lx01\n", NULL);
    assert_int_equal(c.checks->n, 0);
    config_fini(&c);
    c = good(with_file("CheckConf", "checks", "Check=a Probe=fs.space Path=/\n", ""), "Name=lx01\n", NULL);
    assert_int_equal(c.checks->n, 1);
    config_fini(&c);
    c = good(with_file("MeaningConf", "meanings", "Xid=94 Act=job Because=\"a \\\"b\\\"\"\n", ""),
             "Name=lx01\n", NULL);
    assert_int_equal(c.meaning_lines.n, 1); /* as agents are told it */
    assert_string_equal(c.meaning_lines.names[0], "Xid=\"94\" Act=\"job\" Because=\"a \\\"b\\\"\"");
    config_fini(&c);
    c = good(with_file("RemedyConf", "remedies", REPLACE, "ReplaceProgram = /bin/true\n"), "Name=lx01\n",
             NULL);
    assert_int_equal(c.remedies->n, 1);
    config_fini(&c);
    char bmc[128];
    snprintf(bmc, sizeof bmc, "BmcConf = %s/bmc\n", dir);
    write_file("bmc", A_BMC);
    c = good(with_file("RemedyConf", "remedies", CYCLE, bmc), "Name=lx01\n", NULL);
    assert_int_equal(c.remedies->n, 1);
    assert_non_null(c.bmcs);
    config_fini(&c);
    assert_null(c.bmcs);
}

static void test_missing_files_of_health(void **state)
{
    static const char *const names[] = {"CheckConf", "MeaningConf", "RemedyConf", "BmcConf"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char line[64], wanted[96];
        snprintf(line, sizeof line, "%s = /nonexistent/file\n", names[i]);
        snprintf(wanted, sizeof wanted, "fettle.conf:3: %s: /nonexistent/file", names[i]);
        const char *why = bad(line, "Name=lx01\n", NULL);
        if (strstr(why, wanted) != why)
            fail_msg("%s", why);
    }
}

static void test_bad_files_of_health(void **state)
{
    static const struct {
        const char *parameter, *name, *text, *why;
    } mistakes[] = {
        {"CheckConf", "checks", "Check=a Probe=fs.space Path=/\nCheck=b Probe=fs.spaec\n", "checks:2: "},
        {"CheckConf", "checks", "Check=a Probe=fs.space Path=/ Classes=gpu\n", "checks:1: Classes: "},
        {"MeaningConf", "meanings", "Xid=94 Act=job\nXid=94 Act=jump\n", "meanings:2: "},
        {"RemedyConf", "remedies", "Remedy=a Rum=reboot\n", "remedies:1: "},
        {"RemedyConf", "remedies",
         "Remedy=a Run=reboot Helps=* Confidence=50% Because=x Takes=1m Classes=gpu\n",
         "remedies:1: Classes: "},
        {"RemedyConf", "remedies", CYCLE,
         "remedies:1: remedy cycle has Run=power.cycle, but there is no BmcConf in fettle.conf"},
        {"RemedyConf", "remedies", REPLACE,
         "remedies:1: remedy replace has Run=replace, but there is no ReplaceProgram in fettle.conf"},
        {"BmcConf", "bmc", A_BMC "Nodes=lx02 Driver=smoke\n", "bmc:2: "},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const char *why = bad(with_file(mistakes[i].parameter, mistakes[i].name, mistakes[i].text, ""),
                              "Name=lx01\n", NULL);
        if (strstr(why, mistakes[i].why) != why)
            fail_msg("%s; expected %s", why, mistakes[i].why);
    }
}

static void test_more_checks_than_can_be_told(void **state)
{
    CLEANUP_TEXT struct text records = {0}, nodes = {0};
    for (int i = 0; i < 110; i++)
        text_printf(&records, "Check=c%d Probe=plugin Run=\"/bin/%0600d\" Classes=default\n", i, i);
    const char *why = bad(with_file("CheckConf", "checks", records.s, ""), "Name=lx[01-02]\n", NULL);
    assert_non_null(strstr(why, "checks: the records are "));
    assert_non_null(strstr(why, "61440 can be told to agents"));

    text_clear(&records);
    text_add(&records, "Check=time Classes=default\n"); /* short, with a long list of irregular names */
    for (int i = 0; i < 9000; i++)
        text_printf(&nodes, "Name=n%d\n", i * 7919);
    why = bad(with_file("CheckConf", "checks", records.s, ""), nodes.s, NULL);
    assert_non_null(strstr(why, "with the nodes that run them"));
}

static void test_what_changed(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    struct config was = good("", "Name=lx01\n", NULL);
    struct config is = good("HeartBeatInterval = 20\nApiPort = 7000\n", "Name=lx01\n", NULL);
    config_compare(&was, &is, &t);
    assert_string_equal(t.s, "HeartBeatInterval \"10\" -> \"20\"\n"
                             "ApiPort \"6121\" -> \"7000\"; takes effect when fettled starts anew\n");
    config_fini(&was);
    config_fini(&is);

    text_clear(&t);
    was = good(with_file("CheckConf", "checks", "Check=time\n", ""), "Name=lx01\n", NULL);
    is = good(with_file("CheckConf", "checks", "# the clock\nCheck=time\n", ""), "Name=lx01\n", NULL);
    config_compare(&was, &is, &t);
    assert_int_equal(t.len, 0);
    config_fini(&is);
    is = good(with_file("CheckConf", "checks", "Check=time Fails=3\n", ""), "Name=lx01\n", NULL);
    config_compare(&was, &is, &t);
    assert_string_equal(t.s, "the records of CheckConf changed\n");
    config_fini(&was);
    config_fini(&is);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_document_s_samples),
        TEST(test_defaults),
        TEST(test_bad_parameters),
        TEST(test_urls),
        TEST(test_how_long_a_fingerprint_counts),
        TEST(test_a_field_has_1024_characters),
        TEST(test_files_that_cannot_be_read),
        TEST(test_timeouts_follow_the_interval),
        TEST(test_default_records),
        TEST(test_nodes_keep_their_order),
        TEST(test_names_of_others_for_the_nodes),
        TEST(test_bad_nodes),
        TEST(test_partitions),
        TEST(test_bad_partitions),
        TEST(test_a_large_partition_is_read_at_once),
        TEST(test_classes),
        TEST(test_a_class_has_partitions_by_name),
        TEST(test_bad_classes),
        TEST(test_a_class_asks_for_what_there_is),
        TEST(test_the_classes_file_is_wanted),
        TEST(test_what_classes_name_fits_a_frame),
        TEST(test_classes_of_nodes_that_nobody_configured),
        TEST(test_nodes_and_files_that_are_not_there),
        TEST(test_which_classes_changed),
        TEST(test_files_of_health),
        TEST(test_missing_files_of_health),
        TEST(test_bad_files_of_health),
        TEST(test_more_checks_than_can_be_told),
        TEST(test_what_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
