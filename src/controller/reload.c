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
    if (c->observer)
        observer_anew(c->observer);
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
void reload_warn(const char *warnings, struct text *asked)
{
    for (const char *line = warnings; line && *line; line += strcspn(line, "\n") + 1) {
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
    bool is_given; /* not of this controller's files, but of these texts, */
    struct config_text given;
    uint64_t expected; /* which were compared with this revision, */
    char *warnings;    /* and these likely mistakes in them */
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

static void reload_free(struct reload *r)
{
    text_fini(&r->changes);
    config_text_fini(&r->given);
    free(r->warnings);
    free(r->actor);
    free(r);
}

static void reload_end(struct reload *r, const struct err *why)
{
    DL_DELETE(r->c->reloads, r);
    reload_answer(r->fn, r->arg, r->changes.s, why);
    reload_free(r);
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
int reload_agreed(struct controller *c, struct err *e)
{
    LOOP_DOES("reload");
    struct config fresh;
    int rc = agreement_read(c, &fresh, e);
    if (rc == 0 && (rc = guard_own(&fresh, e)) < 0)
        config_fini(&fresh);
    if (rc < 0)
        return err_wrap(e, rc, "the agreed configuration is not taken yet");
    take_config(c, &fresh);
    return 0;
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
    reload_warn(r->is_given ? r->warnings : c->conf.warnings.s, &r->changes);
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

/* The texts were compared with a revision: what another one agreed since is not undone by them. */
static int check_expected(const struct reload *r, struct err *e)
{
    uint64_t number = cluster_revision(r->c->cluster)->number;
    if (number == r->expected)
        return 0;
    return err_set(
        e, -EBUSY,
        "revision %llu of the configuration is agreed by now, and the texts were compared with %llu; try "
        "again",
        (unsigned long long)number, (unsigned long long)r->expected);
}

/* From the texts of another controller, with this one's own parameters. */
static int config_given(const struct reload *r, struct config *fresh, struct err *e)
{
    int rc = check_expected(r, e);
    if (rc < 0)
        return rc;
    rc = config_read_agreed(r->c->conf.path, &r->given, fresh, e);
    if (rc == 0 && (rc = guard_own(fresh, e)) < 0)
        config_fini(fresh);
    return rc < 0 ? err_set(e, -EINVAL, "%s", e->msg) : 0;
}

static int reload_read(const struct reload *r, struct config *fresh, struct err *e)
{
    return r->is_given ? config_given(r, fresh, e) : config_fresh(r->c, fresh, e);
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
        if (reload_read(r, &r->fresh, &why) < 0) {
            reload_end(r, &why);
            continue;
        }
        reload_compare(c, &r->fresh, &r->changes);
        agreement_begin(c, &r->fresh, r->actor, r->changes.s, on_agreed, r);
        return;
    }
}

static void reload_dry(struct reload *r)
{
    LOOP_DOES("reload");
    struct config fresh;
    struct err why;
    if (reload_read(r, &fresh, &why) < 0) {
        r->fn(r->arg, NULL, &why);
        return;
    }
    reload_compare(r->c, &fresh, &r->changes);
    reload_warn(r->is_given ? r->warnings : fresh.warnings.s, &r->changes);
    config_fini(&fresh);
    r->fn(r->arg, r->changes.s, NULL);
}

/* Every controller that is asked for texts gives these two. */
static int reload_take_texts(struct reload *r, const struct shell_reload *asked, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < asked->n_parts; i++)
        rc = config_text_add(&r->given, &asked->parts[i], e);
    if (rc == 0 && (!r->given.given[CONFIG_PARAMETERS] || !r->given.given[CONFIG_NODES]))
        rc = err_set(e, -EINVAL, "a configuration has the parts \"%s\" and \"%s\"",
                     config_part_name(CONFIG_PARAMETERS), config_part_name(CONFIG_NODES));
    r->is_given = true;
    r->expected = asked->revision;
    r->warnings = mem_dup(asked->warnings);
    return rc;
}

void reload_config(void *arg, const struct shell_reload *asked, shell_reload_fn *fn, void *fn_arg)
{
    struct controller *c = arg;
    struct err why;
    struct reload *r = mem_alloc(sizeof *r);
    *r = (struct reload){.c = c, .actor = mem_dup(asked->actor), .fn = fn, .arg = fn_arg};
    if (asked->parts && reload_take_texts(r, asked, &why) < 0) {
        reload_answer(fn, fn_arg, NULL, &why);
        reload_free(r);
        return;
    }
    if (asked->dry) {
        reload_dry(r);
        reload_free(r);
        return;
    }
    bool is_first = !c->reloads;
    DL_APPEND(c->reloads, r);
    if (is_first)
        reload_begin(c);
}

/* --- the texts of this controller's files ---------------------------------------------------------- */

static json_t *lines_of(const char *lines)
{
    json_t *list = json_array();
    for (const char *line = lines; line && *line;) {
        size_t len = strcspn(line, "\n");
        json_array_append_new(list, json_stringn(line, len));
        line += len + (line[len] == '\n');
    }
    return list;
}

int reload_texts(void *arg, struct text *t, struct err *e)
{
    LOOP_DOES("reload");
    const struct controller *c = arg;
    struct config own;
    struct revise_part parts[CONFIG_PARTS];
    int rc = config_fresh(c, &own, e);
    if (rc < 0)
        return rc;
    CLEANUP_JSON json_t *all = json_object(), *list = json_array(), *warnings = lines_of(own.warnings.s);
    for (size_t i = 0, n = config_text_parts(&own.agreed, parts); i < n; i++)
        json_array_append_new(list, json_pack("{s:s,s:s}", "part", parts[i].name, "text", parts[i].text));
    json_object_set_new(all, "revision", json_integer((json_int_t)cluster_revision(c->cluster)->number));
    json_object_set(all, "parts", list);
    json_object_set(all, "warnings", warnings);
    CLEANUP_FREE char *text = json_write(all);
    text_add(t, text);
    config_fini(&own);
    return 0;
}
