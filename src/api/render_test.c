/* SPDX-License-Identifier: Apache-2.0 */
#include "api/render.h"
#include "api/tally.h"
#include "api/view.h"

#include "api/golden_test.h"
#include "api/world_test.h"
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void render_all(const struct world *w, const char *fields, const char *between, struct text *t)
{
    struct selection s;
    assert_int_equal(selection_parse(fields, &s, NULL), 0);
    struct view v = {.cluster = w->cluster, .watch = w->watch, .now = w->now};
    for (size_t i = 0; i < cluster_count(w->cluster); i++) {
        view_set(&v, cluster_at(w->cluster, i));
        if (i)
            text_add(t, between);
        render_node(&v, &s, t);
    }
    view_fini(&v);
}

/* Every field of every kind of node; a line each. */
static void test_every_field(void **state)
{
    struct world w = world_make((struct mono){INT64_C(1000) * 1000000000});
    CLEANUP_TEXT struct text t = {0};
    for (size_t i = 0; i < cluster_count(w.cluster); i++) {
        struct view v = {.cluster = w.cluster, .watch = w.watch, .now = w.now};
        view_set(&v, cluster_at(w.cluster, i));
        for (int f = 0; f < FIELDS; f++) {
            struct selection s = {.n = 1, .fields = {(enum field)f}};
            render_node(&v, &s, &t);
            text_add_char(&t, '\n');
        }
        text_add_char(&t, '\n');
        view_fini(&v);
    }
    golden_check("fields.txt", &t);
    world_destroy(&w);
}

/* What is rendered is JSON, and each field has the kind that its row says, or null. */
static void test_kinds(void **state)
{
    struct world w = world_make((struct mono){INT64_C(1000) * 1000000000});
    CLEANUP_TEXT struct text t = {0};
    text_add_char(&t, '[');
    render_all(&w, NULL, ",", &t);
    text_add_char(&t, ']');
    struct err e = {0};
    CLEANUP_JSON json_t *nodes = json_read(t.s, t.len, &e);
    assert_string_equal(e.msg, "");
    size_t i;
    json_t *node;
    json_array_foreach (nodes, i, node) {
        assert_int_equal(json_object_size(node), FIELDS);
        for (int f = 0; f < FIELDS; f++) {
            const struct field_row *row = field_get((enum field)f);
            const json_t *v = json_object_get(node, row->name);
            bool good = json_is_null(v);
            switch (row->kind) {
            case FIELD_IS_TEXT: good |= json_is_string(v); break;
            case FIELD_IS_NUMBER:
            case FIELD_IS_TIME:
            case FIELD_IS_SPAN: good |= json_is_integer(v); break;
            case FIELD_IS_MILLI: good |= json_is_number(v); break;
            case FIELD_IS_FLAG: good = json_is_boolean(v); break;
            case FIELD_IS_LIST: good |= json_is_array(v); break;
            }
            assert_true(good);
        }
    }
    world_destroy(&w);
}

/* What Slurm says of lx01 on its way: read and held, out by Slurm itself, not read any more. */
static void test_words_of_other_systems(void **state)
{
    struct world w = world_make((struct mono){INT64_C(1000) * 1000000000});
    struct member *m = cluster_find(w.cluster, "lx01");
    static const char fields[] =
        "Schedulable,Why,SchedulerState,SchedulerReason,SchedulerUser,SchedulerSince,"
        "SchedulerRead,Elsewhere,Held";
    struct selection s;
    assert_int_equal(selection_parse(fields, &s, NULL), 0);
    const struct {
        struct scheduler_word word;
        struct elsewhere is;
    } said[] = {
        {{.state = "IDLE+DRAIN",
          .reason = "bad \"cable\"",
          .by = "ann",
          .since = {INT64_C(1794000000000000000)},
          .read = w.now},
         {.state = ELSEWHERE_HELD, .out = true, .how = "drained", .by = "ann", .why = "bad \"cable\""}},
        {{.state = "DOWN", .reason = "Not responding", .read = mono_add(w.now, span_s(2))},
         {.out = true, .how = "down", .why = "Not responding"}},
        {{0}, {.state = ELSEWHERE_UNKNOWN, .since = {INT64_C(1794000000000000000)}}},
        {{.state = "IDLE", .read = mono_add(w.now, span_s(6))}, {0}}};
    CLEANUP_TEXT struct text t = {0};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct view v = {.cluster = w.cluster, .watch = w.watch, .now = mono_add(w.now, span_s(6))};
        struct tally tally = {0};
        watch_scheduler(w.watch, m, WORK_IDLE, false);
        watch_scheduler_word(w.watch, m, &said[i].word);
        watch_elsewhere(w.watch, w.now, m, &said[i].is);
        view_set(&v, m);
        render_node(&v, &s, &t);
        tally_add(&tally, &v);
        CLEANUP_JSON json_t *counts = tally_elsewhere(&tally);
        CLEANUP_FREE char *text = json_write(counts);
        text_printf(&t, "\n%s\n", text);
        view_fini(&v);
    }
    golden_check("elsewhere.txt", &t);
    watch_unscheduled(w.watch, m);
    assert_null(watch_observed(w.watch, m)->word.state);
    world_destroy(&w);
}

static void test_claims(void **state)
{
    struct world w = world_make((struct mono){INT64_C(1000) * 1000000000});
    struct member *nodes[] = {cluster_find(w.cluster, "lx05"), cluster_find(w.cluster, "lx01"),
                              cluster_find(w.cluster, "lx02")};
    CLEANUP_TEXT struct text t = {0};
    render_claims(nodes, 3, &t);
    text_add_char(&t, '\n');
    render_claims(nodes, 1, &t); /* only the nodes that were asked about */
    text_add_char(&t, '\n');
    render_claims(nodes + 1, 1, &t);
    text_add_char(&t, '\n');
    golden_check("claims.txt", &t);
    world_destroy(&w);
}

static void test_specification(void **state)
{
    struct world w = world_make((struct mono){INT64_C(1000) * 1000000000});
    CLEANUP_TEXT struct text t = {0};
    render_specification(&cluster_find(w.cluster, "lx01")->spec, &t);
    assert_string_equal(t.s, "{\"OS\":\"Linux.6.1\",\"CPUs\":\"4\",\"Speed\":\"100\",\"RealMemory\":\"1024\","
                             "\"Partition\":\"1,3\"}");
    text_clear(&t);
    render_specification(&cluster_find(w.cluster, "odd")->spec, &t);
    assert_string_equal(t.s, "{}");
    world_destroy(&w);
}

static void test_states(void **state)
{
    struct world w = world_make((struct mono){INT64_C(1000) * 1000000000});
    struct view v = {.cluster = w.cluster, .watch = w.watch, .now = w.now};
    struct tally tally = {0};
    for (size_t i = 0; i < cluster_count(w.cluster); i++) {
        view_set(&v, cluster_at(w.cluster, i));
        tally_add(&tally, &v);
    }
    view_fini(&v);
    CLEANUP_TEXT struct text t = {0};
    render_states(&tally, &t);
    assert_string_equal(t.s, "{\"UNLISTED\":1,\"DOWN\":3,\"IDLE\":2,\"DRAINING\":1}");
    assert_int_equal(tally.nodes, 7);
    assert_int_equal(tally.schedulable, 1);
    world_destroy(&w);
}

/* What is worked out for several fields is worked out for each that is asked for alone. */
static void test_why_alone(void **state)
{
    struct world w = world_make((struct mono){INT64_C(1000) * 1000000000});
    CLEANUP_TEXT struct text alone = {0}, among = {0};
    CLEANUP_JSON json_t *one = NULL, *all = NULL;
    text_add_char(&alone, '[');
    render_all(&w, "Why", ",", &alone);
    text_add_char(&alone, ']');
    text_add_char(&among, '[');
    render_all(&w, "Schedulable,Why", ",", &among);
    text_add_char(&among, ']');
    one = json_read(alone.s, alone.len, NULL);
    all = json_read(among.s, among.len, NULL);
    int reasons = 0;
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *why = json_object_get(json_array_get(all, i), "Why");
        reasons += *json_string_value(why) != '\0';
        assert_true(json_equal(why, json_object_get(json_array_get(one, i), "Why")));
    }
    assert_true(reasons > 0);
    world_destroy(&w);
}

/* Ten thousand rows come out whole. How long they took is printed, not judged. */
static void test_large(void **state)
{
    enum { NODES = 10000 };
    struct world w = world_make_large(NODES, (struct mono){INT64_C(1000) * 1000000000});
    CLEANUP_TEXT struct text t = {0};
    text_add_char(&t, '[');
    clock_t began = clock();
    render_all(&w, "Name,State,CPUs,RealMemory,Partition,Why", ",", &t);
    double ms = (double)(clock() - began) * 1000 / CLOCKS_PER_SEC;
    text_add_char(&t, ']');
    print_message("%d nodes, six fields: %zu bytes in %.1f ms\n", NODES, t.len, ms);
    CLEANUP_JSON json_t *nodes = json_read(t.s, t.len, NULL);
    assert_int_equal(json_array_size(nodes), NODES);
    world_destroy(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field),   cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_claims),        cmocka_unit_test(test_words_of_other_systems),
        cmocka_unit_test(test_specification), cmocka_unit_test(test_states),
        cmocka_unit_test(test_why_alone),     cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
