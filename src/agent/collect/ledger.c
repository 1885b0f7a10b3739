/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/collect/ledger.h"

#include "agent/collect/ledger_inside.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct span USUAL_INTERVAL = {10 * 1000000000LL}; /* in place of an interval of zero */
static const struct span ASKED = {30 * 1000000000LL}; /* until one that does not answer is passed over */

void queue_drop_first(struct queue *q)
{
    struct pending *p = q->first;
    q->first = p->next;
    *q->bytes -= strlen(p->members);
    free(p->members);
    free(p);
}

void queue_drop(struct queue *q)
{
    while (q->first)
        queue_drop_first(q);
}

/* Takes members over, unless there are more than bytes_max then. */
static bool queue_add(struct queue *q, char **members, size_t bytes_max)
{
    size_t bytes = strlen(*members);
    if (*q->bytes + bytes > bytes_max)
        return false;
    struct pending *p = mem_alloc(sizeof *p), **end = &q->first;
    p->members = STEAL(*members);
    *q->bytes += bytes;
    while (*end)
        end = &(*end)->next;
    *end = p;
    return true;
}

static void drop_pending(struct row *r)
{
    queue_drop(&r->inventories);
    queue_drop(&r->components);
}

void row_set_heard(struct ledger *l, struct row *r, bool heard)
{
    if (r->heard && !heard)
        l->missing++;
    else if (!r->heard && heard)
        l->missing--;
    r->heard = heard;
}

static void set_flag(bool *flag, bool value, size_t *count)
{
    if (value && !*flag)
        ++*count;
    else if (!value && *flag)
        --*count;
    *flag = value;
}

static void set_wanted(struct request *q, bool wanted)
{
    set_flag(&q->wanted, wanted, &q->all->wanted);
}

static void set_asked(struct request *q, bool asked)
{
    set_flag(&q->asked, asked, &q->all->asked);
}

static struct row *ledger_find(const struct ledger *l, const char *name)
{
    struct row *r;
    HASH_FIND_STR(l->rows, name, r);
    return r;
}

static void forget_asked(struct row *r)
{
    set_asked(&r->inventory, false);
    set_asked(&r->list, false);
}

static struct row *ledger_add(struct ledger *l, const char *name)
{
    struct row *r = mem_alloc(sizeof *r);
    r->name = mem_dup(name);
    r->missed = true;
    HASH_ADD_KEYPTR(hh, l->rows, r->name, strlen(r->name), r);
    r->inventories.bytes = &l->inventory_bytes;
    r->components.bytes = &l->component_bytes;
    r->inventory.all = &l->inventories;
    r->list.all = &l->lists;
    l->missing++;
    return r;
}

static void wait_for(struct ledger *l, struct row *r, int waits)
{
    if (r->waits != WAITS_NOT)
        DL_DELETE(l->waiting[r->waits - WAITS_MISSED], r);
    r->waits = waits;
    if (r->waits != WAITS_NOT)
        DL_APPEND(l->waiting[r->waits - WAITS_MISSED], r);
}

static void remove_row(struct ledger *l, struct row *r)
{
    wait_for(l, r, WAITS_NOT);
    row_set_heard(l, r, true);
    forget_asked(r);
    set_wanted(&r->inventory, false);
    set_wanted(&r->list, false);
    drop_pending(r);
    HASH_DEL(l->rows, r);
    free(r->work);
    free(r->name);
    free(r);
}

struct ledger *ledger_create(const char *self, const char *instance)
{
    struct ledger *l = mem_alloc(sizeof *l);
    ledger_interval(l, USUAL_INTERVAL, (struct span){0}, (struct span){0});
    l->inventories.asked_max = LEDGER_ASKED_MAX;
    l->lists.asked_max = LEDGER_COMPONENTS_ASKED_MAX;
    l->self = ledger_add(l, self);
    l->self->live = true;
    snprintf(l->self->instance, sizeof l->self->instance, "%s", instance);
    return l;
}

void ledger_destroy(struct ledger *l)
{
    if (!l)
        return;
    struct row *r, *next;
    HASH_ITER (hh, l->rows, r, next)
        remove_row(l, r);
    free(l);
}

void ledger_share(struct ledger *l, struct mono now, uint64_t epoch, const struct hostlist *nodes)
{
    struct row *r, *next;
    HASH_ITER (hh, l->rows, r, next)
        r->kept = r == l->self;
    for (size_t i = 0; i < nodes->n; i++) {
        r = ledger_find(l, nodes->names[i]);
        if (!r)
            r = ledger_add(l, nodes->names[i]);
        r->kept = true;
    }
    HASH_ITER (hh, l->rows, r, next)
        if (!r->kept)
            remove_row(l, r);
    l->epoch = epoch;
    if (!l->began)
        l->last_batch = now;
    l->began = true;
}

void ledger_interval(struct ledger *l, struct span interval, struct span hold, struct span silent)
{
    l->silent = silent;
    l->interval = interval.ns > 0 ? interval : USUAL_INTERVAL;
    l->hold = hold.ns > 0 ? hold : (struct span){l->interval.ns + l->interval.ns / 2};
}

uint64_t ledger_epoch(const struct ledger *l)
{
    return l->epoch;
}

bool ledger_has(const struct ledger *l, const char *name)
{
    const struct row *r = ledger_find(l, name);
    return r && r != l->self;
}

size_t ledger_count(const struct ledger *l)
{
    return HASH_COUNT(l->rows) - 1;
}

const char **ledger_names(const struct ledger *l, bool which(const struct ledger *, const struct row *),
                          size_t *n)
{
    const char **names = mem_alloc(HASH_COUNT(l->rows) * sizeof *names);
    *n = 0;
    for (const struct row *r = l->rows; r; r = r->hh.next)
        if (which(l, r))
            names[(*n)++] = r->name;
    return names;
}

static bool is_member(const struct ledger *l, const struct row *r)
{
    return r != l->self;
}

char *ledger_nodes(const struct ledger *l)
{
    size_t n;
    const char **names = ledger_names(l, is_member, &n);
    char *folded = hostlist_fold(names, n);
    free(names);
    return folded;
}

/* The one before may go when it has been silent for three intervals: a node whose power went has
 * sent no farewell. */
static bool is_alive(const struct ledger *l, const struct row *r, struct mono now)
{
    return r == l->self || (r->live && mono_sub(now, r->last).ns < 3 * l->interval.ns);
}

int ledger_hello(struct ledger *l, struct mono now, const struct body_hello *hello, struct err *e)
{
    struct row *r = ledger_find(l, hello->name);
    if (!r)
        return err_set(e, -EACCES, "node \"%s\" does not report to this collector", hello->name);
    bool same = strcmp(r->instance, hello->instance) == 0 && r != l->self;
    if (!same && is_alive(l, r, now)) {
        r->duplicate = true;
        return err_set(e, -EBUSY, "another agent with the name \"%s\" is alive", hello->name);
    }
    int replaces = r->live;
    if (!same) {
        r->seq = 0;
        drop_pending(r);
    }
    if (strcmp(r->boot, hello->boot) != 0)
        r->has_fingerprint = r->fingerprint_new = r->verified = false;
    if (!same || strcmp(r->boot, hello->boot) != 0 || strcmp(r->hash, hello->inventory) != 0 || r->gone)
        r->changed = true;
    r->known = r->live = true;
    r->gone = false;
    r->last = now;
    forget_asked(r);
    memcpy(r->boot, hello->boot, sizeof r->boot);
    memcpy(r->instance, hello->instance, sizeof r->instance);
    memcpy(r->version, hello->version, sizeof r->version);
    memcpy(r->hash, hello->inventory, sizeof r->hash);
    return replaces;
}

bool ledger_heartbeat(struct ledger *l, struct mono now, const char *name, struct body_heartbeat *h)
{
    struct row *r = ledger_find(l, name);
    if (!r || r == l->self || !r->live || strcmp(r->instance, h->instance) != 0 ||
        strcmp(r->boot, h->boot) != 0 || h->seq <= r->seq)
        return false;
    r->seq = h->seq;
    r->uptime_s = h->uptime_s;
    r->last = r->beat = now;
    r->misses = false;
    wait_for(l, r, WAITS_MISSED);
    if (!r->work || strcmp(r->work, h->work) != 0)
        r->changed = true;
    if (r->missed)
        r->changed = l->news = true;
    r->missed = false;
    free(r->work);
    r->work = STEAL(h->work);
    row_set_heard(l, r, true);
    return true;
}

bool ledger_inventory(struct ledger *l, const char *name, struct body_inventory *report)
{
    struct row *r = ledger_find(l, name);
    if (!r || r == l->self || !r->live || strcmp(r->instance, report->instance) != 0)
        return false;
    set_asked(&r->inventory, false);
    memcpy(r->hash, report->hash, sizeof r->hash);
    struct text t = {0};
    text_printf(&t, "\"instance\":\"%s\",\"hash\":\"%s\",%s", report->instance, report->hash,
                report->members);
    char *members = text_take(&t);
    if (!queue_add(&r->inventories, &members, LEDGER_PENDING_BYTES_MAX)) {
        free(members);
        queue_drop(&r->inventories); /* the parts before it were lost, so this one is useless */
        r->changed = true;           /* by the hash the controller knows that it lacks something */
        return false;
    }
    free(STEAL(report->members));
    return true;
}

bool ledger_fingerprint(struct ledger *l, const char *name, const struct body_fingerprint *f)
{
    struct row *r = ledger_find(l, name);
    if (!r || r == l->self || !r->live || (f->same ? !r->has_fingerprint : strcmp(r->boot, f->boot) != 0))
        return false;
    set_asked(&r->list, false); /* it answers that it is another one now */
    if (!f->same) {
        r->has_fingerprint = r->fingerprint_new = true;
        r->fingerprint = f->fingerprint;
    }
    r->verified = !r->fingerprint_new;
    l->fingerprints |= !r->changed; /* else it goes with the batch that tells of the node */
    return true;
}

bool ledger_components(struct ledger *l, const char *name, struct body_components *c)
{
    struct row *r = ledger_find(l, name);
    if (!r || r == l->self || !r->live || !r->list.asked)
        return false;
    bool last = c->part + 1 == c->parts;
    bool taken =
        c->part == r->next_part++ && queue_add(&r->components, &c->members, LEDGER_COMPONENTS_BYTES_MAX);
    if (!taken)
        queue_drop(&r->components); /* a list that lacks a part is no list */
    if (!taken || last)
        set_asked(&r->list, false);
    return taken;
}

void ledger_gone(struct ledger *l, const char *name, const char *instance)
{
    struct row *r = ledger_find(l, name);
    if (!r || r == l->self || !r->live || strcmp(r->instance, instance) != 0)
        return;
    r->live = r->misses = false;
    r->gone = r->changed = l->news = true;
    wait_for(l, r, WAITS_NOT);
    forget_asked(r);
}

void ledger_self(struct ledger *l)
{
    row_set_heard(l, l->self, true);
}

/* The row of a node of the share, the collector's own excepted. */
static struct row *find_member(const struct ledger *l, const char *name)
{
    struct row *r = ledger_find(l, name);
    return r == l->self ? NULL : r;
}

void ledger_want(struct ledger *l, const struct hostlist *nodes)
{
    for (size_t i = 0; i < nodes->n; i++) {
        struct row *r = find_member(l, nodes->names[i]);
        if (!r)
            continue;
        set_wanted(&r->inventory, true);
        r->changed |= r->known; /* the controller may not have taken the last report */
    }
}

void ledger_want_components(struct ledger *l, const struct hostlist *nodes, const struct fingerprint *wanted)
{
    for (size_t i = 0; i < nodes->n; i++) {
        struct row *r = find_member(l, nodes->names[i]);
        if (!r)
            continue;
        set_wanted(&r->list, true);
        r->list_wanted = *wanted;
    }
}

static struct request *inventory_of(struct row *r)
{
    return &r->inventory;
}

static struct request *list_of(struct row *r)
{
    return &r->list;
}

static struct row *ledger_next_asked(struct ledger *l, struct mono now, struct request *which(struct row *),
                                     struct demand *all)
{
    if (!all->wanted)
        return NULL;
    for (struct row *r = l->rows; r; r = r->hh.next)
        if (which(r)->asked && mono_sub(now, which(r)->at).ns >= ASKED.ns)
            set_asked(which(r), false);
    if (all->asked >= all->asked_max)
        return NULL;
    for (struct row *r = l->rows; r; r = r->hh.next) {
        struct request *q = which(r);
        if (!q->wanted || !r->live || q->asked)
            continue;
        set_wanted(q, false);
        set_asked(q, true);
        q->at = now;
        return r;
    }
    return NULL;
}

const char *ledger_ask(struct ledger *l, struct mono now)
{
    const struct row *r = ledger_next_asked(l, now, inventory_of, &l->inventories);
    return r ? r->name : NULL;
}

const char *ledger_ask_components(struct ledger *l, struct mono now, struct fingerprint *wanted)
{
    struct row *r = ledger_next_asked(l, now, list_of, &l->lists);
    if (!r)
        return NULL;
    r->next_part = 0;
    queue_drop(&r->components); /* parts of an answer that never ended */
    *wanted = r->list_wanted;
    return r->name;
}

void ledger_recheck(struct ledger *l, const struct hostlist *nodes)
{
    for (size_t i = 0; i < nodes->n; i++) {
        struct row *r = find_member(l, nodes->names[i]);
        if (r)
            r->recheck = r->live;
    }
}

bool ledger_take_recheck(struct ledger *l, const char *name)
{
    struct row *r = find_member(l, name);
    bool recheck = r && r->recheck;
    if (recheck)
        r->recheck = false;
    return recheck;
}

/* A heartbeat that arrived while no controller listened is old: it must not revive a node. */
void ledger_forget_told(struct ledger *l, struct mono now)
{
    for (struct row *r = l->rows; r; r = r->hh.next) {
        r->changed |= r->known;
        r->gone = r->known && !r->live;
        set_wanted(&r->inventory, false);
        set_wanted(&r->list, false);
        r->fingerprint_new = r->has_fingerprint;
        r->verified = false;
        forget_asked(r);
        row_set_heard(l, r, false);
        r->missed = true;
        drop_pending(r);
    }
    l->last_batch = now;
}

struct mono ledger_deadline(const struct ledger *l)
{
    return mono_add(l->last_batch, l->hold);
}

bool ledger_due(const struct ledger *l, struct mono now)
{
    return l->missing == 0 || mono_sub(now, ledger_deadline(l)).ns >= 0;
}

bool ledger_has_news(const struct ledger *l)
{
    return l->news || l->fingerprints || l->inventory_bytes > 0;
}

bool ledger_has_components(const struct ledger *l)
{
    return l->component_bytes > 0;
}

struct span row_silence(const struct row *r, struct mono now)
{
    return mono_sub(now, r->beat);
}

/* The moment at which the first of those that wait for this is found. */
static struct mono found_at(const struct ledger *l, int waits)
{
    const struct row *first = l->waiting[waits - WAITS_MISSED];
    struct span limit = waits == WAITS_MISSED ? l->hold : l->silent;
    return first && limit.ns ? mono_add(first->beat, limit) : (struct mono){INT64_MAX};
}

bool ledger_find_missed(struct ledger *l, struct mono now, struct mono *next)
{
    bool found = false;
    next->ns = INT64_MAX;
    for (int waits = WAITS_MISSED; waits <= WAITS_SILENT; waits++) {
        while (found_at(l, waits).ns <= now.ns) {
            struct row *r = l->waiting[waits - WAITS_MISSED];
            r->misses = found = true;
            r->ago = row_silence(r, now);
            wait_for(l, r, waits == WAITS_MISSED ? WAITS_SILENT : WAITS_NOT);
        }
        struct mono at = found_at(l, waits);
        *next = at.ns < next->ns ? at : *next;
    }
    return found;
}
