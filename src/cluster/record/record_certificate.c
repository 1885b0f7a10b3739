/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificate/KIND:NAME: the certificates of one holder. A record is read whole before anything changes.
 */
#include "cluster/record/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_BYTES_MAX = REASON_BYTES_MAX + 300 /* with whose word it is */ };

struct holder_slot {
    struct holder h; /* with its strings */
    uint64_t sum;
    UT_hash_handle hh;
};

static void holder_fini(struct holder *h)
{
    for (size_t i = 0; i < h->n; i++) {
        free(h->made[i].by);
        free(h->made[i].why);
    }
    free(h->made);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The members serial, key, role, from and until. The rest of *out is empty. */
static int terms_read(const json_t *o, struct made *out, struct err *e)
{
    uint64_t from, until;
    *out = (struct made){0};
    if (record_hex(o, "serial", &out->serial, e) < 0 || record_hex(o, "key", &out->key, e) < 0 ||
        record_word(o, "role", out->role, CERTIFICATE_ROLE_BYTES_MAX, e) < 0 ||
        record_time(o, "from", &from, e) < 0 || record_time(o, "until", &until, e) < 0)
        return -EINVAL;
    out->from.ns = (int64_t)from;
    out->until.ns = (int64_t)until;
    return 0;
}

static int made_read(const json_t *o, struct made *out, struct err *e)
{
    static const char *const keys[] = {"serial", "key", "role",    "at", "from",
                                       "until",  "by",  "revoked", "why"};
    const char *by, *why = NULL;
    uint64_t at, revoked = 0;
    if (!json_is_object(o))
        return err_set(e, -EINVAL, "no object");
    if (json_only_keys(o, keys, sizeof keys / sizeof keys[0], e) < 0 || terms_read(o, out, e) < 0 ||
        record_time(o, "at", &at, e) < 0 || json_take_clause(o, "by", REASON_BYTES_MAX, &by, e) < 0)
        return -EINVAL;
    if (json_object_get(o, "revoked") && (record_time(o, "revoked", &revoked, e) < 0 ||
                                          json_take_clause(o, "why", WHY_BYTES_MAX, &why, e) < 0))
        return -EINVAL;
    out->at.ns = (int64_t)at;
    out->revoked.ns = (int64_t)revoked;
    out->by = mem_dup(by);
    out->why = mem_dup(why);
    return 0;
}

/* *out is the caller's to give to holder_fini, also after an error. */
static int holder_read(const json_t *o, struct holder *out, struct err *e)
{
    static const char *const keys[] = {"least", "ends", "made"};
    const json_t *list = json_object_get(o, "made");
    size_t n = json_array_size(list);
    uint64_t ends;
    if (json_only_keys(o, keys, 3, e) < 0 || record_hex(o, "least", &out->least, e) < 0 ||
        record_time(o, "ends", &ends, e) < 0)
        return -EINVAL;
    out->ends.ns = (int64_t)ends;
    if (!json_is_array(list) || n > CERTIFICATES_EACH_MAX)
        return err_set(e, -EINVAL, "\"made\" is no array of at most %d", CERTIFICATES_EACH_MAX);
    out->made = mem_alloc((n + 1) * sizeof *out->made);
    for (; out->n < n; out->n++) {
        if (made_read(json_array_get(list, out->n), &out->made[out->n], e) < 0)
            return err_wrap(e, -EINVAL, "certificate %zu", out->n + 1);
        if (out->n && out->made[out->n].serial <= out->made[out->n - 1].serial) {
            out->n++;
            return err_set(e, -EINVAL, "certificate %zu is not in the order of the numbers", out->n);
        }
    }
    return 0;
}

static bool subject_ok(const char *subject)
{
    static const char *const kinds[] = {"node:", "operator:", "controller:"};
    bool known = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        known |= strncmp(subject, kinds[i], strlen(kinds[i])) == 0 && subject[strlen(kinds[i])];
    return known && strlen(subject) <= SUBJECT_BYTES_MAX && text_is_clean(subject);
}

/* --- writing ---------------------------------------------------------------------------------- */

static void made_write(const struct made *m, struct text *t)
{
    text_printf(t, "{\"serial\":\"%" PRIx64 "\",\"key\":\"%" PRIx64 "\",\"role\":\"%s\"", m->serial, m->key,
                m->role);
    text_printf(t, ",\"at\":\"%lld\",\"from\":\"%lld\",\"until\":\"%lld\",\"by\":", (long long)m->at.ns,
                (long long)m->from.ns, (long long)m->until.ns);
    text_add_json(t, m->by);
    if (m->revoked.ns) {
        text_printf(t, ",\"revoked\":\"%lld\",\"why\":", (long long)m->revoked.ns);
        text_add_json(t, m->why);
    }
    text_add_char(t, '}');
}

char *holder_record(const struct holder *h)
{
    struct text t = {0};
    text_printf(&t, "{\"least\":\"%" PRIx64 "\",\"ends\":\"%lld\",\"made\":[", h->least,
                (long long)h->ends.ns);
    for (size_t i = 0; i < h->n; i++) {
        text_add(&t, i ? "," : "");
        made_write(&h->made[i], &t);
    }
    text_add(&t, "]}");
    return text_take(&t);
}

/* --- the state -------------------------------------------------------------------------------- */

static struct holder_slot *holder_slot(const struct cluster *c, const char *subject)
{
    struct holder_slot *s;
    HASH_FIND_STR(c->holders, subject, s);
    return s;
}

/* How many subjects do not come after this one. */
static size_t place_after(const struct cluster *c, const char *subject)
{
    size_t from = 0, to = HASH_COUNT(c->holders);
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (strcmp(c->holders_in_order[middle]->h.subject, subject) <= 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Records are read in their order: then nothing moves. */
static void holder_insert(struct cluster *c, struct holder_slot *s)
{
    size_t n = HASH_COUNT(c->holders);
    bool is_last = n == 0 || strcmp(c->holders_in_order[n - 1]->h.subject, s->h.subject) < 0;
    size_t at = is_last ? n : place_after(c, s->h.subject);
    if (n == c->holders_cap) {
        c->holders_cap = n ? 2 * n : 16;
        c->holders_in_order = mem_grow(c->holders_in_order, c->holders_cap * sizeof(struct holder_slot *));
    }
    memmove(c->holders_in_order + at + 1, c->holders_in_order + at, (n - at) * sizeof(struct holder_slot *));
    c->holders_in_order[at] = s;
    HASH_ADD_KEYPTR(hh, c->holders, s->h.subject, strlen(s->h.subject), s);
}

static void holder_drop(struct cluster *c, struct holder_slot *s)
{
    if (!s)
        return;
    size_t at = place_after(c, s->h.subject), n = HASH_COUNT(c->holders);
    memmove(c->holders_in_order + at - 1, c->holders_in_order + at, (n - at) * sizeof(struct holder_slot *));
    HASH_DEL(c->holders, s);
    c->sum -= s->sum;
    free(s->h.subject);
    holder_fini(&s->h);
    free(s);
}

int put_certificate(struct cluster *c, const char *subject, const char *value, struct err *e)
{
    struct holder h = {0};
    if (!value) {
        holder_drop(c, holder_slot(c, subject));
        return 0;
    }
    if (!subject_ok(subject))
        return err_set(e, -EILSEQ, "\"%.80s\" holds no certificates", subject);
    CLEANUP_JSON json_t *o = record_object(value, e);
    if (!o)
        return -EILSEQ;
    if (holder_read(o, &h, e) < 0) {
        holder_fini(&h);
        return -EILSEQ;
    }
    holder_drop(c, holder_slot(c, subject));
    struct holder_slot *s = mem_alloc(sizeof *s);
    s->h = h;
    s->h.subject = mem_dup(subject);
    CLEANUP_FREE char *record = holder_record(&h);
    /* A controller's changes with its process, and nothing that is decided rests on it. */
    s->sum = strncmp(subject, "controller:", strlen("controller:")) == 0 ? 0 : record_sum(subject, record);
    c->sum += s->sum;
    holder_insert(c, s);
    if (c->on_certificate)
        c->on_certificate(c->on_certificate_arg, &s->h);
    return 0;
}

void cluster_on_certificate(struct cluster *c, holder_fn *fn, void *arg)
{
    c->on_certificate = fn;
    c->on_certificate_arg = arg;
}

const struct holder *cluster_holder(const struct cluster *c, const char *subject)
{
    const struct holder_slot *s = holder_slot(c, subject);
    return s ? &s->h : NULL;
}

void cluster_each_holder(const struct cluster *c, holder_fn *fn, void *arg)
{
    for (size_t i = 0; i < HASH_COUNT(c->holders); i++)
        fn(arg, &c->holders_in_order[i]->h);
}

const struct holder *cluster_holder_after(const struct cluster *c, const char *subject)
{
    size_t at = place_after(c, subject);
    return at < HASH_COUNT(c->holders) ? &c->holders_in_order[at]->h : NULL;
}

static const struct made *made_find(const struct holder *h, uint64_t serial)
{
    for (size_t i = 0; i < h->n; i++)
        if (h->made[i].serial == serial)
            return &h->made[i];
    return NULL;
}

/* Certificates of a node that were asked for before the last one and never used have no record any more. */
static bool is_replaced(const struct holder *h, uint64_t serial)
{
    return strncmp(h->subject, "node:", strlen("node:")) == 0 && serial && h->n &&
           serial < h->made[h->n - 1].serial && !made_find(h, serial);
}

int cluster_certificate_judge(const struct cluster *c, const char *subject, uint64_t serial, struct err *e)
{
    const struct holder *h = cluster_holder(c, subject);
    const struct made *m = h ? made_find(h, serial) : NULL;
    if (m && m->revoked.ns)
        return err_set(e, -EPERM, "certificate %" PRIx64 " of %s was revoked by %s", serial, subject, m->why);
    if (h && (serial < h->least || is_replaced(h, serial)))
        return err_set(e, -EPERM,
                       "certificate %" PRIx64 " of %s has ended: there was a later one, or it was revoked",
                       serial, subject);
    return 0;
}

uint64_t cluster_serial_max(const struct cluster *c)
{
    uint64_t most = 0;
    for (const struct holder_slot *s = c->holders; s; s = s->hh.next) {
        uint64_t last = s->h.n ? s->h.made[s->h.n - 1].serial : 0;
        most = last > most ? last : most;
        most = s->h.least > most ? s->h.least : most;
    }
    return most;
}

void certificates_forget(struct cluster *c)
{
    for (size_t n; (n = HASH_COUNT(c->holders)) > 0;)
        holder_drop(c, c->holders_in_order[n - 1]);
    free(STEAL(c->holders_in_order));
    c->holders_cap = 0;
}
