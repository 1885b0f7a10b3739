/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/slurm_call.h"

#include "base/text.h"
#include "driver/program.h"
#include "driver/request.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { OUTPUT_BYTES_MAX = 64 << 20, ARGS_MAX = REQUEST_ARGS_MAX - 1 };

struct slurm_call {
    uv_loop_t *loop;
    struct program *run; /* NULL: none */
    slurm_call_done_fn *done;
    void *arg;
};

struct slurm_call *slurm_call_create(uv_loop_t *loop)
{
    struct slurm_call *c = mem_alloc(sizeof *c);
    c->loop = loop;
    return c;
}

bool slurm_call_is_busy(const struct slurm_call *c)
{
    return c->run != NULL;
}

/* Called before on_done, so that it may start the next call. A call that cannot be killed may never end: then
 * no other one starts. */
static void on_gone(void *arg)
{
    struct slurm_call *c = arg;
    c->run = NULL;
}

static void on_done(void *arg, char *text, size_t len, const struct err *why)
{
    const struct slurm_call *c = arg;
    c->done(c->arg, text, len, why);
}

int slurm_call_start(struct slurm_call *c, const char *program, const char *const *args,
                     const char *conf_file, struct span deadline, slurm_call_done_fn *done, void *arg,
                     struct err *e)
{
    assert(program && args && done);
    /* Of Slurm's own variables it inherits only those about place and user. */
    static const char *const unset[] = {"SLURM_CLUSTERS", NULL};
    const char *argv[ARGS_MAX + 1] = {program}, *ask[ARGS_MAX + 2] = {"slurm", args[0]};
    CLEANUP_TEXT struct text conf = {0};
    if (c->run)
        return err_set(e, -EBUSY, "scontrol still runs");
    for (size_t i = 1; args[i]; i++) {
        assert(i < ARGS_MAX);
        argv[i] = ask[i + 1] = args[i];
    }
    text_printf(&conf, "SLURM_CONF=%s", conf_file ? conf_file : "");
    const char *const set[] = {"SLURM_TIME_FORMAT=standard", conf_file ? conf.s : NULL, NULL};
    const struct program_run run = {.argv = argv,
                                    .set = set,
                                    .unset = unset,
                                    .ask = ask,
                                    .deadline = deadline,
                                    .limit_bytes = OUTPUT_BYTES_MAX,
                                    .gone = on_gone};
    c->done = done;
    c->arg = arg;
    return program_start(c->loop, &run, on_done, c, &c->run, e);
}

void slurm_call_destroy(struct slurm_call *c)
{
    if (!c)
        return;
    program_kill(c->run);
    free(c);
}
