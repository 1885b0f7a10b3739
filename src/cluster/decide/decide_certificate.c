/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens with which machines join, and the records of certificates.
 *
 * The number and key of a certificate are known before it is given away, so they are committed with the
 * command that allows it. A certificate that was not committed is never given away.
 *
 * A node has one certificate. When it joins, all earlier ones end, also those without a record. A
 * certificate that it asks for by RENEW is the second one until the node connects with it; then the first
 * one ends.
 */
#include "cluster/decide/decide.h"

#include "base/network.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    UNRECORDED_S_MAX = 366 * 86400, /* how long one that no record has may be valid: nothing gives more */
    RENEWAL_EARLY_S = 60,
    RENEWAL_AGAIN_S = 600
};

/* A holder as it is to be: its certificates are borrowed. */
struct edit {
    struct holder h;
    struct made made[CERTIFICATES_EACH_MAX + 1];
};

/* Members that are absent are empty. */
static struct made made_of(const struct certificate_terms *t)
{
    struct made m = {.serial = t->serial, .key = t->key, .from = t->from, .until = t->until};
    memcpy(m.role, t->role, sizeof m.role);
    return m;
}

static char *subject_of_node(const char *name)
{
    struct text t = {0};
    text_printf(&t, "node:%s", name);
    return text_take(&t);
}

/* Certificates that have expired are left out: the journal has them. */
static void edit_begin(const struct cluster *c, const char *subject, struct wall now, struct edit *x)
{
    const struct holder *was = cluster_holder(c, subject);
    *x = (struct edit){0};
    x->h.made = x->made;
    if (!was)
        return;
    x->h.least = was->least;
    x->h.ends = was->ends;
    for (size_t i = 0; i < was->n; i++)
        if (was->made[i].until.ns > now.ns)
            x->made[x->h.n++] = was->made[i];
}

/* Every certificate below this number ends, recorded or not. */
static void edit_end_below(struct edit *x, uint64_t least, struct wall now)
{
    size_t kept = 0;
    int64_t unrecorded = now.ns + span_s(UNRECORDED_S_MAX).ns;
    if (x->h.least == 0 && x->h.ends.ns < unrecorded)
        x->h.ends.ns = unrecorded;
    for (size_t i = 0; i < x->h.n; i++) {
        if (x->made[i].serial >= least)
            x->made[kept++] = x->made[i];
        else if (x->made[i].until.ns > x->h.ends.ns)
            x->h.ends = x->made[i].until;
    }
    x->h.n = kept;
    x->h.least = least;
}

/* The lowest number that another one may have. */
static uint64_t edit_next(const struct edit *x)
{
    uint64_t next = x->h.n ? x->made[x->h.n - 1].serial + 1 : 0;
    return next > x->h.least ? next : x->h.least;
}

/* -EAGAIN for a number that is not above the others: the caller asks again and gets another number. */
static int edit_add(struct edit *x, const char *subject, const struct made *m, struct err *e)
{
    if (x->h.n == CERTIFICATES_EACH_MAX)
        return err_set(e, -EBUSY, "%s has %zu certificates that are valid", subject, x->h.n);
    if (m->serial < edit_next(x))
        return err_set(e, -EAGAIN, "%s has a certificate with a higher number already", subject);
    x->made[x->h.n++] = *m;
    return 0;
}

static void edit_put(const struct edit *x, const char *subject, struct decision *d)
{
    decision_add(d, "certificate/", subject, holder_record(&x->h));
}

static void say_made(const struct made *m, const char *subject, struct text *t)
{
    char until[32];
    text_printf(t, "certificate %" PRIx64 " for %s, with the key %016" PRIx64 ", valid until %s", m->serial,
                subject, m->key, wall_format(m->until, until));
}

/* For an operator, or a node that no file names any more: drops the record when no certificate in it is
 * valid, and no ended one would become valid without it. Records of listed nodes stay. */
static bool holder_is_over(const struct cluster *c, const struct holder *h, struct wall now)
{
    static const char node[] = "node:";
    bool is_node = strncmp(h->subject, node, sizeof node - 1) == 0;
    const struct member *m = is_node ? cluster_find(c, h->subject + sizeof node - 1) : NULL;
    bool over = h->ends.ns <= now.ns && !(m && m->listed);
    for (size_t i = 0; i < h->n; i++)
        over &= h->made[i].until.ns <= now.ns;
    return over;
}

struct sweep {
    const struct cluster *cluster;
    struct wall now;
    const char *but; /* the record of this subject is written again */
    struct decision *d;
};

static void sweep_holder(void *arg, const struct holder *h)
{
    const struct sweep *s = arg;
    if (s->d->n_ops < OPS_MAX / 2 && (!s->but || strcmp(h->subject, s->but) != 0) &&
        holder_is_over(s->cluster, h, s->now))
        decision_add(s->d, "certificate/", h->subject, NULL);
}

/* --- a person, or a controller for itself ----------------------------------------------------- */

/* The key of a controller's certificate lives in its process alone: certificates of earlier processes are
 * useless. */
static int decide_create(const struct cluster *c, const struct command *cmd, struct decision *d,
                         struct err *e)
{
    const char *subject = cmd->certificate.subject;
    struct made m = made_of(&cmd->certificate.terms);
    struct edit x;
    CLEANUP_FREE char *by = mem_dup(cmd->actor);
    m.by = by;
    m.at = cmd->at;
    edit_begin(c, subject, cmd->at, &x);
    if (strncmp(subject, "controller:", strlen("controller:")) == 0)
        x.h.n = 0;
    int rc = edit_add(&x, subject, &m, e);
    if (rc < 0)
        return rc;
    edit_put(&x, subject, d);
    struct text t = {0};
    say_made(&m, subject, &t);
    if (*m.role)
        text_printf(&t, ", as %s", m.role);
    d->text = text_take(&t);
    struct sweep s = {c, cmd->at, subject, d};
    cluster_each_holder(c, sweep_holder, &s);
    return 0;
}

/* --- a node asks for the next one -------------------------------------------------------------- */

/* A clock may be off by some seconds, and the node's own word began the matter. */
static int check_due(const char *name, const struct made *of, struct wall now, struct err *e)
{
    char from[32];
    int64_t left = of->until.ns - now.ns, lived = now.ns - of->from.ns;
    if (left < lived / 2 + span_s(RENEWAL_EARLY_S).ns)
        return 0;
    return err_set(e, -EBUSY,
                   "the certificate of node \"%s\" is renewed in the last third of its life, from %s on",
                   name, wall_format((struct wall){of->until.ns - (of->until.ns - of->from.ns) / 3}, from));
}

/* Records the certificate with which the node asks, also when it was made before there were records. One
 * that the node asked for before and did not use is dropped. */
static int edit_keep_one(struct edit *x, const char *name, const struct made *of, struct wall now,
                         struct err *e)
{
    size_t kept = 0;
    bool found = false;
    for (size_t i = 0; i < x->h.n; i++) {
        const struct made *m = &x->made[i];
        if (m->serial > of->serial && now.ns - m->at.ns < span_s(RENEWAL_AGAIN_S).ns)
            return err_set(e, -EBUSY,
                           "node \"%s\" asked for a certificate %d s ago, or less, and has not used it", name,
                           RENEWAL_AGAIN_S);
        found |= m->serial == of->serial;
        if (m->serial <= of->serial)
            x->made[kept++] = *m;
    }
    x->h.n = kept;
    return found ? 0 : edit_add(x, name, of, e);
}

static int decide_renew(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    const char *name = cmd->nodes->names[0];
    const struct member *m = cluster_find(c, name);
    CLEANUP_FREE char *subject = subject_of_node(name), *by = mem_dup(cmd->actor);
    char before[] = "before";
    struct made next = made_of(&cmd->renew.next), of = made_of(&cmd->renew.of);
    struct edit x;
    if (!m || !m->listed)
        return err_set(e, -EACCES,
                       "node \"%s\" is in no configuration file, so its certificate is not renewed", name);
    edit_begin(c, subject, cmd->at, &x);
    next.by = by;
    next.at = cmd->at;
    of.by = before;
    of.at = of.from;
    int rc = cluster_certificate_judge(c, subject, of.serial, e);
    if (rc == 0)
        rc = check_due(name, &of, cmd->at, e);
    if (rc == 0)
        rc = edit_keep_one(&x, name, &of, cmd->at, e);
    if (rc == 0)
        rc = edit_add(&x, subject, &next, e);
    if (rc < 0)
        return rc;
    edit_put(&x, subject, d);
    hostlist_add(&d->changed, name);
    struct text t = {0};
    say_made(&next, subject, &t);
    text_printf(&t, ": renews %" PRIx64, of.serial);
    d->text = text_take(&t);
    return 0;
}

/* It came with the next one: it has it, and those before end. */
static int decide_used(const struct cluster *c, const struct command *cmd, struct decision *d)
{
    const char *name = cmd->nodes->names[0];
    CLEANUP_FREE char *subject = subject_of_node(name);
    uint64_t serial = cmd->used.serial;
    struct edit x;
    edit_begin(c, subject, cmd->at, &x);
    if (serial <= x.h.least || cluster_certificate_judge(c, subject, serial, NULL) < 0)
        return 0;
    edit_end_below(&x, serial, cmd->at);
    edit_put(&x, subject, d);
    hostlist_add(&d->changed, name);
    struct text t = {0};
    text_printf(&t, "certificate %" PRIx64 " of %s is in use: those before it have ended", serial, subject);
    d->text = text_take(&t);
    return 0;
}

/* --- a person ends them ------------------------------------------------------------------------ */

/* Ends the certificate with this number; others stay as they are. */
static size_t edit_revoke_one(struct edit *x, uint64_t serial, struct wall at, char *why)
{
    size_t n = 0;
    for (size_t i = 0; i < x->h.n; i++) {
        struct made *m = &x->made[i];
        if (m->serial != serial || m->revoked.ns)
            continue;
        m->revoked = at;
        m->why = why;
        n++;
    }
    return n;
}

/* Ends all certificates below this number, with or without a record. */
static void edit_revoke_below(struct edit *x, uint64_t least, struct wall at, char *why)
{
    int64_t unrecorded = at.ns + span_s(UNRECORDED_S_MAX).ns;
    x->h.ends.ns = x->h.ends.ns > unrecorded ? x->h.ends.ns : unrecorded;
    x->h.least = least > x->h.least ? least : x->h.least;
    for (size_t i = 0; i < x->h.n; i++)
        if (x->made[i].serial < least)
            edit_revoke_one(x, x->made[i].serial, at, why);
}

/* The certificate in use is a controller's last one: those of earlier processes end. */
static uint64_t revoke_least(const struct edit *x, bool controller)
{
    uint64_t next = edit_next(x);
    if (controller)
        return x->h.n ? x->made[x->h.n - 1].serial : next;
    return next ? next : 1;
}

static int decide_certificate_revoke(const char *subject, const struct command *cmd, char *why,
                                     struct edit *x, struct text *said, struct err *e)
{
    uint64_t serial = cmd->revoke.serial;
    bool controller = strncmp(subject, "controller:", strlen("controller:")) == 0;
    if (!cmd->revoke.one) {
        edit_revoke_below(x, revoke_least(x, controller), cmd->at, why);
        text_printf(said, "every certificate of %s that was made before%s: %s", subject,
                    controller ? " the one in use" : "", cmd->reason);
        return 0;
    }
    if (strncmp(subject, "operator:", strlen("operator:")) != 0)
        return err_set(e, -EINVAL,
                       "a single certificate can be revoked only for operators; for %s revoke all", subject);
    if (edit_revoke_one(x, serial, cmd->at, why) == 0)
        return err_set(e, -ENOENT, "%s has no certificate %" PRIx64 " that is valid", subject, serial);
    text_printf(said, "certificate %" PRIx64 " of %s: %s", serial, subject, cmd->reason);
    return 0;
}

static int decide_revoke(const struct cluster *c, const struct command *cmd, struct decision *d,
                         struct err *e)
{
    const char *name = cmd->nodes && cmd->nodes->n ? cmd->nodes->names[0] : NULL;
    CLEANUP_TEXT struct text why = {0};
    struct text said = {0};
    struct edit x;
    assert(name || cmd->revoke.subject);
    CLEANUP_FREE char *subject = name ? subject_of_node(name) : mem_dup(cmd->revoke.subject);
    int rc = decide_check_reason(cmd->reason, e);
    if (rc == 0 && !cluster_holder(c, subject) && !(name && cluster_find(c, name)))
        rc = err_set(e, -ENOENT, "no certificate of %s is known", subject);
    if (rc < 0)
        return rc;
    text_printf(&why, "%s: %s", cmd->actor, cmd->reason);
    edit_begin(c, subject, cmd->at, &x);
    rc = decide_certificate_revoke(subject, cmd, why.s, &x, &said, e);
    if (rc == 0)
        edit_put(&x, subject, d);
    if (rc == 0 && name)
        hostlist_add(&d->changed, name);
    d->text = text_take(&said);
    return rc;
}

/* The key of a controller that was removed may not serve, either: also the certificate in use ends. */
void decide_end_certificates(const struct cluster *c, const struct command *cmd, const char *subject,
                             struct decision *d)
{
    CLEANUP_TEXT struct text why = {0};
    struct edit x;
    if (!cluster_holder(c, subject))
        return;
    text_printf(&why, "%s: %s", cmd->actor, cmd->reason);
    edit_begin(c, subject, cmd->at, &x);
    edit_revoke_below(&x, edit_next(&x), cmd->at, why.s);
    edit_put(&x, subject, d);
}

/* --- tokens ---------------------------------------------------------------------------------- */

static int64_t token_expires(const struct token *t)
{
    CLEANUP_JSON json_t *o = json_read(t->value, strlen(t->value), NULL);
    const char *expires = "0";
    uint64_t end = 0;
    json_take_string(o, "expires", &expires, NULL);
    text_parse_u64(expires, 0, INT64_MAX, &end, NULL);
    return (int64_t)end;
}

/* Unused tokens that have expired go when the next one is made. */
static void drop_expired_tokens(const struct cluster *c, struct wall now, struct decision *d)
{
    for (const struct token *t = c->tokens; t && d->n_ops < OPS_MAX; t = t->hh.next)
        if (token_expires(t) <= now.ns)
            decision_add(d, "token/", t->hash, NULL);
}

/* The terms of a token beside its nodes. */
static int write_token(const struct command *cmd, const char *nodes, struct text *t, struct err *e)
{
    const struct token_create_command *says = &cmd->token_made;
    if (says->count == 0)
        return err_set(e, -EINVAL, "a token that no node may use");
    if (says->from && network_check(says->from, e) < 0)
        return -EINVAL;
    text_add(t, "{\"nodes\":");
    text_add_json(t, nodes);
    text_add(t, ",\"by\":");
    text_add_json(t, cmd->actor);
    text_printf(t, ",\"expires\":\"%lld\"", (long long)says->expires.ns);
    text_printf(t, ",\"count\":%llu", (unsigned long long)says->count);
    if (says->again)
        text_add(t, ",\"again\":true");
    if (says->from) {
        text_add(t, ",\"from\":");
        text_add_json(t, says->from);
    }
    if (says->uuid) {
        text_add(t, ",\"uuid\":");
        text_add_json(t, says->uuid);
    }
    text_add_char(t, '}');
    return 0;
}

static char *token_text(const struct token_create_command *says, const char *nodes)
{
    char until[32];
    struct text t = {0};
    text_printf(&t, "a token for %s, until %s", nodes, wall_format(says->expires, until));
    text_printf(&t, ", for %llu to join", (unsigned long long)says->count);
    if (says->again)
        text_add(&t, ", also where a certificate is valid");
    if (says->from)
        text_printf(&t, ", from %s", says->from);
    if (says->uuid)
        text_printf(&t, ", as the machine %s", says->uuid);
    return text_take(&t);
}

static int decide_token_create(const struct cluster *c, const struct command *cmd, struct decision *d,
                               struct err *e)
{
    const struct token_create_command *says = &cmd->token_made;
    CLEANUP_TEXT struct text t = {0};
    if (!cmd->nodes || cmd->nodes->n == 0)
        return err_set(e, -EINVAL, "for which nodes? A token names them");
    drop_expired_tokens(c, cmd->at, d);
    CLEANUP_FREE char *nodes = hostlist_fold((const char *const *)cmd->nodes->names, cmd->nodes->n);
    if (write_token(cmd, nodes, &t, e) < 0)
        return -EINVAL;
    decision_add(d, "token/", says->hash, text_take(&t));
    d->text = token_text(says, nodes);
    return 0;
}

static bool list_has(const struct hostlist *h, const char *name)
{
    for (size_t i = 0; i < h->n; i++)
        if (strcmp(h->names[i], name) == 0)
            return true;
    return false;
}

/* The token's terms for the machine beside its name. */
static int check_machine(const json_t *o, const struct token_use_command *says, struct err *e)
{
    const char *from, *uuid, *address = says->address, *said = says->machine;
    if (json_take_string(o, "from", &from, NULL) == 0 && !network_has(from, address))
        return err_set(e, -EACCES, "the token is not for machines at %s",
                       *address ? address : "an unknown address");
    if (json_take_string(o, "uuid", &uuid, NULL) == 0 && strcasecmp(uuid, said) != 0)
        return err_set(e, -EACCES, "the token is for another machine than %s",
                       *said ? said : "one without a UUID");
    return 0;
}

/* nodes names the one machine that joins. */
static int check_token(const struct token *t, const json_t *o, const struct command *cmd, struct err *e)
{
    const char *nodes = "";
    if (!t || token_expires(t) <= cmd->at.ns)
        return err_set(e, -EACCES, "%s", TOKEN_UNKNOWN);
    json_take_string(o, "nodes", &nodes, NULL);
    CLEANUP_HOSTLIST struct hostlist allowed = {0};
    const char *name = cmd->nodes->names[0];
    if (hostlist_parse(nodes, &allowed, NULL) < 0 || !list_has(&allowed, name))
        return err_set(e, -EACCES, "the token is not for node \"%s\"", name);
    return check_machine(o, &cmd->token_use, e);
}

/* One that was in service and has no record has a certificate of before there were records. */
static int check_free(const struct cluster *c, const char *name, const char *subject, struct wall now,
                      struct err *e)
{
    char until[32];
    const struct holder *h = cluster_holder(c, subject);
    const struct member *m = cluster_find(c, name);
    if (!h && m && m->admitted)
        return err_set(e, -EEXIST,
                       "node \"%s\" may have a certificate that is valid; a token made with --again ends it",
                       name);
    for (size_t i = 0; h && i < h->n; i++)
        if (h->made[i].until.ns > now.ns && !h->made[i].revoked.ns)
            return err_set(
                e, -EEXIST,
                "node \"%s\" has a certificate that is valid until %s; a token made with --again ends it",
                name, wall_format(h->made[i].until, until));
    return 0;
}

/* The rest of the token's uses. */
static char *token_used(const json_t *o)
{
    uint64_t count = 1;
    CLEANUP_JSON json_t *left = json_deep_copy(o);
    json_take_u64(o, "count", TOKEN_COUNT_MAX, &count, NULL);
    json_object_set_new(left, "count", json_integer((json_int_t)count - 1));
    return count > 1 ? json_write(left) : NULL;
}

/* The certificate that the node gets, and the end of all before it. */
static int node_join(const struct cluster *c, const struct command *cmd, const json_t *token,
                     struct decision *d, struct err *e)
{
    const char *name = cmd->nodes->names[0], *by = "";
    json_take_string(token, "by", &by, NULL);
    CLEANUP_FREE char *subject = subject_of_node(name), *whose = mem_dup(by);
    struct made m = made_of(&cmd->token_use.terms);
    struct edit x;
    if (!json_is_true(json_object_get(token, "again")) && check_free(c, name, subject, cmd->at, e) < 0)
        return -EEXIST;
    m.by = whose;
    m.at = cmd->at;
    edit_begin(c, subject, cmd->at, &x);
    int rc = edit_add(&x, subject, &m, e);
    if (rc < 0)
        return rc;
    edit_end_below(&x, m.serial, cmd->at);
    edit_put(&x, subject, d);
    struct text t = {0};
    say_made(&m, subject, &t);
    text_printf(&t, ": joined with a token of %s", by);
    d->text = text_take(&t);
    hostlist_add(&d->changed, name);
    return 0;
}

static int decide_token_use(const struct cluster *c, const struct command *cmd, struct decision *d,
                            struct err *e)
{
    const char *hash = cmd->token_use.hash;
    const struct token *t = cluster_token(c, hash);
    CLEANUP_JSON json_t *o = t ? json_read(t->value, strlen(t->value), NULL) : NULL;
    int rc = check_token(t, o, cmd, e);
    if (rc == 0)
        rc = node_join(c, cmd, o, d, e);
    if (rc == 0)
        decision_add(d, "token/", hash, token_used(o));
    return rc;
}

/* The one that people call so; NULL without. */
static const struct token *token_called(const struct cluster *c, const char *id)
{
    if (strlen(id) != TOKEN_ID_BYTES)
        return NULL;
    for (const struct token *t = c->tokens; t; t = t->hh.next)
        if (strncmp(t->hash, id, TOKEN_ID_BYTES) == 0)
            return t;
    return NULL;
}

static int decide_token_end(const struct cluster *c, const struct command *cmd, struct decision *d,
                            struct err *e)
{
    const struct token *t = token_called(c, cmd->token_ended.id);
    uint64_t count = 1;
    const char *nodes = "", *by = "";
    struct text said = {0};
    int rc = decide_check_reason(cmd->reason, e);
    if (rc < 0)
        return rc;
    if (!t)
        return err_set(e, -ENOENT, "no token %.40s: it was used up or ended, or there was none",
                       cmd->token_ended.id);
    CLEANUP_JSON json_t *o = json_read(t->value, strlen(t->value), NULL);
    json_take_string(o, "nodes", &nodes, NULL);
    json_take_string(o, "by", &by, NULL);
    json_take_u64(o, "count", TOKEN_COUNT_MAX, &count, NULL);
    text_printf(&said, "token %s for %s, made by %s, with which %llu could still join: %s",
                cmd->token_ended.id, nodes, by, (unsigned long long)count, cmd->reason);
    decision_add(d, "token/", t->hash, NULL);
    d->text = text_take(&said);
    return 0;
}

int decide_certificate(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    if (cmd->kind == COMMAND_TOKEN_END)
        return decide_token_end(c, cmd, d, e);
    if (cmd->kind == COMMAND_TOKEN_CREATE)
        return decide_token_create(c, cmd, d, e);
    if (cmd->kind == COMMAND_TOKEN_USE)
        return decide_token_use(c, cmd, d, e);
    if (cmd->kind == COMMAND_CERTIFICATE_RENEW)
        return decide_renew(c, cmd, d, e);
    if (cmd->kind == COMMAND_CERTIFICATE_USED)
        return decide_used(c, cmd, d);
    if (cmd->kind == COMMAND_CERTIFICATE_REVOKE)
        return decide_revoke(c, cmd, d, e);
    return decide_create(c, cmd, d, e);
}
