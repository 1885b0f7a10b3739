/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/checker.h"

#include "agent/checker/checker_inside.h"
#include "agent/checker/checker_said.h"
#include "agent/fake_test.h"
#include "agent/home/home.h"
#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Checks on a tree of files: the quick ones read it, plugins stand for what may hang. */

#define BOOT "6e8f4a52-0c1e-4c1b-9d3a-2f60c2a1b7de"
#define PLUGIN(name, run, rest) "Check=" name " Probe=plugin Run=\"" run "\" " rest "\n"

enum { SAID_MAX = 256 };

struct node {
    struct fake *f;
    struct checker *checker;
    char *root;
    json_t *said[SAID_MAX];
    int n;
};

static int open_node(void **state)
{
    struct node *n = mem_alloc(sizeof *n);
    n->f = mem_alloc(sizeof *n->f);
    fake_init(n->f);
    n->root = fake_root(n->f, "lx01");
    *state = n;
    return 0;
}

static int close_node(void **state)
{
    struct node *n = *state;
    checker_destroy(n->checker);
    fake_fini(n->f);
    for (int i = 0; i < n->n; i++)
        json_decref(n->said[i]);
    free(n->root);
    free(n->f);
    free(n);
    return 0;
}

static void say(void *arg, const char *body, size_t len)
{
    struct node *n = arg;
    assert_true(n->n < SAID_MAX && len <= FRAME_BODY_BYTES_MAX);
    n->said[n->n] = json_read(body, len, NULL);
    assert_non_null(n->said[n->n]);
    n->n++;
}

static void start_at(struct node *n, const char *root)
{
    struct checker_settings s = {
        .home = n->f->dir, .root = root, .node = "lx01", .boot = BOOT, .say = say, .arg = n};
    n->checker = checker_create(&n->f->loop, &s);
}

static void start(struct node *n)
{
    start_at(n, n->root);
}

static void set_list(struct node *n, const char *hash, const char *records)
{
    struct checklist list = {0};
    struct err e = {0};
    snprintf(list.hash, sizeof list.hash, "%s", hash);
    list.meanings = meanings_read(NULL, &e);
    if (!list.meanings || checks_parse("test", records, strlen(records), &list.checks, &e))
        fail_msg("%s", e.msg);
    checker_set(n->checker, &list);
}

/* What was said last of a check since the index; NULL when nothing was. */
static json_t *last_of(const struct node *n, int from, const char *check)
{
    for (int i = n->n - 1; i >= from; i--) {
        size_t at;
        json_t *one;
        json_array_foreach (json_object_get(n->said[i], "checks"), at, one)
            if (strcmp(json_string_value(json_object_get(one, "check")), check) == 0)
                return one;
    }
    return NULL;
}

static bool has_result(const json_t *one, const char *result)
{
    return one && strcmp(json_string_value(json_object_get(one, "result")), result) == 0;
}

struct awaited {
    struct node *n;
    int from;
    const char *check, *result;
};

static bool is_said(void *arg)
{
    const struct awaited *w = arg;
    return has_result(last_of(w->n, w->from, w->check), w->result);
}

static json_t *wait_said(struct node *n, int from, const char *check, const char *result)
{
    struct awaited w = {n, from, check, result};
    if (!fake_wait(n->f, is_said, &w))
        fail_msg("%s is never said to be %s", check, result);
    return last_of(n, from, check);
}

static const struct check *parse(struct checks *c, const char *record)
{
    assert_int_equal(checks_parse("test", record, strlen(record), c, NULL), 0);
    return &c->list[0];
}

static void is_due_on_a_grid_of_the_node_and_spread_over_nodes(void **state)
{
    struct checks c = {0}, d = {0};
    const struct check *k = parse(&c, PLUGIN("a", "true", "Every=60s"));
    const struct check *other = parse(&d, PLUGIN("b", "true", "Every=60s"));
    struct mono first = checker_due("lx01", k, (struct mono){0});
    assert_true(first.ns > 0 && first.ns <= span_s(60).ns);
    for (int64_t s = 0; s < 60; s++) {
        struct mono due = checker_due("lx01", k, (struct mono){span_s(s).ns + 1});
        assert_true(due.ns == first.ns || due.ns == first.ns + span_s(60).ns);
        assert_true(due.ns > span_s(s).ns + 1);
    }
    assert_int_equal(checker_due("lx01", k, first).ns, first.ns + span_s(60).ns);
    /* What is read in the loop is read in one go. */
    struct checks e = {0}, f = {0};
    assert_int_equal(checker_due("lx01", parse(&e, "Check=load Every=60s"), (struct mono){0}).ns,
                     checker_due("lx01", parse(&f, "Check=uptime Every=60s"), (struct mono){0}).ns);
    checks_fini(&e);
    checks_fini(&f);
    /* Checks of a node share their wake-ups; nodes share nothing. */
    struct mono second = checker_due("lx01", other, (struct mono){0});
    assert_int_equal((second.ns - first.ns) % span_s(1).ns, 0);
    int seconds[60] = {0}, most = 0;
    for (int i = 0; i < 600; i++) {
        char name[16];
        snprintf(name, sizeof name, "lx%03d", i);
        int64_t at = (checker_due(name, k, (struct mono){0}).ns - 1) / span_s(1).ns;
        most = ++seconds[at] > most ? seconds[at] : most;
    }
    assert_true(most < 40);
    checks_fini(&c);
    checks_fini(&d);
}

static void says_nothing_without_a_list_and_all_when_asked(void **state)
{
    struct node *n = *state;
    start(n);
    checker_tell(n->checker);
    assert_int_equal(n->n, 0);
    set_list(n, "h1", PLUGIN("a", "echo fine", "Every=1d") PLUGIN("extra", "exit 0", "When=demand"));
    assert_int_equal(n->n, 1);
    assert_true(json_is_true(json_object_get(n->said[0], "full")));
    assert_string_equal(json_string_value(json_object_get(n->said[0], "list")), "h1");
    assert_string_equal(json_string_value(json_object_get(n->said[0], "boot")), BOOT);
    assert_true(has_result(last_of(n, 0, "a"), "unknown")); /* it was not looked at yet */
    assert_null(last_of(n, 0, "extra"));                    /* which does not run by itself */
    json_t *ok = wait_said(n, 1, "a", "ok");
    assert_null(json_object_get(n->said[1], "full"));
    assert_true(json_is_integer(json_object_get(ok, "age_ms")));
}

static void a_failure_is_said_as_often_as_the_record_wants_it(void **state)
{
    struct node *n = *state;
    start(n);
    set_list(n, "h1",
             PLUGIN("once", "echo broken; exit 2", "Every=1d")
                 PLUGIN("thrice", "exit 2", "Every=1s Fails=3"));
    json_t *one = wait_said(n, 1, "once", "fatal");
    CLEANUP_FREE char *text = json_write(one);
    assert_non_null(strstr(text, "broken"));
    struct mono began = mono_now();
    wait_said(n, 1, "thrice", "fatal");
    assert_true(mono_sub(mono_now(), began).ns >= span_s(1).ns); /* two more looks, on the grid */
}

/* As when the agent is killed and started again. */
static void start_again(struct node *n, const char *boot)
{
    struct checker_settings s = {
        .home = n->f->dir, .root = n->root, .node = "lx01", .boot = boot, .say = say, .arg = n};
    checker_destroy(n->checker);
    n->checker = checker_create(&n->f->loop, &s);
}

static int lines_of(const char *path)
{
    FILE *f = fopen(path, "r");
    int n = 0;
    for (int c; f && (c = getc(f)) != EOF;)
        n += c == '\n';
    if (f)
        fclose(f);
    return n;
}

struct kept_file {
    const struct node *n;
    const char *has;
};

static bool is_kept(void *arg)
{
    const struct kept_file *k = arg;
    CLEANUP_FREE char *text = NULL;
    return home_read(k->n->f->dir, "boot-checks", 64 << 10, &text, NULL) == 0 && strstr(text, k->has);
}

static void runs_checks_for_boots_once_a_boot(void **state)
{
    struct node *n = *state;
    char records[512], path[256];
    snprintf(path, sizeof path, "%s/looks", n->root);
    snprintf(records, sizeof records,
             "Check=once Probe=plugin Run=\"echo x >>%s; echo broken; exit 2\" When=boot\n"
             "Check=blind Probe=plugin Run=\"exit 3\" When=boot\n",
             path);
    start(n);
    set_list(n, "h1", records);
    wait_said(n, 1, "once", "fatal");
    struct kept_file kept = {n, "broken"};
    assert_true(fake_wait(n->f, is_kept, &kept));
    assert_int_equal(lines_of(path), 1);

    start_again(n, BOOT);
    int from = n->n;
    set_list(n, "h1", records);
    json_t *old = last_of(n, from, "once"); /* at once, with its text and its age */
    assert_true(has_result(old, "fatal"));
    CLEANUP_FREE char *text = json_write(old);
    assert_non_null(strstr(text, "broken"));
    wait_said(n, from + 1, "blind", "unknown"); /* which said nothing and is asked again */
    assert_int_equal(lines_of(path), 1);
    assert_true(has_result(last_of(n, from, "once"), "fatal"));

    start_again(n, "11111111-0c1e-4c1b-9d3a-2f60c2a1b7de");
    from = n->n;
    set_list(n, "h1", records);
    assert_true(has_result(last_of(n, from, "once"), "unknown"));
    wait_said(n, from + 1, "once", "fatal");
    assert_int_equal(lines_of(path), 2);
}

/* Only a child that could not be killed is stuck. */
static void a_look_without_an_answer_stands_beside_the_older_one(void **state)
{
    struct node *n = *state;
    char record[512], path[256];
    snprintf(path, sizeof path, "%s/cannot", n->root);
    snprintf(record, sizeof record, PLUGIN("flip", "if test -e %s; then echo away; exit 3; fi", "Every=1s"),
             path);
    start(n);
    set_list(n, "h1", record);
    wait_said(n, 1, "flip", "ok");
    int from = n->n;
    fake_write(n->root, "cannot", "");
    json_t *one = wait_said(n, from, "flip", "ok");
    assert_string_equal(json_string_value(json_object_get(one, "blind")), "away");
    assert_null(json_object_get(one, "findings"));
}

static void looks_again_when_the_kept_file_is_damaged_or_of_another_record(void **state)
{
    struct node *n = *state;
    fake_write(n->f->dir, "boot-checks", "{\"boot\":\"" BOOT "\",\"checks\":[{\"record\":1}");
    start(n);
    set_list(n, "h1", PLUGIN("once", "exit 2", "When=boot"));
    wait_said(n, 1, "once", "fatal");
    struct kept_file kept = {n, "fatal"};
    assert_true(fake_wait(n->f, is_kept, &kept));
    start_again(n, BOOT);
    int from = n->n;
    set_list(n, "h2", PLUGIN("once", "exit 1", "When=boot"));
    assert_true(has_result(last_of(n, from, "once"), "unknown"));
    wait_said(n, from + 1, "once", "warn");
}

static void a_check_that_hangs_is_unknown_and_holds_nobody_up(void **state)
{
    struct node *n = *state;
    start(n);
    set_list(n, "h1",
             PLUGIN("hangs", "sleep 1000", "Every=1d Deadline=1s") PLUGIN("runs", "exit 1", "Every=1d"));
    wait_said(n, 1, "runs", "warn");
    int from = n->n;
    json_t *one = wait_said(n, from, "hangs", "unknown");
    assert_non_null(json_object_get(one, "text"));
}

/* A child that stayed from before knows the old list. */
static void a_new_list_is_looked_at_by_a_worker_that_knows_it(void **state)
{
    struct node *n = *state;
    fake_write(n->root, "there/x", "");
    start(n);
    set_list(n, "h1", "Check=w Probe=fs.write Path=/there Every=1s\n");
    wait_said(n, 1, "w", "ok");
    int from = n->n;
    set_list(n, "h2", "Check=w Probe=fs.write Path=/not/there Every=1s\n");
    wait_said(n, from + 1, "w", "unsupported");
    from = n->n;
    set_list(n, "h3", "Check=w Probe=fs.write Path=/there Every=1s\n");
    wait_said(n, from + 1, "w", "ok");
}

static void more_than_a_few_children_wait_for_each_other(void **state)
{
    struct node *n = *state;
    struct text list = {0};
    start(n);
    for (int i = 0; i < 20; i++)
        text_printf(&list, "Check=c%d Probe=plugin Run=\"exit 1\" Every=1d\n", i);
    set_list(n, "h1", list.s);
    for (int i = 0; i < 20; i++) {
        char name[8];
        snprintf(name, sizeof name, "c%d", i);
        wait_said(n, 1, name, "warn");
    }
    text_fini(&list);
}

struct looked {
    bool done;
    enum result result;
    char text[FINDING_TEXT_BYTES_MAX + 1];
};

static void on_looked(void *arg, const struct verdict *v, struct span took)
{
    struct looked *l = arg;
    *l = (struct looked){true, v->result, ""};
    snprintf(l->text, sizeof l->text, "%s", v->text);
}

static bool is_looked(void *arg)
{
    return ((struct looked *)arg)->done;
}

static void looks_when_asked_and_tells_what_it_saw(void **state)
{
    struct node *n = *state;
    struct looked l = {0};
    struct err e = {0};
    start(n);
    set_list(n, "h1", PLUGIN("extra", "exit 2", "When=demand Fails=3"));
    assert_int_equal(checker_look(n->checker, "nothing", span_s(9), &(struct company){0}, on_looked, &l, &e),
                     -ENOENT);
    assert_int_equal(checker_look(n->checker, "extra", span_s(9), &(struct company){0}, on_looked, &l, &e),
                     0);
    assert_true(fake_wait(n->f, is_looked, &l));
    assert_int_equal(l.result, RESULT_FATAL); /* the look, before it is steadied */
    assert_int_equal(n->n, 1);                /* the answer comes before the news */
    wait_said(n, 1, "extra", "unknown");
}

static long size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (long)st.st_size : 0;
}

/* What is asked for together shares a child, and a library in it: what starts it says "i". */
static void those_of_one_target_share_a_child(void **state)
{
    struct node *n = *state;
    struct looked l[3] = {{0}};
    char path[256];
    snprintf(path, sizeof path, "%s/counts", n->f->dir);
    setenv("STAND_IN_COUNTS", path, 1);
    start(n);
    set_list(n, "h1",
             "Check=nvidia.ecc When=demand Library=" STAND_IN "\n"
             "Check=nvidia.pcie When=demand Library=" STAND_IN "\n"
             "Check=nvidia.remap When=demand Deadline=5s Library=" STAND_IN "\n");
    assert_int_equal(
        checker_look(n->checker, "nvidia.ecc", span_s(9), &(struct company){0}, on_looked, &l[0], NULL), 0);
    assert_int_equal(
        checker_look(n->checker, "nvidia.pcie", span_s(9), &(struct company){0}, on_looked, &l[1], NULL), 0);
    assert_int_equal(
        checker_look(n->checker, "nvidia.remap", span_s(9), &(struct company){0}, on_looked, &l[2], NULL), 0);
    for (int i = 0; i < 3; i++) {
        assert_true(fake_wait(n->f, is_looked, &l[i]));
        assert_int_equal(l[i].result, RESULT_OK);
    }
    assert_int_equal(size_of(path), strlen("isis")); /* another deadline is another child */
    unsetenv("STAND_IN_COUNTS");
}

/* However many look at it, a library that hangs is one child, and the others look on. */
static void a_library_that_hangs_is_one_child(void **state)
{
    struct node *n = *state;
    struct looked l[3] = {{0}};
    static const char *const names[] = {"nvidia.ecc", "nvidia.pcie", "other"};
    char path[256];
    snprintf(path, sizeof path, "%s/counts", n->f->dir);
    setenv("STAND_IN_COUNTS", path, 1);
    setenv("STAND_IN_SAYS", "hang=1", 1);
    start(n);
    set_list(n, "h1",
             "Check=nvidia.ecc When=demand Deadline=1s Library=" STAND_IN "\n"
             "Check=nvidia.pcie When=demand Deadline=1s Library=" STAND_IN
             "\n" PLUGIN("other", "exit 0", "When=demand"));
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            checker_look(n->checker, names[i], span_s(9), &(struct company){0}, on_looked, &l[i], NULL), 0);
    for (int i = 0; i < 3; i++)
        assert_true(fake_wait(n->f, is_looked, &l[i]));
    assert_int_equal(l[0].result, RESULT_UNKNOWN);
    assert_int_equal(l[1].result, RESULT_UNKNOWN);
    assert_int_equal(l[2].result, RESULT_OK);
    assert_true(size_of(path) <= (long)strlen("i"));
    unsetenv("STAND_IN_SAYS");
    unsetenv("STAND_IN_COUNTS");
}

static int never_answers(void *arg, struct text *out, struct err *e)
{
    while (pause() < 0)
        continue;
    return 0;
}

static void on_room(void *arg, char *text, size_t len, const struct err *why)
{
    checker_try_waiting(arg);
}

static bool waits_for_room(void *arg)
{
    return ((const struct node *)arg)->checker->items[0]->waits;
}

static void add_disk(const struct node *n, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "sys/block/%s/device/vendor", name);
    fake_write(n->root, path, "ATA     \n");
}

/* Of three disks the first is no device and says nothing, a child is at the second, and the third is not
 * there. */
static void goes_from_one_disk_to_the_next(void **state)
{
    struct node *n = *state;
    struct looked l = {0};
    fake_write(n->root, "dev/sda", "");
    add_disk(n, "sda");
    add_disk(n, "sdb");
    add_disk(n, "sdc");
    start(n);
    set_list(n, "h1", "Check=smart When=demand\n");
    fake_write(n->root, "dev/sdb", "");
    assert_int_equal(
        workers_run(n->checker->workers, "/dev/sdb", span_s(60), never_answers, on_room, n->checker, NULL),
        0);
    assert_int_equal(checker_look(n->checker, "smart", span_s(9), &(struct company){0}, on_looked, &l, NULL),
                     0);
    assert_true(fake_wait(n->f, waits_for_room, n));
    assert_false(l.done);
    workers_cancel(n->checker->workers, n->checker, on_room, n->checker);
    assert_true(fake_wait(n->f, is_looked, &l));
    assert_int_equal(l.result, RESULT_UNKNOWN);
    assert_string_equal(l.text, "/dev/sdc: No such file or directory");
    /* Nothing is left of a look that is ended on its way. */
    l = (struct looked){0};
    assert_int_equal(
        workers_run(n->checker->workers, "/dev/sdb", span_s(60), never_answers, on_room, n->checker, NULL),
        0);
    checker_look(n->checker, "smart", span_s(9), &(struct company){0}, on_looked, &l, NULL);
    assert_true(fake_wait(n->f, waits_for_room, n));
    checker_end(n->checker, "smart");
    assert_null(n->checker->items[0]->parts);
}

static void checks_that_stay_keep_what_they_know(void **state)
{
    struct node *n = *state;
    start(n);
    set_list(n, "h1", PLUGIN("stays", "exit 1", "Every=1d") PLUGIN("changes", "exit 1", "Every=1d"));
    wait_said(n, 1, "stays", "warn");
    wait_said(n, 1, "changes", "warn");
    int from = n->n;
    set_list(n, "h2", PLUGIN("stays", "exit 1", "Every=1d") PLUGIN("changes", "exit 0", "Every=1d"));
    assert_int_equal(n->n, from + 1);
    assert_string_equal(checker_list(n->checker), "h2");
    assert_true(has_result(last_of(n, from, "stays"), "warn"));
    assert_true(has_result(last_of(n, from, "changes"), "unknown"));
    wait_said(n, from, "changes", "ok");
}

static bool is_there(void *arg)
{
    return access(arg, F_OK) == 0;
}

static void idle_checks_wait_for_an_idle_node_and_end_when_a_job_begins(void **state)
{
    struct node *n = *state;
    char path[256], list[512];
    struct looked never = {0};
    snprintf(path, sizeof path, "%s/ran", n->f->dir);
    snprintf(list, sizeof list,
             "Check=rare Probe=plugin Run=\"touch %s; sleep 1000\" When=idle Every=1s Deadline=1h\n"
             "Check=other Probe=plugin Run=\"exit 1\" Every=1s\n",
             path);
    start(n);
    set_list(n, "h1", list);
    wait_said(n, 1, "other", "warn");
    assert_int_not_equal(access(path, F_OK), 0); /* whether work runs is not known yet */
    checker_idle(n->checker, true);
    assert_true(fake_wait(n->f, is_there, path));
    unlink(path);
    checker_job(n->checker, "7", true); /* it ends, and waits */
    int from = n->n;
    checker_tell(n->checker);
    assert_true(has_result(last_of(n, from, "rare"), "unknown"));
    checker_job(n->checker, "8", true);
    checker_job(n->checker, "7", false);
    checker_idle(n->checker, true); /* job 8 is not seen yet, and runs all the same */
    assert_int_equal(
        checker_look(n->checker, "other", span_s(9), &(struct company){0}, on_looked, &never, NULL), 0);
    assert_true(fake_wait(n->f, is_looked, &never));
    assert_int_not_equal(access(path, F_OK), 0);
    checker_job(n->checker, "8", false);
    assert_true(fake_wait(n->f, is_there, path));
}

struct answer {
    bool done;
    char why_not[512];
};

static void on_answer(void *arg, const char *why_not)
{
    struct answer *a = arg;
    a->done = true;
    snprintf(a->why_not, sizeof a->why_not, "%s", why_not);
}

static bool is_answered(void *arg)
{
    return ((struct answer *)arg)->done;
}

static struct answer ask(struct node *n, unsigned when, bool fresh)
{
    struct answer a = {0};
    struct span within;
    (void)checker_ask(n->checker, when, fresh, on_answer, &a, &within);
    assert_true(fake_wait(n->f, is_answered, &a));
    return a;
}

struct growing {
    const char *path;
    long least;
};

static bool has_grown(void *arg)
{
    const struct growing *g = arg;
    return size_of(g->path) >= g->least;
}

/* A test of the GPUs computes on them, and no job does. */
static void idle_checks_wait_while_the_node_is_tested(void **state)
{
    struct node *n = *state;
    char ran[256], began[256], end[256], ticks[256], list[2048];
    struct looked looked = {0};
    snprintf(ran, sizeof ran, "%s/ran", n->f->dir);
    snprintf(began, sizeof began, "%s/began", n->f->dir);
    snprintf(end, sizeof end, "%s/end", n->f->dir);
    snprintf(ticks, sizeof ticks, "%s/ticks", n->f->dir);
    snprintf(list, sizeof list,
             "Check=rare Probe=plugin Run=\"touch %s\" When=idle Every=1s\n"
             "Check=test Probe=plugin Run=\"touch %s; until test -e %s; do sleep 0.05; done\" When=extensive "
             "Deadline=1h\n"
             "Check=other Probe=plugin Run=\"echo -n x >>%s\" Every=1s\n",
             ran, began, end, ticks);
    start(n);
    set_list(n, "h1", list);
    assert_int_equal(
        checker_look(n->checker, "test", span_s(3600), &(struct company){0}, on_looked, &looked, NULL), 0);
    assert_true(fake_wait(n->f, is_there, began));
    checker_idle(n->checker, true);
    assert_true(fake_wait(n->f, has_grown, &(struct growing){ticks, size_of(ticks) + 3}));
    assert_int_not_equal(access(ran, F_OK), 0);
    close(open(end, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_true(fake_wait(n->f, is_looked, &looked));
    assert_true(fake_wait(n->f, is_there, ran));
}

static void before_a_job_old_results_are_renewed_and_a_failure_says_no(void **state)
{
    struct node *n = *state;
    char path[256], list[1024];
    struct span within;
    struct answer a = {0};
    snprintf(path, sizeof path, "%s/good", n->f->dir);
    fake_write(n->f->dir, "good", "");
    snprintf(list, sizeof list,
             "Check=gate Probe=plugin Run=\"echo no good; test -e %s || exit 2\" When=prolog Every=1d\n"
             "Check=seen Probe=plugin Run=\"exit 2\" When=prolog Observe=yes\n"
             "Check=blind Probe=plugin Run=\"exit 3\" When=prolog\n"
             "Check=after Probe=plugin Run=\"echo late; exit 2\" When=epilog\n",
             path);
    start(n);
    set_list(n, "h1", list);
    assert_true(
        checker_ask(n->checker, CHECK_PROLOG, false, on_answer, &a, &within)); /* as far as is known */
    assert_string_equal(a.why_not, "");
    assert_false(checker_ask(n->checker, CHECK_PROLOG, true, on_answer, &a, &within));
    assert_int_equal(span_to_ms(within), 10000); /* the deadline of a look */
    checker_cancel(n->checker, &a);
    assert_string_equal(ask(n, CHECK_PROLOG, true).why_not, "");
    unlink(path);
    assert_string_equal(ask(n, CHECK_PROLOG, true).why_not, ""); /* looked at today */
    struct looked l = {0};
    assert_int_equal(checker_look(n->checker, "gate", span_s(9), &(struct company){0}, on_looked, &l, NULL),
                     0);
    assert_true(fake_wait(n->f, is_looked, &l));
    assert_string_equal(ask(n, CHECK_PROLOG, true).why_not, "gate: no good");
    assert_string_equal(ask(n, CHECK_PROLOG, false).why_not, "gate: no good");
    assert_string_equal(ask(n, CHECK_EPILOG, true).why_not, "after: late");
}

static void append(const struct node *n, const char *line)
{
    char path[256];
    snprintf(path, sizeof path, "%s/dev/kmsg", n->root);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fprintf(file, "%s\n", line);
    fclose(file);
}

static void a_line_of_the_kernel_is_told_and_survives_the_agent(void **state)
{
    struct node *n = *state;
    static const char list[] = "Check=log Probe=kernel.log Every=1d\n";
    fake_write(n->root, "dev/kmsg", "6,1,1000000,-;Linux version 6.1.0\n");
    start(n);
    set_list(n, "h1", list);
    wait_said(n, 1, "log", "ok");
    append(n, "3,2,2000000,-;NVRM: Xid (PCI:0000:9b:00): 79, pid=1, GPU has fallen off the bus.");
    json_t *one = wait_said(n, 1, "log", "lost");
    CLEANUP_FREE char *text = json_write(one);
    assert_non_null(strstr(text, "xid.79"));
    /* The next agent knows it without the line, which is gone by then. */
    checker_destroy(n->checker);
    fake_write(n->root, "dev/kmsg", "6,3,3000000,-;something else\n");
    int from = n->n;
    start(n);
    set_list(n, "h1", list);
    wait_said(n, from, "log", "lost");
    /* A remedy ends it, but none that is for something else. */
    checker_cured(n->checker, "xid.48", KERNEL_ALL);
    wait_said(n, n->n, "log", "lost");
    checker_cured(n->checker, "xid.48 xid.79", KERNEL_ALL);
    wait_said(n, n->n, "log", "ok");
}

/* As a kill would leave it: the agent goes on, and what it writes from now on is put away. */
static void start_after_a_kill(struct node *n, const char *list)
{
    CLEANUP_FREE char *kept = NULL;
    assert_int_equal(home_read(n->f->dir, "kernel-log", 1 << 20, &kept, NULL), 0);
    checker_destroy(n->checker);
    fake_write(n->f->dir, "kernel-log", kept);
    start(n);
    set_list(n, "h1", list);
}

static void a_finding_of_the_kernel_is_kept_before_it_is_told(void **state)
{
    struct node *n = *state;
    static const char list[] = "Check=log Probe=kernel.log Every=1d\n";
    fake_write(n->root, "dev/kmsg", "6,1,1000000,-;Linux version 6.1.0\n");
    start(n);
    set_list(n, "h1", list);
    wait_said(n, 0, "log", "ok");
    append(n, "3,2,2000000,-;NVRM: Xid (PCI:0000:9b:00): 79, pid=1, GPU has fallen off the bus.");
    wait_said(n, n->n, "log", "lost");
    fake_write(n->root, "dev/kmsg", "6,3,3000000,-;something else\n");
    int from = n->n;
    start_after_a_kill(n, list);
    wait_said(n, from, "log", "lost");
    /* And so is what is over, though the line stands in the log. */
    fake_write(n->root, "dev/kmsg",
               "3,2,2000000,-;NVRM: Xid (PCI:0000:9b:00): 79, pid=1, GPU has fallen off the bus.\n");
    checker_cured(n->checker, "xid.79", KERNEL_ALL);
    from = n->n;
    start_after_a_kill(n, list);
    wait_said(n, from, "log", "ok");
}

static void a_line_since_the_answer_is_not_over(void **state)
{
    struct node *n = *state;
    static const char list[] = "Check=log Probe=kernel.log Every=1d\n";
    fake_write(n->root, "dev/kmsg", "6,1,1000000,-;Linux version 6.1.0\n");
    start(n);
    set_list(n, "h1", list);
    append(n, "3,2,2000000,-;NVRM: Xid (PCI:0000:9b:00): 79, pid=1, GPU has fallen off the bus.");
    wait_said(n, 0, "log", "lost");
    assert_int_equal(json_integer_value(json_object_get(n->said[n->n - 1], "log_next")), 3);
    append(n, "3,3,3000000,-;NVRM: Xid (PCI:0000:9c:00): 48, pid=1, DBE");
    wait_said(n, n->n, "log", "lost");
    checker_cured(n->checker, "xid.48 xid.79", 2);
    wait_said(n, n->n, "log", "lost");
    int from = n->n;
    checker_cured(n->checker, "xid.48 xid.79", 3);
    wait_said(n, from, "log", "fatal");
}

/* The kernel itself says nothing more; another's line shows that something is missing. */
static void a_gap_in_the_log_of_the_kernel_is_told_at_once(void **state)
{
    struct node *n = *state;
    fake_write(n->root, "dev/kmsg", "6,1,1000000,-;Linux version 6.1.0\n");
    start(n);
    set_list(n, "h1", "Check=log Probe=kernel.log Every=1d\n");
    wait_said(n, 0, "log", "ok");
    append(n, "30,9,2000000,-;systemd[1]: up");
    CLEANUP_FREE char *text = json_write(wait_said(n, 0, "log", "warn"));
    assert_non_null(strstr(text, "kernel.gap"));
}

static void the_end_of_a_service_is_told_at_once(void **state)
{
    struct node *n = *state;
    char path[256], list[256], command[16];
    snprintf(command, sizeof command, "fettle-%d", getpid() % 1000000);
    snprintf(path, sizeof path, "%s/%s", n->f->dir, command);
    assert_int_equal(symlink("/bin/sleep", path), 0);
    int begun[2];
    assert_int_equal(pipe2(begun, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl(path, command, "1000", (char *)NULL);
        _exit(127);
    }
    close(begun[1]);
    assert_int_equal(read(begun[0], &(char){0}, 1), 0); /* closed by the start of the program */
    close(begun[0]);
    snprintf(list, sizeof list, "Check=service Name=it Command=%s Every=1h\n", command);
    start_at(n, "");
    set_list(n, "h1", list);
    wait_said(n, 0, "service", "ok");
    int from = n->n;
    kill(pid, SIGKILL);
    struct mono began = mono_now();
    wait_said(n, from, "service", "fatal"); /* an hour before it would be looked at */
    assert_true(mono_sub(mono_now(), began).ns < span_s(20).ns);
    waitpid(pid, NULL, 0);
}

/* It lives on under another name, of which the kernel tells nobody. */
static void an_event_check_is_looked_at_when_asked_and_while_it_fails(void **state)
{
    struct node *n = *state;
    char list[256], command[16];
    int go[2], is[2];
    struct looked l = {0};
    snprintf(command, sizeof command, "fettle-%d", getpid() % 1000000);
    assert_int_equal(pipe2(go, O_CLOEXEC) || pipe2(is, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (const char *name = command;; name = "another") {
            prctl(PR_SET_NAME, name);
            if (write(is[1], "", 1) != 1 || read(go[0], &(char){0}, 1) != 1)
                _exit(1);
        }
    }
    assert_int_equal(read(is[0], &(char){0}, 1), 1);
    snprintf(list, sizeof list, "Check=service Name=it Command=%s Every=1s Fails=3\n", command);
    start_at(n, "");
    set_list(n, "h1", list);
    wait_said(n, 0, "service", "ok");
    assert_int_equal(write(go[1], "", 1), 1);
    assert_int_equal(read(is[0], &(char){0}, 1), 1);
    int from = n->n;
    assert_int_equal(
        checker_look(n->checker, "service", span_s(9), &(struct company){0}, on_looked, &l, NULL), 0);
    assert_true(fake_wait(n->f, is_looked, &l));
    assert_int_equal(l.result, RESULT_FATAL);
    wait_said(n, from, "service", "fatal"); /* three looks in a row */
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    for (int i = 0; i < 2; i++) {
        close(go[i]);
        close(is[i]);
    }
}

/* --- frames --------------------------------------------------------------------------------- */

static void results_too_large_for_one_frame_go_in_several(void **state)
{
    struct node *n = *state;
    struct checks c = {0};
    struct steady steady = {.any = true};
    const struct check *k = parse(&c, PLUGIN("a", "true", ""));
    verdict_clear(&steady.said);
    for (int i = 0; i < FINDINGS_A_CHECK_MAX; i++)
        verdict_add(&steady.said, RESULT_WARN, "device", "code", "%0200d", i);
    struct said s = {k, &steady, "", false, true, {0}};
    struct said_frame f = {.boot = BOOT, .list = "h1", .full = true, .emit = say, .arg = n};
    for (int i = 0; i < 40; i++)
        said_add(&f, &s, (struct mono){span_s(2).ns});
    said_end(&f);
    size_t all = 0;
    assert_true(n->n > 2);
    for (int i = 0; i < n->n; i++) {
        assert_int_equal(json_is_true(json_object_get(n->said[i], "full")), i == 0);
        all += json_array_size(json_object_get(n->said[i], "checks"));
    }
    assert_int_equal(all, 40);
    checks_fini(&c);
}

static void a_check_that_cannot_look_any_more_says_so_beside_its_last_result(void **state)
{
    struct node *n = *state;
    struct checks c = {0};
    struct steady steady = {.any = true, .looked = {span_s(1).ns}};
    verdict_clear(&steady.said);
    struct said s = {
        parse(&c, PLUGIN("a", "true", "")), &steady, "probe.stuck: /a", true, true, {span_s(3).ns}};
    struct said_frame f = {.boot = BOOT, .list = "", .emit = say, .arg = n};
    said_add(&f, &s, (struct mono){span_s(4).ns});
    said_end(&f);
    json_t *one = last_of(n, 0, "a");
    assert_true(has_result(one, "warn"));
    assert_string_equal(json_string_value(json_object_get(one, "blind")), "probe.stuck: /a");
    const json_t *finding = json_array_get(json_object_get(one, "findings"), 0);
    assert_string_equal(json_string_value(json_object_get(finding, "code")), "probe.stuck");
    assert_int_equal(json_integer_value(json_object_get(one, "age_ms")), 3000);
    checks_fini(&c);
}

static void a_full_report_of_nothing_is_a_report(void **state)
{
    struct node *n = *state;
    struct said_frame f = {.boot = BOOT, .list = "h1", .full = true, .emit = say, .arg = n};
    said_end(&f);
    assert_int_equal(n->n, 1);
    assert_true(json_is_true(json_object_get(n->said[0], "full")));
    struct said_frame g = {.boot = BOOT, .list = "h1", .emit = say, .arg = n};
    said_end(&g);
    assert_int_equal(n->n, 1);
}

/* What it was like before says nothing of it: also of a look that had begun before. */
static void after_a_remedy_all_is_looked_at_anew_and_told(void **state)
{
    struct node *n = *state;
    char began[256], end[256], list[1024];
    snprintf(began, sizeof began, "%s/began", n->f->dir);
    snprintf(end, sizeof end, "%s/end", n->f->dir);
    snprintf(list, sizeof list,
             "Check=fine Probe=plugin Run=\"true\" Every=1d\n"
             "Check=slow Probe=plugin Run=\"echo >>%s; until test -e %s; do sleep 0.05; done\" Every=1d\n",
             began, end);
    start(n);
    set_list(n, "h1", list);
    wait_said(n, 1, "fine", "ok");
    assert_true(fake_wait(n->f, is_there, began));
    int from = n->n;
    checker_cured(n->checker, "", KERNEL_ALL);
    wait_said(n, from, "fine", "ok");
    close(open(end, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    wait_said(n, from, "slow", "ok");
    assert_true(fake_wait(n->f, has_grown, &(struct growing){began, 2}));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_node, close_node)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(is_due_on_a_grid_of_the_node_and_spread_over_nodes),
        TEST(says_nothing_without_a_list_and_all_when_asked),
        TEST(a_failure_is_said_as_often_as_the_record_wants_it),
        TEST(after_a_remedy_all_is_looked_at_anew_and_told),
        TEST(runs_checks_for_boots_once_a_boot),
        TEST(a_look_without_an_answer_stands_beside_the_older_one),
        TEST(looks_again_when_the_kept_file_is_damaged_or_of_another_record),
        TEST(a_check_that_hangs_is_unknown_and_holds_nobody_up),
        TEST(a_new_list_is_looked_at_by_a_worker_that_knows_it),
        TEST(more_than_a_few_children_wait_for_each_other),
        TEST(looks_when_asked_and_tells_what_it_saw),
        TEST(those_of_one_target_share_a_child),
        TEST(a_library_that_hangs_is_one_child),
        TEST(goes_from_one_disk_to_the_next),
        TEST(checks_that_stay_keep_what_they_know),
        TEST(idle_checks_wait_for_an_idle_node_and_end_when_a_job_begins),
        TEST(idle_checks_wait_while_the_node_is_tested),
        TEST(before_a_job_old_results_are_renewed_and_a_failure_says_no),
        TEST(a_line_of_the_kernel_is_told_and_survives_the_agent),
        TEST(a_finding_of_the_kernel_is_kept_before_it_is_told),
        TEST(a_line_since_the_answer_is_not_over),
        TEST(a_gap_in_the_log_of_the_kernel_is_told_at_once),
        TEST(the_end_of_a_service_is_told_at_once),
        TEST(an_event_check_is_looked_at_when_asked_and_while_it_fails),
        TEST(results_too_large_for_one_frame_go_in_several),
        TEST(a_check_that_cannot_look_any_more_says_so_beside_its_last_result),
        TEST(a_full_report_of_nothing_is_a_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
