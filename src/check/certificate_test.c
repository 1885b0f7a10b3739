/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

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
        IN_TRIAL(test_certificate_files),
        IN_TRIAL(test_certificates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
