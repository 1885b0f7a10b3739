/* SPDX-License-Identifier: Apache-2.0 */
/* A new configuration: it is read, then agreed, then each part is given what is for it. One at a time. */
#include "controller/controller_inside.h"

#include "base/log.h"
#include "base/loop.h"
#include "controller/guard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct api_policy reload_api_policy(const struct config *conf)
{
    static const enum api_readers readers[] = {[READERS_NOBODY] = API_READERS_NOBODY,
                                               [READERS_CERTIFICATE] = API_READERS_CERTIFICATE,
                                               [READERS_ANYONE] = API_READERS_ANYONE};
    const struct health_policy *health = &conf->watch.health;
    return (struct api_policy){.readers = readers[conf->number[SETTING_API_READERS]],
                               .privileged_port = conf->number[SETTING_API_PRIVILEGED_PORT],
                               .drain_deadline = health->drain_deadline,
                               .provision_deadline = health->provision_deadline,
                               .checks = conf->checks,
                               .remedies = conf->remedies,
                               .meanings = conf->meanings,
                               .grants = &conf->grants};
}

void reload_issuer(struct controller *c)
{
    char *const *text = c->conf.text;
    issuer_destroy(c->issuer);
    c->issuer = NULL;
    if (*text[SETTING_OIDC_ISSUER])
        c->issuer = issuer_create(
            c->loop,
            &(struct issuer_conf){{text[SETTING_OIDC_ISSUER], text[SETTING_OIDC_AUDIENCE],
                                   text[SETTING_OIDC_NAME_CLAIM], text[SETTING_OIDC_GROUPS_CLAIM],
                                   text[SETTING_OIDC_PERSON_CLAIM], text[SETTING_OIDC_TENANTS_CLAIM]},
                                  *text[SETTING_OIDC_CA] ? text[SETTING_OIDC_CA] : NULL});
}

/* A follower has no agents, and does nothing outside. */
static void take_policies(struct controller *c)
{
    CLEANUP_TEXT struct text export = {0}, archive = {0};
    const struct store_keep keep = wiring_keep(c, &export);
    committer_keep(c->committer, &keep);
    const struct span archived = wiring_archive(c, &archive);
    if (c->auditor)
        auditor_configure(c->auditor, archive.s, archived);
    const struct api_policy api = reload_api_policy(&c->conf);
    log_set_flags(c->conf.debug_flags);
    watch_set_policy(c->watch, &c->conf.watch);
    api_set_policy(c->api, &api);
    reload_issuer(c);
    if (!c->leads)
        return;
    agents_configure(c->agents, &c->conf);
    outbox_configure(c->outbox, &c->conf);
    broker_configure(c->broker, &c->conf);
    backups_configure(c->backups, &c->conf);
}

/* To the log, and to whoever asked, if anybody did. */
void reload_warn(const struct config *conf, struct text *asked)
{
    for (const char *line = conf->warnings.s; line && *line; line += strcspn(line, "\n") + 1) {
        int len = (int)strcspn(line, "\n");
        log_warn("%.*s", len, line);
        if (asked)
            text_printf(asked, "warning: %.*s\n", len, line);
    }
}

/* Nodes that left the file, if nobody ever heard them and nothing is recorded of them. */
static void let_go(struct controller *c)
{
    for (uint32_t id = 0; id < cluster_count(c->cluster); id++) {
        struct member *m = cluster_by_id(c->cluster, id);
        if (watch_contact(c->watch, m).ns == 0 && !watch_observed(c->watch, m)->session)
            cluster_let_go(c->cluster, m);
    }
}

/* --- a reload ------------------------------------------------------------------------------------ */

struct reload {
    struct reload *prev, *next;
    struct controller *c;
    char *actor;
    struct config fresh;
    struct text changes;
    shell_reload_fn *fn;
    void *arg;
};

static void reload_answer(shell_reload_fn *fn, void *arg, const char *changes, const struct err *why)
{
    if (why)
        log_error("the configuration is not taken, the old one stays in force: %s", why->msg);
    if (fn)
        fn(arg, changes, why);
}

static void reload_end(struct reload *r, const struct err *why)
{
    DL_DELETE(r->c->reloads, r);
    reload_answer(r->fn, r->arg, r->changes.s, why);
    text_fini(&r->changes);
    free(r->actor);
    free(r);
}

static void take_config(struct controller *c, struct config *fresh)
{
    cluster_configure(c->cluster, &fresh->roster, NULL);
    let_go(c);
    struct config before = c->conf; /* whose checks and remedies count until the policies are taken */
    c->conf = *fresh;
    take_policies(c);
    config_text_fini(&c->conf.agreed);
    config_fini(&before);
}

/* While the commits of a revision arrive, some of its texts may be missing: its last commit comes here again.
 */
void reload_agreed(struct controller *c)
{
    LOOP_DOES("reload");
    struct config fresh;
    struct err why;
    if (agreement_read(c, &fresh, &why) == 0)
        take_config(c, &fresh);
    else
        log_warn("the agreed configuration is not taken yet: %s", why.msg);
}

/* It is agreed: from now on it decides. */
static void reload_take(struct reload *r)
{
    struct controller *c = r->c;
    CLEANUP_TEXT struct text said = {0}, notice = {0};
    take_config(c, &r->fresh);
    agreement_say(r->changes.len ? r->changes.s : "nothing changed", &said);
    text_printf(&notice, "by %s; %s", r->actor, said.s);
    controller_notice(c, "config.reload", "", notice.s);
    reload_warn(&c->conf, &r->changes);
}

static void reload_begin(struct controller *c);

/* When a commit failed, the next one of those that wait would fail, too. */
static void on_agreed(void *arg, const struct err *why)
{
    struct reload *r = arg;
    struct controller *c = r->c;
    struct err stopping;
    err_set(&stopping, -EAGAIN, "the controller is stopping; the next start takes the configuration");
    if (c->closing && !why)
        why = &stopping;
    if (!why) {
        reload_take(r);
        reload_end(r, NULL);
        reload_begin(c);
        return;
    }
    const struct err reason = *why;
    config_fini(&r->fresh);
    while (c->reloads)
        reload_end(c->reloads, &reason);
}

static int config_fresh(const struct controller *c, struct config *fresh, struct err *e)
{
    int rc = config_read(c->conf.path, fresh, e);
    if (rc == 0 && (rc = guard_config(fresh, e)) < 0)
        config_fini(fresh);
    if (rc < 0)
        e->code = rc; /* the configuration's mistake, whatever keeps a file from being read */
    return rc;
}

static void reload_compare(struct controller *c, struct config *fresh, struct text *changes)
{
    text_add(changes, "");
    config_compare(&c->conf, fresh, changes);
    cluster_compare(c->cluster, &fresh->roster, changes);
}

/* The first of those that wait. */
static void reload_begin(struct controller *c)
{
    LOOP_DOES("reload");
    struct err why;
    for (struct reload *r; (r = c->reloads);) {
        if (config_fresh(c, &r->fresh, &why) < 0) {
            reload_end(r, &why);
            continue;
        }
        reload_compare(c, &r->fresh, &r->changes);
        agreement_begin(c, &r->fresh, r->actor, r->changes.s, on_agreed, r);
        return;
    }
}

static void reload_dry(struct controller *c, shell_reload_fn *fn, void *fn_arg)
{
    LOOP_DOES("reload");
    CLEANUP_TEXT struct text changes = {0};
    struct config fresh;
    struct err why;
    if (config_fresh(c, &fresh, &why) < 0) {
        fn(fn_arg, NULL, &why);
        return;
    }
    reload_compare(c, &fresh, &changes);
    reload_warn(&fresh, &changes);
    config_fini(&fresh);
    fn(fn_arg, changes.s, NULL);
}

void reload_config(void *arg, const char *actor, bool dry, shell_reload_fn *fn, void *fn_arg)
{
    struct controller *c = arg;
    if (dry) {
        reload_dry(c, fn, fn_arg);
        return;
    }
    struct reload *r = mem_alloc(sizeof *r);
    *r = (struct reload){.c = c, .actor = mem_dup(actor), .fn = fn, .arg = fn_arg};
    bool is_first = !c->reloads;
    DL_APPEND(c->reloads, r);
    if (is_first)
        reload_begin(c);
}
