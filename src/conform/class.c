/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of node classes. A record is read into a class of its own, which joins the others when all its keys
 * are good: a refused record leaves nothing behind.
 */
#include "conform/class.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PROVISION_DEADLINE_S_MAX = 604800 };
static const char DEFAULT_CLASS[] = "default";

/* The keys that are not fields of a node, and the functions that read them. */
typedef int take_fn(struct node_class *k, const char *value, struct err *e);
static take_fn take_name, take_nodes, take_critical, take_major, take_minor, take_ignore, take_drifted,
    take_reboot, take_remediate, take_kernel, take_initrd, take_params, take_lost_work, take_provision_new,
    take_provision_deadline;

static const struct {
    const char *key;
    take_fn *take;
} takes[] = {{"Class", take_name},
             {"Nodes", take_nodes},
             {"Critical", take_critical},
             {"Major", take_major},
             {"Minor", take_minor},
             {"Ignore", take_ignore},
             {"Drifted", take_drifted},
             {"Reboot", take_reboot},
             {"Remediate", take_remediate},
             {"Kernel", take_kernel},
             {"Initrd", take_initrd},
             {"Params", take_params},
             {"LostWork", take_lost_work},
             {"ProvisionNew", take_provision_new},
             {"ProvisionDeadline", take_provision_deadline}};
enum { TAKES = sizeof takes / sizeof takes[0] };

size_t classes_keys(const char **keys, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < TAKES && n < max; i++)
        keys[n++] = takes[i].key;
    for (int f = 0; f < FIELDS && n < max; f++)
        if (field_get((enum field)f)->settable)
            keys[n++] = field_get((enum field)f)->name;
    return n;
}

static void class_fini(struct node_class *k)
{
    free(k->name);
    hostlist_fini(&k->nodes);
    spec_fini(&k->spec);
    for (size_t i = 0; i < k->n_rules; i++)
        free(k->rules[i].pattern);
    free(k->rules);
    patterns_destroy(k->patterns);
    free(k->kernel);
    free(k->initrd);
    free(k->params);
    *k = (struct node_class){0};
}

void classes_fini(struct classes *c)
{
    for (size_t i = 0; i < c->n; i++)
        class_fini(&c->list[i]);
    free(c->list);
    *c = (struct classes){0};
}

/* --- what the keys say --------------------------------------------------------------------------- */

static int take_name(struct node_class *k, const char *value, struct err *e)
{
    if (!hostlist_name_ok(value) || strlen(value) > CLASS_NAME_BYTES_MAX)
        return err_set(
            e, -EINVAL,
            "\"%.80s\" is no name of a class: letters, digits, '-', '_' and '.', a letter or digit "
            "first, at most %d",
            value, CLASS_NAME_BYTES_MAX);
    k->name = mem_dup(value);
    return 0;
}

static int take_nodes(struct node_class *k, const char *value, struct err *e)
{
    if (strcmp(k->name, DEFAULT_CLASS) == 0)
        return err_set(e, -EINVAL, "class default has all nodes that no other class has");
    int rc = hostlist_parse(value, &k->nodes, e);
    if (rc == 0 && k->nodes.n == 0)
        return err_set(e, -EINVAL, "\"%.80s\" names no node", value);
    return rc;
}

static int check_pattern(const char *pattern, struct err *e)
{
    size_t len = strlen(pattern);
    if (len == 0)
        return err_set(e, -EINVAL, "a pattern is empty");
    if (len > COMPONENT_NAME_BYTES_MAX)
        return err_set(e, -EINVAL, "pattern \"%.80s...\" has %zu bytes; %d are allowed", pattern, len,
                       COMPONENT_NAME_BYTES_MAX);
    for (const char *p = pattern; *p; p++)
        if (*p <= ' ' || *p > '~' || *p == '"' || *p == '\\')
            return err_set(e, -EINVAL,
                           "\"%.80s\" matches no component: names are printable ASCII without blanks, "
                           "quotes and backslashes",
                           pattern);
    return 0;
}

static int add_rule(struct node_class *k, const char *pattern, enum severity s, struct err *e)
{
    int rc = check_pattern(pattern, e);
    if (rc < 0)
        return rc;
    if (k->n_rules == CLASS_PATTERNS_MAX)
        return err_set(e, -EINVAL, "a class has %d patterns at most", CLASS_PATTERNS_MAX);
    k->rules = mem_grow(k->rules, (k->n_rules + 1) * sizeof *k->rules);
    k->rules[k->n_rules++] = (struct class_rule){.pattern = mem_dup(pattern), .severity = s};
    return 0;
}

static int take_patterns(struct node_class *k, const char *value, enum severity s, struct err *e)
{
    CLEANUP_FREE char *copy = mem_dup(value);
    char *rest = copy;
    int rc = 0;
    for (char *pattern; rc == 0 && (pattern = strsep(&rest, ","));)
        rc = add_rule(k, pattern, s, e);
    return rc;
}

static int take_critical(struct node_class *k, const char *value, struct err *e)
{
    return take_patterns(k, value, SEVERITY_CRITICAL, e);
}

static int take_major(struct node_class *k, const char *value, struct err *e)
{
    return take_patterns(k, value, SEVERITY_MAJOR, e);
}

static int take_minor(struct node_class *k, const char *value, struct err *e)
{
    return take_patterns(k, value, SEVERITY_MINOR, e);
}

static int take_ignore(struct node_class *k, const char *value, struct err *e)
{
    return take_patterns(k, value, SEVERITY_IGNORE, e);
}

static int take_drifted(struct node_class *k, const char *value, struct err *e)
{
    k->exclude = strcasecmp(value, "exclude") == 0;
    if (!k->exclude && strcasecmp(value, "avoid") != 0)
        return err_set(e, -EINVAL, "\"%.80s\" is neither avoid nor exclude", value);
    return 0;
}

static int take_reboot(struct node_class *k, const char *value, struct err *e)
{
    return text_parse_bool(value, &k->reboot, e);
}

static int take_remediate(struct node_class *k, const char *value, struct err *e)
{
    bool remediate = true;
    int rc = text_parse_bool(value, &remediate, e);
    k->excepted = !remediate;
    return rc;
}

static int take_text(char **out, const char *value, struct err *e)
{
    for (size_t i = 0, step; value[i]; i += step)
        if ((step = text_utf8(value + i)) == 0)
            return err_set(e, -EINVAL, "not UTF-8 at byte %zu", i);
    *out = mem_dup(value);
    return 0;
}

static int take_kernel(struct node_class *k, const char *value, struct err *e)
{
    return take_text(&k->kernel, value, e);
}

static int take_initrd(struct node_class *k, const char *value, struct err *e)
{
    return take_text(&k->initrd, value, e);
}

static int take_params(struct node_class *k, const char *value, struct err *e)
{
    return take_text(&k->params, value, e);
}

static const char *const lost_work_names[] = {
    [LOST_WORK_WAIT] = "wait", [LOST_WORK_REQUEUE] = "requeue", [LOST_WORK_CANCEL] = "cancel"};

const char *lost_work_name(enum lost_work l)
{
    assert((size_t)l < sizeof lost_work_names / sizeof *lost_work_names);
    return lost_work_names[l];
}

static int take_lost_work(struct node_class *k, const char *value, struct err *e)
{
    for (int l = LOST_WORK_WAIT; l <= LOST_WORK_CANCEL; l++) {
        if (strcasecmp(value, lost_work_names[l]) == 0) {
            k->lost_work = (enum lost_work)l;
            return 0;
        }
    }
    return err_set(e, -EINVAL, "\"%.80s\" is none of wait, requeue and cancel", value);
}

static int take_provision_new(struct node_class *k, const char *value, struct err *e)
{
    bool provisions = false;
    int rc = text_parse_bool(value, &provisions, e);
    k->provision_new = provisions ? PROVISION_NEW_YES : PROVISION_NEW_NO;
    return rc;
}

static int take_provision_deadline(struct node_class *k, const char *value, struct err *e)
{
    int rc = span_parse(value, &k->provision_deadline, e);
    int64_t s = k->provision_deadline.ns / span_s(1).ns;
    if (rc == 0 && (s < 1 || s > PROVISION_DEADLINE_S_MAX))
        return err_set(e, -EINVAL, "%" PRId64 " s is not from 1 s to %d s", s, PROVISION_DEADLINE_S_MAX);
    return rc;
}

bool class_provisions(const struct node_class *k, bool all)
{
    return k->provision_new == PROVISION_NEW_UNSET ? all : k->provision_new == PROVISION_NEW_YES;
}

struct span class_provision_deadline(const struct node_class *k, struct span all)
{
    return k->provision_deadline.ns ? k->provision_deadline : all;
}

/* --- records ------------------------------------------------------------------------------------- */

static take_fn *take_find(const char *key)
{
    for (size_t i = 0; i < TAKES; i++)
        if (strcasecmp(takes[i].key, key) == 0)
            return takes[i].take;
    return NULL;
}

static int unknown_key(const char *key, struct err *e)
{
    const char *known[TAKES + FIELDS];
    const char *near = text_nearest(key, known, classes_keys(known, TAKES + FIELDS));
    if (near)
        return err_set(e, -EINVAL, "unknown key \"%.80s\"; the nearest known is \"%s\"", key, near);
    return err_set(e, -EINVAL, "unknown key \"%.80s\"", key);
}

static int take_field(struct node_class *k, const struct class_key *kv, unsigned partition_max, struct err *e)
{
    enum field f;
    if (field_find(kv->key, &f, NULL) < 0 || !field_get(f)->settable)
        return unknown_key(kv->key, e);
    if (strcmp(k->name, DEFAULT_CLASS) == 0)
        return err_set(e, -EINVAL, "%s: class default has all nodes that no other class has", kv->key);
    if (!k->has_spec)
        spec_init(&k->spec);
    k->has_spec = true;
    if (*kv->value == '\0' && f != FIELD_PARTITION)
        return err_set(e, -EINVAL, "%s: the value is empty", kv->key);
    return spec_set(&k->spec, f, kv->value, partition_max, e);
}

static int take_key(struct node_class *k, const struct class_key *kv, unsigned partition_max, struct err *e)
{
    take_fn *take = take_find(kv->key);
    if (!take)
        return take_field(k, kv, partition_max, e);
    int rc = *kv->value ? take(k, kv->value, e) : err_set(e, -EINVAL, "the value is empty");
    return rc < 0 ? err_wrap(e, -EINVAL, "%s", kv->key) : 0;
}

static int read_class(struct node_class *k, const struct class_key *keys, size_t n, unsigned partition_max,
                      struct err *e)
{
    if (n == 0 || strcasecmp(keys[0].key, "Class") != 0)
        return err_set(e, -EINVAL, "the record of a node class begins with Class=NAME");
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            if (strcasecmp(keys[i].key, keys[j].key) == 0)
                return err_set(e, -EINVAL, "%s stands twice", keys[i].key);
        int rc = take_key(k, &keys[i], partition_max, e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void index_rules(struct node_class *k)
{
    CLEANUP_FREE const char **list = mem_alloc((k->n_rules + 1) * sizeof *list);
    for (size_t i = 0; i < k->n_rules; i++)
        list[i] = k->rules[i].pattern;
    if (k->n_rules)
        k->patterns = patterns_create(list, k->n_rules);
}

/* 0 when the class fits beside the present ones. */
static int check_beside(const struct classes *c, const struct node_class *k, struct err *e)
{
    size_t names = k->nodes.n;
    bool is_default = strcmp(k->name, DEFAULT_CLASS) == 0;
    for (size_t i = 0; i < c->n; i++) {
        if (strcmp(c->list[i].name, k->name) == 0)
            return err_set(e, -EEXIST, "class \"%s\" is there already", k->name);
        names += c->list[i].nodes.n;
        is_default = is_default || strcmp(c->list[i].name, DEFAULT_CLASS) == 0;
    }
    if (c->n + (is_default ? 0 : 1) >= CLASSES_MAX)
        return err_set(e, -EINVAL,
                       "class \"%s\" is one too many; with the class default there are %d at most", k->name,
                       CLASSES_MAX);
    if (names > CLASSES_NODES_MAX)
        return err_set(e, -EINVAL, "with class \"%s\" the classes name %zu nodes; %d are allowed", k->name,
                       names, CLASSES_NODES_MAX);
    return 0;
}

static void class_append(struct classes *c, const struct node_class *k)
{
    c->list = mem_grow(c->list, (c->n + 1) * sizeof *c->list);
    c->list[c->n++] = *k;
}

int classes_add(struct classes *c, const struct class_key *keys, size_t n, unsigned partition_max,
                struct err *e)
{
    assert(keys || n == 0);
    struct node_class k = {0};
    int rc = read_class(&k, keys, n, partition_max, e);
    if (rc == 0)
        rc = check_beside(c, &k, e);
    if (rc < 0) {
        class_fini(&k);
        return rc;
    }
    index_rules(&k);
    class_append(c, &k);
    return 0;
}

void classes_finish(struct classes *c)
{
    uint16_t at;
    struct node_class last = {0};
    if (classes_find(c, DEFAULT_CLASS, &at, NULL) < 0) {
        last.name = mem_dup(DEFAULT_CLASS);
        class_append(c, &last);
        return;
    }
    last = c->list[at];
    memmove(&c->list[at], &c->list[at + 1], (c->n - at - 1) * sizeof last);
    c->list[c->n - 1] = last;
}

int classes_find(const struct classes *c, const char *name, uint16_t *out, struct err *e)
{
    const char *names[CLASSES_MAX];
    for (size_t i = 0; i < c->n; i++) {
        names[i] = c->list[i].name;
        if (strcmp(names[i], name) == 0) {
            *out = (uint16_t)i;
            return 0;
        }
    }
    const char *near = text_nearest(name, names, c->n);
    if (near)
        return err_set(e, -ENOENT, "no class \"%.80s\"; the nearest is \"%s\"", name, near);
    return err_set(e, -ENOENT, "no class \"%.80s\"", name);
}
