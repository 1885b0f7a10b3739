/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fettled: options and signals.
 */
#include "base/log.h"
#include "base/notify.h"
#include "base/text.h"
#include "controller/config/config.h"
#include "controller/controller.h"
#include "controller/own_user.h"
#include "driver/program.h"
#include "driver/request.h"

#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "usage: fettled [-n] [-f CONFIGURATION] [-D STATE_DIRECTORY]\n"
                            "       fettled --help | --version\n";

struct options {
    bool check;
    const char *config;
    const char *state;
};

/* What the user lacks, as whom fettled is to run. */
static bool check_user(const struct config *c, const char *state)
{
    CLEANUP_TEXT struct text missing = {0};
    const char *exec = program_exec();
    own_user_check(c, state, exec || geteuid() != 0 ? exec : REQUEST_SOCKET, &missing);
    fputs(missing.len ? missing.s : "", stderr);
    return missing.len == 0;
}

static int check_configuration(const char *path, const char *state)
{
    struct config c;
    struct err e = {0};
    if (config_read(path, &c, &e) < 0) {
        fprintf(stderr, "fettled: %s\n", e.msg);
        return 1;
    }
    fputs(c.warnings.s ? c.warnings.s : "", stderr);
    printf(
        "%s: %zu nodes, %zu partitions with a name or as default, %zu classes, %zu collectors; no mistakes\n",
        path, c.roster.n, c.roster.n_partitions, c.roster.classes.n, c.collectors.n);
    bool is_able = check_user(&c, state);
    config_fini(&c);
    return is_able ? 0 : 1;
}

/* The process's: they outlive a controller that begins anew, so that none of them ends the process unheard.
 */
struct signals {
    uv_signal_t hangup, interrupt, terminate;
    struct controller *controller; /* NULL: it is being opened or closed */
    bool is_ending;
};

static void on_hangup(uv_signal_t *s, int signum)
{
    const struct signals *all = s->data;
    if (all->controller)
        controller_reload(all->controller);
}

static void on_end(uv_signal_t *s, int signum)
{
    struct signals *all = s->data;
    all->is_ending = true;
    log_info("ending after signal %d", signum);
    if (all->controller)
        uv_stop(s->loop);
}

static void signals_start(struct signals *s, uv_loop_t *loop)
{
    const struct {
        uv_signal_t *handle;
        uv_signal_cb cb;
        int signum;
    } all[] = {
        {&s->hangup, on_hangup, SIGHUP}, {&s->interrupt, on_end, SIGINT}, {&s->terminate, on_end, SIGTERM}};
    *s = (struct signals){0};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        uv_signal_init(loop, all[i].handle);
        all[i].handle->data = s;
        uv_signal_start(all[i].handle, all[i].cb, all[i].signum);
        uv_unref((uv_handle_t *)all[i].handle); /* a controller that closes runs the loop until it is empty */
    }
}

static void signals_stop(struct signals *s, uv_loop_t *loop)
{
    uv_close((uv_handle_t *)&s->hangup, NULL);
    uv_close((uv_handle_t *)&s->interrupt, NULL);
    uv_close((uv_handle_t *)&s->terminate, NULL);
    uv_run(loop, UV_RUN_DEFAULT);
}

/* From the opening of the controller to its end. False: it did not open. */
static bool serve_once(const struct options *o, uv_loop_t *loop, struct signals *s, enum controller_end *end)
{
    struct err e = {0};
    if (controller_open(loop, o->config, o->state, &s->controller, &e) < 0) {
        log_error("%s", e.msg);
        return false;
    }
    notify_ready();
    uv_run(loop, UV_RUN_DEFAULT);
    *end = s->is_ending ? CONTROLLER_STOPPED : controller_ended(s->controller);
    if (*end != CONTROLLER_ANEW)
        notify_stopping();
    controller_close(STEAL(s->controller));
    return true;
}

static int main_serve(const struct options *o)
{
    uv_loop_t loop;
    struct signals signals;
    enum controller_end end = CONTROLLER_STOPPED;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error of a write, not the end */
    uv_loop_init(&loop);
    signals_start(&signals, &loop);
    bool opened;
    do
        opened = serve_once(o, &loop, &signals, &end);
    while (opened && end == CONTROLLER_ANEW && !signals.is_ending);
    signals_stop(&signals, &loop);
    uv_loop_close(&loop);
    return opened && (end == CONTROLLER_STOPPED || signals.is_ending) ? 0 : 1;
}

int main(int argc, char **argv)
{
    /* Large blocks are the system's again as soon as they are freed. Otherwise glibc learns to keep them in
     * the heap, and gives the pieces of an answer of 30 MB back in one go, with the last of them: 10 ms. */
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    struct options o = {.config = "/etc/fettle/fettle.conf", .state = STATE_DIRECTORY};
    static const struct option longs[] = {
        {"version", no_argument, NULL, 'V'}, {"help", no_argument, NULL, 'h'}, {0}};
    for (int opt; (opt = getopt_long(argc, argv, "nf:D:Vh", longs, NULL)) != -1;) {
        switch (opt) {
        case 'n': o.check = true; break;
        case 'f': o.config = optarg; break;
        case 'D': o.state = optarg; break;
        case 'V': puts("fettled " FETTLE_VERSION); return 0;
        case 'h': fputs(usage, stdout); return 0;
        default: fputs(usage, stderr); return 2;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "fettled: unknown argument \"%s\"\n%s", argv[optind], usage);
        return 2;
    }
    const char *exec = getenv("FETTLE_EXEC");
    program_set_exec(exec && *exec ? exec : NULL);
    return o.check ? check_configuration(o.config, o.state) : main_serve(&o);
}
