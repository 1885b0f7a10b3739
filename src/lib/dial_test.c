/* SPDX-License-Identifier: Apache-2.0
 *
 * The address of the controller, and connections to it.
 */
#include "lib/dial.h"

#include "lib/buffer.h"

#include "base/text.h"
#include "lib/stub_test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static void an_address_is_a_path_or_https(void **state)
{
    static const char *const good[] = {"/run/x.sock",       "unix:/run/x.sock",       "https://ctl:6121",
                                       "https://ctl:6121/", "https://127.0.0.1:6121", "https://[::1]:6121"};
    static const char *const bad[] = {"ctl:6121",
                                      "http://ctl:6121",
                                      "https://ctl",
                                      "https://:1",
                                      "unix:x.sock",
                                      "https://c:1/x",
                                      "https://[::1:6121",
                                      "https://c:123456",
                                      "https://c:65536",
                                      "https://c:12x",
                                      "x"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct fettle_options o = {.controller = good[i]};
        struct fettle *f = NULL;
        struct fettle_error e = {0};
        if (fettle_open(&o, &f, &e) != 0)
            fail_msg("%s", e.message);
        fettle_close(f);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fettle_options o = {.controller = bad[i]};
        struct fettle *f = NULL;
        struct fettle_error e = {0};
        assert_int_equal(fettle_open(&o, &f, &e), -EINVAL);
        assert_non_null(strstr(e.message, bad[i] + (strncmp(bad[i], "unix:", 5) == 0 ? 5 : 0)));
    }
}

static void the_environment_names_the_controller(void **state)
{
    CLEANUP_FREE char *answer = stub_json(200, "{\"version\":\"1\"}");
    struct stub_answer answers[] = {{.bytes = answer}};
    struct stub *stub = stub_start(answers, 1);
    struct fettle *f = NULL;
    struct fettle_answer *a = NULL;
    setenv("FETTLE_CONTROLLER", stub_path(stub), 1);
    assert_int_equal(fettle_open(NULL, &f, NULL), 0);
    unsetenv("FETTLE_CONTROLLER");
    assert_int_equal(fettle_status(f, &a, NULL), 0);
    assert_string_equal(fettle_get_text(fettle_answer_value(a), "version"), "1");
    fettle_answer_free(a);
    fettle_close(f);
    stub_stop(stub);
}

static void nobody_there_is_said(void **state)
{
    struct fettle_options o = {.controller = "/nonexistent/fettled.sock"};
    struct fettle *f = NULL;
    struct fettle_answer *a = NULL;
    struct fettle_error e;
    assert_int_equal(fettle_open(&o, &f, &e), 0);
    assert_int_equal(fettle_status(f, &a, &e), -ECONNREFUSED);
    assert_string_equal(e.message, "no controller at /nonexistent/fettled.sock: No such file or directory");
    fettle_close(f);
}

/* Of several controllers one is asked that can be reached, and for a change one that leads. */
static void a_controller_that_leads_is_found(void **state)
{
    CLEANUP_FREE char *refusal =
        stub_json(421, "{\"error\":{\"code\":\"not_leader\",\"message\":\"c2 leads\"}}");
    CLEANUP_FREE char *done = stub_json(200, "{\"changed\":\"lx01\"}");
    struct stub_answer refuses[] = {{.bytes = refusal}}, leads[] = {{.bytes = done}, {.bytes = done}};
    struct stub *follower = stub_start(refuses, 1), *leader = stub_start(leads, 2);
    CLEANUP_TEXT struct text names = {0};
    struct fettle *f = NULL;
    struct fettle_answer *a = NULL;
    struct fettle_error e;
    text_printf(&names, "/nonexistent/fettled.sock,%s,unix:%s", stub_path(follower), stub_path(leader));
    const struct fettle_options o = {.controller = names.s};
    assert_int_equal(fettle_open(&o, &f, &e), 0);
    for (int i = 0; i < 2; i++) { /* it stays there */
        assert_int_equal(fettle_node_drain(f, "lx01", "fan", &a, &e), 0);
        assert_string_equal(fettle_get_text(fettle_answer_value(a), "changed"), "lx01");
        fettle_answer_free(a);
    }
    fettle_close(f);
    stub_join(follower);
    stub_join(leader);
    assert_int_equal(stub_requests(follower), 1);
    assert_int_equal(stub_requests(leader), 2);
    stub_stop(follower);
    stub_stop(leader);
}

/* The files of the controller that was reached count: where it follows, their texts go to the one that leads.
 */
static void a_reload_brings_the_texts_to_the_leader(void **state)
{
    CLEANUP_FREE char *refusal =
        stub_json(421, "{\"error\":{\"code\":\"not_leader\",\"message\":\"c2 leads\"}}");
    CLEANUP_FREE char *texts =
        stub_json(200, "{\"revision\":7,\"parts\":[{\"part\":\"nodes\",\"text\":\"\"}]}");
    CLEANUP_FREE char *done = stub_json(200, "{\"changes\":[]}");
    struct stub_answer follows[] = {{.bytes = refusal}, {.bytes = texts}, {.bytes = refusal}},
                       leads[] = {{.bytes = done}};
    struct stub *follower = stub_start(follows, 3), *leader = stub_start(leads, 1);
    CLEANUP_TEXT struct text names = {0};
    struct fettle *f = NULL;
    struct fettle_answer *a = NULL;
    struct fettle_error e;
    text_printf(&names, "/nonexistent/fettled.sock,%s,unix:%s", stub_path(follower), stub_path(leader));
    const struct fettle_options o = {.controller = names.s};
    assert_int_equal(fettle_open(&o, &f, &e), 0);
    fettle_dry_run(f, true);
    assert_int_equal(fettle_reload(f, &a, &e), 0);
    fettle_answer_free(a);
    fettle_close(f);
    stub_join(follower);
    stub_join(leader);
    assert_non_null(strstr(stub_request(follower, 0), "POST /v1/reload?dry_run=true "));
    assert_non_null(strstr(stub_request(follower, 1), "GET /v1/configuration "));
    assert_non_null(strstr(stub_request(leader, 0), "POST /v1/reload?dry_run=true "));
    assert_non_null(strstr(stub_request(leader, 0), "{\"revision\":7,\"parts\":["));
    stub_stop(follower);
    stub_stop(leader);
}

/* While nobody leads, the controllers are asked again until the time is over. */
static void a_leader_is_waited_for(void **state)
{
    CLEANUP_FREE char *refusal =
        stub_json(421, "{\"error\":{\"code\":\"not_leader\",\"message\":\"nobody leads\"}}");
    CLEANUP_FREE char *done = stub_json(200, "{\"changed\":\"lx01\"}");
    struct stub_answer becomes[] = {{.bytes = refusal}, {.bytes = refusal}, {.bytes = done}};
    struct stub *stub = stub_start(becomes, 3);
    CLEANUP_TEXT struct text names = {0};
    struct fettle *f = NULL;
    struct fettle_answer *a = NULL;
    struct fettle_error e;
    text_printf(&names, "%s,/nonexistent/fettled.sock", stub_path(stub));
    const struct fettle_options o = {.controller = names.s};
    assert_int_equal(fettle_open(&o, &f, &e), 0);
    assert_int_equal(fettle_node_drain(f, "lx01", "fan", &a, &e), 0);
    fettle_answer_free(a);
    fettle_close(f);
    stub_stop(stub);
}

/* ---- over TLS ---- */

/* A port of this machine where connections are taken, and nobody says anything. */
struct silence {
    int listener;
    char name[48];
};

static struct silence silence_open(void)
{
    struct silence s = {.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    assert_int_equal(bind(s.listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(s.listener, 32), 0);
    assert_int_equal(getsockname(s.listener, (struct sockaddr *)&at, &len), 0);
    snprintf(s.name, sizeof s.name, "https://127.0.0.1:%d", ntohs(at.sin_port));
    return s;
}

static int dial(const struct fettle_options *o, int wait_ms, struct err *e)
{
    struct address a[ADDRESSES_MAX] = {0};
    struct dialled *d = NULL;
    assert_int_equal(address_init(a, o, e), 1);
    int r = address_dial(a, mono_add(mono_now(), span_ms(wait_ms)), &d, e);
    dial_close(d);
    address_fini(a);
    return r;
}

static void write_file(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static void test_files_of_certificates_are_checked_before_anything_is_said(void **state)
{
    char dir[] = "/tmp/fettle-dial-XXXXXX", empty[64], nul[64], text[64], none[64], open_key[64];
    assert_non_null(mkdtemp(dir));
    snprintf(empty, sizeof empty, "%s/empty", dir);
    snprintf(nul, sizeof nul, "%s/nul", dir);
    snprintf(text, sizeof text, "%s/text", dir);
    snprintf(none, sizeof none, "%s/none", dir);
    write_file(empty, "", 0);
    write_file(nul, "a\0b", 3);
    write_file(text, "no certificate", 14);
    snprintf(open_key, sizeof open_key, "%s/open.key", dir);
    write_file(open_key, "a key", 5);
    assert_int_equal(chmod(text, 0600) | chmod(open_key, 0640), 0);
    const struct {
        const char *cert, *key, *ca;
        int code;
        const char *error;
    } cases[] = {
        {NULL, NULL, NULL, -EINVAL,
         "which authority signs controllers? (FETTLE_CA names its certificate's file)"},
        {text, NULL, text, -EINVAL,
         "a certificate needs its key, and a key its certificate (FETTLE_CERT, FETTLE_KEY)"},
        {NULL, text, text, -EINVAL,
         "a certificate needs its key, and a key its certificate (FETTLE_CERT, FETTLE_KEY)"},
        {NULL, NULL, none, -ENOENT, "No such file or directory"},
        {none, text, text, -ENOENT, "No such file or directory"},
        {text, none, text, -ENOENT, "No such file or directory"},
        {NULL, NULL, dir, -ENOENT, "cannot be read"},
        {NULL, NULL, empty, -EINVAL, "not a file in PEM form"},
        {NULL, NULL, nul, -EINVAL, "not a file in PEM form"},
        {NULL, NULL, text, -EINVAL, "text: "},
        {text, text, text, -EINVAL, "text: "},
        {text, open_key, text, -EACCES, "others than its owner may read or write"},
    };
    struct silence s = silence_open();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct err e = {0};
        const struct fettle_options o = {
            .controller = s.name, .cert = cases[i].cert, .key = cases[i].key, .ca = cases[i].ca};
        if (dial(&o, 10000, &e) != cases[i].code || !strstr(e.msg, cases[i].error))
            fail_msg("%zu: %d %s", i, e.code, e.msg);
    }
    close(s.listener);
    assert_int_equal(unlink(empty) | unlink(nul) | unlink(text) | unlink(open_key) | rmdir(dir), 0);
}

/* The header for a token in this file; or the sentence of the error. */
static int authorize(const char *controller, const char *file, struct buffer *b, struct err *e)
{
    struct address a[ADDRESSES_MAX];
    buffer_clear(b);
    *e = (struct err){0};
    assert_int_equal(address_init(a, &(struct fettle_options){.controller = controller, .token = file}, NULL),
                     1);
    int rc = address_authorize(a, b, e);
    address_fini(a);
    return rc;
}

static void test_a_token_is_sent_over_https_from_a_private_file(void **state)
{
    static const char https[] = "https://localhost:1";
    char file[] = "/tmp/fettle-token-XXXXXX", large[(8 << 10) + 2];
    struct buffer b = {0};
    struct err e;
    close(mkstemp(file));
    write_file(file, "aaa.bbb.ccc\n", 12);
    assert_int_equal(authorize(https, file, &b, &e), 0);
    assert_string_equal(b.s, "Authorization: Bearer aaa.bbb.ccc\r\n");
    assert_int_equal(authorize("/run/f.sock", file, &b, &e), 0);
    assert_int_equal(b.len, 0);
    assert_int_equal(chmod(file, 0644), 0);
    assert_int_equal(authorize(https, file, &b, &e), -EACCES);
    assert_int_equal(b.len, 0);
    assert_non_null(strstr(e.msg, "chmod go-rwx"));
    assert_int_equal(chmod(file, 0600), 0);
    memset(large, 'a', sizeof large);
    static const char *const wrong[] = {"", "\n", "a b", "a\r\nX-Evil: 1", "\xc3\xa4"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        write_file(file, wrong[i], strlen(wrong[i]));
        assert_int_equal(authorize(https, file, &b, &e), -EINVAL);
        assert_int_equal(b.len, 0);
    }
    write_file(file, large, sizeof large);
    assert_int_equal(authorize(https, file, &b, &e), -EINVAL);
    unlink(file);
    assert_int_equal(authorize(https, file, &b, &e), -ENOENT);
    assert_int_equal(authorize(https, "/tmp", &b, &e), -EINVAL);
    buffer_fini(&b);
}

static void test_a_port_where_nobody_listens_is_named(void **state)
{
    struct silence s = silence_open();
    struct err e = {0};
    close(s.listener);
    const struct fettle_options o = {.controller = s.name};
    assert_int_equal(dial(&o, 10000, &e), -ECONNREFUSED);
    assert_non_null(strstr(e.msg, "no controller at https://127.0.0.1:"));
    assert_non_null(strstr(e.msg, ": Connection refused"));
}

/* ---- the local socket ---- */

static void test_a_path_has_room_in_the_address_of_a_socket(void **state)
{
    char path[sizeof((struct sockaddr_un *)NULL)->sun_path + 1];
    struct err e = {0};
    struct address a[ADDRESSES_MAX] = {0};
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[sizeof path - 2] = '\0'; /* it fits, with its zero byte */
    struct fettle_options o = {.controller = path};
    assert_int_equal(address_init(a, &o, &e), 1);
    assert_string_equal(a->path, path);
    address_fini(a);
    path[sizeof path - 2] = 'x';
    path[sizeof path - 1] = '\0';
    assert_int_equal(address_init(a, &o, &e), -EINVAL);
    assert_non_null(strstr(e.msg, path));
}

static void test_options_go_before_the_environment(void **state)
{
    struct address a[ADDRESSES_MAX] = {0};
    struct err e = {0};
    setenv("FETTLE_CA", "/env/ca.pem", 1);
    setenv("FETTLE_CERT", "", 1);
    const struct fettle_options given = {.controller = "https://ctl:1", .ca = "/given/ca.pem"},
                                none = {.controller = "https://[::1]:6121/"};
    assert_int_equal(address_init(a, &given, &e), 1);
    assert_string_equal(a->ca, "/given/ca.pem");
    assert_null(a->cert);
    address_fini(a);
    assert_int_equal(address_init(a, &none, &e), 1);
    assert_string_equal(a->ca, "/env/ca.pem");
    assert_string_equal(a->host, "::1");
    assert_string_equal(a->port, "6121");
    address_fini(a);
    unsetenv("FETTLE_CA");
    unsetenv("FETTLE_CERT");
    assert_int_equal(address_init(a, NULL, &e), 1);
    assert_string_equal(a->path, "/run/fettle/fettled.sock");
    address_fini(a);
    const struct fettle_options two = {.controller = "/a,https://[::1]:1"}, wrong = {.controller = "/a,b"};
    assert_int_equal(address_init(a, &two, &e), 2);
    assert_string_equal(a[0].path, "/a");
    assert_string_equal(a[1].host, "::1");
    address_fini(&a[0]);
    address_fini(&a[1]);
    assert_int_equal(address_init(a, &wrong, &e), -EINVAL);
    assert_string_equal(e.msg, "controller address \"b\" is neither a path nor https://HOST:PORT");
}

/* An end that is gone is told to the one who writes, without a signal. */
static void test_a_lost_connection_is_an_error(void **state)
{
    static char bytes[1 << 20];
    const struct stub_answer answers[] = {{.bytes = "x", .after = STUB_CLOSE}};
    struct stub *stub = stub_start(answers, 1);
    const struct fettle_options o = {.controller = stub_path(stub)};
    struct mono until = mono_add(mono_now(), span_ms(10000));
    struct address a[ADDRESSES_MAX] = {0};
    struct dialled *d = NULL;
    struct err e = {0};
    char one[8];
    assert_int_equal(address_init(a, &o, &e), 1);
    assert_int_equal(address_dial(a, until, &d, &e), 0);
    assert_false(dial_is_stale(d));
    assert_int_equal(dial_write(d, "\r\n\r\n", 4, until, &e), 0);
    assert_int_equal(dial_read(d, one, sizeof one, until, &e), 1);
    assert_int_equal(dial_read(d, one, sizeof one, until, &e), 0); /* its end */
    assert_true(dial_is_stale(d));
    int r = 0;
    while (r == 0)
        r = dial_write(d, bytes, sizeof bytes, until, &e);
    assert_int_equal(r, -ECONNREFUSED);
    assert_string_equal(e.msg, "the connection to the controller was lost: Broken pipe");
    dial_close(d);
    address_fini(a);
    stub_stop(stub);
}

static void test_waiting_has_an_end(void **state)
{
    const struct stub_answer answers[] = {{.bytes = NULL, .after = STUB_HOLD}};
    struct stub *stub = stub_start(answers, 1);
    const struct fettle_options o = {.controller = stub_path(stub)};
    struct address a[ADDRESSES_MAX] = {0};
    struct dialled *d = NULL;
    struct err e = {0};
    char one[8];
    assert_int_equal(address_init(a, &o, &e), 1);
    assert_int_equal(address_dial(a, mono_add(mono_now(), span_ms(10000)), &d, &e), 0);
    assert_int_equal(dial_read(d, one, sizeof one, mono_add(mono_now(), span_ms(20)), &e), -ETIMEDOUT);
    dial_close(d);
    address_fini(a);
    stub_stop(stub);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_a_path_or_https),
        cmocka_unit_test(the_environment_names_the_controller),
        cmocka_unit_test(nobody_there_is_said),
        cmocka_unit_test(a_controller_that_leads_is_found),
        cmocka_unit_test(a_leader_is_waited_for),
        cmocka_unit_test(a_reload_brings_the_texts_to_the_leader),
        cmocka_unit_test(test_files_of_certificates_are_checked_before_anything_is_said),
        cmocka_unit_test(test_a_token_is_sent_over_https_from_a_private_file),
        cmocka_unit_test(test_a_port_where_nobody_listens_is_named),
        cmocka_unit_test(test_a_path_has_room_in_the_address_of_a_socket),
        cmocka_unit_test(test_options_go_before_the_environment),
        cmocka_unit_test(test_a_lost_connection_is_an_error),
        cmocka_unit_test(test_waiting_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
