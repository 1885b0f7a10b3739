/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks effect/operate.NAME and effect/power.NAME: an operation on a node, and a person's power command.
 */
#include "cluster/record/record.h"

#include <errno.h>
#include <string.h>

static int check_operate_done(const json_t *done, struct err *e)
{
    const char *word, *text, *code;
    uint64_t at;
    if (json_is_null(done))
        return 0;
    if (!json_is_object(done))
        return err_set(e, -EINVAL, "\"done\" is neither null nor an object");
    if (json_take_string(done, "state", &word, e) < 0 ||
        (json_object_get(done, "id") && record_id(done, "id", true, e) < 0))
        return -EINVAL;
    enum operation_state state = operation_state_find(word);
    bool has_text = operation_has_text(state);
    const char *const keys[] = {"state", "id", has_text ? "text" : "at", "code"};
    if (state == OPERATION_NONE)
        return err_set(e, -EINVAL, "\"%.40s\" is no state of an operation that this version knows", word);
    if (json_only_keys(done, keys, state == OPERATION_REFUSED ? 4 : 3, e) < 0 ||
        (json_object_get(done, "code") && json_take_string(done, "code", &code, e) < 0))
        return -EINVAL;
    return has_text ? json_take_clause(done, "text", EFFECT_TEXT_BYTES_MAX, &text, e)
                    : record_time(done, "at", &at, e);
}

int check_operate(const json_t *o, struct err *e)
{
    static const char *const keys[] = {"id", "run", "of", "boot", "instance", "deadline", "done"};
    const char *run, *of;
    char boot[37];
    uint64_t instance, deadline;
    if (json_only_keys(o, keys, 7, e) < 0 || record_id(o, "id", true, e) < 0 ||
        json_take_clause(o, "run", RUN_BYTES_MAX, &run, e) < 0 ||
        json_take_clause(o, "of", REMEDY_NAME_BYTES_MAX, &of, e) < 0 || record_boot(o, boot, e) < 0 ||
        record_hex(o, "instance", &instance, e) < 0 || record_time(o, "deadline", &deadline, e) < 0)
        return -EINVAL;
    return check_operate_done(json_object_get(o, "done"), e);
}

int check_power(const json_t *o, struct err *e)
{
    static const char *const keys[] = {"id", "run", "by", "why", "force", "deadline", "done"};
    const char *run, *by, *why;
    uint64_t deadline;
    bool force;
    if (json_only_keys(o, keys, 7, e) < 0 || record_id(o, "id", true, e) < 0 ||
        json_take_clause(o, "run", RUN_BYTES_MAX, &run, e) < 0 ||
        json_take_clause(o, "by", RUN_BYTES_MAX, &by, e) < 0 ||
        json_take_clause(o, "why", REASON_BYTES_MAX, &why, e) < 0 ||
        json_take_bool(o, "force", &force, e) < 0 || record_time(o, "deadline", &deadline, e) < 0)
        return -EINVAL;
    return check_operate_done(json_object_get(o, "done"), e);
}
