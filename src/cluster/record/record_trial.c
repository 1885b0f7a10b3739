/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial/NAME: the check for which a node is held, and when each ran last. A record is read whole before
 * anything changes.
 */
#include "cluster/record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- reading ---------------------------------------------------------------------------------- */

static int read_now(const json_t *now, struct trial_record *out, struct err *e)
{
    static const char *const keys[] = {"claim", "check", "began", "deadline"};
    uint64_t began, deadline;
    if (json_is_null(now))
        return 0;
    if (!json_is_object(now))
        return err_set(e, -EINVAL, "\"now\" is neither null nor an object");
    if (json_only_keys(now, keys, 4, e) < 0 ||
        record_word(now, "claim", out->claim, CLAIM_ID_BYTES_MAX, e) < 0 ||
        record_word(now, "check", out->check, CHECK_NAME_BYTES_MAX, e) < 0 ||
        record_time(now, "began", &began, e) < 0 || record_time(now, "deadline", &deadline, e) < 0)
        return -EINVAL;
    if (!*out->claim || !*out->check)
        return err_set(e, -EINVAL, "a trial of no claim, or of no check");
    out->began.ns = (int64_t)began;
    out->deadline.ns = (int64_t)deadline;
    return 0;
}

static int read_tried(const char *check, const json_t *o, struct tried *out, struct err *e)
{
    static const char *const keys[] = {"at", "result"};
    const char *result;
    uint64_t at;
    size_t len = strlen(check);
    if (len == 0 || len > CHECK_NAME_BYTES_MAX || !text_is_clean(check))
        return err_set(e, -EINVAL, "\"%.80s\" is no name of a check", check);
    if (!json_is_object(o))
        return err_set(e, -EINVAL, "%s: what it came to is no object", check);
    if (json_only_keys(o, keys, 2, e) < 0 || record_time(o, "at", &at, e) < 0 ||
        json_take_string(o, "result", &result, e) < 0)
        return err_wrap(e, -EINVAL, "%s", check);
    if (!result_parse(result, &out->result))
        return err_set(e, -EINVAL, "%s: a check comes to nothing called \"%.40s\"", check, result);
    memcpy(out->check, check, len + 1);
    out->at.ns = (int64_t)at;
    return 0;
}

static int latest_first(const void *a, const void *b)
{
    const struct tried *x = a, *y = b;
    if (x->at.ns != y->at.ns)
        return x->at.ns < y->at.ns ? 1 : -1;
    return strcmp(x->check, y->check);
}

static int read_last(const json_t *last, struct trial_record *out, struct err *e)
{
    const char *check;
    const json_t *one;
    if (!json_is_object(last) || json_object_size(last) > TRIALS_KEPT_MAX)
        return err_set(e, -EINVAL, "\"last\" is no object of at most %d", TRIALS_KEPT_MAX);
    out->last = mem_alloc((json_object_size(last) + 1) * sizeof *out->last);
    JSON_OBJECT_EACH (last, check, one)
        if (read_tried(check, one, &out->last[out->n_last++], e) < 0)
            return -EINVAL;
    qsort(out->last, out->n_last, sizeof *out->last, latest_first);
    return 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

char *trial_record(const struct trial_record *r)
{
    struct text t = {0};
    text_add(&t, "{\"now\":");
    if (*r->claim) {
        text_add(&t, "{\"claim\":");
        text_add_json(&t, r->claim);
        text_add(&t, ",\"check\":");
        text_add_json(&t, r->check);
        text_printf(&t, ",\"began\":\"%lld\",\"deadline\":\"%lld\"}", (long long)r->began.ns,
                    (long long)r->deadline.ns);
    } else {
        text_add(&t, "null");
    }
    text_add(&t, ",\"last\":{");
    for (size_t i = 0; i < r->n_last; i++) {
        text_add(&t, i ? "," : "");
        text_add_json(&t, r->last[i].check);
        text_printf(&t, ":{\"at\":\"%lld\",\"result\":\"%s\"}", (long long)r->last[i].at.ns,
                    result_name(r->last[i].result));
    }
    text_add(&t, "}}");
    return text_take(&t);
}

/* --- of members ------------------------------------------------------------------------------- */

const struct trial_record *member_trial(const struct member *m)
{
    return m->past ? m->past->trial : NULL;
}

const struct tried *trial_last(const struct trial_record *t, const char *check)
{
    for (size_t i = 0; t && i < t->n_last; i++)
        if (strcmp(t->last[i].check, check) == 0)
            return &t->last[i];
    return NULL;
}

static uint64_t trial_sum(const struct member *m)
{
    if (!member_trial(m))
        return 0;
    CLEANUP_FREE char *record = trial_record(member_trial(m));
    return record_sum(m->name, record);
}

static void trial_free(struct trial_record *t)
{
    if (t)
        free(t->last);
    free(t);
}

/* Takes t over. */
static void take_trial(struct cluster *c, struct member *m, struct trial_record *t)
{
    c->sum -= trial_sum(m);
    if (m->past)
        trial_free(STEAL(m->past->trial));
    if (t)
        member_past(m)->trial = t;
    past_trim(m);
    c->sum += trial_sum(m);
}

void member_forget_trial(struct cluster *c, struct member *m)
{
    take_trial(c, m, NULL);
}

int put_trial(struct cluster *c, const char *name, const char *value, struct err *e)
{
    static const char *const keys[] = {"now", "last"};
    if (record_name_check(name, e) < 0)
        return -EILSEQ;
    if (!value) {
        struct member *m = cluster_find(c, name);
        if (m)
            member_forget_trial(c, m);
        return 0;
    }
    CLEANUP_JSON json_t *o = record_object(value, e);
    struct trial_record *t = mem_alloc(sizeof *t);
    if (!o || json_only_keys(o, keys, 2, e) < 0 || read_now(json_object_get(o, "now"), t, e) < 0 ||
        read_last(json_object_get(o, "last"), t, e) < 0) {
        trial_free(t);
        return -EILSEQ;
    }
    take_trial(c, cluster_meet(c, name), t);
    return 0;
}
