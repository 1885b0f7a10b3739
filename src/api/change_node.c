/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of nodes. */
#include "api/call.h"
#include "cluster/cluster.h"

#include <errno.h>
#include <stdlib.h>

static int hold_nodes(struct call *c, enum command_kind kind, struct err *e)
{
    struct ask a = {0};
    CLEANUP_FREE struct member **members = NULL;
    int rc = call_ask_members(c, &a, &members, e);
    if (rc == 0)
        rc = call_submit(c, &a.nodes, &(struct command){.kind = kind, .reason = a.reason}, NULL);
    ask_fini(&a);
    return rc;
}

static int release_nodes(struct call *c, enum command_kind kind, struct err *e)
{
    struct ask a = {0};
    CLEANUP_FREE struct member **members = NULL;
    int rc = call_ask_members(c, &a, &members, e);
    if (rc == 0)
        rc = call_submit(c, &a.nodes, &(struct command){.kind = kind, .release = {a.claim}}, NULL);
    ask_fini(&a);
    return rc;
}

int call_node_drain(struct call *c, struct text *t, struct err *e)
{
    return hold_nodes(c, COMMAND_DRAIN, e);
}

int call_node_undrain(struct call *c, struct text *t, struct err *e)
{
    return release_nodes(c, COMMAND_UNDRAIN, e);
}

int call_node_down(struct call *c, struct text *t, struct err *e)
{
    return hold_nodes(c, COMMAND_DOWN, e);
}

int call_node_up(struct call *c, struct text *t, struct err *e)
{
    return release_nodes(c, COMMAND_UP, e);
}

/* Records have numbers of partitions; people use names. */
static int number_partitions(const struct call *c, struct ask_setting *s, struct err *e)
{
    const struct partition *list;
    CLEANUP_TEXT struct text numbers = {0};
    size_t n = cluster_partitions(c->api->cluster, &list);
    if (s->field != FIELD_PARTITION || !s->value)
        return 0;
    int rc = partition_numbers(list, n, s->value, &numbers, e);
    if (rc < 0)
        return err_wrap(e, rc, "Partition");
    free(s->value);
    s->value = text_take(&numbers);
    return 0;
}

int call_node_set(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    CLEANUP_FREE struct member **members = NULL;
    int rc = call_ask_members(c, &a, &members, e);
    CLEANUP_FREE struct field_setting *settings = mem_alloc((a.n_settings + 1) * sizeof *settings);
    for (size_t i = 0; rc == 0 && i < a.n_settings; i++) {
        rc = number_partitions(c, &a.settings[i], e);
        settings[i] = (struct field_setting){a.settings[i].field, a.settings[i].value};
    }
    if (rc == 0)
        rc = call_submit(c, &a.nodes,
                         &(struct command){.kind = COMMAND_SET, .edit = {a.n_settings, settings}}, NULL);
    ask_fini(&a);
    return rc;
}

/* A node that is heard would be back at once. */
static int refuse_heard(const struct call *c, struct member *const *members, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        enum liveness l = watch_observed(c->api->watch, members[i])->beat.liveness;
        if (!members[i]->listed && (l == LIVENESS_LIVE || l == LIVENESS_LATE))
            return err_set(e, -EBUSY, "node \"%s\" is heard; stop its agent, and revoke its certificate",
                           members[i]->name);
    }
    return 0;
}

int call_node_forget(struct call *c, struct text *t, struct err *e)
{
    struct ask a = {0};
    CLEANUP_FREE struct member **members = NULL;
    /* The nodes of which a part of the request was committed are not there any more. */
    int rc = c->begun ? call_ask(c, &a, e) : call_ask_members(c, &a, &members, e);
    if (rc == 0 && members)
        rc = refuse_heard(c, members, a.nodes.n, e);
    if (rc == 0)
        rc = call_submit(c, &a.nodes, &(struct command){.kind = COMMAND_FORGET, .forget = {a.on}}, NULL);
    ask_fini(&a);
    return rc;
}
