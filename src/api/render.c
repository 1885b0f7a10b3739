/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function a field writes its value; the table of them is made from field.tbl, so that a field
 * without a function does not compile. What costs more than a look (whether the node is fit, and
 * why not) is worked out once a node, when the first field asks for it.
 *
 * Words of enums are written as they stand: nothing in them needs escaping. Everything that came
 * from outside goes through text_add_json.
 */
#include "api/render.h"

#include "api/seen.h"
#include "base/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t SECOND_NS = 1000000000;

int selection_parse(const char *text, struct selection *s, struct err *e)
{
    *s = (struct selection){0};
    bool chosen[FIELDS] = {false};
    if (!text) {
        for (int i = 0; i < FIELDS; i++)
            s->fields[s->n++] = (enum field)i;
        return 0;
    }
    CLEANUP_FREE char *copy = mem_dup(text);
    char *rest = copy;
    for (char *name; (name = strsep(&rest, ","));) {
        enum field f;
        if (*name == '\0')
            return err_set(e, -EINVAL, "\"fields\" has an empty name");
        int rc = field_find(name, &f, e);
        if (rc < 0)
            return rc;
        if (chosen[f])
            return err_set(e, -EINVAL, "\"fields\" names %s twice", field_get(f)->name);
        chosen[f] = true;
        s->fields[s->n++] = f;
    }
    return 0;
}

void view_fini(struct view *v)
{
    text_fini(&v->claims);
    text_fini(&v->shortfall);
    text_fini(&v->why);
}

void view_set(struct view *v, const struct member *m)
{
    v->member = m;
    v->seen = watch_observed(v->watch, m);
    v->judged = false;
}

static const struct fitness *judge(struct view *v)
{
    if (!v->judged) {
        watch_fitness(v->watch, v->now, v->member, &v->claims, &v->shortfall, &v->fitness);
        v->fit = lifecycle_schedulable(&v->fitness, &v->why);
        v->judged = true;
    }
    return &v->fitness;
}

static enum lifecycle lifecycle(const struct view *v)
{
    struct agreed a = member_agreed(v->member);
    return lifecycle_of(&a);
}

/* Whether anything was heard of it since this controller listens. */
static bool was_heard(const struct view *v)
{
    return v->seen->heard_wall.ns != 0;
}

static void add_null(struct text *t)
{
    text_add_bytes(t, "null", 4);
}

void render_word(struct text *t, const char *word)
{
    text_add_char(t, '"');
    text_add(t, word);
    text_add_char(t, '"');
}

void render_string(struct text *t, const char *s)
{
    if (s)
        text_add_json(t, s);
    else
        add_null(t);
}

void render_time(struct text *t, struct wall at)
{
    char buf[32];
    render_word(t, wall_format(at, buf));
}

void render_fingerprint(struct text *t, const struct fingerprint *f)
{
    char hex[FINGERPRINT_HEX + 1];
    render_word(t, fingerprint_format(f, hex));
}

void render_cohort(struct text *t, const struct cohort *k)
{
    char name[FINGERPRINT_SHORT_BYTES];
    render_string(t, k ? fingerprint_cohort(&k->id, name) : NULL);
}

void render_fold(struct text *t, const char *const *names, size_t n)
{
    CLEANUP_FREE char *folded = hostlist_fold(names, n);
    text_add_json(t, folded);
}

void render_suggestion(struct text *t, const struct cluster *c, struct watch *w, uint16_t class)
{
    uint32_t share = 0, all = 0;
    const struct member *m = cluster_baseline(c, cluster_classes(c)->list[class].name)
                                 ? NULL
                                 : watch_suggest(w, class, &share, &all);
    if (!m) {
        add_null(t);
        return;
    }
    text_add(t, "{\"node\":");
    text_add_json(t, m->name);
    text_printf(t, ",\"share\":%" PRIu32 ",\"of\":%" PRIu32 "}", share, all);
}

static void add_text(struct text *t, const struct text *value)
{
    text_add_json(t, value->s ? value->s : "");
}

static void add_number(struct text *t, struct maybe m)
{
    if (m.known)
        text_add_u64(t, m.value);
    else
        add_null(t);
}

static void add_bool(struct text *t, bool b)
{
    text_add(t, b ? "true" : "false");
}

static void add_seconds(struct text *t, int64_t ns)
{
    text_add_u64(t, ns > 0 ? (uint64_t)(ns / SECOND_NS) : 0);
}

static void add_milli(struct text *t, struct maybe m)
{
    if (!m.known) {
        add_null(t);
        return;
    }
    text_add_u64(t, m.value / 1000);
    unsigned rest = (unsigned)(m.value % 1000);
    char digits[] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};
    size_t n = sizeof digits;
    while (n > 0 && (digits[n - 1] == '0' || digits[n - 1] == '.'))
        n--;
    text_add_bytes(t, digits, n);
}

/* What was reported, else what is specified. */
static struct maybe reported(const struct view *v, struct maybe has, enum field f, uint64_t must)
{
    if (has.known)
        return has;
    return (struct maybe){spec_given(&v->member->spec, f), must};
}

void render_inventory_at(const struct view *v, struct text *t)
{
    struct wall at = watch_contact(v->watch, v->member);
    if (watch_report(v->watch, v->member)->json && at.ns)
        render_time(t, at);
    else
        add_null(t);
}

static void value_NAME(struct view *v, struct text *t)
{
    text_add_json(t, v->member->name);
}

static void value_OS(struct view *v, struct text *t)
{
    render_string(t, watch_report(v->watch, v->member)->os ? watch_report(v->watch, v->member)->os
                                                           : v->member->spec.os);
}

static void value_CPUS(struct view *v, struct text *t)
{
    add_number(t, reported(v, watch_report(v->watch, v->member)->cpus, FIELD_CPUS, v->member->spec.cpus));
}

static void value_SPEED(struct view *v, struct text *t)
{
    add_milli(t, reported(v, watch_report(v->watch, v->member)->speed_milli, FIELD_SPEED,
                          v->member->spec.speed_milli));
}

static void value_REAL_MEMORY(struct view *v, struct text *t)
{
    add_number(t, reported(v, watch_report(v->watch, v->member)->real_memory_mb, FIELD_REAL_MEMORY,
                           v->member->spec.real_memory_mb));
}

static void value_VIRTUAL_MEMORY(struct view *v, struct text *t)
{
    add_number(t, reported(v, watch_report(v->watch, v->member)->virtual_memory_mb, FIELD_VIRTUAL_MEMORY,
                           v->member->spec.virtual_memory_mb));
}

static void value_TMP_DISK(struct view *v, struct text *t)
{
    add_number(t, reported(v, watch_report(v->watch, v->member)->tmp_disk_mb, FIELD_TMP_DISK,
                           v->member->spec.tmp_disk_mb));
}

typedef void add_partition_fn(const struct view *v, unsigned number, struct text *t);

/* An unlisted node belongs to no partition, whatever its empty specification says. */
static void add_partitions(const struct view *v, add_partition_fn *add, struct text *t)
{
    text_add_char(t, '[');
    bool any = false;
    for (unsigned word = 0; v->member->listed && word <= PARTITION_MAX / 64; word++) {
        for (uint64_t bits = v->member->spec.partitions.bits[word]; bits; bits &= bits - 1) {
            if (any)
                text_add_char(t, ',');
            add(v, word * 64 + (unsigned)__builtin_ctzll(bits), t);
            any = true;
        }
    }
    text_add_char(t, ']');
}

static void add_partition_number(const struct view *v, unsigned number, struct text *t)
{
    text_add_u64(t, number);
}

static void add_partition_name(const struct view *v, unsigned number, struct text *t)
{
    char word[PARTITION_WORD_BYTES];
    const struct partition *list;
    size_t n = cluster_partitions(v->cluster, &list);
    text_add_json(t, partition_word(list, n, number, word));
}

static void value_PARTITION(struct view *v, struct text *t)
{
    add_partitions(v, add_partition_number, t);
}

static void value_PARTITIONS(struct view *v, struct text *t)
{
    add_partitions(v, add_partition_name, t);
}

static void value_LAST_RESPONSE(struct view *v, struct text *t)
{
    struct wall last = watch_contact(v->watch, v->member);
    if (last.ns)
        add_seconds(t, last.ns);
    else
        add_null(t);
}

static void value_STATE(struct view *v, struct text *t)
{
    render_word(t, lifecycle_word(lifecycle(v), watch_work(v->watch, v->member)));
}

static void value_LIFECYCLE(struct view *v, struct text *t)
{
    render_word(t, lifecycle_name(lifecycle(v)));
}

static void value_LIVENESS(struct view *v, struct text *t)
{
    render_word(t, liveness_name(v->seen->beat.liveness));
}

static void value_HEALTH(struct view *v, struct text *t)
{
    render_word(t, health_name(watch_health(v->watch, v->now, v->member)));
}

static void value_CONFORMANCE(struct view *v, struct text *t)
{
    render_word(t, conformance_name(judge(v)->conformance));
}

static void value_WORK(struct view *v, struct text *t)
{
    render_word(t, work_name(watch_work(v->watch, v->member)));
}

static void value_AGENT_WORK(struct view *v, struct text *t)
{
    render_word(t, work_name(v->seen->work));
}

static void value_SCHEDULER_WORK(struct view *v, struct text *t)
{
    render_word(t, v->seen->scheduler ? work_name(v->seen->scheduled) : "");
}

static void value_SCHEDULER_STATE(struct view *v, struct text *t)
{
    const char *state = v->seen->word.state;
    text_add_json(t, !v->seen->scheduler ? "" : state ? state : "unknown");
}

static void value_SCHEDULER_REASON(struct view *v, struct text *t)
{
    text_add_json(t, v->seen->word.reason ? v->seen->word.reason : "");
}

static void value_SCHEDULER_USER(struct view *v, struct text *t)
{
    text_add_json(t, v->seen->word.by ? v->seen->word.by : "");
}

static void value_SCHEDULER_SINCE(struct view *v, struct text *t)
{
    if (v->seen->word.since.ns)
        add_seconds(t, v->seen->word.since.ns);
    else
        add_null(t);
}

static void value_SCHEDULER_READ(struct view *v, struct text *t)
{
    if (v->seen->word.read.ns)
        add_seconds(t, mono_sub(v->now, v->seen->word.read).ns);
    else
        add_null(t);
}

/* It is kept as JSON. */
static void value_RUNNING(struct view *v, struct text *t)
{
    text_add(t, v->seen->running ? v->seen->running : "null");
}

static void value_SCHEDULABLE(struct view *v, struct text *t)
{
    judge(v);
    add_bool(t, v->fit);
}

static void value_WHY(struct view *v, struct text *t)
{
    judge(v);
    add_text(t, &v->why);
}

static void value_SHORTFALL(struct view *v, struct text *t)
{
    if (judge(v)->reported)
        add_text(t, &v->shortfall);
    else
        add_null(t);
}

static void value_SENSITIVE(struct view *v, struct text *t)
{
    add_bool(t, v->member->spec.sensitive);
}

static void value_BORROWED(struct view *v, struct text *t)
{
    add_bool(t, v->member->spec.borrowed);
}

static void value_REMEDIATE(struct view *v, struct text *t)
{
    add_bool(t, !cluster_excepts(v->cluster, v->member));
}

static void value_GROUP(struct view *v, struct text *t)
{
    text_add_u64(t, v->member->spec.group);
}

static void value_LAST_BOOT(struct view *v, struct text *t)
{
    const struct last_boot *b = &v->seen->report.last_boot;
    CLEANUP_TEXT struct text said = {0};
    text_add(&said, "");
    if (b->known && v->seen->inventoried)
        text_printf(&said, "%s%s%s", ended_name(b->ended), *b->text ? ": " : "", b->text);
    render_string(t, said.s);
}

static void value_MACHINE(struct view *v, struct text *t)
{
    const struct machine_record *i = member_machine(v->member);
    text_add_json(t, i ? i->machine : "");
}

static void value_MAINTENANCE(struct view *v, struct text *t)
{
    const struct maintenance *const all[] = {member_maintenance(v->member), member_window(v->member)};
    CLEANUP_TEXT struct text words = {0};
    for (size_t i = 0; i < 2; i++)
        if (all[i])
            text_printf(&words, "%s%s: %s", words.len ? "; " : "", all[i]->by, all[i]->why);
    text_add_json(t, words.len ? words.s : "");
}

static void value_OVERRIDE(struct view *v, struct text *t)
{
    const struct override *o = member_override(v->member);
    CLEANUP_TEXT struct text words = {0}, of = {0};
    char left[32];
    if (o) {
        override_say(o, &of);
        text_printf(&words, "%s (%s) for another %s", o->by, o->source,
                    span_human(watch_override_left(v->watch, v->now, v->member), left));
        if (of.len)
            text_printf(&words, ", in spite of %s", of.s);
        if (*o->why)
            text_printf(&words, ": %s", o->why);
    }
    add_text(t, &words);
}

void render_holder(const struct observed *o, struct text *t)
{
    for (enum elsewhere_where k = 0; k < ELSEWHERES; k++) {
        CLEANUP_TEXT struct text one = {0};
        elsewhere_say(&o->elsewhere[k].is, &one);
        if (one.len)
            text_printf(t, "%s%s", t->len ? "; " : "", one.s);
    }
}

static void value_ELSEWHERE(struct view *v, struct text *t)
{
    enum elsewhere_state worst = ELSEWHERE_NOBODY;
    for (enum elsewhere_where k = 0; k < ELSEWHERES; k++)
        if (v->seen->elsewhere[k].is.state > worst)
            worst = v->seen->elsewhere[k].is.state;
    render_word(t, elsewhere_state_name(worst));
}

static void value_HELD(struct view *v, struct text *t)
{
    CLEANUP_TEXT struct text words = {0};
    render_holder(v->seen, &words);
    text_add_json(t, words.len ? words.s : "");
}

/* Each job once, whatever incidents it ran under. */
static void value_JOBS(struct view *v, struct text *t)
{
    const struct ailment *a = member_ailment(v->member);
    CLEANUP_TEXT struct text words = {0};
    for (size_t i = 0; a && i < a->n_open; i++) {
        for (size_t k = 0; k < a->open[i].n_jobs; k++) {
            const struct incident_job *job = &a->open[i].jobs[k];
            bool was_said = false;
            for (size_t before = 0; before < i; before++)
                was_said |= incident_has_job(&a->open[before], job->id);
            if (!was_said)
                text_printf(&words, "%s%s of %s", words.len ? ", " : "", job->id, job->user);
        }
    }
    text_add_json(t, words.len ? words.s : "");
}

static void value_XNAME(struct view *v, struct text *t)
{
    text_add_json(t, v->member->spec.xname ? v->member->spec.xname : "");
}

static void value_CLASS(struct view *v, struct text *t)
{
    text_add_json(t, cluster_classes(v->cluster)->list[v->member->class].name);
}

static void value_COHORT(struct view *v, struct text *t)
{
    const struct cohort *k = cohorts_of(watch_cohorts(v->watch), v->member->id);
    char name[FINGERPRINT_SHORT_BYTES];
    render_word(t, k ? fingerprint_cohort(&k->id, name) : "");
}

static void value_DRIFT(struct view *v, struct text *t)
{
    const struct drift *d = v->member->past ? v->member->past->drift : NULL;
    CLEANUP_TEXT struct text words = {0};
    uint32_t named = 0;
    if (d) {
        text_printf(&words, "%s: %s", severity_name(d->severity), d->named);
        const char *list = d->named, *name;
        while (seen_next_name(&list, &name) > 0)
            named++;
        if (d->count > named)
            text_printf(&words, "%s%" PRIu32 " more", named ? ", " : "", d->count - named);
    }
    add_text(t, &words);
}

static void value_COLLECTOR(struct view *v, struct text *t)
{
    text_add_json(t, v->seen->collector ? v->seen->collector->name : "");
}

static void value_SILENT(struct view *v, struct text *t)
{
    if (was_heard(v))
        add_seconds(t, judge(v)->silence.ns);
    else
        add_null(t);
}

/* Nobody knows whether a node that is not heard still runs. */
static void value_UPTIME(struct view *v, struct text *t)
{
    enum liveness l = v->seen->beat.liveness;
    if (was_heard(v) && v->seen->uptime_s > 0 && (l == LIVENESS_LIVE || l == LIVENESS_LATE))
        text_add_u64(t, v->seen->uptime_s + (uint64_t)(mono_sub(v->now, v->seen->uptime_at).ns / SECOND_NS));
    else
        add_null(t);
}

static void value_BOOT(struct view *v, struct text *t)
{
    render_string(t, v->seen->boot[0] ? v->seen->boot : NULL);
}

static void value_ARCH(struct view *v, struct text *t)
{
    render_string(t, watch_report(v->watch, v->member)->arch);
}

static void value_SOCKETS(struct view *v, struct text *t)
{
    add_number(t, watch_report(v->watch, v->member)->sockets);
}

static void value_CORES(struct view *v, struct text *t)
{
    add_number(t, watch_report(v->watch, v->member)->cores);
}

static void value_THREADS(struct view *v, struct text *t)
{
    add_number(t, watch_report(v->watch, v->member)->threads);
}

static void value_GPUS(struct view *v, struct text *t)
{
    add_number(t, watch_report(v->watch, v->member)->gpus);
}

static void value_NICS(struct view *v, struct text *t)
{
    add_number(t, watch_report(v->watch, v->member)->nics);
}

static void value_DISKS(struct view *v, struct text *t)
{
    add_number(t, watch_report(v->watch, v->member)->disks);
}

static void value_FREE_MEMORY(struct view *v, struct text *t)
{
    add_number(t, watch_report(v->watch, v->member)->free_memory_mb);
}

static void value_GPU_USE(struct view *v, struct text *t)
{
    add_number(t, watch_report(v->watch, v->member)->gpu_use);
}

static void value_GPU_TEMPERATURE(struct view *v, struct text *t)
{
    add_number(t, watch_report(v->watch, v->member)->gpu_celsius);
}

static void value_CLAIMS(struct view *v, struct text *t)
{
    text_add_u64(t, v->member->n_claims);
}

static void value_REASON(struct view *v, struct text *t)
{
    judge(v);
    add_text(t, &v->claims);
}

static void value_AGENT(struct view *v, struct text *t)
{
    render_string(t, v->seen->version);
}

static const struct {
    const char *key; /* with quotes and colon */
    size_t len;
    void (*value)(struct view *v, struct text *t);
} columns[FIELDS] = {
#define FIELD(symbol, name, kind, heading, unit, settable, what) \
    [FIELD_##symbol] = {"\"" name "\":", sizeof "\"" name "\":" - 1, value_##symbol},
#include "node/field.tbl"
#undef FIELD
};

void render_node(struct view *v, const struct selection *s, struct text *t)
{
    text_add_char(t, '{');
    for (size_t i = 0; i < s->n; i++) {
        if (i)
            text_add_char(t, ',');
        text_add_bytes(t, columns[s->fields[i]].key, columns[s->fields[i]].len);
        columns[s->fields[i]].value(v, t);
    }
    text_add_char(t, '}');
}

void render_specification(const struct spec *s, struct text *t)
{
    bool any = false;
    text_add_char(t, '{');
    for (int f = 0; f < FIELDS; f++) {
        if (!field_get((enum field)f)->settable || !spec_given(s, (enum field)f))
            continue;
        CLEANUP_TEXT struct text value = {0};
        spec_format(s, (enum field)f, &value);
        if (any)
            text_add_char(t, ',');
        any = true;
        text_add(t, columns[f].key);
        add_text(t, &value);
    }
    text_add_char(t, '}');
}

void render_claim(const struct claim *c, const char *nodes, struct text *t)
{
    text_add(t, "{\"id\":");
    text_add_json(t, c->id);
    text_add(t, ",\"kind\":");
    render_word(t, claim_kind_name(c->kind));
    text_add(t, ",\"owner\":");
    text_add_json(t, c->owner);
    text_add(t, ",\"reason\":");
    text_add_json(t, c->reason);
    text_add(t, ",\"since\":");
    render_time(t, c->since);
    text_add(t, ",\"nodes\":");
    text_add_json(t, nodes);
    text_add_char(t, '}');
}

/* A claim, and those of the nodes asked about that it rests on. */
struct held {
    const struct claim *claim;
    struct hostfolder *nodes;
    UT_hash_handle hh;
};

/* "9" before "10". */
static int by_claim(const struct held *a, const struct held *b)
{
    const char *x = a->claim->id, *y = b->claim->id;
    int d = spec_compare_release(x, y);
    return d != 0 ? d : strcmp(x, y);
}

static struct held *held_get(struct held **all, const struct claim *claim)
{
    struct held *h;
    HASH_FIND_PTR(*all, &claim, h);
    if (!h) {
        h = mem_alloc(sizeof *h);
        *h = (struct held){.claim = claim, .nodes = hostfolder_create()};
        HASH_ADD_PTR(*all, claim, h);
    }
    return h;
}

/* Neighbours mostly have the same claims: ten thousand nodes of one claim are one look-up in the table. */
void render_claims(struct member *const *nodes, size_t n, struct text *t)
{
    struct held *all = NULL, *h = NULL, *next;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < nodes[i]->n_claims; j++) {
            const struct claim *claim = nodes[i]->claims[j].claim;
            if (!h || h->claim != claim)
                h = held_get(&all, claim);
            hostfolder_add(h->nodes, nodes[i]->name);
        }
    }
    HASH_SORT(all, by_claim);
    text_add_char(t, '[');
    HASH_ITER (hh, all, h, next) {
        CLEANUP_FREE char *folded = hostfolder_end(h->nodes);
        if (h != all)
            text_add_char(t, ',');
        render_claim(h->claim, folded, t);
    }
    text_add_char(t, ']');
    HASH_ITER (hh, all, h, next) {
        HASH_DEL(all, h);
        free(h);
    }
}

void tally_add(struct tally *y, struct view *v)
{
    judge(v);
    y->nodes++;
    y->schedulable += v->fit;
    y->states[lifecycle(v)][judge(v)->work == WORK_BUSY]++;
    for (enum elsewhere_where k = 0; k < ELSEWHERES && v->member->listed; k++) {
        const struct elsewhere *is = &v->seen->elsewhere[k].is;
        y->elsewhere[k].held += is->state == ELSEWHERE_HELD;
        y->elsewhere[k].unknown += is->state == ELSEWHERE_UNKNOWN;
        y->elsewhere[k].out += is->out;
    }
}

json_t *tally_elsewhere(const struct tally *y)
{
    json_t *list = json_array();
    for (enum elsewhere_where k = 0; k < ELSEWHERES; k++) {
        size_t held = y->elsewhere[k].held, out = y->elsewhere[k].out, unknown = y->elsewhere[k].unknown;
        if (held || out || unknown)
            json_array_append_new(list, json_pack("{s:s,s:I,s:I,s:I}", "where", elsewhere_where_name(k),
                                                  "held", (json_int_t)held, "out", (json_int_t)out, "unknown",
                                                  (json_int_t)unknown));
    }
    return list;
}

void render_states(const struct tally *y, struct text *t)
{
    const char *words[LIFECYCLES * 2];
    size_t counts[LIFECYCLES * 2] = {0};
    size_t n = 0;
    for (int i = 0; i < LIFECYCLES * 2; i++) {
        const char *word = lifecycle_word((enum lifecycle)(i / 2), i % 2 ? WORK_BUSY : WORK_IDLE);
        size_t at = 0;
        if (y->states[i / 2][i % 2] == 0)
            continue;
        while (at < n && strcmp(words[at], word) != 0)
            at++;
        words[at] = word;
        counts[at] += y->states[i / 2][i % 2];
        n += at == n;
    }
    text_add_char(t, '{');
    for (size_t i = 0; i < n; i++) {
        if (i)
            text_add_char(t, ',');
        render_word(t, words[i]);
        text_add_char(t, ':');
        text_add_u64(t, counts[i]);
    }
    text_add_char(t, '}');
}
