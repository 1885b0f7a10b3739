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

/* A state that is made anew gets a name, by which an agent that remembers terms and ids tells it from another
 * one. The authority is named in a state that several controllers share. `name` is for the command's text. */
static struct command state_command(const struct controller *c, char name[static 2 * ORIGIN_BYTES + 1])
{
    digest_random_hex(name, ORIGIN_BYTES);
    return (struct command){.kind = COMMAND_STATE,
                            .actor = "fettled",
                            .at = wall_now(),
                            .state = {name, c->quorum ? authority_fingerprint(c->authority) : NULL}};
}

static int name_state(struct controller *c, uint64_t *revision, struct err *e)
{
    char name[2 * ORIGIN_BYTES + 1];
    if (*cluster_origin(c->cluster))
        return 0;
    const struct command cmd = state_command(c, name);
    return commit_alone(c->store, c->term, c->cluster, &cmd, revision, NULL, e);
}

int leadership_load(struct controller *c, uint64_t *revision, struct err *e)
{
    int rc = store_load(c->store, on_record, c->cluster, revision, e);
    if (rc == 0)
        warn_unknown(c);
    return rc;
}

int leadership_take(struct controller *c, const char *dir, uint64_t *revision, struct err *e)
{
    int rc = store_open_sqlite(dir, &c->store, e);
    if (rc == 0)
        rc = store_campaign(c->store, &c->term, e);
    if (rc == 0)
        rc = leadership_load(c, revision, e);
    if (rc == 0)
        rc = cluster_level_check(c->cluster, e);
    if (rc == 0)
        rc = name_state(c, revision, e);
    return rc;
}

int leadership_tree(struct controller *c, struct err *e)
{
    char name[AUDITOR_NAME_BYTES];
    CLEANUP_TEXT struct text dir = {0};
    text_printf(&dir, "%s/audit", c->state_dir);
    return treefile_open(dir.s, auditor_name(cluster_origin(c->cluster), name), &c->tree, e);
}

int leadership_audit(struct controller *c, uint64_t revision, struct err *e)
{
    int rc = leadership_tree(c, e);
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

/* Agents, Slurm and OpenCHAMI know a Fettle by its authority: the controllers of a state have the same. */
int leadership_check_authority(const struct controller *c, struct err *e)
{
    const char *theirs = cluster_authority(c->cluster), *own = authority_fingerprint(c->authority);
    if (!*theirs || strcmp(theirs, own) == 0)
        return 0;
    return err_set(e, -EACCES,
                   "the controllers of this state have the authority %.16s, and this one has %.16s; remove "
                   "ca.key and ca.pem from %s, and start fettled again: it says how it is admitted",
                   theirs, own, c->state_dir);
}

static int open_authority(struct controller *c, struct err *e)
{
    int rc = authority_open(c->state_dir, &c->authority, e);
    if (rc == 0)
        rc = leadership_check_authority(c, e);
    if (rc < 0)
        return rc;
    authority_number_above(c->authority, cluster_serial_max(c->cluster));
    snprintf(c->owner, sizeof c->owner, "%.12s", authority_fingerprint(c->authority));
    return 0;
}

static struct identity own_identity(const struct controller *c)
{
    char host[256];
    struct identity id = {.kind = IDENTITY_CONTROLLER};
    snprintf(id.name, sizeof id.name, "%s", controller_machine(c, host));
    return id;
}

/* The controller's own certificate is made anew at each start; its chain ends with the authority,
 * which is what a joining machine knows by its fingerprint. */
int leadership_certify(struct controller *c, struct err *e)
{
    CLEANUP_FREE char *key = NULL, *csr = NULL, *pem = NULL;
    const struct identity id = own_identity(c);
    int rc = open_authority(c, e);
    if (rc == 0)
        rc = tls_new_request(&key, &csr, e);
    if (rc == 0)
        rc = authority_sign(c->authority, csr, &id, id.name, span_s(INT64_C(10) * 365 * 86400), &pem, e);
    if (rc == 0)
        rc = certificate_terms(pem, &c->own, e);
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
        rc = tls_client_context(chain.s, key, ca, &c->peer_tls, e);
    if (rc == 0)
        rc = signer_create(pem, key, &c->signer, e);
    if (rc == 0) {
        tls_context_judge(c->agents_tls, certificate_judge, c->cluster);
        tls_context_judge(c->api_tls, certificate_judge, c->cluster);
        tls_context_judge(c->peer_tls, certificate_judge, c->cluster);
        cluster_on_certificate(c->cluster, on_certificate, c);
    }
    text_fini(&chain);
    return rc;
}

/* The command that records it. The caller frees *subject. */
static struct command own_command(const struct controller *c, char **subject)
{
    const struct identity id = own_identity(c);
    *subject = identity_subject(&id);
    return (struct command){
        .kind = COMMAND_CERTIFICATE, .actor = "fettled", .at = wall_now(), .certificate = {*subject, c->own}};
}

int leadership_record(struct controller *c, uint64_t *revision, struct err *e)
{
    CLEANUP_FREE char *subject = NULL;
    const struct command cmd = own_command(c, &subject);
    return commit_alone(c->store, c->term, c->cluster, &cmd, revision, NULL, e);
}

/* --- the leadership is taken over, step by step ---------------------------------------------------- */

/* The controller begins anew, or another one takes over. */
static void give_up(struct controller *c, enum controller_end end, const struct err *why)
{
    log_error("the leadership is not taken: %s", why->msg);
    c->end = end;
    uv_stop(c->loop);
}

static void on_recorded(void *arg, const struct outcome *o)
{
    struct controller *c = arg;
    struct err why;
    if (c->closing)
        return;
    if (o->rc < 0)
        give_up(c, CONTROLLER_ANEW, o->why);
    else if (wiring_lead(c, &why) < 0)
        give_up(c, CONTROLLER_ENDED, &why);
}

static void record_own(struct controller *c)
{
    CLEANUP_FREE char *subject = NULL;
    authority_number_above(c->authority, cluster_serial_max(c->cluster));
    const struct command cmd = own_command(c, &subject);
    committer_submit(c->committer, &cmd, on_recorded, c);
}

static void on_agreed(void *arg, const struct err *why)
{
    struct controller *c = arg;
    if (c->closing)
        return;
    config_text_fini(&c->conf.agreed);
    if (why)
        give_up(c, CONTROLLER_ANEW, why);
    else
        record_own(c);
}

/* The first controller of a state agrees its own configuration; later ones take what is agreed. */
static void leadership_agree(struct controller *c)
{
    struct config_text agreed;
    struct err why;
    int rc = config_text_load(c->cluster, &agreed, &why);
    config_text_fini(&agreed);
    if (rc == -ENOENT)
        agreement_begin(c, &c->conf, "fettled", "it is agreed from now on", on_agreed, c);
    else if (rc < 0)
        give_up(c, CONTROLLER_ENDED, &why);
    else
        record_own(c);
}

/* Also the first command after all commits of the predecessor were taken over. */
static void on_named(void *arg, const struct outcome *o)
{
    struct controller *c = arg;
    struct err why;
    if (c->closing)
        return;
    if (o->rc < 0 && o->rc != -EEXIST) {
        give_up(c, CONTROLLER_ANEW, o->why);
        return;
    }
    if (cluster_level_check(c->cluster, &why) < 0) {
        give_up(c, CONTROLLER_ANEW, &why);
        return;
    }
    if (leadership_check_authority(c, &why) < 0)
        give_up(c, CONTROLLER_ENDED, &why);
    else
        leadership_agree(c);
}

void leadership_begin(struct controller *c, uint64_t term)
{
    char name[2 * ORIGIN_BYTES + 1];
    c->term = term;
    committer_lead(c->committer, term);
    const struct command cmd = state_command(c, name);
    committer_submit(c->committer, &cmd, on_named, c);
}
