/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controllers are admitted and removed by people. The key is what a person read from the new controller and
 * typed: whoever can write to etcd can change neither the key nor what is sealed for it.
 */
#include "cluster/decide/decide.h"

#include <errno.h>
#include <string.h>

static int check_room(const struct cluster *c, const char *name, struct err *e)
{
    if (cluster_controller(c, name) || cluster_controllers(c) < CONTROLLERS_MAX)
        return 0;
    return err_set(e, -EBUSY, "%d controllers have a record already", CONTROLLERS_MAX);
}

static int decide_controller_admit(const struct cluster *c, const struct command *cmd, struct decision *d,
                                   struct err *e)
{
    const struct controller_command *says = &cmd->controller;
    const struct controller_record *was = cluster_controller(c, says->name);
    struct text said = {0};
    if (!controller_key_ok(says->key) || !says->envelope || !*says->envelope ||
        strlen(says->envelope) > CONTROLLER_ENVELOPE_BYTES_MAX)
        return err_set(e, -EINVAL, "no key of a controller, or nothing sealed for it");
    if (was && was->key && strcmp(was->key, says->key) == 0)
        return 0;
    if (was && was->key)
        return err_set(e, -EEXIST, "controller %s was admitted with another key; remove it first",
                       says->name);
    CLEANUP_FREE char *by = mem_dup(cmd->actor), *key = mem_dup(says->key),
                      *envelope = mem_dup(says->envelope);
    const struct controller_record is = {.by = by, .at = cmd->at, .key = key, .envelope = envelope};
    decision_add(d, "controller/", says->name, controller_record_write(&is));
    text_printf(&said, "controller %s has the authority, sealed for its key %s", says->name, says->key);
    d->text = text_take(&said);
    return 0;
}

static int decide_controller_remove(const struct cluster *c, const struct command *cmd, struct decision *d,
                                    struct err *e)
{
    const char *name = cmd->controller.name;
    const struct controller_record *was = cluster_controller(c, name);
    struct text said = {0};
    CLEANUP_TEXT struct text subject = {0};
    int rc = decide_check_reason(cmd->reason, e);
    if (rc < 0 || (was && was->why))
        return rc;
    CLEANUP_FREE char *by = mem_dup(cmd->actor), *why = mem_dup(cmd->reason);
    const struct controller_record is = {.by = by, .at = cmd->at, .why = why};
    decision_add(d, "controller/", name, controller_record_write(&is));
    text_printf(&subject, "controller:%s", name);
    decide_end_certificates(c, cmd, subject.s, d);
    text_printf(&said,
                "controller %s may not take part any more, and its certificates have ended; it knows the "
                "authority's key: %s",
                name, cmd->reason);
    d->text = text_take(&said);
    return 0;
}

int decide_controller(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    int rc = controller_name_check(cmd->controller.name, e);
    if (rc == 0)
        rc = check_room(c, cmd->controller.name, e);
    if (rc == 0)
        rc = cmd->kind == COMMAND_CONTROLLER_ADMIT ? decide_controller_admit(c, cmd, d, e)
                                                   : decide_controller_remove(c, cmd, d, e);
    if (rc == 0 && d->n_ops)
        decision_about(d, ENTRY_CONTROLLERS, cmd->controller.name);
    return rc;
}
