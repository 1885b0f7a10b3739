/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/component.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

/*
 * encode: answers each line of standard input, a list of components as JSON, with one line:
 * {"encoding":HEX,"fingerprint":HEX,"hashes":{NAME:HEX}}; or "! SENTENCE" for a list that is refused.
 */

static void answer(const struct components *c)
{
    char hex[FINGERPRINT_HEX + 1];
    CLEANUP_TEXT struct text bytes = {0};
    components_encode(c, &bytes);
    printf("{\"encoding\":\"");
    for (size_t i = 0; i < bytes.len; i++)
        printf("%02x", (unsigned char)bytes.s[i]);
    struct fingerprint f = components_fingerprint(c);
    printf("\",\"fingerprint\":\"%s\",\"hashes\":{", fingerprint_format(&f, hex));
    for (size_t i = 0; i < c->n; i++) {
        f = component_hash(&c->list[i]);
        printf("%s\"%s\":\"%s\"", i ? "," : "", c->list[i].name, fingerprint_format(&f, hex));
    }
    puts("}}");
}

int main(void)
{
    CLEANUP_FREE char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; (n = getline(&line, &cap, stdin)) > 0;) {
        struct err e = {0};
        struct components c = {0};
        CLEANUP_JSON json_t *object = json_read(line, (size_t)n, &e);
        if (object && components_parse(&c, object, &e) == 0 && components_sort(&c, &e) == 0)
            answer(&c);
        else
            printf("! %s\n", e.msg);
        components_fini(&c);
    }
    return 0;
}
