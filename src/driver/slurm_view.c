/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/slurm_view.h"

#include <assert.h>
#include <string.h>

static bool is_down(const struct slurm_state *state)
{
    return state->base == SLURM_DOWN || state->base == SLURM_ERROR;
}

static enum slurm_ground find_ground(const struct slurm_state *state)
{
    if (state->flags & SLURM_REBOOT) /* the node is down meanwhile */
        return GROUND_MOVING;
    if (is_down(state))
        return GROUND_DOWN;
    bool is_up = state->base == SLURM_IDLE || state->base == SLURM_ALLOCATED || state->base == SLURM_MIXED;
    return is_up && !(state->flags & SLURM_POWER) ? GROUND_UP : GROUND_MOVING;
}

static enum slurm_hold find_hold(const struct slurm_line *l, const char *owner, const struct slurm_want *want,
                                 bool is_pasted)
{
    struct slurm_mark mark;
    bool is_drained = l->state.flags & SLURM_DRAIN;
    if (l->state.flags & SLURM_FAIL) /* Fettle never writes FAIL, whatever the reason says */
        return HOLD_FOREIGN;
    if (!is_pasted && slurm_read_mark(l->reason, owner, &mark)) {
        if (!is_drained)
            return is_down(&l->state) ? HOLD_REST : HOLD_NONE;
        /* Another problem is written anew; a change of words alone is not worth a write. */
        bool is_wanted = want->drain && strcmp(mark.claim, want->mark.claim) == 0 &&
                         strcmp(mark.problem, want->mark.problem) == 0;
        return is_wanted ? HOLD_WANTED : HOLD_STALE;
    }
    if (is_drained)
        return HOLD_FOREIGN;
    /* Slurm's own words for a silent node, and an empty reason, are nobody's. */
    bool is_somebodys = l->reason[0] && strcmp(l->reason, "Not responding") != 0;
    return is_down(&l->state) && is_somebodys ? HOLD_FOREIGN : HOLD_NONE;
}

enum slurm_wish slurm_wish_of(const struct slurm_want *w)
{
    if (w->reserve)
        return WISH_RESERVE;
    return w->drain ? WISH_DRAIN : WISH_NOTHING;
}

struct slurm_case slurm_view(const char *owner, const struct slurm_want *want,
                             const struct slurm_record *record, const struct slurm_line *line,
                             enum slurm_guard guard, const char *boot, bool is_pasted)
{
    return (struct slurm_case){
        .wish = slurm_wish_of(want),
        .record = record->state,
        .is_claim = strcmp(record->claim, want->mark.claim) == 0,
        .has_guard = record->has_guard,
        .is_refused = record->is_refused,
        .is_known = line->state.known,
        .hold = find_hold(line, owner, want, is_pasted),
        .ground = find_ground(&line->state),
        .guard = guard,
        .is_rebooting = line->state.flags & SLURM_REBOOT,
        .had_reboot = record->is_rebooting,
        .is_lost = record->lost.reason[0] != '\0',
        .is_another_slurmctld = !record->boot[0] || strcmp(record->boot, boot) != 0,
    };
}

/* A node in power saving is not out: Slurm switches it on for work. Nor is a node that does not respond: the
 * flag comes and goes, and the node is down when it lasts. */
static const char *find_out(const struct slurm_state *s, bool is_ours)
{
    if (s->flags & SLURM_REBOOT)
        return "rebooting";
    if (s->flags & SLURM_FAIL)
        return "failing";
    if (s->flags & SLURM_DRAIN)
        return is_ours ? NULL : "drained";
    if (is_down(s))
        return "down";
    return s->base == SLURM_UNKNOWN || s->base == SLURM_FUTURE ? "not in service" : NULL;
}

/* A reboot and FAIL are somebody's, whatever the reason says; DRAIN and DOWN belong to the owner of the
 * reason. */
static bool is_held(const struct slurm_line *line, bool is_ours)
{
    const struct slurm_state *s = &line->state;
    if (s->flags & (SLURM_REBOOT | SLURM_FAIL))
        return true;
    if (is_ours || slurm_is_own_reason(line->reason))
        return false;
    return s->flags & SLURM_DRAIN || (is_down(s) && *line->reason);
}

struct slurm_node slurm_view_node(const struct slurm_line *line, const char *owner, bool is_pasted)
{
    const struct slurm_state *s = &line->state;
    struct slurm_node out = {.name = line->name,
                             .state = line->state_text,
                             .reason = line->reason,
                             .by = line->by,
                             .set_at = line->set_at,
                             .known = s->known};
    if (!s->known)
        return out;
    out.drain = s->flags & SLURM_DRAIN;
    out.busy = s->base == SLURM_ALLOCATED || s->base == SLURM_MIXED;
    out.completing = s->flags & SLURM_COMPLETING;
    out.fail = s->flags & SLURM_FAIL;
    out.down = is_down(s);
    out.responding = !(s->flags & SLURM_SILENT);
    out.reserved = s->flags & SLURM_RESERVED;
    out.rebooting = s->flags & SLURM_REBOOT;
    out.powering = s->flags & SLURM_POWER;
    out.ours = !is_pasted && slurm_read_mark(line->reason, owner, &(struct slurm_mark){0});
    out.out = find_out(s, out.ours);
    out.held = is_held(line, out.ours);
    return out;
}

static const char guard_prefix[] = SLURM_GUARD_PREFIX;

void slurm_write_guard(const char *node, const char *owner, struct text *t)
{
    text_printf(t, "%s%s.%s", guard_prefix, node, owner);
}

char *slurm_guarded_node(const char *name, const char *owner)
{
    size_t prefix = sizeof guard_prefix - 1, suffix = strlen(owner) + 1, len = strlen(name);
    if (len <= prefix + suffix || strncmp(name, guard_prefix, prefix) != 0)
        return NULL;
    const char *end = name + len - suffix;
    return *end == '.' && strcmp(end + 1, owner) == 0 ? mem_dup_len(name + prefix, len - prefix - suffix)
                                                      : NULL;
}

bool slurm_is_our_guard(const struct slurm_reservation *r, const char *node, const char *user)
{
    return strcmp(r->nodes, node) == 0 && strcmp(r->users, user) == 0 &&
           text_has_word(r->flags, ',', "MAINT") && text_has_word(r->flags, ',', "IGNORE_JOBS");
}

enum slurm_window slurm_is_window(const struct slurm_reservation *r, const char *owner)
{
    CLEANUP_FREE char *ours = slurm_guarded_node(r->name, owner);
    if (ours)
        return WINDOW_NOT;
    bool is_maint = text_has_word(r->flags, ',', "MAINT");
    if ((r->flags[0] && !is_maint) || strcmp(r->state, "INACTIVE") == 0)
        return WINDOW_NOT;
    if (strcmp(r->state, "ACTIVE") != 0)
        return WINDOW_UNKNOWN;
    return is_maint ? WINDOW_IS : WINDOW_NOT; /* some have no flag at all: "Flags=" */
}

bool slurm_is_others(const struct slurm_reservation *r, const char *owner)
{
    CLEANUP_FREE char *ours = slurm_guarded_node(r->name, owner);
    return !ours && strcmp(r->state, "INACTIVE") != 0;
}

void slurm_write_list(const char *const *names, size_t n, struct text *t)
{
    assert(names || n == 0);
    CLEANUP_FREE char *folded = hostlist_fold(names, n);
    bool is_inside = false;
    unsigned pairs = 0, most = 0;
    for (const char *c = folded; *c; c++) {
        is_inside = *c == '[' || (is_inside && *c != ']');
        pairs = *c == ',' && !is_inside ? 0 : pairs + (*c == '[');
        most = pairs > most ? pairs : most;
    }
    if (most <= 1) {
        text_add(t, folded);
        return;
    }
    for (size_t i = 0; i < n; i++)
        text_printf(t, "%s%s", i ? "," : "", names[i]);
}
