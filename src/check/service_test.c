/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* --- service -------------------------------------------------------------------------------- */

static void add_process(struct trial *t, unsigned pid, const char *name, char state)
{
    char path[32], stat[128];
    snprintf(path, sizeof path, "proc/%u/stat", pid);
    snprintf(stat, sizeof stat, "%u (%s) %c 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 5 0\n", pid, name, state);
    trial_add(t, path, stat);
}

static void test_command(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=service Name=slurmd", "unknown /proc");
    add_process(t, 1, "init", 'S');
    trial_add(t, "usr/sbin/slurmd", "x");
    trial_add(t, "usr/sbin/slurm", "x");
    trial_expect(t, "Probe=service Name=slurmd", "fatal service slurmd: no process slurmd runs");
    add_process(t, 20, "slurmd", 'S');
    trial_expect(t, "Probe=service Name=slurmd", "ok");
    trial_expect(t, "Probe=service Name=x Command=slurm", "fatal service x: no process slurm runs");
    add_process(t, 20, "slurmd", 'Z');
    trial_expect(t, "Probe=service Name=slurmd", "fatal service slurmd: no process slurmd runs");
    add_process(t, 30, "slurmd", 'S'); /* restarted */
    trial_expect(t, "Probe=service Name=slurmd", "ok");
    add_process(t, 30, "bash", 'S'); /* its number is another's now */
    trial_expect(t, "Probe=service Name=slurmd", "fatal service slurmd: no process slurmd runs");
    add_process(t, 40, "nvidia-persiste", 'S'); /* the kernel keeps 15 bytes */
    trial_expect(t, "Probe=service Command=nvidia-persistenced", "ok");
}

static void test_socket(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=service Socket=/run/m.2", "unknown /proc/net/unix");
    trial_add(t, "proc/net/unix",
              "Num       RefCount Protocol Flags    Type St Inode Path\n"
              "0000000000000000: 00000003 00000000 00000000 0001 03 18000 /run/m.2\n"
              "0000000000000000: 00000002 00000000 00010000 0001 01 18001 /run/m.22\n");
    trial_expect(t, "Probe=service Name=munge Socket=/run/m.2",
                 "fatal service munge: nobody listens on /run/m.2");
    trial_expect(t, "Probe=service Name=munge Socket=/run/m.22", "ok");
}

static void test_port(void **state)
{
    struct trial *t = *state;
    trial_begins(t, "Probe=service Port=6818", "unknown /proc/net/tcp");
    trial_add(t, "proc/net/tcp",
              "  sl  local_address rem_address   st tx_queue\n"
              "   0: 0100007F:1AA2 0100007F:9999 01 00000000:00000000\n"
              "   1: 00000000:0016 00000000:0000 0A 00000000:00000000\n");
    trial_expect(t, "Probe=service Port=22", "ok");
    trial_expect(t, "Probe=service Port=6818", "fatal service tried: nobody listens on port 6818");
    trial_add(t, "proc/net/tcp6",
              "   0: 00000000000000000000000000000000:1AA2 00000000000000000000000000000000:0000 0A "
              "00000000:00000000\n");
    trial_expect(t, "Probe=service Port=6818", "ok");
}

static void test_unit(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=service Unit=chrony", "unsupported no systemd runs here");
    trial_add(t, "run/systemd/units/invocation:sshd.service@", "0123456789abcdef");
    trial_add(t, "lib/systemd/system/chrony.service", "[Unit]");
    trial_expect(t, "Probe=service Unit=sshd", "ok");
    trial_expect(t, "Probe=service Unit=sshd.service", "ok");
    trial_expect(t, "Probe=service Unit=chrony", "fatal service tried: the unit chrony is not active");
}

/* --- plugin --------------------------------------------------------------------------------- */

static void test_plugin(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=plugin Run=\"echo all is well; echo more\"", "ok all is well");
    trial_expect(t, "Probe=plugin Run=\"echo 'CRITICAL - disk full|x=1'; exit 2\"",
                 " x=1fatal : CRITICAL - disk full");
    trial_begins(t, "Probe=plugin Run=\"exit 3\"", "unknown");
    trial_begins(t, "Probe=plugin Run=/no/such/plugin", "unsupported");
    trial_expect(t, "Probe=plugin Run=\"kill -9 $$\"", "unknown it was killed by signal 9");
}

static void test_plugin_of_many_lines(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=plugin Run=\"echo; echo; echo fine; echo more; exit 0\"", "ok fine");
    trial_expect(t, "Probe=plugin Run=\"printf 'bad|a=1s;2\\nmore\\n\\nlast|b=-2.5%%\\n c=3'; exit 1\"",
                 " a=1s b=-2.500% c=3warn : bad");
    /* A line is longer than a fact. */
    trial_expect(t, "Probe=plugin Run=\"printf 'bad %0600d|far=7\\n' 0 | tr -d 0; exit 1\"",
                 " far=7warn : bad");
    trial_begins(t, "Probe=plugin Run=\"printf '%0600d|far=7\\n' 0; exit 1\"", " far=7warn : 000");
    trial_expect(t, "Probe=plugin Run=\"printf 'a\\000b|c=1'; exit 2\"", " c=1fatal : a b");
}

static void test_plugin_that_says_too_much(void **state)
{
    trial_begins(*state, "Probe=plugin Run=\"head -c 1000000 /dev/zero | tr '\\\\000' x; exit 1\"",
                 "warn : xxxx");
}

static void test_plugin_in_time(void **state)
{
    struct mono began = mono_now();
    trial_expect(*state, "Probe=plugin Deadline=1s Run=\"sleep 600\"", "unknown it did not end in time");
    trial_expect(*state, "Probe=plugin Deadline=1s Run=\"exec >&-; exec sleep 600\"",
                 "unknown it did not end in time");
    assert_true(mono_sub(mono_now(), began).ns < span_s(300).ns);
}

/* --- time ----------------------------------------------------------------------------------- */

static int clock_of_test(void *arg, struct timex *out)
{
    *out = *(struct timex *)arg;
    return out->status & STA_UNSYNC ? TIME_ERROR : TIME_OK;
}

static int no_clock(void *arg, struct timex *out)
{
    return -EPERM;
}

static void test_time(void **state)
{
    struct trial *t = *state;
    struct timex clock = {.offset = 400, .esterror = 100};
    struct look_calls calls = {.arg = &clock, .clock = clock_of_test};
    t->calls = &calls;
    trial_expect(t, "Probe=time", "ok");
    clock.offset = -600000; /* µs */
    trial_expect(t, "Probe=time", "degraded clock: wrong by 600 ms, of at most 500 ms");
    clock.status = STA_NANO;
    trial_expect(t, "Probe=time", "ok");
    clock.esterror = 3000000;
    trial_expect(t, "Probe=time", "fatal clock: wrong by 3000 ms, of at most 2000 ms");
    trial_expect(t, "Probe=time Fatal=4s Offset=4s", "ok");
    clock.esterror = 16000000; /* whoever sets the clock does not estimate */
    trial_expect(t, "Probe=time", "ok");
    calls.clock = no_clock;
    trial_expect(t, "Probe=time", "unknown adjtimex: Operation not permitted");
}

static void test_time_that_nobody_sets(void **state)
{
    struct trial *t = *state;
    struct timex clock = {.status = STA_UNSYNC, .esterror = 16000000};
    struct look_calls calls = {.arg = &clock, .clock = clock_of_test};
    t->calls = &calls;
    trial_add(t, "usr/sbin/chronyd", "x");
    trial_begins(t, "Probe=time", "warn clock: the kernel says that it is not synchronised");
    t->now_s += 3600;
    trial_begins(t, "Probe=time", "warn clock: the kernel says that it is not synchronised, for 1h01m");
    trial_begins(t, "Probe=time Unsynced=1h", "degraded clock: the kernel says that it is not synchronised");
    clock.status = 0;
    clock.esterror = 0;
    trial_expect(t, "Probe=time", "ok");
    clock.status = STA_UNSYNC; /* it begins anew */
    trial_begins(t, "Probe=time Unsynced=1h", "warn clock: the kernel says that it is not synchronised");
}

/* An hour wrong and not synchronised is no warning, whatever the kernel estimates. */
static void test_time_of_the_controller(void **state)
{
    struct trial *t = *state;
    struct timex clock = {.status = STA_UNSYNC, .time = {.tv_sec = 1800003600}};
    struct look_calls calls = {.arg = &clock, .clock = clock_of_test};
    const struct look_clock controller = {{INT64_C(1800000000) * 1000000000}, {(t->now_s + 60) * 1000000000}};
    t->calls = &calls;
    t->clock = &controller;
    trial_add(t, "usr/sbin/chronyd", "x");
    trial_expect(
        t, "Probe=time",
        "fatal clock: 1h00m ahead of the controller's, and the kernel says that it is not synchronised");
    clock.time.tv_sec = 1800000060 + 5;
    trial_begins(t, "Probe=time", "warn clock: the kernel says that it is not synchronised");
    clock.status = 0;
    clock.time.tv_sec = 1800000120 - 7200;
    trial_expect(t, "Probe=time", "warn clock: 2h00m behind the controller's: one of them is wrong");
    clock.time.tv_sec = 1800000180;
    trial_expect(t, "Probe=time", "ok");
}

static void test_time_of_this_machine(void **state)
{
    const char *said = trial_look(*state, "Probe=time");
    assert_true(strncmp(said, "unknown", 7) == 0 || strncmp(said, "unsupported", 11) == 0 ||
                strncmp(said, "ok", 2) == 0 || strstr(said, "clock: "));
}

/* Files that openssl(1) and ssh-keygen(1) made. */
static void add_certificate(struct trial *t, const char *path, const char *name)
{
    char from[256], bytes[4096];
    snprintf(from, sizeof from, "%s/certificate/%s", TEST_DATA, name);
    FILE *f = fopen(from, "r");
    assert_non_null(f);
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    tree_add_bytes(t->tree, path, bytes, n);
}

static void test_certificate_files(void **state)
{
    struct trial *t = *state;
    trial_expect(t, "Probe=certificate Path=/etc/node.pem", "unsupported there is no /etc/node.pem");
    trial_add(t, "etc/node.pem", "nothing\n");
    trial_expect(t, "Probe=certificate Path=/etc/node.pem", "unknown /etc/node.pem has no certificate");
    trial_add(t, "etc/node.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    trial_expect(t, "Probe=certificate Path=/etc/node.pem",
                 "unknown /etc/node.pem has a certificate that cannot be read");
    add_certificate(t, "etc/node.pem", "good.pem");
    trial_expect(t, "Probe=certificate Path=/etc/node.pem", "ok");
    add_certificate(t, "etc/node.pem", "expired.pem");
    trial_begins(t, "Probe=certificate Path=/etc/node.pem",
                 "warn certificate /etc/node.pem: old.example expired ");
    trial_begins(t, "Probe=certificate Path=/etc/node.pem Severity=degraded",
                 "degraded certificate /etc/node.pem");
    CLEANUP_FREE char *much = mem_alloc(65 << 10);
    memset(much, '-', 64 << 10);
    trial_add(t, "etc/node.pem", much);
    trial_expect(t, "Probe=certificate Path=/etc/node.pem", "unknown /etc/node.pem has more than 64 KiB");
    add_certificate(t, "etc/host.pub", "host_forever.pub");
    trial_expect(t, "Probe=certificate Path=/etc/host.pub", "ok");
}

static void certificates_come_to(struct trial *t, const char *record, const char *facts, const char *want)
{
    assert_string_equal(trial_judge(t, record, facts), want);
}

static void test_certificates(void **state)
{
    struct trial *t = *state;
    static const char record[] = "Probe=certificate Path=/c Severity=degraded",
                      longer[] = "Probe=certificate Path=/c Warn=30d";
    certificates_come_to(t, record, "now 1000000\ncertificate 0 1604801 lx01\n", "ok");
    certificates_come_to(t, record, "now 1000000\ncertificate 0 1604799 lx01\n",
                         "warn certificate /c: lx01 expires in 6d23h");
    certificates_come_to(t, longer, "now 1000000\ncertificate 0 3591999 -\n",
                         "warn certificate /c: a certificate expires in 29d23h");
    certificates_come_to(t, record,
                         "now 1000000\ncertificate 0 996400 lx01\ncertificate 1003600 9999999 ca\n",
                         "degraded certificate /c: lx01 expired 1h00m ago\n"
                         "degraded certificate /c: ca is not valid for another 1h00m");
    certificates_come_to(t, record, "now 1000000\ncertificate 0 9223372036854775807 lx01\n", "ok");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_command),
        IN_TRIAL(test_socket),
        IN_TRIAL(test_port),
        IN_TRIAL(test_unit),
        IN_TRIAL(test_plugin),
        IN_TRIAL(test_plugin_of_many_lines),
        IN_TRIAL(test_plugin_that_says_too_much),
        IN_TRIAL(test_plugin_in_time),
        IN_TRIAL(test_time),
        IN_TRIAL(test_time_that_nobody_sets),
        IN_TRIAL(test_time_of_the_controller),
        IN_TRIAL(test_time_of_this_machine),
        IN_TRIAL(test_certificate_files),
        IN_TRIAL(test_certificates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
