/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/sessions/certificates.h"

#include "base/text.h"
#include "cluster/cluster.h"
#include "link/tls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void add_terms(const struct identity *id, struct text *t)
{
    CLEANUP_FREE char *subject = identity_subject(id);
    text_add(t, "{\"subject\":");
    text_add_json(t, subject);
    text_printf(t, ",\"role\":\"%s\",\"serial\":\"%" PRIx64 "\",\"key\":\"%" PRIx64 "\"",
                id->kind == IDENTITY_OPERATOR ? role_name(id->role) : "", id->serial, id->key);
    text_printf(t, ",\"from\":\"%" PRId64 "\",\"until\":\"%" PRId64 "\"", span_s(id->from_s).ns,
                span_s(id->until_s).ns);
}

/* The object is left open. */
static int open_terms(const char *pem, struct text *t, struct err *e)
{
    struct identity id;
    int rc = tls_cert_identity(pem, &id, e);
    if (rc == 0)
        add_terms(&id, t);
    return rc;
}

char *certificate_terms(const char *pem, struct err *e)
{
    struct text t = {0};
    if (open_terms(pem, &t, e) < 0)
        return NULL;
    text_add_char(&t, '}');
    return text_take(&t);
}

char *certificate_joining(const char *pem, const char *address, const char *machine, struct err *e)
{
    struct text t = {0};
    if (open_terms(pem, &t, e) < 0)
        return NULL;
    text_add(&t, ",\"address\":");
    text_add_json(&t, address);
    text_add(&t, ",\"machine\":");
    text_add_json(&t, machine);
    text_add_char(&t, '}');
    return text_take(&t);
}

char *certificate_renewal(const char *pem, const struct identity *of, struct err *e)
{
    struct text t = {0};
    if (open_terms(pem, &t, e) < 0)
        return NULL;
    text_add(&t, ",\"of\":");
    add_terms(of, &t);
    text_add(&t, "}}");
    return text_take(&t);
}

int certificate_judge(void *cluster, const struct identity *id, struct err *e)
{
    CLEANUP_FREE char *subject = identity_subject(id);
    return cluster_certificate_judge(cluster, subject, id->serial, e);
}

int certificate_commit(struct store *s, uint64_t term, struct cluster *c, const char *terms,
                       uint64_t *revision, struct err *e)
{
    struct decision d = {0};
    struct store_op ops[STORE_OPS_MAX];
    const struct command cmd = {
        .kind = COMMAND_CERTIFICATE, .actor = "fettled", .at = wall_now(), .set = terms};
    int rc = cluster_decide(c, &cmd, 0, &d, e);
    for (size_t i = 0; rc == 0 && i < d.n_ops; i++)
        ops[i] = (struct store_op){d.ops[i].key, d.ops[i].value};
    if (rc == 0) {
        const struct store_entry entry = {
            .at = cmd.at, .actor = cmd.actor, .what = command_name(cmd.kind), .nodes = "", .text = d.text};
        const struct store_batch batch = {.n_ops = d.n_ops, .ops = ops, .n_entries = 1, .entries = &entry};
        rc = store_commit(s, term, &batch, revision, e);
    }
    for (size_t i = 0; rc == 0 && i < d.n_ops; i++)
        rc = cluster_put(c, ops[i].key, ops[i].value, e);
    decision_fini(&d);
    return rc;
}
