/* SPDX-License-Identifier: Apache-2.0 */
#include "api/world_test.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BOOT "01234567-89ab-cdef-0123-456789abcdef"

static const struct wall THEN = {INT64_C(1794000000) * 1000000000}; /* 2026-11-06 */

static const struct watch_policy policy = {
    .plain = {{INT64_C(30) * 1000000000}, {INT64_C(90) * 1000000000}},
    .sensitive = {{INT64_C(30) * 1000000000}, {INT64_C(210) * 1000000000}},
    .borrowed = {{INT64_C(30) * 1000000000}, {INT64_C(120) * 1000000000}},
    .quiet = {INT64_C(30) * 1000000000},
    .silent_share_percent = 50,
    .conform = {.stale = {INT64_C(25) * 3600 * 1000000000},
                .timeout = {INT64_C(24) * 3600 * 1000000000},
                .sensitive = {INT64_C(4) * 3600 * 1000000000},
                .drift_share_percent = 25},
    .health = {.limits.act = true,
               .limits.percent[SCOPE_CLUSTER] = 5,
               .limits.percent[SCOPE_CLASS] = 50,
               .limits.percent[SCOPE_GROUP] = 50,
               .limits.percent[SCOPE_PARTITION] = 50,
               .limits.surge = 10,
               .limits.surge_window = {INT64_C(600) * 1000000000},
               .shared = 5,
               .shared_window = {INT64_C(180) * 1000000000},
               .group = {INT64_C(180) * 1000000000},
               .examine_deadline = {INT64_C(4) * 3600 * 1000000000},
               .provision_deadline = {INT64_C(1800) * 1000000000},
               .inconclusive = 3,
               .limits.remedies_a_week = 5,
               .fresh = {INT64_C(120) * 1000000000},
               .override = {INT64_C(4) * 3600 * 1000000000},
               .cost = {.minute = 1000, .disturb = 200, .person = 240000, .scarce = 100}},
    .judge = true,
};

static bool on_propose(void *arg, const struct command *cmd)
{
    return true;
}

static void on_notice(void *arg, const char *what, const char *nodes, const char *text)
{
}

static void on_alarm(void *arg, const struct alarm *a, const char *over)
{
}

static void specify(struct roster_node *n, const char *name, const char *settings)
{
    n->name = mem_dup(name);
    spec_init(&n->spec);
    CLEANUP_FREE char *copy = mem_dup(settings);
    char *rest = copy;
    for (char *item; (item = strsep(&rest, " "));) {
        char *key = strsep(&item, "=");
        enum field f;
        assert_int_equal(field_find(key, &f, NULL), 0);
        assert_int_equal(spec_set(&n->spec, f, item, PARTITION_MAX, NULL), 0);
    }
}

static void add_partition(struct roster *r, unsigned number, const char *name, bool is_default)
{
    r->partitions = mem_grow(r->partitions, (r->n_partitions + 1) * sizeof *r->partitions);
    r->partitions[r->n_partitions++] = (struct partition){number, mem_dup(name), is_default};
}

static void put(struct world *w, const char *key, const char *value)
{
    struct err e = {0};
    int rc = cluster_put(w->cluster, key, value, &e);
    if (rc < 0)
        print_error("%s: %s\n", key, e.msg);
    assert_int_equal(rc, 0);
}

static void put_claim(struct world *w, const char *id, const char *kind, const char *owner,
                      const char *reason, const char *nodes)
{
    CLEANUP_TEXT struct text key = {0}, value = {0};
    text_printf(&key, "claim/%s", id);
    text_printf(&value, "{\"kind\":\"%s\",\"owner\":\"%s\",\"reason\":", kind, owner);
    text_add_json(&value, reason);
    text_printf(&value, ",\"since\":\"%lld\",\"nodes\":\"%s\",\"drained\":\"\"}", (long long)THEN.ns, nodes);
    put(w, key.s, value.s);
}

static void hear(struct world *w, const char *name, uint64_t seq, const char *work)
{
    struct member *m = cluster_meet(w->cluster, name);
    CLEANUP_JSON json_t *running = work ? json_read(work, strlen(work), NULL) : NULL;
    struct heartbeat h = {.instance = 7, .seq = seq, .boot = BOOT, .work = running, .uptime_s = 3600};
    assert_int_equal(watch_heartbeat(w->watch, w->now, w->wall, m, &h, NULL), 0);
}

static void join(struct world *w, const char *name, const char *collector, const char *work,
                 const char *inventory)
{
    struct member *m = cluster_meet(w->cluster, name);
    struct hello h = {.name = name, .version = "0.1.0", .boot = BOOT, .instance = 7, .inventory = ""};
    bool want;
    void *old;
    assert_int_equal(watch_open(w->watch, w->now, m, &h, w,
                                collector ? cluster_find(w->cluster, collector) : NULL, &want, &old, NULL),
                     0);
    hear(w, name, 1, work);
    if (!inventory)
        return;
    CLEANUP_TEXT struct text message = {0};
    text_printf(&message, "{\"hash\":\"0123456789abcdef\",\"full\":true,\"set\":%s}", inventory);
    CLEANUP_JSON json_t *body = json_read(message.s, message.len, NULL);
    assert_int_equal(watch_inventory(w->watch, m, body, NULL), 0);
}

/* Time passes as it does for a controller: in ticks. */
static void pass(struct world *w, int seconds)
{
    for (int i = 0; i < seconds * 1000 / WATCH_TICK_MS; i++) {
        w->now = mono_add(w->now, span_ms(WATCH_TICK_MS));
        w->wall.ns += span_ms(WATCH_TICK_MS).ns;
        watch_tick(w->watch, w->now, w->wall);
        while (watch_step(w->watch, 100))
            ;
    }
}

static struct world world_begin(struct mono now)
{
    struct world w = {.now = now, .wall = THEN};
    w.cluster = cluster_create();
    return w;
}

static void world_watch(struct world *w)
{
    struct watch_sink sink = {NULL, on_propose, on_notice, on_alarm};
    struct watch_policy p = policy;
    p.health.checks = w->checks;
    p.health.remedies = w->remedies;
    p.health.meanings = w->meanings;
    w->watch = watch_create(w->cluster, &p, w->now, &sink);
}

static void configure(struct world *w)
{
    static const char *const settings[] = {"OS=Linux.6.1 CPUs=4 RealMemory=1024 Partition=1,3",
                                           "CPUs=4 Speed=863.8 Partition=1",
                                           "OS=Linux.2.4.7-10 CPUs=2 Speed=863.05 TmpDisk=100",
                                           "CPUs=4 Sensitive=yes Partition=1,63,64,255",
                                           "Borrowed=yes Partition=",
                                           "CPUs=1 Partition=1"};
    enum { NODES = sizeof settings / sizeof settings[0] };
    struct roster r = {.n = NODES, .partition_max = PARTITION_MAX};
    r.nodes = mem_alloc(NODES * sizeof *r.nodes);
    for (size_t i = 0; i < NODES; i++) {
        char name[] = "lx00";
        name[3] = (char)('1' + i);
        specify(&r.nodes[i], name, settings[i]);
    }
    add_partition(&r, 1, "batch", true);
    add_partition(&r, 3, "debug", false);
    add_partition(&r, 7, "empty", false);
    classes_finish(&r.classes);
    cluster_configure(w->cluster, &r, NULL);
}

struct world world_make(struct mono now)
{
    struct world w = world_begin(now);
    configure(&w);
    for (int i = '1'; i <= '6'; i++) {
        char key[] = "node/lx00";
        key[8] = (char)i;
        if (i != '3')
            put(&w, key, "{\"admitted\":\"1\"}");
    }
    put(&w, "edit/lx01", "{\"set\":{\"Speed\":\"100\"},\"by\":\"root\",\"at\":\"1\"}");
    put_claim(&w, "10", "drain", "ann", "fan \"3\" is loud", "lx[02,05]");
    put_claim(&w, "9", "drain", "root", "bad DIMM", "lx02");
    put_claim(&w, "11", "down", "root", "moved", "lx05");
    put_claim(&w, "12", "silent", "fettled", "silent past its grace", "lx06");
    world_watch(&w);

    join(&w, "lx04", NULL, NULL, "{\"OS\":\"Linux.6.1.0\",\"CPUs\":2}");
    pass(&w, 32);
    join(&w, "lx01", NULL, "[]",
         "{\"OS\":\"Linux.6.1.0-13-amd64\",\"Arch\":\"x86_64\",\"CPUs\":4,\"Sockets\":1,\"Cores\":2,"
         "\"Threads\":2,"
         "\"Speed\":2100.5,\"RealMemory\":2048,\"VirtualMemory\":4096,\"TmpDisk\":999,\"GPUs\":[],\"NICs\":[{"
         "}],"
         "\"Disks\":[{},{}]}");
    join(&w, "lx02", NULL, "[\"job 1\",\"job \\\"2\\\"\"]", "{\"CPUs\":8,\"Speed\":900}");
    join(&w, "lx05", NULL, "[]", NULL);
    join(&w, "odd", "lx01", "[]", "{\"OS\":\"Linux \\\"odd\\\"\"}");
    pass(&w, 3);
    return w;
}

struct world world_make_large(size_t n, struct mono now)
{
    struct world w = world_begin(now);
    struct roster r = {.n = n, .partition_max = PARTITION_MAX};
    r.nodes = mem_alloc(n * sizeof *r.nodes);
    for (size_t i = 0; i < n; i++) {
        CLEANUP_TEXT struct text name = {0};
        text_printf(&name, "n%05zu", i + 1);
        specify(&r.nodes[i], name.s, "OS=Linux.6.1 CPUs=64 RealMemory=256000 Partition=1,2");
    }
    classes_finish(&r.classes);
    cluster_configure(w.cluster, &r, NULL);
    world_watch(&w);
    for (size_t i = 0; i < n; i++) {
        const char *name = cluster_at(w.cluster, i)->name;
        CLEANUP_TEXT struct text key = {0};
        text_printf(&key, "node/%s", name);
        put(&w, key.s, "{\"admitted\":\"1\"}");
        join(&w, name, NULL, "[]", "{\"OS\":\"Linux.6.1.0-13-amd64\",\"CPUs\":64,\"RealMemory\":257000}");
    }
    return w;
}

/* --- conformance ------------------------------------------------------------------------------- */

struct part {
    const char *name, *value; /* value NULL: unknown; "-": absent */
};

/* What is right, and what each other kind of node has in its place. */
static const struct part right[] = {
    {"bios.version", "2.1"},
    {"gpu.0000:3b:00.0.vbios", "96.00"},
    {"gpu.count", "1"},
    {"gpu.driver", "550.54.14"},
    {"kernel.release", "6.1.0-13"},
    {"module.lustre", "2.15"},
    {"package.slurm-wlm", "22.05"},
    {"setting.smt", "off"},
    {"sysctl.vm.swappiness", "10"},
};
enum { PARTS = sizeof right / sizeof right[0] };

static const struct part older[] = {{"gpu.driver", "535.129.03"}, {NULL, NULL}};
static const struct part drifted[] = {
    {"gpu.driver", "535.129.03"}, {"module.lustre", "-"}, {"sysctl.vm.swappiness", "60"}, {NULL, NULL}};
static const struct part also_drifted[] = {{"gpu.driver", "535.129.03"}, {"setting.smt", "on"}, {NULL, NULL}};
static const struct part unreadable[] = {{"bios.version", NULL}, {"gpu.driver", "535.129.03"}, {NULL, NULL}};
static const struct part newer[] = {
    {"gpu.driver", "555.42.02"}, {"kernel.release", "6.1.0-20"}, {NULL, NULL}};

struct world_list {
    char hex[FINGERPRINT_HEX + 1];
    struct text json; /* as components_format */
};

static void add_component(struct components *list, const struct part *p)
{
    enum component_state state = COMPONENT_VALUE;
    const char *value = p->value;
    if (!value) {
        state = COMPONENT_UNKNOWN;
        value = "permission \"denied\"";
    } else if (strcmp(value, "-") == 0) {
        state = COMPONENT_ABSENT;
        value = "";
    }
    assert_int_equal(components_add(list, p->name, state, value, NULL), 0);
}

/* The list of a node that is right but for these, and has so many modules more of this version. */
static struct world_list make_list(const struct part *instead, size_t modules, const char *version)
{
    struct components list = {0};
    struct world_list made = {.hex = ""};
    for (size_t i = 0; i < PARTS; i++) {
        const struct part *p = &right[i];
        for (const struct part *x = instead; x && x->name; x++)
            if (strcmp(x->name, right[i].name) == 0)
                p = x;
        add_component(&list, p);
    }
    for (size_t i = 0; i < modules; i++) {
        CLEANUP_TEXT struct text name = {0};
        text_printf(&name, "module.m%03zu", i);
        add_component(&list, &(struct part){name.s, version});
    }
    assert_int_equal(components_sort(&list, NULL), 0);
    struct fingerprint id = components_fingerprint(&list);
    fingerprint_format(&id, made.hex);
    components_format(&list, &made.json);
    components_fini(&list);
    return made;
}

static void made_fini(struct world_list *m)
{
    text_fini(&m->json);
}

/* The node says what it is; who is asked sends the list, in one part. */
static void show(struct world *w, const char *name, const struct world_list *made)
{
    struct member *m = cluster_find(w->cluster, name);
    bool want;
    assert_int_equal(watch_fingerprint(w->watch, w->now, m, made->hex, &want, NULL), 0);
    if (!want)
        return;
    CLEANUP_JSON json_t *body = json_read(made->json.s, made->json.len, NULL);
    json_object_set_new(body, "fingerprint", json_string(made->hex));
    json_object_set_new(body, "part", json_integer(0));
    json_object_set_new(body, "parts", json_integer(1));
    assert_int_equal(watch_components(w->watch, w->now, m, body, NULL), 0);
}

static int64_t days_before(int days)
{
    return THEN.ns - span_s(INT64_C(86400) * days).ns;
}

static void put_seen(struct world *w, const char *name, const struct world_list *made, int days,
                     const char *history)
{
    CLEANUP_TEXT struct text key = {0}, value = {0};
    text_printf(&key, "seen/%s", name);
    text_printf(&value, "{\"fingerprint\":\"%s\",\"since\":\"%lld\",\"history\":[%s]}", made->hex,
                (long long)days_before(days), history);
    put(w, key.s, value.s);
}

static void put_list(struct world *w, const struct world_list *made)
{
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "list/%s", made->hex);
    put(w, key.s, made->json.s);
}

static void add_version(struct text *t, int version, const struct world_list *made, const char *node,
                        int days, const char *note)
{
    text_printf(
        t, "\"version\":%d,\"fingerprint\":\"%s\",\"node\":\"%s\",\"by\":\"root\",\"at\":\"%lld\",\"note\":",
        version, made->hex, node, (long long)days_before(days));
    text_add_json(t, note);
}

static void put_baseline(struct world *w, const struct world_list *now, const struct world_list *before,
                         const struct world_list *rolled)
{
    CLEANUP_TEXT struct text t = {0};
    text_add_char(&t, '{');
    add_version(&t, 3, now, "gx1", 9, "after the \"big\" update");
    text_add(&t, ",\"history\":[{");
    add_version(&t, 2, before, "gx4", 100, "");
    text_add(&t, "},{");
    add_version(&t, 1, now, "gx1", 200, "first");
    text_printf(
        &t,
        "}],\"rollout\":{\"fingerprint\":\"%s\",\"node\":\"gx8\",\"nodes\":\"gx[6-8]\",\"by\":\"ann\","
        "\"at\":\"%lld\",\"deadline\":\"%lld\",\"note\":\"555\"}}",
        rolled->hex, (long long)days_before(1), (long long)(days_before(0) + span_s(86400).ns));
    put(w, "baseline/gpu", t.s);
}

static void put_drift(struct world *w, const char *name, const struct world_list *expected,
                      const struct world_list *actual, const char *named, int count, const char *state)
{
    CLEANUP_TEXT struct text key = {0}, value = {0};
    text_printf(&key, "drift/%s", name);
    text_printf(
        &value,
        "{\"class\":\"gpu\",\"version\":3,\"expected\":\"%s\",\"actual\":\"%s\",\"severity\":\"major\","
        "\"named\":\"%s\",\"count\":%d,\"since\":\"%lld\",\"boot\":\"" BOOT "\",\"state\":\"%s\"}",
        expected->hex, actual->hex, named, count, (long long)days_before(0), state);
    put(w, key.s, value.s);
}

static void add_class(struct roster *r, const char *name, const char *nodes)
{
    const struct class_key keys[] = {{"Class", name},
                                     {"Nodes", nodes},
                                     {"Ignore", "package.*"},
                                     {"Drifted", "exclude"},
                                     {"Reboot", "yes"}};
    assert_int_equal(classes_add(&r->classes, keys, nodes ? 5 : 1, PARTITION_MAX, NULL), 0);
}

static void configure_classes(struct world *w)
{
    static const char *const names[] = {"gx1", "gx2", "gx3", "gx4", "gx5", "gx6",
                                        "gx7", "gx8", "cx1", "cx2", "cx3"};
    enum { NODES = sizeof names / sizeof names[0] };
    struct roster r = {.n = NODES, .partition_max = PARTITION_MAX};
    r.nodes = mem_alloc(NODES * sizeof *r.nodes);
    for (size_t i = 0; i < NODES; i++)
        specify(&r.nodes[i], names[i],
                strcmp(names[i], "gx7") == 0 ? "CPUs=4 Partition=1 Sensitive=yes" : "CPUs=4 Partition=1");
    add_class(&r, "gpu", "gx[1-8]");
    add_class(&r, "cpu", "cx[1-3]");
    classes_finish(&r.classes);
    cluster_configure(w->cluster, &r, NULL);
}

struct world world_make_classes(struct mono now)
{
    struct world w = world_begin(now);
    struct world_list good = make_list(NULL, 0, NULL), old = make_list(older, 0, NULL),
                      bad = make_list(drifted, 0, NULL), worse = make_list(also_drifted, 0, NULL),
                      dark = make_list(unreadable, 0, NULL), new = make_list(newer, 0, NULL);
    const struct {
        const char *name;
        const struct world_list *is;
    } shown[] = {{"gx1", &good}, {"gx2", &good}, {"gx3", &bad}, {"gx4", &worse}, {"gx5", &dark},
                 {"gx7", &good}, {"gx8", &new},  {"cx1", &old}, {"cx2", &old},   {"cx3", &new}};
    configure_classes(&w);
    put_list(&w, &good);
    put_list(&w, &old);
    put_list(&w, &new);
    put_baseline(&w, &good, &old, &new);
    CLEANUP_TEXT struct text history = {0};
    text_printf(
        &history,
        "{\"fingerprint\":\"%s\",\"since\":\"%lld\",\"named\":\"gpu.driver, module.lustre\",\"count\":2},"
        "{\"fingerprint\":\"%s\",\"since\":\"%lld\",\"named\":\"sysctl.vm.swappiness\",\"count\":1}",
        good.hex, (long long)days_before(30), old.hex, (long long)days_before(60));
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        CLEANUP_TEXT struct text key = {0};
        text_printf(&key, "node/%s", shown[i].name);
        put(&w, key.s, "{\"admitted\":\"1\"}");
        put_seen(&w, shown[i].name, shown[i].is, 3, i == 2 ? history.s : "");
    }
    put_drift(&w, "gx3", &good, &bad, "gpu.driver, module.lustre", 3, "open");
    put_drift(&w, "gx7", &good, &worse, "gpu.driver, setting.smt", 2, "remedied");
    put_claim(&w, "20", "drift", "fettled", "drifted: gpu.driver", "gx[3,7]");
    world_watch(&w);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        join(&w, shown[i].name, NULL, strcmp(shown[i].name, "gx2") == 0 ? "[\"job 7\"]" : "[]",
             "{\"OS\":\"Linux.6.1.0\",\"CPUs\":4}");
        show(&w, shown[i].name, shown[i].is);
    }
    pass(&w, 3);
    struct world_list *all[] = {&good, &old, &bad, &worse, &dark, &new};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        made_fini(all[i]);
    return w;
}

void world_show(struct world *w, size_t kinds, size_t modules)
{
    struct world_list *all = mem_alloc(kinds * sizeof *all);
    for (size_t i = 0; i < kinds; i++) {
        CLEANUP_TEXT struct text version = {0};
        text_printf(&version, "6.1.0-%zu", i);
        const struct part instead[] = {{"kernel.release", version.s}, {NULL, NULL}};
        all[i] = make_list(instead, modules, version.s);
    }
    for (size_t i = 0; i < cluster_count(w->cluster); i++)
        show(w, cluster_at(w->cluster, i)->name, &all[i % kinds]);
    pass(w, 1);
    for (size_t i = 0; i < kinds; i++)
        made_fini(&all[i]);
    free(all);
}

void world_change(struct world *w, const char *name)
{
    struct world_list new = make_list(newer, 0, NULL);
    show(w, name, &new);
    made_fini(&new);
}

/* --- health and repair ------------------------------------------------------------------------ */

static const char CHECKS[] = "Check=fs.space Path=/ Free=10% Every=60s\n"
                             "Check=kernel.log Severity=fatal\n"
                             "Check=scratch Probe=fs.mounted Path=/scratch Severity=fatal Observe=yes\n"
                             "Check=fs.mounted Path=/home Classes=cpu\n";
static const char REMEDIES[] =
    "Remedy=cycle Run=power.cycle Helps=xid.79,node.lost Confidence=65% Because=\"it came back in two of "
    "three cases\" Takes=12m Approval=yes\n"
    "Remedy=reboot Run=reboot Helps=*,!disk.* Confidence=50% Because=\"most software faults\" Takes=10m\n"
    "Remedy=restart.slurmd Run=\"node:systemctl restart slurmd\" Helps=service.slurmd Classes=gpu "
    "Confidence=70% Because=\"a \\\"quoted\\\" word\" Takes=30s Disturbs=0 Dry=yes\n"
    "Remedy=renew Run=replace Helps=* Confidence=95% Because=\"a new machine\" Takes=1h\n";

static void read_health(struct world *w)
{
    struct err e = {0};
    w->checks = mem_alloc(sizeof *w->checks);
    w->remedies = mem_alloc(sizeof *w->remedies);
    w->meanings = meanings_read(NULL, &e);
    if (!w->meanings || checks_parse("checks", CHECKS, strlen(CHECKS), w->checks, &e) < 0 ||
        remedies_parse("remedies", REMEDIES, strlen(REMEDIES), w->remedies, &e) < 0)
        fail_msg("%s", e.msg);
}

/* Single quotes for double ones. */
static void put_quoted(struct world *w, const char *kind, const char *name, const char *value)
{
    CLEANUP_TEXT struct text key = {0};
    CLEANUP_FREE char *copy = mem_dup(value);
    text_printf(&key, "%s/%s", kind, name);
    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    put(w, key.s, copy);
}

#define INCIDENT(id, group, severity, act, closed, findings)                                           \
    "{'id':'" id "','group':'" group "','severity':'" severity "','act':'" act                         \
    "','since':'1793990000000000000','last':'1793990060000000000','closed':'" closed "','boot':'" BOOT \
    "','count':2,'recurs':1,'observe':false,'findings':[" findings "]}"
#define FINDING(check, result, device, code, text)                                                     \
    "{'check':'" check "','result':'" result "','device':'" device "','code':'" code "','text':'" text \
    "','at':'1793990060000000000'}"
#define GPU_LOST FINDING("kernel.log", "fatal", "gpu 0000:9b:00", "xid.79", "GPU has fallen off the bus")
#define FULL FINDING("fs.space", "fatal", "/", "", "97 % of / is used")
#define ATTEMPT(remedy, done, text, verdict)                                                            \
    "{'remedy':'" remedy "','fault':'xid.79','at':'1793991000000000000','ended':'1793991600000000000'," \
    "'done':" done ",'text':'" text "','verdict':'" verdict "'}"

static void put_ill(struct world *w, const char *name, const char *open, const char *past)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{'open':[%s],'past':[%s]}", open, past);
    put_quoted(w, "health", name, t.s);
}

static void put_step(struct world *w, const char *name, const char *id, const char *step, const char *rest)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t,
                "{'id':'%s','step':'%s','began':'1793990100000000000','since':'1793990200000000000',"
                "'deadline':'%s','boot':'" BOOT "','instance':'7','problem':'node_problem',"
                "'why':'xid.79: GPU has fallen off the bus','operation':'','examined':'not',"
                "'inconclusive':0,'manual':false,%s}",
                id, step, strcmp(step, "provision") == 0 ? "1793992000000000000" : "0", rest);
    put_quoted(w, "repair", name, t.s);
    if (strcmp(step, "none") != 0)
        put_claim(w, id, "repair", "fettled", "[node_problem] xid.79: GPU has fallen off the bus", name);
}

#define REST(remedy, approval, taken, attempts, notes)                                  \
    "'remedy':'" remedy "','approval':'" approval "','approver':null,'taken_by':" taken \
    ",'attempts':[" attempts "],'notes':[" notes "]"

static void put_patients(struct world *w)
{
    const char *lost = INCIDENT("1.1.1", "gpu 0000:9b:00", "fatal", "reset", "0", GPU_LOST);
    put_ill(w, "hx2", lost, "");
    put_step(w, "hx2", "30", "isolate", REST("", "none", "null", "", ""));
    put_ill(w, "hx3", INCIDENT("1.2.1", "gpu 0000:9b:00", "fatal", "hardware", "0", GPU_LOST "," FULL), "");
    put_step(w, "hx3", "31", "queue",
             REST("", "none", "'ann'",
                  ATTEMPT("reboot", "true", "", "-") "," ATTEMPT("cycle", "false", "the BMC is silent", "0"),
                  "{'at':'1793992000000000000','by':'ann','text':'a new GPU is ordered'}"));
    put_ill(w, "hx4", lost, "");
    put_step(w, "hx4", "32", "remedy", REST("cycle", "wanted", "null", "", ""));
    put_step(w, "hx5", "33", "provision",
             REST("reboot", "none", "null", ATTEMPT("reboot", "true", "", "?"), ""));
    put_ill(w, "hx6", "", INCIDENT("1.3.1", "/", "fatal", "reboot", "1793990500000000000", FULL));
    put_step(w, "hx6", "34", "none", REST("", "none", "null", ATTEMPT("reboot", "true", "", "+"), ""));
    put_ill(w, "hx5", "",
            INCIDENT("1.4.1", "/", "degraded", "watch", "1793990500000000000",
                     FINDING("fs.space", "degraded", "/", "", "91 % of / is used")));
    put_ill(w, "hx7", lost, "");
    put_step(w, "hx7", "35", "replace", REST("renew", "wanted", "null", "", ""));
    put_step(w, "hx8", "36", "quarantine", REST("", "none", "null", "", ""));
    put_quoted(w, "shared", "fs.mounted mount /scratch",
               "{'nodes':'hx[1-4]','why':'4 of 4 nodes of group 3 run it','since':'1793990000000000000',"
               "'severity':'fatal'}");
    put_quoted(w, "switch", "stop", "{'on':true,'by':'root','at':'1793990000000000000','why':'cooling'}");
    put_quoted(w, "tally", "reboot", "{'counts':{'xid.79 gpu':[3,5]}}");
}

static void tell_checks(struct world *w, const char *name, const char *checks)
{
    CLEANUP_TEXT struct text t = {0};
    bool want;
    struct err e = {0};
    text_printf(&t, "{\"boot\":\"" BOOT "\",\"list\":\"\",\"full\":true,\"checks\":%s}", checks);
    CLEANUP_JSON json_t *body = json_read(t.s, t.len, NULL);
    if (watch_checks(w->watch, w->now, w->wall, cluster_find(w->cluster, name), body, &want, &e) < 0)
        fail_msg("%s", e.msg);
}

#define SAID(check, rest) "{\"check\":\"" check "\",\"age_ms\":0," rest "}"
#define WELL "[" SAID("fs.space", "\"result\":\"ok\"") "," SAID("kernel.log", "\"result\":\"ok\"") "]"

static void configure_patients(struct world *w, const char *prefix, size_t n, const char *class)
{
    struct roster r = {.n = n, .partition_max = PARTITION_MAX};
    r.nodes = mem_alloc(n * sizeof *r.nodes);
    CLEANUP_TEXT struct text all = {0};
    for (size_t i = 0; i < n; i++) {
        CLEANUP_TEXT struct text name = {0};
        text_printf(&name, "%s%zu", prefix, i + 1);
        specify(&r.nodes[i], name.s, "CPUs=4 Partition=1");
    }
    text_printf(&all, "%s[1-%zu]", prefix, n);
    add_class(&r, class, all.s);
    classes_finish(&r.classes);
    r.tenants = mem_alloc(sizeof *r.tenants);
    r.tenants[r.n_tenants++] = (struct tenant){mem_dup("physics"), 2, QUOTA_NONE};
    r.sensitive_pool = 8;
    cluster_configure(w->cluster, &r, NULL);
}

struct world world_make_ill(struct mono now)
{
    enum { PATIENTS = 9 };
    struct world w = world_begin(now);
    read_health(&w);
    configure_patients(&w, "hx", PATIENTS, "gpu");
    for (int i = 1; i <= PATIENTS; i++) {
        char key[] = "node/hx0";
        key[7] = (char)('0' + i);
        put(&w, key, "{\"admitted\":\"1\"}");
    }
    put_patients(&w);
    world_watch(&w);
    for (int i = 1; i <= PATIENTS; i++) {
        char name[] = "hx0";
        name[2] = (char)('0' + i);
        if (i == 6)
            continue;
        join(&w, name, NULL, i == 2 ? "[\"job 7\"]" : "[]", "{\"CPUs\":4}");
        tell_checks(&w, name, WELL);
    }
    tell_checks(&w, "hx2",
                "[" SAID("fs.space", "\"result\":\"ok\",\"text\":\"41 % of / is used\"") "," SAID(
                    "kernel.log", "\"result\":\"fatal\",\"findings\":[{\"result\":\"fatal\",\"device\":"
                                  "\"gpu 0000:9b:00\",\"code\":\"xid.79\",\"text\":\"GPU has fallen off "
                                  "the bus\"}]") "]");
    tell_checks(&w, "hx9",
                "[" SAID("scratch", "\"result\":\"fatal\",\"findings\":[{\"result\":\"fatal\",\"text\":"
                                    "\"/scratch is \\\"stale\\\"\"}]") "]");
    pass(&w, 2);
    return w;
}

struct world world_make_ill_large(size_t n, struct mono now)
{
    enum { ILL_ONE_IN = 100 };
    struct world w = world_begin(now);
    read_health(&w);
    configure_patients(&w, "n", n, "gpu");
    for (size_t i = 1; i <= n; i += ILL_ONE_IN) {
        CLEANUP_TEXT struct text name = {0}, id = {0};
        text_printf(&name, "n%zu", i);
        text_printf(&id, "40.%zu", i);
        put_ill(&w, name.s, INCIDENT("1.1.1", "gpu 0000:9b:00", "fatal", "reset", "0", GPU_LOST "," FULL),
                "");
        put_step(&w, name.s, id.s, "queue", REST("", "none", "null", "", ""));
    }
    world_watch(&w);
    for (size_t i = 1; i <= n; i++) {
        CLEANUP_TEXT struct text name = {0};
        text_printf(&name, "n%zu", i);
        join(&w, name.s, NULL, "[]", NULL);
        tell_checks(&w, name.s, WELL);
    }
    return w;
}

void world_destroy(struct world *w)
{
    watch_destroy(w->watch);
    cluster_destroy(w->cluster);
    if (w->checks)
        checks_fini(w->checks);
    if (w->remedies)
        remedies_fini(w->remedies);
    free(w->checks);
    free(w->remedies);
    meanings_destroy(w->meanings);
}
