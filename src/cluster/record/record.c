/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records to state. A record is read whole before anything changes, so a bad record changes nothing. A
 * record replaces what stood under its key.
 */
#include "cluster/record/record.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void member_unlink(struct member *m, const struct claim *claim)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->n_claims; i++)
        if (m->claims[i].claim != claim)
            m->claims[kept++] = m->claims[i];
    m->n_claims = kept;
    if (kept == 0) {
        free(m->claims);
        m->claims = NULL;
    }
}

/* "2.9" before "2.10"; ids that differ are never equal. */
static int compare_ids(const char *a, const char *b)
{
    int d = spec_compare_release(a, b);
    return d ? d : strcmp(a, b);
}

/* Keeps the claims of a member in the order of their ids, whatever the order of reading. */
static void member_link(struct member *m, struct claim *claim, bool drained)
{
    m->claims = mem_grow(m->claims, (m->n_claims + 1) * sizeof *m->claims);
    size_t at = m->n_claims++;
    for (; at > 0 && compare_ids(m->claims[at - 1].claim->id, claim->id) > 0; at--)
        m->claims[at] = m->claims[at - 1];
    m->claims[at] = (struct hold){claim, drained};
}

static struct hold *hold_of(const struct member *m, const struct claim *claim)
{
    size_t i = 0;
    while (i < m->n_claims && m->claims[i].claim != claim)
        i++;
    assert(i < m->n_claims);
    return &m->claims[i];
}

const struct hold *member_hold(const struct member *m, const struct claim *claim)
{
    return hold_of(m, claim);
}

static void claim_leave(struct cluster *c, const struct claim *claim, struct member *m)
{
    member_unlink(m, claim);
    if (claim->kind == CLAIM_WIPE && !member_held_by(m, CLAIM_WIPE))
        c->n_unclean--;
    member_count_out(c, m);
}

static void claim_rest(struct cluster *c, struct claim *claim, struct member *m, bool drained)
{
    if (claim->kind == CLAIM_WIPE && !member_held_by(m, CLAIM_WIPE))
        c->n_unclean++;
    member_link(m, claim, drained);
    member_count_out(c, m);
}

static void claim_free(struct claim_slot *s)
{
    free(s->c.owner);
    free(s->c.reason);
    free(s->c.nodes);
    free(s);
}

static void claim_drop(struct cluster *c, const char *id)
{
    struct claim_slot *s;
    HASH_FIND_STR(c->claims, id, s);
    if (!s)
        return;
    for (size_t i = 0; i < s->c.n; i++)
        claim_leave(c, &s->c, s->c.nodes[i]);
    HASH_DEL(c->claims, s);
    claim_free(s);
}

static int parse_kind(const char *name, enum claim_kind *out)
{
    for (int k = 0; k < CLAIM_KINDS; k++) {
        if (strcmp(name, claim_kind_name((enum claim_kind)k)) == 0) {
            *out = (enum claim_kind)k;
            return 0;
        }
    }
    return -EILSEQ;
}

struct claim_text {
    const char *kind, *owner, *reason, *nodes, *drained, *since;
};

static int claim_members(const json_t *o, struct claim_text *t, struct err *e)
{
    const struct {
        const char *key, **out;
    } members[] = {{"kind", &t->kind},   {"owner", &t->owner},     {"reason", &t->reason},
                   {"nodes", &t->nodes}, {"drained", &t->drained}, {"since", &t->since}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (json_take_string(o, members[i].key, members[i].out, e) < 0)
            return -EILSEQ;
    return 0;
}

static int claim_nodes(const struct claim_text *t, struct hostlist *nodes, struct hostlist *drained,
                       struct err *e)
{
    /* Most claims have all of their nodes drained, or none: the same list is not read twice. */
    if (hostlist_parse(t->nodes, nodes, e) < 0 ||
        (strcmp(t->drained, t->nodes) != 0 && hostlist_parse(t->drained, drained, e) < 0))
        return -EILSEQ;
    if (nodes->n == 0)
        return err_set(e, -EILSEQ, "a claim on no node");
    for (size_t i = 0; i < nodes->n; i++)
        if (record_name_check(nodes->names[i], e) < 0)
            return -EILSEQ;
    return 0;
}

/* What the record says about a node, and what is so already. */
enum { MARK_NAMED = 1, MARK_DRAINED = 2, MARK_LINKED = 4 };

/* A drained node that the claim does not name is not marked. */
static void mark_drained(const struct cluster *c, const struct hostlist *drained)
{
    size_t place = 0;
    for (size_t i = 0; i < drained->n; i++) {
        const struct member *m = cluster_find_next(c, &place, drained->names[i]);
        if (m && c->marks[m->id])
            c->marks[m->id] |= MARK_DRAINED;
    }
}

/* Nodes that the claim holds before and after stay linked: a claim on very many nodes is written again for
 * each change of a few. */
static void claim_fill(struct cluster *c, struct claim *claim, const struct hostlist *nodes, bool all_drained,
                       const struct hostlist *drained)
{
    struct member **is = members_meet(c, nodes);
    unsigned char *marks = c->marks;
    for (size_t i = 0; i < nodes->n; i++)
        marks[is[i]->id] = all_drained ? MARK_NAMED | MARK_DRAINED : MARK_NAMED;
    mark_drained(c, drained);
    for (size_t i = 0; i < claim->n; i++) {
        struct member *m = claim->nodes[i];
        if (marks[m->id] & MARK_NAMED)
            marks[m->id] |= MARK_LINKED;
        else
            claim_leave(c, claim, m);
    }
    for (size_t i = 0; i < nodes->n; i++) {
        bool settled = marks[is[i]->id] & MARK_DRAINED;
        if (marks[is[i]->id] & MARK_LINKED)
            hold_of(is[i], claim)->drained = settled;
        else
            claim_rest(c, claim, is[i], settled);
        marks[is[i]->id] = 0;
    }
    free(claim->nodes);
    claim->nodes = is;
    claim->n = nodes->n;
}

static struct claim_slot *claim_slot(struct cluster *c, const char *id)
{
    struct claim_slot *s;
    HASH_FIND_STR(c->claims, id, s);
    if (s)
        return s;
    s = mem_alloc(sizeof *s);
    memcpy(s->c.id, id, strlen(id) + 1);
    HASH_ADD_STR(c->claims, c.id, s);
    return s;
}

char *claim_reason_of(const char *problem, const char *words)
{
    struct text t = {0};
    text_printf(&t, "[%s] %s", problem, words);
    return text_take(&t);
}

/* The words in such a reason, and in any other. */
static const char *claim_words(enum claim_kind kind, const char *reason)
{
    const char *end = kind == CLAIM_REPAIR && *reason == '[' ? strstr(reason, "] ") : NULL;
    return end ? end + 2 : reason;
}

static int put_claim(struct cluster *c, const char *id, const char *value, struct err *e)
{
    if (!value) {
        claim_drop(c, id);
        return 0;
    }
    CLEANUP_JSON json_t *o = json_read(value, strlen(value), e);
    struct claim_text t;
    enum claim_kind kind;
    uint64_t since;
    if (!o || claim_members(o, &t, e) < 0)
        return -EILSEQ;
    if (*id == '\0' || strlen(id) > CLAIM_ID_BYTES_MAX)
        return err_set(e, -EILSEQ, "an id of %zu bytes; it has 1 to %d", strlen(id), CLAIM_ID_BYTES_MAX);
    if (parse_kind(t.kind, &kind) < 0)
        return err_set(e, -EILSEQ, "\"%s\" is no kind of claim that this version knows", t.kind);
    if (record_time(o, "since", &since, e) < 0)
        return -EILSEQ;
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    CLEANUP_HOSTLIST struct hostlist drained = {0};
    if (claim_nodes(&t, &nodes, &drained, e) < 0)
        return -EILSEQ;

    struct claim *claim = &claim_slot(c, id)->c;
    free(claim->owner);
    free(claim->reason);
    claim->kind = kind;
    claim->owner = mem_dup(t.owner);
    claim->reason = mem_dup(t.reason);
    claim->words = claim_words(kind, claim->reason);
    claim->since = (struct wall){(int64_t)since};
    claim_fill(c, claim, &nodes, strcmp(t.drained, t.nodes) == 0, &drained);
    return 0;
}

int edit_apply(struct spec *s, const char *set, unsigned partition_max, struct err *e)
{
    CLEANUP_JSON json_t *o = json_read(set, strlen(set), e);
    if (!json_is_object(o))
        return err_set(e, -EINVAL, "an edit that is no object");
    const char *key;
    json_t *value;
    json_object_foreach (o, key, value) {
        enum field f;
        if (!json_is_string(value))
            return err_set(e, -EINVAL, "%s: the value is not a string", key);
        if (field_find(key, &f, e) < 0 || spec_set(s, f, json_string_value(value), partition_max, e) < 0)
            return -EINVAL;
    }
    return 0;
}

/* Composes the effective specification of a member again. An edit that the present limits refuse
 * (MaxPartition was lowered) stays in its record and is left out of the specification. */
static void member_lay_edit(struct cluster *c, struct member *m, const char *set)
{
    if (m->rostered) {
        spec_copy(&m->spec, m->rostered);
        spec_fini(m->rostered);
        free(m->rostered);
        m->rostered = NULL;
    }
    char *kept = mem_dup(set);
    free(m->edit);
    m->edit = kept;
    if (!kept)
        return;
    m->rostered = mem_alloc(sizeof *m->rostered);
    spec_init(m->rostered);
    spec_copy(m->rostered, &m->spec);
    struct spec edited;
    spec_init(&edited);
    spec_copy(&edited, &m->spec);
    if (edit_apply(&edited, kept, c->partition_max, NULL) == 0)
        spec_copy(&m->spec, &edited);
    spec_fini(&edited);
}

void member_set_spec(struct cluster *c, struct member *m, const struct spec *s)
{
    CLEANUP_FREE char *edit = mem_dup(m->edit);
    member_lay_edit(c, m, NULL);
    spec_copy(&m->spec, s);
    member_lay_edit(c, m, edit);
}

/* Values that no limit would allow make a damaged record. */
static int check_edit(const char *set, struct err *e)
{
    struct spec trial;
    spec_init(&trial);
    int rc = edit_apply(&trial, set, PARTITION_MAX, e);
    spec_fini(&trial);
    return rc;
}

static int put_edit(struct cluster *c, const char *name, const char *value, struct err *e)
{
    CLEANUP_FREE char *set = NULL;
    if (record_name_check(name, e) < 0)
        return -EILSEQ;
    if (value) {
        CLEANUP_JSON json_t *o = json_read(value, strlen(value), e);
        if (!o)
            return -EILSEQ;
        const json_t *object = json_object_get(o, "set");
        if (!json_is_object(object))
            return err_set(e, -EILSEQ, "no \"set\" object");
        set = json_write(object);
        if (check_edit(set, e) < 0)
            return -EILSEQ;
    }
    struct member *m = cluster_meet(c, name);
    c->sum -= m->edit ? record_sum(m->name, m->edit) : 0;
    totals_take_member(c, m);
    member_lay_edit(c, m, set);
    member_classify(c, m);
    totals_add_member(c, m);
    c->sum += m->edit ? record_sum(m->name, m->edit) : 0;
    return 0;
}

char *node_record(struct wall admitted, const char *boot)
{
    struct text t = {0};
    text_printf(&t, "{\"admitted\":\"%lld\"", (long long)admitted.ns);
    if (*boot)
        text_printf(&t, ",\"boot\":\"%s\"", boot);
    text_add_char(&t, '}');
    return text_take(&t);
}

static uint64_t node_sum(const struct member *m)
{
    return m->admitted ? record_sum(m->name, *m->boot ? m->boot : "node/") : 0;
}

static int put_node(struct cluster *c, const char *name, const char *value, struct err *e)
{
    if (record_name_check(name, e) < 0)
        return -EILSEQ;
    uint64_t admitted = 0;
    char boot[37] = "";
    if (value) {
        CLEANUP_JSON json_t *o = json_read(value, strlen(value), e);
        if (!o || record_time(o, "admitted", &admitted, e) < 0 ||
            (json_object_get(o, "boot") && record_boot(o, boot, e) < 0))
            return -EILSEQ;
    }
    struct member *m = cluster_meet(c, name);
    c->sum -= node_sum(m);
    m->admitted = value != NULL;
    m->admitted_at.ns = (int64_t)admitted;
    memcpy(m->boot, boot, sizeof m->boot);
    c->sum += node_sum(m);
    member_count_out(c, m);
    if (!value)
        cluster_let_go(c, m); /* the last record of one that is forgotten */
    return 0;
}

static int put_token(struct cluster *c, const char *hash, const char *value, struct err *e)
{
    if (value) {
        uint64_t expires;
        const char *word;
        CLEANUP_JSON json_t *o = json_read(value, strlen(value), e);
        if (!o || json_take_string(o, "nodes", &word, e) < 0 || json_take_string(o, "by", &word, e) < 0 ||
            record_time(o, "expires", &expires, e) < 0)
            return -EILSEQ;
    }
    struct token *t;
    HASH_FIND_STR(c->tokens, hash, t);
    if (t) {
        HASH_DEL(c->tokens, t);
        free(t->hash);
        free(t->value);
        free(t);
    }
    if (value) {
        t = mem_alloc(sizeof *t);
        t->hash = mem_dup(hash);
        t->value = mem_dup(value);
        HASH_ADD_KEYPTR(hh, c->tokens, t->hash, strlen(t->hash), t);
    }
    return 0;
}

/* --- the state itself ------------------------------------------------------------------------ */

static bool is_hex(const char *text, size_t bytes)
{
    return strlen(text) == 2 * bytes && strspn(text, "0123456789abcdef") == 2 * bytes;
}

static int check_origin(const struct cluster *c, const char *id, const json_t *o, struct err *e)
{
    static const char *const keys[] = {"at", "authority"};
    uint64_t at;
    if (!o || json_only_keys(o, keys, 2, e) < 0 || record_time(o, "at", &at, e) < 0)
        return -EILSEQ;
    if (!is_hex(id, ORIGIN_BYTES))
        return err_set(e, -EILSEQ, "it is no name of a state");
    if (json_object_get(o, "authority") && !is_hex(json_text(o, "authority"), AUTHORITY_BYTES))
        return err_set(e, -EILSEQ, "\"authority\" is no fingerprint");
    if (*c->origin && strcmp(c->origin, id) != 0)
        return err_set(e, -EILSEQ, "the state is called %s already", c->origin);
    return 0;
}

static uint64_t origin_sum(const struct cluster *c)
{
    if (!*c->origin)
        return 0;
    return record_sum("origin/", c->origin) + (*c->authority ? record_sum("authority", c->authority) : 0);
}

static int put_origin(struct cluster *c, const char *id, const char *value, struct err *e)
{
    CLEANUP_JSON json_t *o = value ? json_read(value, strlen(value), e) : NULL;
    if (value && check_origin(c, id, o, e) < 0)
        return -EILSEQ;
    if (*c->origin && (value || strcmp(c->origin, id) == 0)) {
        c->sum -= origin_sum(c);
        *c->origin = *c->authority = '\0';
    }
    if (value) {
        memcpy(c->origin, id, 2 * ORIGIN_BYTES);
        snprintf(c->authority, sizeof c->authority, "%s", json_text(o, "authority"));
        c->sum += origin_sum(c);
    }
    return 0;
}

int record_put(struct cluster *c, const char *key, const char *value, struct err *e)
{
    static const struct {
        const char *prefix;
        int (*put)(struct cluster *c, const char *rest, const char *value, struct err *e);
    } kinds[] = {{"node/", put_node},
                 {"claim/", put_claim},
                 {"edit/", put_edit},
                 {"token/", put_token},
                 {"certificate/", put_certificate},
                 {"seen/", put_seen},
                 {"drift/", put_drift},
                 {"flap/", put_flap},
                 {"list/", put_list},
                 {"effect/", put_effect},
                 {"baseline/", put_baseline},
                 {"health/", put_health},
                 {"repair/", put_repair},
                 {"shared/", put_shared},
                 {"tally/", put_tally},
                 {"switch/", put_switch},
                 {"machine/", put_machine},
                 {"maintenance/", put_maintenance},
                 {"origin/", put_origin},
                 {"trial/", put_trial},
                 {"window/", put_window},
                 {"floor/", put_floor},
                 {"surge/", put_surge},
                 {"override/", put_override},
                 {"bmc/", put_bmc},
                 {"config/", put_config},
                 {"owner/", put_owner},
                 {"wiped/", put_wiped},
                 {"backup/", put_backup},
                 {"controller/", put_controller},
                 {"request/", put_request},
                 {"feature/", put_feature}};
    assert(c && key);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t len = strlen(kinds[i].prefix);
        if (strncmp(key, kinds[i].prefix, len) != 0)
            continue;
        if (kinds[i].put(c, key + len, value, e) < 0)
            return err_wrap(e, -EILSEQ, "record %s", key);
        return 0;
    }
    return put_unknown(c, key, value, e) < 0 ? err_wrap(e, -EILSEQ, "record %s", key) : 0;
}

static void add_folded(struct text *t, const char *key, const char *const *names, size_t n)
{
    CLEANUP_FREE char *folded = hostlist_fold(names, n);
    text_printf(t, ",\"%s\":", key);
    text_add_json(t, folded);
}

char *claim_record(const struct claim *c, const bool *leave_out, const bool *settle, bool drained)
{
    assert(c->n == 0 || c->nodes);
    CLEANUP_FREE const char **names = mem_alloc(c->n * sizeof *names);
    CLEANUP_FREE const char **done = mem_alloc(c->n * sizeof *done);
    size_t n = 0, n_done = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct member *m = c->nodes[i];
        if (leave_out && leave_out[m->id])
            continue;
        names[n++] = m->name;
        if (settle && settle[m->id] ? drained : member_hold(m, c)->drained)
            done[n_done++] = m->name;
    }
    if (n == 0)
        return NULL;
    struct text t = {0};
    text_printf(&t, "{\"kind\":\"%s\",\"owner\":", claim_kind_name(c->kind));
    text_add_json(&t, c->owner);
    text_add(&t, ",\"reason\":");
    text_add_json(&t, c->reason);
    text_printf(&t, ",\"since\":\"%lld\"", (long long)c->since.ns);
    add_folded(&t, "nodes", names, n);
    add_folded(&t, "drained", done, n_done);
    text_add_char(&t, '}');
    return text_take(&t);
}

void cluster_forget_records(struct cluster *c)
{
    struct claim_slot *s, *next_claim;
    HASH_ITER (hh, c->claims, s, next_claim)
        claim_drop(c, s->c.id);
    struct token *t, *next_token;
    HASH_ITER (hh, c->tokens, t, next_token)
        put_token(c, t->hash, NULL, NULL);
    certificates_forget(c);
    controllers_forget(c);
    effects_forget(c);
    conform_forget(c);
    health_forget(c);
    floors_forget(c);
    owners_forget(c);
    requests_forget(c);
    unknown_forget(c);
}
