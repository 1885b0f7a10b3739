/* SPDX-License-Identifier: Apache-2.0 */
/* The state that this controller leads, and the certificate by which others know it. */
#include "controller/controller_inside.h"

#include "base/digest.h"
#include "base/log.h"
#include "controller/commit/commit_alone.h"
#include "controller/sessions/certificates.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *controller_machine(const struct controller *c, char buf[static 256])
{
    char host[256] = "";
    if (*c->conf.text[SETTING_CONTROL_MACHINE])
        return c->conf.text[SETTING_CONTROL_MACHINE];
    if (gethostname(host, sizeof host - 1) != 0)
        memcpy(host, "localhost", sizeof "localhost");
    memcpy(buf, host, sizeof host);
    return buf;
}

static int on_record(void *arg, const char *key, const char *value, struct err *e)
{
    return cluster_put(arg, key, value, e);
}

/* Once for the log; `fettle status` has it as long as it is so. */
static void warn_unknown(const struct controller *c)
{
    CLEANUP_TEXT struct text said = {0};
    cluster_unknown_say(c->cluster, &said);
    if (said.len)
        log_warn("%s", said.s);
}

/* A state that is made anew gets a name, by which whoever remembers terms and ids tells it from another one.
 */
static int name_state(struct controller *c, uint64_t *revision, struct err *e)
{
    char id[2 * ORIGIN_BYTES + 1];
    CLEANUP_TEXT struct text key = {0}, value = {0}, said = {0};
    struct wall now = wall_now();
    if (*cluster_origin(c->cluster))
        return 0;
    digest_random_hex(id, ORIGIN_BYTES);
    text_printf(&key, "origin/%s", id);
    text_printf(&value, "{\"at\":\"%lld\"}", (long long)now.ns);
    text_printf(&said, "a new state: %s", id);
    const struct store_op op = {key.s, value.s};
    const struct store_entry entry = {
        .at = now, .actor = "fettled", .what = "state.made", .nodes = "", .text = said.s};
    const struct store_batch batch = {.n_ops = 1, .ops = &op, .n_entries = 1, .entries = &entry};
    int rc = store_commit(c->store, c->term, &batch, revision, e);
    return rc < 0 ? rc : cluster_put(c->cluster, op.key, op.value, e);
}

int leadership_take(struct controller *c, const char *dir, uint64_t *revision, struct err *e)
{
    int rc = store_open_sqlite(dir, &c->store, e);
    if (rc == 0)
        rc = store_campaign(c->store, &c->term, e);
    if (rc == 0)
        rc = store_load(c->store, on_record, c->cluster, revision, e);
    if (rc == 0)
        warn_unknown(c);
    if (rc == 0)
        rc = name_state(c, revision, e);
    if (rc == 0)
        rc = authority_open(dir, &c->authority, e);
    if (rc == 0)
        authority_number_above(c->authority, cluster_serial_max(c->cluster));
    if (rc == 0)
        snprintf(c->owner, sizeof c->owner, "%.12s", authority_fingerprint(c->authority));
    return rc;
}

int leadership_audit(struct controller *c, uint64_t revision, struct err *e)
{
    char name[AUDITOR_NAME_BYTES];
    CLEANUP_TEXT struct text dir = {0};
    text_printf(&dir, "%s/audit", c->state_dir);
    int rc = treefile_open(dir.s, auditor_name(cluster_origin(c->cluster), name), &c->tree, e);
    return rc < 0 ? rc : auditor_compare(c->tree, c->store, revision, e);
}

/* Somebody's certificates may have ended: whoever is connected with one is not any more. */
static void on_certificate(void *arg, const struct holder *h)
{
    const struct controller *c = arg;
    const char *name;
    enum identity_kind kind = identity_of_subject(h->subject, &name);
    stream_recheck(c->loop, kind, name);
    if (c->agents)
        agents_certificate(c->agents, h);
}

/* The controller's own certificate is made anew at each start; its chain ends with the authority,
 * which is what a joining machine knows by its fingerprint. */
int leadership_certify(struct controller *c, uint64_t *revision, struct err *e)
{
    char host[256];
    CLEANUP_FREE char *key = NULL, *csr = NULL, *pem = NULL, *subject = NULL;
    struct certificate_command says = {0};
    struct identity id = {.kind = IDENTITY_CONTROLLER};
    snprintf(id.name, sizeof id.name, "%s", controller_machine(c, host));
    int rc = tls_new_request(&key, &csr, e);
    if (rc == 0)
        rc = authority_sign(c->authority, csr, &id, id.name, span_s(INT64_C(10) * 365 * 86400), &pem, e);
    if (rc == 0)
        rc = certificate_terms(pem, &says.terms, e);
    says.subject = subject = identity_subject(&id);
    const struct command cmd = {
        .kind = COMMAND_CERTIFICATE, .actor = "fettled", .at = wall_now(), .certificate = says};
    if (rc == 0)
        rc = commit_alone(c->store, c->term, c->cluster, &cmd, revision, NULL, e);
    if (rc < 0)
        return rc;
    struct text chain = {0};
    text_add(&chain, pem);
    text_add(&chain, authority_pem(c->authority));
    const char *ca = authority_pem(c->authority);
    rc = tls_server_context(chain.s, key, ca, TLS_PEER_OPTIONAL, &c->agents_tls, e);
    if (rc == 0)
        rc = tls_server_context(chain.s, key, ca, TLS_PEER_OPTIONAL, &c->api_tls, e);
    if (rc == 0)
        rc = signer_create(pem, key, &c->signer, e);
    if (rc == 0) {
        tls_context_judge(c->agents_tls, certificate_judge, c->cluster);
        tls_context_judge(c->api_tls, certificate_judge, c->cluster);
        cluster_on_certificate(c->cluster, on_certificate, c);
    }
    text_fini(&chain);
    return rc;
}
