/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/home/join.h"

#include "agent/fake_test.h"
#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SECRET "0123456789abcdef0123456789abcdef"

struct joining {
    struct fake *f;
    char token[128], home[256];
    struct address controller;
    struct join_request request;
    bool done;
    struct err why;
};

static int open_joining(void **state)
{
    struct joining *j = mem_alloc(sizeof *j);
    j->f = mem_alloc(sizeof *j->f);
    fake_init(j->f);
    snprintf(j->token, sizeof j->token, "fettle1.%s.%s", authority_fingerprint(j->f->ca), SECRET);
    snprintf(j->home, sizeof j->home, "%s/joined", j->f->dir);
    j->controller = (struct address){"127.0.0.1", fake_port(j->f)};
    j->request = (struct join_request){j->token, &j->controller, "lx07", "", j->home, false};
    *state = j;
    return 0;
}

static int close_joining(void **state)
{
    struct joining *j = *state;
    fake_fini(j->f);
    free(j->f);
    free(j);
    return 0;
}

static void on_done(void *arg, const struct err *why)
{
    struct joining *j = arg;
    j->done = true;
    if (why)
        j->why = *why;
}

static bool is_done(void *arg)
{
    return ((struct joining *)arg)->done;
}

static void start(struct joining *j)
{
    struct err e = {0};
    j->done = false;
    j->why = (struct err){0};
    if (join_start(&j->f->loop, &j->request, on_done, j, &e))
        fail_msg("%s", e.msg);
}

/* Answers the n-th JOIN with a certificate for `name`. */
static void answer(struct joining *j, int n, const char *name, struct span valid)
{
    int at = fake_wait_frame(j->f, FRAME_JOIN, 0, n);
    assert_true(at >= 0);
    const char *token = "", *csr = "";
    json_t *body = j->f->frames[at].body;
    assert_int_equal(json_take_string(body, "token", &token, NULL), 0);
    assert_int_equal(json_take_string(body, "request", &csr, NULL), 0);
    assert_string_equal(token, j->token);
    struct identity id = {.kind = IDENTITY_NODE};
    snprintf(id.name, sizeof id.name, "%s", name);
    CLEANUP_FREE char *cert = NULL;
    assert_int_equal(authority_sign(j->f->ca, csr, &id, NULL, valid, &cert, NULL), 0);
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "{\"certificate\":");
    text_add_json(&t, cert);
    text_add(&t, ",\"authority\":");
    text_add_json(&t, authority_pem(j->f->ca));
    text_add(&t, "}");
    fake_send(j->f, j->f->frames[at].peer, FRAME_JOINED, "%s", t.s);
    assert_true(fake_wait(j->f, is_done, j));
}

static void join_as(struct joining *j, int n, struct span valid)
{
    start(j);
    answer(j, n, "lx07", valid);
    assert_int_equal(j->why.code, 0);
}

static void gets_an_identity_for_a_token(void **state)
{
    struct joining *j = *state;
    struct home_identity id;
    struct address_list list = {0};
    join_as(j, 1, span_s(3600));
    assert_int_equal(home_load(j->home, &id, NULL), 0);
    assert_string_equal(id.name, "lx07");
    assert_string_equal(id.ca, authority_pem(j->f->ca));
    home_identity_fini(&id);
    assert_int_equal(home_load_controllers(j->home, &list, NULL), 0);
    assert_int_equal(list.n, 1);
    assert_int_equal(list.at[0].port, fake_port(j->f));
}

static void keeps_a_valid_identity(void **state)
{
    struct joining *j = *state;
    struct err e = {0};
    join_as(j, 1, span_s(3600));
    assert_int_equal(join_start(&j->f->loop, &j->request, on_done, j, &e), -EEXIST);
    assert_non_null(strstr(e.msg, "--again"));
    j->request.again = true;
    join_as(j, 2, span_s(3600));
}

static void replaces_an_expired_identity(void **state)
{
    struct joining *j = *state;
    join_as(j, 1, span_s(-60));
    join_as(j, 2, span_s(3600));
}

static void never_shows_the_token_to_another_authority(void **state)
{
    struct joining *j = *state;
    j->token[8] = j->token[8] == '0' ? '1' : '0';
    start(j);
    assert_true(fake_wait(j->f, is_done, j));
    assert_int_equal(j->why.code, -EPERM);
    assert_non_null(strstr(j->why.msg, "is not a controller of the cluster that made the token"));
    assert_int_equal(j->f->n_frames, 0);
    assert_int_not_equal(access(j->home, F_OK), 0);
}

static void says_why_it_was_refused(void **state)
{
    struct joining *j = *state;
    start(j);
    int at = fake_wait_frame(j->f, FRAME_JOIN, 0, 1);
    assert_true(at >= 0);
    peer_refuse(j->f->peers[j->f->frames[at].peer], -EACCES, "the token was used before");
    assert_true(fake_wait(j->f, is_done, j));
    assert_int_equal(j->why.code, -EACCES);
    assert_non_null(strstr(j->why.msg, "the token was used before"));
}

static void takes_no_certificate_of_another_name(void **state)
{
    struct joining *j = *state;
    start(j);
    answer(j, 1, "lx08", span_s(3600));
    assert_int_equal(j->why.code, -EPROTO);
    assert_int_not_equal(access(j->home, F_OK), 0);
}

static void spends_no_token_when_nothing_can_be_stored(void **state)
{
    struct joining *j = *state;
    struct err e = {0};
    fake_write(j->f->dir, "file", "");
    snprintf(j->home, sizeof j->home, "%s/file/home", j->f->dir);
    assert_int_equal(join_start(&j->f->loop, &j->request, on_done, j, &e), -ENOTDIR);
    assert_non_null(strstr(e.msg, j->home));
    snprintf(j->home, sizeof j->home, "%s/none/home", j->f->dir);
    assert_int_equal(join_start(&j->f->loop, &j->request, on_done, j, &e), -ENOENT);
    assert_int_equal(j->f->n_frames, 0);
}

static void says_when_nobody_is_there(void **state)
{
    struct joining *j = *state;
    fake_close(j->f);
    start(j);
    assert_true(fake_wait(j->f, is_done, j));
    assert_int_not_equal(j->why.code, 0);
    fake_open(j->f);
    start(j);
    int at = fake_wait_frame(j->f, FRAME_JOIN, 0, 1);
    peer_close(j->f->peers[j->f->frames[at].peer]);
    assert_true(fake_wait(j->f, is_done, j));
    assert_int_equal(j->why.code, -EPROTO);
}

static void refuses_what_is_no_token_or_no_name(void **state)
{
    struct joining *j = *state;
    static const char *const tokens[] = {"", "fettle1.", "fettle2.aa.bb", ("fettle1.zz." SECRET)};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        j->request.token = tokens[i];
        assert_int_equal(join_start(&j->f->loop, &j->request, on_done, j, NULL), -EINVAL);
    }
    j->token[strlen(j->token) - 1] = 0;
    j->request.token = j->token;
    assert_int_equal(join_start(&j->f->loop, &j->request, on_done, j, NULL), -EINVAL);
    snprintf(j->token, sizeof j->token, "fettle1.%s.%s", authority_fingerprint(j->f->ca), SECRET);
    j->request.name = "lx[01-02]";
    assert_int_equal(join_start(&j->f->loop, &j->request, on_done, j, NULL), -EINVAL);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_joining, close_joining)
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        T(gets_an_identity_for_a_token),
        T(keeps_a_valid_identity),
        T(replaces_an_expired_identity),
        T(never_shows_the_token_to_another_authority),
        T(says_why_it_was_refused),
        T(takes_no_certificate_of_another_name),
        T(says_when_nobody_is_there),
        T(spends_no_token_when_nothing_can_be_stored),
        T(refuses_what_is_no_token_or_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
