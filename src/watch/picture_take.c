/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A follower takes over what the leader observes. Moments are made of the ages that were told. What follows
 * from an observation is left to the rooms, as at the leader; but nothing is judged that only the leader can
 * know: whether somebody asked for a boot, or which instance of an agent it is.
 */
#include "watch/conform/conform.h"
#include "watch/health/health.h"
#include "watch/health_inside.h"
#include "watch/outside/outside.h"
#include "watch/picture.h"
#include "watch/presence/presence.h"
#include "watch/view/view.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* No age is longer than what the watch can keep (watch_create_following), and none lies further ahead. */
enum { AGE_MAX_S = 80 * 86400, AHEAD_MAX_S = 86400, MEMBERS_MAX = 1 << 20 };

/* A piece on its way in. */
struct taking {
    struct watch *w;
    struct mono now;
    struct wall wall;
    struct member *m;
    struct observed *o;
};

/* --- values ------------------------------------------------------------------------------------------ */

static int64_t number_of(const json_t *is, const char *key, int64_t least, int64_t most)
{
    const int64_t n = json_integer_value(json_object_get(is, key));
    return n < least ? least : n > most ? most : n;
}

/* The moment of an age, on the clock of which `now` is. Absent: ns 0. */
static struct mono moment_of(const json_t *is, const char *key, struct mono now)
{
    const int64_t ms = number_of(is, key, -INT64_C(1000) * AHEAD_MAX_S, INT64_C(1000) * AGE_MAX_S);
    const struct mono at = {now.ns - span_ms(ms).ns};
    return json_object_get(is, key) ? at : (struct mono){0};
}

static struct wall wall_of(const json_t *is, const char *key)
{
    return (struct wall){span_ms(number_of(is, key, 0, INT64_MAX / 1000000)).ns};
}

static bool is_so(const json_t *is, const char *key)
{
    return json_is_true(json_object_get(is, key));
}

/* Borrowed; NULL when it is absent. */
static const char *text_of(const json_t *is, const char *key)
{
    return json_string_value(json_object_get(is, key));
}

typedef const char *name_fn(int i);

static const char *liveness_at(int i)
{
    return liveness_name((enum liveness)i);
}

static const char *work_at(int i)
{
    return work_name((enum work)i);
}

static const char *elsewhere_at(int i)
{
    return elsewhere_state_name((enum elsewhere_state)i);
}

/* The place of a word among the first n; -EINVAL. */
static int place_of(const json_t *is, const char *key, name_fn *name, int n, struct err *e)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name(i), json_text(is, key)) == 0)
            return i;
    return err_set(e, -EINVAL, "\"%s\": \"%.40s\" is none", key, json_text(is, key));
}

/* --- presence ---------------------------------------------------------------------------------------- */

static void take_boot(const struct taking *t, const char *boot)
{
    if (strcmp(t->o->boot, boot) == 0)
        return;
    memset(t->o->boot, 0, sizeof t->o->boot);
    memcpy(t->o->boot, boot, strlen(boot));
    conformity_boot(t->w, watch_awake(t->w, t->now), t->m);
    health_boot(t->w, t->m);
}

static void take_work(struct observed *o, const json_t *running)
{
    free(o->running);
    o->running = running ? json_write(running) : NULL;
    o->work = !running ? WORK_UNKNOWN : json_array_size(running) ? WORK_BUSY : WORK_IDLE;
}

/* The session is somewhere else. That there is one is all that matters here. */
static void take_session(const struct taking *t, const json_t *is)
{
    const char *collector = text_of(is, "collector");
    t->o->session = is_so(is, "session") ? t->w : NULL;
    t->o->collector = collector ? cluster_find(t->w->cluster, collector) : NULL;
}

static int take_presence(const struct taking *t, const json_t *is, struct err *e)
{
    const char *boot = json_text(is, "boot");
    const json_t *running = json_object_get(is, "running");
    const int liveness = place_of(is, "liveness", liveness_at, LIVENESS_SILENT + 1, e);
    if (liveness < 0)
        return liveness;
    if (strlen(boot) >= sizeof t->o->boot || (running && !json_is_array(running)))
        return err_set(e, -EINVAL, "\"boot\" or \"running\" is malformed");
    take_session(t, is);
    struct observed *o = t->o;
    const struct mono at = watch_observed_at(t->w, t->now);
    o->beat.heard = moment_of(is, "heard_ms", at);
    o->beat.floor = moment_of(is, "floor_ms", at);
    o->beat.liveness = (enum liveness)liveness;
    o->missed = moment_of(is, "missed_ms", at);
    o->heard_wall = wall_of(is, "heard_at_ms");
    o->heard_before = wall_of(is, "before_at_ms");
    o->uptime_s = (uint64_t)number_of(is, "uptime_s", 0, INT64_MAX / 1000000000);
    o->uptime_at = moment_of(is, "uptime_ms", t->now);
    take_work(o, running);
    free(o->version);
    o->version = mem_dup(text_of(is, "version"));
    take_boot(t, boot);
    return 0;
}

static int take_heard(struct watch *w, struct mono now, const json_t *is, struct err *e)
{
    const json_t *list = json_object_get(is, "heard");
    const struct wall wall = wall_of(is, "wall_ms");
    size_t place = 0;
    if (!json_is_array(list) || json_array_size(list) % 2)
        return err_set(e, -EINVAL, "\"heard\" has no pairs");
    for (size_t i = 0; i < json_array_size(list); i += 2) {
        const char *name = json_string_value(json_array_get(list, i));
        const struct member *m = name ? cluster_find_next(w->cluster, &place, name) : NULL;
        const int64_t ms = json_integer_value(json_array_get(list, i + 1));
        if (!name || ms < -INT64_C(1000) * AHEAD_MAX_S || ms > INT64_C(1000) * AGE_MAX_S)
            return err_set(e, -EINVAL, "\"heard\" has no name or no age");
        if (!m)
            continue;
        struct observed *o = watch_of(w, m);
        beat_vouch(&o->beat, (struct mono){watch_observed_at(w, now).ns - span_ms(ms).ns});
        o->heard_wall = (struct wall){wall.ns - span_ms(ms).ns};
        if (silence_heeds(w, m))
            silence_look(w, m);
        row_refresh(w, m);
    }
    return 0;
}

/* --- the report, and what others say ------------------------------------------------------------------- */

static int take_report(const struct taking *t, const json_t *is, struct err *e)
{
    CLEANUP_JSON json_t *message = NULL;
    const json_t *set = json_object_get(is, "set");
    struct report *r = &t->o->report;
    t->o->inventoried = is_so(is, "inventoried");
    if (!json_is_object(set))
        return 0;
    observed_forget_before(t->o);
    if (is_so(is, "before"))
        r = t->o->before = mem_alloc(sizeof *t->o->before);
    message = json_pack("{s:s,s:b,s:O}", "hash", json_text(is, "hash"), "full", 1, "set", set);
    int rc = message ? report_update(r, message, e) : err_set(e, -EINVAL, "the report is malformed");
    row_shortfall(t->w, t->m);
    return rc;
}

static int take_elsewhere(const struct taking *t, const json_t *list, struct err *e)
{
    for (int k = 0; k < ELSEWHERES; k++) {
        const json_t *one = json_array_get(list, (size_t)k);
        const int state = place_of(one, "state", elsewhere_at, ELSEWHERE_HELD + 1, e);
        if (state < 0)
            return state;
        struct elsewhere is = {.where = (enum elsewhere_where)k,
                               .state = (enum elsewhere_state)state,
                               .out = is_so(one, "out"),
                               .since = wall_of(one, "since_ms"),
                               .how = text_of(one, "how"),
                               .by = text_of(one, "by"),
                               .why = text_of(one, "why")};
        if ((is.out || is.state == ELSEWHERE_HELD) && !is.how)
            return err_set(e, -EINVAL, "a hold without \"how\"");
        watch_elsewhere(t->w, t->now, t->m, &is);
    }
    return 0;
}

static int take_outside(const struct taking *t, const json_t *is, struct err *e)
{
    const int work = place_of(is, "work", work_at, WORK_BUSY + 1, e);
    if (work < 0)
        return work;
    const struct scheduler_word word = {.state = text_of(is, "state"),
                                        .reason = text_of(is, "reason"),
                                        .by = text_of(is, "by"),
                                        .since = wall_of(is, "since_ms"),
                                        .read = moment_of(is, "read_ms", t->now)};
    struct observed *o = t->o;
    o->scheduler = is_so(is, "scheduler");
    o->scheduled = (enum work)work;
    o->slurmd = (enum slurmd)number_of(is, "slurmd", 0, SLURMD_OFF);
    o->away = is_so(is, "away");
    scheduler_word_fini(&o->word); /* else an earlier reading would count where the last one failed */
    scheduler_word_set(&o->word, &word);
    o->word.read = word.read;
    if (is_so(is, "window_known"))
        watch_window(t->w, t->m, text_of(is, "window"));
    int rc = take_elsewhere(t, json_object_get(is, "elsewhere"), e);
    return rc < 0 ? rc : lost_read(t->w, t->now, t->m, json_object_get(is, "lost"), e);
}

/* --- checks ----------------------------------------------------------------------------------------------
 */

/* Since when a result stands is known better than by its arrival here. */
static void take_moments(const struct taking *t, const json_t *one)
{
    const size_t place = check_place(t->w, json_text(one, "check"));
    struct health_state *v = health_state_find(t->w, t->m);
    const struct mono at = watch_awake(t->w, t->now);
    if (v && place != SIZE_MAX && json_object_get(one, "since_ms"))
        said_told(v, place, moment_of(one, "since_ms", at), moment_of(one, "told_ms", at));
}

static int take_checks(const struct taking *t, const json_t *body, const json_t *others, struct err *e)
{
    bool want;
    const json_t *one;
    size_t i;
    int rc = watch_checks(t->w, t->now, t->wall, t->m, body, &want, e);
    if (rc < 0)
        return rc;
    json_array_foreach (json_object_get(body, "checks"), i, one)
        take_moments(t, one);
    json_array_foreach (others, i, one) {
        rc = outside_read(t->w, t->now, t->wall, t->m, one, e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* --- a piece ---------------------------------------------------------------------------------------------
 */

static int take_parts(const struct taking *t, const json_t *is, struct err *e)
{
    const json_t *part;
    int rc = 0;
    if ((part = json_object_get(is, "presence")))
        rc = take_presence(t, part, e);
    if (rc == 0 && (part = json_object_get(is, "report")))
        rc = take_report(t, part, e);
    if (rc == 0 && (part = json_object_get(is, "outside")))
        rc = take_outside(t, part, e);
    if (rc == 0 && (part = json_object_get(is, "conform")))
        rc = told_read(t->w, t->now, t->m, part, e);
    if (rc == 0 && (part = json_object_get(is, "checks")))
        rc = take_checks(t, part, json_object_get(is, "others"), e);
    return rc;
}

/* Which node it is about is agreed, or it reported without being configured. */
static int take_node(struct watch *w, struct mono now, struct wall wall, const json_t *is, struct err *e)
{
    const char *name = json_text(is, "node");
    if (!hostlist_name_ok(name))
        return err_set(e, -EINVAL, "\"%.64s\" is no node", name);
    if (cluster_count(w->cluster) >= MEMBERS_MAX && !cluster_find(w->cluster, name))
        return err_set(e, -ENOSPC, "there is no room for node %s", name);
    struct member *m = cluster_meet(w->cluster, name);
    const json_t *presence = json_object_get(is, "presence");
    const char *collector = json_text(presence, "collector");
    if (hostlist_name_ok(collector))
        watch_of(w, cluster_meet(w->cluster, collector)); /* from here on observations stay where they are */
    const struct taking t = {w, now, wall, m, watch_of(w, m)};
    int rc = take_parts(&t, is, e);
    if (rc < 0)
        return err_wrap(e, rc, "node %s", name);
    row_refresh(w, m);
    silence_look(w, m);
    health_changed(w, m);
    return 0;
}

int picture_take(struct watch *w, struct mono now, struct wall wall, enum picture_piece k, const json_t *is,
                 struct err *e)
{
    switch (k) {
    case PICTURE_NODE: return take_node(w, now, wall, is, e);
    case PICTURE_LIST: return told_list_read(w, is, e);
    case PICTURE_HEARD: return take_heard(w, now, is, e);
    case PICTURE_WHOLE:
    case PICTURE_PIECES: break;
    }
    return 0;
}
