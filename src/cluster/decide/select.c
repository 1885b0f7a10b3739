/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the decisions: the nodes and claims that a command means, and the words that came with it. */
#include "cluster/decide/decide.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void decision_note(struct decision *d, bool *marks, const struct member *m)
{
    if (marks && marks[m->id])
        return;
    if (marks)
        marks[m->id] = true;
    hostlist_add(&d->changed, m->name);
}

int decide_find_named(const struct cluster *c, const struct command *cmd, size_t from, bool must_be_listed,
                      struct named *out, struct err *e)
{
    size_t n = cmd->nodes ? cmd->nodes->n : 0;
    size_t place = 0;
    *out = (struct named){.nodes = mem_alloc((n + 1) * sizeof *out->nodes)};
    for (size_t i = from; i < n; i++) {
        struct member *m = cluster_find_next(c, &place, cmd->nodes->names[i]);
        if (!m || m->gone)
            return err_set(e, -ENOENT, "no node \"%s\"", cmd->nodes->names[i]);
        if (must_be_listed && !m->listed)
            return err_set(e, -ENOENT, "node \"%s\" is in no configuration file", m->name);
        out->nodes[out->n++] = m;
    }
    return 0;
}

int decide_one(const struct cluster *c, const struct command *cmd, struct member **out, struct err *e)
{
    if (!cmd->nodes || cmd->nodes->n != 1)
        return err_set(e, -EINVAL, "%s names one node", command_name(cmd->kind));
    *out = cluster_find(c, cmd->nodes->names[0]);
    return *out ? 0 : err_set(e, -ENOENT, "no node \"%s\"", cmd->nodes->names[0]);
}

int decide_check_reason(const char *reason, struct err *e)
{
    assert(reason);
    size_t len = strlen(reason);
    if (len == 0 || len > REASON_BYTES_MAX)
        return err_set(e, -EINVAL, "a reason has 1 to %d bytes; this one has %zu", REASON_BYTES_MAX, len);
    int rc = text_check_line(reason, e);
    return rc < 0 ? err_wrap(e, rc, "the reason") : 0;
}

int decide_check_note(const struct command *cmd, struct err *e)
{
    return cmd->reason && *cmd->reason ? decide_check_reason(cmd->reason, e) : 0;
}

int decide_check_clause(const char *what, const char *clause, struct err *e)
{
    if (strlen(clause) > REASON_BYTES_MAX)
        return err_set(e, -EINVAL, "%s: %zu bytes; it has %d at most", what, strlen(clause),
                       REASON_BYTES_MAX);
    return text_is_clean(clause) ? 0 : err_set(e, -EINVAL, "%s: a control character", what);
}

int decide_check_boot(const char *boot, struct err *e)
{
    return !*boot || boot_ok(boot) ? 0 : err_set(e, -EINVAL, "\"%.80s\" is no boot id", boot);
}

void decide_claim(struct decision *d, const struct command *cmd, enum claim_kind kind, const char *reason,
                  const struct named *nodes)
{
    assert(cmd->claim && nodes->n > 0);
    CLEANUP_FREE char *all = members_fold(nodes->nodes, nodes->n);
    CLEANUP_FREE const char **drained = mem_alloc((nodes->n + 1) * sizeof *drained);
    size_t n_drained = 0;
    for (size_t i = 0; kind_drains(kind) && i < nodes->n; i++)
        if (member_agreed(nodes->nodes[i]).drained)
            drained[n_drained++] = nodes->nodes[i]->name;
    CLEANUP_FREE char *done = hostlist_fold(drained, n_drained);

    struct text t = {0};
    text_printf(&t, "{\"kind\":\"%s\",\"owner\":", claim_kind_name(kind));
    text_add_json(&t, cmd->actor);
    text_add(&t, ",\"reason\":");
    text_add_json(&t, reason);
    text_printf(&t, ",\"since\":\"%lld\",\"nodes\":", (long long)cmd->at.ns);
    text_add_json(&t, all);
    text_add(&t, ",\"drained\":");
    text_add_json(&t, done);
    text_add_char(&t, '}');
    decision_add(d, "claim/", cmd->claim, text_take(&t));
}

bool selection_add(struct selection *s, const struct claim *claim)
{
    assert(s->n <= OPS_MAX);
    for (size_t i = 0; i < s->n; i++)
        if (s->claims[i] == claim)
            return true;
    if (s->n == OPS_MAX)
        return false;
    s->claims[s->n++] = claim;
    return true;
}

void selection_say(const struct selection *s, struct text *t)
{
    assert(s->n <= OPS_MAX);
    for (size_t i = 0; i < s->n && i < 8; i++)
        text_printf(t, "%s%s", i ? ", " : "", s->claims[i]->id);
    if (s->n > 8)
        text_printf(t, " and %zu more", s->n - 8);
}

void selection_release(const struct selection *s, struct decision *d)
{
    assert(s->n == 0 || s->nodes);
    for (size_t i = 0; i < s->n; i++)
        decision_add(d, "claim/", s->claims[i]->id, claim_record(s->claims[i], s->nodes, NULL, false));
}

bool decide_key_ok(const char *key, size_t max)
{
    assert(key && max > 0);
    size_t len = strlen(key);
    for (size_t i = 0; i < len; i++)
        if (key[i] < 0x20 || key[i] > 0x7e)
            return false;
    return len > 0 && len <= max;
}

struct wall deadline_after(struct wall at, uint64_t s)
{
    return (struct wall){s ? at.ns + (int64_t)s * INT64_C(1000000000) : 0};
}
