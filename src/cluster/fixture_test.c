/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"
#include "cluster/said_test.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int last_rc;
static size_t last_parts;
static bool last_takes_out;
static char last_about[256], last_fields[1024];

static void class_parse(char *words, struct roster *r)
{
    struct class_key keys[16];
    struct err e;
    size_t n = 0;
    keys[n++] = (struct class_key){"Class", strsep(&words, " ")};
    for (char *word; words && (word = strsep(&words, " "));) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        keys[n++] = (struct class_key){word, value};
    }
    if (classes_add(&r->classes, keys, n, 31, &e) < 0)
        fprintf(stderr, "%s\n", e.msg), abort();
}

static uint32_t number_parse(const char *text)
{
    uint64_t n;
    assert(text_parse_u64(text, 0, UINT32_MAX, &n, NULL) == 0);
    return (uint32_t)n;
}

/* "physics Nodes=64 Allocations=10" */
static void tenant_parse(char *words, struct roster *r)
{
    struct tenant t = {mem_dup(strsep(&words, " ")), QUOTA_NONE, QUOTA_NONE};
    for (char *word; words && (word = strsep(&words, " "));)
        *(strncmp(word, "Nodes=", 6) == 0 ? &t.nodes : &t.allocations) = number_parse(strchr(word, '=') + 1);
    r->tenants = mem_grow(r->tenants, (r->n_tenants + 1) * sizeof *r->tenants);
    r->tenants[r->n_tenants++] = t;
}

static void roster_parse(const char *text, struct roster *r)
{
    CLEANUP_FREE char *copy = mem_dup(text);
    char *rest = copy;
    *r = (struct roster){.partition_max = 31};
    for (char *line; (line = strsep(&rest, ";"));) {
        line += strspn(line, " ");
        char *fields = line;
        char *list = strsep(&fields, " ");
        CLEANUP_HOSTLIST struct hostlist names = {0};
        if (!*list)
            continue;
        if (strcmp(list, "class") == 0) {
            class_parse(fields, r);
            continue;
        }
        if (strcmp(list, "tenant") == 0) {
            tenant_parse(fields, r);
            continue;
        }
        if (strcmp(list, "pool") == 0) {
            r->sensitive_pool = number_parse(fields);
            continue;
        }
        if (strcmp(list, "wipes") == 0) {
            r->wipes = true;
            continue;
        }
        if (strcmp(list, "ochami") == 0) {
            r->tells_drift = true;
            continue;
        }
        assert(hostlist_parse(list, &names, NULL) == 0);
        struct spec s;
        spec_init(&s);
        for (char *word; fields && (word = strsep(&fields, " "));) {
            enum field f;
            char *value = strchr(word, '=');
            *value++ = '\0';
            assert(field_find(word, &f, NULL) == 0);
            assert(spec_set(&s, f, value, 31, NULL) == 0);
        }
        r->nodes = mem_grow(r->nodes, (r->n + names.n) * sizeof *r->nodes);
        for (size_t i = 0; i < names.n; i++) {
            struct roster_node *n = &r->nodes[r->n++];
            n->name = mem_dup(names.names[i]);
            spec_init(&n->spec);
            spec_copy(&n->spec, &s);
        }
        spec_fini(&s);
    }
    classes_finish(&r->classes);
}

void world_configure(struct world *w, const char *roster, struct text *changes)
{
    struct roster r;
    roster_parse(roster, &r);
    cluster_configure(w->c, &r, changes);
}

void world_compare(const struct world *w, const char *roster, struct text *changes)
{
    struct roster r;
    roster_parse(roster, &r);
    cluster_compare(w->c, &r, changes);
    roster_fini(&r);
}

static void record(struct world *w, const char *key, const char *value)
{
    size_t i = 0;
    while (i < w->n && strcmp(w->records[i].key, key) != 0)
        i++;
    if (i < w->n) {
        free(w->records[i].key);
        free(w->records[i].value);
        w->records[i] = w->records[--w->n];
    }
    if (!value)
        return;
    w->records = mem_grow(w->records, (w->n + 1) * sizeof *w->records);
    w->records[w->n].key = mem_dup(key);
    w->records[w->n++].value = mem_dup(value);
}

struct world *world_create(void)
{
    struct world *w = mem_alloc(sizeof *w);
    w->c = cluster_create();
    w->at = 1000;
    world_configure(w, "lx[01-06] CPUs=2", NULL);
    world_do(w, COMMAND_ADMIT, "fettled", "lx[01-06]", NULL, NULL);
    return w;
}

void world_destroy(struct world *w)
{
    for (size_t i = 0; i < w->n_lists; i++) {
        listing_unref(cluster_listings(w->c), w->lists[i].listing);
        free(w->lists[i].name);
    }
    free(w->lists);
    cluster_destroy(w->c);
    for (size_t i = 0; i < w->n; i++) {
        free(w->records[i].key);
        free(w->records[i].value);
    }
    free(w->records);
    free(w);
}

int world_setup(void **state)
{
    *state = world_create();
    return 0;
}

int world_conform_setup(void **state)
{
    *state = world_conform();
    return 0;
}

int world_teardown(void **state)
{
    world_destroy(*state);
    return 0;
}

const char *quoted(const char *text)
{
    static char shown[4][16384];
    static int turn;
    char *out = shown[turn = (turn + 1) % 4];
    snprintf(out, sizeof shown[0], "%s", text);
    for (char *p = out; *p; p++)
        if (*p == '\'')
            *p = '"';
    return out;
}

/* One part: decided, shown, committed. */
static int one_part(struct world *w, const struct command *cmd, size_t *from, struct text *out)
{
    struct decision d = {0};
    struct err e = {0};
    uint64_t before = cluster_digest(w->c);
    last_takes_out = false;
    int rc = cluster_decide(w->c, cmd, *from, &d, &e);
    assert(cluster_digest(w->c) == before); /* deciding changes nothing */
    if (rc < 0) {
        assert(d.n_ops == 0 && !d.text && d.changed.n == 0);
        text_add(out, e.msg);
        return rc;
    }
    assert((d.n_ops == 0) == (d.text == NULL));
    for (size_t i = 0; i < d.n_ops; i++) {
        text_printf(out, "%s = %s\n", d.ops[i].key, d.ops[i].value ? d.ops[i].value : "gone");
        record(w, d.ops[i].key, d.ops[i].value);
        if (cluster_put(w->c, d.ops[i].key, d.ops[i].value, &e) < 0)
            fprintf(stderr, "%s\n", e.msg), abort();
    }
    CLEANUP_FREE char *nodes = hostlist_fold((const char *const *)d.changed.names, d.changed.n);
    if (d.n_ops)
        text_printf(out, "%s: %s\n", nodes, d.text);
    *from = d.next;
    CLEANUP_TEXT struct text fields = {0};
    entry_fields_write(&d.fields, &fields);
    snprintf(last_about, sizeof last_about, "%s", d.about.len ? d.about.s : "");
    snprintf(last_fields, sizeof last_fields, "%s", fields.len ? fields.s : "");
    last_takes_out = d.takes_out;
    decision_fini(&d);
    return 0;
}

/* Puts names in the place of fingerprints and of their first 12 digits. */
static const char *readable(const struct world *w, const char *text)
{
    static char shown[2][65536];
    static int turn;
    char *out = shown[turn ^= 1];
    size_t n = 0;
    while (*text && n < sizeof shown[0] - 1) {
        size_t skip = 0;
        for (size_t i = 0; i < w->n_lists && !skip; i++) {
            char hex[FINGERPRINT_HEX + 1];
            fingerprint_format(&w->lists[i].listing->id, hex);
            if (strncmp(text, hex, 12) != 0)
                continue;
            skip = strncmp(text, hex, FINGERPRINT_HEX) == 0 ? FINGERPRINT_HEX : 12;
            n += (size_t)snprintf(out + n, sizeof shown[0] - n, "%s", w->lists[i].name);
        }
        if (skip)
            text += skip;
        else
            out[n++] = *text++;
    }
    out[n] = '\0';
    return out;
}

static const char *run(struct world *w, struct command *cmd, const char *nodes, const char *set)
{
    CLEANUP_HOSTLIST struct hostlist names = {0};
    CLEANUP_TEXT struct text out = {0};
    assert(hostlist_parse(nodes, &names, NULL) == 0);
    size_t from = w->from;
    cmd->nodes = &names;
    cmd->at = (struct wall){w->at};
    said_read(set, cmd);
    text_add(&out, "");
    last_parts = 0;
    do {
        last_rc = one_part(w, cmd, &from, &out);
        last_parts++;
    } while (last_rc == 0 && from < names.n && last_parts != w->parts_max);
    said_fini();
    return readable(w, out.len ? out.s : "nothing");
}

const char *world_do(struct world *w, enum command_kind kind, const char *actor, const char *nodes,
                     const char *reason_or_set, const char *claim)
{
    struct command cmd = {.kind = kind, .actor = actor, .claim = claim, .reason = reason_or_set};
    return run(w, &cmd, nodes, reason_or_set);
}

const char *world_tell(struct world *w, enum command_kind kind, const char *nodes, const char *set,
                       const char *claim)
{
    struct command cmd = {.kind = kind, .actor = "fettled", .claim = claim};
    return run(w, &cmd, nodes, set);
}

const char *world_ask(struct world *w, enum command_kind kind, const char *actor, const char *nodes,
                      const char *set, const char *note)
{
    struct command cmd = {.kind = kind, .actor = actor, .reason = note};
    return run(w, &cmd, nodes, set);
}

const char *world_say(struct world *w, enum command_kind kind, const char *actor, const char *nodes,
                      const char *set, const char *note)
{
    struct command cmd = {.kind = kind, .actor = actor, .reason = note, .claim = "7.1"};
    return run(w, &cmd, nodes, set);
}

const char *world_give(struct world *w, enum command_kind kind, const char *actor, const char *nodes,
                       const char *set, const char *note, const char *claim)
{
    struct command cmd = {.kind = kind, .actor = actor, .reason = note, .claim = claim};
    return run(w, &cmd, nodes, set);
}

const char *world_list(struct world *w, const char *name, const char *components)
{
    CLEANUP_FREE char *copy = mem_dup(components);
    struct components list = {0};
    char *rest = copy;
    for (char *word; (word = strsep(&rest, " "));) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        enum component_state s = strcmp(value, "?") == 0 ? COMPONENT_UNKNOWN : COMPONENT_VALUE;
        assert(components_add(&list, word, s, s == COMPONENT_UNKNOWN ? "no such file" : value, NULL) == 0);
    }
    assert(components_sort(&list, NULL) == 0);
    struct fingerprint id = components_fingerprint(&list);
    struct listing *g = listings_get(cluster_listings(w->c), &id);
    assert(listing_fill(cluster_listings(w->c), g, &list, NULL) == 0);
    components_fini(&list);
    w->lists = mem_grow(w->lists, (w->n_lists + 1) * sizeof *w->lists);
    w->lists[w->n_lists].name = mem_dup(name);
    w->lists[w->n_lists++].listing = g;
    return world_hex(w, name);
}

const char *world_hex(const struct world *w, const char *name)
{
    static char hex[4][FINGERPRINT_HEX + 1];
    static int turn;
    size_t i = 0;
    while (strcmp(w->lists[i].name, name) != 0)
        i++;
    turn = (turn + 1) % 4;
    return fingerprint_format(&w->lists[i].listing->id, hex[turn]);
}

const char *world_seen(struct world *w, const char *nodes, const char *name)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{\"fingerprint\":\"%s\",\"named\":\"kernel.release\",\"count\":1}", world_hex(w, name));
    return world_tell(w, COMMAND_SEEN, nodes, t.s, NULL);
}

const char *world_record(const struct world *w, const char *key)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->records[i].key, key) == 0)
            return readable(w, w->records[i].value);
    return "none";
}

int world_rc(void)
{
    return last_rc;
}

bool world_takes_out(void)
{
    return last_takes_out;
}

size_t world_parts(void)
{
    return last_parts;
}

const char *world_about(void)
{
    return last_about;
}

const char *world_fields(void)
{
    return last_fields;
}

const char *world_claims(const struct world *w, const char *node)
{
    static char shown[4096];
    CLEANUP_TEXT struct text t = {0};
    const struct member *m = cluster_find(w->c, node);
    text_add(&t, "");
    for (size_t i = 0; m && i < m->n_claims; i++) {
        const struct claim *c = m->claims[i].claim;
        text_printf(&t, "%s%s %s by %s: %s%s", i ? "; " : "", c->id, claim_kind_name(c->kind), c->owner,
                    c->reason, m->claims[i].drained ? " (drained)" : "");
    }
    snprintf(shown, sizeof shown, "%s", t.s);
    return shown;
}

struct cluster *world_reload(const struct world *w, const char *roster, size_t rotation, bool backwards)
{
    struct world again = {.c = cluster_create()};
    for (size_t i = 0; i < w->n; i++) {
        size_t k = (backwards ? w->n - 1 - i : i) + rotation;
        struct err e;
        if (cluster_put(again.c, w->records[k % w->n].key, w->records[k % w->n].value, &e) < 0)
            fprintf(stderr, "%s\n", e.msg), abort();
    }
    world_configure(&again, roster, NULL);
    return again.c;
}

/* --- conformance ----------------------------------------------------------------------------- */

const struct found FOUND_MAJOR = {"gpu", 1, "A", "B", "major", "kernel.release", 1, "b1", false};
const struct found FOUND_MINOR = {"gpu", 1, "A", "B", "minor", "module.x, module.y", 20, "b1", false};
const struct found FOUND_DEFAULT = {"default", 1, "A", "B", "major", "kernel.release", 1, "b1", false};

struct world *world_conform(void)
{
    struct world *w = world_create();
    world_configure(w, CONFORM_ROSTER, NULL);
    world_list(w, "A", "kernel.release=6.1 nic.count=2");
    world_list(w, "B", "kernel.release=6.2 nic.count=2");
    world_list(w, "C", "kernel.release=6.2 nic.count=1");
    world_list(w, "U", "bmc.firmware=? kernel.release=6.1");
    return w;
}

static void accept(struct world *w, const char *node)
{
    world_ask(w, COMMAND_BASELINE_ACCEPT, "root", node, NULL, NULL);
    assert(world_rc() == 0);
}

void world_baselines(struct world *w)
{
    world_seen(w, "lx[01,05-06]", "A");
    accept(w, "lx01");
    accept(w, "lx06");
}

void world_ochami(struct world *w)
{
    world_configure(w, OCHAMI_ROSTER, NULL);
    world_seen(w, "lx[01-02]", "A");
    accept(w, "lx01");
    accept(w, "lx02");
}

const char *world_found(struct world *w, enum command_kind kind, const char *nodes, const struct found *f,
                        const char *claim)
{
    CLEANUP_HOSTLIST struct hostlist names = {0};
    CLEANUP_TEXT struct text t = {0};
    assert(hostlist_parse(nodes, &names, NULL) == 0);
    text_printf(&t,
                "{\"class\":\"%s\",\"version\":%u,\"expected\":\"%s\",\"actual\":\"%s\",\"severity\":\"%s\","
                "\"named\":\"%s\",\"count\":%u,\"boots\":[",
                f->class, f->version, world_hex(w, f->expected), world_hex(w, f->actual), f->severity,
                f->named, f->count);
    for (size_t i = 0; i < names.n; i++)
        text_printf(&t, "%s\"%s\"", i ? "," : "", f->boot);
    text_printf(&t, "]%s}", f->braked ? ",\"braked\":true" : "");
    return world_tell(w, kind, nodes, t.s, claim);
}

const char *world_state(const struct world *w, const char *node)
{
    struct agreed a = member_agreed(cluster_find(w->c, node));
    return lifecycle_name(lifecycle_of(&a));
}

const char *world_field(const struct world *w, const char *node, enum field f)
{
    static char shown[256];
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "");
    spec_format(&cluster_find(w->c, node)->spec, f, &t);
    snprintf(shown, sizeof shown, "%s", t.s);
    return shown;
}

void world_refuses(struct world *w, const char *key, const char *record, const char *why)
{
    struct err e = {0};
    uint64_t before = cluster_digest(w->c);
    size_t members = cluster_count(w->c);
    int rc = cluster_put(w->c, key, record, &e);
    if (rc != -EILSEQ || !strstr(e.msg, why))
        fprintf(stderr, "%s = %s: %d \"%s\"\n", key, record, rc, e.msg), abort();
    assert(cluster_digest(w->c) == before && cluster_count(w->c) == members);
}

void world_takes(struct world *w, const char *key, const char *record)
{
    struct err e = {0};
    uint64_t without = cluster_digest(w->c);
    if (cluster_put(w->c, key, record, &e) < 0)
        fprintf(stderr, "%s = %s: \"%s\"\n", key, record, e.msg), abort();
    uint64_t with = cluster_digest(w->c);
    assert(with != without);
    assert(cluster_put(w->c, key, record, NULL) == 0 && cluster_digest(w->c) == with);
    assert(cluster_put(w->c, key, NULL, NULL) == 0 && cluster_digest(w->c) == without);
    assert(cluster_put(w->c, key, NULL, NULL) == 0 && cluster_digest(w->c) == without);
}

/* --- commands of several tests ------------------------------------------------------------------ */

void world_trial_begin(struct world *w, const char *nodes, const char *claim)
{
    world_tell(w, COMMAND_TRIAL_BEGIN, nodes, quoted("{'check':'pair','deadline_s':600}"), claim);
}

const char *world_trial_end(struct world *w, const char *nodes, const char *claim, const char *results)
{
    char set[1024];
    snprintf(set, sizeof set, "{'claim':'%s','check':'pair','why':'it ran','results':%s}", claim, results);
    return world_tell(w, COMMAND_TRIAL_END, nodes, quoted(set), NULL);
}

const struct trial_record *world_trial(const struct world *w, const char *node)
{
    return member_trial(cluster_find(w->c, node));
}

const char *world_measured(struct world *w, const char *check, const char *sum, const char *nodes)
{
    CLEANUP_TEXT struct text set = {0};
    text_printf(&set, "{\"class\":\"gpu\",\"check\":\"%s\",\"sum\":\"%s\",\"nodes\":{%s}}", check, sum,
                nodes);
    for (char *c = set.s; *c; c++)
        *c = (char)(*c == '\'' ? '"' : *c);
    return world_tell(w, COMMAND_MEASURED, "", set.s, NULL);
}

const char *lx01_transition(struct world *w, const char *name, const char *why)
{
    CLEANUP_TEXT struct text set = {0};
    text_printf(&set, "{\"transition\":\"%s\"}", name);
    return world_say(w, COMMAND_TRANSITION, "ann", "lx01", set.s, why);
}
