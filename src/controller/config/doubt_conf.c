/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warnings about values that are taken though they look like mistakes: a sentence on each line, with the
 * file, the line and the subject. Without configured nodes, nodes announce themselves, and there are no
 * warnings about nodes.
 */
#include "controller/config/config_inside.h"
#include "driver/program.h"
#include "node/action.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where a record stands, and what kind it is. */
struct place {
    const char *path;
    int line;
    const char *what, *name;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of the configured nodes, sorted. */
static const char **roster_names(const struct roster *r)
{
    const char **names = mem_alloc((r->n + 1) * sizeof *names);
    for (size_t i = 0; i < r->n; i++)
        names[i] = r->nodes[i].name;
    qsort(names, r->n, sizeof *names, by_name);
    return names;
}

static void doubt_conf_doubt(struct config *c, const struct place *p, const char *why, const char *nodes)
{
    enum { NODES_SHOWN = 200 };
    text_printf(&c->warnings, "%s:%d: %s%s%s%s %s%.*s\n", p->path, p->line, p->what, *p->name ? " \"" : "",
                p->name, *p->name ? "\"" : "", why, NODES_SHOWN, nodes);
}

static void doubt_names(struct config *c, const struct place *p, const struct hostlist *nodes,
                        const char *const *names)
{
    CLEANUP_FREE const char **strange = mem_alloc((nodes->n + 1) * sizeof *strange);
    size_t n = 0;
    for (size_t i = 0; i < nodes->n; i++) {
        const char *name = nodes->names[i];
        if (!bsearch(&name, names, c->roster.n, sizeof *names, by_name))
            strange[n++] = name;
    }
    if (n == 0)
        return;
    CLEANUP_FREE char *folded = hostlist_fold(strange, n);
    doubt_conf_doubt(c, p, "names nodes that are not in NodeSpecConf: ", folded);
}

/* Number 0 is the partition of nodes that name none. */
static void doubt_partitions(struct config *c)
{
    const struct roster *r = &c->roster;
    const struct place p = {c->path, c->line[SETTING_PARTITION_CONF], config_name(SETTING_PARTITION_CONF),
                            ""};
    CLEANUP_FREE const char **names = mem_alloc((r->n + 1) * sizeof *names);
    for (unsigned number = 1; c->given[SETTING_PARTITION_CONF] && number <= c->number[SETTING_MAX_PARTITION];
         number++) {
        CLEANUP_TEXT struct text why = {0};
        size_t n = 0;
        for (size_t i = 0; i < r->n && !partition_numbered(r->partitions, r->n_partitions, number); i++)
            if (partition_has(&r->nodes[i].spec.partitions, number))
                names[n++] = r->nodes[i].name;
        if (n == 0)
            continue;
        CLEANUP_FREE char *folded = hostlist_fold(names, n);
        text_printf(&why, "has no partition %u, which %s gives to ", number, c->text[SETTING_NODE_SPEC_CONF]);
        doubt_conf_doubt(c, &p, why.s, folded);
    }
}

/* The number of configured nodes in each class. */
static size_t *count_nodes(const struct roster *r)
{
    size_t *n = mem_alloc((r->classes.n + 1) * sizeof *n);
    struct class_index *index = class_index_create(&r->classes);
    for (size_t i = 0; i < r->n; i++)
        n[classes_match(&r->classes, index, r->nodes[i].name, &r->nodes[i].spec)]++;
    class_index_destroy(index);
    return n;
}

static void doubt_classes(struct config *c, const char *const *names)
{
    const struct roster *r = &c->roster;
    CLEANUP_FREE size_t *members = count_nodes(r);
    for (size_t i = 0; i < c->n_classes; i++) {
        const struct class_text *class = &c->classes[i];
        const struct place p = {c->text[SETTING_CLASS_CONF], class->line, "class", class->name};
        uint16_t at;
        if (classes_find(&r->classes, class->name, &at, NULL) < 0 || at + 1u == r->classes.n)
            continue; /* "default" is for nodes that come later */
        doubt_names(c, &p, &r->classes.list[at].nodes, names);
        if (members[at] == 0)
            doubt_conf_doubt(
                c, &p, "has no node: none of NodeSpecConf is as it asks, or those are in classes before it",
                "");
    }
}

static void doubt_nodes(struct config *c)
{
    CLEANUP_FREE const char **names = roster_names(&c->roster);
    const struct place collectors = {c->path, c->line[SETTING_COLLECTOR_NODES], "CollectorNodes", ""};
    doubt_names(c, &collectors, &c->collectors, names);
    doubt_classes(c, names);
    for (size_t i = 0; i < c->checks->n; i++) {
        const struct check *k = &c->checks->list[i];
        const struct place p = {c->text[SETTING_CHECK_CONF], (int)k->line, "check", k->name};
        doubt_names(c, &p, &k->nodes, names);
    }
}

static bool is_examination(const struct check *k, const char *class)
{
    bool is_for = k->classes.n == 0;
    for (size_t i = 0; i < k->classes.n; i++)
        is_for |= strcmp(k->classes.names[i], class) == 0;
    return is_for && k->when & CHECK_EXTENSIVE;
}

/* A repaired node is examined before it returns: the checks run one after another, all within one deadline.
 */
static void doubt_examination(struct config *c, const char *class)
{
    const struct place health = {c->path, c->line[SETTING_HEALTH], "Health", ""};
    const struct span limit = c->watch.health.examine_deadline;
    const struct check *longest = NULL;
    CLEANUP_TEXT struct text why = {0};
    struct span all = {0};
    char may[32], is[32];
    for (size_t i = 0; i < c->checks->n; i++) {
        const struct check *k = &c->checks->list[i];
        if (!is_examination(k, class))
            continue;
        all.ns += k->deadline.ns;
        longest = longest && longest->deadline.ns >= k->deadline.ns ? longest : k;
    }
    if (!longest) {
        text_printf(
            &why,
            "is act, and class \"%s\" has no check with When=extensive: its nodes return from a repair "
            "without an examination",
            class);
        doubt_conf_doubt(c, &health, why.s, "");
    } else if (all.ns > limit.ns) {
        const struct place p = {c->text[SETTING_CHECK_CONF], (int)longest->line, "check", longest->name};
        text_printf(&why, "is one of class \"%s\" that may take %s together, and ExamineDeadline is %s",
                    class, span_human(all, may), span_human(limit, is));
        doubt_conf_doubt(c, &p, why.s, "");
    }
}

static void doubt_examinations(struct config *c)
{
    const struct roster *r = &c->roster;
    CLEANUP_FREE size_t *members = count_nodes(r);
    for (size_t i = 0; c->watch.health.limits.act && i < r->classes.n; i++)
        if (members[i] || r->n == 0)
            doubt_examination(c, r->classes.list[i].name);
}

/* Programs, passwords and certificates are read when they are needed. Returns what is wrong with the file
 * now; NULL: nothing. */
static const char *file_fault(const char *path, bool is_program)
{
    struct stat st;
    if (!*path)
        return NULL;
    if (stat(path, &st) < 0)
        return errno == ENOENT || errno == ENOTDIR ? "names a file that is not there: " : NULL;
    if (S_ISDIR(st.st_mode))
        return is_program ? "names a directory, not a program: " : "names a directory, not a file: ";
    if (is_program && !program_exec() && access(path, X_OK) < 0)
        return "names a file that may not be executed (chmod +x): ";
    return NULL;
}

static void doubt_file(struct config *c, enum setting s, bool is_program)
{
    const struct place p = {c->path, c->line[s], config_name(s), ""};
    const char *fault = c->given[s] ? file_fault(c->text[s], is_program) : NULL;
    if (fault)
        doubt_conf_doubt(c, &p, fault, c->text[s]);
}

static void doubt_files(struct config *c)
{
    static const enum setting programs[] = {SETTING_REPLACE_PROGRAM, SETTING_SLURM_SCONTROL};
    static const enum setting files[] = {
        SETTING_SLURM_CONF, SETTING_MQTT_PASSWORD_FILE, SETTING_MQTT_CA,         SETTING_MQTT_CERTIFICATE,
        SETTING_MQTT_KEY,   SETTING_OPENCHAMI_CA,       SETTING_OPENCHAMI_TOKEN, SETTING_OIDC_CA};
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        doubt_file(c, programs[i], true);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        doubt_file(c, files[i], false);
}

/* Settings of a part that another setting turns on. */
static void doubt_idle(struct config *c)
{
    static const struct {
        enum setting idle, needs;
    } pairs[] = {
        {SETTING_SLURM_CONF, SETTING_SLURM_SCONTROL},    {SETTING_SLURM_INTERVAL, SETTING_SLURM_SCONTROL},
        {SETTING_SLURM_USER, SETTING_SLURM_SCONTROL},    {SETTING_MQTT_USER, SETTING_MQTT_BROKER},
        {SETTING_MQTT_PREFIX, SETTING_MQTT_BROKER},      {SETTING_MQTT_EVENTS, SETTING_MQTT_BROKER},
        {SETTING_MQTT_TRANSITIONS, SETTING_MQTT_BROKER}, {SETTING_MQTT_CLUSTER_WARE, SETTING_MQTT_BROKER},
        {SETTING_OPENCHAMI_GROUP, SETTING_OPENCHAMI_SMD}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const struct place p = {c->path, c->line[pairs[i].idle], config_name(pairs[i].idle), ""};
        if (c->given[pairs[i].idle] && !*c->text[pairs[i].needs])
            doubt_conf_doubt(c, &p, "does nothing without ", config_name(pairs[i].needs));
    }
}

static void doubt_user(struct config *c)
{
    const struct place p = {c->path, c->line[SETTING_SLURM_USER], config_name(SETTING_SLURM_USER), ""};
    if (c->given[SETTING_SLURM_USER] && !getpwnam(c->text[SETTING_SLURM_USER]))
        doubt_conf_doubt(c, &p,
                         "names a user whom this machine does not know: ", c->text[SETTING_SLURM_USER]);
}

/* --- BMCs -------------------------------------------------------------------------------------- */

struct bmc_walk {
    struct config *c;
    const char *const *names;
};

static void doubt_bmc_file(struct config *c, const struct bmc_record *r, const char *key, const char *path,
                           bool is_program)
{
    const struct place p = {c->text[SETTING_BMC_CONF], (int)r->line, key, ""};
    const char *fault = file_fault(path, is_program);
    if (fault)
        doubt_conf_doubt(c, &p, fault, path);
}

static int on_bmc(void *arg, const struct bmc_record *r, struct err *e)
{
    const struct bmc_walk *w = arg;
    const struct place p = {w->c->text[SETTING_BMC_CONF], (int)r->line, "Nodes", ""};
    doubt_bmc_file(w->c, r, "PasswordFile", r->password_file, false);
    doubt_bmc_file(w->c, r, "CaFile", r->ca_file, false);
    doubt_bmc_file(w->c, r, "Run", r->run, true);
    if (w->c->roster.n > 0)
        doubt_names(w->c, &p, r->nodes, w->names);
    return 0;
}

static void doubt_bmcs(struct config *c)
{
    CLEANUP_FREE const char **names = roster_names(&c->roster);
    struct bmc_walk w = {c, names};
    bmcs_each(c->bmcs, on_bmc, &w, NULL);
}

/* --- remedies ---------------------------------------------------------------------------------- */

/* The fault begins with the first word of the code: "xid." for "xid.79". */
static bool begins_as(const char *fault, const char *code)
{
    size_t len = strcspn(code, ".");
    return strncmp(fault, code, len) == 0 && fault[len] == '.';
}

/* A code that a finding may have, besides the name of its check. Only the first word of a code is known. */
static bool is_code(const struct config *c, const char *fault)
{
    static const char *const families[] = {
        "xid.", "sxid.", "gpu.", "node.", "sensu.",
#define KERNEL(code, ...) code,
#include "health/kernel.tbl"
    };
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (begins_as(fault, families[i]) || strcmp(fault, families[i]) == 0)
            return true;
    return c->meaning_lines.n > 0 && strchr(fault, '.');
}

/* "!xid.79" removes a fault; "*" and "xid.*" stand for any that may come. */
static bool is_fault(const struct config *c, const char *pattern)
{
    const char *fault = pattern + (*pattern == '!');
    if (strchr(fault, '*') || is_code(c, fault))
        return true;
    for (size_t i = 0; i < c->checks->n; i++)
        if (strcmp(c->checks->list[i].name, fault) == 0)
            return true;
    return false;
}

static void doubt_helps(struct config *c, const struct place *p, const struct remedy *r)
{
    CLEANUP_TEXT struct text strange = {0};
    if (strcmp(r->name, WIPE_REMEDY) == 0) /* it is for no fault */
        return;
    for (size_t i = 0; i < r->helps.n; i++)
        if (!is_fault(c, r->helps.names[i]))
            text_printf(&strange, "%s%s", strange.len ? "," : "", r->helps.names[i]);
    if (strange.len)
        doubt_conf_doubt(
            c, p,
            "has a word in Helps that is neither the name of a check nor the code of a finding: ", strange.s);
}

/* A shell runs the script. A program that is named by its path can be checked. */
static void doubt_script(struct config *c, const struct place *p, const struct remedy *r)
{
    struct action script = action_of(r->run);
    const char *run = script.rest + strspn(script.rest, " ");
    if (script.kind != ACTION_SCRIPT)
        return;
    if (*run != '/' || run[strcspn(run, "\"'\\$;|&<>()")])
        return;
    CLEANUP_FREE char *path = mem_dup_len(run, strcspn(run, " "));
    const char *fault = file_fault(path, true);
    if (fault)
        doubt_conf_doubt(c, p, fault, path);
}

static void doubt_remedies(struct config *c)
{
    for (size_t i = 0; i < c->remedies->n; i++) {
        const struct remedy *r = &c->remedies->list[i];
        const struct place p = {c->text[SETTING_REMEDY_CONF], (int)r->line, "remedy", r->name};
        if (c->number[SETTING_HEALTH] != HEALTH_OFF)
            doubt_helps(c, &p, r);
        doubt_script(c, &p, r);
    }
}

static void on_role_tenant(void *arg, const char *tenant, int line)
{
    struct config *c = arg;
    const struct place p = {c->text[SETTING_ROLE_CONF], line, "tenant", tenant};
    for (size_t i = 0; i < c->n_tenants; i++)
        if (strcmp(c->tenants[i].name, tenant) == 0)
            return;
    doubt_conf_doubt(c, &p, "is not in TenantConf", "");
}

void config_doubt(struct config *c)
{
    grants_each_tenant(&c->grants, on_role_tenant, c);
    doubt_files(c);
    doubt_idle(c);
    doubt_user(c);
    doubt_partitions(c);
    doubt_bmcs(c);
    doubt_remedies(c);
    doubt_examinations(c);
    if (c->roster.n > 0)
        doubt_nodes(c);
}
