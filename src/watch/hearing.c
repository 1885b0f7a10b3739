/* SPDX-License-Identifier: Apache-2.0 */
/* The results of checks that nodes send (CHECKS): they are read first and believed then. */
#include "watch/health/health.h"
#include "watch/hearing_inside.h"
#include "watch/trial/trial.h"
#include "watch/view/view.h"
#include "watch/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AGE_MAX_MS = 1000000000 };

struct heard_all {
    size_t n;
    struct heard *list;
};

static void heard_fini(struct heard_all *h)
{
    for (size_t i = 0; i < h->n; i++)
        saying_fini(&h->list[i].saying);
    free(h->list);
}

static int take_blind(const json_t *one, struct saying *s, struct err *e)
{
    const char *why = json_text(one, "blind");
    if (strlen(why) > FINDING_TEXT_BYTES_MAX)
        return err_set(e, -EINVAL, "\"blind\" has more than %d bytes", FINDING_TEXT_BYTES_MAX);
    if (!*why)
        return 0;
    free(s->text);
    s->text = mem_dup(why);
    s->blind = true;
    return 0;
}

static int read_one(const struct watch *w, const json_t *one, struct heard_all *out, struct verdict *v,
                    struct err *e)
{
    const char *name;
    uint64_t age = 0;
    if (!json_is_object(one))
        return err_set(e, -EINVAL, "a check is no object");
    int rc = json_take_string(one, "check", &name, e);
    if (rc == 0)
        rc = json_take_u64(one, "age_ms", UINT64_MAX >> 1, &age, e);
    if (rc < 0)
        return -EINVAL;
    rc = verdict_read(one, v, e);
    if (rc < 0)
        return err_wrap(e, rc, "check \"%.48s\"", name);
    size_t place = out->n ? out->list[out->n - 1].place + 1 : 0; /* they come in the order of the records */
    if (place >= check_count(w) || strcmp(check_at(w, place)->name, name) != 0)
        place = check_place(w, name);
    if (place == SIZE_MAX)
        return 0; /* the check is not in our records any more, or not yet */
    verdict_cap(v, check_at(w, place)->severity);
    struct heard *h = &out->list[out->n++];
    h->place = place;
    h->age_ms = (int64_t)(age < AGE_MAX_MS ? age : AGE_MAX_MS);
    heard_keep(v, h);
    return take_blind(one, &h->saying, e);
}

static int read_all(const struct watch *w, const json_t *list, struct heard_all *out, struct err *e)
{
    CLEANUP_FREE struct verdict *v = mem_alloc(sizeof *v);
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n > CHECKS_MAX)
        return err_set(e, -EINVAL, "checks is no array of at most %d", CHECKS_MAX);
    out->list = mem_alloc((n + 1) * sizeof *out->list);
    for (size_t i = 0; i < n; i++)
        if (read_one(w, json_array_get(list, i), out, v, e) < 0)
            return -EINVAL;
    return 0;
}

static bool is_among(const struct heard_all *h, size_t place)
{
    if (place < h->n && h->list[place].place == place)
        return true;
    for (size_t i = 0; i < h->n; i++)
        if (h->list[i].place == place)
            return true;
    return false;
}

/* A full report that omits a check says nothing about it: what the check said before is forgotten. Extensive
 * checks are not in the report, because their operations report them. */
static void forget_others(struct watch *w, struct health_state *v, const struct heard_all *h)
{
    for (size_t i = 0; i < check_count(w); i++) {
        if (is_among(h, i) || !check_repeats(check_at(w, i)))
            continue;
        said_forget(v, i);
    }
}

void watch_checklist(struct watch *w, const char *hash)
{
    snprintf(w->hearing->list, sizeof w->hearing->list, "%s", hash);
}

/* Whether the report follows the list that agents get now. "" is the node's own list. */
static bool is_by_present_list(const struct watch *w, const json_t *body)
{
    const char *list = json_text(body, "list");
    return !*list || !*w->hearing->list || strcmp(list, w->hearing->list) == 0;
}

/* Whether this is an old result of an extensive check that is sent once more, although a person, or a new
 * instance, has answered for it since. */
static bool is_answered(const struct watch *w, struct wall wall, const struct member *m,
                        const struct heard *h)
{
    const struct repair *r = member_repairs(m);
    return r && (r->step == STEP_PROVISION || r->step == STEP_NONE) &&
           !check_repeats(check_at(w, h->place)) && wall.ns - span_ms(h->age_ms).ns < r->since.ns;
}

int watch_checks(struct watch *w, struct mono now, struct wall wall, struct member *m, const json_t *body,
                 bool *want, struct err *e)
{
    const char *boot;
    uint64_t log_next = 0;
    bool full = false;
    *want = false;
    int rc = json_take_string(body, "boot", &boot, e);
    if (rc == 0 && json_object_get(body, "log_next"))
        rc = json_take_u64(body, "log_next", INT64_MAX, &log_next, e);
    if (rc == 0 && json_take_bool(body, "full", &full, e) == -EINVAL)
        rc = -EINVAL;
    struct heard_all h __attribute__((cleanup(heard_fini))) = {0};
    if (rc == 0)
        rc = read_all(w, json_object_get(body, "checks"), &h, e);
    if (rc < 0)
        return -EINVAL;
    struct mono at = watch_observed_at(w, now);
    if (strcmp(boot, watch_of(w, m)->boot) != 0)
        return 0; /* a finding from before the last boot says nothing about this boot */
    struct health_state *v = health_state_of(w, m);
    health_state_assign(w, m, v);
    if (is_by_present_list(w, body))
        v->list = check_generation(w);
    if (full)
        forget_others(w, v, &h);
    for (size_t i = 0; i < h.n; i++)
        if (check_rule_of(w, h.list[i].place)->since <= v->list && !is_answered(w, wall, m, &h.list[i]) &&
            !trial_says(w, m, h.list[i].place))
            heard_believe(w, at, v, &h.list[i]);
    watch_touch(w, m, ASPECT_CHECKS);
    v->told |= full;
    v->log_next = log_next > v->log_next ? log_next : v->log_next;
    if (full && v->anew == ANEW_ASKED)
        v->anew = ANEW_TOLD;
    *want = !v->told;
    health_heard(w, at, wall, m);
    return 0;
}
