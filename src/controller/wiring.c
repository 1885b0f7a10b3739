/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one room has for another. No room knows another one that is not below it: what it tells goes through a
 * function that it was given here.
 */
#include "controller/controller_inside.h"

#include "base/log.h"
#include "store/etcd/lease.h"

#include <errno.h>
#include <string.h>

bool wiring_acts(const struct controller *c)
{
    return c->leads && !c->rests && (!c->lease || lease_holds(c->lease));
}

/* --- what the watch, the outbox and the agents' port tell ---------------------------------------- */

static bool controller_propose(void *arg, const struct command *cmd)
{
    struct controller *c = arg;
    return wiring_acts(c) && proposals_submit(c->proposals, cmd);
}

void controller_notice(void *arg, const char *what, const char *nodes, const char *text)
{
    struct controller *c = arg;
    log_info("%s%s%s: %s", what, *nodes ? " " : "", nodes, text);
    const struct event e = {.at = wall_now(), .what = what, .actor = "fettled", .nodes = nodes, .text = text};
    events_add(c->events, &e);
}

static void on_alarm(void *arg, const struct alarm *a, const char *over)
{
    struct controller *c = arg;
    CLEANUP_TEXT struct text what = {0};
    text_printf(&what, "alarm.%s", over ? "over" : alarm_name(a->kind));
    log_warn("%s%s%s: %s", what.s, *a->nodes ? " " : "", a->nodes, over ? over : a->text);
    const struct event e = {.at = wall_now(),
                            .what = what.s,
                            .actor = "fettled",
                            .nodes = a->nodes,
                            .text = over ? over : a->text,
                            .alarm = alarm_name(a->kind),
                            .subject = a->subject};
    events_add(c->events, &e);
}

/* Of a watch that is about to take another one's place. */
static bool no_command(void *arg, const struct command *cmd)
{
    return false;
}

static void no_notice(void *arg, const char *what, const char *nodes, const char *text)
{
}

static void no_alarm(void *arg, const struct alarm *a, const char *over)
{
}

static const struct watch_sink no_sink = {NULL, no_command, no_notice, no_alarm};

static bool send_frame(void *arg, struct member *m, enum frame_type type, json_t *body)
{
    const struct controller *c = arg;
    if (c->agents && wiring_acts(c))
        return agents_send(c->agents, m, type, body);
    json_decref(body);
    return false;
}

static void on_done(void *arg, struct member *m, const json_t *body)
{
    const struct controller *c = arg;
    actors_take(outbox_actors(c->outbox), m, body);
}

/* --- what the committer tells ---------------------------------------------------------------- */

static void on_entry(void *arg, const struct committed *committed)
{
    struct controller *c = arg;
    const struct store_entry *entry = committed->entry;
    counterpart_succeeded(&c->counterparts, COUNTERPART_STORE);
    log_info("%s%s%s by %s: %s", entry->what, *entry->nodes ? " " : "", entry->nodes, entry->actor,
             entry->text);
    const struct event e = {.at = entry->at,
                            .what = entry->what,
                            .actor = entry->actor,
                            .nodes = entry->nodes,
                            .text = entry->text,
                            .revision = committed->revision,
                            .about = entry->about,
                            .fields = entry->fields};
    events_add(c->events, &e);
    if (c->term == 0 && committed->kind == COMMAND_REVISE)
        c->revised = true;
    if (!wiring_acts(c))
        return;
    if (committed->kind == COMMAND_SILENT)
        contacts_soon(c->contacts, mono_now());
    broker_entry(c->broker, committed);
}

static void on_changed(void *arg, const struct hostlist *some)
{
    struct controller *c = arg;
    watch_changed(c->watch, some);
    if (c->observer)
        observer_changed(c->observer, some);
    if (wiring_acts(c))
        outbox_changed(c->outbox, some);
}

static void on_store(void *arg, const struct err *why)
{
    struct controller *c = arg;
    counterpart_answered(&c->counterparts, COUNTERPART_STORE, "", why);
}

static void on_journal(void *arg, const struct err *why)
{
    struct controller *c = arg;
    counterpart_answered(&c->counterparts, COUNTERPART_JOURNAL, "", why);
}

static void on_audited(void *arg, const struct err *why)
{
    struct controller *c = arg;
    counterpart_answered(&c->counterparts, COUNTERPART_AUDIT, "", why);
}

static void on_deposed(void *arg, const struct err *why)
{
    struct controller *c = arg;
    log_error("this controller does not lead any more: %s", why->msg);
    c->end = c->quorum ? CONTROLLER_ANEW : CONTROLLER_ENDED;
    uv_stop(c->loop);
}

/* --- the parts ------------------------------------------------------------------------------- */

/* The path of the directory is put into `path`. */
struct store_keep wiring_keep(const struct controller *c, struct text *path)
{
    const char *given = c->conf.text[SETTING_JOURNAL_EXPORT];
    text_printf(path, "%s%s", *given ? given : c->state_dir, *given ? "" : "/journal-export");
    return (struct store_keep){.age = {(int64_t)c->conf.number[SETTING_JOURNAL_KEEP]},
                               .bytes = c->conf.number[SETTING_JOURNAL_SIZE] << 20,
                               .directory = path->s};
}

struct span wiring_archive(const struct controller *c, struct text *path)
{
    const char *given = c->conf.text[SETTING_AUDIT_ARCHIVE];
    text_printf(path, "%s%s", *given ? given : c->state_dir, *given ? "" : "/audit-archive");
    return (struct span){(int64_t)c->conf.number[SETTING_AUDIT_KEEP]};
}

void wiring_audit(struct controller *c)
{
    CLEANUP_TEXT struct text archive = {0};
    const struct span keep = wiring_archive(c, &archive);
    const struct auditor_setup setup = {.loop = c->loop,
                                        .committer = c->committer,
                                        .tree = STEAL(c->tree),
                                        .archive = archive.s,
                                        .keep = keep,
                                        .is_shared = c->quorum,
                                        .arg = c,
                                        .on_step = on_audited};
    c->auditor = auditor_create(&setup);
}

void wiring_decisions(struct controller *c, uint64_t revision)
{
    const struct watch_sink sink = {
        .arg = c, .propose = controller_propose, .notice = controller_notice, .alarm = on_alarm};
    const struct committer_events events = {.arg = c,
                                            .on_entry = on_entry,
                                            .on_changed = on_changed,
                                            .on_store = on_store,
                                            .on_journal = on_journal,
                                            .on_deposed = on_deposed};
    cluster_configure(c->cluster, &c->conf.roster, NULL);
    c->watch = watch_create(c->cluster, &c->conf.watch, mono_now(), &sink);
    counterparts_init(&c->counterparts, c->watch);
    counterpart_configure(&c->counterparts, COUNTERPART_STORE, true);
    counterpart_configure(&c->counterparts, COUNTERPART_JOURNAL, true);
    counterpart_configure(&c->counterparts, COUNTERPART_AUDIT, c->tree || c->quorum);
    counterpart_succeeded(&c->counterparts, COUNTERPART_STORE); /* the leadership is written in it */
    CLEANUP_TEXT struct text export = {0};
    const struct store_keep keep = wiring_keep(c, &export);
    c->committer = committer_create(c->loop, c->cluster, c->store, c->term, revision, &keep, &events);
    c->searches = searches_create(c->loop, c->committer);
    if (c->tree)
        wiring_audit(c);
    c->proposals = proposals_create(c->committer);
    const struct backups_setup backups = {.loop = c->loop,
                                          .cluster = c->cluster,
                                          .committer = c->committer,
                                          .counterparts = &c->counterparts,
                                          .state_dir = c->state_dir};
    c->backups = backups_create(&backups, &c->conf);
}

static void wiring_effects(struct controller *c)
{
    const struct outbox_setup setup = {.loop = c->loop,
                                       .cluster = c->cluster,
                                       .watch = c->watch,
                                       .committer = c->committer,
                                       .term = c->term,
                                       .instance = c->instance,
                                       .owner = c->owner,
                                       .counterparts = &c->counterparts,
                                       .arg = c,
                                       .notice = controller_notice,
                                       .send = send_frame};
    c->outbox = outbox_create(&setup, &c->conf);
    c->trials = trials_create(c->watch, outbox_actors(c->outbox));
    const struct broker_setup mqtt = {.loop = c->loop,
                                      .cluster = c->cluster,
                                      .watch = c->watch,
                                      .committer = c->committer,
                                      .counterparts = &c->counterparts};
    c->broker = broker_create(&mqtt, &c->conf);
}

static int wiring_agents(struct controller *c, struct err *e)
{
    const struct agents_setup setup = {.loop = c->loop,
                                       .cluster = c->cluster,
                                       .watch = c->watch,
                                       .committer = c->committer,
                                       .authority = c->authority,
                                       .signer = c->signer,
                                       .tls = c->agents_tls,
                                       .term = c->term,
                                       .instance = c->instance,
                                       .arg = c,
                                       .notice = controller_notice,
                                       .done = on_done};
    return agents_open(&setup, &c->conf, &c->agents, e);
}

/* What was told by the leader before does not count: the nodes are not heard yet, and nobody is suspected for
 * it. */
static void wiring_observe(struct controller *c)
{
    const struct teller_setup setup = {.loop = c->loop,
                                       .watch = c->watch,
                                       .origin = cluster_origin(c->cluster),
                                       .term = c->term,
                                       .instance = c->instance};
    if (c->observer) {
        struct watch *fresh = watch_create(c->cluster, &c->conf.watch, mono_now(), &no_sink);
        observer_destroy(STEAL(c->observer));
        watch_exchange(c->watch, fresh);
        watch_destroy(fresh);
    }
    c->teller = teller_create(&setup);
}

/* Until it leads, it is told. */
void wiring_follow(struct controller *c)
{
    const struct observer_setup setup = {.loop = c->loop,
                                         .cluster = c->cluster,
                                         .watch = c->watch,
                                         .policy = &c->conf.watch,
                                         .tls = c->peer_tls};
    c->observer = observer_create(&setup);
}

int wiring_lead(struct controller *c, struct err *e)
{
    wiring_observe(c);
    wiring_effects(c);
    c->contacts = contacts_open(c->loop, c->state_dir, c->cluster, c->watch);
    int rc = wiring_agents(c, e);
    if (rc < 0)
        return rc;
    c->leads = true;
    log_info("this controller leads: term %llu, agents on port %u", (unsigned long long)c->term,
             (unsigned)agents_port(c->agents));
    return 0;
}

int wiring_observed(const struct controller *c, struct span *age, struct err *e)
{
    if (c->observer) {
        int rc = observer_age(c->observer, mono_now(), age, e);
        return rc < 0 ? rc : SHELL_IS_TOLD;
    }
    if (!c->deposed)
        return SHELL_OBSERVES;
    *age = mono_sub(mono_now(), c->rested);
    return err_set(e, -EREMOTE, "this controller does not lead any more");
}

void wiring_rest(struct controller *c)
{
    if (c->rests)
        return;
    c->rests = true;
    c->rested = mono_now();
    teller_destroy(STEAL(c->teller));
    agents_close(STEAL(c->agents));
    outbox_stop(c->outbox);
    broker_stop(c->broker);
}
