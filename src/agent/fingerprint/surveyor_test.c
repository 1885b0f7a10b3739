/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/fingerprint/surveyor.h"

#include "agent/life_test.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* The components that the frames of a list hold; the caller frees them. *parts is how many came. */
static void read_list(struct fake *f, int from, int peer, struct components *out, uint64_t *parts)
{
    uint64_t n = 1;
    for (*parts = 0; *parts < n; ++*parts) {
        int at;
        json_t *part = life_frame(f, FRAME_COMPONENTS, from, 1, &at);
        from = at + 1;
        assert_int_equal(f->frames[at].peer, peer);
        assert_int_equal(life_number(part, "part"), *parts);
        n = life_number(part, "parts");
        assert_int_equal(components_parse(out, part, NULL), 0);
    }
    assert_int_equal(components_sort(out, NULL), 0);
}

/* Asks for what is behind a FINGERPRINT; the list has to hash to it. */
static void want_list(struct fake *f, int at, struct components *out)
{
    uint64_t parts;
    char hex[FINGERPRINT_HEX + 1];
    int from = f->n_frames, peer = f->frames[at].peer;
    const char *said = life_string(f->frames[at].body, "fingerprint");
    fake_send(f, peer, FRAME_WANT, "{\"components\":\"%s\"}", said);
    read_list(f, from, peer, out, &parts);
    struct fingerprint id = components_fingerprint(out);
    assert_string_equal(fingerprint_format(&id, hex), said);
}

static void assert_value(const struct components *c, const char *name, const char *value)
{
    const struct component *found = life_component(c, name);
    if (!found || found->state != COMPONENT_VALUE || strcmp(found->value, value) != 0)
        fail_msg("%s is %s, not %s", name, found ? found->value : "not there", value);
}

static void says_its_fingerprint_and_what_is_behind_it(void **state)
{
    struct fake *f = *state;
    struct node n;
    struct components list = {0};
    int at;
    life_start(f, &n, "lx01");
    json_t *said = life_frame(f, FRAME_FINGERPRINT, 0, 1, &at);
    assert_string_equal(life_string(said, "boot"), "6e8f4a52-0c1e-4c1b-9d3a-2f60c2a1b7de");
    assert_int_equal(strlen(life_string(said, "fingerprint")), FINGERPRINT_HEX);
    want_list(f, at, &list);
    assert_value(&list, "kernel.cmdline", "BOOT_IMAGE=/vmlinuz quiet");
    components_fini(&list);
    /* Asked for another one it says which it is. */
    int from = f->n_frames;
    fake_send(f, f->frames[at].peer, FRAME_WANT, "{\"components\":\"%064d\"}", 0);
    assert_string_equal(life_string(life_frame(f, FRAME_FINGERPRINT, from, 1, NULL), "fingerprint"),
                        life_string(said, "fingerprint"));
    life_stop(f, &n);
}

static void reads_anew_on_request_and_says_the_same_in_21_bytes(void **state)
{
    struct fake *f = *state;
    struct node n;
    int at;
    life_start(f, &n, "lx01");
    life_frame(f, FRAME_FINGERPRINT, 0, 1, &at);
    int from = f->n_frames;
    fake_send(f, f->frames[at].peer, FRAME_RECHECK, "{}");
    assert_true(json_is_true(json_object_get(life_frame(f, FRAME_FINGERPRINT, from, 1, &at), "same")));
    assert_int_equal(f->frames[at].len + 8, 21);
    /* A new link was told nothing. */
    from = f->n_frames;
    peer_close(f->peers[f->frames[at].peer]);
    json_t *again = life_frame(f, FRAME_FINGERPRINT, from, 1, NULL);
    assert_string_equal(life_string(again, "fingerprint"),
                        life_string(life_frame(f, FRAME_FINGERPRINT, 0, 1, NULL), "fingerprint"));
    life_stop(f, &n);
}

static void send_survey(struct fake *f, int peer, int revision, const char *members)
{
    CLEANUP_FREE char *survey = life_survey_order(f, revision, members);
    fake_send(f, peer, FRAME_SETTINGS, "{\"survey\":%s}", survey);
}

static void reads_anew_as_often_as_it_is_told(void **state)
{
    struct fake *f = *state;
    struct node n;
    CLEANUP_FREE char *welcome = life_welcome(f, 60000, "\"recheck_ms\":100");
    f->welcome = welcome;
    life_start(f, &n, "lx01");
    life_frame(f, FRAME_FINGERPRINT, 0, 4, NULL);
    life_stop(f, &n);
}

/* The index of the first fingerprint in full from here. */
static int wait_new_fingerprint(struct fake *f, int from)
{
    int at;
    do {
        life_frame(f, FRAME_FINGERPRINT, from, 1, &at);
        from = at + 1;
    } while (!json_object_get(f->frames[at].body, "fingerprint"));
    return at;
}

static void each_node_has_its_own_turn(void **state)
{
    enum { NODES = 1000, TENTHS = 10 };
    const uint64_t day_ms = 86400000;
    unsigned in[TENTHS] = {0};
    for (int i = 0; i < NODES; i++) {
        char name[16];
        struct mono now = {span_s(100000).ns};
        snprintf(name, sizeof name, "lx%04d", i);
        uint64_t ms = surveyor_turn_ms(name, day_ms, now);
        assert_in_range(ms, 1, day_ms);
        in[(ms - 1) * TENTHS / day_ms]++;
        struct mono turn = mono_add(now, span_ms((int64_t)ms));
        assert_int_equal(surveyor_turn_ms(name, day_ms, turn),
                         day_ms); /* also for an agent that began meanwhile */
    }
    for (int i = 0; i < TENTHS; i++)
        assert_in_range(in[i], NODES / TENTHS / 2, NODES / TENTHS * 2);
}

static void notices_what_changed_on_the_node(void **state)
{
    struct fake *f = *state;
    struct node n;
    struct components list = {0};
    life_start(f, &n, "lx01");
    life_frame(f, FRAME_FINGERPRINT, 0, 1, NULL);
    int from = f->n_frames;
    fake_write(n.root, "proc/cmdline", "BOOT_IMAGE=/vmlinuz mitigations=off\n");
    want_list(f, wait_new_fingerprint(f, from), &list);
    assert_value(&list, "kernel.cmdline", "BOOT_IMAGE=/vmlinuz mitigations=off");
    components_fini(&list);
    life_stop(f, &n);
}

static void watched_files_need_no_second(void **state)
{
    struct fake *f = *state;
    struct node n = {.root = fake_root(f, "lx01")};
    fake_write(n.root, "etc/fettle/fingerprint.conf", "File=/etc/gres.conf\n");
    fake_write(n.root, "etc/gres.conf", "first\n");
    life_start_with(f, &n, "lx01", false);
    wait_new_fingerprint(f, 0);
    int64_t fastest_ms = INT64_MAX;
    for (int i = 0; i < 5; i++) {
        char text[16];
        struct mono before = mono_now();
        int from = f->n_frames;
        snprintf(text, sizeof text, "change %d\n", i);
        fake_write(n.root, "etc/gres.conf", text);
        wait_new_fingerprint(f, from);
        int64_t ms = span_to_ms(mono_sub(mono_now(), before));
        fastest_ms = ms < fastest_ms ? ms : fastest_ms;
    }
    /* A change just behind a look waits most of a second for the next one. */
    assert_true(fastest_ms < 500);
    life_stop(f, &n);
}

/* In its place, as editors and package managers do it. */
static void replace(const char *root, const char *path, const char *text)
{
    char made[256], from[512], to[512];
    snprintf(made, sizeof made, "%s.new", path);
    fake_write(root, made, text);
    snprintf(from, sizeof from, "%s/%s", root, made);
    snprintf(to, sizeof to, "%s/%s", root, path);
    assert_int_equal(rename(from, to), 0);
}

static void discard(const char *root, const char *path)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    assert_int_equal(unlink(whole), 0);
}

/* Waits less long than until the next look at files, so that events alone tell. */
static void expect_news(struct fake *f, int *from)
{
    *from = wait_new_fingerprint(f, *from) + 1;
}

static void a_watched_file_may_be_replaced_and_rewritten(void **state)
{
    struct fake *f = *state;
    struct node n = {.root = fake_root(f, "lx01")};
    int from = 0;
    fake_write(n.root, "etc/fettle/fingerprint.conf", "File=/etc/gres.conf\n");
    fake_write(n.root, "etc/gres.conf", "first\n");
    life_start_with(f, &n, "lx01", false);
    expect_news(f, &from);
    for (int i = 0; i < 2; i++) {
        replace(n.root, "etc/gres.conf", i ? "replaced again\n" : "replaced\n");
        expect_news(f, &from);
        fake_write(n.root, "etc/gres.conf", i ? "rewritten again\n" : "rewritten\n");
        expect_news(f, &from);
    }
    discard(n.root, "etc/gres.conf");
    expect_news(f, &from);
    fake_write(n.root, "etc/gres.conf", "here again\n");
    expect_news(f, &from);
    life_stop(f, &n);
}

static void a_named_file_may_come_later_with_its_directories(void **state)
{
    struct fake *f = *state;
    struct node n = {.root = fake_root(f, "lx01")};
    int from = 0;
    fake_write(n.root, "etc/fettle/fingerprint.conf", "File=/opt/site/etc/a.conf\n");
    life_start_with(f, &n, "lx01", false);
    expect_news(f, &from);
    replace(n.root, "opt/site/etc/a.conf", "there\n");
    expect_news(f, &from);
    replace(n.root, "opt/site/etc/a.conf", "another\n");
    expect_news(f, &from);
    life_stop(f, &n);
}

static void packages_are_watched(void **state)
{
    static const char one[] = "Package: a\nStatus: install ok installed\nArchitecture: all\nVersion: 1\n\n";
    static const char two[] = "Package: a\nStatus: install ok installed\nArchitecture: all\nVersion: 2\n\n";
    struct fake *f = *state;
    struct node n = {.root = fake_root(f, "lx01")};
    int from = 0;
    life_start_with(f, &n, "lx01", false);
    expect_news(f, &from);
    replace(n.root, "var/lib/dpkg/status", one);
    expect_news(f, &from);
    replace(n.root, "var/lib/dpkg/status", two);
    expect_news(f, &from);
    fake_write(n.root, "var/lib/dpkg/status", one);
    expect_news(f, &from);
    life_stop(f, &n);
}

/* What is named from then on is looked at, too. */
static void the_configuration_may_come_later(void **state)
{
    struct fake *f = *state;
    struct node n = {.root = fake_root(f, "lx01")};
    int from = 0;
    fake_write(n.root, "proc/sys/vm/laptop_mode", "0\n");
    life_start_with(f, &n, "lx01", false);
    expect_news(f, &from);
    fake_write(n.root, "etc/fettle/fingerprint.conf", "Sysctl=vm.laptop_mode\n");
    expect_news(f, &from);
    fake_write(n.root, "proc/sys/vm/laptop_mode", "5\n");
    expect_news(f, &from);
    life_stop(f, &n);
}

static void reads_what_the_controller_names_before_it_says_anything(void **state)
{
    struct fake *f = *state;
    struct node n;
    struct components list = {0};
    CLEANUP_FREE char *welcome = life_welcome(f, 60000, "\"also\":[\"file./etc/motd\"]");
    f->welcome = welcome;
    life_start(f, &n, "lx01");
    int at = wait_new_fingerprint(f, 0);
    want_list(f, at, &list);
    assert_non_null(life_component(&list, "file./etc/motd"));
    components_fini(&list);
    /* The same again changes nothing, and less is read anew. */
    int from = f->n_frames;
    send_survey(f, f->frames[at].peer, 2, "\"also\":[\"file./etc/motd\"]");
    send_survey(f, f->frames[at].peer, 3, "\"also\":[]");
    at = wait_new_fingerprint(f, from);
    want_list(f, at, &list);
    assert_null(life_component(&list, "file./etc/motd"));
    components_fini(&list);
    life_stop(f, &n);
}

static void a_survey_that_hangs_delays_no_heartbeat(void **state)
{
    struct fake *f = *state;
    struct node n = {.root = fake_root(f, "lx01")};
    fake_write(n.root, "etc/fettle/fingerprint.conf", "Command=slow Run=\"exec sleep 300\" Deadline=50s\n");
    f->welcome = WELCOME(50, true);
    life_start_with(f, &n, "lx01", false);
    life_frame(f, FRAME_HEARTBEAT, 0, 10, NULL);
    life_frame(f, FRAME_INVENTORY, 0, 1, NULL);
    for (int i = 0; i < f->n_frames; i++)
        assert_int_not_equal(f->frames[i].type, FRAME_FINGERPRINT);
    life_stop(f, &n);
}

static void a_survey_that_fails_is_unknown_and_comes_back(void **state)
{
    struct fake *f = *state;
    struct node n = {.root = fake_root(f, "lx01")};
    fake_write(n.root, "etc/fettle/fingerprint.conf", "Nonsense=1\n");
    f->welcome = WELCOME(50, false);
    life_start_with(f, &n, "lx01", false);
    life_frame(f, FRAME_HEARTBEAT, 0, 5, NULL);
    for (int i = 0; i < f->n_frames; i++)
        assert_int_not_equal(f->frames[i].type, FRAME_FINGERPRINT);
    fake_write(n.root, "etc/fettle/fingerprint.conf", "\n");
    wait_new_fingerprint(f, 0);
    life_stop(f, &n);
}

/* The system's call, which says no while the test wants it so: on a machine whose instances are used up. */
static bool no_inotify;
int inotify_init1(int flags)
{
    if (!no_inotify)
        return (int)syscall(SYS_inotify_init1, flags);
    errno = EMFILE;
    return -1;
}

static void without_events_files_are_looked_at_all_the_same(void **state)
{
    struct fake *f = *state;
    struct node n = {.root = fake_root(f, "lx01")};
    int from = 0;
    fake_write(n.root, "etc/fettle/fingerprint.conf", "File=/etc/gres.conf\n");
    fake_write(n.root, "etc/gres.conf", "first\n");
    no_inotify = true;
    life_start_with(f, &n, "lx01", false);
    no_inotify = false;
    expect_news(f, &from);
    fake_write(n.root, "etc/gres.conf", "another one\n");
    expect_news(f, &from);
    life_stop(f, &n);
}

/* More than the link's queue takes at once; the rest follows. */
static void a_long_list_comes_whole(void **state)
{
    enum { PACKAGES = 6000 };
    struct fake *f = *state;
    struct node n = {.root = fake_root(f, "lx01")};
    struct components list = {0};
    CLEANUP_TEXT struct text status = {0};
    for (int i = 0; i < PACKAGES; i++)
        text_printf(&status,
                    "Package: a-package-with-a-name-as-long-as-libraries-have-%d\nStatus: install ok "
                    "installed\nArchitecture: all\nVersion: 1.2.3-%d\n\n",
                    i, i);
    fake_write(n.root, "var/lib/dpkg/status", status.s);
    life_start_with(f, &n, "lx01", false);
    want_list(f, wait_new_fingerprint(f, 0), &list);
    assert_true(list.n > PACKAGES);
    components_fini(&list);
    life_stop(f, &n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_LIFE(says_its_fingerprint_and_what_is_behind_it),
        IN_LIFE(reads_anew_on_request_and_says_the_same_in_21_bytes),
        IN_LIFE(reads_anew_as_often_as_it_is_told),
        cmocka_unit_test(each_node_has_its_own_turn),
        IN_LIFE(notices_what_changed_on_the_node),
        IN_LIFE(watched_files_need_no_second),
        IN_LIFE(a_watched_file_may_be_replaced_and_rewritten),
        IN_LIFE(a_named_file_may_come_later_with_its_directories),
        IN_LIFE(packages_are_watched),
        IN_LIFE(the_configuration_may_come_later),
        IN_LIFE(reads_what_the_controller_names_before_it_says_anything),
        IN_LIFE(a_survey_that_hangs_delays_no_heartbeat),
        IN_LIFE(a_survey_that_fails_is_unknown_and_comes_back),
        IN_LIFE(without_events_files_are_looked_at_all_the_same),
        IN_LIFE(a_long_list_comes_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
