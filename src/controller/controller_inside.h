/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_CONTROLLER_INSIDE_H
#define FETTLE_CONTROLLER_CONTROLLER_INSIDE_H

#include "api/api.h"
#include "archive/treefile.h"
#include "controller/account.h"
#include "controller/audit/auditor.h"
#include "controller/backups.h"
#include "controller/commit/committer.h"
#include "controller/commit/proposals.h"
#include "controller/commit/search.h"
#include "controller/config/config.h"
#include "controller/contacts.h"
#include "controller/controller.h"
#include "controller/logins.h"
#include "controller/observe/observer.h"
#include "controller/observe/teller.h"
#include "controller/outbox/broker.h"
#include "controller/outbox/counterpart.h"
#include "controller/outbox/outbox.h"
#include "controller/outbox/trials.h"
#include "controller/sessions/agents.h"
#include "link/tls.h"
#include "token/issuer.h"

/*
 * The top, where the rooms are put together: leadership.c, agreement.c, wiring.c, reload.c, quorum.c,
 * interface.c, and controller.c.
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
    struct treefile *tree;   /* of the audit log, until the auditor has it */
    struct auditor *auditor; /* NULL with a state in etcd, until there is a journal to read */
    struct proposals *proposals;
    struct outbox *outbox;
    struct trials *trials;
    struct broker *broker;
    struct contacts *contacts;
    struct backups *backups;
    struct authority *authority;
    struct tls_context *agents_tls, *api_tls, *peer_tls; /* peer_tls: for dialling another controller */
    struct signer *signer;
    struct agents *agents;
    struct observer *observer; /* of a controller that follows: what the leader observes; else NULL */
    struct teller *teller;     /* of one that leads: tells the others; else NULL */
    struct http_server *http;
    struct api *api;
    struct issuer *issuer; /* NULL: no tokens are taken */
    struct logins *logins;
    uv_timer_t tick;
    uv_idle_t sweep; /* active while the watch has more to do than fits in a turn */
    bool ticking, closing;
    bool leads;         /* it took the leadership, */
    bool deposed;       /* and lost it again: with a state in etcd, until it begins anew */
    bool rests;         /* nothing is done outside any more, */
    struct mono rested; /* since then */
    enum controller_end end;
    struct lease *lease;   /* with a state in etcd */
    bool revised;          /* another controller agreed a configuration, which is not taken yet */
    struct quorum *quorum; /* several controllers, with a state in etcd; NULL: a single one */
    uint64_t term, instance;
    char *state_dir;
    struct certificate_terms own; /* this controller's certificate */
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
/* Opens the state in the directory, and leads from now on. */
int leadership_take(struct controller *c, const char *dir, uint64_t *revision, struct err *e);
/* Loads the records of the open store. */
int leadership_load(struct controller *c, uint64_t *revision, struct err *e);
/* Opens the authority, makes the controller's own certificate, and opens what needs it. */
int leadership_certify(struct controller *c, struct err *e);
/* Opens the tree of the audit log. */
int leadership_tree(struct controller *c, struct err *e);
/* The same, and compares it with the state, which stands at this revision. */
int leadership_audit(struct controller *c, uint64_t revision, struct err *e);
/* -EACCES: this controller has another authority than the state. */
int leadership_check_authority(const struct controller *c, struct err *e);
/* Commits the certificate, before anything else is begun. */
int leadership_record(struct controller *c, uint64_t *revision, struct err *e);
/* With a state in etcd: takes the leadership over, under the term. Commits what is missing, then leads
 * (controller_lead). */
void leadership_begin(struct controller *c, uint64_t term);

/* --- quorum.c --------------------------------------------------------------------------------- */

/* Opens the state in etcd, and loads it. */
int quorum_open(struct controller *c, uint64_t *revision, struct err *e);
/* Has the committer mirror the journal into the state directory. */
void quorum_mirror(struct controller *c);
/* Follows the commits after the revision, and stands for the leadership. */
void quorum_follow(struct controller *c, uint64_t revision);
/* 0, or the reason why this controller takes no changes: -EREMOTE it does not lead, -EAGAIN etcd does not
 * answer. Only with a state in etcd. */
int quorum_leads(const struct controller *c, struct err *e);
/* Why there is no audit log yet. */
void quorum_audit_why(const struct controller *c, struct err *why);
/* The name of the controller that leads, as etcd named it last; "": nobody, and without etcd. */
const char *quorum_leader(const struct controller *c);
/* The member "quorum" of Status (doc/openapi.yaml). */
json_t *quorum_status(const struct controller *c);
/* Call it some times a second. */
void quorum_turn(struct controller *c, struct mono now);
/* Ends following, and stands for the leadership no more. A leader keeps it until quorum_resign. */
void quorum_stop(struct controller *c);
/* Gives the leadership back. The loop must run on until its handles are closed. */
void quorum_resign(struct controller *c);
void quorum_close(struct controller *c);

/* --- agreement.c ------------------------------------------------------------------------------- */

/* The configuration that was read is agreed, before it is taken: it is committed when it is another one than
 * the agreed one. Its texts are with the cluster afterwards. */
int agreement_start(struct controller *c, uint64_t *revision, struct err *e);
/* The same while the controller runs. `changes` has a sentence a line. fn is called once, later: with NULL
 * when the configuration is agreed, or with the reason why it is not. `fresh` lives until then. */
typedef void agreement_fn(void *arg, const struct err *why);
void agreement_begin(struct controller *c, const struct config *fresh, const char *actor, const char *changes,
                     agreement_fn *fn, void *arg);
/* Reads the configuration that is agreed, with this controller's own parameters from its file. -ENOENT: none
 * is agreed; -EILSEQ: a record is missing; -EINVAL: it cannot be read, also for a file of this controller's.
 */
int agreement_read(const struct controller *c, struct config *out, struct err *e);
/* Lines as one sentence of limited length. */
void agreement_say(const char *changes, struct text *out);

/* --- admission.c ------------------------------------------------------------------------------ */

/* Sees to it that the authority of the loaded state is in the directory. -ENOKEY: a person has to admit this
 * controller first; the sentence says how. Else as envelope_open, or -errno. */
int admission_open(const struct controller *c, struct err *e);
/* Whether a person removed this controller, and why. */
bool admission_is_over(const struct controller *c, struct err *why);
/* Seals the authority for another controller's key. The caller frees *envelope. -EINVAL for what is no name
 * or no key; -EOPNOTSUPP without etcd. */
int admission_seal(const struct controller *c, const char *name, const char *key, char **envelope,
                   struct err *e);

/* --- members.c -------------------------------------------------------------------------------- */

/* A row for each controller (Controller of doc/openapi.yaml); none without etcd. leader: as quorum_leader. */
json_t *members_list(const struct controller *c, const char *leader);
/* 0; -ENOENT there is no such controller, -EBUSY it leads, -EOPNOTSUPP without etcd. */
int members_may_remove(const struct controller *c, const char *leader, const char *name, struct err *e);
/* What the leader does about other controllers, some times a second. */
void members_turn(struct controller *c);

/* --- wiring.c --------------------------------------------------------------------------------- */

/* Makes the parts that decide and commit, and ties each to the other. */
void wiring_decisions(struct controller *c, uint64_t revision);
/* The controller follows: what the leader observes is told to it, until it leads. */
void wiring_follow(struct controller *c);
/* The controller leads: begins to decide by itself, to act, and to hear agents. */
int wiring_lead(struct controller *c, struct err *e);
/* Whether it leads, and may decide by itself and act now. A leader that cannot renew its lease does nothing,
 * before another one can lead. */
bool wiring_acts(const struct controller *c);
/* As api_shell's observed. */
int wiring_observed(const struct controller *c, struct span *age, struct err *e);
/* Ends what acts on the outside. */
void wiring_rest(struct controller *c);
/* To the log and to the stream of events: as watch_sink's. */
void controller_notice(void *arg, const char *what, const char *nodes, const char *text);
/* Makes the auditor, which takes the tree over. */
void wiring_audit(struct controller *c);
/* The directory of the audit log's archive, put into `path`, and how long its entries are kept. */
struct span wiring_archive(const struct controller *c, struct text *path);
/* How much of the journal is kept. The path of the directory is put into `path`. */
struct store_keep wiring_keep(const struct controller *c, struct text *path);

/* --- reload.c --------------------------------------------------------------------------------- */

/* The policy of the interface; lives as long as the configuration. */
struct api_policy reload_api_policy(const struct config *conf);
/* The warnings about a configuration, one a line, to the log and into `asked`, which may be NULL. */
void reload_warn(const char *warnings, struct text *asked);
/* The issuer of tokens that the configuration names; the one of before is gone. */
void reload_issuer(struct controller *c);
/* As api_shell's reload and configuration. fn may be NULL. */
void reload_config(void *arg, const struct shell_reload *asked, shell_reload_fn *fn, void *fn_arg);
int reload_texts(void *arg, struct text *t, struct err *e);
/* Takes the configuration that another controller agreed, with this controller's own parameters from its
 * file. -EINVAL: they are wrong, or a file of theirs is; -EILSEQ: a text is missing. The one of before is in
 * force then. */
int reload_agreed(struct controller *c, struct err *e);

/* --- interface.c ------------------------------------------------------------------------------ */

/* Opens the interface, at the local socket and over HTTPS. */
int interface_open(struct controller *c, struct err *e);

#endif
