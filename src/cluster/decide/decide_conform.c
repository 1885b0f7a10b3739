/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides the commands of conformance (command_conform.h).
 *
 * A claim that DRIFT, PERSISTS or OVERDUE makes is one record for all nodes of the command and is written
 * with the first part. A node whose own record comes with a later part is already held then. When the
 * controller ends between two parts, a node may be held and not drifted: the next DRIFT finds it held, and
 * RESTORED and APPROVE release it all the same.
 *
 * A finding of Fettle's is decided against the committed state like any other command. A finding about
 * another version of the baseline, or another class than the node's, is of the past and changes nothing.
 */
#include "cluster/decide/decide.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- seen ------------------------------------------------------------------------------------ */

enum { SEEN_PART_BYTES = 512 << 10 }; /* a batch has 1 MiB, and one history 70 KB at most */

/* The history with what the member was last seen with before it. */
static char *history_after(const struct member *m, const struct seen_command *s)
{
    char hex[FINGERPRINT_HEX + 1];
    if (!m->seen)
        return mem_dup("[]");
    const char *old = m->past && m->past->history ? m->past->history : "[]";
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "[{\"fingerprint\":\"%s\",\"since\":\"%lld\",\"named\":",
                fingerprint_format(&m->seen->id, hex), (long long)m->seen_since.ns);
    text_add_json(&t, s->named);
    text_printf(&t, ",\"count\":%u}%s%s", s->count, strcmp(old, "[]") == 0 ? "" : ",", old + 1);
    CLEANUP_JSON json_t *history = json_read(t.s, t.len, NULL);
    while (json_array_size(history) > SEEN_KEPT_MAX)
        json_array_remove(history, json_array_size(history) - 1);
    return json_write(history);
}

static char *seen_record(const struct member *m, const struct seen_command *s, struct wall at)
{
    char hex[FINGERPRINT_HEX + 1];
    CLEANUP_FREE char *history = history_after(m, s);
    struct text t = {0};
    text_printf(&t, "{\"fingerprint\":\"%s\",\"since\":\"%lld\",\"history\":%s}",
                fingerprint_format(&s->id, hex), (long long)at.ns, history);
    return text_take(&t);
}

static char *sight_text(const struct member *m, const struct seen_command *s)
{
    struct text t = {0};
    if (m->seen) {
        fingerprint_say(&m->seen->id, &t);
        text_add(&t, " -> ");
        fingerprint_say(&s->id, &t);
        text_add(&t, s->count ? ": " : "");
        drift_components(s->named, s->count, &t);
    } else {
        text_add(&t, "first seen with ");
        fingerprint_say(&s->id, &t);
    }
    return text_take(&t);
}

int decide_seen(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                struct err *e)
{
    const struct seen_command *s = &cmd->seen;
    if (record_named_check(s->named, e) < 0)
        return -EINVAL;
    size_t bytes = 0;
    for (size_t i = from; i < cmd->nodes->n && d->n_ops < OPS_MAX && bytes < SEEN_PART_BYTES; i++) {
        const struct member *m = cluster_find(c, cmd->nodes->names[i]);
        d->next = i + 1;
        if (!m || (m->seen && fingerprint_equal(&m->seen->id, &s->id)))
            continue;
        if (!d->text)
            d->text = sight_text(m, s);
        char *record = seen_record(m, s, cmd->at);
        bytes += strlen(record);
        decision_add(d, "seen/", m->name, record);
        decision_note(d, NULL, m);
    }
    return 0;
}

/* --- drift is found -------------------------------------------------------------------------- */

/* A command's finding. */
struct found {
    struct drift drift;
    const struct drift_command *says;
};

static int check_boots(const struct command *cmd, const struct boot_id *boots, size_t n, struct err *e)
{
    assert(n == cmd->nodes->n);
    for (size_t i = 0; i < n; i++)
        if (!boot_ok(boots[i].id))
            return err_set(e, -EINVAL, "\"%s\" is no boot id", boots[i].id);
    return 0;
}

/* *out is the caller's to give to drift_fini. */
static void take_found(const struct drift_command *says, struct found *out)
{
    *out = (struct found){.says = says,
                          .drift = {.class = mem_dup(says->class),
                                    .version = says->version,
                                    .expected = says->expected,
                                    .actual = says->actual,
                                    .severity = says->severity,
                                    .named = mem_dup(says->named),
                                    .count = says->count}};
}

/* False when the finding is of the past. */
static bool decide_conform_applies(const struct cluster *c, const struct command *cmd,
                                   const struct drift *found, const struct member *m)
{
    const struct baseline *b = cluster_baseline(c, found->class);
    if (!m || !m->listed || strcmp(member_class(c, m)->name, found->class) != 0)
        return false;
    if (cmd->kind == COMMAND_PERSISTS && !member_drift(m))
        return false;
    return b && b->version == found->version && fingerprint_equal(&b->listing->id, &found->expected);
}

/* The member's drift after the finding; class and named are borrowed. */
static struct drift drift_after(const struct command *cmd, const struct drift *found, const struct member *m,
                                const char *boot)
{
    const struct drift *was = member_drift(m);
    struct drift is = *found;
    bool goes_on = was && was->state != DRIFT_REMEDIED;
    is.since = goes_on ? was->since : cmd->at;
    is.state = goes_on ? was->state : DRIFT_OPEN;
    if (cmd->kind == COMMAND_PERSISTS)
        is.state = DRIFT_PERSISTS;
    if (member_held_by(m, CLAIM_OVERDUE))
        is.state = DRIFT_OVERDUE;
    if (goes_on && cmd->kind == COMMAND_DRIFT)
        boot = was->boot;
    memmove(is.boot, boot, strlen(boot) + 1);
    return is;
}

static void say_drift(const struct drift *d, struct text *t)
{
    text_printf(t, "drifted from baseline %s %u: ", d->class, d->version);
}

/* One claim for all nodes that the finding takes out of service and that are not held yet. */
static void claim_drifted(const struct cluster *c, const struct command *cmd, const struct found *f,
                          struct decision *d, bool *marks)
{
    const struct drift *found = &f->drift;
    CLEANUP_FREE struct member **nodes = mem_alloc((cmd->nodes->n + 1) * sizeof *nodes);
    struct named fresh = {.nodes = nodes};
    for (size_t i = 0; i < cmd->nodes->n; i++) {
        struct member *m = cluster_find(c, cmd->nodes->names[i]);
        if (decide_conform_applies(c, cmd, found, m) && cluster_drift_drains(c, m, found->severity) &&
            (!f->says->braked || m->spec.sensitive) && !member_held_by(m, CLAIM_DRIFT))
            fresh.nodes[fresh.n++] = m;
    }
    if (fresh.n == 0)
        return;
    CLEANUP_TEXT struct text reason = {0};
    say_drift(found, &reason);
    drift_summary(found->named, found->count, &reason);
    decide_claim(d, cmd, CLAIM_DRIFT, reason.s, &fresh);
    for (size_t i = 0; i < fresh.n; i++)
        decision_note(d, marks, fresh.nodes[i]);
}

static char *drift_text(const struct command *cmd, const struct drift *found, bool claimed)
{
    struct text t = {0};
    text_add(&t, cmd->kind == COMMAND_PERSISTS ? "came back and is still " : "");
    say_drift(found, &t);
    drift_components(found->named, found->count, &t);
    text_printf(&t, " (%s)", severity_name(found->severity));
    if (claimed)
        text_printf(&t, " (claim %s)", cmd->claim);
    return text_take(&t);
}

static void put_drifted(const struct cluster *c, const struct member *m, const struct drift *is,
                        const struct command *cmd, struct decision *d, bool *marks)
{
    size_t before = d->n_ops;
    CLEANUP_FREE char *record = drift_record(is);
    CLEANUP_FREE char *standing = member_drift(m) ? drift_record(member_drift(m)) : NULL;
    if (!standing || strcmp(standing, record) != 0)
        decision_add(d, "drift/", m->name, STEAL(record));
    effect_tell(c, m, is, cmd->at, d);
    if (d->n_ops > before)
        decision_note(d, marks, m);
}

static void decide_found(const struct cluster *c, const struct command *cmd, const struct found *f,
                         size_t from, struct decision *d)
{
    CLEANUP_FREE bool *marks = mem_alloc(c->n);
    if (from == 0 && cmd->claim)
        claim_drifted(c, cmd, f, d, marks);
    bool claimed = d->n_ops > 0;
    for (size_t i = from; i < cmd->nodes->n && d->n_ops + 2 <= OPS_MAX; i++) {
        const struct member *m = cluster_find(c, cmd->nodes->names[i]);
        d->next = i + 1;
        if (!decide_conform_applies(c, cmd, &f->drift, m))
            continue;
        const struct drift is = drift_after(cmd, &f->drift, m, f->says->boots[i].id);
        put_drifted(c, m, &is, cmd, d, marks);
    }
    if (d->n_ops)
        d->text = drift_text(cmd, &f->drift, claimed);
}

int decide_drift(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                 struct err *e)
{
    struct found f;
    take_found(&cmd->drift, &f);
    int rc = check_boots(cmd, cmd->drift.boots, cmd->drift.n, e);
    if (rc == 0)
        rc = drift_check(&f.drift, e);
    if (rc == 0)
        decide_found(c, cmd, &f, from, d);
    drift_fini(&f.drift);
    return rc;
}

/* --- drift was remedied, or was not in time --------------------------------------------------- */

static void put_state(const struct member *m, enum drift_state state, struct decision *d)
{
    struct drift is = *member_drift(m);
    is.state = state;
    decision_add(d, "drift/", m->name, drift_record(&is));
}

/* Its class's baseline is not the one any more that the node was compared with. */
static bool is_of_the_past(const struct cluster *c, const struct member *m, uint32_t version)
{
    const struct baseline *b = cluster_baseline(c, member_class(c, m)->name);
    return version && (!b || b->version != version);
}

/* The result of the marks of a part and its claims. */
struct release {
    struct selection claims;
    bool *marks; /* the changed nodes, by member id */
};

/* A person's approval also ends what waits for it. */
static bool is_let_go(enum claim_kind kind, bool by_person)
{
    return kind == CLAIM_DRIFT || (by_person && (kind == CLAIM_OVERDUE || kind == CLAIM_WIPE));
}

static size_t count_held(const struct member *m, bool by_person)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_claims; i++)
        n += is_let_go(m->claims[i].claim->kind, by_person);
    return n;
}

static bool release_fits(const struct release *r, const struct decision *d, const struct member *m)
{
    return d->n_ops + r->claims.n + 5 + count_held(m, true) <= OPS_MAX;
}

/* The node is not drifted any more: its claims and its record go, and that it was wiped. */
static void let_go(struct release *r, const struct member *m, bool by_person, struct decision *d)
{
    for (size_t i = 0; i < m->n_claims; i++) {
        const struct claim *claim = m->claims[i].claim;
        if (!is_let_go(claim->kind, by_person))
            continue;
        selection_add(&r->claims, claim);
        r->claims.nodes[m->id] = true;
        decision_note(d, r->marks, m);
    }
    if (member_drift(m)) {
        decision_add(d, "drift/", m->name, NULL);
        decision_note(d, r->marks, m);
    }
    if (by_person && m->wiped) {
        decision_add(d, "wiped/", m->name, NULL);
        decision_note(d, r->marks, m);
    }
}

static void finish_release(struct release *r, const char *what, struct decision *d)
{
    selection_release(&r->claims, d);
    if (d->n_ops == 0)
        return;
    struct text t = {0};
    text_add(&t, what);
    if (r->claims.n) {
        text_add(&t, "; released from claim ");
        selection_say(&r->claims, &t);
    }
    d->text = text_take(&t);
}

/* What is remembered of drift that comes and goes: a drift that lasted for long leaves nothing. */
static void put_flaps(const struct member *m, const struct drift *ends, struct wall at, struct decision *d)
{
    struct flaps f;
    flaps_after(m, ends, at, &f);
    if (f.n)
        decision_add(d, "flap/", m->name, flaps_record(&f));
    else if (m->past->flaps)
        decision_add(d, "flap/", m->name, NULL);
}

/* Where a person has to approve, the node stays held; otherwise it is as if it had not drifted. */
static void decide_conform_restore(const struct cluster *c, const struct command *cmd, struct release *r,
                                   const struct member *m, struct decision *d)
{
    const struct drift *drift = member_drift(m);
    if (!drift && !member_held_by(m, CLAIM_DRIFT))
        return;
    size_t before = d->n_ops;
    if (drift && drift->state != DRIFT_REMEDIED)
        put_flaps(m, drift, cmd->at, d);
    if (!m->spec.sensitive && !member_held_by(m, CLAIM_OVERDUE))
        let_go(r, m, false, d);
    else if (drift && drift->state != DRIFT_REMEDIED)
        put_state(m, DRIFT_REMEDIED, d);
    effect_tell(c, m, NULL, cmd->at, d);
    effect_no_reboot(c, m, d);
    if (d->n_ops > before)
        decision_note(d, r->marks, m);
}

int decide_restored(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d)
{
    const struct restored_command *says = &cmd->restored;
    CLEANUP_FREE bool *marks = mem_alloc(c->n), *released = mem_alloc(c->n);
    struct release r = {.marks = marks, .claims.nodes = released};
    for (size_t i = from; i < cmd->nodes->n; i++) {
        const struct member *m = cluster_find(c, cmd->nodes->names[i]);
        if (m && !release_fits(&r, d, m))
            break;
        d->next = i + 1;
        if (m && !is_of_the_past(c, m, says->version) && (says->rested || !member_flaps(m)))
            decide_conform_restore(c, cmd, &r, m, d);
    }
    finish_release(&r, "verified to be right again", d);
    return 0;
}

static bool is_overdue(const struct cluster *c, const struct member *m, uint32_t version)
{
    return m && member_drift(m) && member_drift(m)->state != DRIFT_REMEDIED && !is_of_the_past(c, m, version);
}

static void claim_overdue(const struct cluster *c, const struct command *cmd, uint32_t version,
                          struct decision *d, bool *marks)
{
    CLEANUP_FREE struct member **nodes = mem_alloc((cmd->nodes->n + 1) * sizeof *nodes);
    struct named fresh = {.nodes = nodes};
    for (size_t i = 0; i < cmd->nodes->n; i++) {
        struct member *m = cluster_find(c, cmd->nodes->names[i]);
        if (is_overdue(c, m, version) && !member_held_by(m, CLAIM_OVERDUE))
            fresh.nodes[fresh.n++] = m;
    }
    if (fresh.n == 0)
        return;
    decide_claim(d, cmd, CLAIM_OVERDUE, "drift was not remedied in time", &fresh);
    for (size_t i = 0; i < fresh.n; i++)
        decision_note(d, marks, fresh.nodes[i]);
}

int decide_overdue(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d)
{
    uint32_t version = cmd->overdue.version;
    CLEANUP_FREE bool *marks = mem_alloc(c->n);
    if (from == 0)
        claim_overdue(c, cmd, version, d, marks);
    bool claimed = d->n_ops > 0;
    d->next = from;
    for (size_t i = from; i < cmd->nodes->n && d->n_ops < OPS_MAX; i++) {
        const struct member *m = cluster_find(c, cmd->nodes->names[i]);
        d->next = i + 1;
        if (!is_overdue(c, m, version) || member_drift(m)->state == DRIFT_OVERDUE)
            continue;
        put_state(m, DRIFT_OVERDUE, d);
        decision_note(d, marks, m);
    }
    if (d->n_ops == 0)
        return 0;
    struct text t = {0};
    text_add(&t, "drift was not remedied in time: counts as down");
    if (claimed)
        text_printf(&t, " (claim %s)", cmd->claim);
    d->text = text_take(&t);
    return 0;
}

/* --- a person approves ------------------------------------------------------------------------ */

static int check_remedied(const struct cluster *c, const struct command *cmd, const struct named *nodes,
                          struct err *e)
{
    for (size_t i = 0; i < nodes->n; i++) {
        const struct drift *drift = member_drift(nodes->nodes[i]);
        bool is_unjudged = cluster_is_unjudged(c, nodes->nodes[i]);
        bool has_reason = cmd->reason && *cmd->reason;
        if (repair_step_of(nodes->nodes[i]) == STEP_WIPE)
            return err_set(e, -EBUSY, "node \"%s\" is being wiped", nodes->nodes[i]->name);
        if (member_unwiped(nodes->nodes[i]) && !has_reason)
            return err_set(
                e, -EBUSY,
                "node \"%s\" was released by a person and was not wiped: a reason is needed to approve "
                "it all the same",
                nodes->nodes[i]->name);
        if (!drift || drift->state == DRIFT_REMEDIED || (is_unjudged && has_reason))
            continue;
        if (is_unjudged)
            return err_set(e, -EINVAL, "node \"%s\" cannot be verified to be right again: a reason is needed",
                           nodes->nodes[i]->name);
        CLEANUP_TEXT struct text what = {0};
        say_drift(drift, &what);
        drift_summary(drift->named, drift->count, &what);
        return err_set(e, -EBUSY, "node \"%s\" was not verified to be right again: %s", nodes->nodes[i]->name,
                       what.s);
    }
    return 0;
}

int decide_approve(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                   struct err *e)
{
    struct named named;
    int rc = decide_find_named(c, cmd, from, false, &named, e);
    CLEANUP_FREE struct member **nodes = named.nodes;
    if (rc == 0)
        rc = decide_check_note(cmd, e);
    if (rc == 0)
        rc = check_remedied(c, cmd, &named, e);
    if (rc < 0)
        return rc;
    CLEANUP_FREE bool *marks = mem_alloc(c->n), *released = mem_alloc(c->n);
    struct release r = {.marks = marks, .claims.nodes = released};
    d->next = from;
    for (size_t i = 0; i < named.n && release_fits(&r, d, named.nodes[i]); i++) {
        const struct member *m = named.nodes[i];
        d->next = from + i + 1;
        bool was_drifted = member_drift(m);
        let_go(&r, m, true, d);
        if (was_drifted)
            effect_tell(c, m, NULL, cmd->at, d);
        effect_no_reboot(c, m, d);
    }
    CLEANUP_TEXT struct text what = {0};
    bool noted = cmd->reason && *cmd->reason;
    text_printf(&what, "approved%s%s", noted ? ": " : "", noted ? cmd->reason : "");
    finish_release(&r, what.s, d);
    return 0;
}

/* --- reboots --------------------------------------------------------------------------------- */

/* A reboot is asked for only when nothing runs: the node is drained and drifted, and its class asks for
 * reboots. After this many reboots that did not help, another one will not help either. */
static bool may_reboot(const struct cluster *c, const struct member *m, struct wall now)
{
    const struct drift *drift = m ? member_drift(m) : NULL;
    return drift && drift->state != DRIFT_REMEDIED && drift->severity >= SEVERITY_MAJOR && m->listed &&
           member_class(c, m)->reboot && member_agreed(m).drained && member_outside_name(m) &&
           cluster_reboots(m, now) < REBOOTS_A_WEEK_MAX;
}

int decide_reboot(const struct cluster *c, const struct command *cmd, size_t from, struct decision *d,
                  struct err *e)
{
    const struct boot_id *boots = cmd->reboot.boots;
    if (check_boots(cmd, boots, cmd->reboot.n, e) < 0)
        return -EINVAL;
    for (size_t i = from; i < cmd->nodes->n && d->n_ops < OPS_MAX; i++) {
        const struct member *m = cluster_find(c, cmd->nodes->names[i]);
        d->next = i + 1;
        if (!may_reboot(c, m, cmd->at) || cluster_reboot_wanted(m, boots[i].id))
            continue;
        effect_reboot(c, m, boots[i].id, cmd->at, d);
        decision_note(d, NULL, m);
    }
    if (d->n_ops)
        d->text = mem_dup("a reboot into the right image is asked for");
    return 0;
}
