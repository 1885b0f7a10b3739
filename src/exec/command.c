/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/command.h"

#include "base/secret.h"
#include "driver/power.h"
#include "exec/shape.h"
#include "exec/site.h"
#include "node/action.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

typedef int decide_fn(const struct site *s, const struct request *r, struct command *c, struct err *e);

static int variable_set(struct command *c, const char *name, const char *value)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "%s=%s", name, value);
    hostlist_add(&c->set, t.s);
    return 0;
}

/* The program must be protected as well as the setting that names it. */
static int program_take(struct command *c, const char *path, struct err *e)
{
    hostlist_add(&c->argv, path);
    return site_check_file(path, e);
}

static int operation_check(const char *id, struct err *e)
{
    size_t n = strspn(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_");
    return n > 0 && n < 64 && !id[n] ? 0 : err_set(e, -EPERM, "\"%.100s\" is not the id of an operation", id);
}

static int decide_hello(const struct site *s, const struct request *r, struct command *c, struct err *e)
{
    return 0;
}

static int power_set(const struct site_power *p, const char *verb, const char *node, struct command *c,
                     struct err *e)
{
    int rc = program_take(c, p->program, e);
    if (rc < 0)
        return rc;
    hostlist_add(&c->argv, verb);
    hostlist_add(&c->argv, node);
    variable_set(c, "FETTLE_NODE", node);
    variable_set(c, "FETTLE_USER", p->user);
    return variable_set(c, "FETTLE_PASSWORD", p->password.len ? p->password.s : "");
}

static int decide_power(const struct site *s, const struct request *r, struct command *c, struct err *e)
{
    struct site_power p;
    const char *verb = r->args[0], *node = r->args[1];
    enum verb v;
    if (!verb_find(verb, &v))
        return err_set(e, -EPERM, "\"%.40s\" is none of status, on, off, cycle, reset, netboot", verb);
    if (!hostlist_name_ok(node))
        return err_set(e, -EPERM, "\"%.100s\" is not the name of a node", node);
    c->changes = v != VERB_STATUS;
    int rc = site_power(s, node, &p, e);
    if (rc == 0)
        rc = power_set(&p, verb, node, c, e);
    site_power_fini(&p);
    return rc;
}

static int decide_password(const struct site *s, const struct request *r, struct command *c, struct err *e)
{
    if (!hostlist_name_ok(r->args[0]))
        return err_set(e, -EPERM, "\"%.100s\" is not the name of a node", r->args[0]);
    return site_password(s, r->args[0], &c->printed, e);
}

static int node_set(const struct site *s, const char *node, const char *operation, struct command *c,
                    struct err *e)
{
    int rc = operation_check(operation, e);
    if (rc == 0)
        rc = site_check_node(s, node, e);
    if (rc < 0)
        return rc;
    c->changes = true;
    variable_set(c, "FETTLE_NODE", node);
    return variable_set(c, "FETTLE_OPERATION", operation);
}

/* The command is the configuration's own text, and so are the files of its secrets. */
static int script_take(const char *run, struct command *c, struct err *e)
{
    struct secrets secrets = {0};
    const char *rest;
    int rc = secrets_take(action_of(run).rest, &secrets, &rest, e);
    if (rc == 0) {
        hostlist_add(&c->argv, "/bin/sh");
        hostlist_add(&c->argv, "-c");
        hostlist_add(&c->argv, rest);
    }
    for (size_t i = 0; rc == 0 && secrets.set[i]; i++)
        hostlist_add(&c->set, secrets.set[i]);
    secrets_fini(&secrets);
    return rc;
}

static int decide_script(const struct site *s, const struct request *r, struct command *c, struct err *e)
{
    int rc = site_check_script(s, r->args[0], e);
    if (rc == 0)
        rc = script_take(r->args[0], c, e);
    return rc < 0 ? rc : node_set(s, r->args[1], r->args[2], c, e);
}

static int decide_replace(const struct site *s, const struct request *r, struct command *c, struct err *e)
{
    const char *program;
    int rc = site_replace_program(s, &program, e);
    if (rc == 0)
        rc = program_take(c, program, e);
    if (rc < 0)
        return rc;
    hostlist_add(&c->argv, r->args[0]);
    return node_set(s, r->args[0], r->args[1], c, e);
}

static int decide_slurm(const struct site *s, const struct request *r, struct command *c, struct err *e)
{
    CLEANUP_FREE char *program = NULL;
    const char *conf;
    int rc = shape_check(r->args, r->n, &c->changes, e);
    if (rc == 0)
        rc = site_slurm_program(s, r->args[0], &program, &conf, e);
    if (rc == 0)
        rc = program_take(c, program, e);
    if (rc == 0 && *conf)
        rc = site_check_file(conf, e); /* the file names plugins */
    if (rc < 0)
        return rc;
    for (size_t i = 1; i < r->n; i++)
        hostlist_add(&c->argv, r->args[i]);
    variable_set(c, "SLURM_TIME_FORMAT", "standard");
    return *conf ? variable_set(c, "SLURM_CONF", conf) : 0;
}

static const struct request_row {
    const char *name, *takes;
    size_t least, most;
    decide_fn *decide;
} rows[] = {
#define ACTION(symbol, name, takes, least, most, what) {name, takes, least, most, decide_##symbol},
#include "exec/action.tbl"
#undef ACTION
};

static const struct request_row *request_row_find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

int command_decide(const struct request *r, const char *conf, struct command *c, struct err *e)
{
    assert(r && conf && c);
    const struct request_row *a = request_row_find(r->action);
    struct site s;
    *c = (struct command){0};
    if (!a)
        return err_set(e, -EPERM, "there is no action \"%.40s\"", r->action);
    if (r->n < a->least || r->n > a->most)
        return err_set(e, -EPERM, "%s takes other arguments: %s", a->name, *a->takes ? a->takes : "none");
    int rc = site_open(conf, &s, e);
    if (rc < 0)
        return rc;
    rc = a->decide(&s, r, c, e);
    site_close(&s);
    return rc;
}

void command_fini(struct command *c)
{
    hostlist_fini(&c->argv);
    hostlist_fini(&c->set);
    text_fini(&c->printed);
}
