/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_test.h"

#include "base/clock.h"
#include "cli/command.h"
#include "lib/stub_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORDS_MAX = 32 };

struct run run(const char *line, const char *controller)
{
    struct run r = {0};
    struct call c = {0};
    struct err e = {0};
    char *words[WORDS_MAX + 2];
    size_t n = 0;
    CLEANUP_FREE char *copy = mem_dup(line);
    char *rest = copy;
    if (controller) {
        words[n++] = (char *)(uintptr_t) "-C";
        words[n++] = (char *)(uintptr_t)controller;
    }
    for (char *word; n < WORDS_MAX + 2 && (word = strsep(&rest, " "));) {
        for (char *p = word; *p; p++)
            if (*p == '_')
                *p = ' ';
        words[n++] = word;
    }
    int status = call_parse(&c, words, n, &e);
    if (status == 0)
        status = c.command->run(&c, &e);
    r.status = status < 0 ? err_exit(e.code) : status;
    snprintf(r.error, sizeof r.error, "%s", e.msg);
    snprintf(r.out, sizeof r.out, "%s", c.out.s ? c.out.s : "");
    call_fini(&c);
    return r;
}

struct run run_with(const char *line, int status, const char *body, char sent[static 4096])
{
    CLEANUP_FREE char *answer = stub_json(status, body);
    struct stub_answer answers[] = {{.bytes = answer}};
    struct stub *stub = stub_start(answers, 1);
    struct run r = run(line, stub_path(stub));
    stub_join(stub);
    snprintf(sent, 4096, "%s", stub_requests(stub) ? stub_request(stub, 0) : "");
    stub_stop(stub);
    return r;
}

struct run run_printed(const char *line, const char *controller, char *got, size_t size)
{
    int fds[2], keep = dup(STDOUT_FILENO);
    assert_int_equal(pipe(fds), 0);
    fflush(stdout);
    dup2(fds[1], STDOUT_FILENO);
    struct run r = run(line, controller);
    dup2(keep, STDOUT_FILENO);
    close(keep);
    close(fds[1]);
    ssize_t n = read(fds[0], got, size - 1);
    close(fds[0]);
    got[n > 0 ? n : 0] = '\0';
    return r;
}

void run_expect_status(const char *line, const char *answer, const char *asked, const char *printed,
                       int status)
{
    char sent[4096], then[32];
    CLEANUP_TEXT struct text t = {0};
    wall_format((struct wall){wall_now().ns - span_s(3 * 86400 + 4 * 3600 + 1800).ns}, then);
    for (const char *p = answer; *p; p++) {
        if (*p == '@')
            text_add(&t, then);
        else
            text_add_char(&t, *p);
    }
    struct run r = run_with(line, 200, t.s, sent);
    assert_string_equal(r.error, "");
    assert_int_equal(r.status, status);
    if (!strstr(sent, asked))
        fail_msg("asked: %s", sent);
    assert_string_equal(r.out, printed);
}

void run_expect(const char *line, const char *answer, const char *asked, const char *printed)
{
    run_expect_status(line, answer, asked, printed, 0);
}

void run_expect_wrong(const struct run_wrong *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct run r = run(cases[i].line, "/nowhere");
        if (r.status != 2 || strcmp(r.error, cases[i].error) != 0)
            fail_msg("%s: %d, %s", cases[i].line, r.status, r.error);
    }
}
