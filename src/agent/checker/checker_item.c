/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/checker_inside.h"
#include "base/digest.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * One check, and when it is due. Moments lie on a grid of whole seconds of the node's own, so that a node
 * with a hundred checks wakes up once a second and no more.
 */

enum { GRID_MS = 1000 };

/* Two checks have one target when one can hang the other: checks of one path, of one library, or of one
 * kind of device, which are the probes whose names begin alike ("nvidia.ecc", "nvidia.pcie"). Looks
 * through the processes are one target, so that there is one walk. Benchmarks are one target, because two
 * at once would measure each other. A plugin is a target by itself. */
const char *check_target(const struct check *k, char buf[static CHECKER_TARGET_BYTES])
{
    const struct probe_row *row = probe_row(k->probe);
    const char *path = check_arg(k, "Path");
    if (look_walks(k->probe))
        return "processes";
    if (k->probe == PROBE_PLUGIN || row->how == PROBE_READ || row->how == PROBE_FOLLOW)
        return k->name;
    if (path && row->how != PROBE_BENCH)
        return path;
    snprintf(buf, CHECKER_TARGET_BYTES, "%.*s", (int)strcspn(row->name, "."), row->name);
    return buf;
}

bool check_once_a_boot(const struct check *k)
{
    return (k->when & (CHECK_BOOT | CHECK_PERIODIC)) == CHECK_BOOT;
}

void parts_destroy(struct parts *p)
{
    if (!p)
        return;
    free(p->names);
    text_fini(&p->facts);
    free(p);
}

static uint64_t hash_of(const char *s)
{
    return digest_fnv(DIGEST_FNV_START, s, strlen(s));
}

/* The node's place within a second, and the check's second within its interval. Looks in the loop are made
 * together, which costs half of what they cost one by one. Looks in children are spread, except those of
 * one target, which share a child. */
struct mono checker_due(const char *node, const struct check *k, struct mono after)
{
    const int64_t grid_ns = GRID_MS * 1000000LL;
    char family[CHECKER_TARGET_BYTES];
    uint64_t hash = hash_of(node);
    int64_t place = (int64_t)(hash % GRID_MS) * 1000000;
    int64_t seconds = k->every.ns / grid_ns;
    if (seconds < 1)
        seconds = 1;
    const char *target = check_target(k, family);
    enum probe_how how = probe_row(k->probe)->how;
    if (how != PROBE_READ && how != PROBE_FOLLOW)
        hash = digest_fnv(hash, target, strlen(target));
    int64_t every = seconds * grid_ns;
    place += (int64_t)((hash >> 16) % (uint64_t)seconds) * grid_ns;
    int64_t past = (after.ns - place) % every;
    if (past < 0)
        past += every;
    assert(past < every && "it is due after the moment that is given");
    return (struct mono){after.ns + every - past};
}

void item_rest(struct item *k, struct mono now)
{
    bool by_itself = k->check->when & CHECK_PERIODIC && !k->c->settings.by_hand;
    k->due = by_itself ? checker_due(k->c->settings.node, k->check, now) : (struct mono){CHECKER_NEVER};
    k->deadline = k->check->deadline;
    k->asked = false;
    free(STEAL(k->nodes));
    parts_destroy(STEAL(k->parts));
}

void item_make_due(struct item *k, struct mono at)
{
    if (at.ns < k->due.ns)
        k->due = at;
}

struct look item_look(struct item *k, struct mono now)
{
    return (struct look){.check = k->check,
                         .company = {k->nodes, k->rank},
                         .root = k->c->settings.root,
                         .now = now,
                         .clock = k->c->clock.at.ns ? &k->c->clock : NULL,
                         .memory = k->memory};
}

struct item *item_create(struct checker *c, const struct check *record)
{
    struct item *k = mem_alloc(sizeof *k);
    k->c = c;
    k->check = record;
    k->memory = memory_create();
    item_rest(k, mono_now());
    if (k->check->when & CHECK_BOOT && !c->settings.by_hand)
        k->due = mono_now();
    return k;
}

void item_destroy(struct item *k)
{
    process_hint_destroy(k->process);
    memory_destroy(k->memory);
    free(k->nodes);
    parts_destroy(k->parts);
    free(k);
}
