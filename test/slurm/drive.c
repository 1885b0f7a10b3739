/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver of Slurm by itself, for the tests of this folder: what is wanted stands in the file WANTS, each
 * line "NODE drain|own|reserve CLAIM WORDS"; records are files in the directory RECORDS. A result is a file
 * that is moved into place and comes back as a record, so that this program can be killed at any moment and
 * be started again. It says what happens, one line each, and ends with its standard input. A line there: look
 * at WANTS now.
 *
 *     drive SCONTROL WANTS RECORDS EVERY_MS DEADLINE_MS OWNER [CRASH_AT]
 *
 * It is killed right before its CRASH_ATth commit.
 */
#include "base/text.h"
#include "driver/slurm.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct late {
    uv_timer_t timer;
    char *key, *value;
};

static struct {
    struct slurm *slurm;
    const char *wants, *records;
    unsigned commits, crash_at, known, unknown;
    uv_loop_t loop;
    uv_pipe_t in;
    char input[256];
} world;

/* --- what is wanted -------------------------------------------------------------------------- */

static void on_wanted(void *arg, const char *node, struct slurm_want *out)
{
    FILE *f = fopen(world.wants, "r");
    char line[600], name[100], kind[20];
    struct slurm_mark mark;
    int at;
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%99s %19s %47s %23s %n", name, kind, mark.claim, mark.problem, &at) < 4 ||
            strcmp(name, node) != 0)
            continue;
        out->reserve = strcmp(kind, "reserve") == 0;
        out->own = strcmp(kind, "own") == 0;
        out->drain = true; /* with reserve, too: as the controller wants it */
        out->mark = mark;
        if (strcmp(mark.problem, "-") == 0)
            out->mark.problem[0] = '\0';
        snprintf(out->reason, sizeof out->reason, "%s", line + at);
    }
    if (f)
        fclose(f);
}

/* --- records --------------------------------------------------------------------------------- */

static char *path_of(const char *key, const char *suffix)
{
    struct text t = {0};
    text_printf(&t, "%s/%s%s", world.records, strchr(key, '/') + 1, suffix);
    return text_take(&t);
}

static void on_closed(uv_handle_t *h)
{
    struct late *l = h->data;
    free(l->key);
    free(l->value);
    free(l);
}

static void on_late(uv_timer_t *t)
{
    struct late *l = t->data;
    if (world.slurm)
        slurm_effect(world.slurm, l->key, strcmp(l->value, "null") == 0 ? NULL : l->value);
    uv_close((uv_handle_t *)t, on_closed);
}

static void on_result(void *arg, const char *key, const char *done)
{
    if (++world.commits == world.crash_at)
        (void)kill(getpid(), SIGKILL);
    CLEANUP_FREE char *path = path_of(key, ""), *fresh = path_of(key, ".new");
    if (strcmp(done, "null") == 0) {
        unlink(path);
    } else {
        FILE *f = fopen(fresh, "w");
        if (!f || fputs(done, f) < 0 || fclose(f) != 0 || rename(fresh, path) != 0)
            abort();
    }
    printf("result %s %s\n", key, done);
    struct late *l = mem_alloc(sizeof *l);
    *l = (struct late){.key = mem_dup(key), .value = mem_dup(done)};
    uv_timer_init(&world.loop, &l->timer);
    l->timer.data = l;
    uv_timer_start(&l->timer, on_late, 3, 0);
}

static void load_records(void)
{
    DIR *d = opendir(world.records);
    for (const struct dirent *x; d && (x = readdir(d));) {
        char value[1200] = "", key[300];
        if (strncmp(x->d_name, "slurm.", 6) != 0 || strstr(x->d_name, ".new"))
            continue;
        snprintf(key, sizeof key, "effect/%s", x->d_name);
        CLEANUP_FREE char *path = path_of(key, "");
        FILE *f = fopen(path, "r");
        if (!f || !fgets(value, sizeof value, f))
            abort();
        fclose(f);
        slurm_effect(world.slurm, key, value);
    }
    if (d)
        closedir(d);
}

/* --- what it says ---------------------------------------------------------------------------- */

static void on_saw(void *arg, const struct slurm_node *n)
{
    if (n && n->alone)
        return;
    if (n) {
        *(n->known ? &world.known : &world.unknown) += 1;
        return;
    }
    printf("saw %u %u waiting %zu\n", world.known, world.unknown, slurm_waiting(world.slurm));
    world.known = world.unknown = 0;
}

static void on_maintained(void *arg, const struct slurm_maintenance *list, size_t n)
{
    printf("maintained");
    for (size_t i = 0; i < n; i++) {
        CLEANUP_FREE char *nodes = hostlist_fold((const char *const *)list[i].nodes.names, list[i].nodes.n);
        printf(" %s:%s", list[i].name, nodes);
    }
    printf("\n");
}

static void on_overridden(void *arg, const char *node, const char *claim, const char *who)
{
    printf("overridden %s %s\n", node, claim);
}

static void on_refused(void *arg, const char *node, const char *claim)
{
    printf("refused %s %s\n", node, claim);
}

static void on_restored(void *arg, const char *node, const char *reason, const struct err *why)
{
    printf("%s %s %s\n", why ? "lost" : "restored", node, reason);
}

static void on_trouble(void *arg, const struct err *why)
{
    static bool is_away;
    if (!why || !is_away)
        printf("trouble Slurm %s\n", why ? why->msg : "over");
    is_away = why != NULL;
}

/* --- the loop -------------------------------------------------------------------------------- */

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    *buf = uv_buf_init(world.input, sizeof world.input);
}

static void on_input(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
    if (n < 0) {
        uv_stop(&world.loop);
        return;
    }
    struct hostlist all = {0};
    FILE *names = fopen(world.wants, "r");
    char line[600], name[100];
    while (names && fgets(line, sizeof line, names))
        if (sscanf(line, "%99s", name) == 1)
            hostlist_add(&all, name);
    if (names)
        fclose(names);
    for (DIR *d = opendir(world.records), *end = d; end;
         end = NULL) { /* and those that are not wanted any more */
        for (const struct dirent *x; (x = readdir(d));)
            if (strncmp(x->d_name, "slurm.", 6) == 0)
                hostlist_add(&all, x->d_name + 6);
        closedir(d);
    }
    slurm_changed(world.slurm, &all);
    hostlist_fini(&all);
}

static void close_handle(uv_handle_t *h, void *arg)
{
    if (!uv_is_closing(h))
        uv_close(h, h->type == UV_TIMER && h->data ? on_closed : NULL);
}

int main(int argc, char **argv)
{
    if (argc < 7)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    world.wants = argv[2];
    world.records = argv[3];
    world.crash_at = argc > 7 ? (unsigned)atoi(argv[7]) : 0;
    uv_loop_init(&world.loop);
    uv_pipe_init(&world.loop, &world.in, 0);
    uv_pipe_open(&world.in, STDIN_FILENO);
    uv_read_start((uv_stream_t *)&world.in, on_alloc, on_input);
    const struct slurm_conf conf = {.scontrol = argv[1],
                                    .every = span_ms(atoi(argv[4])),
                                    .deadline = span_ms(atoi(argv[5])),
                                    .user = "root",
                                    .owner = argv[6]};
    const struct slurm_sink sink = {.wanted = on_wanted,
                                    .result = on_result,
                                    .saw = on_saw,
                                    .maintained = on_maintained,
                                    .overridden = on_overridden,
                                    .refused = on_refused,
                                    .restored = on_restored,
                                    .trouble = on_trouble};
    world.slurm = slurm_create(&world.loop, &conf, &sink);
    load_records();
    uv_run(&world.loop, UV_RUN_DEFAULT);
    slurm_destroy(STEAL(world.slurm));
    uv_run(&world.loop, UV_RUN_ONCE);
    uv_walk(&world.loop, close_handle, NULL);
    uv_run(&world.loop, UV_RUN_DEFAULT);
    return uv_loop_close(&world.loop) == 0 ? 0 : 3;
}
