/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/request.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read is written as it was. */
static void check_again(const struct request *r)
{
    const char *words[REQUEST_ARGS_MAX + 2] = {r->action};
    CLEANUP_TEXT struct text t = {0};
    struct request again;
    for (size_t i = 0; i < r->n; i++)
        words[i + 1] = r->args[i];
    request_write(r->deadline, words, &t);
    if (request_parse(t.s, t.len, &again, NULL) < 0 || again.n != r->n ||
        strcmp(again.action, r->action) != 0)
        abort();
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(again.args[i], r->args[i]) != 0 || strpbrk(r->args[i], "\n\r\x1b\x7f"))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request r;
    struct request_answer a;
    struct err e = {0};
    char *exact = malloc(size ? size : 1);
    if (!exact)
        return 0;
    memcpy(exact, data, size);
    if (request_parse(exact, size, &r, &e) == 0)
        check_again(&r);
    else if (!e.msg[0])
        abort();
    if (request_parse_answer(exact, size, &a, &e) == 0 && (!a.why || a.number < 0 || a.number > 255))
        abort();
    free(exact);
    return 0;
}
