/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_test.h"

#include "cli/command.h"
#include "lib/stub_test.h"

#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 16 };

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
