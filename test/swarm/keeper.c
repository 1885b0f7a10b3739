/* SPDX-License-Identifier: Apache-2.0 */
#include "test/swarm/swarm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGES_A_FRAME = 120, INVENTORIES_A_FRAME = 40 };

static void dial(struct keeper *k);

static void on_dial_timer(uv_timer_t *t)
{
    dial(t->data);
}

struct identity_of_node {
    char boot[37], instance[17];
};

/* The agent of a node is the same one for each keeper that plays it, in this process or in another. With a
 * boot and an instance for each keeper, a node that moves would look as if it was replaced, and a node that
 * moves back as if it was not to be believed any more. */
static struct identity_of_node agent_of(const struct keeper *k, const char *name)
{
    struct identity_of_node id;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    swarm_hex(hash | 1, id.instance);
    snprintf(id.boot, sizeof id.boot, "%.8s-0000-4000-8000-%.12s", id.instance, id.instance);
    if (strcmp(name, k->name) == 0) {
        memcpy(id.boot, k->boot, sizeof id.boot);
        memcpy(id.instance, k->instance, sizeof id.instance);
    }
    return id;
}

static json_t *change_of(struct keeper *k, const char *name)
{
    const struct identity_of_node id = agent_of(k, name);
    return json_pack("{s:s,s:s,s:s,s:I,s:[],s:i,s:s,s:s}", "name", name, "boot", id.boot, "instance",
                     id.instance, "seq", (json_int_t)(wall_now().ns / 1000000), "work", "uptime_s", 100,
                     "version", "swarm", "inventory", k->swarm->inventory_hash);
}

static json_t *fingerprint_of(struct keeper *k, const char *name)
{
    char hex[FINGERPRINT_HEX + 1];
    fingerprint_format(kind_fingerprint(k->swarm, kind_of(k->swarm, name)), hex);
    k->swarm->totals.fingerprints++;
    return json_pack("{s:s,s:s,s:s}", "name", name, "fingerprint", hex, "boot", agent_of(k, name).boot);
}

/* The controller was told something and did not take it: it is told again. */
static void tell_again(struct keeper *k, const struct hostlist *names)
{
    for (size_t at = 0; at < names->n;) {
        json_t *changed = json_array();
        for (int i = 0; i < CHANGES_A_FRAME && at < names->n; i++, at++)
            json_array_append_new(changed, change_of(k, names->names[at]));
        swarm_send(k->peer, FRAME_BATCH,
                   json_pack("{s:I,s:I,s:i,s:s,s:o}", "epoch", (json_int_t)k->epoch, "seq",
                             (json_int_t)++k->seq, "port", 9, "heard", "", "changed", changed));
    }
}

static bool is_muted(const struct swarm *s, const char *name)
{
    for (size_t i = 0; i < s->muted.n; i++)
        if (strcmp(s->muted.names[i], name) == 0)
            return true;
    return false;
}

/* The muted nodes of the share were last heard with the batch after which they were muted. */
static void on_missed(uv_timer_t *t)
{
    struct keeper *k = t->data;
    json_t *missed = json_array();
    for (size_t i = 0; i < k->nodes.n; i++)
        if (is_muted(k->swarm, k->nodes.names[i]))
            json_array_append_new(missed, json_pack("{s:s,s:I}", "name", k->nodes.names[i], "ago_ms",
                                                    (json_int_t)k->silent_ms));
    if (!k->peer || json_array_size(missed) == 0)
        json_decref(missed);
    else
        swarm_send(k->peer, FRAME_BATCH,
                   json_pack("{s:I,s:I,s:s,s:o}", "epoch", (json_int_t)k->epoch, "seq", (json_int_t)++k->seq,
                             "heard", "", "missed", missed));
}

/* Reports the nodes that have been silent for as long as a node may be. */
static void await_missed(struct swarm *s, const char *node)
{
    for (size_t i = 0; i < s->n_keepers; i++) {
        struct keeper *k = &s->keepers[i];
        int64_t left = (int64_t)k->silent_ms - span_to_ms(mono_sub(mono_now(), k->batch));
        for (size_t j = 0; j < k->nodes.n; j++)
            if (strcmp(k->nodes.names[j], node) == 0)
                uv_timer_start(&k->missed, on_missed, left > 0 ? (uint64_t)left + 1 : 1, 0);
    }
}

bool keeper_act(struct swarm *s, const char *node, const char *action)
{
    bool silence = strcmp(action, "silence") == 0;
    if (!silence && strcmp(action, "speak") != 0)
        return false;
    if (silence && !is_muted(s, node)) {
        hostlist_add(&s->muted, node);
        await_missed(s, node);
    }
    if (!silence) {
        struct hostlist rest = {0};
        for (size_t i = 0; i < s->muted.n; i++)
            if (strcmp(s->muted.names[i], node) != 0)
                hostlist_add(&rest, s->muted.names[i]);
        hostlist_fini(&s->muted);
        s->muted = rest;
    }
    return true;
}

/* The nodes that were heard. */
static char *fold_heard(const struct keeper *k)
{
    CLEANUP_FREE const char **names = mem_alloc((k->nodes.n + 1) * sizeof *names);
    size_t n = 0;
    for (size_t i = 0; i < k->nodes.n; i++)
        if (!is_muted(k->swarm, k->nodes.names[i]))
            names[n++] = k->nodes.names[i];
    return hostlist_fold(names, n);
}

/* One batch: all nodes as heard, and as many of those that were not reported yet as fit into a frame. */
static void send_batch(struct keeper *k, bool heard)
{
    json_t *changed = json_array(), *fingerprints = json_array();
    for (int i = 0; i < CHANGES_A_FRAME && k->told < k->nodes.n; i++) {
        const char *name = k->nodes.names[k->told++];
        json_array_append_new(changed, change_of(k, name));
        if (k->swarm->kinds)
            json_array_append_new(fingerprints, fingerprint_of(k, name));
    }
    CLEANUP_FREE char *all = heard ? fold_heard(k) : mem_dup("");
    swarm_send(k->peer, FRAME_BATCH,
               json_pack("{s:I,s:I,s:i,s:s,s:o,s:o}", "epoch", (json_int_t)k->epoch, "seq",
                         (json_int_t)++k->seq, "port", 9, "heard", all, "changed", changed, "fingerprints",
                         fingerprints));
    k->swarm->totals.batches++;
}

static void on_beat_timer(uv_timer_t *t)
{
    struct keeper *k = t->data;
    if (!k->peer || !k->epoch)
        return;
    while (k->told < k->nodes.n)
        send_batch(k, false);
    send_batch(k, true);
    k->batch = mono_now();
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The nodes that the controller knows over this connection come first. */
static size_t told_first(struct keeper *k, struct hostlist *share)
{
    size_t told = 0;
    qsort(k->nodes.names, k->told, sizeof *k->nodes.names, by_name);
    for (size_t i = 0; i < share->n; i++) {
        char *name = share->names[i];
        if (!bsearch(&name, k->nodes.names, k->told, sizeof name, by_name))
            continue;
        share->names[i] = share->names[told];
        share->names[told++] = name;
    }
    return told;
}

static void on_share(struct keeper *k, const json_t *body)
{
    const char *list = "";
    struct hostlist share = {0};
    json_take_string(body, "nodes", &list, NULL);
    json_take_u64(body, "epoch", INT64_MAX, &k->epoch, NULL);
    if (*list)
        hostlist_parse(list, &share, NULL);
    hostlist_add(&share, k->name);
    k->told = k->nodes.n ? told_first(k, &share) : 0;
    hostlist_fini(&k->nodes);
    k->nodes = share;
    k->swarm->totals.shares++;
    on_beat_timer(&k->timer);
}

struct wanted {
    struct keeper *keeper;
    const char *name;
};

static void send_part(void *arg, json_t *part)
{
    const struct wanted *w = arg;
    struct keeper *k = w->keeper;
    json_object_set_new(part, "name", json_string(w->name));
    swarm_send(k->peer, FRAME_BATCH,
               json_pack("{s:I,s:I,s:s,s:[o]}", "epoch", (json_int_t)k->epoch, "seq", (json_int_t)++k->seq,
                         "heard", "", "components", part));
}

static void on_recheck(struct keeper *k, const json_t *body)
{
    const char *list = "";
    if (json_take_string(body, "nodes", &list, NULL) == 0)
        swarm_send(k->peer, FRAME_BATCH,
                   json_pack("{s:I,s:I,s:s,s:s}", "epoch", (json_int_t)k->epoch, "seq", (json_int_t)++k->seq,
                             "heard", "", "verified", list));
}

static void on_want(struct keeper *k, const json_t *body)
{
    const char *list = "";
    CLEANUP_HOSTLIST struct hostlist names = {0};
    if (json_take_string(body, "nodes", &list, NULL) == 0)
        hostlist_parse(list, &names, NULL);
    if (json_object_get(body, "components")) {
        for (size_t i = 0; i < names.n; i++) {
            struct wanted w = {k, names.names[i]};
            kind_answer(k->swarm, kind_of(k->swarm, w.name), LIE_NONE, send_part, &w);
        }
        return;
    }
    k->swarm->totals.wants += names.n;
    for (size_t at = 0; at < names.n;) {
        json_t *all = json_array();
        for (int i = 0; i < INVENTORIES_A_FRAME && at < names.n; i++, at++) {
            json_t *one = swarm_inventory(k->swarm, names.names[at], k->instance);
            json_object_set_new(one, "name", json_string(names.names[at]));
            json_array_append_new(all, one);
        }
        swarm_send(k->peer, FRAME_BATCH,
                   json_pack("{s:I,s:I,s:s,s:o}", "epoch", (json_int_t)k->epoch, "seq", (json_int_t)++k->seq,
                             "heard", "", "inventories", all));
    }
    tell_again(k, &names);
}

static void on_frame(struct peer *peer, void *arg, const struct frame *f)
{
    struct keeper *k = arg;
    CLEANUP_JSON json_t *body = json_read(f->body, f->len, NULL);
    uint64_t interval = 0;
    json_take_u64(body, "interval_ms", UINT32_MAX, &interval, NULL);
    json_take_u64(body, "silent_ms", UINT32_MAX, &k->silent_ms, NULL);
    if (f->type == FRAME_WELCOME) {
        k->swarm->totals.welcomes++;
        k->interval = k->swarm->interval.ns ? k->swarm->interval : span_ms((int64_t)interval);
        uint64_t every = (uint64_t)span_to_ms(k->interval);
        uv_timer_start(&k->timer, on_beat_timer, 1 + swarm_random(k->swarm) % every, every);
    } else if (f->type == FRAME_SHARE) {
        on_share(k, body);
    } else if (f->type == FRAME_WANT) {
        on_want(k, body);
    } else if (f->type == FRAME_RECHECK) {
        on_recheck(k, body);
    } else if (f->type == FRAME_REFUSE) {
        k->swarm->totals.refusals++;
    }
}

static void on_open(struct peer *peer, void *arg)
{
    struct keeper *k = arg;
    k->swarm->totals.connects++;
    CLEANUP_FREE char *held = hostlist_fold((const char *const *)k->nodes.names, k->nodes.n);
    json_t *hello =
        json_pack("{s:i,s:s,s:s,s:s,s:s,s:s}", "protocol", 1, "name", k->name, "version", "swarm", "boot",
                  k->boot, "instance", k->instance, "inventory", k->swarm->inventory_hash);
    if (k->epoch)
        json_object_set_new(
            hello, "collector",
            json_pack("{s:i,s:I,s:s}", "port", 9, "epoch", (json_int_t)k->epoch, "nodes", held));
    swarm_send(peer, FRAME_HELLO, hello);
}

static void on_close(struct peer *peer, void *arg, const struct err *why)
{
    struct keeper *k = arg;
    k->swarm->totals.closes++;
    k->peer = NULL;
    k->told = 0;
    struct span wait = peer_backoff(k->attempt++, span_ms(500), span_s(60), swarm_random(k->swarm));
    uv_timer_start(&k->timer, on_dial_timer, (uint64_t)span_to_ms(wait), 0);
}

static const struct peer_events calls = {on_open, on_frame, on_close};

static void dial(struct keeper *k)
{
    struct tls_context *tls = swarm_identity(k->swarm, k->name);
    k->peer =
        peer_dial(&k->swarm->loop, k->swarm->host, k->swarm->port, tls, "urn:fettle:controller:", &calls, k);
    tls_context_destroy(tls);
}

void keeper_start(struct swarm *s, struct keeper *k, const char *name, struct span first_within)
{
    *k = (struct keeper){.swarm = s, .name = mem_dup(name)};
    swarm_boot_id(s, k->boot);
    swarm_hex(swarm_random(s) | 1, k->instance);
    uv_timer_init(&s->loop, &k->timer);
    uv_timer_init(&s->loop, &k->missed);
    k->timer.data = k->missed.data = k;
    uint64_t within = (uint64_t)span_to_ms(first_within) + 1;
    uv_timer_start(&k->timer, on_dial_timer, swarm_random(s) % within, 0);
}
