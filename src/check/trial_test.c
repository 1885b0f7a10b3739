/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

int trial_setup(void **state)
{
    struct trial *t = mem_alloc(sizeof *t);
    void *tree;
    if (tree_setup(&tree) != 0)
        return -1;
    t->tree = tree;
    t->memory = memory_create();
    tree_add(t->tree, "sys/class/", "");
    *state = t;
    return 0;
}

int trial_teardown(void **state)
{
    struct trial *t = *state;
    void *tree = t->tree;
    memory_destroy(t->memory);
    text_fini(&t->said);
    free(t);
    return tree_teardown(&tree);
}

static void say(struct trial *t, const struct verdict *v)
{
    text_clear(&t->said);
    text_add(&t->said, v->n == 0 ? result_name(v->result) : "");
    if (*v->text)
        text_printf(&t->said, " %s", v->text);
    for (size_t i = 0; i < v->n; i++)
        text_printf(&t->said, "%s%s %s: %s", i ? "\n" : "", result_name(v->findings[i].result),
                    v->findings[i].device, v->findings[i].text);
}

static void look(struct trial *t, const char *record, const char *facts)
{
    CLEANUP_TEXT struct text line = {0};
    struct checks checks = {0};
    struct err e = {0};
    struct verdict v;
    text_printf(&line, "Check=tried %s\n", record);
    if (checks_parse("trial", line.s, line.len, &checks, &e) < 0)
        fail_msg("%s", e.msg);
    t->now_s += 60;
    struct look l = {.check = &checks.list[0],
                     .root = t->tree->root,
                     .now = {t->now_s * 1000000000},
                     .memory = t->memory,
                     .calls = t->calls,
                     .clock = t->clock,
                     .shared = t->shared};
    if (facts)
        look_judge(&l, facts, &v);
    else
        look_now(&l, &v);
    assert_ptr_equal(l.memory, t->memory);
    say(t, &v);
    checks_fini(&checks);
}

const char *trial_look(struct trial *t, const char *record)
{
    look(t, record, NULL);
    return t->said.s;
}

const char *trial_judge(struct trial *t, const char *record, const char *facts)
{
    look(t, record, facts);
    return t->said.s;
}

void trial_expect(struct trial *t, const char *record, const char *said)
{
    assert_string_equal(trial_look(t, record), said);
}

void trial_begins(struct trial *t, const char *record, const char *said)
{
    const char *is = trial_look(t, record);
    if (strncmp(is, said, strlen(said)) != 0)
        fail_msg("%s: \"%s\" does not begin with \"%s\"", record, is, said);
}

void trial_forget(struct trial *t)
{
    memory_forget(t->memory);
}

void trial_add(struct trial *t, const char *path, const char *text)
{
    tree_add(t->tree, path, text);
}

void trial_remove(struct trial *t, const char *path)
{
    CLEANUP_TEXT struct text full = {0};
    text_printf(&full, "%s/%s", t->tree->root, path);
    assert_int_equal(remove(full.s), 0);
}
