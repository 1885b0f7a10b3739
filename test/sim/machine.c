/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which machine has a name. People, or a cloud, put another one in its place at any moment, more often during
 * a repair, with or without a running controller; and soon after, more often than not, the earlier one again.
 * Knowledge about a machine goes with it (struct hardware), knowledge about the name stays. An earlier
 * command to a BMC may act on whichever machine is there then.
 *
 * Inventories come at any time, before or after the results of checks. A serial number is always read, a UUID
 * from some moment on. For one node in eight neither is read, and nobody swaps its machine, because a swap
 * that cannot be seen cannot count as an error.
 */
#include "sim.h"

#include <stdio.h>
#include <string.h>

enum { NAMELESS = 8 };

static const int64_t SECOND = INT64_C(1000000000);

static bool machine_told(const struct sim *s, int i)
{
    return i % NAMELESS != NAMELESS - 1;
}

static void name_it(struct sim *s, int i)
{
    s->nodes[i].machine = ++s->machines;
    if (s->ill)
        s->patients[i].here = (struct hardware){.id = s->machines};
}

void machine_create(struct sim *s)
{
    s->uuids_at = s->now + (int64_t)sim_random(s, 600) * SECOND;
    for (size_t i = 0; i < s->n; i++) {
        name_it(s, (int)i);
        machine_booted(s, (int)i);
    }
}

void machine_booted(struct sim *s, int node)
{
    struct fleet_node *n = &s->nodes[node];
    n->machines[n->boot % BOOTS_KEPT] = n->machine;
}

struct hardware *machine_of(const struct sim *s, int node)
{
    const struct fleet_node *n = &s->nodes[node];
    struct patient *p = &s->patients[node];
    const char *known = watch_observed(s->watch, cluster_find(s->cluster, n->name))->boot;
    unsigned boot;
    if (sscanf(known, "%8x", &boot) != 1 || boot > n->boot || n->boot - boot >= BOOTS_KEPT)
        return NULL;
    unsigned id = n->machines[boot % BOOTS_KEPT];
    for (size_t k = 0; k < p->n_away; k++)
        if (p->away[k].id == id)
            return &p->away[k];
    return p->here.id == id ? &p->here : NULL;
}

/* --- swaps ------------------------------------------------------------------------------------ */

static void put_another(struct sim *s, int i)
{
    struct patient *p = &s->patients[i];
    if (s->ill)
        p->away[p->n_away++] = p->here;
    name_it(s, i);
    s->swaps++;
}

/* Only on the wall clock. */
static void pass_an_hour(struct sim *s)
{
    s->wall_step += 3600 * SECOND;
    s->wall_at = s->now;
}

static void put_back(struct sim *s, int i)
{
    struct patient *p = &s->patients[i];
    size_t which = (size_t)sim_random(s, p->n_away);
    struct hardware back = p->away[which];
    p->away[which] = p->here;
    p->here = back;
    s->nodes[i].machine = back.id;
    for (int k = 0; k < AILS && sim_random(s, 4) == 0; k++)
        p->here.ails[k].on = false; /* somebody repaired it on the bench */
    s->swaps_back++;
    if (sim_random(s, 3) == 0)
        pass_an_hour(s);
}

static void swap(struct sim *s, int i, bool back)
{
    struct fleet_node *n = &s->nodes[i];
    unsigned was = n->machine;
    back |= s->ill && s->patients[i].n_away == AWAY_MAX;
    if (back)
        put_back(s, i);
    else
        put_another(s, i);
    sim_say(s, "%s: machine %u is in the place of %u%s", n->name, n->machine, was, back ? " again" : "");
    fleet_off(s, i);
    if (s->collector[i])
        s->calm_at = n->up_at;
    if (s->ill)
        s->patients[i].now.on = false;
    if (s->ill && sim_random(s, 2))
        s->patients[i].power.on = false, s->patients[i].power.fails = true; /* its BMC went with it */
}

/* Providers return machines that others gave up, and now and then merely a reboot. */
void machine_replace(struct sim *s, int node)
{
    uint64_t how = sim_random(s, 8);
    if (how == 0)
        fleet_reboot(s, node);
    else
        swap(s, node, how < 3 && s->patients[node].n_away);
}

static bool has_swaps(const struct sim *s)
{
    return !s->calm && s->seed % 4 != 0;
}

void machine_tempts(struct sim *s, int node)
{
    if (has_swaps(s) && machine_told(s, node) && sim_random(s, 3) == 0)
        s->nodes[node].swap_at = s->now + (int64_t)(1 + sim_random(s, 100)) * STEP_NS;
}

/* As long as another machine needs to boot, to be tested, or to return. */
static int64_t soon(struct sim *s)
{
    return (int64_t)(1 + sim_random(s, sim_random(s, 2) ? 5 : 30)) * s->unit;
}

void machine_step(struct sim *s)
{
    if (!has_swaps(s))
        return;
    for (size_t i = 0; i < s->n; i++) {
        struct fleet_node *n = &s->nodes[i];
        bool kept = s->ill && s->patients[i].kept_since, due = n->swap_at && s->now >= n->swap_at;
        if (!machine_told(s, (int)i) || !(due || sim_chance(s, kept ? 1200 : 15)))
            continue;
        swap(s, (int)i, s->ill && s->patients[i].n_away && sim_random(s, 4));
        n->swap_at = sim_random(s, 2) ? 0 : s->now + soon(s);
    }
}

/* --- inventories ------------------------------------------------------------------------------ */

static void uuid_of(unsigned machine, char out[static 37])
{
    snprintf(out, 37, "4c4c4544-%04x-4000-8000-%012x", machine % 0x10000, machine);
}

static void serial_of(unsigned machine, char out[static 16])
{
    snprintf(out, 16, "SN%06u", machine % 1000000);
}

static void hash_of(unsigned machine, bool uuid, char buf[static 17])
{
    snprintf(buf, 17, "%015x%x", machine, (unsigned)uuid);
}

static bool has_uuid(const struct sim *s)
{
    return s->now >= s->uuids_at;
}

/* As the agent read it on this boot. */
void machine_hash(const struct sim *s, int node, unsigned boot, char buf[static 17])
{
    hash_of(machine_told(s, node) ? s->nodes[node].machines[boot % BOOTS_KEPT] : 0, has_uuid(s), buf);
}

void machine_wanted(struct sim *s, int node)
{
    const struct fleet_node *n = &s->nodes[node];
    if (!n->agent || !n->conn)
        return;
    struct message *m = mem_alloc(sizeof *m);
    *m = (struct message){.kind = MESSAGE_INVENTORY,
                          .from = node,
                          .to = CONTROLLER,
                          .conn = n->conn,
                          .boot = n->boot,
                          .machine = machine_told(s, node) ? n->machine : 0,
                          .uuid = has_uuid(s),
                          .not_before = n->cut_until};
    fleet_send(s, m);
}

void machine_inventory(struct sim *s, const struct message *m)
{
    struct member *node = cluster_meet(s->cluster, s->nodes[m->from].name);
    const struct observed *o = watch_observed(s->watch, node);
    const struct session *k = o->session;
    char boot[37], hash[17], uuid[37], serial[16];
    fleet_boot_id(m->boot, m->from, boot);
    if (!k || (!o->collector && k->conn != m->conn) || strcmp(boot, o->boot) != 0)
        return; /* the inventory is requested again in the open session */
    hash_of(m->machine, m->uuid, hash);
    uuid_of(m->machine, uuid);
    serial_of(m->machine, serial);
    CLEANUP_JSON json_t *dmi = json_object();
    if (m->machine)
        json_object_set_new(dmi, "serial", json_string(serial));
    if (m->machine && m->uuid)
        json_object_set_new(dmi, "uuid", json_string(uuid));
    CLEANUP_JSON json_t *report =
        json_pack("{s:b,s:s,s:{s:i,s:O}}", "full", 1, "hash", hash, "set", "CPUs", 4, "DMI", dmi);
    watch_inventory(s->watch, node, report, NULL);
}

/* --- in the end ------------------------------------------------------------------------------- */

/* Two machines that used one name in turn are told apart again after an hour. */
void machine_calm(struct sim *s)
{
    pass_an_hour(s);
}

bool machine_is_recorded(const struct sim *s, int i)
{
    const struct member *m = cluster_find(s->cluster, s->nodes[i].name);
    const struct machine_record *r = m ? member_machine(m) : NULL;
    char uuid[37], serial[16];
    uuid_of(s->nodes[i].machine, uuid);
    serial_of(s->nodes[i].machine, serial);
    return !r || strstr(r->machine, uuid) || strstr(r->machine, serial);
}

bool machine_all_well(const struct sim *s, char *why, size_t size)
{
    for (size_t i = 0; i < s->n; i++) {
        if (!s->listed[i] || machine_is_recorded(s, (int)i))
            continue;
        snprintf(why, size, "%s is machine %u, and the record says another", s->nodes[i].name,
                 s->nodes[i].machine);
        return false;
    }
    return true;
}
