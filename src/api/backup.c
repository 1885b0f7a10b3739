/* SPDX-License-Identifier: Apache-2.0 */
/* Backups of the controller's state. One takes as long as its disks need: it is begun, and the list tells
 * when it has ended. */
#include "api/call.h"

#include <stdlib.h>

struct asking {
    struct http_request *request; /* NULL once the client is gone */
};

static void on_gone(void *arg)
{
    ((struct asking *)arg)->request = NULL;
}

static void on_list(void *arg, const char *answer, const struct err *why)
{
    struct asking *a = arg;
    struct text t = {0};
    if (a->request && why) {
        http_answer_err(a->request, why);
    } else if (a->request) {
        text_add(&t, answer);
        call_answer(a->request, &t);
    }
    free(a);
}

int call_backup_list(struct call *c, struct text *t, struct err *e)
{
    struct asking *a = mem_alloc(sizeof *a);
    a->request = c->request;
    http_set_arg(c->request, a, on_gone);
    c->api->shell.backup_list(c->api->shell.arg, on_list, a);
    return CALL_LATER;
}

static void render_would(const struct call *c, struct text *t)
{
    text_printf(t,
                "{\"revision\":%llu,\"changed\":\"\",\"dry_run\":true,\"would\":[{\"nodes\":\"\",\"what\":"
                "\"makes a backup\"}]}",
                (unsigned long long)c->api->shell.revision(c->api->shell.arg));
}

int call_backup_create(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    uint64_t number = 0;
    int rc = call_ask(c, &a, e);
    ask_fini(&a);
    if (rc == 0)
        rc = c->api->shell.backup_begin(c->api->shell.arg, c->actor, c->dry, &number, e);
    if (rc < 0)
        return rc;
    if (c->dry)
        render_would(c, t);
    else
        text_printf(t, "{\"number\":%llu}", (unsigned long long)number);
    return 0;
}
