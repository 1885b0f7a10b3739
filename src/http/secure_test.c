/* SPDX-License-Identifier: Apache-2.0 */
/* The server behind TLS: who is asking, and an answer larger than the stream's queue. */
#include "http/response.h"
#include "http/world_test.h"

#include <stdlib.h>
#include <unistd.h>

/* A client made of the stream and the parser of answers. */
struct asker {
    struct http_response *response;
    size_t body_bytes;
    bool done;
    unsigned closed;
};

static int on_body(void *arg, const char *bytes, size_t n)
{
    struct asker *a = arg;
    a->body_bytes += n;
    return 0;
}

static void on_open(struct stream *s, void *arg)
{
    assert_int_equal(stream_peer(s)->kind, IDENTITY_CONTROLLER);
}

static void on_bytes(struct stream *s, void *arg, const char *bytes, size_t n)
{
    struct asker *a = arg;
    struct err e;
    if (http_response_feed(a->response, bytes, n, &a->done, &e) < 0)
        fail_msg("%s", e.msg);
}

static void on_close(struct stream *s, void *arg, const struct err *why)
{
    struct asker *a = arg;
    a->closed++;
}

static const struct stream_events events = {.on_open = on_open, .on_bytes = on_bytes, .on_close = on_close};

static struct tls_context *context(struct authority *ca, const char *uri, bool server)
{
    CLEANUP_FREE char *key = NULL;
    CLEANUP_FREE char *csr = NULL;
    CLEANUP_FREE char *cert = NULL;
    struct identity id;
    struct tls_context *tls = NULL;
    struct err e;
    if (identity_parse(uri, &id, &e) < 0 || tls_new_request(&key, &csr, &e) < 0 ||
        authority_sign(ca, csr, &id, NULL, span_s(3600), &cert, &e) < 0)
        fail_msg("%s", e.msg);
    int rc = server ? tls_server_context(cert, key, authority_pem(ca), TLS_PEER_OPTIONAL, &tls, &e)
                    : tls_client_context(cert, key, authority_pem(ca), &tls, &e);
    if (rc < 0)
        fail_msg("%s", e.msg);
    return tls;
}

static struct authority *authority_new(const char *dir)
{
    struct authority *ca;
    struct err e;
    if (authority_open(dir, &ca, &e) < 0)
        fail_msg("%s", e.msg);
    return ca;
}

static void authority_remove(struct authority *ca, const char *dir)
{
    static const char *const files[] = {"ca.pem", "ca.key"};
    authority_close(ca);
    for (size_t i = 0; i < 2; i++) {
        CLEANUP_TEXT struct text path = {0};
        text_printf(&path, "%s/%s", dir, files[i]);
        assert_int_equal(unlink(path.s), 0);
    }
    assert_int_equal(rmdir(dir), 0);
}

static struct stream *ask(struct world *w, struct asker *a, struct tls_context *tls, const char *request)
{
    *a = (struct asker){.response = http_response_create(on_body, a)};
    struct stream *s = stream_dial(&w->loop, "127.0.0.1", http_server_port(w->server), tls,
                                   "urn:fettle:controller:", 1 << 20, &events, a);
    assert_int_equal(stream_write(s, request, strlen(request)), 0);
    return s;
}

static void test_serves_over_tls_and_knows_the_operator(void **state)
{
    struct world w;
    struct asker a, b;
    char dir[] = "/tmp/fettle-http-ca-XXXXXX";
    assert_non_null(mkdtemp(dir));
    struct authority *ca = authority_new(dir);
    struct tls_context *server = context(ca, "urn:fettle:controller:c1", true);
    struct tls_context *client = context(ca, "urn:fettle:operator:ann:admin", false);
    struct err e;
    world_init(&w, 10, NULL);
    assert_int_equal(http_server_port(w.server), 0);
    if (http_server_listen_tls(w.server, "127.0.0.1", 0, server, &e) < 0)
        fail_msg("%s", e.msg);
    assert_int_not_equal(http_server_port(w.server), 0);

    struct stream *s = ask(&w, &a, client, GET("/later"));
    world_wait(&w, &w.asked, 1);
    const struct identity *who = stream_peer(http_stream(w.pending));
    assert_int_equal(who->kind, IDENTITY_OPERATOR);
    assert_int_equal(who->role, ROLE_ADMIN);
    assert_string_equal(who->name, "ann");
    stream_abort(s, NULL);
    world_wait(&w, &a.closed, 1);
    world_wait(&w, &w.gone, 1);

    ask(&w, &b, client, "GET /big HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    world_wait(&w, &b.closed, 1);
    assert_true(b.done);
    assert_int_equal(http_response_status(b.response), 200);
    assert_int_equal(b.body_bytes, BIG_BYTES);

    http_response_destroy(a.response);
    http_response_destroy(b.response);
    world_fini(&w);
    tls_context_destroy(server);
    tls_context_destroy(client);
    authority_remove(ca, dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serves_over_tls_and_knows_the_operator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
