/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch over TLS: a server is only believed with a certificate of the configured authority, and for the name
 * in the URL.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "fetch/fetch.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct world {
    char dir[40], key[64], certificate[64];
    pid_t server;
    int server_in;
    unsigned port;
    uv_loop_t loop;
    bool is_done;
    int status;
    struct err why;
};

static void start_server(struct world *w)
{
    int in[2], out[2];
    char *const argv[] = {getenv("OCHAMI_SERVER"), w->certificate, w->key, NULL};
    posix_spawn_file_actions_t actions;
    assert_int_equal(pipe2(in, O_CLOEXEC) + pipe2(out, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    assert_int_equal(posix_spawn(&w->server, argv[0], &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    w->server_in = in[1];
    FILE *f = fdopen(out[0], "r");
    assert_int_equal(fscanf(f, "%u", &w->port), 1);
    fclose(f);
}

static int setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    *w = (struct world){.dir = "/tmp/fettle-tls-XXXXXX"};
    *state = w;
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->key, sizeof w->key, "%s/key", w->dir);
    snprintf(w->certificate, sizeof w->certificate, "%s/certificate", w->dir);
    CLEANUP_TEXT struct text command = {0};
    text_add(&command, "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -batch -days 2");
    text_printf(&command,
                " -subj /CN=test -addext subjectAltName=IP:127.0.0.1 -keyout %s -out %s 2>/dev/null", w->key,
                w->certificate);
    assert_int_equal(system(command.s), 0);
    start_server(w);
    uv_loop_init(&w->loop);
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    close(w->server_in);
    waitpid(w->server, NULL, 0);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    unlink(w->key);
    unlink(w->certificate);
    assert_int_equal(rmdir(w->dir), 0);
    free(w);
    return 0;
}

static void on_done(void *arg, int status, const char *body, size_t len, const struct err *why)
{
    struct world *w = arg;
    w->is_done = true;
    w->status = status;
    w->why = *why;
}

static int ask(struct world *w, const char *ca, const char *host)
{
    CLEANUP_TEXT struct text url = {0};
    struct fetch *f = fetch_create(&w->loop, &(struct fetch_options){.ca = ca});
    text_printf(&url, "https://%s:%u/smd/hsm/v2/service/ready", host, w->port);
    w->is_done = false;
    fetch_start(f, "GET", url.s, NULL, on_done, w);
    while (!w->is_done)
        uv_run(&w->loop, UV_RUN_ONCE);
    fetch_destroy(f);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    return w->status;
}

static void test_its_authority_and_its_name(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask(w, w->certificate, "127.0.0.1"), 200);
}

static void test_another_authority_is_not_believed(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask(w, NULL, "127.0.0.1"), 0);
    assert_non_null(strstr(w->why.msg, "SSL"));
    assert_int_equal(ask(w, "/no/such/file", "127.0.0.1"), 0);
}

static void test_another_name_is_not_believed(void **state)
{
    struct world *w = *state;
    assert_int_equal(ask(w, w->certificate, "localhost"), 0);
    assert_non_null(strstr(w->why.msg, "SSL"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_its_authority_and_its_name),
        TEST(test_another_authority_is_not_believed),
        TEST(test_another_name_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
