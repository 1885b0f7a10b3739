/* SPDX-License-Identifier: Apache-2.0 */
#include "base/certificate.h"

#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* test/data/check/certificate has what openssl(1) 3.0 and ssh-keygen(1) of OpenSSH 9.2 made for these tests.
 */

static void put(const struct certificate *c, void *arg)
{
    text_printf(arg, "%" PRId64 " %" PRId64 " %s\n", c->from_s, c->until_s, c->name);
}

static void add_file(struct text *t, const char *name)
{
    char path[256], bytes[4096];
    snprintf(path, sizeof path, "%s/certificate/%s", TEST_DATA, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text_add_bytes(t, bytes, fread(bytes, 1, sizeof bytes, f));
    fclose(f);
}

static void says(const struct text *bytes, int n, const char *want)
{
    CLEANUP_TEXT struct text said = {0};
    assert_int_equal(certificates_read(bytes->s, bytes->len, put, &said, NULL), n);
    assert_string_equal(said.s ? said.s : "", want);
}

static void file_says(const char *name, const char *want)
{
    CLEANUP_TEXT struct text t = {0};
    add_file(&t, name);
    says(&t, 1, want);
}

#define YEAR "1577836800 1609459200 " /* 2020 */

static void each_kind(void **state)
{
    file_says("expired.pem", YEAR "old.example\n");
    file_says("good.pem", "1577836800 4733510400 lx01.example\n");
    file_says("host_ed25519.pub", YEAR "lx01-ed25519\n");
    file_says("host_ecdsa.pub", YEAR "lx01-ecdsa\n");
    file_says("host_rsa.pub", YEAR "lx01-rsa\n");
    file_says("host_forever.pub", "0 9223372036854775807 lx01-forever\n");
}

static void all_of_a_file(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "# what a person wrote\n");
    add_file(&t, "good.pem");
    text_add(&t, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    add_file(&t, "expired.pem");
    add_file(&t, "host_rsa.pub");
    text_add(&t, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA== a key is no certificate\n");
    says(&t, 3, "1577836800 4733510400 lx01.example\n" YEAR "old.example\n" YEAR "lx01-rsa\n");
}

static void none(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "");
    says(&t, 0, "");
    text_add(&t, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    says(&t, 0, "");
}

static void is_refused(const char *bytes, size_t len)
{
    CLEANUP_TEXT struct text said = {0};
    struct err e = {0};
    assert_int_equal(certificates_read(bytes, len, put, &said, &e), -EINVAL);
    assert_string_equal(e.msg, "a certificate that cannot be read");
}

static void broken_certificates_are_refused(void **state)
{
    CLEANUP_TEXT struct text pem = {0}, ssh = {0};
    add_file(&pem, "good.pem");
    add_file(&ssh, "host_ed25519.pub");
    is_refused(pem.s, pem.len / 2);
    pem.s[pem.len / 2] = '!';
    is_refused(pem.s, pem.len);
    is_refused(ssh.s, 200);
    is_refused(ssh.s, strcspn(ssh.s, " "));
    static const char kind[] = "ssh-new-cert-v01@openssh.com AAAAB3NzaA==\n";
    is_refused(kind, sizeof kind - 1);
    for (size_t n = sizeof "ssh-ed25519-cert-v01@openssh.com"; n + 1 < strcspn(ssh.s, "=\n") - 200; n++) {
        CLEANUP_TEXT struct text said = {0};
        certificates_read(ssh.s, n, put, &said, NULL); /* cut anywhere it does no harm */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind),
        cmocka_unit_test(all_of_a_file),
        cmocka_unit_test(none),
        cmocka_unit_test(broken_certificates_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
