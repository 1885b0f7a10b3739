/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_CONTROLLER_INSIDE_H
#define FETTLE_CONTROLLER_CONTROLLER_INSIDE_H

#include "api/api.h"
#include "archive/treefile.h"
#include "controller/account.h"
#include "controller/audit/auditor.h"
#include "controller/commit/committer.h"
#include "controller/commit/proposals.h"
#include "controller/commit/search.h"
#include "controller/config/config.h"
#include "controller/contacts.h"
#include "controller/controller.h"
#include "controller/outbox/broker.h"
#include "controller/outbox/counterpart.h"
#include "controller/outbox/outbox.h"
#include "controller/outbox/trials.h"
#include "controller/sessions/agents.h"
#include "link/tls.h"

/*
 * The top, where the rooms are put together. Each file uses those above it in this header: leadership.c,
 * agreement.c, wiring.c, reload.c, interface.c, and controller.c.
 */

struct controller {
    uv_loop_t *loop;
    struct config conf; /* its roster is with the cluster */
    struct store *store;
    struct cluster *cluster;
    struct watch *watch;
    struct events *events;
    struct committer *committer;
    struct searches *searches;
    struct treefile *tree; /* of the audit log, until the auditor has it */
    struct auditor *auditor;
    struct proposals *proposals;
    struct outbox *outbox;
    struct trials *trials;
    struct broker *broker;
    struct contacts *contacts;
    struct authority *authority;
    struct tls_context *agents_tls, *api_tls;
    struct signer *signer;
    struct agents *agents;
    struct http_server *http;
    struct api *api;
    uv_timer_t tick;
    uv_idle_t sweep; /* active while the watch has more to do than fits in a turn */
    bool ticking, deposed, closing;
    uint64_t term, instance;
    char *state_dir;
    char owner[13]; /* which Fettle this is, in other systems: the head of the authority's fingerprint */
    struct mono began, last_tick, last_watchdog;
    struct span watchdog; /* 0: nobody waits for it */
    struct counterparts counterparts;
    struct account account;
    struct reload *reloads; /* the first is under way, the others wait */
};

/* --- leadership.c ----------------------------------------------------------------------------- */

/* ControlMachine, or what this host is called. */
const char *controller_machine(const struct controller *c, char buf[static 256]);
/* Opens the state directory, and leads from now on. */
int leadership_take(struct controller *c, const char *dir, uint64_t *revision, struct err *e);
/* Opens the audit log of the state, which stands at this revision. */
int leadership_audit(struct controller *c, uint64_t revision, struct err *e);
/* The controller's own certificate, and what is opened with it. */
int leadership_certify(struct controller *c, uint64_t *revision, struct err *e);

/* --- agreement.c ------------------------------------------------------------------------------- */

/* The configuration that was read is agreed, before it is taken: it is committed when it is another one than
 * the agreed one. Its texts are with the cluster afterwards. */
int agreement_start(struct controller *c, uint64_t *revision, struct err *e);
/* The same while the controller runs. `changes` has a sentence a line. fn is called once, later: with NULL
 * when the configuration is agreed, or with the reason why it is not. `fresh` lives until then. */
typedef void agreement_fn(void *arg, const struct err *why);
void agreement_begin(struct controller *c, const struct config *fresh, const char *actor, const char *changes,
                     agreement_fn *fn, void *arg);
/* Lines as one sentence of limited length. */
void agreement_say(const char *changes, struct text *out);

/* --- wiring.c --------------------------------------------------------------------------------- */

/* Makes the parts that decide, commit and carry out, and ties each to the others. */
void wiring_decisions(struct controller *c, uint64_t revision);
/* Opens the agents' port, tied to them. */
int wiring_agents(struct controller *c, struct err *e);
/* To the log and to the stream of events: as watch_sink's. */
void controller_notice(void *arg, const char *what, const char *nodes, const char *text);
/* The directory of the audit log's archive, put into `path`, and how long its entries are kept. */
struct span wiring_archive(const struct controller *c, struct text *path);
/* How much of the journal is kept. The path of the directory is put into `path`. */
struct store_keep wiring_keep(const struct controller *c, struct text *path);

/* --- reload.c --------------------------------------------------------------------------------- */

/* The policy of the interface; lives as long as the configuration. */
struct api_policy reload_api_policy(const struct config *conf);
/* The warnings of a configuration, to the log and into `asked`, which may be NULL. */
void reload_warn(const struct config *conf, struct text *asked);
/* As api_shell's reload. fn may be NULL. */
void reload_config(void *arg, const char *actor, bool dry, shell_reload_fn *fn, void *fn_arg);

/* --- interface.c ------------------------------------------------------------------------------ */

/* Opens the interface, at the local socket and over HTTPS. */
int interface_open(struct controller *c, struct err *e);

#endif
