/* SPDX-License-Identifier: Apache-2.0 */
/* The controllers of a state in etcd. */
#include "api/call.h"

#include <stdlib.h>

int call_controller_list(struct call *c, struct text *t, struct err *e)
{
    CLEANUP_JSON json_t *all =
        json_pack("{s:o}", "controllers", c->api->shell.controllers(c->api->shell.arg));
    CLEANUP_FREE char *text = json_write(all);
    text_add(t, text);
    return 0;
}

/* The key is the one that the caller read from the new controller: nothing is looked up in etcd, where
 * another one could stand. */
int call_controller_admit(struct call *c, struct text *t, struct err *e)
{
    const struct api_shell *shell = &c->api->shell;
    struct ask a = {0};
    CLEANUP_FREE char *envelope = NULL;
    int rc = call_ask(c, &a, e);
    if (rc == 0)
        rc = shell->seal(shell->arg, a.name, a.word, &envelope, e);
    if (rc == 0) {
        struct command cmd = {.kind = COMMAND_CONTROLLER_ADMIT, .controller = {a.name, a.word, envelope}};
        rc = call_submit(c, &a.nodes, &cmd, NULL);
    }
    ask_fini(&a);
    return rc;
}

int call_controller_remove(struct call *c, struct text *t, struct err *e)
{
    const struct api_shell *shell = &c->api->shell;
    struct ask a = {0};
    int rc = call_ask(c, &a, e);
    if (rc == 0)
        rc = shell->may_remove(shell->arg, a.name, e);
    if (rc == 0) {
        struct command cmd = {
            .kind = COMMAND_CONTROLLER_REMOVE, .reason = a.reason, .controller = {a.name, NULL, NULL}};
        rc = call_submit(c, &a.nodes, &cmd, NULL);
    }
    ask_fini(&a);
    return rc;
}
