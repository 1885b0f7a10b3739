/* SPDX-License-Identifier: Apache-2.0 */
/* For whom nodes work. */
#include "cli/choice.h"
#include "cli/listing.h"
#include "cli/print.h"
#include "cli/report.h"

#include <errno.h>
#include <string.h>

/* ---- lists ---- */

static int ask_owners(struct call *c, const struct query *q, struct fettle_answer **answer, struct err *e)
{
    struct fettle_error why;
    struct fettle *f = call_controller(c, e);
    return f ? call_told(fettle_owner_list(f, NULL, answer, &why), &why, e) : e->code;
}

int owner_list(struct call *c, struct err *e)
{
    static const struct listing owners = {.record = RECORD_OWNER, .ask = ask_owners};
    return listing_show(c, &owners, NULL, e);
}

/* "3 of 64 nodes": the quota, where there is one. */
static void write_use(struct text *out, const struct fettle_value *v, const char *use, const char *most,
                      const char *what)
{
    const char *limit = fettle_get_text(v, most);
    text_add(out, report_text(v, use));
    if (limit)
        text_printf(out, " of %s", limit);
    text_printf(out, " %s", what);
}

static void write_owner(struct call *c, const struct fettle_value *v)
{
    CLEANUP_TEXT struct text nodes = {0};
    const char *reason = fettle_get_text(v, "reason");
    text_printf(&nodes, "%s: %s", report_text(v, "count"), report_text(v, "nodes"));
    report_line(&c->out, "Owner", fettle_get_text(v, "owner"));
    report_line(&c->out, "Nodes", nodes.s);
    report_since(&c->out, "Since", fettle_get_text(v, "since"));
    report_line(&c->out, "By", fettle_get_text(v, "by"));
    report_line(&c->out, "Reason", reason && *reason ? reason : NULL);
}

/* The quotas that bind the owner: its tenant's, or those of all persons. */
static void write_quotas(struct call *c, const struct fettle_value *v, const char *owner)
{
    CLEANUP_TEXT struct text line = {0};
    size_t len = strcspn(owner, "/:");
    if (strchr(owner, '@')) {
        write_use(&line, fettle_value_find(v, "sensitive"), "nodes", "nodes_max", "nodes of all persons");
        report_line(&c->out, "Pool", line.s);
        return;
    }
    REPORT_EACH(i, fettle_value_find(v, "tenants"))
    {
        const char *tenant = fettle_get_text(i, "tenant");
        if (!tenant || strlen(tenant) != len || strncmp(tenant, owner, len) != 0)
            continue;
        write_use(&line, i, "nodes", "nodes_max", "nodes");
        text_add(&line, ", ");
        write_use(&line, i, "allocations", "allocations_max", "allocations");
        report_line(&c->out, "Quota", line.s);
    }
}

int owner_show(struct call *c, struct err *e)
{
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    const char *owner = c->args[0];
    struct fettle *f = call_controller(c, e);
    int r = f ? call_told(fettle_owner_list(f, owner, &answer, &why), &why, e) : e->code;
    if (r < 0)
        return r;
    const struct fettle_value *v = fettle_answer_value(answer), *owners = fettle_value_find(v, "owners");
    if (call_has(c, OPTION_JSON)) {
        report_json(c, v);
    } else {
        REPORT_EACH(i, owners)
        write_owner(c, i);
        if (fettle_value_count(owners) == 0)
            report_line(&c->out, "Nodes", "none");
        write_quotas(c, v, owner);
    }
    fettle_answer_free(answer);
    return 0;
}

/* ---- changes ---- */

/* The nodes of the call; NULL when it names none, for all of the owner. The caller frees it. */
static int owner_nodes(struct call *c, char **nodes, struct err *e)
{
    *nodes = NULL;
    if (c->n_args == 0 && c->n_wheres == 0)
        return call_has(c, OPTION_OWNER)
                   ? 0
                   : err_set(e, -EINVAL, "which nodes? name them, or an --owner for all of its nodes");
    return choice_target_list(c, c->args, c->n_args, nodes, e);
}

typedef int owner_fn(struct fettle *f, const char *nodes, const char *owner, const char *reason,
                     struct fettle_answer **out, struct fettle_error *e);

static int owner_change(struct call *c, owner_fn *fn, char *nodes, const char *done, struct err *e)
{
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    struct fettle *f = call_controller(c, e);
    if (!f)
        return e->code;
    int r = fn(f, nodes, c->value[OPTION_OWNER], c->value[OPTION_REASON], &answer, &why);
    r = call_told(r, &why, e);
    return r < 0 ? r : report_change(c, answer, done, "nothing had to change");
}

int owner_claim(struct call *c, struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    int r = choice_target_list(c, c->args, c->n_args, &nodes, e);
    return r < 0 ? r : owner_change(c, fettle_owner_claim, nodes, "claimed", e);
}

int owner_release(struct call *c, struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    int r = owner_nodes(c, &nodes, e);
    return r < 0 ? r : owner_change(c, fettle_owner_release, nodes, "released", e);
}

int owner_transfer(struct call *c, struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    const char *from = c->value[OPTION_OWNER], *to = c->value[OPTION_NEW_OWNER];
    if (!from || !to)
        return err_set(e, -EINVAL,
                       "from whom to whom? \"fettle owner transfer\" needs --owner and --new-owner");
    int r = owner_nodes(c, &nodes, e);
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    r = call_told(fettle_owner_transfer(f, nodes, from, to, c->value[OPTION_REASON], &answer, &why), &why, e);
    return r < 0 ? r : report_change(c, answer, "transferred", "nothing had to change");
}
