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
