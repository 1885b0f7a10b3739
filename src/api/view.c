/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For each field one function writes its value; the table of them is made from field.tbl, so that a field
 * without a function does not compile. Expensive values (whether the node is fit, and why not) are computed
 * once for a node, when the first field needs them.
 *
 * Words of enums are written unchanged: nothing in them needs escaping. All text from outside goes through
 * text_add_json.
 */
#include "api/view.h"

#include "api/render.h"
#include "api/seen.h"
#include "base/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t SECOND_NS = 1000000000;

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

const struct fitness *view_fitness(struct view *v)
{
    if (!v->judged) {
        watch_fitness(v->watch, v->now, v->member, &v->claims, &v->shortfall, &v->fitness);
        v->fit = lifecycle_schedulable(&v->fitness, &v->why);
        v->judged = true;
    }
    return &v->fitness;
}

enum lifecycle view_lifecycle(const struct view *v)
{
    struct agreed a = member_agreed(v->member);
    return lifecycle_of(&a);
}

/* Whether the node was heard since this controller started listening. */
static bool was_heard(const struct view *v)
{
    return v->seen->heard_wall.ns != 0;
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
        render_string(t, NULL);
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
        render_string(t, NULL);
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

/* The reported value, otherwise the specified one. */
static struct maybe view_reported(const struct view *v, struct maybe has, enum field f, uint64_t must)
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
        render_string(t, NULL);
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
    add_number(t,
               view_reported(v, watch_report(v->watch, v->member)->cpus, FIELD_CPUS, v->member->spec.cpus));
}

static void value_SPEED(struct view *v, struct text *t)
{
    add_milli(t, view_reported(v, watch_report(v->watch, v->member)->speed_milli, FIELD_SPEED,
                               v->member->spec.speed_milli));
}

static void value_REAL_MEMORY(struct view *v, struct text *t)
{
    add_number(t, view_reported(v, watch_report(v->watch, v->member)->real_memory_mb, FIELD_REAL_MEMORY,
                                v->member->spec.real_memory_mb));
}

static void value_VIRTUAL_MEMORY(struct view *v, struct text *t)
{
    add_number(t, view_reported(v, watch_report(v->watch, v->member)->virtual_memory_mb, FIELD_VIRTUAL_MEMORY,
                                v->member->spec.virtual_memory_mb));
}

static void value_TMP_DISK(struct view *v, struct text *t)
{
    add_number(t, view_reported(v, watch_report(v->watch, v->member)->tmp_disk_mb, FIELD_TMP_DISK,
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
        render_string(t, NULL);
}

static void value_STATE(struct view *v, struct text *t)
{
    render_word(t, lifecycle_word(view_lifecycle(v), watch_work(v->watch, v->member)));
}

static void value_LIFECYCLE(struct view *v, struct text *t)
{
    render_word(t, lifecycle_name(view_lifecycle(v)));
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
    render_word(t, conformance_name(view_fitness(v)->conformance));
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
        render_string(t, NULL);
}

static void value_SCHEDULER_READ(struct view *v, struct text *t)
{
    if (v->seen->word.read.ns)
        add_seconds(t, mono_sub(v->now, v->seen->word.read).ns);
    else
        render_string(t, NULL);
}

/* It is kept as JSON. */
static void value_RUNNING(struct view *v, struct text *t)
{
    text_add(t, v->seen->running ? v->seen->running : "null");
}

static void value_SCHEDULABLE(struct view *v, struct text *t)
{
    view_fitness(v);
    add_bool(t, v->fit);
}

static void value_WHY(struct view *v, struct text *t)
{
    view_fitness(v);
    add_text(t, &v->why);
}

static void value_SHORTFALL(struct view *v, struct text *t)
{
    if (view_fitness(v)->reported)
        add_text(t, &v->shortfall);
    else
        render_string(t, NULL);
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

static void value_OWNER(struct view *v, struct text *t)
{
    CLEANUP_TEXT struct text name = {0};
    if (v->member->owner)
        text_add(&name, v->member->owner->name);
    add_text(t, &name);
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
    if (d) {
        text_printf(&words, "%s: ", severity_name(d->severity));
        drift_components(d->named, d->count, &words);
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
        add_seconds(t, view_fitness(v)->silence.ns);
    else
        render_string(t, NULL);
}

/* Whether a silent node still runs is unknown. */
static void value_UPTIME(struct view *v, struct text *t)
{
    enum liveness l = v->seen->beat.liveness;
    if (was_heard(v) && v->seen->uptime_s > 0 && (l == LIVENESS_LIVE || l == LIVENESS_LATE))
        text_add_u64(t, v->seen->uptime_s + (uint64_t)(mono_sub(v->now, v->seen->uptime_at).ns / SECOND_NS));
    else
        render_string(t, NULL);
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
    view_fitness(v);
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
