/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/listing.h"
#include "cli/print.h"
#include "cli/report.h"

#include "base/hostlist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- list ---- */

int node_list(struct call *c, struct err *e)
{
    static const struct listing nodes = {.record = RECORD_NODE, .ask = choice_fetch, .chooses = true};
    return listing_show(c, &nodes, NULL, e);
}

/* ---- show ---- */

/* "what since owner: reason" of a claim, as in "drain by root since …, claim 7: broken disk". */
static void write_claim(struct text *out, const struct fettle_value *claim)
{
    static const char *const parts[][2] = {
        {"", "kind"}, {" by ", "owner"}, {" since ", "since"}, {", claim ", "id"}, {": ", "reason"}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *s = fettle_get_text(claim, parts[i][1]);
        if (!s || !*s)
            continue;
        text_add(out, parts[i][0]);
        print_safe(out, s);
    }
    text_add(out, "\n");
}

static void write_field(struct text *out, const struct fettle_value *v)
{
    CLEANUP_TEXT struct text s = {0};
    static const struct field_info unknown = {.kind = KIND_TEXT};
    const struct cell cell = {.value = v};
    const char *name = fettle_value_key(v) ? fettle_value_key(v) : "?", *unit = "";
    enum field f = FIELDS;
    if (field_parse(name, strlen(name), &f, NULL) == 0) {
        field_show(field_info(f), &cell, &s);
        unit = field_info(f)->kind == KIND_SPAN ? "" : field_info(f)->unit;
    } else {
        field_raw(&unknown, &cell, &s);
    }
    if (s.len == 0)
        return;
    size_t width = print_safe(out, name);
    text_printf(out, "%*s ", width < 16 ? (int)(16 - width) : 0, "");
    print_safe(out, s.s);
    text_printf(out, "%s%s\n", *unit ? " " : "", unit);
}

static void write_section(struct text *out, const char *heading, const struct fettle_value *v)
{
    if (fettle_value_count(v) == 0)
        return;
    print_safe(out, heading);
    text_add_char(out, '\n');
    print_tree(out, v, 2);
}

static void write_detail(struct text *out, const struct fettle_value *detail)
{
    for (const struct fettle_value *v = fettle_value_first(fettle_value_find(detail, "node")); v;
         v = fettle_value_next(v))
        write_field(out, v);
    const struct fettle_value *claims = fettle_value_find(detail, "claims");
    if (fettle_value_count(claims) > 0)
        text_add(out, "Held\n");
    for (const struct fettle_value *i = fettle_value_first(claims); i; i = fettle_value_next(i)) {
        text_add(out, "  ");
        write_claim(out, i);
    }
    write_section(out, "Specification", fettle_value_find(detail, "specification"));
    write_section(out, "Edited", fettle_value_find(detail, "edited"));
    const char *at = fettle_value_text(fettle_value_find(detail, "inventory_at"));
    CLEANUP_TEXT struct text heading = {0};
    text_printf(&heading, at ? "Inventory, as of %s" : "Inventory", at);
    write_section(out, heading.s, fettle_value_find(detail, "inventory"));
}

static int show_one(struct call *c, const char *name, bool first, struct err *e)
{
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    struct fettle *f = call_controller(c, e);
    if (!f)
        return e->code;
    int r = call_told(fettle_node_show(f, name, &answer, &why), &why, e);
    if (r < 0)
        return r;
    if (call_has(c, OPTION_JSON)) {
        report_json(c, fettle_answer_value(answer));
    } else {
        text_add(&c->out, first ? "" : "\n");
        write_detail(&c->out, fettle_answer_value(answer));
    }
    fettle_answer_free(answer);
    return 0;
}

int node_show(struct call *c, struct err *e)
{
    CLEANUP_HOSTLIST struct hostlist h = {0};
    int r = choice_targets(c, c->args, c->n_args, &h, e);
    for (size_t i = 0; i < h.n && r == 0; i++)
        r = show_one(c, h.names[i], i == 0, e);
    return r;
}

/* ---- claims ---- */

static int ask_node(struct call *c, const struct query *q, struct fettle_answer **answer, struct err *e)
{
    return call_about(c, fettle_node_show, answer, e);
}

int node_claims(struct call *c, struct err *e)
{
    static const struct listing claims = {.record = RECORD_CLAIM, .ask = ask_node};
    return listing_show(c, &claims, NULL, e);
}

/* ---- changes ---- */

static void write_held(struct text *out, const struct fettle_value *held, const char *but)
{
    for (const struct fettle_value *i = fettle_value_first(held); i; i = fettle_value_next(i)) {
        const char *id = fettle_get_text(i, "id"), *nodes = fettle_get_text(i, "nodes");
        if (but && id && strcmp(but, id) == 0)
            continue;
        print_safe(out, nodes ? nodes : "?");
        text_add(out, ": held: ");
        write_claim(out, i);
    }
}

/* Prints the result of a change. 0, or 3 when it should have removed something and there was nothing. */
static int write_change(struct call *c, const struct fettle_answer *answer, const char *done, bool removes)
{
    const struct fettle_value *v = fettle_answer_value(answer);
    const char *changed = fettle_get_text(v, "changed"), *claim = fettle_get_text(v, "claim");
    bool nothing = !changed || !*changed;
    int status = nothing && removes ? err_exit(EBUSY) : 0;
    if (call_has(c, OPTION_JSON)) {
        report_json(c, v);
        return status;
    }
    if (nothing) {
        text_add(&c->out, removes ? "nothing of yours was there to remove\n" : "nothing had to change\n");
    } else {
        print_safe(&c->out, changed);
        text_printf(&c->out, ": %s", done);
        if (claim && *claim) {
            text_add(&c->out, " by claim ");
            print_safe(&c->out, claim);
        }
        text_add_char(&c->out, '\n');
    }
    write_held(&c->out, fettle_value_find(v, "held"), nothing ? NULL : claim);
    return status;
}

typedef int change_fn(struct fettle *f, const char *nodes, const char *word, struct fettle_answer **out,
                      struct fettle_error *e);

static int node_change(struct call *c, change_fn *fn, const char *word, const char *done, bool removes,
                       struct err *e)
{
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = choice_target_list(c, c->args, c->n_args, &nodes, e);
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    r = call_told(fn(f, nodes, word, &answer, &why), &why, e);
    if (r == 0 && call_has(c, OPTION_DRY_RUN))
        return report_would(c, answer);
    if (r == 0)
        r = write_change(c, answer, done, removes);
    fettle_answer_free(answer);
    return r;
}

static int node_hold(struct call *c, change_fn *fn, const char *done, struct err *e)
{
    const char *reason = c->value[OPTION_REASON];
    if (!reason || reason[strspn(reason, " \t")] == '\0')
        return err_set(e, -EINVAL, "why? \"fettle %s\" needs --reason", c->command->path);
    return node_change(c, fn, reason, done, false, e);
}

int node_drain(struct call *c, struct err *e)
{
    return node_hold(c, fettle_node_drain, "drained", e);
}

int node_down(struct call *c, struct err *e)
{
    return node_hold(c, fettle_node_down, "down", e);
}

int node_undrain(struct call *c, struct err *e)
{
    return node_change(c, fettle_node_undrain, c->value[OPTION_CLAIM], "drain removed", true, e);
}

int node_up(struct call *c, struct err *e)
{
    return node_change(c, fettle_node_up, c->value[OPTION_CLAIM], "down removed", true, e);
}

/* A non-NULL word means by force. */
static int forget_post(struct fettle *f, const char *nodes, const char *word, struct fettle_answer **out,
                       struct fettle_error *e)
{
    return fettle_node_forget(f, nodes, word, out, e);
}

int node_forget(struct call *c, struct err *e)
{
    return node_change(c, forget_post, c->value[OPTION_FORCE], "forgotten", false, e);
}

/* ---- set ---- */

static int node_settable(const char *name, size_t len, const char **out, struct err *e)
{
    enum field f = FIELDS;
    int r = field_parse(name, len, &f, e);
    if (r < 0)
        return r;
    *out = field_info(f)->name;
    return field_info(f)->settable ? 0 : err_set(e, -EINVAL, "the field %s is not set but observed", *out);
}

static int add_setting(struct fettle_setting *settings, size_t *n, const char *name, size_t len,
                       const char *value, struct err *e)
{
    const char *field = NULL;
    int r = node_settable(name, len, &field, e);
    for (size_t i = 0; i < *n && r == 0; i++)
        if (strcmp(settings[i].field, field) == 0)
            r = err_set(e, -EINVAL, "the field %s is set twice", field);
    if (r == 0)
        settings[(*n)++] = (struct fettle_setting){field, value};
    return r;
}

/* Reads FIELD=VALUE arguments and the fields of --unset; other arguments are nodes. */
static int read_settings(struct call *c, struct fettle_setting settings[static FIELDS + 1], size_t *n,
                         const char **nodes, size_t *n_nodes, struct err *e)
{
    int r = 0;
    for (size_t i = 0; i < c->n_args && r == 0; i++) {
        size_t len = strcspn(c->args[i], "=");
        if (c->args[i][len] == '=')
            r = add_setting(settings, n, c->args[i], len, c->args[i] + len + 1, e);
        else
            nodes[(*n_nodes)++] = c->args[i];
    }
    for (const char *s = c->value[OPTION_UNSET]; s && r == 0;) {
        size_t len = strcspn(s, ",");
        r = add_setting(settings, n, s, len, NULL, e);
        s = s[len] ? s + len + 1 : NULL;
    }
    if (r == 0 && *n == 0)
        r = err_set(e, -EINVAL, "what to set? FIELD=VALUE, or --unset FIELD");
    return r;
}

int node_set(struct call *c, struct err *e)
{
    struct fettle_setting settings[FIELDS + 1];
    size_t n = 0, n_words = 0;
    CLEANUP_FREE const char **words = mem_alloc(c->n_args * sizeof *words);
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = read_settings(c, settings, &n, words, &n_words, e);
    if (r == 0)
        r = choice_target_list(c, words, n_words, &nodes, e);
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    r = call_told(fettle_node_set(f, nodes, settings, n, &answer, &why), &why, e);
    if (r == 0 && call_has(c, OPTION_DRY_RUN))
        return report_would(c, answer);
    if (r == 0)
        r = write_change(c, answer, "set", false);
    fettle_answer_free(answer);
    return r;
}
