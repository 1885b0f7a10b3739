/* SPDX-License-Identifier: Apache-2.0 */
#include "check/kmsg_follow.h"

#include "base/text.h"
#include "probe/tree_test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char BOOT[] = "0a3e4f70-5bd1-4c3a-9f1b-6d8a3c1f2e10";

static void boot(const struct tree *t, const char *id)
{
    char path[128];
    snprintf(path, sizeof path, "%s/proc/sys/kernel/random/boot_id", t->root);
    unlink(path);
    CLEANUP_TEXT struct text line = {0};
    text_printf(&line, "%s\n", id);
    tree_add((struct tree *)t, "proc/sys/kernel/random/boot_id", line.s);
}

static void write_to(const struct tree *t, const char *text, int flags)
{
    char path[128];
    snprintf(path, sizeof path, "%s/dev/kmsg", t->root);
    int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* A tree with a boot id and a log that is a file. */
static struct tree *logged(void **state, const char *text)
{
    struct tree *t = *state;
    boot(t, BOOT);
    tree_add(t, "dev/kmsg", text);
    return t;
}

static struct kmsg_follow *follow(const struct tree *t, const struct kmsg_cursor *from)
{
    struct err e = {0};
    struct kmsg_follow *f = kmsg_open(t->root, from, &e);
    if (!f)
        print_error("%s\n", e.msg);
    assert_non_null(f);
    return f;
}

/* The next record's text, "" for none. */
static const char *next(struct kmsg_follow *f, uint64_t *lost)
{
    static struct kmsg k;
    uint64_t n;
    struct err e = {0};
    int r = kmsg_next(f, &k, lost ? lost : &n, &e);
    assert_true(r >= 0);
    return r ? k.text : "";
}

static void records_come_from_the_oldest_on(void **state)
{
    struct tree *t = logged(state, "6,5,1,-;one\n6,6,2,-;two\n");
    struct kmsg_follow *f = follow(t, NULL);
    uint64_t lost = 9;
    assert_string_equal(next(f, &lost), "one");
    assert_int_equal(lost, 0);
    assert_string_equal(next(f, NULL), "two");
    assert_string_equal(next(f, &lost), "");
    assert_int_equal(lost, 0);
    assert_string_equal(kmsg_cursor(f)->boot, BOOT);
    assert_int_equal(kmsg_cursor(f)->next, 7);
    kmsg_close(f);
    kmsg_close(NULL);
}

static void it_begins_behind_its_cursor(void **state)
{
    struct tree *t = logged(state, "6,5,1,-;one\n6,6,2,-;two\n6,7,3,-;three\n");
    struct kmsg_cursor from = {.next = 6};
    memcpy(from.boot, BOOT, sizeof BOOT);
    struct kmsg_follow *f = follow(t, &from);
    assert_string_equal(next(f, NULL), "two");
    kmsg_close(f);
    memcpy(from.boot, "another", 8);
    f = follow(t, &from); /* of another boot */
    assert_string_equal(next(f, NULL), "one");
    kmsg_close(f);
    from.boot[0] = '\0';
    f = follow(t, &from);
    assert_string_equal(next(f, NULL), "one");
    kmsg_close(f);
}

static void without_a_boot_id_no_cursor_counts(void **state)
{
    struct tree *t = logged(state, "6,5,1,-;one\n");
    boot(t, "");
    struct kmsg_follow *f = follow(t, &(struct kmsg_cursor){.next = 6});
    assert_string_equal(next(f, NULL), "one");
    assert_string_equal(kmsg_cursor(f)->boot, "");
    kmsg_close(f);
}

static void only_lines_of_the_kernel_are_given(void **state)
{
    struct tree *t = logged(state, "12,1,1,-;NVRM: Xid (PCI:0000:9b:00): 79, x\n SUBSYSTEM=x\n"
                                   "what is this\n6,2,2,-;kernel\n DEVICE=+pci:0\n30,3,3,-;systemd\n");
    struct kmsg_follow *f = follow(t, NULL);
    uint64_t lost;
    assert_string_equal(next(f, &lost), "kernel");
    assert_int_equal(lost, 0);
    assert_string_equal(next(f, NULL), "");
    assert_int_equal(kmsg_cursor(f)->next, 4); /* and what others said was read */
    kmsg_close(f);
}

static void overwritten_lines_are_told(void **state)
{
    struct tree *t = logged(state, "6,1,1,-;one\n6,8,2,-;eight\n12,12,3,-;user\n6,13,3,-;thirteen\n");
    struct kmsg_follow *f = follow(t, NULL);
    uint64_t lost;
    assert_string_equal(next(f, &lost), "one");
    assert_int_equal(lost, 0);
    assert_string_equal(next(f, &lost), "eight");
    assert_int_equal(lost, 6);
    assert_string_equal(next(f, &lost), "thirteen");
    assert_int_equal(lost, 3);
    kmsg_close(f);
    struct kmsg_cursor from = {.next = 1};
    memcpy(from.boot, BOOT, sizeof BOOT);
    f = follow(t, &from);
    assert_string_equal(next(f, NULL), "one");
    kmsg_close(f);
}

static void a_gap_since_the_last_time_is_told(void **state)
{
    struct tree *t = logged(state, "6,100,1,-;x\n");
    struct kmsg_cursor from = {.next = 40};
    memcpy(from.boot, BOOT, sizeof BOOT);
    struct kmsg_follow *f = follow(t, &from);
    uint64_t lost;
    assert_string_equal(next(f, &lost), "x");
    assert_int_equal(lost, 60);
    kmsg_close(f);
}

/* Also when only others wrote behind it: the kernel may say nothing more for days. */
static void a_gap_is_told_when_it_is_known(void **state)
{
    struct tree *t = logged(state, "6,1,1,-;one\n30,5,2,-;systemd\n30,9,2,-;systemd\n");
    struct kmsg_follow *f = follow(t, NULL);
    uint64_t lost;
    assert_string_equal(next(f, &lost), "one");
    assert_int_equal(lost, 0);
    assert_string_equal(next(f, &lost), "");
    assert_int_equal(lost, 6);
    assert_string_equal(next(f, &lost), "");
    assert_int_equal(lost, 0);
    write_to(t, "30,10,3,-;systemd\n6,12,3,-;twelve\n", O_APPEND);
    assert_string_equal(next(f, &lost), "twelve");
    assert_int_equal(lost, 1);
    kmsg_close(f);
}

static void a_file_may_grow_and_a_line_come_in_pieces(void **state)
{
    struct tree *t = logged(state, "");
    struct kmsg_follow *f = follow(t, NULL);
    assert_int_equal(kmsg_fd(f), -1);
    assert_string_equal(next(f, NULL), "");
    write_to(t, "6,1,1,-;half", O_APPEND);
    assert_string_equal(next(f, NULL), "");
    write_to(t, " and half\n6,2,", O_APPEND);
    assert_string_equal(next(f, NULL), "half and half");
    assert_string_equal(next(f, NULL), "");
    write_to(t, "2,-;two\n", O_APPEND);
    assert_string_equal(next(f, NULL), "two");
    kmsg_close(f);
}

static void a_file_that_was_cut_is_read_anew(void **state)
{
    struct tree *t = logged(state, "6,10,1,-;a long line in the file\n");
    struct kmsg_follow *f = follow(t, NULL);
    assert_string_equal(next(f, NULL), "a long line in the file");
    write_to(t, "6,0,1,-;new\n", O_TRUNC);
    assert_string_equal(next(f, NULL), "new");
    kmsg_close(f);
}

static void a_line_without_end_is_passed_over(void **state)
{
    CLEANUP_TEXT struct text log = {0};
    text_add(&log, "6,1,1,-;");
    for (int i = 0; i < 5000; i++)
        text_add(&log, "abcdefgh");
    text_add(&log, "\n6,2,1,-;two\n");
    struct kmsg_follow *f = follow(logged(state, log.s), NULL);
    assert_string_equal(next(f, NULL), "two");
    kmsg_close(f);
}

static void many_lines_are_all_read(void **state)
{
    enum { LINES = 20000 };
    CLEANUP_TEXT struct text log = {0};
    for (int i = 0; i < LINES; i++)
        text_printf(&log, "%d,%d,1,-;line %d\n", i % 100 ? 30 : 6, i, i);
    struct kmsg_follow *f = follow(logged(state, log.s), NULL);
    int n = 0;
    for (uint64_t before = 1; before != kmsg_cursor(f)->next;) {
        before = kmsg_cursor(f)->next;
        while (*next(f, NULL))
            n++;
    }
    assert_int_equal(n, LINES / 100);
    assert_int_equal(kmsg_cursor(f)->next, LINES);
    kmsg_close(f);
}

/* It is readable when there is something, and never ends because a writer goes. */
static void a_pipe_can_be_polled(void **state)
{
    struct tree *t = *state;
    char path[128];
    boot(t, BOOT);
    tree_add(t, "dev/", "");
    snprintf(path, sizeof path, "%s/dev/kmsg", t->root);
    assert_int_equal(mkfifo(path, 0600), 0);
    struct kmsg_follow *f = follow(t, NULL);
    struct pollfd p = {.fd = kmsg_fd(f), .events = POLLIN};
    assert_true(p.fd >= 0);
    for (int i = 0; i < 3; i++) {
        char line[32];
        assert_int_equal(poll(&p, 1, 0), 0);
        snprintf(line, sizeof line, "6,%d,1,-;x%d\n", i, i);
        write_to(t, line, 0);
        assert_int_equal(poll(&p, 1, 0), 1);
        assert_int_equal(p.revents, POLLIN);
        assert_true(*next(f, NULL));
        assert_string_equal(next(f, NULL), "");
    }
    kmsg_close(f);
}

static void a_file_that_is_no_log_is_refused(void **state)
{
    struct tree *t = *state;
    char path[128];
    struct err e = {0};
    assert_null(kmsg_open(t->root, NULL, &e));
    assert_int_equal(e.code, -ENOENT);
    tree_add(t, "dev/", "");
    snprintf(path, sizeof path, "%s/dev/kmsg", t->root);
    assert_int_equal(symlink("/dev/null", path), 0); /* always readable, as in some containers */
    assert_null(kmsg_open(t->root, NULL, &e));
    assert_int_equal(e.code, -ENODEV);
    assert_null(kmsg_open("/nonexistent", NULL, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(records_come_from_the_oldest_on),
        IN_TREE(it_begins_behind_its_cursor),
        IN_TREE(without_a_boot_id_no_cursor_counts),
        IN_TREE(only_lines_of_the_kernel_are_given),
        IN_TREE(overwritten_lines_are_told),
        IN_TREE(a_gap_since_the_last_time_is_told),
        IN_TREE(a_gap_is_told_when_it_is_known),
        IN_TREE(a_file_may_grow_and_a_line_come_in_pieces),
        IN_TREE(a_file_that_was_cut_is_read_anew),
        IN_TREE(a_line_without_end_is_passed_over),
        IN_TREE(many_lines_are_all_read),
        IN_TREE(a_pipe_can_be_polled),
        IN_TREE(a_file_that_is_no_log_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
