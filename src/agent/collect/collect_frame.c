/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/collect/collect_inside.h"
#include "base/log.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Frames of agents: a link begins, sends frames, and ends. */

enum { MISFIT_NOTES_MAX = 5 /* a minute */ };

static int on_hello(struct link *k, const struct frame *f, struct err *e)
{
    struct collect *c = k->c;
    struct body_hello hello;
    const struct identity *id = stream_peer(peer_stream(k->peer));
    int r = body_read_hello(f, &hello, e);
    if (!r && (id->kind != IDENTITY_NODE || strcmp(id->name, hello.name) != 0))
        r = err_set(e, -EACCES, "the certificate is not of node \"%s\"", hello.name);
    if (!r)
        r = ledger_hello(c->ledger, mono_now(), &hello, e);
    if (r < 0)
        return r;
    struct link *old = r == 1 ? link_find(c, hello.name) : NULL;
    if (old) {
        link_disown(old);
        link_part(old);
    }
    crowd_leave(&k->guest);
    memcpy(k->name, hello.name, sizeof k->name);
    memcpy(k->instance, hello.instance, sizeof k->instance);
    memcpy(k->checklist, hello.checklist, sizeof k->checklist);
    log_debug(LOG_COLLECT, "hears %s", k->name);
    link_welcome(k);
    link_send_checklist(k);
    return 0;
}

static int on_heartbeat(struct link *k, const struct frame *f, struct err *e)
{
    struct body_heartbeat h;
    int r = body_read_heartbeat(f, &h, e);
    bool counts = !r && ledger_heartbeat(k->c->ledger, mono_now(), k->name, &h);
    if (counts) {
        k->last = mono_now();
        collect_await_missed(k->c);
    } else if (!r)
        log_debug(LOG_COLLECT, "%s: a heartbeat that is not new was dropped", k->name);
    free(h.work);
    if (!r)
        link_send_settings(k, false); /* by which the agent knows that it is heard */
    return r;
}

static int on_inventory(struct link *k, const struct frame *f, struct err *e)
{
    struct body_inventory report;
    int r = body_read_inventory(f, &report, e);
    if (!r && !ledger_inventory(k->c->ledger, k->name, &report))
        log_debug(LOG_COLLECT, "%s: an inventory was dropped", k->name);
    free(report.members);
    return r;
}

static int on_fingerprint(struct link *k, const struct frame *f, struct err *e)
{
    struct body_fingerprint said;
    int r = body_read_fingerprint(f, &said, e);
    if (!r && !ledger_fingerprint(k->c->ledger, k->name, &said))
        log_debug(LOG_COLLECT, "%s: a fingerprint of another boot, or of none, was dropped", k->name);
    return r;
}

static int on_components(struct link *k, const struct frame *f, struct err *e)
{
    struct body_components part;
    int r = body_read_components(f, &part, e);
    if (!r && !ledger_components(k->c->ledger, k->name, &part))
        log_debug(LOG_COLLECT, "%s: components were dropped", k->name);
    free(part.members);
    return r;
}

/* Frames that cannot wait for a batch, as they came. A frame that finds no room is asked for again when
 * there is room. */
static int on_passed(struct link *k, const struct frame *f, struct err *e)
{
    struct collect *c = k->c;
    CLEANUP_TEXT struct text body = {0};
    int r = body_write_pass(k->name, f, &body, e);
    link_set_tells(k, false);
    if (!r && collect_has_room(c))
        uplink_send(c->uplink, FRAME_PASS, body.s, body.len);
    else
        k->owes = true;
    return r;
}

/* Frames that a collector takes (frame.tbl). */
typedef int link_frame_fn(struct link *k, const struct frame *f, struct err *e);
static link_frame_fn *const frames[FRAME_TYPES] = {
    [FRAME_HELLO] = on_hello,           [FRAME_HEARTBEAT] = on_heartbeat,
    [FRAME_INVENTORY] = on_inventory,   [FRAME_FINGERPRINT] = on_fingerprint,
    [FRAME_COMPONENTS] = on_components, [FRAME_CHECKS] = on_passed,
    [FRAME_DONE] = on_passed,           [FRAME_STANDING] = on_passed,
};

void collect_assert_frames(void)
{
    for (int t = 0; t < FRAME_TYPES; t++)
        assert((frame_sender_of((uint8_t)t, FRAME_TO_COLLECTOR) != FRAME_FROM_NOBODY) == (frames[t] != NULL));
}

/* The log has the first of a link, and its end how many there were. */
static void link_misfit(struct link *k, uint8_t type)
{
    char name[16];
    if (k->misfits++ == 0 && rare_may(&k->c->misfit_notes, MISFIT_NOTES_MAX))
        log_info("%s sends %s, which does not fit here: it is ignored", k->name, frame_name(type, name));
}

static void on_link_open(struct peer *p, void *arg)
{
    struct link *k = arg;
    const struct identity *id = stream_peer(peer_stream(p));
    if (id->kind == IDENTITY_NODE)
        link_enter(k, k->c->proven, id->name);
}

static void on_link_frame(struct peer *p, void *arg, const struct frame *f)
{
    struct link *k = arg;
    struct err e = {0};
    int r = 0;
    if (!k->c->ledger || k->c->destroyed)
        return;
    if (!k->name[0])
        k->last = mono_now();
    bool known = k->name[0];
    if (frame_fits(f->type, FRAME_TO_COLLECTOR, known ? FRAME_FROM_NODE : FRAME_FROM_STRANGER))
        r = frames[f->type](k, f, &e);
    else if (!known || f->type == FRAME_HELLO)
        r = err_set(&e, -EINVAL, "HELLO comes %s", known ? "once" : "first");
    else
        link_misfit(k, f->type);
    if (r < 0) {
        log_debug(LOG_COLLECT, "%s is refused: %s", stream_peer_address(peer_stream(p)), e.msg);
        peer_refuse(p, r, "%s", e.msg);
        return;
    }
    collect_flush(k->c);
}

static void on_link_close(struct peer *p, void *arg, const struct err *why)
{
    struct link *k = arg;
    struct collect *c = k->c;
    log_debug(LOG_COLLECT, "link of %s ends, %u frames did not fit: %s", k->name[0] ? k->name : "nobody",
              k->misfits, why ? why->msg : "orderly");
    if (k->name[0] && c->ledger)
        ledger_gone(c->ledger, k->name, k->instance);
    link_set_tells(k, false);
    crowd_leave(&k->guest);
    DL_DELETE(c->links, k);
    free(k);
    collect_flush(c);
    collect_free_last(c);
}

static const struct peer_events link_events = {on_link_open, on_link_frame, on_link_close};

void collect_on_connection(void *arg, int fd)
{
    struct collect *c = arg;
    struct link *k = mem_alloc(sizeof *k);
    k->c = c;
    k->last = mono_now();
    k->guest.owner = k;
    DL_APPEND(c->links, k);
    k->peer = peer_accept(c->loop, fd, c->tls, &link_events, k);
    link_enter(k, c->unproven, stream_peer_network(peer_stream(k->peer)));
}
