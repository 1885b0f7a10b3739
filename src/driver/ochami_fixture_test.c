/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/ochami_fixture_test.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMEOUT_S = 20, TEST_S = 200 };

static const struct ochami_pace pace = {
    .retry_min = {10000000},
    .retry_max = {80000000},
    .poll = {30000000},
    .resend = {2000000000},
    .tick_ms = 5,
    .answered_ms = 1000,
};

static void on_beat(uv_timer_t *t)
{
}

static void start_server(struct world *w)
{
    int in[2], out[2];
    char *const argv[] = {getenv("OCHAMI_SERVER"), NULL};
    posix_spawn_file_actions_t actions;
    assert_non_null(argv[0]);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    assert_int_equal(posix_spawn(&w->server, argv[0], &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    w->server_in = in[1];
    FILE *f = fdopen(out[0], "r");
    assert_int_equal(fscanf(f, "%u", &w->port), 1);
    fclose(f);
}

static char *printed(const char *format, unsigned port)
{
    struct text t = {0};
    text_printf(&t, "http://127.0.0.1:%u%s", port, format);
    return text_take(&t);
}

static void on_commit(uv_timer_t *t);

static void on_result(void *arg, const char *key, const char *result)
{
    struct world *w = arg;
    struct record *c = mem_alloc(sizeof *c), **at = &w->commits;
    *c = (struct record){mem_dup(key), mem_dup(result), NULL};
    while (*at)
        at = &(*at)->next;
    *at = c;
    w->n_results++;
    uv_timer_start(&w->commit, on_commit, 0, 0);
}

static int on_may_reboot(void *arg, const char *node, const char *boot, struct err *e)
{
    struct world *w = arg;
    w->n_may++;
    assert_string_equal(boot, "b-1");
    return w->refusal ? err_set(e, w->is_for_now ? -EAGAIN : -EBUSY, "%s", w->refusal) : 0;
}

static void on_trouble(void *arg, const char *service, const struct err *why)
{
    struct world *w = arg;
    bool was_away = w->n_away > w->n_back;
    w->n_away += why && !was_away;
    w->n_back += !why && was_away;
    if (why)
        snprintf(w->last_trouble, sizeof w->last_trouble, "%.30s: %s", service, why->msg);
}

static struct record *find(const struct world *w, const char *key)
{
    struct record *r = w->records;
    while (r && strcmp(r->key, key) != 0)
        r = r->next;
    return r;
}

const char *world_record(const struct world *w, const char *key)
{
    const struct record *r = find(w, key);
    return r ? r->value : NULL;
}

void world_put(struct world *w, const char *key, const char *value)
{
    struct record *r = find(w, key);
    if (!r) {
        r = mem_alloc(sizeof *r);
        *r = (struct record){mem_dup(key), NULL, w->records};
        w->records = r;
    }
    free(r->value);
    r->value = mem_dup(value);
    if (w->o)
        ochami_effect(w->o, key, value);
}

/* A result becomes the record's `done`. A record with nothing wanted and nothing done is deleted. */
static void apply(struct world *w, const char *key, const char *done)
{
    const char *value = world_record(w, key);
    if (!value)
        return;
    CLEANUP_JSON json_t *all = json_read(value, strlen(value), NULL);
    json_object_set_new(all, "done", json_loads(done, JSON_DECODE_ANY, NULL));
    bool is_over = json_object_get(all, "want") && json_is_null(json_object_get(all, "want")) &&
                   strcmp(done, "null") == 0;
    CLEANUP_FREE char *text = json_write(all);
    world_put(w, key, is_over ? NULL : text);
}

static void on_commit(uv_timer_t *t)
{
    struct world *w = t->data;
    for (struct record *c; !w->is_held && (c = w->commits);) {
        w->commits = c->next;
        apply(w, c->key, c->value);
        free(c->key);
        free(c->value);
        free(c);
    }
}

void world_release(struct world *w)
{
    w->is_held = false;
    on_commit(&w->commit);
}

static void forget(struct record **list)
{
    for (struct record *r; (r = *list);) {
        *list = r->next;
        free(r->key);
        free(r->value);
        free(r);
    }
}

void world_start(struct world *w)
{
    const struct ochami_conf conf = {.smd = w->smd, .bss = w->bss, .pcs = w->pcs, .group = "drifted"};
    const struct ochami_sink sink = {w, on_result, on_may_reboot, on_trouble};
    w->o = ochami_create(&w->loop, &conf, &sink);
    ochami_set_pace(w->o, &pace);
    for (const struct record *r = w->records; r; r = r->next)
        if (r->value)
            ochami_effect(w->o, r->key, r->value);
}

void world_kill(struct world *w)
{
    ochami_destroy(w->o);
    w->o = NULL;
    forget(&w->commits);
}

int world_setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    *w = (struct world){.server_in = -1, .since = mono_now()};
    *state = w;
    uv_loop_init(&w->loop);
    uv_timer_init(&w->loop, &w->commit);
    w->commit.data = w;
    uv_timer_init(&w->loop, &w->metronome);
    uv_timer_start(&w->metronome, on_beat, 5, 5);
    start_server(w);
    w->smd = printed("/smd/hsm/v2", w->port);
    w->bss = printed("/bss/boot/v1", w->port);
    w->pcs = printed("/pcs/", w->port);
    w->fetch = fetch_create(&w->loop, &(struct fetch_options){0});
    world_tell(w, "/test/component/x0c0s0b0n0", "{}");
    world_start(w);
    return 0;
}

int world_teardown(void **state)
{
    struct world *w = *state;
    if (w->o)
        world_kill(w);
    fetch_destroy(w->fetch);
    uv_close((uv_handle_t *)&w->commit, NULL);
    uv_close((uv_handle_t *)&w->metronome, NULL);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0); /* the driver leaves no handle */
    close(w->server_in);
    waitpid(w->server, NULL, 0);
    forget(&w->records);
    forget(&w->commits);
    free(w->smd);
    free(w->bss);
    free(w->pcs);
    free(w);
    return 0;
}

static void put_with_done(struct world *w, const char *key, const char *members)
{
    CLEANUP_FREE char *done = world_done(w, key);
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{%s,\"done\":%s}", members, done);
    world_put(w, key, t.s);
}

void world_want(struct world *w, const char *node, const char *xname, const char *want)
{
    CLEANUP_TEXT struct text key = {0}, members = {0};
    static unsigned id;
    text_printf(&key, "effect/ochami.%s", node);
    text_printf(&members, "\"id\":\"e%u\",\"xname\":\"%s\",\"want\":%s", ++id, xname, want ? want : "null");
    put_with_done(w, key.s, members.s);
}

void world_reboot(struct world *w, const char *node, const char *xname, const char *id, const char *image)
{
    CLEANUP_TEXT struct text key = {0}, value = {0};
    text_printf(&key, "effect/reboot.%s", node);
    text_printf(&value, "{\"id\":\"%s\",\"xname\":\"%s\",\"boot\":\"b-1\",\"image\":%s,\"done\":null}", id,
                xname, image ? image : "null");
    world_put(w, key.s, value.s);
}

char *world_done(const struct world *w, const char *key)
{
    const char *value = world_record(w, key);
    CLEANUP_JSON json_t *all = value ? json_read(value, strlen(value), NULL) : NULL;
    json_t *done = json_object_get(all, "done");
    return json_is_object(done) ? json_write(done) : mem_dup("null");
}

static void on_late(uv_timer_t *t)
{
    *(bool *)t->data = true;
}

void world_turn(struct world *w)
{
    if (mono_sub(mono_now(), w->since).ns > span_s(TEST_S).ns)
        fail_msg("the test takes more than %d s; last trouble: %s", TEST_S, w->last_trouble);
    uv_run(&w->loop, UV_RUN_ONCE);
}

void world_until(struct world *w, world_true_fn *is_true)
{
    bool is_late = false;
    uv_timer_t late;
    uv_timer_init(&w->loop, &late);
    late.data = &is_late;
    uv_timer_start(&late, on_late, TIMEOUT_S * 1000, 0);
    while (!is_true(w) && !is_late)
        world_turn(w);
    uv_close((uv_handle_t *)&late, NULL);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    if (!is_late)
        return;
    for (const struct record *r = w->records; r; r = r->next)
        print_message("%s %s\n", r->key, r->value ? r->value : "(gone)");
    fail_msg("it did not happen within %d s; last trouble: %s", TIMEOUT_S, w->last_trouble);
}

static bool is_settled(struct world *w)
{
    return !w->commits && ochami_waiting(w->o) == 0;
}

void world_settle(struct world *w)
{
    world_until(w, is_settled);
}

struct waiting {
    bool is_done;
    int status;
    json_t *answer;
};

static void on_told(void *arg, int status, const char *body, size_t len, const struct err *why)
{
    struct waiting *wait = arg;
    wait->is_done = true;
    wait->status = status;
    wait->answer = status ? json_read(body, len, NULL) : NULL;
}

json_t *world_ask(struct world *w, const char *method, const char *path, const char *body)
{
    struct waiting wait = {0};
    CLEANUP_FREE char *url = printed(path, w->port);
    fetch_start(w->fetch, method, url, body, on_told, &wait);
    while (!wait.is_done)
        world_turn(w);
    assert_int_not_equal(wait.status, 0);
    return wait.answer;
}

void world_tell(struct world *w, const char *path, const char *format, ...)
{
    char body[2000];
    va_list args;
    va_start(args, format);
    vsnprintf(body, sizeof body, format, args);
    va_end(args);
    json_decref(world_ask(w, "PUT", path, body));
}

struct counted world_count(struct world *w, const char *beginning)
{
    CLEANUP_JSON json_t *all = world_ask(w, "GET", "/test/requests", NULL);
    struct counted c = {0};
    size_t i;
    json_t *line;
    json_array_foreach (json_object_get(all, "requests"), i, line) {
        const char *s = json_string_value(line);
        c.n += strncmp(s, beginning, strlen(beginning)) == 0;
        c.changes += strncmp(s, "GET", 3) != 0;
        c.posts += strcmp(s, "POST /pcs/transitions") == 0;
    }
    return c;
}
