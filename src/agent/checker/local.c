/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/local.h"

#include "agent/checker/checker.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STATUS_FAILS = 1, STATUS_UNKNOWN = 3, DEADLINE_H = 24, NAME_COLUMNS = 24, OTHER_COLUMNS = 25 };

struct row {
    struct local *local;
    const struct check *check;
    struct verdict verdict;
    struct span took;
};

struct local {
    uv_loop_t *loop;
    struct checker *checker;
    struct row *rows;
    size_t n, done;
    struct text source; /* the file or list from which the checks come */
};

static void on_looked(void *arg, const struct verdict *v, struct span took)
{
    struct row *r = arg;
    r->verdict = *v;
    r->took = took;
    if (++r->local->done == r->local->n)
        uv_stop(r->local->loop); /* it would wait for the next event */
}

static void say_nothing(void *arg, const char *body, size_t len)
{
}

static int read_list(const struct local_request *q, struct checklist *list, struct text *source,
                     struct err *e)
{
    CLEANUP_TEXT struct text own = {0};
    struct stat st;
    if (*q->root && (stat(q->root, &st) || !S_ISDIR(st.st_mode)))
        return err_set(e, -ENOENT, "%s is no directory", q->root);
    text_printf(&own, "%s%s", q->root, CHECKLIST_OWN_PATH);
    const char *path = q->conf;
    if (!path && access(own.s, F_OK) == 0)
        path = own.s;
    if (path)
        text_printf(source, "These are the checks of %s.", path);
    else
        text_printf(source, "These are the checks by default: there is no %s.", own.s);
    int r = checklist_read(path, q->node, list, e);
    if (r || list->checks.n > 0)
        return r;
    checklist_fini(list);
    return err_set(e, -ENOENT, "%s has no check for %s", path ? path : "the default", q->node);
}

static int local_ask(struct local *l, struct row *r, const char *name, struct err *e)
{
    r->local = l;
    int bad =
        checker_look(l->checker, name, span_s(DEADLINE_H * 3600), &(struct company){0}, on_looked, r, e);
    if (!bad)
        r->check = checks_find(checker_checks(l->checker), name);
    return bad;
}

static int local_look(struct local *l, const struct local_request *q, struct err *e)
{
    const struct checks *all = checker_checks(l->checker);
    int r = 0;
    l->rows = mem_alloc((q->n_names + all->n + 1) * sizeof *l->rows);
    for (size_t i = 0; !r && i < q->n_names; i++)
        r = local_ask(l, &l->rows[l->n++], q->names[i], e);
    for (size_t i = 0; !r && !q->n_names && i < all->n; i++)
        r = local_ask(l, &l->rows[l->n++], all->list[i].name, e);
    return r;
}

static void print_finding(FILE *out, const struct finding *f)
{
    fprintf(out, "  %s%s%s\n", f->device, *f->device ? ": " : "", f->text);
}

/* width: the width of the column of names, in characters. */
static void local_print(FILE *out, const struct row *r, int width)
{
    const struct verdict *v = &r->verdict;
    int64_t us = r->took.ns / 1000;
    fprintf(out, "%-*s %-11s %5" PRId64 ".%03" PRId64 " ms", width, r->check->name, result_name(v->result),
            us / 1000, us % 1000);
    if (v->n)
        print_finding(out, &v->findings[0]);
    else
        fprintf(out, "%s%s\n", *v->text ? "  " : "", v->text);
    for (size_t i = 1; i < v->n; i++) {
        fprintf(out, "%*s", width + OTHER_COLUMNS, "");
        print_finding(out, &v->findings[i]);
    }
    if (v->more)
        fprintf(out, "%*s  and %u more\n", width + OTHER_COLUMNS, "", v->more);
}

static void print_all(FILE *out, const struct local *l)
{
    int width = NAME_COLUMNS;
    for (size_t i = 0; i < l->n; i++)
        if ((int)strlen(l->rows[i].check->name) > width)
            width = (int)strlen(l->rows[i].check->name);
    for (size_t i = 0; i < l->n; i++)
        local_print(out, &l->rows[i], width);
}

/* Which checks the controller has this node run, as far as the agent was told. */
static void print_controllers(FILE *out, const struct local_request *q)
{
    struct checklist list = {0};
    struct err e = {0};
    CLEANUP_FREE char *body = NULL;
    int r = checklist_copy(q->home, q->node, &list, &body, &e);
    if (r == -ENOENT)
        fputs("No controller has told this node yet which checks it runs: \"fettle check list\" shows them "
              "there.\n",
              out);
    else if (r)
        fprintf(out, "The controller's list of checks for this node cannot be read: %s.\n", e.msg);
    else
        fprintf(out, "The controller has this node run%s", list.checks.n ? "" : " no check");
    for (size_t i = 0; !r && i < list.checks.n; i++)
        fprintf(out, "%s%s", i ? ", " : " ", list.checks.list[i].name);
    fputs(r ? "" : ".\n", out);
    checklist_fini(&list);
}

static int status_of(const struct local *l)
{
    bool unknown = false;
    for (size_t i = 0; i < l->n; i++) {
        if (result_fails(l->rows[i].verdict.result))
            return STATUS_FAILS;
        unknown |= l->rows[i].verdict.result == RESULT_UNKNOWN;
    }
    return unknown ? STATUS_UNKNOWN : 0;
}

int local_check(uv_loop_t *loop, const struct local_request *q, FILE *out, int *status, struct err *e)
{
    struct checker_settings settings = {
        .root = q->root, .node = q->node, .boot = "", .say = say_nothing, .by_hand = true};
    struct checklist list = {0};
    struct local l = {.loop = loop};
    int r = read_list(q, &list, &l.source, e);
    if (r) {
        text_fini(&l.source);
        return r;
    }
    l.checker = checker_create(loop, &settings);
    checker_set(l.checker, &list);
    r = local_look(&l, q, e);
    while (!r && l.done < l.n && uv_run(loop, UV_RUN_ONCE))
        ;
    if (!r) {
        print_all(out, &l);
        if (!q->n_names) {
            fprintf(out, "\n%s\n", l.source.s);
            print_controllers(out, q);
        }
        *status = status_of(&l);
    }
    checker_destroy(l.checker);
    uv_run(loop, UV_RUN_DEFAULT);
    free(l.rows);
    text_fini(&l.source);
    return r;
}
