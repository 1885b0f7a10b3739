/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives fingerprints that agents report to the watch, and asks agents for what the watch wants to know:
 * directly, or through the collector that speaks for them. A collector is believed about the nodes of its
 * share that `changed` has reported over its connection, as with heartbeats.
 *
 * A wrong report never ends a session: the watch marks a node whose list is a lie, and the node is still
 * heard.
 */
#include "controller/sessions/collectors_inside.h"
#include "controller/sessions/frames_inside.h"

#include "base/log.h"

#include <errno.h>
#include <string.h>
#include <utlist.h>

enum { NAMES_BYTES_MAX = 60 << 10 /* below FRAME_BODY_BYTES_MAX */ };

/* A fingerprint that no node has: an agent that is asked for its list answers with its own fingerprint. */
static const char nobodys[] = "0000000000000000000000000000000000000000000000000000000000000000";
_Static_assert(sizeof nobodys == FINGERPRINT_HEX + 1, "a fingerprint in hex");

static void want_components(void *arg, struct member *m, const char *fingerprint)
{
    struct agents *a = arg;
    struct session *s = watch_observed(a->with.watch, m)->session;
    if (!s)
        return;
    json_t *body = json_pack("{s:s}", "components", fingerprint);
    if (s->member != m)
        json_object_set_new(body, "nodes", json_string(m->name));
    session_send(s, FRAME_WANT, body);
}

void fingerprints_second(struct agents *a, struct mono now)
{
    watch_wanted(a->with.watch, now, want_components, a);
    for (struct session *s = a->sessions; s; s = s->next) {
        unsigned more = rare_turn(&s->warnings, now);
        if (more > 0)
            log_warn("node %s: %u more such warnings in the last minute", s->member->name, more);
    }
}

/* --- what is said ---------------------------------------------------------------------------- */

static void take_fingerprint(struct session *s, struct member *m, const json_t *said)
{
    struct watch *w = s->agents->with.watch;
    const char *hex = "", *boot = "";
    bool want = false;
    struct err e = {0};
    json_take_string(said, "fingerprint", &hex, NULL);
    json_take_string(said, "boot", &boot, NULL);
    if (strcmp(boot, watch_observed(w, m)->boot) != 0) {
        log_debug(LOG_MSG, "node %s: a fingerprint that was read on another boot is ignored", m->name);
        return;
    }
    if (watch_fingerprint(w, mono_now(), m, hex, &want, &e) < 0)
        session_warn(s, m, &e);
    else if (want)
        want_components(s->agents, m, hex);
}

static void take_verified(struct session *s, struct member *m)
{
    if (watch_verified(s->agents->with.watch, mono_now(), m, NULL) == -ENOENT)
        want_components(s->agents, m, nobodys);
}

static void take_components(struct session *s, struct member *m, const json_t *body)
{
    struct err e = {0};
    int rc = watch_components(s->agents->with.watch, mono_now(), m, body, &e);
    if (rc < 0 && rc != -EAGAIN)
        session_warn(s, m, &e);
}

void fingerprints_said(struct session *s, const json_t *body)
{
    bool same = false;
    json_take_bool(body, "same", &same, NULL);
    if (same)
        take_verified(s, s->member);
    else
        take_fingerprint(s, s->member, body);
}

void fingerprints_components(struct session *s, const json_t *body)
{
    take_components(s, s->member, body);
}

/* --- by way of a collector ------------------------------------------------------------------- */

/* The node of the session, which is this one's to speak for; NULL otherwise. */
static struct member *told_of(struct session *s, const char *name)
{
    struct member *m = shares_spoken_for(s, name);
    return m && watch_observed(s->agents->with.watch, m)->session == s ? m : NULL;
}

static void take_each(struct session *s, const json_t *all,
                      void (*take)(struct session *s, struct member *m, const json_t *item))
{
    size_t i;
    json_t *item;
    json_array_foreach (all, i, item) {
        const char *name = "";
        json_take_string(item, "name", &name, NULL);
        struct member *m = told_of(s, name);
        if (m)
            take(s, m, item);
    }
}

void fingerprints_batch(struct session *s, const json_t *body)
{
    const char *list = "";
    CLEANUP_HOSTLIST struct hostlist verified = {0};
    struct err e = {0};
    take_each(s, json_object_get(body, "fingerprints"), take_fingerprint);
    json_take_string(body, "verified", &list, NULL);
    if (hostlist_parse_max(list, s->named_max, &verified, &e) < 0) {
        err_wrap(&e, -EINVAL, "the nodes with verified fingerprints");
        session_warn(s, s->member, &e);
    }
    for (size_t i = 0; i < verified.n; i++) {
        struct member *m = told_of(s, verified.names[i]);
        if (m)
            take_verified(s, m);
    }
    take_each(s, json_object_get(body, "components"), take_components);
}

/* --- what is told ---------------------------------------------------------------------------- */

static void add_name(void *arg, const char *component)
{
    json_array_append_new(arg, json_string(component));
}

json_t *fingerprints_also(const struct cluster *c)
{
    json_t *also = json_array();
    classes_named(cluster_classes(c), add_name, also);
    return also;
}

/* A part of a share may fold worse than the whole, which fits. */
static void send_recheck(struct session *s, const char *const *names, size_t n)
{
    CLEANUP_FREE char *folded = hostlist_fold(names, n);
    if (n > 1 && strlen(folded) > NAMES_BYTES_MAX) {
        send_recheck(s, names, n / 2);
        send_recheck(s, names + n / 2, n - n / 2);
        return;
    }
    session_send(s, FRAME_RECHECK, json_pack("{s:s}", "nodes", folded));
}

size_t agents_recheck(struct agents *a, const struct hostlist *nodes)
{
    size_t told = 0, place = 0;
    for (size_t i = 0; i < nodes->n; i++) {
        const struct member *m = cluster_find_next(a->with.cluster, &place, nodes->names[i]);
        struct session *s = m ? watch_observed(a->with.watch, m)->session : NULL;
        if (!s || !s->peer || s->once)
            continue;
        told++;
        if (s->member == m)
            s->recheck = true; /* thousands are told one after another */
        else
            hostlist_add(&s->recheck_nodes, m->name);
    }
    struct session *s;
    DL_FOREACH2(a->collecting, s, next_collecting)
    {
        if (s->recheck_nodes.n)
            send_recheck(s, (const char *const *)s->recheck_nodes.names, s->recheck_nodes.n);
        hostlist_fini(&s->recheck_nodes);
    }
    agents_walk(a);
    return told;
}
