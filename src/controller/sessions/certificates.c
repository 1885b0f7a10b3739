/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/sessions/certificates.h"

#include "base/text.h"
#include "cluster/cluster.h"
#include "link/tls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct certificate_terms certificate_terms_of(const struct identity *id)
{
    struct certificate_terms t = {.serial = id->serial,
                                  .key = id->key,
                                  .from = {span_s(id->from_s).ns},
                                  .until = {span_s(id->until_s).ns}};
    if (id->kind == IDENTITY_OPERATOR)
        snprintf(t.role, sizeof t.role, "%s", role_name(id->role));
    return t;
}

int certificate_terms(const char *pem, struct certificate_terms *out, struct err *e)
{
    struct identity id;
    int rc = tls_cert_identity(pem, &id, e);
    if (rc == 0)
        *out = certificate_terms_of(&id);
    return rc;
}

int certificate_judge(void *cluster, const struct identity *id, struct err *e)
{
    CLEANUP_FREE char *subject = identity_subject(id);
    return cluster_certificate_judge(cluster, subject, id->serial, e);
}

int certificate_commit(struct store *s, uint64_t term, struct cluster *c,
                       const struct certificate_command *says, uint64_t *revision, struct err *e)
{
    struct decision d = {0};
    struct store_op ops[STORE_OPS_MAX];
    const struct command cmd = {
        .kind = COMMAND_CERTIFICATE, .actor = "fettled", .at = wall_now(), .certificate = *says};
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
