/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/config/config_fixture_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char config_dir[64];

int config_setup(void **state)
{
    snprintf(config_dir, sizeof config_dir, "/tmp/fettle-config-XXXXXX");
    assert_non_null(mkdtemp(config_dir));
    return 0;
}

int config_teardown(void **state)
{
    static const char *const files[] = {"fettle.conf", "nodes",    "partitions", "classes", "checks",
                                        "meanings",    "remedies", "bmc",        "tenants", "roles.conf"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", config_dir, files[i]);
        unlink(path);
    }
    return rmdir(config_dir);
}

void config_write(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", config_dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

int config_try(const char *parameters, const char *nodes, const char *partitions, struct config *c,
               char why[512])
{
    CLEANUP_TEXT struct text t = {0};
    char path[128];
    struct err e = {0};
    text_printf(&t, "NodeSpecConf = %s/nodes\n%s%s%s\n%s", config_dir, partitions ? "PartitionConf = " : "#",
                partitions ? config_dir : "", partitions ? "/partitions" : "", parameters);
    config_write("fettle.conf", t.s);
    config_write("nodes", nodes);
    if (partitions)
        config_write("partitions", partitions);
    snprintf(path, sizeof path, "%s/fettle.conf", config_dir);
    int rc = config_read(path, c, &e);
    why[0] = '\0';
    for (const char *p = e.msg; rc < 0 && *p; p++) {
        if (strncmp(p, config_dir, strlen(config_dir)) == 0)
            p += strlen(config_dir) + 1;
        size_t n = strlen(why);
        snprintf(why + n, 512 - n, "%c", *p);
    }
    return rc;
}

struct config config_good(const char *parameters, const char *nodes, const char *partitions)
{
    struct config c;
    char why[512];
    int rc = config_try(parameters, nodes, partitions, &c, why);
    assert_string_equal(why, "");
    assert_int_equal(rc, 0);
    return c;
}

const char *config_bad(const char *parameters, const char *nodes, const char *partitions)
{
    static char why[512];
    struct config c;
    if (config_try(parameters, nodes, partitions, &c, why) == 0)
        fail_msg("this was taken: %s%s%s", parameters, nodes, partitions ? partitions : "");
    assert_null(c.path);
    assert_int_equal(c.roster.n, 0);
    return why;
}

const char *config_with_classes(const char *parameters, const char *classes)
{
    static char text[4096];
    snprintf(text, sizeof text, "ClassConf = %s/classes\n%s", config_dir, parameters);
    config_write("classes", classes);
    return text;
}

const char *config_with_file(const char *parameter, const char *name, const char *file,
                             const char *parameters)
{
    static char text[1024];
    snprintf(text, sizeof text, "%s = %s/%s\n%s", parameter, config_dir, name, parameters);
    config_write(name, file);
    return text;
}

const char *config_show_roster(const struct config *c)
{
    static char shown[4096];
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "");
    for (size_t i = 0; i < c->roster.n; i++) {
        text_printf(&t, "%s%s", i ? "; " : "", c->roster.nodes[i].name);
        for (int f = 0; f < FIELDS; f++) {
            if (!field_get((enum field)f)->settable || !spec_given(&c->roster.nodes[i].spec, (enum field)f))
                continue;
            text_printf(&t, " %s=", field_get((enum field)f)->name);
            spec_format(&c->roster.nodes[i].spec, (enum field)f, &t);
        }
    }
    snprintf(shown, sizeof shown, "%s", t.s);
    return shown;
}
