/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   healthy --days N [--seed S] [--nodes M]
 *
 * Machines that are well, in virtual time, with everything that a data centre does to them: switches that
 * boot, leases that are renewed, logs that are turned over, packages that are upgraded, clocks that are
 * stepped, disks that fill and are cleaned, load, users' programs that crash, file servers that are slow,
 * controllers and agents that begin anew; GPUs that work and get warm, whose driver is upgraded without a
 * boot, links of GPUs and of InfiniBand with the errors that are usual. What each machine would read is
 * judged and steadied by the real code, with the checks that run by default and those of the ready-made sets
 * for GPUs and InfiniBand that read what can be played; the real watch and the real records decide what
 * follows, without any brake and without shared causes, which would hide what the defaults do. Between noises
 * nothing changes, and machines are looked at more seldom.
 *
 * Prints what was found by severity. Ends with 1 when a node was isolated, or anything was worse than a
 * warning.
 */
#include "base/text.h"
#include "check/kernel_log.h"
#include "check/look.h"
#include "health/steady.h"
#include "watch/fixture_test.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ITEMS_MAX = 32,
    RACK = 20,
    CALM_S = 900,
    CALM_EVERY_S = 300,
    COUNTS_S = 5,
    GPUS = 8,
    PORTS = 2,
    LINKS = 18,
    NOISES_MAX = 16,
    SWITCH_DAYS = 5,
    DAY_S = 86400
};

struct look_item {
    struct steady steady;
    struct memory *memory;
    int64_t next, told;
    uint64_t counts;
};

/* The true state of a machine; each state ends at its moment, in seconds. */
struct host {
    int64_t link_until, service_until, unsynced_until, offset_until, full_until, zombies_until, silent_until;
    int64_t storage_until, awake_until;
    int64_t offset_ns;
    unsigned changes, free_percent, zombies;
    int64_t work_until, begins_until,
        sweep_until; /* GPUs work; the fabric of InfiniBand comes up; the fabric is swept */
    /* the GPUs' driver is older than its files; is unloaded; GPUs register with the fabric */
    int64_t replaced_until, unloaded_until, registers_until;
    unsigned bounces;     /* how often the link goes down again while its switch boots */
    int64_t up_s, down_s; /* how long it is up, and down, each time */
    bool is_cut_off;      /* its management network uses the same switch */
    uint64_t corrected, replays, crc, power_ns, heat_ns, downed, symbols, discards, congestion;
    struct kernel_log *log;
    uint64_t seq;
    bool silent;
    struct member *member;
    int64_t noise_at[NOISES_MAX], switch_at;
    struct look_item items[ITEMS_MAX];
};

struct run {
    struct world *x;
    struct checks checks;
    struct meanings *meanings;
    struct host *hosts; /* from index 1 */
    uint64_t random;
    uint64_t said[RESULTS], noises;
    size_t isolations;
    enum result worst;
    const char *noise; /* the latest, for the sentence about a failure */
};

static uint64_t random_below(struct run *r, uint64_t below)
{
    r->random ^= r->random << 13;
    r->random ^= r->random >> 7;
    r->random ^= r->random << 17;
    return r->random % below;
}

static int64_t now_s(const struct run *r)
{
    return r->x->now_ms / 1000;
}

/* --- what a machine reads ----------------------------------------------------------------------- */

/* NVML does not start while the driver is being upgraded. */
static bool has_no_driver(const struct run *r, const struct host *m, struct text *t)
{
    if (m->replaced_until > now_s(r))
        text_add(t, "failed 18 Driver/library version mismatch\n");
    else if (m->unloaded_until > now_s(r))
        text_add(t, "failed 9 Driver Not Loaded\n");
    else
        return false;
    return true;
}

/* The GPUs are alike, except for errors, which only the first one has. */
static void gpu_facts(struct run *r, const struct host *m, enum probe probe, struct text *t)
{
    bool works = m->work_until > now_s(r);
    if (has_no_driver(r, m, t))
        return;
    for (int g = 0; g < GPUS; g++) {
        char gpu[16];
        unsigned warm = works ? 60 + (unsigned)random_below(r, 24) : 35;
        bool slows = works && random_below(r, 500) == 0;
        snprintf(gpu, sizeof gpu, "0000:%02x:00.0", 0x18 + g);
        switch ((int)probe) {
        case PROBE_NVIDIA_COUNT: text_printf(t, "pci %s\ngpu %s\n", gpu, gpu); break;
        case PROBE_NVIDIA_ECC: text_printf(t, "ecc %s %" PRIu64 " 0\n", gpu, g ? 0 : m->corrected); break;
        case PROBE_NVIDIA_REMAP: text_printf(t, "rows %s 0 0 0\nbanks %s 0\n", gpu, gpu); break;
        case PROBE_NVIDIA_TEMPERATURE:
            text_printf(t, "temperature %s %u 90 85 %u 95\n", gpu, warm, warm + 6);
            break;
        case PROBE_NVIDIA_SLOWDOWN:
            text_printf(t, "reasons %s %d\n", gpu, slows ? 0x44 : works ? 4 : 1);
            break;
        case PROBE_NVIDIA_POWER:
            text_printf(t, "violations %s %" PRIu64 " %" PRIu64 " 0 0\n", gpu, m->power_ns, m->heat_ns);
            break;
        case PROBE_NVIDIA_CLOCKS:
            text_printf(t, "clocks %s 1980 1980 2619 2619 %d %d\n", gpu, works ? 1755 : 345, works);
            break;
        case PROBE_NVIDIA_PCIE:
            text_printf(t, "pcie %s %d 5 16 16 %d\nreplays %s %" PRIu64 "\n", gpu, works ? 5 : 1, works, gpu,
                        g ? 0 : m->replays);
            break;
        case PROBE_NVIDIA_NVLINK:
            text_printf(t, "links %s %d %d\n", gpu, LINKS, LINKS);
            for (int k = 0; k < LINKS; k++)
                text_printf(t, "errors %s %d 0 0 %" PRIu64 "\n", gpu, k, g || k ? 0 : m->crc);
            break;
        case PROBE_NVIDIA_FABRIC:
            text_printf(t, "fabric %s %d 0 - -\n", gpu,
                        m->begins_until > now_s(r) || m->registers_until > now_s(r) ? 2 : 3);
            break;
        case PROBE_NVIDIA_PERSISTENCE: text_printf(t, "persistence %s 1\n", gpu); break;
        case PROBE_NVIDIA_RECOVERY: text_printf(t, "recovery %s 0\n", gpu); break;
        default: abort();
        }
    }
}

static void port_facts(struct run *r, const struct host *m, enum probe probe, struct text *t)
{
    int64_t now = now_s(r);
    bool down = m->link_until > now, waits = !down && (m->begins_until > now || m->sweep_until > now);
    for (int p = 0; p < PORTS; p++) {
        char port[16];
        snprintf(port, sizeof port, "mlx5_%d/1", p);
        if (probe == PROBE_IB_DEVICE) {
            text_printf(t, "file mlx5_%d 1\n", p);
            continue;
        }
        text_printf(t, "port %s InfiniBand %d %d 400000 MT_0838 %s 0x1\n", port,
                    down    ? 1
                    : waits ? 2
                            : 4,
                    down ? 2 : 5, waits ? "0x0" : "0x2a");
        if (down || waits)
            continue; /* the counters of such a port are not read */
        if (probe == PROBE_IB_CONGESTION)
            text_printf(t, "counter %s np_cnp_sent %" PRIu64 "\n", port, m->congestion);
        if (probe == PROBE_IB_FLAP || probe == PROBE_IB_COUNTERS)
            text_printf(t, "counter %s link_downed %" PRIu64 "\n", port, m->downed);
        if (probe == PROBE_IB_COUNTERS)
            text_printf(
                t,
                "counter %s symbol_error %" PRIu64 "\ncounter %s port_xmit_discards %" PRIu64
                "\ncounter %s excessive_buffer_overrun_errors 0\ncounter %s local_link_integrity_errors 0\n",
                port, m->symbols, port, m->discards, port, port);
    }
}

static void facts_of(struct run *r, struct host *m, enum probe probe, struct text *t)
{
    int64_t now = now_s(r);
    text_add(t, "");
    switch ((int)probe) {
    case PROBE_KERNEL_LOG: kernel_log_facts(m->log, world_now(r->x), t); break;
    case PROBE_FS_SPACE:
        text_printf(t, "bytes %u0000000000 1000000000000\ninodes 900 1000\n",
                    m->full_until > now ? m->free_percent : 60);
        break;
    case PROBE_SERVICE: text_printf(t, "process %d\n", m->service_until > now ? 0 : 812); break;
    case PROBE_TIME:
        text_printf(t, "synchronised %d\noffset %" PRId64 "\nerror 2000\n", m->unsynced_until <= now,
                    m->offset_until > now ? m->offset_ns : 12000);
        break;
    case PROBE_ZOMBIES: text_printf(t, "zombies %u\n", m->zombies_until > now ? m->zombies : 2); break;
    case PROBE_ETHERNET:
        text_printf(t, "interface eth0 1 %d 25000 %u\n", m->link_until <= now, m->changes);
        break;
    case PROBE_IB_PORT:
    case PROBE_IB_FLAP:
    case PROBE_IB_COUNTERS:
    case PROBE_IB_CONGESTION:
    case PROBE_IB_DEVICE: port_facts(r, m, probe, t); break;
    default: gpu_facts(r, m, probe, t); break;
    }
}

/* --- what its agent reports --------------------------------------------------------------------- */

static json_t *word_of(const struct run *r, const struct look_item *k, const struct check *c)
{
    CLEANUP_TEXT struct text t = {0};
    verdict_write(&k->steady.said, &t);
    json_t *o = json_read(t.s, t.len, NULL);
    json_object_set_new(o, "check", json_string(c->name));
    json_object_set_new(o, "age_ms", json_integer(0));
    return o;
}

static void tell(struct run *r, int i, bool full, size_t only)
{
    struct host *m = &r->hosts[i];
    char boot[37];
    bool want = false;
    struct err e = {0};
    CLEANUP_JSON json_t *list = json_array();
    for (size_t k = 0; k < r->checks.n; k++)
        if (full || k == only) {
            json_array_append_new(list, word_of(r, &m->items[k], &r->checks.list[k]));
            m->items[k].told = now_s(r);
        }
    CLEANUP_JSON json_t *body =
        json_pack("{s:s,s:b,s:O}", "boot", world_boot(r->x, i, boot), "full", (int)full, "checks", list);
    if (watch_checks(r->x->w, world_now(r->x), world_wall(r->x), world_node(r->x, i), body, &want, &e) < 0) {
        puts(e.msg);
        abort();
    }
    if (want && !full)
        tell(r, i, true, 0);
}

static uint64_t counts_of(const struct verdict *v)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < v->n; i++)
        sum += v->findings[i].count;
    return sum;
}

static void note_said(struct run *r, int i, const struct check *c, const struct verdict *v)
{
    for (size_t f = 0; f < v->n; f++) {
        r->said[v->findings[f].result]++;
        if (v->findings[f].result > RESULT_WARN)
            printf("%" PRId64 " s: lx%02d: %s says %s: %s (after %s)\n", now_s(r), i, c->name,
                   result_name(v->findings[f].result), v->findings[f].text, r->noise);
    }
}

static void look(struct run *r, int i, size_t k)
{
    struct host *m = &r->hosts[i];
    struct look_item *item = &m->items[k];
    const struct check *c = &r->checks.list[k];
    struct look l = {.check = c, .root = "", .now = world_now(r->x), .memory = item->memory};
    struct verdict v;
    CLEANUP_TEXT struct text facts = {0};
    int64_t now = now_s(r), every = c->every.ns / 1000000000;
    facts_of(r, m, c->probe, &facts);
    look_judge(&l, facts.s, &v);
    item->next = now + (m->awake_until > now ? every : CALM_EVERY_S);
    bool news = steady_look(&item->steady, c, l.now, &v);
    uint64_t counts = counts_of(&item->steady.said);
    if (news)
        note_said(r, i, c, &item->steady.said);
    if (!m->silent && (news || (counts != item->counts && now - item->told >= COUNTS_S))) {
        tell(r, i, false, k);
        item->counts = counts;
    }
}

static void agent_begin(struct run *r, int i)
{
    struct host *m = &r->hosts[i];
    for (size_t k = 0; k < r->checks.n; k++) {
        memory_destroy(m->items[k].memory);
        m->items[k] = (struct look_item){.memory = memory_create()};
        look(r, i, k);
    }
}

static void kernel_says(struct run *r, int i, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void kernel_says(struct run *r, int i, const char *fmt, ...)
{
    struct host *m = &r->hosts[i];
    struct kmsg k = {.from_kernel = true, .seq = m->seq++, .at_us = (uint64_t)r->x->now_ms * 1000};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(k.text, sizeof k.text, fmt, ap);
    va_end(ap);
    kernel_log_take(m->log, world_now(r->x), &k);
}

/* --- noise -------------------------------------------------------------------------------------- */

/* The machine is looked at closely from now until this noise is over. */
static int64_t lasts(struct run *r, int i, int64_t seconds)
{
    struct host *m = &r->hosts[i];
    int64_t until = now_s(r) + seconds;
    if (m->awake_until < until + CALM_S)
        m->awake_until = until + CALM_S;
    for (size_t k = 0; k < r->checks.n; k++)
        if (m->items[k].next > now_s(r) + r->checks.list[k].every.ns / 1000000000)
            m->items[k].next = now_s(r);
    return until;
}

static void link_goes_down(struct run *r, int i, int64_t seconds)
{
    struct host *m = &r->hosts[i];
    m->link_until = m->storage_until = lasts(r, i, seconds);
    m->changes += 2;
    m->sweep_until = m->link_until + 10; /* until the subnet manager has seen it */
    m->downed++;
    m->silent_until = m->is_cut_off ? m->link_until : m->silent_until;
}

/* All links of the switch go down and come up together, once or up to three times more. */
static void switch_boots(struct run *r, int first)
{
    int64_t seconds = 180 + (int64_t)random_below(r, 120);
    bool is_cut_off = random_below(r, 2);
    unsigned bounces = (unsigned)random_below(r, 4);
    int64_t up_s = 2 + (int64_t)random_below(r, 60), down_s = 2 + (int64_t)random_below(r, 60);
    for (int i = first; i < first + RACK && i <= (int)r->x->n; i++) {
        struct host *m = &r->hosts[i];
        m->bounces = bounces;
        m->up_s = up_s;
        m->down_s = down_s;
        m->is_cut_off = is_cut_off;
        link_goes_down(r, i, seconds);
        m->symbols += random_below(r, 60);
        m->discards += random_below(r, 500);
        kernel_says(r, i, "mlx5_core 0000:5e:00.0: Port module event: module 0, Cable unplugged");
        kernel_says(r, i, "nfs: server nfs01 not responding, still trying");
        kernel_says(
            r, i, "Lustre: s-OST0001-osc: Connection to s-OST0001 (at 10.0.0.9@o2ib) was lost; in progress");
    }
}

static void link_bounces(struct run *r, int i)
{
    struct host *m = &r->hosts[i];
    if (!m->bounces || now_s(r) < m->link_until + m->up_s)
        return;
    m->bounces--;
    link_goes_down(r, i, m->down_s);
}

static void lease_is_renewed(struct run *r, int i)
{
    lasts(r, i, 1);
    r->hosts[i].changes += 2;
}

static void logs_are_turned_over(struct run *r, int i)
{
    r->hosts[i].service_until = lasts(r, i, 2);
}

static void packages_are_upgraded(struct run *r, int i)
{
    r->hosts[i].service_until = lasts(r, i, 10 + (int64_t)random_below(r, 110));
    r->hosts[i].unsynced_until = lasts(r, i, 60);
    if (!r->hosts[i].silent) {
        world_open(r->x, i, i);
        agent_begin(r, i);
        tell(r, i, true, 0);
    }
}

static void clock_is_stepped(struct run *r, int i)
{
    r->hosts[i].offset_ns = (int64_t)random_below(r, 10000000000) - 5000000000;
    r->hosts[i].offset_until = lasts(r, i, 10 + (int64_t)random_below(r, 290));
    r->hosts[i].unsynced_until = lasts(r, i, 60 + (int64_t)random_below(r, 540));
}

static void disk_fills(struct run *r, int i)
{
    r->hosts[i].free_percent = 1 + (unsigned)random_below(r, 8);
    r->hosts[i].full_until = lasts(r, i, 60 + (int64_t)random_below(r, 420));
}

static void load_peaks(struct run *r, int i)
{
    r->hosts[i].zombies = 200 + (unsigned)random_below(r, 3000);
    r->hosts[i].zombies_until = lasts(r, i, 60 + (int64_t)random_below(r, 90));
    for (uint64_t n = random_below(r, 5); n > 0; n--)
        kernel_says(r, i,
                    "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task=a,pid=%" PRIu64 ",uid=1000", n);
}

static void program_crashes(struct run *r, int i)
{
    static const unsigned xids[] = {13, 31, 43, 45, 68, 69};
    uint64_t gpus = 1 + random_below(r, GPUS);
    unsigned xid = xids[random_below(r, sizeof xids / sizeof *xids)];
    lasts(r, i, 1);
    for (uint64_t gpu = 0; gpu < gpus; gpu++)
        kernel_says(r, i, "NVRM: Xid (PCI:0000:%02" PRIx64 ":00): %u, pid=4711, name=train, Ch 00000008", gpu,
                    xid);
    kernel_says(r, i, "train[4711]: segfault at 0 ip 00 sp 00 error 4 in train[400000+1000]");
}

static void storage_is_slow(struct run *r, int i)
{
    r->hosts[i].storage_until = lasts(r, i, 60 + (int64_t)random_below(r, 240));
    kernel_says(r, i, "nfs: server nfs01 not responding, still trying");
    for (uint64_t n = random_below(r, 3); n > 0; n--)
        kernel_says(r, i, "INFO: task cp:%" PRIu64 " blocked for more than 120 seconds.", n);
}

/* The GPUs reach their power limit, which is usual, and now and then heat slows one down for a moment. */
static void gpus_work(struct run *r, int i)
{
    struct host *m = &r->hosts[i];
    m->work_until = lasts(r, i, 300 + (int64_t)random_below(r, 600));
    m->power_ns += random_below(r, 300) * 1000000000;
    m->heat_ns += random_below(r, 20) * 1000000000;
    m->replays += random_below(r, 20);
    m->congestion += random_below(r, 5000000);
    m->discards += random_below(r, 2000);
}

/* The packages are installed, then the driver is unloaded and loaded, without a boot, so its counters begin
 * anew. No work runs meanwhile. */
static void driver_is_upgraded(struct run *r, int i)
{
    struct host *m = &r->hosts[i];
    m->work_until = 0;
    m->replaced_until = lasts(r, i, 10 + (int64_t)random_below(r, 50));
    m->unloaded_until = lasts(r, i, m->replaced_until - now_s(r) + 5 + (int64_t)random_below(r, 115));
    m->registers_until = lasts(r, i, m->unloaded_until - now_s(r) + 45);
    m->corrected = m->replays = m->crc = m->power_ns = m->heat_ns = 0;
    kernel_says(r, i, "nvidia-nvlink: Unregistered the Nvlink Core, major device number 236");
    kernel_says(r, i, "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.133.20");
}

static void link_of_gpus_errs(struct run *r, int i)
{
    lasts(r, i, 1);
    r->hosts[i].crc += 1 + random_below(r, 100);
}

static void subnet_is_swept(struct run *r, int i)
{
    r->hosts[i].sweep_until = lasts(r, i, 5 + (int64_t)random_below(r, 20));
}

static void bit_flips(struct run *r, int i)
{
    lasts(r, i, 1);
    r->hosts[i].corrected += 1 + random_below(r, 20);
    r->hosts[i].symbols += random_below(r, 20);
    kernel_says(r, i, "mce: [Hardware Error]: Machine check events logged");
    kernel_says(r, i, "[Hardware Error]: Corrected error, no action required.");
}

static void node_boots(struct run *r, int i)
{
    struct host *m = &r->hosts[i];
    kernel_log_destroy(m->log);
    m->log = kernel_log_create(r->meanings);
    m->changes = 2;
    m->corrected = m->replays = m->crc = m->power_ns = m->heat_ns = 0;
    m->begins_until = lasts(r, i, 45);
    m->service_until = lasts(r, i, 60);
    m->unsynced_until = lasts(r, i, 300);
    if (m->silent)
        return;
    world_reboot(r->x, i);
    agent_begin(r, i);
    tell(r, i, true, 0);
}

/* The mean time between two on a node, in days; for a switch, on its rack. */
static const struct noise {
    const char *name;
    void (*fn)(struct run *r, int i);
    double every_days;
} noises[] = {{"a lease that was renewed", lease_is_renewed, 0.5},
              {"logs that were turned over", logs_are_turned_over, 1},
              {"packages that were upgraded", packages_are_upgraded, 10},
              {"a clock that was stepped", clock_is_stepped, 10},
              {"a disk that filled", disk_fills, 3},
              {"a peak of load", load_peaks, 1},
              {"a program that crashed", program_crashes, 0.2},
              {"slow storage", storage_is_slow, 2},
              {"work on GPUs", gpus_work, 0.5},
              {"a driver that was upgraded", driver_is_upgraded, 20},
              {"errors of an NVLink", link_of_gpus_errs, 10},
              {"a subnet manager that began anew", subnet_is_swept, 5},
              {"a bit that flipped", bit_flips, 30},
              {"a boot", node_boots, 30}};

enum { NOISES = sizeof noises / sizeof *noises };
_Static_assert((int)NOISES <= (int)NOISES_MAX, "each noise has its next moment");

/* At the earliest in the next second, and at the latest after twice the mean. */
static int64_t next_moment(struct run *r, double mean_days)
{
    return now_s(r) + 1 + (int64_t)random_below(r, (uint64_t)(2 * mean_days * DAY_S));
}

static void make_noise(struct run *r, int i)
{
    struct host *m = &r->hosts[i];
    int64_t now = now_s(r);
    if (i % RACK == 1 && now >= m->switch_at) {
        if (m->switch_at > 0) {
            r->noise = "a switch that booted";
            r->noises++;
            switch_boots(r, i);
        }
        m->switch_at = next_moment(r, SWITCH_DAYS);
    }
    for (size_t k = 0; k < NOISES; k++) {
        if (now < m->noise_at[k])
            continue;
        if (m->noise_at[k] > 0) {
            r->noise = noises[k].name;
            r->noises++;
            noises[k].fn(r, i);
        }
        m->noise_at[k] = next_moment(r, noises[k].every_days);
    }
}

static void controller_begins_anew(struct run *r)
{
    world_lead_anew(r->x);
    for (int i = 1; i <= (int)r->x->n; i++) {
        if (r->hosts[i].silent)
            continue;
        world_open(r->x, i, i);
        tell(r, i, true, 0);
    }
}

/* The noise that ends by itself, and the kernel's messages about it. */
static void storage_ends(struct run *r, int i)
{
    if (r->hosts[i].storage_until == now_s(r)) {
        kernel_says(r, i, "nfs: server nfs01 OK");
        kernel_says(r, i, "Lustre: s-OST0001-osc: Connection restored to s-OST0001 (at 10.0.0.9@o2ib)");
    } else if (r->hosts[i].storage_until > now_s(r) && random_below(r, 5) == 0) {
        kernel_says(r, i, "nfs: server nfs02 not responding, timed out");
    }
}

static void hear(struct run *r, int i)
{
    struct host *m = &r->hosts[i];
    bool silent = m->silent_until > now_s(r);
    if (silent && !m->silent)
        r->x->off[i] = m->silent = true;
    if (silent || !m->silent)
        return;
    m->silent = false;
    world_open(r->x, i, i);
    tell(r, i, true, 0);
}

/* --- the run ------------------------------------------------------------------------------------ */

static void show_incidents(const struct member *m)
{
    const struct ailment *a = member_ailment(m);
    for (size_t i = 0; a && i < a->n_open; i++)
        for (size_t k = 0; k < a->open[i].n; k++)
            printf("    %s, %u times: %s\n", a->open[i].findings[k].check, a->open[i].findings[k].times,
                   a->open[i].findings[k].f.text);
}

static void second(struct run *r)
{
    world_run(r->x, 1);
    for (int i = 1; i <= (int)r->x->n; i++) {
        const struct member *m = r->hosts[i].member;
        make_noise(r, i);
        link_bounces(r, i);
        storage_ends(r, i);
        hear(r, i);
        for (size_t k = 0; k < r->checks.n; k++)
            if (now_s(r) >= r->hosts[i].items[k].next)
                look(r, i, k);
        if (member_severity(m) > r->worst) {
            r->worst = member_severity(m);
            printf("%" PRId64 " s: %s: an incident is %s (after %s)\n", now_s(r), m->name,
                   result_name(r->worst), r->noise);
            show_incidents(m);
        }
        if (member_repair(m)) {
            printf("%" PRId64 " s: %s is isolated: %s\n", now_s(r), m->name, member_repair(m)->why);
            r->isolations++;
        }
    }
    text_clear(&r->x->log);
}

/* Records of the sets for other tools, and for files that are not played, are left out. */
static bool is_played(const struct check *c)
{
    return c->probe == PROBE_IB_DEVICE ||
           (c->probe >= PROBE_NVIDIA_COUNT && c->probe <= PROBE_NVIDIA_RECOVERY &&
            c->probe != PROBE_NVIDIA_IMEX) ||
           (c->probe >= PROBE_IB_PORT && c->probe <= PROBE_IB_CONGESTION);
}

static void add_ready(const char *record, struct text *all)
{
    struct checks one = {0};
    if (checks_parse("a set", record, strlen(record), &one, NULL) == 0 && one.n == 1 &&
        is_played(&one.list[0]))
        text_printf(all, "%s\n", record);
    checks_fini(&one);
}

static void read_checks(struct run *r)
{
    struct err e = {0};
    CLEANUP_TEXT struct text all = {0};
    text_add(&all, "Include=default\n");
#define SET(name, what)
#define READY(set, record, what) add_ready(record, &all);
#include "health/set.tbl"
#undef SET
#undef READY
    if (checks_parse("the sets", all.s, all.len, &r->checks, &e) < 0 || r->checks.n > ITEMS_MAX) {
        puts(e.msg);
        abort();
    }
}

static void begin(struct run *r, size_t nodes)
{
    read_checks(r);
    r->meanings = meanings_read(NULL, NULL);
    r->x = world_create(nodes);
    r->x->policy.health = (struct health_policy){.limits.act = true,
                                                 .limits.percent[SCOPE_CLUSTER] = 100,
                                                 .limits.percent[SCOPE_CLASS] = 100,
                                                 .limits.percent[SCOPE_GROUP] = 100,
                                                 .limits.percent[SCOPE_PARTITION] = 100,
                                                 .limits.surge_window = span_s(600),
                                                 .shared_window = span_s(180),
                                                 .group = span_s(180),
                                                 .examine_deadline = span_s(4 * 3600),
                                                 .provision_deadline = span_s(1800),
                                                 .inconclusive = 2,
                                                 .limits.remedies_a_week = 5,
                                                 .fresh = span_s(120),
                                                 .override = span_s(4 * 3600),
                                                 .meanings = r->meanings,
                                                 .checks = &r->checks};
    watch_set_policy(r->x->w, &r->x->policy);
    r->hosts = mem_alloc((nodes + 1) * sizeof *r->hosts);
    for (int i = 1; i <= (int)nodes; i++) {
        r->hosts[i].log = kernel_log_create(r->meanings);
        r->hosts[i].changes = 2;
        r->hosts[i].member = world_node(r->x, i);
        agent_begin(r, i);
        tell(r, i, true, 0);
    }
}

static void end(struct run *r)
{
    for (size_t i = 1; i <= r->x->n; i++) {
        kernel_log_destroy(r->hosts[i].log);
        for (size_t k = 0; k < r->checks.n; k++)
            memory_destroy(r->hosts[i].items[k].memory);
    }
    free(r->hosts);
    world_destroy(r->x);
    checks_fini(&r->checks);
    meanings_destroy(r->meanings);
}

static int usage(void)
{
    fputs("usage: healthy --days N [--seed S] [--nodes M]\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    uint64_t days = 0, seed = 1, nodes = 100;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        uint64_t *out = strcmp(argv[i], "--days") == 0    ? &days
                        : strcmp(argv[i], "--seed") == 0  ? &seed
                        : strcmp(argv[i], "--nodes") == 0 ? &nodes
                                                          : NULL;
        if (!out || text_parse_u64(value, 1, out == &nodes ? NODES : 100000, out, NULL) < 0)
            return usage();
    }
    if (!days)
        return usage();
    struct run r = {
        .worst = RESULT_WARN, .random = seed * UINT64_C(88172645463325252) + 1, .noise = "the start"};
    begin(&r, nodes);
    for (uint64_t s = 0; s < days * DAY_S; s++) {
        if (random_below(&r, 2 * DAY_S) == 0)
            controller_begins_anew(&r);
        second(&r);
    }
    printf("%" PRIu64 " node-days, %" PRIu64 " noises; findings said: %" PRIu64 " info, %" PRIu64
           " warn, %" PRIu64 " degraded, %" PRIu64 " fatal, %" PRIu64
           " lost; no incident worse than %s; %zu isolations\n",
           days * nodes, r.noises, r.said[RESULT_INFO], r.said[RESULT_WARN], r.said[RESULT_DEGRADED],
           r.said[RESULT_FATAL], r.said[RESULT_LOST], result_name(r.worst), r.isolations);
    bool good = r.isolations == 0 && r.worst == RESULT_WARN &&
                r.said[RESULT_DEGRADED] + r.said[RESULT_FATAL] + r.said[RESULT_LOST] == 0;
    end(&r);
    return good ? 0 : 1;
}
