/* SPDX-License-Identifier: Apache-2.0 */
/* A new configuration: each part is given what is for it. */
#include "controller/controller_inside.h"

#include "base/log.h"
#include "base/loop.h"
#include "controller/guard.h"

#include <string.h>

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
                               .meanings = conf->meanings};
}

static void take_policies(struct controller *c)
{
    CLEANUP_TEXT struct text export = {0};
    const struct store_keep keep = wiring_keep(c, &export);
    committer_keep(c->committer, &keep);
    const struct api_policy api = reload_api_policy(&c->conf);
    log_set_flags(c->conf.debug_flags);
    watch_set_policy(c->watch, &c->conf.watch);
    api_set_policy(c->api, &api);
    agents_configure(c->agents, &c->conf);
    outbox_configure(c->outbox, &c->conf);
    broker_configure(c->broker, &c->conf);
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

int reload_config(void *arg, const char *actor, bool dry, struct text *changes, struct err *e)
{
    LOOP_DOES("reload");
    struct controller *c = arg;
    struct config fresh;
    int rc = config_read(c->conf.path, &fresh, e);
    if (rc == 0 && (rc = guard_config(&fresh, e)) < 0)
        config_fini(&fresh);
    if (rc < 0 && dry)
        return rc;
    if (rc < 0) {
        log_error("the configuration is not taken, the old one stays in force: %s", e ? e->msg : "");
        return rc;
    }
    text_clear(changes);
    config_compare(&c->conf, &fresh, changes);
    if (dry) {
        cluster_compare(c->cluster, &fresh.roster, changes);
        reload_warn(&fresh, changes);
        config_fini(&fresh);
        return 0;
    }
    cluster_configure(c->cluster, &fresh.roster, changes);
    let_go(c);
    struct config before = c->conf; /* whose checks and remedies count until the policies are taken */
    c->conf = fresh;
    take_policies(c);
    wiring_agree_limits(c, actor);
    config_fini(&before);
    struct text t = {0};
    text_printf(&t, "by %s; %s", actor, changes->len ? changes->s : "nothing changed");
    for (size_t i = 0; i < t.len; i++)
        if (t.s[i] == '\n')
            t.s[i] = i + 1 < t.len ? ';' : ' ';
    controller_notice(c, "config.reload", "", t.s);
    text_fini(&t);
    reload_warn(&c->conf, changes);
    return 0;
}
