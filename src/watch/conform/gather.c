/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which fingerprint each node claims, and the lists behind the fingerprints. A list is asked for only while
 * no node has sent it, from one node at a time. Each list is hashed before it is believed. A node whose list
 * did not hash to its fingerprint has to show each list from then on, also for a fingerprint with a known
 * list, until one is correct. A sensitive node shows its list once to each leader: otherwise its claim to
 * match a known list would be believed, and a new leader does not know which nodes lied.
 */
#include "watch/conform/conform.h"
#include "watch/conform/conformity_inside.h"
#include "watch/conform/gather_inside.h"
#include "watch/conform/shell.h"
#include "watch/view/alarm.h"
#include "watch/view/observed.h"
#include "watch/view/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    ASK_AGAIN_S = 5,
    CHECKED_MAX = 8,
    FULL_REST_S = 60,      /* no node is asked for this long when there is no room for lists */
    LOOK_A_CALL = 10000,   /* members that watch_wanted looks at */
    ASSEMBLY_IDLE_S = 30,  /* a list whose next part does not come is forgotten */
    ASSEMBLY_BYTES = 4096, /* an assembly itself, generously */
    COMPONENT_BYTES = 96,  /* a component beside its name and value */
    ASSEMBLED_BYTES_MAX = 64 << 20,
    PARTS_MAX = 4096
};

/* --- which node to ask ----------------------------------------------------------------------- */

/* m's claim is not enough: m has to show its list although the list is known. */
static bool has_to_show(const struct known *k, const struct member *m)
{
    return (k->flags & KNOWN_LIES) || (m->spec.sensitive && !(k->flags & KNOWN_SHOWN));
}

static bool wants_list(const struct known *k, const struct member *m)
{
    return k->kind && (k->flags & KNOWN_VERIFIED) && (!k->kind->own->known || has_to_show(k, m));
}

/* Only a few sensitive nodes are asked for known lists at a time, because unknown lists go first. */
static bool may_check(const struct watch *w, struct mono now)
{
    size_t n = 0;
    for (size_t i = 0; i < ASKS_MAX; i++)
        n += w->gather->asks[i].used && w->gather->asks[i].check &&
             within(now, w->gather->asks[i].at, ASK_AGAIN_S);
    return n < CHECKED_MAX;
}

/* Marks that m is asked for its list. False when a node was asked for the same list a moment ago, or when
 * enough nodes are being asked. A node has one question at a time, and a question to a node that lied keeps
 * no other node from being asked. So a node that talks much, or never answers, holds up no other node. */
static bool gather_ask(struct watch *w, struct mono now, const struct member *m, const struct known *k)
{
    struct ask *room = NULL, *own = NULL;
    bool check = k->kind->own->known && !(k->flags & KNOWN_LIES);
    if (now.ns < w->gather->full_until.ns || (check && !may_check(w, now)))
        return false;
    for (size_t i = 0; i < ASKS_MAX; i++) {
        struct ask *a = &w->gather->asks[i];
        bool lately = a->used && within(now, a->at, ASK_AGAIN_S), mine = a->used && a->member == m->id;
        bool waits = !k->kind->own->known && !(w->conformity->known[a->member].flags & KNOWN_LIES);
        if (mine)
            own = a;
        if (!lately)
            room = a;
        else if (fingerprint_equal(&a->id, &k->kind->key.id) && (mine || waits))
            return false;
    }
    room = own ? own : room;
    if (!room)
        return false;
    *room = (struct ask){.id = k->kind->key.id, .member = m->id, .used = true, .check = check, .at = now};
    k->kind->ask_from = m->id + 1;
    return true;
}

static void gather_answered(struct watch *w, const struct fingerprint *id, const struct member *m)
{
    for (size_t i = 0; i < ASKS_MAX; i++)
        if (w->gather->asks[i].used && w->gather->asks[i].member == m->id &&
            fingerprint_equal(&w->gather->asks[i].id, id))
            w->gather->asks[i].used = false;
}

int watch_fingerprint(struct watch *w, struct mono now, struct member *m, const char *hex, bool *want,
                      struct err *e)
{
    struct fingerprint id;
    *want = false;
    if (!fingerprint_parse(hex, &id))
        return err_set(e, -EINVAL, "\"%.70s\" is no fingerprint; it has 64 hex digits in lower case", hex);
    if (!watch_of(w, m)->boot[0])
        return err_set(e, -EINVAL, "a fingerprint before the boot that it is of");
    struct mono at = watch_observed_at(w, now);
    struct known *k = known_of(w, m);
    /* A node that was asked already and repeats its fingerprint waits for its turn (watch_wanted). */
    bool again = k->kind && (k->flags & KNOWN_VERIFIED) && fingerprint_equal(&k->kind->key.id, &id);
    conformity_set_kind(w, m, &id);
    k->verified_ds = watch_ds(w, at);
    k->flags |= KNOWN_VERIFIED;
    watch_touch(w, m, ASPECT_CONFORM);
    if (wants_list(k, m)) {
        *want = (!again || (k->flags & KNOWN_LIES)) && gather_ask(w, at, m, k);
        w->gather->wanting = true;
    }
    conformity_judge(w, at, m, true);
    return 0;
}

int watch_verified(struct watch *w, struct mono now, struct member *m, struct err *e)
{
    struct mono at = watch_observed_at(w, now);
    struct known *k = known_of(w, m);
    if (!k->kind || !(k->flags & KNOWN_VERIFIED))
        return err_set(e, -ENOENT, "the same as before, and nothing was said on this boot before");
    k->verified_ds = watch_ds(w, at);
    watch_touch(w, m, ASPECT_CONFORM);
    conformity_look(w, at, m, true);
    return 0;
}

/* A node that lied is asked only when it sends a new fingerprint, because it was asked for this one already.
 */
static bool may_be_asked(struct watch *w, const struct member *m)
{
    const struct known *k = known_of(w, m);
    const struct observed *o = watch_of(w, m);
    return wants_list(k, m) && !(k->flags & KNOWN_LIES) && o->session && o->beat.liveness == LIVENESS_LIVE;
}

/* Looks at `looks` members, from `first` on, and asks those that may be asked: only those whose turn it is
 * (in_turn), or any. */
static void ask_some(struct watch *w, struct mono at, uint32_t first, size_t looks, bool in_turn,
                     watch_want_fn *fn, void *arg)
{
    size_t n = cluster_count(w->cluster);
    for (size_t i = 0; i < looks; i++) {
        struct member *m = cluster_by_id(w->cluster, (uint32_t)((first + i) % n));
        char hex[FINGERPRINT_HEX + 1];
        const struct known *k = known_of(w, m);
        if (may_be_asked(w, m) && (!in_turn || m->id >= k->kind->ask_from) && gather_ask(w, at, m, k))
            fn(arg, m, fingerprint_format(&k->kind->key.id, hex));
    }
}

/* The nodes of a kind are asked in turn, so that a node that never answers holds up its kind for one
 * question. */
void watch_wanted(struct watch *w, struct mono now, watch_want_fn *fn, void *arg)
{
    size_t n = cluster_count(w->cluster), looks = n < LOOK_A_CALL ? n : LOOK_A_CALL;
    struct mono at = watch_observed_at(w, now);
    if (n == 0 || !w->gather->wanting || at.ns < w->gather->full_until.ns)
        return;
    ask_some(w, at, w->gather->cursor, looks, true, fn, arg);
    ask_some(w, at, w->gather->cursor, looks, false, fn, arg);
    w->gather->cursor = (uint32_t)((w->gather->cursor + looks) % n);
}

/* --- lists in parts -------------------------------------------------------------------------- */

static size_t assembly_bytes(const struct assembly *a)
{
    return ASSEMBLY_BYTES + a->list.bytes + a->list.n * COMPONENT_BYTES;
}

static struct assembly *assembly_of(const struct watch *w, const struct member *m)
{
    struct assembly *a;
    HASH_FIND(hh, w->gather->assemblies, &m->id, sizeof m->id, a);
    return a;
}

static void assembly_drop(struct watch *w, struct assembly *a)
{
    if (!a)
        return;
    w->gather->bytes -= assembly_bytes(a);
    HASH_DEL(w->gather->assemblies, a);
    components_fini(&a->list);
    free(a);
}

void gather_forget(struct watch *w, const struct member *m)
{
    assembly_drop(w, assembly_of(w, m));
}

/* The assembly to which a part belongs. A first part begins a new one. */
static int assembly_for(struct watch *w, const struct member *m, const struct fingerprint *id, uint64_t part,
                        uint64_t parts, struct assembly **out, struct err *e)
{
    struct assembly *a = assembly_of(w, m);
    if (part == 0) {
        assembly_drop(w, a);
        a = mem_alloc(sizeof *a);
        a->member = m->id;
        a->id = *id;
        a->parts = (uint32_t)parts;
        HASH_ADD(hh, w->gather->assemblies, member, sizeof a->member, a);
        w->gather->bytes += assembly_bytes(a);
    } else if (!a || a->next != part || a->parts != parts || !fingerprint_equal(&a->id, id)) {
        assembly_drop(w, a);
        return err_set(e, -EINVAL, "part %u of a list whose parts before did not come", (unsigned)part);
    }
    *out = a;
    return 0;
}

/* Adds those members of a COMPONENTS body that make the list. */
static int add_part(struct components *c, const json_t *body, struct err *e)
{
    static const char *const members[] = {"components", "absent", "unknown"};
    CLEANUP_JSON json_t *list = json_object();
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        json_t *value = json_object_get(body, members[i]);
        if (value)
            json_object_set(list, members[i], value);
    }
    return components_parse(c, list, e);
}

static int gather_assemble(struct watch *w, struct mono now, struct assembly *a, const json_t *body,
                           struct err *e)
{
    size_t before = assembly_bytes(a);
    a->last = now;
    int rc = add_part(&a->list, body, e);
    w->gather->bytes += assembly_bytes(a) - before;
    if (rc == 0 && w->gather->bytes > ASSEMBLED_BYTES_MAX)
        rc = err_set(e, -ENOSPC, "too many lists of components come at once; it is asked for again");
    if (rc < 0)
        return rc;
    a->next++;
    return a->next < a->parts ? -EAGAIN : 0;
}

/* --- a whole list ---------------------------------------------------------------------------- */

static int gather_lies(struct watch *w, struct mono now, struct member *m, struct err *e)
{
    struct known *k = known_of(w, m);
    char hex[FINGERPRINT_HEX + 1], name[FINGERPRINT_SHORT_BYTES];
    err_set(e, -EBADMSG, "the components that it sent for %s hash to something else",
            fingerprint_format(&k->kind->key.id, hex));
    if (!(k->flags & KNOWN_LIES)) {
        struct text t = {0};
        k->flags |= KNOWN_LIES;
        text_printf(&t,
                    "it claims the fingerprint %s, and the components that it sent for it hash to "
                    "another: none of them is believed until it has shown a correct list",
                    fingerprint_list(&k->kind->key.id, name));
        alarms_raise(&w->alarms, ALARM_FINGERPRINT, m->name, m->name, t.s, w->wall);
        text_fini(&t);
    }
    conformity_judge(w, now, m, true);
    return -EBADMSG;
}

/* A node may not send components that only its BMC gives. */
static int check_names(const struct components *c, struct err *e)
{
    for (size_t i = 0; i < c->n; i++)
        if (component_is_redfish(c->list[i].name))
            return err_set(e, -EINVAL, "component %s is told by the node's BMC, and not by the node",
                           c->list[i].name);
    return 0;
}

/* Makes this list the kind's list, or checks that it is: -EBADMSG when it hashes to something else. */
static int gather_prove(struct watch *w, const struct kind *k, const struct components *c, struct err *e)
{
    if (!k->own->known)
        return listing_fill(cluster_listings(w->cluster), k->own, c, e);
    struct fingerprint id = components_fingerprint(c);
    return fingerprint_equal(&id, &k->key.id) ? 0 : -EBADMSG;
}

static int take_list(struct watch *w, struct mono now, struct member *m, struct components *c, struct err *e)
{
    struct known *k = known_of(w, m);
    int rc = components_sort(c, e);
    if (rc == 0)
        rc = check_names(c, e);
    if (rc < 0)
        return err_wrap(e, -EINVAL, "components");
    rc = gather_prove(w, k->kind, c, e);
    if (rc == -EBADMSG)
        return gather_lies(w, now, m, e);
    if (rc == -ENOSPC)
        w->gather->full_until = mono_add(now, span_s(FULL_REST_S));
    if (rc < 0)
        return rc;
    k->flags = (uint16_t)((k->flags & ~KNOWN_LIES) | KNOWN_SHOWN);
    conformity_judge(w, now, m, true);
    return 0;
}

static int take_header(const json_t *body, struct fingerprint *id, uint64_t *part, uint64_t *parts,
                       struct err *e)
{
    const char *hex;
    if (json_take_string(body, "fingerprint", &hex, e) < 0 ||
        json_take_u64(body, "parts", PARTS_MAX, parts, e) < 0 ||
        json_take_u64(body, "part", PARTS_MAX, part, e) < 0)
        return -EINVAL;
    if (!fingerprint_parse(hex, id))
        return err_set(e, -EINVAL, "\"%.70s\" is no fingerprint", hex);
    if (*part >= *parts)
        return err_set(e, -EINVAL, "part %u of %u", (unsigned)*part, (unsigned)*parts);
    return 0;
}

int watch_components(struct watch *w, struct mono now, struct member *m, const json_t *body, struct err *e)
{
    struct fingerprint id;
    uint64_t part, parts;
    struct assembly *a = NULL;
    struct mono at = watch_observed_at(w, now);
    const struct known *k = known_of(w, m);
    if (take_header(body, &id, &part, &parts, e) < 0)
        return -EINVAL;
    if (!k->kind || !fingerprint_equal(&k->kind->key.id, &id))
        return err_set(e, -ENOENT, "components of a fingerprint that is not the node's");
    if (k->kind->own->known && !has_to_show(k, m)) {
        gather_forget(w, m); /* another node was faster */
        return 0;
    }
    int rc = assembly_for(w, m, &id, part, parts, &a, e);
    if (rc == 0)
        rc = gather_assemble(w, at, a, body, e);
    if (rc == -EAGAIN)
        return err_set(e, -EAGAIN, "part %u of %u", (unsigned)part, (unsigned)parts);
    if (rc == 0) {
        rc = take_list(w, at, m, &a->list, e);
        watch_touch(w, m, ASPECT_CONFORM);
        gather_answered(w, &id, m);
    }
    gather_forget(w, m);
    return rc;
}

/* --- life ------------------------------------------------------------------------------------ */

void gather_end_sweep(struct watch *w)
{
    struct mono now = watch_awake(w, w->last_tick);
    struct assembly *a, *next;
    HASH_ITER (hh, w->gather->assemblies, a, next)
        if (!within(now, a->last, ASSEMBLY_IDLE_S))
            assembly_drop(w, a);
    bool wanting = false;
    for (size_t i = 0; i < w->n && w->gather->wanting && !wanting; i++)
        wanting = wants_list(&w->conformity->known[i], cluster_by_id(w->cluster, (uint32_t)i));
    w->gather->wanting = wanting;
}

void gather_destroy(struct watch *w)
{
    struct assembly *a, *next;
    HASH_ITER (hh, w->gather->assemblies, a, next)
        assembly_drop(w, a);
    told_destroy(w);
}
