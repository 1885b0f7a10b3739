/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/outbox/outbox.h"
#include "driver/smd_held.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KEY "effect/ochami.lx1"
#define WANT                                                                                               \
    "{\"id\":\"11\",\"xname\":\"x0c0s0b0n0\",\"want\":{\"flag\":\"Warning\",\"status\":\"drift:major:0\"," \
    "\"group\":\"drifted\",\"message\":\"m\"},\"done\":null}"

/* --- in the place of the driver, the committer and the watch ---------------------------------- */

static struct {
    bool exists;
    struct ochami_sink sink;
    unsigned created, configured, told;
    char key[128];
    char smd[64];
} driver;

struct ochami *ochami_create(uv_loop_t *loop, const struct ochami_conf *conf, const struct ochami_sink *sink)
{
    driver.exists = true;
    driver.sink = *sink;
    driver.created++;
    snprintf(driver.smd, sizeof driver.smd, "%s", conf->smd);
    return (struct ochami *)&driver;
}

void ochami_destroy(struct ochami *o)
{
    driver.exists = driver.exists && !o;
}

void ochami_configure(struct ochami *o, const struct ochami_conf *conf)
{
    driver.configured++;
    snprintf(driver.smd, sizeof driver.smd, "%s", conf->smd);
}

void ochami_effect(struct ochami *o, const char *key, const char *value)
{
    assert_true(driver.exists);
    driver.told++;
    snprintf(driver.key, sizeof driver.key, "%s%s", key, value ? "" : " is gone");
}

size_t ochami_waiting(const struct ochami *o)
{
    return 7;
}

static struct {
    struct slurm_sink sink;
    unsigned told, changed, looked;
    bool lacks;
    char owner[20];
} slurm;

struct slurm *slurm_create(uv_loop_t *loop, const struct slurm_conf *conf, const struct slurm_sink *sink)
{
    slurm.sink = *sink;
    snprintf(slurm.owner, sizeof slurm.owner, "%s", conf->owner);
    return (struct slurm *)&slurm;
}

void slurm_destroy(struct slurm *s)
{
}

void slurm_configure(struct slurm *s, const struct slurm_conf *conf)
{
}

void slurm_effect(struct slurm *s, const char *key, const char *value)
{
    slurm.told++;
}

void slurm_changed(struct slurm *s, const struct hostlist *nodes)
{
    slurm.changed += (unsigned)nodes->n;
}

void slurm_look(struct slurm *s, const char *node)
{
    assert_string_equal(node, "lx1");
    slurm.looked++;
}

bool slurm_lacks(const struct slurm *s, const char *node)
{
    return slurm.lacks;
}

size_t slurm_waiting(const struct slurm *s)
{
    return 1;
}

static struct {
    smd_held_fn *fn;
    void *arg;
    unsigned looked;
} smd_asked;

struct smd_held *smd_held_create(uv_loop_t *loop, const struct ochami_conf *conf, smd_held_fn *fn, void *arg)
{
    smd_asked.fn = fn;
    smd_asked.arg = arg;
    return (struct smd_held *)&smd_asked;
}

void smd_held_destroy(struct smd_held *h)
{
}

void smd_held_look(struct smd_held *h, const char *node, const char *xname)
{
    assert_string_equal(xname, "x0c0s0b0n0");
    smd_asked.looked++;
}

static const struct bmcs *operated; /* the BMCs that it has */

struct operate *operate_create(uv_loop_t *loop, const struct operate_with *with,
                               const struct operate_sink *sink)
{
    operated = with->bmcs;
    return (struct operate *)&driver;
}

void operate_configure(struct operate *o, const struct operate_with *with)
{
    operated = with->bmcs;
}

void operate_destroy(struct operate *o)
{
}

void operate_effect(struct operate *o, const char *key, const char *value)
{
}

size_t operate_waiting(const struct operate *o)
{
    return 0;
}

void operate_look(struct operate *o, const char *node, operate_look_fn *done, void *arg)
{
}

bool operate_tells(const struct operate *o, const char *node)
{
    return true;
}

int operate_can(const struct operate *o, const char *node, const char *run, struct err *e)
{
    return 0;
}

static struct {
    unsigned n;
    enum command_kind kind;
    char set[256];
    outcome_fn *fn;
    void *arg;
} submitted;

void committer_submit(struct committer *k, const struct command *cmd, outcome_fn *fn, void *arg)
{
    submitted.n++;
    submitted.kind = cmd->kind;
    if (cmd->kind == COMMAND_OVERRIDE)
        snprintf(submitted.set, sizeof submitted.set, "%s in %s: %s %s", cmd->override.by,
                 cmd->override.source, cmd->override.key, cmd->override.done);
    else
        snprintf(submitted.set, sizeof submitted.set, "{\"key\":\"%s\",\"done\":%s}", cmd->effect.key,
                 cmd->effect.done);
    submitted.fn = fn;
    submitted.arg = arg;
}

static void committed(int rc)
{
    struct err why;
    err_set(&why, rc, "refused");
    const struct outcome o = {.rc = rc, .why = rc ? &why : NULL};
    submitted.fn(submitted.arg, &o);
}

int watch_may_reboot(struct watch *w, struct mono now, const struct member *m, const char *boot,
                     struct err *e)
{
    return strcmp(boot, "right") == 0 ? 0 : err_set(e, -EBUSY, "node %s is busy", m->name);
}

void watch_cures(const struct watch *w, struct mono now, const struct member *m, const char *remedy,
                 struct text *out)
{
    text_add(out, "");
}

int watch_may_operate(struct watch *w, struct mono now, const struct member *m, const char *operation,
                      struct err *e)
{
    return 0;
}

void watch_expect_boot(struct watch *w, struct mono now, struct member *m)
{
}

static struct observed observed; /* of every node */

const struct observed *watch_observed(const struct watch *w, const struct member *m)
{
    return &observed;
}

static unsigned unscheduled;

void watch_unscheduled(struct watch *w, struct member *m)
{
    unscheduled++;
}

static struct scheduler_word word; /* what the scheduler said last, borrowed */

void watch_scheduler_word(struct watch *w, struct member *m, const struct scheduler_word *says)
{
    word = *says;
}

static enum work seen_work;

void watch_scheduler(struct watch *w, struct member *m, enum work work, bool completing)
{
    seen_work = work;
}

static struct cluster *cluster;
static bool unread; /* who holds lx1 is to be read again, */
static enum elsewhere_where unread_at;
static char held[128]; /* who else holds the node that was told of last */

void watch_elsewhere(struct watch *w, struct mono now, struct member *m, const struct elsewhere *is)
{
    snprintf(held, sizeof held, "%s%s%s%s%s%s%s%s", is->out ? "out, " : "", elsewhere_state_name(is->state),
             is->how ? ", " : "", is->how ? is->how : "", is->by ? " by " : "", is->by ? is->by : "",
             is->why ? ": " : "", is->why ? is->why : "");
}

void watch_unread(struct watch *w, unread_fn *fn, void *arg)
{
    if (unread)
        fn(arg, cluster_find(cluster, "lx1"), unread_at);
}

void watch_jobless(struct watch *w, struct mono now, tell_fn *fn, void *arg)
{
}

void watch_jobs(struct watch *w, struct mono now, struct member *m, const struct incident_job *jobs, size_t n)
{
}

static bool seen_away;

void watch_slurmd(struct watch *w, struct member *m, enum slurmd is)
{
}

void watch_bmcs_to_ask(struct watch *w, struct mono now, tell_fn *fn, void *arg)
{
}

void watch_bmc(struct watch *w, struct mono now, struct member *m, const struct bmc_said *is)
{
}

void watch_away(struct watch *w, struct member *m, bool away)
{
    seen_away = away;
}

static char windows[128]; /* what was said of each node, in turn */

void watch_window(struct watch *w, struct member *m, const char *why)
{
    size_t len = strlen(windows);
    snprintf(windows + len, sizeof windows - len, "%s %s; ", m->name, why ? why : "in none");
}

static char noticed[256];
static struct counterparts counterparts;

void watch_alarm_raise(struct watch *w, enum alarm_kind kind, const char *subject, const char *nodes,
                       const char *text, struct wall at)
{
    snprintf(noticed, sizeof noticed, "alarm.%s %s %s: %s", alarm_name(kind), subject, nodes, text);
}

void watch_alarm_end(struct watch *w, enum alarm_kind kind, const char *subject, const char *why)
{
    snprintf(noticed, sizeof noticed, "alarm.over %s %s: %s", alarm_name(kind), subject, why);
}

static void on_notice(void *arg, const char *what, const char *nodes, const char *text)
{
    snprintf(noticed, sizeof noticed, "%s %s: %s", what, nodes, text);
}

/* --------------------------------------------------------------------------------------------- */

static char nothing[] = "";
#define EMPTY .text = {[SETTING_REPLACE_PROGRAM] = nothing}
static const struct config none = {EMPTY, .ochami = {.group = "drifted"}},
                           smd = {EMPTY, .ochami = {.smd = "http://smd", .group = "drifted"}},
                           other = {EMPTY, .ochami = {.smd = "http://other", .group = "drifted"}},
                           with_slurm = {EMPTY, .slurm = {.scontrol = "/usr/bin/scontrol"}};
static struct outbox *outbox;

static int setup(void **state)
{
    memset(&driver, 0, sizeof driver);
    memset(&submitted, 0, sizeof submitted);
    cluster = cluster_create();
    cluster_meet(cluster, "lx1");
    const struct outbox_setup with = {
        .cluster = cluster, .notice = on_notice, .owner = "0123456789ab", .counterparts = &counterparts};
    counterparts_init(&counterparts, NULL);
    memset(&slurm, 0, sizeof slurm);
    outbox = outbox_create(&with, *state ? *state : &smd);
    return 0;
}

static int teardown(void **state)
{
    outbox_stop(outbox);
    assert_false(driver.exists);
    outbox_destroy(outbox);
    cluster_destroy(cluster);
    return 0;
}

static void put(const char *value)
{
    struct err e;
    if (cluster_put(cluster, KEY, value, &e) < 0)
        fail_msg("%s", e.msg);
}

static void without_a_service_effects_wait(void **state)
{
    put(WANT);
    assert_false(driver.exists);
    assert_int_equal(outbox_waiting(outbox), 0);
    outbox_configure(outbox, &smd);
    assert_int_equal(driver.told, 1); /* what waited meanwhile */
    assert_string_equal(driver.key, KEY);
    assert_int_equal(outbox_waiting(outbox), 7);
    outbox_configure(outbox, &none);
    assert_false(driver.exists);
    put(NULL); /* nobody to tell */
}

static void an_effect_is_told_as_it_changes(void **state)
{
    put(WANT);
    assert_string_equal(driver.key, KEY);
    put(NULL);
    assert_string_equal(driver.key, KEY " is gone");
    assert_int_equal(driver.told, 2);
}

static void a_driver_is_configured_and_not_made_anew(void **state)
{
    outbox_configure(outbox, &other);
    assert_int_equal(driver.created, 1);
    assert_int_equal(driver.configured, 1);
    assert_string_equal(driver.smd, "http://other");
}

static void a_driver_that_was_made_anew_is_told_once(void **state)
{
    put(WANT);
    outbox_configure(outbox, &none);
    outbox_configure(outbox, &smd);
    assert_int_equal(driver.told, 2);
    put(NULL);
    assert_int_equal(driver.told, 3);
}

/* What was checked is what counts: the file may be another one by now. */
static void power_has_the_bmcs_of_the_configuration(void **state)
{
    static int first, second;
    struct config c = smd;
    assert_null(operated);
    c.bmcs = (struct bmcs *)&first;
    outbox_configure(outbox, &c);
    assert_ptr_equal(operated, &first);
    c.bmcs = (struct bmcs *)&second;
    outbox_configure(outbox, &c);
    assert_ptr_equal(operated, &second);
}

static void a_result_is_committed(void **state)
{
    driver.sink.result(driver.sink.arg, KEY, "{\"step\":\"asked\"}");
    assert_int_equal(submitted.n, 1);
    assert_int_equal(submitted.kind, COMMAND_EFFECT);
    assert_string_equal(submitted.set, "{\"key\":\"" KEY "\",\"done\":{\"step\":\"asked\"}}");
    committed(0);
    outbox_turn(outbox, mono_add(mono_now(), span_s(5)));
    assert_int_equal(submitted.n, 1);
}

static void a_result_that_cannot_be_committed_is_tried_again(void **state)
{
    driver.sink.result(driver.sink.arg, KEY, "null");
    committed(-EAGAIN);
    outbox_turn(outbox, mono_now());
    assert_int_equal(submitted.n, 1);
    outbox_turn(outbox, mono_add(mono_now(), span_s(2)));
    assert_int_equal(submitted.n, 2);
    assert_string_equal(submitted.set, "{\"key\":\"" KEY "\",\"done\":null}");
    outbox_turn(outbox, mono_add(mono_now(), span_s(4))); /* it is on its way */
    assert_int_equal(submitted.n, 2);
    committed(-EIO);
    driver.sink.result(driver.sink.arg, KEY, "7"); /* newer: goes at once, and in its place */
    assert_int_equal(submitted.n, 3);
    committed(0);
    outbox_turn(outbox, mono_add(mono_now(), span_s(5)));
    assert_int_equal(submitted.n, 3);
}

static void a_newer_result_comes_after_the_older(void **state)
{
    driver.sink.result(driver.sink.arg, KEY, "1");
    driver.sink.result(driver.sink.arg, KEY, "2");
    driver.sink.result(driver.sink.arg, KEY, "3");
    assert_int_equal(submitted.n, 1);
    committed(0);
    assert_int_equal(submitted.n, 2);
    assert_string_equal(submitted.set, "{\"key\":\"" KEY "\",\"done\":3}");
    committed(0);
    assert_int_equal(submitted.n, 2);
}

static void a_result_of_a_gone_effect_is_dropped(void **state)
{
    driver.sink.result(driver.sink.arg, KEY, "1");
    committed(-ENOENT);
    outbox_turn(outbox, mono_add(mono_now(), span_s(5)));
    assert_int_equal(submitted.n, 1);
}

static void the_watch_is_asked_which_node_may_reboot(void **state)
{
    struct err e = {0};
    assert_int_equal(driver.sink.may_reboot(driver.sink.arg, "lx1", "right", &e), 0);
    assert_int_equal(driver.sink.may_reboot(driver.sink.arg, "lx1", "wrong", &e), -EBUSY);
    assert_int_equal(driver.sink.may_reboot(driver.sink.arg, "lx2", "right", &e), -ENOENT);
    assert_string_equal(e.msg, "no node \"lx2\"");
}

static void trouble_is_an_alarm_until_it_is_over(void **state)
{
    struct err why;
    err_set(&why, -ECONNREFUSED, "connection refused");
    driver.sink.trouble(driver.sink.arg, "SMD", &why);
    assert_string_equal(noticed, "alarm.openchami SMD : SMD: connection refused");
    driver.sink.trouble(driver.sink.arg, "SMD", NULL);
    assert_string_equal(noticed, "alarm.over openchami SMD: SMD answers again");
}

static void slurm_is_told_and_asked(void **state)
{
    put(WANT);
    outbox_configure(outbox, &with_slurm);
    assert_int_equal(slurm.told, 1); /* the driver was made later than the record */
    assert_string_equal(slurm.owner, "0123456789ab");
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    hostlist_add(&nodes, "lx1");
    outbox_changed(outbox, &nodes);
    assert_int_equal(slurm.changed, 1);
    slurm.sink.overridden(slurm.sink.arg, "lx1", "1.2", "ann");
    assert_string_equal(noticed,
                        "slurm.overridden lx1: ann took it back in Slurm, while claim 1.2 rests on it");
    slurm.sink.refused(slurm.sink.arg, "lx1", "1.2");
    assert_non_null(strstr(noticed, "slurm.overridden lx1: somebody deleted its reservation in Slurm"));
}

/* One commit has both, and what the driver notes later is a result again. */
static void an_override_is_committed_with_its_result(void **state)
{
    static const char done[] = "{\"state\":\"overridden\"}", again[] = "{\"state\":\"drained\"}";
    unsigned before = submitted.n;
    outbox_configure(outbox, &with_slurm);
    slurm.sink.overridden(slurm.sink.arg, "lx1", "1.2", "ann");
    slurm.sink.result(slurm.sink.arg, "effect/slurm.lx1", done);
    assert_int_equal(submitted.n, before + 1);
    assert_int_equal(submitted.kind, COMMAND_OVERRIDE);
    assert_string_equal(submitted.set, "ann in Slurm: effect/slurm.lx1 {\"state\":\"overridden\"}");
    committed(-EAGAIN);
    outbox_turn(outbox, mono_add(mono_now(), span_s(5)));
    assert_int_equal(submitted.n, before + 2);
    assert_int_equal(submitted.kind, COMMAND_OVERRIDE);
    slurm.sink.result(slurm.sink.arg, "effect/slurm.lx1", again);
    committed(0);
    assert_int_equal(submitted.n, before + 3);
    assert_int_equal(submitted.kind, COMMAND_EFFECT);
    committed(0);
}

static void slurms_word_about_work_goes_to_the_watch(void **state)
{
    outbox_configure(outbox, &with_slurm);
    cluster_find(cluster, "lx1")->listed = true;
    struct slurm_node n = {.name = "lx1", .known = true, .busy = true};
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_int_equal(seen_work, WORK_BUSY);
    n.busy = false;
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_int_equal(seen_work, WORK_IDLE);
    assert_false(seen_away);
    n.drain = true; /* by somebody else: Fettle wants nothing of it */
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_true(seen_away);
    n.drain = false;
    n.known = false;
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_int_equal(seen_work, WORK_UNKNOWN);
    n.name = "nobody";
    slurm.sink.saw(slurm.sink.arg, &n);
    slurm.sink.saw(slurm.sink.arg, NULL);
}

static void another_holder_goes_to_the_watch(void **state)
{
    outbox_configure(outbox, &with_slurm);
    cluster_find(cluster, "lx1")->listed = true;
    struct slurm_node n = {.name = "lx1", .known = true, .reason = "", .by = ""};
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_string_equal(held, "nobody");
    n.vague = true;
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_string_equal(held, "unknown");
    n.reservation = "team";
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_string_equal(held, "out, held, reserved: team");
    n.held = true;
    n.out = "drained";
    n.by = "ann";
    n.reason = "new memory";
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_string_equal(held, "out, held, drained by ann: new memory");
    n = (struct slurm_node){.name = "lx1", .known = true, .state = "", .reason = "Not responding", .by = ""};
    n.out = "down";
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_string_equal(held, "out, nobody, down: Not responding");
    n.ours = true; /* a claim of ours says why, in its own words */
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_string_equal(held, "out, nobody, down");
    n = (struct slurm_node){.name = "lx1", .state = "", .reason = "", .by = ""};
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_string_equal(held, "unknown");
    assert_int_equal(slurm.looked, 0);
    unread = true;
    outbox_turn(outbox, mono_now());
    unread = false;
    assert_int_equal(slurm.looked, 1);
}

static void slurms_words_go_to_the_watch(void **state)
{
    outbox_configure(outbox, &with_slurm);
    cluster_find(cluster, "lx1")->listed = true;
    struct slurm_node n = {.name = "lx1",
                           .known = true,
                           .state = "IDLE+DRAIN",
                           .reason = "bad cable",
                           .by = "ann",
                           .set_at = {7}};
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_string_equal(word.state, "IDLE+DRAIN");
    assert_string_equal(word.reason, "bad cable");
    assert_string_equal(word.by, "ann");
    assert_int_equal(word.since.ns, 7);
    assert_int_not_equal(word.read.ns, 0);
    n.reason = n.by = "";
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_null(word.reason);
    assert_null(word.by);
    n = (struct slurm_node){.name = "lx1", .state = "", .reason = "", .by = ""}; /* it could not be read */
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_null(word.state);
}

static void a_holder_in_ochami_goes_to_the_watch(void **state)
{
    struct member *m = cluster_find(cluster, "lx1");
    struct err e = {.code = -EIO};
    m->spec.xname = mem_dup("x0c0s0b0n0");
    unread = true;
    unread_at = ELSEWHERE_OCHAMI;
    outbox_turn(outbox, mono_now());
    unread = false;
    unread_at = ELSEWHERE_SLURM;
    assert_int_equal(smd_asked.looked, 1);
    assert_int_equal(slurm.looked, 0);
    smd_asked.fn(smd_asked.arg, "lx1", "locked", false, NULL);
    assert_string_equal(held, "held, locked");
    smd_asked.fn(smd_asked.arg, "lx1", NULL, false, &e);
    assert_string_equal(held, "unknown");
    smd_asked.fn(smd_asked.arg, "lx1", "disabled", true, NULL);
    assert_string_equal(held, "out, held, disabled");
    smd_asked.fn(smd_asked.arg, "lx1", NULL, false, NULL);
    assert_string_equal(held, "nobody");
    smd_asked.fn(smd_asked.arg, "gone", NULL, false, NULL);
}

static void nodes_in_a_maintenance_reservation_go_to_the_watch(void **state)
{
    struct slurm_maintenance list[] = {{.name = "fan"}, {.name = "all"}};
    cluster_meet(cluster, "lx2");
    cluster_meet(cluster, "lx3");
    outbox_configure(outbox, &with_slurm);
    hostlist_add(&list[0].nodes, "lx2");
    hostlist_add(&list[0].nodes, "nobody");
    hostlist_add(&list[1].nodes, "lx1");
    hostlist_add(&list[1].nodes, "lx2");
    windows[0] = '\0';
    slurm.sink.maintained(slurm.sink.arg, list, 2);
    assert_string_equal(windows, "lx1 reservation all; lx2 reservation fan; lx3 in none; ");
    hostlist_fini(&list[0].nodes);
    hostlist_fini(&list[1].nodes);
    windows[0] = '\0';
    outbox_configure(outbox, &smd); /* without Slurm there is none */
    assert_string_equal(windows, "lx1 in none; lx2 in none; lx3 in none; ");
}

static void wanted(const char *claim, struct slurm_want *out)
{
    struct err e = {0};
    cluster_find(cluster, "lx1")->listed = true;
    if (claim && cluster_put(cluster, "claim/1.7", claim, &e) < 0)
        fail_msg("%s", e.msg);
    slurm.sink.wanted(slurm.sink.arg, "lx1", out);
}

static void put_slurm(const char *record)
{
    struct err e = {0};
    CLEANUP_TEXT struct text value = {0};
    text_printf(&value,
                "{\"id\":\"8\",\"claim\":\"1.7\",\"state\":\"%s\",\"at\":\"7\",\"reservation\":false}",
                record);
    if (cluster_put(cluster, "effect/slurm.lx1", value.s, &e) < 0)
        fail_msg("%s", e.msg);
}

#define CLAIM_OF(kind)                                                                            \
    "{\"kind\":\"" kind                                                                           \
    "\",\"owner\":\"ann\",\"reason\":\"bad DIMM\",\"since\":\"7\",\"nodes\":\"lx1\",\"drained\":" \
    "\"\"}"

static void before_the_first_reading_nobody_knows_and_then_the_agent_s_word_counts_elsewhere(void **state)
{
    struct slurm_node n = {.name = "lx1"};
    cluster_meet(cluster, "lx2");
    cluster_find(cluster, "lx1")->listed = cluster_find(cluster, "lx2")->listed = true;
    seen_work = WORK_BUSY;
    outbox_configure(outbox, &with_slurm);
    assert_int_equal(seen_work, WORK_UNKNOWN);
    unscheduled = 0;
    slurm.sink.saw(slurm.sink.arg, &n); /* a reading that failed */
    slurm.sink.saw(slurm.sink.arg, NULL);
    slurm.sink.saw(slurm.sink.arg, NULL); /* and one that has nobody */
    assert_int_equal(unscheduled, 0);
    n.known = n.alone = true;
    slurm.sink.saw(slurm.sink.arg, &n); /* read alone, before another that failed */
    n.known = n.alone = false;
    slurm.sink.saw(slurm.sink.arg, &n);
    slurm.sink.saw(slurm.sink.arg, NULL);
    assert_int_equal(unscheduled, 0);
    n.known = true;
    slurm.sink.saw(slurm.sink.arg, &n);
    slurm.sink.saw(slurm.sink.arg, NULL);
    assert_int_equal(unscheduled, 1); /* lx2 */
}

static void a_person_s_drain_is_wanted_in_slurm(void **state)
{
    struct slurm_want want;
    outbox_configure(outbox, &with_slurm);
    wanted(NULL, &want);
    assert_false(want.drain);
    wanted(CLAIM_OF("drain"), &want);
    assert_true(want.drain);
    assert_false(want.reserve);
    assert_string_equal(want.mark.claim, "1.7");
    assert_string_equal(want.reason, "drain by ann: bad DIMM");
    assert_false(want.own);
}

static void a_decision_of_fettle_is_its_own(void **state)
{
    struct slurm_want want;
    outbox_configure(outbox, &with_slurm);
    wanted(CLAIM_OF("drift"), &want);
    assert_true(want.drain && want.own);
}

static void work_is_not_known_before_the_drain_stands(void **state)
{
    struct slurm_want want;
    struct slurm_node n = {.name = "lx1", .known = true};
    outbox_configure(outbox, &with_slurm);
    wanted(CLAIM_OF("drain"), &want);
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_int_equal(seen_work, WORK_UNKNOWN);
    n.drain = true;
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_int_equal(seen_work, WORK_IDLE);
}

/* Slurm gives work away until it has the drain. */
static void no_work_counts_when_no_more_can_come(void **state)
{
    struct slurm_want want;
    struct slurm_node n = {.name = "lx1", .known = true};
    outbox_configure(outbox, &with_slurm);
    wanted(CLAIM_OF("drain"), &want);
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_int_equal(seen_work, WORK_UNKNOWN);
    n.drain = n.busy = true;
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_int_equal(seen_work, WORK_BUSY);
    n.busy = false;
    slurm.sink.saw(slurm.sink.arg, &n);
    assert_int_equal(seen_work, WORK_IDLE);
}

static void a_look_before_the_drain_counts_no_more(void **state)
{
    struct slurm_want want;
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    hostlist_add(&nodes, "lx1");
    outbox_configure(outbox, &with_slurm);
    observed = (struct observed){.scheduler = true, .scheduled = WORK_IDLE};
    seen_work = WORK_IDLE;
    wanted(NULL, &want);
    outbox_changed(outbox, &nodes);
    assert_int_equal(seen_work, WORK_IDLE);
    wanted(CLAIM_OF("drain"), &want);
    outbox_changed(outbox, &nodes);
    assert_int_equal(seen_work, WORK_UNKNOWN);
    seen_work = WORK_IDLE;
    put_slurm("drained");
    outbox_changed(outbox, &nodes);
    assert_int_equal(seen_work, WORK_IDLE);
    observed = (struct observed){0};
}

/* That the last reading had no such node may be its own fault; only Slurm's word that there is none counts.
 */
static void a_missing_node_is_unknown_until_slurm_says_that_it_has_none(void **state)
{
    struct slurm_want want;
    CLEANUP_HOSTLIST struct hostlist nodes = {0};
    hostlist_add(&nodes, "lx1");
    outbox_configure(outbox, &with_slurm);
    wanted(CLAIM_OF("drain"), &want);
    seen_work = WORK_BUSY;
    slurm.lacks = true;
    outbox_changed(outbox, &nodes);
    assert_int_equal(seen_work, WORK_BUSY); /* nothing was said to the watch */
    slurm.lacks = false;
    outbox_changed(outbox, &nodes);
    assert_int_equal(seen_work, WORK_UNKNOWN);
}

static void a_new_driver_asks_for_all_that_are_wanted(void **state)
{
    struct err e = {0};
    cluster_find(cluster, "lx1")->listed = true;
    assert_int_equal(cluster_put(cluster, "claim/1.7", CLAIM_OF("drain"), &e), 0);
    outbox_configure(outbox, &with_slurm);
    assert_int_equal(slurm.changed, 1);
}

static void silence_is_none_of_slurm_s_business(void **state)
{
    struct slurm_want want;
    outbox_configure(outbox, &with_slurm);
    wanted(CLAIM_OF("silent"), &want);
    assert_false(want.drain);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate_setup_teardown(without_a_service_effects_wait, setup, teardown,
                                                 (void *)(uintptr_t)&none),
        TEST(an_effect_is_told_as_it_changes),
        TEST(a_driver_is_configured_and_not_made_anew),
        TEST(a_driver_that_was_made_anew_is_told_once),
        TEST(power_has_the_bmcs_of_the_configuration),
        TEST(a_result_is_committed),
        TEST(a_result_that_cannot_be_committed_is_tried_again),
        TEST(a_newer_result_comes_after_the_older),
        TEST(a_result_of_a_gone_effect_is_dropped),
        TEST(the_watch_is_asked_which_node_may_reboot),
        TEST(trouble_is_an_alarm_until_it_is_over),
        TEST(slurm_is_told_and_asked),
        TEST(an_override_is_committed_with_its_result),
        TEST(slurms_word_about_work_goes_to_the_watch),
        TEST(another_holder_goes_to_the_watch),
        TEST(slurms_words_go_to_the_watch),
        TEST(a_holder_in_ochami_goes_to_the_watch),
        TEST(nodes_in_a_maintenance_reservation_go_to_the_watch),
        TEST(before_the_first_reading_nobody_knows_and_then_the_agent_s_word_counts_elsewhere),
        TEST(a_person_s_drain_is_wanted_in_slurm),
        TEST(a_decision_of_fettle_is_its_own),
        TEST(work_is_not_known_before_the_drain_stands),
        TEST(no_work_counts_when_no_more_can_come),
        TEST(a_look_before_the_drain_counts_no_more),
        TEST(a_missing_node_is_unknown_until_slurm_says_that_it_has_none),
        TEST(a_new_driver_asks_for_all_that_are_wanted),
        TEST(silence_is_none_of_slurm_s_business),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
