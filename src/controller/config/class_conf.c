/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ClassConf. src/conform/class.h judges the content of a record. This file adds the record's line, and checks
 * what the rest of the configuration must have for it.
 */
#include "controller/config/config_inside.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAMED_BYTES_MAX = 32 << 10 };

/* A class that asks for reboots would wait for ever when nothing can carry them out. */
static int check_services(const struct config *c, const struct node_class *k, struct err *e)
{
    if (k->reboot && *c->text[SETTING_OPENCHAMI_PCS] == '\0')
        return err_set(e, -EINVAL, "class \"%s\" has Reboot=yes, but there is no OpenChamiPCS in %s", k->name,
                       c->path);
    if ((k->kernel || k->initrd || k->params) && *c->text[SETTING_OPENCHAMI_BSS] == '\0')
        return err_set(e, -EINVAL, "class \"%s\" names an image, but there is no OpenChamiBSS in %s", k->name,
                       c->path);
    return 0;
}

/* Keeps the record as it is compared: the name, and the keys in the order of the file. */
static void keep_text(struct config *c, const char *name, const struct class_key *keys, size_t n, int line)
{
    struct text t = {0};
    for (size_t i = 0; i < n; i++)
        text_printf(&t, "%s=%s\n", keys[i].key, keys[i].value);
    c->classes = mem_grow(c->classes, (c->n_classes + 1) * sizeof *c->classes);
    c->classes[c->n_classes++] = (struct class_text){mem_dup(name), text_take(&t), line};
}

/* Takes the record's keys. Classes know partitions by their numbers, which go into `numbers`. */
static int take_keys(const struct config *c, const struct conf_line *line, struct class_key *keys,
                     struct text *numbers, struct err *e)
{
    for (size_t i = 0; i < line->n; i++) {
        keys[i] = (struct class_key){line->fields[i].key, line->fields[i].value};
        if (numbers->s || strcasecmp(keys[i].key, field_get(FIELD_PARTITION)->name) != 0)
            continue;
        int rc = partition_numbers(c->roster.partitions, c->roster.n_partitions, keys[i].value, numbers, e);
        if (rc < 0)
            return err_wrap(e, rc, "Partition");
        keys[i].value = numbers->s;
    }
    return 0;
}

static int take_class(struct config *c, const struct conf *file, const struct conf_line *line, struct err *e)
{
    struct classes *all = &c->roster.classes;
    CLEANUP_FREE struct class_key *keys = mem_alloc((line->n + 1) * sizeof *keys);
    CLEANUP_TEXT struct text numbers = {0};
    int rc = take_keys(c, line, keys, &numbers, e);
    if (rc == 0)
        rc = classes_add(all, keys, line->n, (unsigned)c->number[SETTING_MAX_PARTITION], e);
    if (rc == 0) {
        assert(all->n > 0 && "classes_add has added one");
        keep_text(c, all->list[all->n - 1].name, keys, line->n, line->number);
        rc = check_services(c, &all->list[all->n - 1], e);
    }
    return rc < 0 ? err_wrap(e, -EINVAL, "%s:%d", file->path, line->number) : 0;
}

static void add_named(void *arg, const char *component)
{
    *(size_t *)arg += strlen(component) + 3; /* its length in a frame: with two quotes and a comma */
}

/* All named components have to fit into one frame, which is sent to each agent. */
static int check_named(const struct config *c, const char *path, struct err *e)
{
    size_t bytes = 0;
    classes_named(&c->roster.classes, add_named, &bytes);
    if (bytes > NAMED_BYTES_MAX)
        return err_set(e, -EINVAL,
                       "%s: the sysctls and files that the classes name are %zu bytes together; at most %d "
                       "can be told to the agents",
                       path, bytes, NAMED_BYTES_MAX);
    return 0;
}

int config_read_classes(struct config *c, struct err *e)
{
    const char *path = config_part_path(c, CONFIG_CLASSES);
    struct conf file;
    int rc = config_part_read(c, CONFIG_CLASSES, &file, e);
    if (rc < 0)
        return config_refuse_file(c, SETTING_CLASS_CONF, rc, e);
    for (size_t i = 0; rc == 0 && i < file.n; i++)
        rc = take_class(c, &file, &file.lines[i], e);
    conf_fini(&file);
    classes_finish(&c->roster.classes);
    return rc == 0 ? check_named(c, path, e) : rc;
}

/* --- what changed ---------------------------------------------------------------------------- */

static const struct class_text *find_text(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->n_classes; i++)
        if (strcmp(c->classes[i].name, name) == 0)
            return &c->classes[i];
    return NULL;
}

void config_compare_classes(const struct config *was, const struct config *is, struct text *changes)
{
    bool same = was->n_classes == is->n_classes, order = true;
    for (size_t i = 0; i < is->n_classes; i++) {
        const struct class_text *before = find_text(was, is->classes[i].name);
        if (!before || strcmp(before->keys, is->classes[i].keys) != 0)
            text_printf(changes, "class %s %s\n", is->classes[i].name, before ? "changed" : "added");
        same = same && before;
        order = order && i < was->n_classes && strcmp(was->classes[i].name, is->classes[i].name) == 0;
    }
    for (size_t i = 0; i < was->n_classes; i++)
        if (!find_text(is, was->classes[i].name))
            text_printf(changes, "class %s removed\n", was->classes[i].name);
    if (same && !order) /* the first class that matches a node is its class */
        text_add(changes, "the classes stand in another order\n");
}
