/* SPDX-License-Identifier: Apache-2.0 */
#include "base/conf.h"
#include "conform/class.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(void *arg, const char *component)
{
    ++*(size_t *)arg;
    if (strchr(component, '*'))
        abort();
}

/* The index changes nothing, and a pattern matches itself. */
static void check(struct classes *c)
{
    struct spec s;
    size_t named = 0;
    classes_finish(c);
    spec_init(&s);
    struct class_index *x = class_index_create(c);
    for (size_t i = 0; i < c->n; i++) {
        const struct node_class *k = &c->list[i];
        const char *name = k->nodes.n ? k->nodes.names[k->nodes.n / 2] : k->name;
        if (classes_match(c, x, name, &s) != classes_match(c, NULL, name, &s))
            abort();
        for (size_t j = 0; j < k->n_rules && j < 50; j++)
            if (class_severity(k, k->rules[j].pattern) < k->rules[j].severity && k->n_rules == 1)
                abort();
    }
    classes_named(c, count, &named);
    class_index_destroy(x);
    spec_fini(&s);
}

/* A file of ClassConf: what is refused leaves the classes as they were. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct conf file = {0};
    struct classes c = {0};
    if (size > 4096 || conf_parse("fuzz", (const char *)data, size, CONF_RECORDS, &file, NULL) < 0)
        return 0;
    for (size_t i = 0; i < file.n; i++) {
        struct class_key keys[CONF_LINE_FIELDS_MAX];
        for (size_t j = 0; j < file.lines[i].n; j++)
            keys[j] = (struct class_key){file.lines[i].fields[j].key, file.lines[i].fields[j].value};
        size_t n = c.n;
        if (classes_add(&c, keys, file.lines[i].n, 7, NULL) < 0 && c.n != n)
            abort();
    }
    check(&c);
    classes_fini(&c);
    conf_fini(&file);
    return 0;
}
