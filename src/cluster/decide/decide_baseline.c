/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Baselines and rollouts: what the nodes of a class should be, version after version, by a person's word.
 * Nothing here follows from what most nodes are. Versions only grow: going back to an older version makes a
 * new one with its fingerprint. A rollout gives a class two good states until it is accepted or reverted.
 *
 * The lists of components that a baseline names are records beside it. A list is there as long as any
 * baseline names it; both come and go in the same commit.
 */
#include "cluster/decide/decide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The new content of a class's baseline. All borrowed. */
struct proposal {
    const struct baseline_slot *was; /* NULL: the first */
    const char *class;
    const struct listing *to; /* of the baseline or the rollout */
    const char *node, *note;
};

/* --- writing --------------------------------------------------------------------------------- */

static void write_version(struct text *t, uint32_t version, const struct fingerprint *id, const char *node,
                          const char *by, struct wall at, const char *note)
{
    char hex[FINGERPRINT_HEX + 1];
    text_printf(t, "\"version\":%u,\"fingerprint\":\"%s\",\"node\":", version, fingerprint_format(id, hex));
    text_add_json(t, node);
    text_add(t, ",\"by\":");
    text_add_json(t, by);
    text_printf(t, ",\"at\":\"%lld\",\"note\":", (long long)at.ns);
    text_add_json(t, note);
}

/* The history with the version that is replaced before it. */
static char *history_after(const struct baseline *b)
{
    if (!b)
        return mem_dup("[]");
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "[{");
    write_version(&t, b->version, &b->listing->id, b->node, b->by, b->at, b->note);
    text_printf(&t, "}%s%s", strcmp(b->history, "[]") == 0 ? "" : ",", b->history + 1);
    CLEANUP_JSON json_t *history = json_read(t.s, t.len, NULL);
    while (json_array_size(history) > BASELINE_KEPT_MAX)
        json_array_remove(history, json_array_size(history) - 1);
    return json_write(history);
}

static char *next_version(const struct proposal *p, const struct command *cmd)
{
    const struct baseline *b = p->was ? &p->was->b : NULL;
    CLEANUP_FREE char *history = history_after(b);
    struct text t = {0};
    text_add_char(&t, '{');
    write_version(&t, b ? b->version + 1 : 1, &p->to->id, p->node, cmd->actor, cmd->at, p->note);
    text_printf(&t, ",\"history\":%s,\"rollout\":null}", history);
    return text_take(&t);
}

/* The baseline as it is, with another rollout (JSON). */
static char *same_version(const struct baseline *b, const char *rollout)
{
    struct text t = {0};
    text_add_char(&t, '{');
    write_version(&t, b->version, &b->listing->id, b->node, b->by, b->at, b->note);
    text_printf(&t, ",\"history\":%s,\"rollout\":%s}", b->history, rollout);
    return text_take(&t);
}

/* --- lists come and go ----------------------------------------------------------------------- */

static bool names_list(const struct baseline_slot *s, const struct fingerprint *id)
{
    if (fingerprint_equal(&s->b.listing->id, id) ||
        (s->b.rollout && fingerprint_equal(&s->b.rollout->to->id, id)))
        return true;
    for (size_t i = 0; i < s->n_kept; i++)
        if (fingerprint_equal(&s->kept[i].listing->id, id))
            return true;
    return false;
}

static bool others_name(const struct cluster *c, const struct baseline_slot *was,
                        const struct fingerprint *id)
{
    for (const struct baseline_slot *s = c->baselines; s; s = s->hh.next)
        if (s != was && names_list(s, id))
            return true;
    return false;
}

static bool is_deleted(const struct decision *d, const char *hex)
{
    for (size_t i = 0; i < d->n_ops; i++)
        if (strncmp(d->ops[i].key, "list/", 5) == 0 && strcmp(d->ops[i].key + 5, hex) == 0)
            return true;
    return false;
}

static void drop_list(const struct cluster *c, const struct baseline_slot *was, const struct fingerprint *id,
                      struct decision *d)
{
    char hex[FINGERPRINT_HEX + 1];
    fingerprint_format(id, hex);
    if (cluster_has_list(c, id) && !others_name(c, was, id) && !is_deleted(d, hex))
        decision_add(d, "list/", hex, NULL);
}

/* Drops the lists that the next version does not keep: the oldest one's when the history is full, and
 * that of a rollout which did not become the baseline. */
static void drop_lists(const struct cluster *c, const struct proposal *p, bool is_version, struct decision *d)
{
    const struct baseline_slot *was = p->was;
    const struct fingerprint *gone[2];
    size_t n = 0;
    bool shifts = is_version && was && was->n_kept == BASELINE_KEPT_MAX;
    if (!was)
        return;
    if (shifts)
        gone[n++] = &was->kept[BASELINE_KEPT_MAX - 1].listing->id;
    if (was->b.rollout)
        gone[n++] = &was->b.rollout->to->id;
    for (size_t i = 0; i < n; i++) {
        bool kept = fingerprint_equal(&was->b.listing->id, gone[i]) ||
                    (is_version && fingerprint_equal(&p->to->id, gone[i]));
        for (size_t j = 0; j < was->n_kept - (shifts ? 1 : 0) && !kept; j++)
            kept = fingerprint_equal(&was->kept[j].listing->id, gone[i]);
        if (!kept)
            drop_list(c, was, gone[i], d);
    }
}

static int add_list(const struct cluster *c, const struct listing *g, struct decision *d, struct err *e)
{
    char hex[FINGERPRINT_HEX + 1], name[FINGERPRINT_SHORT_BYTES];
    if (cluster_has_list(c, &g->id))
        return 0;
    if (!g->known)
        return err_set(e, -EBUSY, "the components of %s are not known", fingerprint_list(&g->id, name));
    struct text t = {0};
    listing_format(g, &t);
    if (t.len > LIST_RECORD_BYTES_MAX) {
        int rc = err_set(e, -E2BIG, "the list of components is %zu bytes as a record; %d are allowed", t.len,
                         LIST_RECORD_BYTES_MAX);
        text_fini(&t);
        return rc;
    }
    decision_add(d, "list/", fingerprint_format(&g->id, hex), text_take(&t));
    return 0;
}

/* --- what a person may name ------------------------------------------------------------------ */

static bool first_unknown(void *arg, const struct difference *x)
{
    struct difference *out = arg;
    *out = *x;
    return !x->unknown;
}

/* A node shows what is right only when all of its components that count are known. */
static int check_shown(const struct cluster *c, const struct member *m, struct err *e)
{
    CLEANUP_TEXT struct text fp = {0};
    struct difference x = {0};
    if (!m->seen)
        return err_set(e, -EBUSY, "node \"%s\" has not sent its fingerprint yet", m->name);
    fingerprint_say(&m->seen->id, &fp);
    if (!m->seen->known)
        return err_set(e, -EBUSY, "the components of node \"%s\" (%s) are not known yet", m->name, fp.s);
    class_compare(member_class(c, m), m->seen, m->seen, first_unknown, &x);
    if (!x.unknown)
        return 0;
    const char *why = x.actual && *x.actual->value ? x.actual->value : "it could not be read";
    return err_set(e, -EBUSY, "node \"%s\" shows nothing: its component %s is unknown (%.128s)", m->name,
                   x.name, why);
}

static int check_no_rollout(const struct baseline_slot *s, struct err *e)
{
    if (!s || !s->b.rollout)
        return 0;
    return err_set(e, -EBUSY, "a rollout of class %s is under way, by %s; accept or revert it first",
                   s->b.class, s->b.rollout->by);
}

static int find_baseline(const struct cluster *c, const char *class, const struct baseline_slot **out,
                         struct err *e)
{
    uint16_t k;
    *out = baseline_slot(c, class);
    if (*out)
        return 0;
    int rc = classes_find(&c->classes, class, &k, e);
    return rc < 0 ? rc : err_set(e, -ENOENT, "class %s has no baseline; accept one first", class);
}

/* A version that is kept, the present one included. */
static int find_version(const struct baseline_slot *s, uint32_t version, struct kept *out, struct err *e)
{
    *out = (struct kept){s->b.version, s->b.listing, s->b.node};
    for (size_t i = 0; i < s->n_kept && out->version != version; i++)
        *out = s->kept[i];
    if (out->version == version)
        return 0;
    return err_set(e, -ENOENT, "class %s has no version %u; it has %u to %u", s->b.class, version,
                   s->n_kept ? s->kept[s->n_kept - 1].version : s->b.version, s->b.version);
}

/* --- words ----------------------------------------------------------------------------------- */

struct names {
    struct text t;
    uint32_t n;
};

static bool add_name(void *arg, const struct difference *x)
{
    struct names *names = arg;
    if (!x->unknown && names->n++ < DRIFT_NAMED_MAX)
        text_printf(&names->t, "%s%s", names->t.len ? ", " : "", x->name);
    return true;
}

/* ": kernel.release, 2 more", what changes from one listing to the next. */
static void say_changes(const struct cluster *c, const char *class, const struct listing *from,
                        const struct listing *to, struct text *t)
{
    struct names names = {0};
    uint16_t k;
    if (!from->known || !to->known || classes_find(&c->classes, class, &k, NULL) < 0)
        return;
    class_compare(&c->classes.list[k], from, to, add_name, &names);
    text_add(t, names.n ? ": " : "");
    text_add(t, names.t.s ? names.t.s : "");
    if (names.n > DRIFT_NAMED_MAX)
        text_printf(t, ", %u more", names.n - DRIFT_NAMED_MAX);
    text_fini(&names.t);
}

static void say_note(const char *note, struct text *t)
{
    if (*note)
        text_printf(t, " (%s)", note);
}

/* --- the commands ---------------------------------------------------------------------------- */

/* The proposal becomes the next version. `what` says how. */
static int add_version(const struct cluster *c, const struct command *cmd, const struct proposal *p,
                       const char *what, struct decision *d, struct err *e)
{
    int rc = add_list(c, p->to, d, e);
    if (rc < 0)
        return rc;
    decision_add(d, "baseline/", p->class, next_version(p, cmd));
    drop_lists(c, p, true, d);
    struct text t = {0};
    text_printf(&t, "baseline %s %u%s: ", p->class, p->was ? p->was->b.version + 1 : 1, what);
    fingerprint_say(&p->to->id, &t);
    text_printf(&t, " of %s", p->node);
    if (p->was)
        say_changes(c, p->class, p->was->b.listing, p->to, &t);
    say_note(p->note, &t);
    d->text = text_take(&t);
    return 0;
}

static int decide_accept(const struct cluster *c, const struct command *cmd, struct decision *d,
                         struct err *e)
{
    struct named named;
    int rc = decide_find_named(c, cmd, 0, true, &named, e);
    CLEANUP_FREE struct member **nodes = named.nodes;
    if (rc < 0)
        return rc;
    if (named.n != 1)
        return err_set(e, -EINVAL, "name one node that shows the new state, not %zu", named.n);
    const struct member *m = named.nodes[0];
    struct proposal p = {.class = member_class(c, m)->name,
                         .to = m->seen,
                         .node = m->name,
                         .note = cmd->reason ? cmd->reason : ""};
    p.was = baseline_slot(c, p.class);
    rc = check_no_rollout(p.was, e);
    if (rc == 0)
        rc = check_shown(c, m, e);
    if (rc < 0 || (p.was && fingerprint_equal(&p.was->b.listing->id, &m->seen->id)))
        return rc;
    decision_note(d, NULL, m);
    return add_version(c, cmd, &p, "", d, e);
}

static int decide_revert(const struct cluster *c, const struct command *cmd, struct decision *d,
                         struct err *e)
{
    struct proposal p = {.note = cmd->reason ? cmd->reason : ""};
    struct kept old = {0};
    int rc = find_baseline(c, cmd->revert.class, &p.was, e);
    if (rc == 0)
        rc = check_no_rollout(p.was, e);
    if (rc == 0)
        rc = find_version(p.was, cmd->revert.version, &old, e);
    if (rc < 0 || fingerprint_equal(&p.was->b.listing->id, &old.listing->id))
        return rc;
    p.class = p.was->b.class;
    p.to = old.listing;
    p.node = old.node;
    CLEANUP_TEXT struct text what = {0};
    text_printf(&what, ", version %u again", old.version);
    return add_version(c, cmd, &p, what.s, d, e);
}

/* The aim of a rollout: a node's present state, or an older version. */
static int find_target(const struct cluster *c, const struct rollout_start_command *says, struct proposal *p,
                       struct err *e)
{
    struct kept old;
    if (!says->node) {
        int rc = find_version(p->was, says->version, &old, e);
        p->to = rc < 0 ? NULL : old.listing;
        p->node = rc < 0 ? NULL : old.node;
        return rc;
    }
    const struct member *m = cluster_find(c, says->node);
    if (!m || !m->listed)
        return err_set(e, -ENOENT, "no node \"%.80s\" in the configuration", says->node);
    if (strcmp(member_class(c, m)->name, p->class) != 0)
        return err_set(e, -EINVAL, "node \"%s\" is of class %s, not %s", m->name, member_class(c, m)->name,
                       p->class);
    p->to = m->seen;
    p->node = m->name;
    return check_shown(c, m, e);
}

static int check_rollout_nodes(const struct cluster *c, const char *class, const struct named *nodes,
                               struct err *e)
{
    if (nodes->n == 0)
        return err_set(e, -EINVAL, "a rollout needs nodes");
    for (size_t i = 0; i < nodes->n; i++)
        if (strcmp(member_class(c, nodes->nodes[i])->name, class) != 0)
            return err_set(e, -EINVAL, "node \"%s\" is of class %s, not %s", nodes->nodes[i]->name,
                           member_class(c, nodes->nodes[i])->name, class);
    return 0;
}

static char *rollout_json(const struct proposal *p, const struct command *cmd, const char *nodes)
{
    char hex[FINGERPRINT_HEX + 1];
    struct text t = {0};
    text_printf(&t, "{\"fingerprint\":\"%s\",\"node\":", fingerprint_format(&p->to->id, hex));
    text_add_json(&t, p->node);
    text_add(&t, ",\"nodes\":");
    text_add_json(&t, nodes);
    text_add(&t, ",\"by\":");
    text_add_json(&t, cmd->actor);
    text_printf(&t, ",\"at\":\"%lld\",\"deadline\":\"%lld\",\"note\":", (long long)cmd->at.ns,
                (long long)cmd->rollout_begun.deadline.ns);
    text_add_json(&t, p->note);
    text_add_char(&t, '}');
    return text_take(&t);
}

static int check_start(const struct cluster *c, const struct command *cmd, const struct named *nodes,
                       struct proposal *p, struct err *e)
{
    const struct rollout_start_command *says = &cmd->rollout_begun;
    int rc = find_baseline(c, says->class, &p->was, e);
    if (rc == 0)
        rc = check_no_rollout(p->was, e);
    if (rc < 0)
        return rc;
    p->class = p->was->b.class;
    if (says->deadline.ns <= cmd->at.ns)
        return err_set(e, -EINVAL, "the deadline of a rollout lies in the future");
    rc = check_rollout_nodes(c, p->class, nodes, e);
    if (rc == 0)
        rc = find_target(c, says, p, e);
    if (rc == 0 && fingerprint_equal(&p->to->id, &p->was->b.listing->id))
        rc = err_set(e, -EINVAL, "the rollout leads to the state that the baseline has already");
    return rc;
}

static int decide_start(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    struct named named;
    struct proposal p = {.note = cmd->reason ? cmd->reason : ""};
    int rc = decide_find_named(c, cmd, 0, true, &named, e);
    CLEANUP_FREE struct member **nodes = named.nodes;
    if (rc == 0)
        rc = check_start(c, cmd, &named, &p, e);
    if (rc == 0)
        rc = add_list(c, p.to, d, e);
    if (rc < 0)
        return rc;
    CLEANUP_FREE char *folded = members_fold(named.nodes, named.n);
    CLEANUP_FREE char *rollout = rollout_json(&p, cmd, folded);
    decision_add(d, "baseline/", p.class, same_version(&p.was->b, rollout));
    for (size_t i = 0; i < named.n; i++)
        decision_note(d, NULL, named.nodes[i]);
    struct text t = {0};
    text_printf(&t, "rollout of %s to ", p.class);
    fingerprint_say(&p.to->id, &t);
    text_printf(&t, " of %s", p.node);
    say_changes(c, p.class, p.was->b.listing, p.to, &t);
    say_note(p.note, &t);
    d->text = text_take(&t);
    return 0;
}

static int find_rollout(const struct cluster *c, const char *class, struct proposal *p, struct err *e)
{
    int rc = find_baseline(c, class, &p->was, e);
    if (rc < 0)
        return rc;
    p->class = p->was->b.class;
    if (!p->was->b.rollout)
        return err_set(e, -ENOENT, "no rollout of class %s is under way", p->class);
    p->to = p->was->b.rollout->to;
    p->node = p->was->b.rollout->node;
    return 0;
}

static void note_rollout(const struct rollout *r, struct decision *d)
{
    hostlist_add_all(&d->changed, &r->nodes);
}

static int decide_rollout_accept(const struct cluster *c, const struct command *cmd, struct decision *d,
                                 struct err *e)
{
    struct proposal p = {0};
    int rc = find_rollout(c, cmd->rollout_end.class, &p, e);
    if (rc < 0)
        return rc;
    p.note = cmd->reason && *cmd->reason ? cmd->reason : p.was->b.rollout->note;
    note_rollout(p.was->b.rollout, d);
    return add_version(c, cmd, &p, ", rolled out", d, e);
}

static int decide_rollout_revert(const struct cluster *c, const struct command *cmd, struct decision *d,
                                 struct err *e)
{
    struct proposal p = {.note = cmd->reason ? cmd->reason : ""};
    int rc = find_rollout(c, cmd->rollout_end.class, &p, e);
    if (rc < 0)
        return rc;
    note_rollout(p.was->b.rollout, d);
    decision_add(d, "baseline/", p.class, same_version(&p.was->b, "null"));
    drop_lists(c, &p, false, d);
    struct text t = {0};
    text_printf(&t, "rollout of %s to ", p.class);
    fingerprint_say(&p.to->id, &t);
    text_printf(&t, " reverted; baseline %s %u stands", p.class, p.was->b.version);
    say_note(p.note, &t);
    d->text = text_take(&t);
    return 0;
}

int decide_baseline(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    int rc = decide_check_note(cmd, e);
    if (rc < 0)
        return rc;
    if (cmd->kind == COMMAND_BASELINE_ACCEPT)
        return decide_accept(c, cmd, d, e);
    if (cmd->kind == COMMAND_BASELINE_REVERT)
        return decide_revert(c, cmd, d, e);
    if (cmd->kind == COMMAND_ROLLOUT_START)
        return decide_start(c, cmd, d, e);
    if (cmd->kind == COMMAND_ROLLOUT_ACCEPT)
        return decide_rollout_accept(c, cmd, d, e);
    return decide_rollout_revert(c, cmd, d, e);
}
