/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/picture.h"

#include "watch/clinic_test.h"
#include "watch/conform/baseline_test.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A controller that follows the one of a world. */
struct follower {
    struct world *leads;
    struct cluster *c;
    struct watch *w;
    struct picture *place;
    struct text told; /* "node {...}\n" */
    unsigned pieces[PICTURE_PIECES];
};

static bool refuse(void *arg, const struct command *cmd)
{
    return false;
}

static void mute(void *arg, const char *what, const char *nodes, const char *text)
{
}

static void count_alarm(void *arg, const struct alarm *a, const char *over)
{
    if (arg && over)
        ++*(unsigned *)arg;
}

/* In a cluster of the follower's own, or in the world's. */
static struct follower *follower_create(struct world *x, struct cluster *c)
{
    struct follower *f = mem_alloc(sizeof *f);
    const struct watch_sink sink = {NULL, refuse, mute, count_alarm};
    f->leads = x;
    f->c = c;
    f->w = watch_create_following(c, &x->policy, world_now(x), &sink);
    f->place = picture_create();
    return f;
}

static void follower_destroy(struct follower *f)
{
    watch_destroy(f->w);
    picture_destroy(f->place);
    text_fini(&f->told);
    free(f);
}

static void on_piece(void *arg, enum picture_piece k, const char *json)
{
    struct follower *f = arg;
    struct err e;
    CLEANUP_JSON json_t *is = json_read(json, strlen(json), &e);
    f->pieces[k]++;
    text_printf(&f->told, "%s %s\n", picture_piece_name(k), json);
    assert_non_null(is);
    if (picture_take(f->w, world_now(f->leads), world_wall(f->leads), k, is, &e) < 0)
        fail_msg("%s %s: %s", picture_piece_name(k), json, e.msg);
}

/* Tells the follower everything that it does not have, and lets its watch look at all nodes. */
static void follower_catch_up(struct follower *f)
{
    const struct world *x = f->leads;
    text_clear(&f->told);
    memset(f->pieces, 0, sizeof f->pieces);
    while (picture_step(x->w, world_now(x), world_wall(x), f->place, 50, on_piece, f))
        ;
    watch_tick(f->w, world_now(x), world_wall(x));
    while (watch_step(f->w, 1000))
        ;
}

static const struct member *node_of(const struct follower *f, int i)
{
    return cluster_find(f->c, world_node(f->leads, i)->name);
}

/* --- what is seen ------------------------------------------------------------------------------------ */

static void test_a_follower_sees_what_the_leader_sees(void **state)
{
    struct clinic *d = clinic_open(8);
    struct follower *f = follower_create(d->x, d->x->c);
    d->x->work[2] = "[\"slurm.7\"]";
    clinic_tells(d, 1, true, CLINIC_WELL);
    clinic_tells(d, 2, true, CLINIC_ILL);
    world_run(d->x, 20);
    follower_catch_up(f);
    assert_int_equal(f->pieces[PICTURE_WHOLE], 1);
    for (int i = 1; i <= 8; i++) {
        const struct member *m = world_node(d->x, i);
        const struct observed *is = watch_observed(f->w, m), *at = watch_observed(d->x->w, m);
        assert_int_equal(is->beat.liveness, LIVENESS_LIVE);
        assert_int_equal(watch_contact(f->w, m).ns / 1000000, watch_contact(d->x->w, m).ns / 1000000);
        assert_string_equal(is->boot, at->boot);
        assert_string_equal(is->version, at->version);
        assert_string_equal(is->report.json, at->report.json);
        assert_int_equal(watch_work(f->w, m), watch_work(d->x->w, m));
        assert_int_equal(watch_health(f->w, world_now(d->x), m), clinic_health(d, i));
    }
    assert_int_equal(watch_health(f->w, world_now(d->x), world_node(d->x, 2)), HEALTH_FATAL);
    assert_int_equal(watch_work(f->w, world_node(d->x, 2)), WORK_BUSY);
    follower_destroy(f);
    clinic_destroy(d);
}

static void collect(void *arg, const struct said *s)
{
    struct text *t = arg;
    text_printf(t, "%s %s %s", s->check->name, result_name(s->verdict.result), s->verdict.text);
    for (size_t i = 0; i < s->verdict.n; i++)
        text_printf(t, " [%s %s]", s->verdict.findings[i].code, s->verdict.findings[i].text);
    text_printf(t, " since %" PRId64 " looked %" PRId64 "\n", s->since.ns / 1000000000,
                s->looked.ns / 1000000000);
}

/* Since when a result stands, and when the check looked last, is told, too. */
static void test_results_have_their_moments(void **state)
{
    struct clinic *d = clinic_open(3);
    CLEANUP_TEXT struct text leader = {0}, follows = {0};
    clinic_tells(d, 1, true, CLINIC_ILL);
    world_run(d->x, 30);
    clinic_tells(d, 1, false, CLINIC_ILL);
    struct follower *f = follower_create(d->x, d->x->c);
    follower_catch_up(f);
    watch_each_check(d->x->w, world_now(d->x), world_node(d->x, 1), collect, &leader);
    watch_each_check(f->w, world_now(d->x), world_node(d->x, 1), collect, &follows);
    assert_string_equal(follows.s, leader.s);
    follower_destroy(f);
    clinic_destroy(d);
}

/* The lists come with the fingerprints, and the follower judges the nodes itself. */
static void test_fingerprints_and_lists(void **state)
{
    struct world *x = conformant(4, NULL, ""), *own = world_create(4);
    struct follower *f = follower_create(x, own->c);
    struct standing leader, follows;
    world_says(x, 3, 3, C);
    world_run(x, 3);
    follower_catch_up(f);
    assert_int_equal(f->pieces[PICTURE_LIST], 2);
    for (int i = 1; i <= 4; i++) {
        watch_standing(x->w, world_now(x), world_node(x, i), &leader, NULL);
        watch_standing(f->w, world_now(x), node_of(f, i), &follows, NULL);
        assert_true(follows.listing->known);
        assert_true(fingerprint_equal(&follows.listing->id, &leader.listing->id));
        assert_int_equal(!follows.cohort, !leader.cohort);
        assert_int_equal(follows.verified.ns / 1000000000, leader.verified.ns / 1000000000);
    }
    world_says(x, 4, 4, C);
    follower_catch_up(f);
    assert_int_equal(f->pieces[PICTURE_LIST], 0); /* it has this list */
    watch_standing(f->w, world_now(x), node_of(f, 4), &follows, NULL);
    assert_int_equal(follows.cohort->n, 2);
    follower_destroy(f);
    world_destroy(own);
    world_destroy(x);
}

/* A fingerprint that was verified before the follower began is as old there. */
static void test_an_old_fingerprint_grows_stale(void **state)
{
    struct world *x = conformant(2, NULL, "");
    struct standing s;
    world_run(x, 20 * HOUR);
    struct follower *f = follower_create(x, x->c);
    follower_catch_up(f);
    watch_standing(f->w, world_now(x), world_node(x, 1), &s, NULL);
    assert_int_equal(s.conformance, CONFORMANCE_UNKNOWN);
    follower_destroy(f);
    world_destroy(x);
}

static void test_what_the_scheduler_says(void **state)
{
    struct world *x = world_create(2);
    struct member *m = world_node(x, 1);
    const struct scheduler_word says = {.state = "IDLE+DRAIN",
                                        .reason = "fan \"2\"",
                                        .by = "ann",
                                        .since = world_wall(x),
                                        .read = world_now(x)};
    const struct elsewhere held = {.where = ELSEWHERE_SLURM,
                                   .state = ELSEWHERE_HELD,
                                   .out = true,
                                   .how = "drained",
                                   .by = "ann",
                                   .why = "fan"};
    struct follower *f = follower_create(x, x->c);
    world_run(x, 5);
    watch_scheduler(x->w, m, WORK_BUSY, false);
    watch_scheduler_word(x->w, m, &says);
    watch_elsewhere(x->w, world_now(x), m, &held);
    watch_slurmd(x->w, m, SLURMD_ANSWERS);
    follower_catch_up(f);
    const struct observed *o = watch_observed(f->w, m);
    assert_int_equal(watch_work(f->w, m), WORK_BUSY);
    assert_string_equal(o->word.state, "IDLE+DRAIN");
    assert_string_equal(o->word.reason, "fan \"2\"");
    assert_int_equal(o->word.since.ns / 1000000, says.since.ns / 1000000);
    assert_int_equal(o->slurmd, SLURMD_ANSWERS);
    assert_int_equal(o->elsewhere[ELSEWHERE_SLURM].is.state, ELSEWHERE_HELD);
    assert_string_equal(o->elsewhere[ELSEWHERE_SLURM].is.how, "drained");
    watch_unscheduled(x->w, m);
    follower_catch_up(f);
    assert_false(watch_observed(f->w, m)->scheduler);
    assert_int_equal(watch_observed(f->w, m)->word.read.ns, 0);
    assert_int_equal(watch_observed(f->w, m)->elsewhere[ELSEWHERE_SLURM].is.state, ELSEWHERE_NOBODY);
    follower_destroy(f);
    world_destroy(x);
}

/* --- how it is told ------------------------------------------------------------------------------------ */

static void test_only_changes_are_told_after_the_whole(void **state)
{
    struct world *x = world_create(150);
    struct follower *f = follower_create(x, x->c);
    world_run(x, 10);
    follower_catch_up(f);
    assert_int_equal(f->pieces[PICTURE_NODE], 150);
    follower_catch_up(f);
    assert_string_equal(f->told.len ? f->told.s : "", "");
    world_inventory(x, 7);
    follower_catch_up(f);
    assert_int_equal(f->pieces[PICTURE_NODE], 1);
    assert_non_null(strstr(f->told.s, "\"node\":\"lx07\""));
    assert_null(strstr(f->told.s, "presence"));
    assert_int_equal(f->pieces[PICTURE_WHOLE], 0);
    world_run(x, 10); /* each node is heard once */
    follower_catch_up(f);
    assert_int_equal(f->pieces[PICTURE_NODE], 0);
    assert_int_equal(f->pieces[PICTURE_HEARD], 1);
    follower_destroy(f);
    world_destroy(x);
}

/* With an agent's instance somebody else could go on in its place. */
static void test_no_instance_is_told(void **state)
{
    struct world *x = world_create(2);
    struct follower *f = follower_create(x, x->c);
    follower_catch_up(f);
    assert_null(strstr(f->told.s, "instance"));
    assert_null(strstr(f->told.s, "\"key\""));
    follower_destroy(f);
    world_destroy(x);
}

static void follower_run(struct follower *f, int64_t seconds, bool tells)
{
    for (int64_t i = 0; i < seconds; i++) {
        world_run(f->leads, 1);
        if (tells)
            follower_catch_up(f);
    }
}

static void test_a_node_that_falls_silent_does_so_at_both(void **state)
{
    struct world *x = world_create(20);
    struct follower *f = follower_create(x, x->c);
    follower_catch_up(f);
    x->off[5] = true;
    follower_run(f, 34, true);
    assert_int_equal(watch_observed(x->w, world_node(x, 5))->beat.liveness, LIVENESS_LATE);
    assert_int_equal(watch_observed(f->w, world_node(x, 5))->beat.liveness, LIVENESS_LATE);
    assert_int_equal(watch_observed(f->w, world_node(x, 6))->beat.liveness, LIVENESS_LIVE);
    follower_run(f, 80, true);
    assert_int_equal(watch_observed(f->w, world_node(x, 5))->beat.liveness, LIVENESS_SILENT);
    follower_destroy(f);
    world_destroy(x);
}

/* Of a time without news nothing follows. */
static void test_a_cut_is_no_silence(void **state)
{
    struct world *x = world_create(5);
    struct follower *f = follower_create(x, x->c);
    follower_catch_up(f);
    follower_run(f, 200, false);
    for (int i = 1; i <= 5; i++)
        assert_int_equal(watch_observed(f->w, world_node(x, i))->beat.liveness, LIVENESS_LIVE);
    follower_catch_up(f);
    assert_int_equal(watch_observed(f->w, world_node(x, 1))->beat.liveness, LIVENESS_LIVE);
    follower_destroy(f);
    world_destroy(x);
}

/* A watch that was filled beside the one that answers takes its place, under the pointer that everybody has.
 */
static void test_watches_change_places(void **state)
{
    struct world *x = world_create(3);
    unsigned over = 0;
    const struct watch_sink sink = {&over, refuse, mute, count_alarm};
    struct follower *f = follower_create(x, x->c);
    struct watch *answers = watch_create(x->c, &x->policy, world_now(x), &sink);
    watch_alarm_raise(answers, ALARM_SLURM, "Slurm", "", "it does not answer", world_wall(x));
    follower_catch_up(f);
    watch_exchange(answers, f->w);
    assert_int_equal(over, 1);
    assert_null(watch_alarms(answers));
    assert_int_equal(watch_observed(answers, world_node(x, 1))->beat.liveness, LIVENESS_LIVE);
    assert_int_equal(watch_observed(f->w, world_node(x, 1))->beat.liveness, LIVENESS_UNHEARD);
    watch_alarm_raise(answers, ALARM_SLURM, "Slurm", "", "it does not answer", world_wall(x));
    watch_alarm_end(answers, ALARM_SLURM, "Slurm", "it answers");
    assert_int_equal(over, 2);
    watch_destroy(answers);
    follower_destroy(f);
    world_destroy(x);
}

/* --- what is refused ---------------------------------------------------------------------------------------
 */

struct bad {
    enum picture_piece k;
    const char *json;
};

static void test_malformed_pieces_are_refused(void **state)
{
    static const struct bad all[] = {
        {PICTURE_NODE, "{}"},
        {PICTURE_NODE, "{\"node\":\"../x\"}"},
        {PICTURE_NODE, "{\"node\":\"lx01\",\"presence\":{\"liveness\":\"well\"}}"},
        {PICTURE_NODE, "{\"node\":\"lx01\",\"presence\":{\"liveness\":\"live\",\"boot\":"
                       "\"0123456789012345678901234567890123456789\"}}"},
        {PICTURE_NODE, "{\"node\":\"lx01\",\"presence\":{\"liveness\":\"live\",\"running\":7}}"},
        {PICTURE_NODE, "{\"node\":\"lx01\",\"outside\":{\"work\":\"idle\",\"elsewhere\":[]}}"},
        {PICTURE_NODE,
         "{\"node\":\"lx01\",\"outside\":{\"work\":\"idle\",\"elsewhere\":[{\"state\":\"held\"}]}}"},
        {PICTURE_NODE,
         "{\"node\":\"lx01\",\"conform\":{\"fingerprint\":\"aa\",\"flags\":0,\"verified_ms\":0}}"},
        {PICTURE_NODE,
         "{\"node\":\"lx01\",\"conform\":{\"fingerprint\":\"\",\"flags\":4,\"verified_ms\":-1}}"},
        {PICTURE_NODE, "{\"node\":\"lx01\",\"checks\":{\"boot\":7}}"},
        {PICTURE_HEARD, "{\"heard\":[\"lx01\"]}"},
        {PICTURE_HEARD, "{\"heard\":[7,7]}"},
        {PICTURE_HEARD, "{}"},
        {PICTURE_LIST, "{\"list\":\"aa\",\"last\":true,\"has\":{}}"},
        {PICTURE_LIST, "{\"last\":true,\"has\":{}}"},
    };
    struct world *x = world_create(2);
    struct follower *f = follower_create(x, x->c);
    struct err e;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CLEANUP_JSON json_t *is = json_read(all[i].json, strlen(all[i].json), &e);
        if (picture_take(f->w, world_now(x), world_wall(x), all[i].k, is, &e) != -EINVAL)
            fail_msg("%s is taken", all[i].json);
    }
    follower_destroy(f);
    world_destroy(x);
}

static void test_a_list_of_another_fingerprint_is_refused(void **state)
{
    static const char list[] =
        "{\"list\":\"0000000000000000000000000000000000000000000000000000000000000000\","
        "\"last\":true,\"has\":{\"components\":{\"kernel.release\":\"6.1\"}}}";
    struct world *x = world_create(1);
    struct follower *f = follower_create(x, x->c);
    CLEANUP_JSON json_t *is = json_read(list, sizeof list - 1, NULL);
    struct err e;
    assert_int_equal(picture_take(f->w, world_now(x), world_wall(x), PICTURE_LIST, is, &e), -EBADMSG);
    follower_destroy(f);
    world_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_follower_sees_what_the_leader_sees),
        cmocka_unit_test(test_results_have_their_moments),
        cmocka_unit_test(test_fingerprints_and_lists),
        cmocka_unit_test(test_an_old_fingerprint_grows_stale),
        cmocka_unit_test(test_what_the_scheduler_says),
        cmocka_unit_test(test_only_changes_are_told_after_the_whole),
        cmocka_unit_test(test_no_instance_is_told),
        cmocka_unit_test(test_a_node_that_falls_silent_does_so_at_both),
        cmocka_unit_test(test_a_cut_is_no_silence),
        cmocka_unit_test(test_watches_change_places),
        cmocka_unit_test(test_malformed_pieces_are_refused),
        cmocka_unit_test(test_a_list_of_another_fingerprint_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
