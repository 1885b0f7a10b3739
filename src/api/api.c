/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "api/call.h"
#include "api/gate.h"
#include "api/request.h"
#include "base/log.h"
#include "base/loop.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static call_fn *const calls[ROUTES] = {
#define ROUTE(operation, method, path, right) [ROUTE_##operation] = call_##operation,
#include "api/route.tbl"
#undef ROUTE
};

/* The name of a user, or "uid:1234". */
static char *user_name(uid_t uid)
{
    struct passwd entry, *found = NULL;
    char buf[4096];
    if (getpwuid_r(uid, &entry, buf, sizeof buf, &found) == 0 && found)
        return mem_dup(found->pw_name);
    struct text t = {0};
    text_printf(&t, "uid:%u", (unsigned)uid);
    return text_take(&t);
}

/* The names of two local users are looked up here, once, because a look-up may wait for a directory server:
 * these two may act when there is none. */
struct api *api_create(struct cluster *c, struct watch *w, struct events *events, const struct api_policy *p,
                       const struct api_shell *shell)
{
    struct api *a = mem_alloc(sizeof *a);
    *a = (struct api){.cluster = c,
                      .watch = w,
                      .events = events,
                      .policy = *p,
                      .shell = *shell,
                      .own = shell->is_service ? 0 : geteuid()};
    a->root_name = user_name(0);
    a->own_name = user_name(a->own);
    a->placer = placer_create();
    a->numbers = numbers_create();
    return a;
}

void api_destroy(struct api *a)
{
    if (!a)
        return;
    free(a->root_name);
    free(a->own_name);
    placer_destroy(a->placer);
    numbers_destroy(a->numbers);
    free(a);
}

void api_set_policy(struct api *a, const struct api_policy *p)
{
    a->policy = *p;
    a->configured++;
}

int call_needs_current(const struct call *c, struct err *e)
{
    struct span age;
    int rc = c->api->shell.observed(c->api->shell.arg, &age, e);
    return rc < 0 ? rc : 0;
}

/* A follower answers from what it was told: the answer says how long ago. */
static void note_age(const struct call *c)
{
    struct span age = {-1};
    if (c->api->shell.observed(c->api->shell.arg, &age, NULL) != SHELL_OBSERVES && age.ns >= 0)
        http_set_age(c->request, (uint64_t)(age.ns / 1000000000));
}

int call_query_number(const struct call *c, const char *key, uint64_t min, uint64_t max, uint64_t *out,
                      struct err *e)
{
    const char *value = http_query(c->request, key);
    if (!value)
        return 0;
    int rc = text_parse_u64(value, min, max, out, e);
    return rc < 0 ? err_wrap(e, rc, "\"%s\"", key) : 0;
}

int call_query_moment(const struct call *c, const char *key, struct wall *out, struct err *e)
{
    uint64_t s = 0;
    int rc = call_query_number(c, key, 0, INT64_MAX / 1000000000 - 1, &s, e);
    if (rc == 0 && http_query(c->request, key))
        out->ns = (int64_t)s * 1000000000;
    return rc;
}

int call_query_bool(const struct call *c, const char *key, bool *out, struct err *e)
{
    const char *value = http_query(c->request, key);
    if (!value)
        return 0;
    int rc = text_parse_bool(value, out, e);
    return rc < 0 ? err_wrap(e, rc, "\"%s\"", key) : 0;
}

int call_query_class(const struct call *c, int *out, struct err *e)
{
    const char *name = http_query(c->request, "class");
    uint16_t class = 0;
    int rc = name ? classes_find(cluster_classes(c->api->cluster), name, &class, e) : 0;
    *out = name && rc == 0 ? class : -1;
    return rc;
}

static int check_key(const char *key, const char *const *known, size_t n, bool *seen, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(known[i], key) != 0)
            continue;
        if (seen[i])
            return err_set(e, -EINVAL, "\"%s\" is in the query twice", key);
        seen[i] = true;
        return 0;
    }
    const char *near = text_nearest(key, known, n);
    if (near)
        return err_set(e, -EINVAL, "unknown key \"%.100s\" in the query; the nearest known is \"%s\"", key,
                       near);
    return err_set(e, -EINVAL, "unknown key \"%.100s\" in the query", key);
}

static int check_query(const struct http_request *r, enum route route, struct err *e)
{
    const char *const *known;
    size_t n = route_keys(route, &known);
    bool seen[ROUTE_KEYS_MAX] = {false};
    const char *key;
    for (size_t i = 0; (key = http_query_key(r, i)); i++) {
        int rc = check_key(key, known, n, seen, e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* A call of a caller who may make it. */
static int carry_out(struct api *a, struct http_request *r, const struct called *called,
                     const struct caller *caller, struct text *answer, struct err *e)
{
    struct call c = {.api = a,
                     .request = r,
                     .route = called->route,
                     .parameter = called->parameter,
                     .caller = caller,
                     .now = mono_now(),
                     .wall = wall_now()};
    int rc = check_query(r, c.route, e);
    bool changes = rc == 0 && access_right_changes(route_get(c.route)->right);
    if (changes)
        rc = a->shell.leads(a->shell.arg, e);
    if (rc < 0)
        return rc;
    if (!changes)
        note_age(&c);
    LOOP_DOES(route_get(c.route)->work);
    CLEANUP_TEXT struct text actor = {0};
    if (changes)
        caller_say(caller, &actor);
    c.actor = actor.s;
    c.reads_secrets = access_permits(RIGHT_ADMINISTER, caller->roles);
    struct request_text asked;
    rc = call_query_bool(&c, "dry_run", &c.dry, e);
    if (rc == 0 && changes && !c.dry)
        rc = request_enter(&c, &asked, e);
    if (rc == 0 && c.begun && remembered_is_whole(c.begun))
        rc = request_replay(&c, e);
    return rc != 0 ? rc : calls[c.route](&c, answer, e);
}

void api_party(void *arg, struct stream *s, struct party *out)
{
    const struct api *a = arg;
    struct caller caller = caller_of(s);
    caller_give_roles(&caller, NULL, NULL, &a->policy, a->own);
    caller_party(&caller, stream_peer_network(s), out);
    caller_fini(&caller);
}

void call_answer(struct http_request *r, struct text *answer)
{
    text_add_char(answer, '\n');
    size_t len = answer->len;
    http_answer_take(r, 200, NULL, text_take(answer), len);
}

/* The caller is known and may do this; or it may not. called: NULL, with the reason, when there is no such
 * route. */
static void on_caller(struct api *a, struct http_request *r, const struct called *called,
                      const struct caller *caller, const struct err *why)
{
    struct text answer = {0};
    struct err e = {0};
    struct mono began = mono_now();
    CLEANUP_FREE char *path = mem_dup(http_path(r));
    CLEANUP_FREE char *from = mem_dup(stream_peer_address(http_stream(r)));
    int rc = why ? err_set(&e, why->code, "%s", why->msg) : carry_out(a, r, called, caller, &answer, &e);
    log_debug(LOG_API, "%s %s from %s: %s, %lld us", http_method_name(r), path, from,
              rc < 0    ? e.msg
              : rc == 0 ? "answered"
                        : "under way",
              (long long)mono_sub(mono_now(), began).ns / 1000);
    if (rc == 0) {
        call_answer(r, &answer);
    } else if (rc < 0) {
        e.code = rc;
        http_answer_err(r, &e);
    }
    text_fini(&answer);
}

void api_request(void *arg, struct http_request *r)
{
    struct called called;
    struct err e = {0};
    int rc =
        route_find(http_method(r), http_method_name(r), http_path(r), &called.route, &called.parameter, &e);
    e.code = rc;
    if (rc == 0)
        gate_enter(arg, r, &called, on_caller);
    else
        on_caller(arg, r, NULL, NULL, &e);
}
