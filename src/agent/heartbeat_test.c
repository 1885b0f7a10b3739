/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/heartbeat.h"

#include "agent/life_test.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void beats_every_interval_with_growing_numbers(void **state)
{
    struct fake *f = *state;
    struct node n;
    f->welcome = WELCOME(50, false);
    life_start(f, &n, "lx01");
    for (int i = 1; i <= 4; i++)
        assert_int_equal(life_number(life_frame(f, FRAME_HEARTBEAT, 0, i, NULL), "seq"), i);
    assert_int_equal(f->n_peers, 1);
    for (int i = 0; i < f->n_frames; i++)
        assert_int_not_equal(f->frames[i].type, FRAME_INVENTORY); /* nobody wanted it and nothing changed */
    life_stop(f, &n);
}

static void unreadable_work_is_unknown(void **state)
{
    struct fake *f = *state;
    struct node n = {0};
    char path[512];
    f->welcome = WELCOME(50, false);
    life_start(f, &n, "lx01");
    snprintf(path, sizeof path, "%s/run/fettle/work/job.1", n.root);
    life_frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    unlink(path);
    snprintf(path, sizeof path, "%s/run/fettle/work", n.root);
    rmdir(path);
    fake_write(n.root, "run/fettle/work", "no directory");
    int from = f->n_frames;
    assert_true(json_is_null(json_object_get(life_frame(f, FRAME_HEARTBEAT, from, 3, NULL), "work")));
    life_stop(f, &n);
}

static void with_an_interval_of_zero_it_reports_once_and_waits(void **state)
{
    struct fake *f = *state;
    struct node n;
    f->welcome = WELCOME(0, false);
    life_start(f, &n, "lx01");
    life_frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    fake_send(f, 0, FRAME_WANT, "{}"); /* its answer comes, and no second heartbeat before it */
    int at;
    life_frame(f, FRAME_INVENTORY, 0, 1, &at);
    for (int i = 0, beats = 0; i < at; i++) {
        beats += f->frames[i].type == FRAME_HEARTBEAT;
        assert_true(beats < 2);
    }
    fake_send(f, 0, FRAME_SETTINGS, "{\"interval_ms\":50,\"spread_ms\":10}");
    life_frame(f, FRAME_HEARTBEAT, 0, 3, NULL);
    life_stop(f, &n);
}

/* The probe counts bytes of names; as JSON each of these takes twice as many. */
static void too_much_work_is_unknown(void **state)
{
    struct fake *f = *state;
    struct node n = {.root = fake_root(f, "lx01")};
    char quotes[101];
    memset(quotes, '"', 100);
    quotes[100] = '\0';
    for (int i = 0; i < 250; i++) {
        char path[160];
        snprintf(path, sizeof path, "run/fettle/work/%s%d", quotes, i);
        fake_write(n.root, path, "");
    }
    life_start_with(f, &n, "lx01", false);
    assert_true(json_is_null(json_object_get(life_frame(f, FRAME_HEARTBEAT, 0, 1, NULL), "work")));
    life_stop(f, &n);
}

/* The time since the boot is unknown then, and the heartbeat goes out. */
static void a_root_that_is_gone_costs_no_heartbeat(void **state)
{
    struct fake *f = *state;
    struct node n;
    f->welcome = WELCOME(50, false);
    life_start(f, &n, "lx01");
    life_frame(f, FRAME_HEARTBEAT, 0, 1, NULL);
    CLEANUP_TEXT struct text away = {0};
    text_printf(&away, "%s.away", n.root);
    assert_int_equal(rename(n.root, away.s), 0);
    int from = f->n_frames;
    json_t *beat = life_frame(f, FRAME_HEARTBEAT, from, 3, NULL);
    assert_true(json_is_null(json_object_get(beat, "work")));
    assert_int_equal(life_number(beat, "uptime_s"), 0);
    life_stop(f, &n);
}

static void on_time(uv_timer_t *timer)
{
    *(bool *)timer->data = true;
}

static bool is_over(void *arg)
{
    return *(bool *)arg;
}

/* Four intervals of the link that was lost, which count no more. */
static void wait_200_ms(struct fake *f)
{
    uv_timer_t timer;
    bool over = false;
    timer.data = &over;
    uv_timer_init(&f->loop, &timer);
    uv_timer_start(&timer, on_time, 200, 0);
    assert_true(fake_wait(f, is_over, &over));
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&f->loop, UV_RUN_NOWAIT);
}

static void after_a_lost_link_it_beats_once_more_and_goes_on_counting(void **state)
{
    struct fake *f = *state;
    struct node n;
    f->welcome = WELCOME(50, false);
    life_start(f, &n, "lx01");
    life_frame(f, FRAME_HEARTBEAT, 0, 2, NULL);
    f->welcome = WELCOME(0, false);
    int at = f->n_frames - 1;
    peer_close(f->peers[0]);
    json_t *next;
    do /* some may have been on their way */
        next = life_frame(f, FRAME_HEARTBEAT, at + 1, 1, &at);
    while (f->frames[at].peer == 0);
    assert_true(life_number(next, "seq") > 2);
    wait_200_ms(f);
    for (int i = at + 1; i < f->n_frames; i++)
        assert_int_not_equal(f->frames[i].type, FRAME_HEARTBEAT);
    life_stop(f, &n);
    heartbeat_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_LIFE(beats_every_interval_with_growing_numbers),
        IN_LIFE(unreadable_work_is_unknown),
        IN_LIFE(with_an_interval_of_zero_it_reports_once_and_waits),
        IN_LIFE(too_much_work_is_unknown),
        IN_LIFE(after_a_lost_link_it_beats_once_more_and_goes_on_counting),
        IN_LIFE(a_root_that_is_gone_costs_no_heartbeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
