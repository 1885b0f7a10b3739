/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks effect/operate.NAME, effect/power.NAME and effect/slurm.NAME: an operation on a node, a person's
 * power command, and what Fettle has written into Slurm.
 */
#include "cluster/record/record.h"

#include <errno.h>
#include <string.h>

enum { SLURM_START_BYTES_MAX = 63, SLURM_PLACE_BYTES_MAX = 47, SLURM_LOST_BYTES_MAX = 511 };

static int check_id(const json_t *o, const char *key, bool needed, struct err *e)
{
    char id[CLAIM_ID_BYTES_MAX + 1];
    if (record_word(o, key, id, CLAIM_ID_BYTES_MAX, e) < 0)
        return -EINVAL;
    return *id || !needed ? 0 : err_set(e, -EINVAL, "\"%s\" is empty", key);
}

static int check_operate_done(const json_t *done, struct err *e)
{
    const char *word, *text, *code;
    uint64_t at;
    if (json_is_null(done))
        return 0;
    if (!json_is_object(done))
        return err_set(e, -EINVAL, "\"done\" is neither null nor an object");
    if (json_take_string(done, "state", &word, e) < 0 ||
        (json_object_get(done, "id") && check_id(done, "id", true, e) < 0))
        return -EINVAL;
    enum operation_state state = operation_state_find(word);
    bool has_text = operation_has_text(state);
    const char *const keys[] = {"state", "id", has_text ? "text" : "at", "code"};
    if (state == OPERATION_NONE)
        return err_set(e, -EINVAL, "\"%.40s\" is no state of an operation that this version knows", word);
    if (json_only_keys(done, keys, state == OPERATION_REFUSED ? 4 : 3, e) < 0 ||
        (json_object_get(done, "code") && json_take_string(done, "code", &code, e) < 0))
        return -EINVAL;
    return has_text ? record_clause(done, "text", EFFECT_TEXT_BYTES_MAX, &text, e)
                    : record_time(done, "at", &at, e);
}

int check_operate(const json_t *o, struct err *e)
{
    static const char *const keys[] = {"id", "run", "of", "boot", "instance", "deadline", "done"};
    const char *run, *of;
    char boot[37];
    uint64_t instance, deadline;
    if (json_only_keys(o, keys, 7, e) < 0 || check_id(o, "id", true, e) < 0 ||
        record_clause(o, "run", RUN_BYTES_MAX, &run, e) < 0 ||
        record_clause(o, "of", REMEDY_NAME_BYTES_MAX, &of, e) < 0 || record_boot(o, boot, e) < 0 ||
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
    if (json_only_keys(o, keys, 7, e) < 0 || check_id(o, "id", true, e) < 0 ||
        record_clause(o, "run", RUN_BYTES_MAX, &run, e) < 0 ||
        record_clause(o, "by", RUN_BYTES_MAX, &by, e) < 0 ||
        record_clause(o, "why", REASON_BYTES_MAX, &why, e) < 0 || json_take_bool(o, "force", &force, e) < 0 ||
        record_time(o, "deadline", &deadline, e) < 0)
        return -EINVAL;
    return check_operate_done(json_object_get(o, "done"), e);
}

/* A person's write to Slurm that a write of Fettle's undid. */
static int check_lost(const json_t *o, struct err *e)
{
    static const char *const keys[] = {"reason", "how"};
    const char *reason, *how;
    if (!o)
        return 0;
    return json_only_keys(o, keys, 2, e) < 0 ||
                   record_clause(o, "reason", SLURM_LOST_BYTES_MAX, &reason, e) < 0 ||
                   json_take_string(o, "how", &how, e) < 0
               ? -EINVAL
               : 0;
}

int check_slurm(const json_t *o, struct err *e)
{
    static const char *const keys[] = {"id",        "claim",   "state",  "at",  "reservation",
                                       "slurmctld", "refused", "reboot", "log", "lost"};
    static const char *const states[] = {"draining",   "drained",    "foreign",
                                         "overridden", "undraining", "reserved"};
    const char *state, *start, *place;
    uint64_t id, at;
    bool reservation, refused, reboot;
    if (json_only_keys(o, keys, 10, e) < 0 || record_time(o, "id", &id, e) < 0 ||
        check_id(o, "claim", false, e) < 0 || json_take_string(o, "state", &state, e) < 0 ||
        record_time(o, "at", &at, e) < 0 || json_take_bool(o, "reservation", &reservation, e) < 0 ||
        (json_object_get(o, "refused") && json_take_bool(o, "refused", &refused, e) < 0) ||
        (json_object_get(o, "reboot") && json_take_bool(o, "reboot", &reboot, e) < 0) ||
        (json_object_get(o, "slurmctld") &&
         record_clause(o, "slurmctld", SLURM_START_BYTES_MAX, &start, e) < 0) ||
        (json_object_get(o, "log") && record_clause(o, "log", SLURM_PLACE_BYTES_MAX, &place, e) < 0) ||
        check_lost(json_object_get(o, "lost"), e) < 0)
        return -EINVAL;
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        if (strcmp(state, states[i]) == 0)
            return 0;
    return err_set(e, -EINVAL, "\"%.40s\" is nothing in Slurm that this version knows", state);
}
