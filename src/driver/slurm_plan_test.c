/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What follows of a node. The table of all of it that is worth reading is test/data/slurm/plan.txt; with
 * FETTLE_GOLDEN=write it is written anew. Below it, what holds for every combination, in a small Slurm that
 * does what it is told.
 */
#include "driver/slurm_plan.h"

#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const wishes[] = {"nothing", "drain", "reserve"};
static const char *const holds[] = {"in service", "ours, wanted", "ours, other", "ours, down", "foreign"};
static const char *const grounds[] = {"up", "moving", "down"};
static const char *const guards[] = {"not read", "none", "ours", "foreign"};

enum { WISHES = 3, RECORDS = 7, HOLDS = 5, GROUNDS = 3, GUARDS = 4 };

static void add_cell(struct text *t, const struct slurm_case *c)
{
    struct slurm_step s = slurm_plan(c);
    CLEANUP_TEXT struct text cell = {0};
    if (s.act == ACT_NOTE)
        text_printf(&cell, "%s%s%s", slurm_record_name(s.record), s.has_guard ? "+res" : "",
                    s.is_refused ? "!" : "");
    else
        text_printf(&cell, "%s%s", s.act == ACT_NOTHING || s.act == ACT_WAIT ? "" : "> ",
                    slurm_act_name(s.act));
    text_printf(t, "%-17s", cell.s);
}

/* Whether it is told apart in which slurmctld it stood. */
static bool tells_boot(const struct slurm_case *c)
{
    bool is_guard =
        c->record == RECORD_UNDRAINING || c->record == RECORD_RESERVED || c->record == RECORD_FOREIGN;
    return c->record == RECORD_DRAINED || (is_guard && c->wish == WISH_RESERVE && c->has_guard);
}

static void add_row(struct text *t, struct slurm_case c)
{
    bool has_claim = c.record != RECORD_NONE && c.wish != WISH_NOTHING;
    bool has_boot = tells_boot(&c) && c.is_claim;
    CLEANUP_TEXT struct text name = {0};
    text_printf(&name, "%s%s%s", slurm_record_name(c.record), has_claim && !c.is_claim ? ", other claim" : "",
                has_boot && c.is_another_slurmctld ? ", restarted" : "");
    text_printf(t, "  %-24s", name.s);
    for (unsigned hold = 0; hold < HOLDS; hold++) {
        c.hold = (enum slurm_hold)hold;
        add_cell(t, &c);
    }
    while (t->s[t->len - 1] == ' ')
        t->len--;
    text_add(t, "\n");
}

static void add_rows(struct text *t, struct slurm_case c)
{
    for (unsigned record = c.has_guard || c.is_refused ? RECORD_DRAINING : RECORD_NONE; record < RECORDS;
         record++) {
        c.record = (enum slurm_record_state)record;
        for (int claim = 1; claim >= 0; claim--)
            for (int boot = 0; boot < 2; boot++) {
                c.is_claim = claim;
                c.is_another_slurmctld = boot;
                bool tells = c.wish != WISH_NOTHING && record != RECORD_NONE;
                if ((tells || claim) && (!boot || (claim && tells_boot(&c) && tells)))
                    add_row(t, c);
            }
    }
}

static void add_section(struct text *t, struct slurm_case c)
{
    text_printf(t, "\nwanted: %s; node: %s; reservation: %s%s%s%s\n", wishes[c.wish], grounds[c.ground],
                guards[c.guard], c.has_guard ? ", in the record" : "",
                c.is_refused ? ", deleted by a person" : "", c.is_kept ? "; in somebody's maintenance" : "");
    text_printf(t, "  %-24s", "record");
    for (unsigned i = 0; i < HOLDS; i++)
        text_printf(t, i + 1 < HOLDS ? "%-17s" : "%s\n", holds[i]);
    add_rows(t, c);
}

static void compare(const struct text *t, const char *path)
{
    const char *mode = getenv("FETTLE_GOLDEN");
    if (mode && strcmp(mode, "write") == 0) {
        FILE *f = fopen(path, "we");
        assert_non_null(f);
        fputs(t->s, f);
        fclose(f);
    }
    CLEANUP_FREE char *golden = mem_alloc(t->len + 4096);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    golden[fread(golden, 1, t->len + 4095, f)] = '\0';
    fclose(f);
    if (strcmp(golden, t->s) != 0)
        print_error("%s differs; it is now:\n%s\n", path, t->s);
    assert_true(strcmp(golden, t->s) == 0);
}

static void test_the_table(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(
        &t,
        "What follows of a node (slurm_plan). A column says what holds the node in Slurm, a row what its\n"
        "record says. \"> drain\": written into Slurm. \"draining\": the record becomes this; \"none\", it\n"
        "goes; \"+res\", with the reservation; \"!\", which a person deleted. \"wait\": not now. \"-\": "
        "there is nothing to do.\n");
    for (unsigned wish = 0; wish < WISHES; wish++) {
        struct slurm_case c = {.wish = (enum slurm_wish)wish, .is_known = true, .guard = GUARD_NONE};
        add_section(&t, c);
        for (unsigned guard = 0; guard < GUARDS; guard++) {
            c.guard = (enum slurm_guard)guard;
            c.has_guard = true;
            add_section(&t, c);
        }
        c.guard = GUARD_OURS;
        c.has_guard = false;
        add_section(&t, c);
        c.guard = wish == WISH_RESERVE ? GUARD_OURS : GUARD_NONE;
        c.has_guard = wish == WISH_RESERVE;
        for (c.ground = GROUND_MOVING; c.ground <= GROUND_DOWN; c.ground++)
            add_section(&t, c);
    }
    struct slurm_case kept = {.wish = WISH_DRAIN, .is_known = true, .guard = GUARD_NONE, .is_kept = true};
    add_section(&t, kept);
    text_add(&t, "\nLost by a write of ours, whatever is wanted and the record says:\n");
    struct slurm_case lost = {
        .record = RECORD_UNDRAINING, .is_known = true, .guard = GUARD_NONE, .is_lost = true};
    add_section(&t, lost);
    struct slurm_case refused = {.is_known = true, .guard = GUARD_NONE, .is_refused = true};
    for (unsigned wish = WISH_DRAIN; wish < WISHES; wish++) {
        refused.wish = (enum slurm_wish)wish;
        add_section(&t, refused);
    }
    compare(&t, TEST_DATA "/plan.txt");
}

/* --- every combination ----------------------------------------------------------------------- */

typedef void each_fn(struct slurm_case c);

static void for_each_case(each_fn *each)
{
    struct slurm_case c = {.is_known = true};
    for (unsigned i = 0; i < WISHES * RECORDS * HOLDS * GROUNDS * GUARDS * 32; i++) {
        unsigned n = i;
        c.wish = (enum slurm_wish)(n % WISHES);
        n /= WISHES;
        c.record = (enum slurm_record_state)(n % RECORDS);
        n /= RECORDS;
        c.hold = (enum slurm_hold)(n % HOLDS);
        n /= HOLDS;
        c.ground = (enum slurm_ground)(n % GROUNDS);
        n /= GROUNDS;
        c.guard = (enum slurm_guard)(n % GUARDS);
        n /= GUARDS;
        c.is_claim = n & 1;
        c.has_guard = n & 2;
        c.is_another_slurmctld = n & 4;
        c.is_refused = n & 8;
        c.is_lost = n & 16;
        if (c.hold == HOLD_WANTED && c.wish == WISH_NOTHING) /* there is no such thing */
            continue;
        if (c.hold == HOLD_REST && c.ground == GROUND_UP)
            continue;
        if (c.record == RECORD_NONE && (c.has_guard || c.is_refused || c.is_lost))
            continue;
        each(c);
    }
}

/* What is wanted is a reservation, and a person deleted it: as if a drain were wanted. */
static bool is_refused(const struct slurm_case *c)
{
    return c->wish == WISH_RESERVE && c->is_refused && c->is_claim;
}

static void each_is_safe(struct slurm_case c)
{
    enum slurm_act act = slurm_plan(&c).act;
    bool is_foreign = c.hold == HOLD_FOREIGN, wants_drain = c.wish == WISH_DRAIN || is_refused(&c);
    bool is_reason = act == ACT_DRAIN || act == ACT_UNDRAIN || act == ACT_RETURN;
    assert_false(is_foreign && is_reason); /* nothing over somebody else's */
    bool has_other_words = c.record == RECORD_DRAINED && c.hold == HOLD_STALE;
    if (act == ACT_DRAIN) /* the record knew it before */
        assert_true(wants_drain && (c.record == RECORD_DRAINING || has_other_words) && c.is_claim);
    if (act == ACT_UNDRAIN || act == ACT_RETURN) {
        assert_true(c.record == RECORD_UNDRAINING && !wants_drain);
        assert_true(c.hold != HOLD_NONE && c.hold != HOLD_FOREIGN);
        assert_true(c.ground == (act == ACT_RETURN ? GROUND_DOWN : GROUND_UP));
        assert_true(c.wish == WISH_NOTHING || c.guard == GUARD_OURS); /* examined behind its guard */
    }
    assert_true(c.is_lost ? act == (is_foreign ? ACT_NOTE : ACT_RESTORE) : act != ACT_RESTORE);
    if (act == ACT_RESERVE)
        assert_true(c.wish == WISH_RESERVE && !wants_drain && c.guard == GUARD_NONE && c.has_guard);
    if (act == ACT_UNRESERVE) /* never somebody else's; no gap before the drain */
        assert_true(c.guard == GUARD_OURS && (c.wish == WISH_NOTHING || c.hold == HOLD_WANTED || is_foreign ||
                                              c.record == RECORD_OVERRIDDEN));
    if (c.record == RECORD_OVERRIDDEN && c.is_claim && wants_drain)
        assert_int_not_equal(act, ACT_DRAIN); /* a person's word stands */
    if (c.is_lost)
        return;
    c.is_kept = true; /* nothing begins, and what stands is not let go for it */
    enum slurm_act then = slurm_plan(&c).act;
    if (c.record == RECORD_NONE)
        assert_true(c.hold != HOLD_NONE || !wants_drain || then == ACT_WAIT);
    assert_true(then == act || (then == ACT_WAIT && wants_drain));
    c.is_known = false;
    assert_int_equal(slurm_plan(&c).act, ACT_WAIT);
}

static void test_no_combination_makes_a_forbidden_call(void **state)
{
    for_each_case(each_is_safe);
}

/* What a Slurm that does as it is told, and an outbox that commits, make of a step. */
static bool is_unseen(const struct slurm_case *c, const struct slurm_step *s)
{
    if (s->record == RECORD_UNDRAINING || s->record == RECORD_RESERVED || s->record == RECORD_FOREIGN)
        return !(s->has_guard && c->guard == GUARD_OURS);
    return c->is_another_slurmctld && s->record != RECORD_DRAINED;
}

static void carry_out(struct slurm_case *c, const struct slurm_step *s)
{
    switch (s->act) {
    case ACT_NOTE:
        c->record = s->record;
        c->has_guard = s->has_guard;
        c->is_claim = c->is_claim || !s->keeps_claim;
        c->is_refused = s->is_refused;
        c->is_lost = c->is_lost && !s->is_restored;
        c->is_another_slurmctld = is_unseen(c, s);
        break;
    case ACT_RESTORE: c->hold = HOLD_FOREIGN; break;
    case ACT_DRAIN: c->hold = HOLD_WANTED; break;
    case ACT_RESERVE: c->guard = GUARD_OURS; break;
    case ACT_UNRESERVE: c->guard = GUARD_NONE; break;
    case ACT_UNDRAIN:
    case ACT_RETURN: c->hold = HOLD_NONE; break;
    case ACT_WAIT: /* the next reading has the reservations, or the node comes up */
        if (c->guard == GUARD_UNREAD)
            c->guard = GUARD_NONE;
        else
            c->ground = c->hold == HOLD_REST ? GROUND_DOWN : GROUND_UP;
        break;
    case ACT_NOTHING: break;
    }
}

static void check_end(const struct slurm_case *c)
{
    bool is_persons = c->hold == HOLD_FOREIGN || c->record == RECORD_OVERRIDDEN;
    if (c->wish == WISH_NOTHING) {
        assert_true(c->hold == HOLD_NONE || c->hold == HOLD_FOREIGN);
        assert_int_equal(c->record, RECORD_NONE);
    } else if (c->wish == WISH_RESERVE && !is_refused(c)) {
        assert_true(c->guard == GUARD_OURS && c->has_guard);
        assert_true(c->hold == HOLD_NONE || is_persons);
    } else {
        assert_true(is_persons || (c->hold == HOLD_WANTED && c->record == RECORD_DRAINED));
    }
    if (c->wish != WISH_RESERVE || is_refused(c))
        assert_true(c->guard != GUARD_OURS && !c->has_guard);
}

static void each_comes_to_its_end(struct slurm_case c)
{
    unsigned counts[ACT_NOTHING + 1] = {0};
    if (c.wish == WISH_RESERVE && c.guard == GUARD_FOREIGN)
        return; /* waits for a person */
    for (unsigned i = 0; i < 16; i++) {
        struct slurm_step s = slurm_plan(&c);
        if (s.act == ACT_NOTHING)
            break;
        counts[s.act]++;
        carry_out(&c, &s);
    }
    assert_int_equal(slurm_plan(&c).act, ACT_NOTHING);
    for (unsigned a = 0; a < ACT_NOTHING; a++)
        assert_true(!slurm_act_writes((enum slurm_act)a) || counts[a] <= 1); /* each once */
    check_end(&c);
}

static void test_every_combination_comes_to_its_end(void **state)
{
    for_each_case(each_comes_to_its_end);
}

/* --- records --------------------------------------------------------------------------------- */

static void test_a_record_reads_as_it_was_written(void **state)
{
    for (unsigned s = RECORD_DRAINING; s < RECORDS; s++) {
        struct slurm_record again, r = {.state = (enum slurm_record_state)s,
                                        .claim = "12.1",
                                        .has_guard = s & 1,
                                        .is_refused = s & 4};
        if (s & 4)
            r.lost = (struct slurm_lost){.reason = "new \"memory\", Ann", .how = SLURM_LOST_FAIL};
        if (s & 1)
            snprintf(r.log, sizeof r.log, "4711:%u", s);
        if (s & 2)
            snprintf(r.boot, sizeof r.boot, "2026-11-21T22:31:18");
        CLEANUP_FREE char *text = slurm_record_write(&r, 17);
        assert_int_equal(slurm_record_read(text, &again, NULL), 0);
        assert_memory_equal(&again, &r, sizeof r);
    }
    CLEANUP_FREE char *none = slurm_record_write(&(struct slurm_record){0}, 17);
    assert_string_equal(none, "null");
}

static void test_a_text_that_is_no_record_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "null",
        "[]",
        "{}",
        "{\"claim\":\"1\",\"state\":\"asleep\",\"reservation\":false}",
        "{\"claim\":\"1\",\"state\":\"drained\",\"reservation\":false,\"refused\":1}",
        "{\"claim\":1,\"state\":\"drained\",\"reservation\":false}",
        "{\"claim\":\"1\",\"state\":\"drained\",\"reservation\":false,\"slurmctld\":1}",
        "{\"claim\":\"1\",\"state\":\"drained\",\"reservation\":false,\"log\":1}",
        "{\"claim\":\"1\",\"state\":\"drained\",\"reservation\":false,\"lost\":{\"reason\":\"x\"}}",
        "{\"claim\":\"1\",\"state\":\"drained\",\"reservation\":false,\"lost\":{\"reason\":\"\",\"how\":"
        "\"drain\"}}",
        "{\"claim\":\"1\",\"state\":\"drained\",\"reservation\":false,\"lost\":{\"reason\":\"x\",\"how\":"
        "\"gone\"}}",
        "{\"claim\":\"123456789012345678901234567890123456789012345678\",\"state\":\"drained\","
        "\"reservation\":false}",
    };
    struct slurm_record r;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(slurm_record_read(texts[i], &r, NULL), -22);
        assert_int_equal(r.state, RECORD_NONE);
    }
}

static void test_the_end_of_a_reboot_is_no_persons_word(void **state)
{
    struct slurm_case c = {.wish = WISH_DRAIN,
                           .record = RECORD_DRAINED,
                           .is_claim = true,
                           .is_known = true,
                           .hold = HOLD_WANTED,
                           .is_rebooting = true};
    struct slurm_step s = slurm_plan(&c);
    assert_true(s.act == ACT_NOTE && s.record == RECORD_DRAINED && s.is_rebooting);
    c.had_reboot = true;
    assert_int_equal(slurm_plan(&c).act, ACT_NOTHING);
    c.is_rebooting = false;
    c.hold = HOLD_NONE;
    s = slurm_plan(&c);
    assert_true(s.act == ACT_NOTE && s.record == RECORD_DRAINING && !s.is_overridden && !s.is_rebooting);
    c.had_reboot = false;
    assert_true(slurm_plan(&c).is_overridden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_end_of_a_reboot_is_no_persons_word),
        cmocka_unit_test(test_the_table),
        cmocka_unit_test(test_no_combination_makes_a_forbidden_call),
        cmocka_unit_test(test_every_combination_comes_to_its_end),
        cmocka_unit_test(test_a_record_reads_as_it_was_written),
        cmocka_unit_test(test_a_text_that_is_no_record_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
