/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver by itself, for the tests of this folder, which are the records. Lines of its standard input:
 *
 *     effect KEY VALUE         a record as it is now; VALUE "-": it is gone
 *     may 0|again|busy         what is answered from now on to who asks
 *     now NODE                 is its power on
 *     look NODE                what the BMC knows: "look {...}", or "look no WHY"
 *
 * It says "result KEY DONE", "may NODE OPERATION", "now ok ANSWER" and "now no WHY", one line each, and ends
 * with its standard input.
 *
 *     drive BMC_CONF [REPLACE_PROGRAM]
 */
#include "base/conf.h"
#include "base/text.h"
#include "driver/operate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    uv_loop_t loop;
    uv_pipe_t in;
    struct operate *operate;
    struct text input;
    int may;
    char bytes[4096];
} world;

static void on_result(void *arg, const char *key, const char *done)
{
    printf("result %s %s\n", key, done);
}

static int on_may(void *arg, const char *node, const char *operation, struct err *e)
{
    printf("may %s %s\n", node, operation);
    return world.may ? err_set(e, world.may, "it is not wanted any more") : 0;
}

static void on_done(void *arg, const char *answer, const struct err *why)
{
    CLEANUP_FREE char *line = mem_line(why ? why->msg : answer, 1000);
    printf("now %s %s\n", why ? "no" : "ok", line);
}

static void add(const char *key, const char *value)
{
    CLEANUP_TEXT struct text t = {0};
    if (!value)
        return;
    text_add_json(&t, value);
    printf(",\"%s\":%s", key, t.s);
}

static void on_look(void *arg, const struct bmc_look *said, const struct err *why)
{
    if (why) {
        printf("look no %s\n", why->msg);
        return;
    }
    printf("look {\"power\":\"%s\"", said->is_on ? "on" : "off");
    add("locked", said->locked);
    add("watchdog", said->watchdog);
    add("log", said->log);
    add("firmware", said->firmware);
    add("bios", said->bios);
    printf("}\n");
}

static void obey(char *line)
{
    char *rest = line, *word = strsep(&rest, " "), *first = strsep(&rest, " ");
    if (strcmp(word, "effect") == 0)
        operate_effect(world.operate, first, strcmp(rest, "-") == 0 ? NULL : rest);
    else if (strcmp(word, "may") == 0)
        world.may = *first == '0' ? 0 : *first == 'a' ? -EAGAIN : -EBUSY;
    else if (strcmp(word, "now") == 0)
        operate_status(world.operate, first, on_done, NULL);
    else if (strcmp(word, "look") == 0)
        operate_look(world.operate, first, on_look, NULL);
    else
        abort();
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    *buf = uv_buf_init(world.bytes, sizeof world.bytes);
}

static void on_input(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
    if (n < 0) {
        uv_stop(&world.loop);
        return;
    }
    text_add_bytes(&world.input, buf->base, (size_t)n);
    char *at = world.input.s;
    for (char *end; (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        obey(at);
    }
    size_t left = strlen(at);
    memmove(world.input.s, at, left + 1);
    world.input.len = left;
}

static void on_asked(void *arg, const char *node, const struct err *why)
{
}

int main(int argc, char **argv)
{
    struct err e = {0};
    CLEANUP_TEXT struct text bytes = {0};
    struct bmcs *bmcs = NULL;
    const struct operate_sink sink = {.result = on_result, .may = on_may, .asked = on_asked};
    if (argc < 2 || conf_read_bytes(argv[1], &bytes, &e) < 0 ||
        bmcs_parse(argv[1], bytes.s, bytes.len, &bmcs, &e) < 0) {
        fprintf(stderr, "%s\n", e.msg);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    uv_loop_init(&world.loop);
    uv_pipe_init(&world.loop, &world.in, 0);
    uv_pipe_open(&world.in, STDIN_FILENO);
    const struct operate_with with = {.bmcs = bmcs, .replace = argc > 2 ? argv[2] : NULL};
    world.operate = operate_create(&world.loop, &with, &sink);
    uv_read_start((uv_stream_t *)&world.in, on_alloc, on_input);
    uv_run(&world.loop, UV_RUN_DEFAULT);
    operate_destroy(world.operate);
    bmcs_destroy(bmcs);
    uv_close((uv_handle_t *)&world.in, NULL);
    uv_run(&world.loop, UV_RUN_DEFAULT);
    text_fini(&world.input);
    return uv_loop_close(&world.loop) == 0 ? 0 : 1;
}
