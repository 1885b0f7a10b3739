/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/duties.h"

#include "agent/checker/checklist.h"
#include "agent/home/home.h"
#include "agent/home/writer.h"
#include "agent/operate/actor.h"
#include "agent/prolog/prolog.h"
#include "agent/prolog/standing.h"
#include "agent/uplink/body.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct duties {
    struct duties_settings settings;
    struct writer *writer;
    struct checker *checker;
    struct actor *actor;
    struct standing *standing;
    struct prolog *prolog;  /* NULL where it cannot listen */
    uint64_t list_revision; /* the hash of the list in force */
};

/* --- orders ----------------------------------------------------------------------------------------------
 */

static bool duties_open(struct duties *d, uint8_t type, const json_t *order, struct frame *out)
{
    heartbeat_shrink(d->settings.heartbeat); /* reading certificates touches 2 MiB of OpenSSL */
    return trust_open(d->settings.trust, type, order, out);
}

static void on_checklist_kept(void *arg, const struct err *why)
{
    if (why)
        log_error("the checks are not kept: %s", why->msg);
}

static void on_controllers_kept(void *arg, const struct err *why)
{
    if (why)
        log_error("the addresses of the controllers are not kept: %s", why->msg);
}

void duties_keep_controllers(struct duties *d, const struct address_list *controllers)
{
    CLEANUP_TEXT struct text t = {0};
    char one[ADDRESS_HOST_BYTES_MAX + 16];
    for (size_t i = 0; i < controllers->n; i++)
        text_printf(&t, "%s\n", address_format(&controllers->at[i], one));
    writer_put(d->writer, HOME_LEARNED, t.s ? t.s : "", on_controllers_kept, d);
}

static void checklist_use(struct duties *d, const struct body_checklist *said, const char *body)
{
    struct checklist list;
    if (strcmp(said->hash, checker_list(d->checker)) != 0) {
        checklist_take(said, d->settings.node, &list);
        log_info("checks %zu things as the controller says", list.checks.n);
        checker_set(d->checker, &list);
    }
    writer_put(d->writer, CHECKLIST_FILE, body, on_checklist_kept, d);
    collect_checklist(d->settings.collect, said->hash, body, strlen(body));
}

int duties_checklist(struct duties *d, const struct frame *f, struct err *e)
{
    struct frame order;
    struct body_checklist said;
    CLEANUP_JSON json_t *body = json_read(f->body, f->len, e);
    if (!body)
        return -EINVAL;
    if (!duties_open(d, f->type, body, &order))
        return 0;
    int r = body_read_checklist(&order, &said, e);
    if (r)
        return r;
    if (trust_is_newer(d->settings.trust, f->type, said.revision, &d->list_revision))
        checklist_use(d, &said, f->body);
    body_checklist_fini(&said);
    return 0;
}

/* Signed for us, and lately. */
static int act_on_order(struct duties *d, const json_t *order, struct err *e)
{
    struct frame f;
    struct body_act act;
    struct err why = {0};
    if (!duties_open(d, FRAME_ACT, order, &f))
        return 0;
    int r = body_read_act(&f, &act, e);
    if (r)
        return r;
    if (orders_asked(&d->settings.trust->orders, mono_now(), act.nonce)) {
        actor_act(d->actor, &act);
        return 0;
    }
    err_set(&why, -EALREADY, "operation %s was not asked for, or too long ago", act.id);
    trust_refuse(d->settings.trust, FRAME_ACT, &why);
    return 0;
}

int duties_act(struct duties *d, const struct frame *f, struct err *e)
{
    struct orders *orders = &d->settings.trust->orders;
    struct body_act act;
    CLEANUP_JSON json_t *body = json_read(f->body, f->len, e);
    if (!body)
        return -EINVAL;
    if (order_is(body))
        return act_on_order(d, body, e);
    int r = body_read_act(f, &act, e);
    if (r)
        return r;
    if (act.tell)
        duties_tell(d);
    else if (act.end[0])
        actor_end(d->actor, act.term, act.end);
    else if (uplink_at_controller(d->settings.uplink) && orders_asked(orders, mono_now(), act.nonce))
        actor_act(d->actor, &act);
    else /* it may have lain in a buffer while this node, or the network, stood still */
        actor_ask(d->actor, &act, orders_ask(orders, mono_now()));
    return 0;
}

int duties_standing(struct duties *d, const struct frame *f, struct err *e)
{
    struct frame order;
    struct body_standing answer;
    CLEANUP_JSON json_t *body = json_read(f->body, f->len, e);
    if (!body)
        return -EINVAL;
    bool is_order = order_is(body);
    if (is_order ? !duties_open(d, FRAME_STANDING, body, &order) : !uplink_at_controller(d->settings.uplink))
        return 0;
    int r = body_read_standing(is_order ? &order : f, &answer, e);
    if (!r)
        standing_take(d->standing, &answer);
    return r;
}

/* --- what is said ----------------------------------------------------------------------------------------
 */

struct checker *duties_checker(const struct duties *d)
{
    return d->checker;
}

void duties_add_hello(const struct duties *d, struct text *body)
{
    if (*checker_list(d->checker))
        text_printf(body, ",\"checklist\":\"%s\"", checker_list(d->checker));
}

void duties_welcome(struct duties *d)
{
    const char *origin;
    uint64_t term = uplink_heard(d->settings.uplink, &origin);
    actor_heard(d->actor, origin, term);
}

void duties_tell(struct duties *d)
{
    checker_tell(d->checker);
    actor_tell(d->actor);
}

void duties_settled(struct duties *d)
{
    standing_settled(d->standing);
}

void duties_lost(struct duties *d)
{
    checker_idle(d->checker, false);
}

static void on_checks_said(void *arg, const char *body, size_t len)
{
    struct duties *d = arg;
    uplink_send(d->settings.uplink, FRAME_CHECKS, body, len);
}

static void on_done_said(void *arg, const char *body, size_t len)
{
    struct duties *d = arg;
    uplink_send(d->settings.uplink, FRAME_DONE, body, len);
}

/* --- their life ------------------------------------------------------------------------------------------
 */

static void checklist_begin(struct duties *d)
{
    const struct duties_settings *s = &d->settings;
    struct checklist list = {0};
    struct err e = {0};
    CLEANUP_FREE char *body = NULL;
    int r = checklist_load(s->home, s->root, s->node, &list, &body, &e);
    if (r && r != -ENOENT)
        log_error("no check runs until a controller sends the list of checks: %s", e.msg);
    if (r)
        return;
    if (body)
        collect_checklist(s->collect, list.hash, body, strlen(body));
    d->list_revision = list.revision;
    checker_set(d->checker, &list);
}

struct duties *duties_create(const struct duties_settings *settings)
{
    struct err e = {0};
    struct duties *d = mem_alloc(sizeof *d);
    d->settings = *settings;
    const struct duties_settings *s = &d->settings;
    struct checker_settings checks = {
        .home = s->run, .root = s->root, .node = s->node, .boot = s->boot, .say = on_checks_said, .arg = d};
    d->writer = writer_create(s->loop, s->home);
    d->checker = checker_create(s->loop, &checks);
    checklist_begin(d); /* before what ended meanwhile is known: it may have cured something */
    struct actor_settings acts = {.home = s->run,
                                  .root = s->root,
                                  .boot = s->boot,
                                  .checker = d->checker,
                                  .writer = strcmp(s->run, s->home) != 0 ? d->writer : NULL,
                                  .disk = s->home,
                                  .say = on_done_said,
                                  .arg = d};
    d->actor = actor_create(s->loop, &acts);
    const char *origin;
    uint64_t term = actor_remembers(d->actor, &origin);
    uplink_remember(s->uplink, origin, term);
    struct standing_settings standing = {s->loop, s->surveyor, s->uplink, &s->trust->orders};
    d->standing = standing_create(&standing);
    d->prolog = prolog_create(s->loop, s->root, d->checker, d->standing, &e);
    if (!d->prolog)
        log_warn("prolog and epilog are not heard: %s", e.msg);
    return d;
}

void duties_destroy(struct duties *d)
{
    if (!d)
        return;
    prolog_destroy(d->prolog);
    standing_destroy(d->standing);
    actor_destroy(d->actor);
    checker_destroy(d->checker);
    writer_destroy(d->writer);
    free(d);
}
