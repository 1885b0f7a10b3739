/* SPDX-License-Identifier: Apache-2.0 */
#include "product/slurm.h"

#include "product/product.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { SLURM_START_BYTES_MAX = 63 }; /* as records of earlier versions may have it */

static const struct {
    const char *name;
    bool stands;      /* Fettle's drain or reservation does, or may, until the driver read that it does not */
    const char *said; /* in the journal */
} states[RECORD_STATES] = {
    [RECORD_NONE] = {"none", false, ""},
    [RECORD_DRAINING] = {"draining", true, "is to be drained"},
    [RECORD_DRAINED] = {"drained", true, "drained"},
    [RECORD_FOREIGN] = {"foreign", false, "held by somebody else: Fettle leaves it as it is"},
    [RECORD_OVERRIDDEN] = {"overridden", false, "a person took Fettle's drain back"},
    [RECORD_UNDRAINING] = {"undraining", true, "Fettle's drain is being taken back"},
    [RECORD_RESERVED] = {"reserved", true, "reserved for Fettle"},
};

const char *slurm_record_name(enum slurm_record_state s)
{
    assert((unsigned)s < RECORD_STATES);
    return states[s].name;
}

static enum slurm_record_state state_find(const char *name)
{
    for (unsigned s = RECORD_NONE + 1; s < RECORD_STATES; s++)
        if (strcmp(states[s].name, name) == 0)
            return (enum slurm_record_state)s;
    return RECORD_NONE;
}

bool product_hold_stands(const json_t *note)
{
    return states[state_find(json_text(note, "state"))].stands;
}

/* --- as the driver has it -------------------------------------------------------------------- */

static const char *const lost_names[] = {
    [SLURM_LOST_DRAIN] = "drain", [SLURM_LOST_FAIL] = "fail", [SLURM_LOST_DOWN] = "down"};

static int read_lost(const json_t *o, struct slurm_lost *out, struct err *e)
{
    const char *reason, *how;
    if (!o)
        return 0;
    if (json_take_string(o, "reason", &reason, e) < 0 || json_take_string(o, "how", &how, e) < 0)
        return -EINVAL;
    if (strlen(reason) >= sizeof out->reason || !*reason)
        return err_set(e, -EINVAL, "a lost reason that is empty or too long");
    memcpy(out->reason, reason, strlen(reason) + 1);
    for (unsigned i = 0; i <= SLURM_LOST_DOWN; i++) {
        out->how = (enum slurm_lost_how)i;
        if (strcmp(lost_names[i], how) == 0)
            return 0;
    }
    return err_set(e, -EINVAL, "nothing is lost as \"%.40s\"", how);
}

static int read_members(const json_t *o, struct slurm_record *out, struct err *e)
{
    const char *claim = NULL, *state = NULL, *boot = "", *log = "";
    bool has_guard = false, is_refused = false, is_rebooting = false;
    int r = json_take_string(o, "claim", &claim, e);
    if (r == 0)
        r = json_take_string(o, "state", &state, e);
    if (r == 0)
        r = json_take_bool(o, "reservation", &has_guard, e);
    if (r < 0)
        return -EINVAL;
    if (json_object_get(o, "refused") && json_take_bool(o, "refused", &is_refused, e) < 0)
        return -EINVAL;
    if (json_object_get(o, "reboot") && json_take_bool(o, "reboot", &is_rebooting, e) < 0)
        return -EINVAL;
    if (json_object_get(o, "slurmctld") && json_take_string(o, "slurmctld", &boot, e) < 0)
        return -EINVAL;
    if (json_object_get(o, "log") && json_take_string(o, "log", &log, e) < 0)
        return -EINVAL;
    if (strlen(claim) >= sizeof out->claim || strlen(boot) >= sizeof out->boot ||
        strlen(log) >= sizeof out->log)
        return err_set(e, -EINVAL, "a claim, start or place that is too long");
    out->state = state_find(state);
    if (out->state == RECORD_NONE)
        return err_set(e, -EINVAL, "no state is called \"%s\"", state);
    memcpy(out->claim, claim, strlen(claim) + 1);
    memcpy(out->boot, boot, strlen(boot) + 1);
    memcpy(out->log, log, strlen(log) + 1);
    out->has_guard = has_guard;
    out->is_refused = is_refused;
    out->is_rebooting = is_rebooting;
    return 0;
}

int slurm_record_read(const char *value, struct slurm_record *out, struct err *e)
{
    *out = (struct slurm_record){0};
    CLEANUP_JSON json_t *o = json_read(value, strlen(value), e);
    int r = o ? read_members(o, out, e) : -EINVAL;
    if (r == 0)
        r = read_lost(json_object_get(o, "lost"), &out->lost, e);
    if (r < 0)
        *out = (struct slurm_record){0};
    return r;
}

char *slurm_record_write(const struct slurm_record *r, int64_t at_ns)
{
    assert(r);
    struct text t = {0};
    if (r->state == RECORD_NONE) {
        text_add(&t, "null");
        return text_take(&t);
    }
    text_add(&t, "{\"claim\":");
    text_add_json(&t, r->claim);
    text_printf(&t, ",\"state\":\"%s\",\"at\":\"%" PRId64 "\",\"reservation\":%s", states[r->state].name,
                at_ns, r->has_guard ? "true" : "false");
    if (r->is_refused)
        text_add(&t, ",\"refused\":true");
    if (r->is_rebooting)
        text_add(&t, ",\"reboot\":true");
    if (r->boot[0]) {
        text_add(&t, ",\"slurmctld\":");
        text_add_json(&t, r->boot);
    }
    if (r->log[0]) {
        text_add(&t, ",\"log\":");
        text_add_json(&t, r->log);
    }
    if (r->lost.reason[0]) {
        text_add(&t, ",\"lost\":{\"reason\":");
        text_add_json(&t, r->lost.reason);
        text_printf(&t, ",\"how\":\"%s\"}", lost_names[r->lost.how]);
    }
    text_add_char(&t, '}');
    return text_take(&t);
}

/* --- as the agreed state has it --------------------------------------------------------------- */

static int check_lost(const json_t *o, struct err *e)
{
    static const char *const keys[] = {"reason", "how"};
    const char *text;
    if (!o)
        return 0;
    return json_only_keys(o, keys, 2, e) < 0 ||
                   json_take_clause(o, "reason", SLURM_LOST_BYTES - 1, &text, e) < 0 ||
                   json_take_string(o, "how", &text, e) < 0
               ? -EINVAL
               : 0;
}

/* The members that a note may lack. */
static int check_optional(const json_t *o, struct err *e)
{
    static const char *const flags[] = {"refused", "reboot"};
    const char *text;
    bool flag;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (json_object_get(o, flags[i]) && json_take_bool(o, flags[i], &flag, e) < 0)
            return -EINVAL;
    if ((json_object_get(o, "slurmctld") &&
         json_take_clause(o, "slurmctld", SLURM_START_BYTES_MAX, &text, e) < 0) ||
        (json_object_get(o, "log") && json_take_clause(o, "log", SLURM_LOG_PLACE_BYTES - 1, &text, e) < 0))
        return -EINVAL;
    return check_lost(json_object_get(o, "lost"), e);
}

int slurm_note_check(const json_t *record, struct err *e)
{
    static const char *const keys[] = {"id",        "claim",   "state",  "at",  "reservation",
                                       "slurmctld", "refused", "reboot", "log", "lost"};
    const char *state, *at;
    uint64_t at_ns;
    bool reservation;
    if (json_only_keys(record, keys, sizeof keys / sizeof *keys, e) < 0 ||
        json_take_string(record, "state", &state, e) < 0 || json_take_string(record, "at", &at, e) < 0)
        return -EINVAL;
    if (text_parse_u64(at, 0, INT64_MAX, &at_ns, e) < 0)
        return err_wrap(e, -EINVAL, "at");
    if (json_take_bool(record, "reservation", &reservation, e) < 0 || check_optional(record, e) < 0)
        return -EINVAL;
    if (state_find(state) == RECORD_NONE)
        return err_set(e, -EINVAL, "\"%.40s\" is nothing in Slurm that this version knows", state);
    return 0;
}

/* A person is told that their hold was lost for a moment, in the journal that everybody reads. */
static void say_lost(const json_t *was, const json_t *is, struct text *t)
{
    const json_t *before = json_object_get(was, "lost"), *now = json_object_get(is, "lost");
    if (now && !json_equal(before, now))
        text_printf(t, "; Fettle's write undid somebody's of that moment, which is to be put back: %s",
                    json_text(now, "reason"));
    else if (before && !now)
        text_printf(t, "; somebody holds it again, after a write of Fettle's undid this: %s",
                    json_text(before, "reason"));
}

void slurm_note_say(const json_t *was, const json_t *is, struct text *t)
{
    enum slurm_record_state before = state_find(json_text(was, "state")),
                            state = state_find(json_text(is, "state"));
    bool was_ours = before != RECORD_FOREIGN && before != RECORD_OVERRIDDEN;
    text_add(t, "Slurm: ");
    if (!is)
        text_add(t, was_ours ? "Fettle's drain is taken back" : "nothing of Fettle's is there");
    text_add(t, states[state].said);
    if (json_is_true(json_object_get(is, "reservation")) && state != RECORD_RESERVED)
        text_add(t, ", with a reservation for Fettle");
    if (json_is_true(json_object_get(is, "refused")))
        text_add(t, ", its reservation deleted by a person");
    say_lost(was, is, t);
}
