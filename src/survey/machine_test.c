/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/machine_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void read_all(const char *name, struct text *t)
{
    char path[512], buf[4096];
    snprintf(path, sizeof path, "%s/%s", TEST_DATA, name);
    FILE *f = fopen(path, "re");
    text_add(t, "");
    for (size_t n; f && (n = fread(buf, 1, sizeof buf, f)) > 0;)
        text_add_bytes(t, buf, n);
    if (f)
        fclose(f);
}

/* A file of several lines; returns where the text goes on. */
static char *add_lines(struct tree *t, const char *path, char *rest)
{
    CLEANUP_TEXT struct text content = {0};
    text_add(&content, "");
    for (char *line; (line = strsep(&rest, "\n")) && strcmp(line, "<<") != 0;)
        text_printf(&content, "%s\n", line);
    tree_add(t, path, content.s);
    return rest;
}

static void add_link(struct tree *t, const char *path, const char *target)
{
    char marked[512];
    snprintf(marked, sizeof marked, "%s@", path);
    tree_add(t, marked, target);
}

void machine_add(struct tree *t, const char *name)
{
    CLEANUP_TEXT struct text all = {0};
    read_all(name, &all);
    char *rest = all.s;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *colon = strstr(line, ": "), *arrow = strstr(line, " -> "), *more = strstr(line, " <<");
        if (!*line || *line == '#')
            continue;
        if (more && !more[3]) {
            *more = '\0';
            rest = add_lines(t, line, rest);
        } else if (arrow) {
            *arrow = '\0';
            add_link(t, line, arrow + 4);
        } else if (colon) {
            *colon = '\0';
            size_t len = strlen(colon + 2);
            colon[2 + len] = '\n'; /* where strsep had put the zero */
            tree_add_bytes(t, line, colon + 2, len + 1);
            colon[2 + len] = '\0';
        } else {
            tree_add(t, line, "");
        }
    }
}

static int driver(void *arg, const char *interface, char name[static 33], char version[static 33],
                  char firmware[static 33])
{
    static const struct {
        const char *interface, *driver, *version, *firmware;
    } cards[] = {{"ib0", "mlx5_core", "24.10-1.1.4", "28.41.1000 (MT_0000000838)"},
                 {"pf0vf0", "mlx5e_rep", "5.14.0", "28.41.1000"},
                 {"eno1", "ixgbe", "5.14.0-503.11.1.el9_5.x86_64", "0x80000528, 1.1197.0"},
                 {"hsn0", "cxi_ss1_eth", "1.0.0", ""}};
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        if (strcmp(cards[i].interface, interface) != 0)
            continue;
        snprintf(name, 33, "%s", cards[i].driver);
        snprintf(version, 33, "%s", cards[i].version);
        snprintf(firmware, 33, "%s", cards[i].firmware);
        return 0;
    }
    return -ENODEV;
}

const struct survey_calls machine_calls = {.driver = driver};

void machine_survey_as(const struct tree *t, const char *node, const struct survey_conf *conf,
                       const struct survey_calls *calls, struct components *out)
{
    struct survey_cache cache = {0};
    struct err e = {0};
    int r = survey_read(t->root, node, conf, calls, &cache, out, &e);
    if (r < 0)
        fail_msg("%s", e.msg);
    survey_cache_fini(&cache);
}

void machine_survey(const struct tree *t, struct components *out)
{
    static const struct survey_conf none;
    machine_survey_as(t, "gx007", &none, &machine_calls, out);
}

void machine_survey_named(const struct tree *t, const char *conf, struct components *out)
{
    struct survey_conf names;
    struct err e = {0};
    if (survey_conf_parse("f.conf", conf, strlen(conf), &names, &e) < 0)
        fail_msg("%s", e.msg);
    machine_survey_as(t, "gx007", &names, &machine_calls, out);
    survey_conf_fini(&names);
}

const char *machine_say(const struct components *c, const char *name)
{
    static char said[COMPONENT_VALUE_BYTES_MAX + 3];
    for (size_t i = 0; i < c->n; i++) {
        const struct component *one = &c->list[i];
        if (strcmp(one->name, name) != 0)
            continue;
        if (one->state == COMPONENT_ABSENT)
            return "-";
        snprintf(said, sizeof said, "%s%s", one->state == COMPONENT_UNKNOWN ? "? " : "", one->value);
        return said;
    }
    return "-";
}

void machine_expect(const struct tree *t, const char *name, const char *said)
{
    struct components c = {0};
    machine_survey(t, &c);
    assert_string_equal(machine_say(&c, name), said);
    components_fini(&c);
}

void machine_golden(const char *name, const struct components *c)
{
    static const char signs[] = {'=', '-', '?'};
    CLEANUP_TEXT struct text now = {0}, then = {0};
    for (size_t i = 0; i < c->n; i++) {
        const struct component *one = &c->list[i];
        text_printf(&now, "%s %c%s%s\n", one->name, signs[one->state], *one->value ? " " : "", one->value);
    }
    const char *mode = getenv("FETTLE_GOLDEN");
    if (mode && strcmp(mode, "write") == 0) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", TEST_DATA, name);
        FILE *f = fopen(path, "we");
        assert_non_null(f);
        fputs(now.s, f);
        fclose(f);
        return;
    }
    read_all(name, &then);
    if (strcmp(now.s, then.s) != 0)
        print_error("%s differs; it is now:\n%s\n", name, now.s);
    assert_true(strcmp(now.s, then.s) == 0);
}
