/* SPDX-License-Identifier: Apache-2.0 */
/* An issuer whose answers the test gives, in time that the test makes. This file stands in the place of
 * fetch.c. */
#include "token/issuer.h"

#include "fetch/fetch.h"
#include "token/forge_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- time, and the other side -------------------------------------------------------------------- */

static int64_t seconds; /* since the beginning of the test */

struct mono mono_told(void) __asm__("__wrap_mono_now");
struct mono mono_told(void)
{
    return (struct mono){seconds * 1000000000};
}

struct wall wall_told(void) __asm__("__wrap_wall_now");
struct wall wall_told(void)
{
    return (struct wall){INT64_C(1000000000) * FORGE_NOW_S};
}

static struct asked {
    unsigned n;
    char url[256], ca[64];
    fetch_done_fn *done;
    void *arg;
} asked;

struct fetch *fetch_create(uv_loop_t *loop, const struct fetch_options *o)
{
    asked = (struct asked){0};
    snprintf(asked.ca, sizeof asked.ca, "%s", o->ca ? o->ca : "");
    return (struct fetch *)&asked;
}

void fetch_destroy(struct fetch *f)
{
    asked.done = NULL;
}

void fetch_start(struct fetch *f, const char *method, const char *url, const char *body, fetch_done_fn *done,
                 void *arg)
{
    assert_null(asked.done);
    assert_null(body);
    assert_string_equal(method, "GET");
    asked.n++;
    asked.done = done;
    asked.arg = arg;
    snprintf(asked.url, sizeof asked.url, "%s", url);
}

static void answer(int status, const char *body)
{
    struct err why;
    fetch_done_fn *done = asked.done;
    err_set(&why, -ECONNREFUSED, "connection refused");
    assert_non_null(done);
    asked.done = NULL;
    done(asked.arg, status, body, strlen(body), &why);
}

#define DISCOVERY "https://login.example/realms/hpc/.well-known/openid-configuration"
#define KEYS "https://login.example/keys"

static void answer_discovery(void)
{
    assert_string_equal(asked.url, DISCOVERY);
    answer(200, "{\"issuer\":\"" FORGE_ISSUER "\",\"jwks_uri\":\"" KEYS "\"}");
}

static void answer_keys(enum forge_key key, const char *id)
{
    CLEANUP_TEXT struct text t = {0};
    assert_string_equal(asked.url, KEYS);
    text_add(&t, "{\"keys\":[");
    forge_public(key, id, "", &t);
    text_add(&t, "]}");
    answer(200, t.s);
}

/* --- the tokens ---------------------------------------------------------------------------------- */

struct told {
    unsigned n, good;
    int code;
    char why[ERR_MSG_BYTES_MAX];
    char subject[32];
};

static void on_told(void *arg, const struct token *t, const struct err *why)
{
    struct told *told = arg;
    told->n++;
    told->good += t != NULL;
    told->code = why ? why->code : 0;
    snprintf(told->why, sizeof told->why, "%s", why ? why->msg : "");
    snprintf(told->subject, sizeof told->subject, "%s", t ? t->subject : "");
    assert_int_not_equal(t != NULL, why != NULL);
}

static void verify(struct issuer *is, enum forge_key key, const char *id, struct told *told)
{
    CLEANUP_TEXT struct text header = {0};
    text_printf(&header, "{\"alg\":\"RS256\",\"kid\":\"%s\"}", id);
    CLEANUP_FREE char *token = forge_sign(forge_key(key), header.s, "{" FORGE_CLAIMS "}");
    issuer_verify(is, token, strlen(token), on_told, told);
}

static int open_issuer(void **state)
{
    const struct issuer_conf conf = {{FORGE_ISSUER, FORGE_AUDIENCE, "name", "groups", "auth_time", "tenants"},
                                     "/ca.pem"};
    seconds = 1000;
    *state = issuer_create(NULL, &conf);
    return 0;
}

static int close_issuer(void **state)
{
    issuer_destroy(*state);
    return 0;
}

/* With the key "a" of RSA. */
static struct issuer *known(void **state)
{
    struct told told = {0};
    verify(*state, FORGE_RSA, "a", &told);
    answer_discovery();
    answer_keys(FORGE_RSA, "a");
    assert_int_equal(told.good, 1);
    return *state;
}

/* --- tests --------------------------------------------------------------------------------------- */

static void the_first_token_waits_for_the_keys(void **state)
{
    struct told one = {0}, two = {0};
    assert_int_equal(asked.n, 0);
    assert_string_equal(asked.ca, "/ca.pem");
    verify(*state, FORGE_RSA, "a", &one);
    verify(*state, FORGE_OTHER_RSA, "a", &two);
    assert_int_equal(one.n + two.n, 0);
    assert_int_equal(asked.n, 1);
    answer_discovery();
    answer_keys(FORGE_RSA, "a");
    assert_int_equal(one.n, 1);
    assert_string_equal(one.subject, "24400320");
    assert_int_equal(two.n, 1);
    assert_int_equal(two.code, -EPERM);
    verify(*state, FORGE_RSA, "a", &one); /* at once */
    assert_int_equal(one.good, 2);
    assert_int_equal(asked.n, 2);
}

static void an_issuer_that_is_silent_is_no_refusal(void **state)
{
    struct told told = {0};
    verify(*state, FORGE_RSA, "a", &told);
    answer(0, "");
    assert_int_equal(told.code, -EAGAIN);
    assert_non_null(strstr(told.why, "connection refused"));
    verify(*state, FORGE_RSA, "a", &told); /* too soon to ask again */
    assert_int_equal(told.n, 2);
    assert_int_equal(told.code, -EAGAIN);
    assert_int_equal(asked.n, 1);
    seconds += 30;
    verify(*state, FORGE_RSA, "a", &told);
    answer_discovery();
    answer(500, "");
    assert_int_equal(told.code, -EAGAIN);
    assert_non_null(strstr(told.why, "500"));
}

static void a_discovery_of_another_issuer_is_refused(void **state)
{
    static const struct {
        const char *body, *why;
    } cases[] = {
        {"{\"issuer\":\"https://evil.example\",\"jwks_uri\":\"" KEYS "\"}", "another issuer"},
        {"{\"issuer\":\"" FORGE_ISSUER "\",\"jwks_uri\":\"http://login.example/keys\"}", "no https"},
        {"{\"issuer\":\"" FORGE_ISSUER "\",\"jwks_uri\":\"file:///etc/passwd\"}", "no https"},
        {"{\"issuer\":\"" FORGE_ISSUER "\"}", "no https"},
        {"<html>", "not JSON"},
    };
    struct told told = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        verify(*state, FORGE_RSA, "a", &told);
        answer(200, cases[i].body);
        assert_int_equal(told.n, i + 1);
        assert_int_equal(told.code, -EAGAIN);
        if (!strstr(told.why, cases[i].why))
            fail_msg("%s", told.why);
        seconds += 30;
    }
}

static void new_keys_are_fetched_once_they_are_named(void **state)
{
    struct issuer *is = known(state);
    struct told told = {0};
    seconds += 30;
    verify(is, FORGE_OTHER_RSA, "b", &told);
    assert_int_equal(told.n, 0);
    answer_discovery();
    answer_keys(FORGE_OTHER_RSA, "b");
    assert_int_equal(told.good, 1);
    verify(is, FORGE_RSA, "a", &told); /* the old key is gone, and its tokens with it */
    assert_int_equal(told.n, 2);
    assert_int_equal(told.code, -EPERM);
}

/* Whoever makes up ids of keys makes Fettle ask no more often. */
static void unknown_keys_are_asked_for_at_most_every_30_s(void **state)
{
    struct issuer *is = known(state);
    struct told told = {0};
    unsigned before = asked.n;
    for (unsigned i = 0; i < 20; i++)
        verify(is, FORGE_OTHER_RSA, "made-up", &told);
    assert_int_equal(told.n, 20);
    assert_int_equal(told.code, -EPERM);
    assert_int_equal(asked.n, before);
    seconds += 29;
    verify(is, FORGE_OTHER_RSA, "made-up", &told);
    assert_int_equal(asked.n, before);
    seconds += 1;
    for (unsigned i = 0; i < 20; i++)
        verify(is, FORGE_OTHER_RSA, "made-up", &told);
    assert_int_equal(told.n, 21); /* these wait */
    assert_int_equal(asked.n, before + 1);
    answer_discovery();
    answer_keys(FORGE_RSA, "a");
    assert_int_equal(told.n, 41);
    assert_int_equal(told.good, 0);
}

static void old_keys_are_renewed_while_tokens_go_on(void **state)
{
    struct issuer *is = known(state);
    struct told told = {0};
    unsigned before = asked.n;
    seconds += 600;
    verify(is, FORGE_RSA, "a", &told);
    assert_int_equal(asked.n, before);
    seconds += 1;
    verify(is, FORGE_RSA, "a", &told);
    assert_int_equal(told.good, 2); /* it did not wait */
    assert_int_equal(asked.n, before + 1);
    answer_discovery();
    answer_keys(FORGE_OTHER_RSA, "b");
    verify(is, FORGE_RSA, "a", &told);
    assert_int_equal(told.good, 2);
}

/* A day without the issuer, and its keys are believed no more. */
static void keys_of_a_silent_issuer_count_for_a_day(void **state)
{
    struct issuer *is = known(state);
    struct told told = {0};
    seconds += 86400;
    verify(is, FORGE_RSA, "a", &told);
    assert_int_equal(told.good, 1);
    answer(0, "");
    seconds += 1;
    verify(is, FORGE_RSA, "a", &told);
    assert_int_equal(told.good, 1);
    assert_int_equal(told.code, -EAGAIN);
}

static void a_huge_token_asks_for_nothing(void **state)
{
    CLEANUP_FREE char *huge = mem_alloc(TOKEN_BYTES_MAX + 1);
    struct told told = {0};
    memset(huge, 'a', TOKEN_BYTES_MAX + 1);
    issuer_verify(*state, huge, TOKEN_BYTES_MAX + 1, on_told, &told);
    assert_int_equal(told.code, -EPERM);
    assert_int_equal(asked.n, 0);
}

/* There is a limit to those that wait; the others are told to come again. */
static void a_crowd_does_not_wait(void **state)
{
    static struct told told; /* the teardown tells those that wait */
    for (int i = 0; i < 256; i++)
        issuer_verify(*state, "a", 1, on_told, &told);
    assert_int_equal(told.n, 0);
    issuer_verify(*state, "a", 1, on_told, &told);
    assert_int_equal(told.n, 1);
    assert_int_equal(told.code, -EAGAIN);
}

static void those_that_wait_are_told_at_the_end(void **state)
{
    struct told told = {0};
    verify(*state, FORGE_RSA, "a", &told);
    issuer_destroy(*state);
    *state = NULL;
    assert_int_equal(told.n, 1);
    assert_int_equal(told.code, -EAGAIN);
}

static int fini(void **state)
{
    forge_fini();
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_issuer, close_issuer)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_token_waits_for_the_keys),
        TEST(an_issuer_that_is_silent_is_no_refusal),
        TEST(a_discovery_of_another_issuer_is_refused),
        TEST(new_keys_are_fetched_once_they_are_named),
        TEST(unknown_keys_are_asked_for_at_most_every_30_s),
        TEST(old_keys_are_renewed_while_tokens_go_on),
        TEST(keys_of_a_silent_issuer_count_for_a_day),
        TEST(a_huge_token_asks_for_nothing),
        TEST(a_crowd_does_not_wait),
        TEST(those_that_wait_are_told_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, fini);
}
