/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conformance as a follower is told. A follower judges the nodes itself, by the same fingerprints and lists.
 * A list comes once, before the first node that has it, and the follower keeps it: the leader does not know
 * when a follower would drop one.
 */
#include "watch/conform/conform.h"
#include "watch/conform/conformity_inside.h"
#include "watch/conform/gather_inside.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { PIECE_BYTES = 32 << 10, TELLS = KNOWN_VERIFIED | KNOWN_LIES | KNOWN_MUTE | KNOWN_SHOWN };

/* --- a node ------------------------------------------------------------------------------------ */

void told_write(const struct watch *w, struct mono now, const struct member *m, struct text *t)
{
    const struct known *k = &w->conformity->known[m->id];
    char hex[FINGERPRINT_HEX + 1] = "";
    if (k->kind)
        fingerprint_format(&k->kind->key.id, hex);
    text_printf(t, "{\"fingerprint\":\"%s\",\"flags\":%u,\"verified_ms\":%" PRId64 "}", hex, k->flags & TELLS,
                span_to_ms(mono_sub(watch_awake(w, now), watch_at(w, k->verified_ds))));
}

/* When it was verified, by this watch; a moment before all that it can keep is the earliest that it can. */
static uint32_t verified_ds(const struct watch *w, struct mono now, uint64_t age_ms)
{
    struct mono at = {now.ns - span_ms((int64_t)age_ms).ns};
    return at.ns > w->created.ns ? watch_ds(w, at) : 0;
}

int told_read(struct watch *w, struct mono now, struct member *m, const json_t *is, struct err *e)
{
    const char *hex;
    uint64_t flags, age_ms;
    struct fingerprint id;
    if (json_take_string(is, "fingerprint", &hex, e) < 0 ||
        json_take_u64(is, "flags", TELLS, &flags, e) < 0 ||
        json_take_u64(is, "verified_ms", INT64_MAX / 1000000, &age_ms, e) < 0)
        return -EINVAL;
    if (*hex && !fingerprint_parse(hex, &id))
        return err_set(e, -EINVAL, "\"%.70s\" is no fingerprint", hex);
    struct mono at = watch_observed_at(w, now);
    struct known *k = known_of(w, m);
    k->flags = (uint16_t)((k->flags & ~TELLS) | (flags & TELLS) | KNOWN_DIRTY);
    if (*hex)
        conformity_set_kind(w, m, &id);
    k->verified_ds = verified_ds(w, at, age_ms);
    conformity_judge(w, at, m, true);
    return 0;
}

/* --- lists ------------------------------------------------------------------------------------- */

const struct listing *told_list(const struct watch *w, const struct member *m)
{
    const struct kind *k = m->id < w->n ? w->conformity->known[m->id].kind : NULL;
    return k && k->own->known ? k->own : NULL;
}

bool told_list_write(const struct listing *g, uint32_t *at, struct text *t)
{
    struct components piece = {0};
    char hex[FINGERPRINT_HEX + 1];
    for (; *at < g->n && piece.bytes < PIECE_BYTES; ++*at)
        components_add(&piece, g->components[*at]->name, g->components[*at]->state, g->components[*at]->value,
                       NULL);
    piece.sorted = true;
    const bool is_last = *at == g->n;
    text_printf(t, "{\"list\":\"%s\",\"last\":%s,\"has\":", fingerprint_format(&g->id, hex),
                is_last ? "true" : "false");
    components_format(&piece, t);
    text_add_char(t, '}');
    components_fini(&piece);
    return !is_last;
}

static int take_whole(struct watch *w, struct err *e)
{
    struct gather *gather = w->gather;
    struct listings *all = cluster_listings(w->cluster);
    int rc = components_sort(&gather->coming, e);
    if (rc < 0)
        return -EINVAL;
    struct listing *g = listings_get(all, &gather->coming_id);
    rc = listing_fill(all, g, &gather->coming, e);
    if (rc < 0) {
        listing_unref(all, g);
        return rc;
    }
    gather->told = mem_grow(gather->told, (gather->n_told + 1) * sizeof(struct listing *));
    gather->told[gather->n_told++] = g;
    return 0;
}

int told_list_read(struct watch *w, const json_t *piece, struct err *e)
{
    struct gather *gather = w->gather;
    const char *hex;
    struct fingerprint id;
    bool is_last;
    if (json_take_string(piece, "list", &hex, e) < 0 || json_take_bool(piece, "last", &is_last, e) < 0)
        return -EINVAL;
    if (!fingerprint_parse(hex, &id))
        return err_set(e, -EINVAL, "\"%.70s\" is no fingerprint", hex);
    if (!fingerprint_equal(&id, &gather->coming_id))
        components_fini(&gather->coming);
    gather->coming_id = id;
    int rc = components_parse(&gather->coming, json_object_get(piece, "has"), e);
    if (rc == 0 && is_last)
        rc = take_whole(w, e);
    if (rc < 0 || is_last)
        components_fini(&gather->coming);
    return rc;
}

void told_destroy(struct watch *w)
{
    for (size_t i = 0; i < w->gather->n_told; i++)
        listing_unref(cluster_listings(w->cluster), w->gather->told[i]);
    free(STEAL(w->gather->told));
    w->gather->n_told = 0;
    components_fini(&w->gather->coming);
}
