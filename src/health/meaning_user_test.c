/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel prints of a process begins, in many places, with the name that its user gave to it. */
#include "health/meaning.h"

#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { COMM_BYTES_MAX = 15 };

/* What follows the name, in Linux 4.18 to 6.12. */
static const char *const places[] = {
    " (4711): /proc/4711/oom_adj is deprecated, please use /proc/4711/oom_score_adj instead.",
    ("(4711): Attempt to set a LOCK_MAND lock via flock(2). This support has been removed and the request "
     "ignored."),
    "[4711]: segfault at 0 ip 0000000000401136 sp 00007ffd12345678 error 4 in train[401000+1000]",
    "[4711]: segfault (11) at 0 nip 10000 lr 20000 code 1 in train[10000+1000]",
    ("[4711]: unhandled exception: DABT (lower EL), ESR 0x92000004, level 0 translation fault in "
     "train[400000+1000]"),
    "[4711]: unhandled signal 11 code 0x1 at 0x0000000000000000 in train[10000+1000]",
    "[4711] bad frame in rt_sigreturn frame:00000000f00ba5 ip:401136 sp:7ffd orax:ffffffffffffffff",
    "[4711] vsyscall attempted with vsyscall=none ip:ffffffffff600000 cs:33 sp:7ffd ax:0 si:0 di:0",
    "[4711] trap invalid opcode ip:401136 sp:7ffd12345678 error:0 in train[401000+1000]",
    "[4711]: bad usage of an ISA extension",
    "/4711: potentially unexpected fatal signal 11.",
    "/4711 took a split_lock trap at address: 0x401136",
    " (4711) used greatest stack depth: 11224 bytes left",
    "(4711) uses deprecated remap_file_pages() syscall. See Documentation/mm/remap_file_pages.rst.",
    " (4711): attempted to duplicate a private mapping with mremap.  This is not supported.",
    " (4711): Using mlock ulimits for SHM_HUGETLB is obsolete",
    " (4711): drop_caches: 3",
    " (4711) is using the deprecated ioctl",
    " uses obsolete (PF_INET,SOCK_PACKET)",
    (" invoked oom-killer: gfp_mask=0x140dca(GFP_HIGHUSER_MOVABLE|__GFP_COMP|__GFP_ZERO), order=0, "
     "oom_score_adj=0"),
    ": page allocation failure: order:4, mode:0x40dc0(GFP_KERNEL|__GFP_COMP|__GFP_ZERO), nodemask=(null)",
    (": vmalloc error: size 4096, failed to allocate pages, mode:0xdc2(GFP_KERNEL|__GFP_HIGHMEM), "
     "nodemask=(null)"),
    ": attempt to access beyond end of device",
};

static void parse_nothing(struct meanings **all)
{
    *all = meanings_parse("meanings.conf", "", 0, NULL);
    assert_non_null(*all);
}

/* Nothing that isolates a node by this line alone. */
static void is_harmless(const struct meanings *all, const char *line)
{
    struct finding f;
    struct meaning m;
    if (!meaning_of(all, line, false, &f, &m) || m.blame != BLAME_NODE || m.taint ||
        f.result < RESULT_DEGRADED)
        return;
    print_error("\"%s\" is %s: %s\n", line, f.code, m.what);
    fail();
}

/* One line of the pattern: the wildcards stand for `fill`. */
static void instance(const char *pattern, const char *fill, char *out, size_t size)
{
    size_t n = 0;
    for (const char *p = pattern; *p && n + 8 < size;) {
        bool device = strncmp(p, "<dev>", 5) == 0;
        const char *piece = device ? "sda" : *p == '#' ? "1" : *p == '*' ? fill : NULL;
        n += piece ? (size_t)snprintf(out + n, size - n, "%s", piece) : 1;
        if (!piece)
            out[n - 1] = *p;
        p += device ? 5 : 1;
    }
    out[n] = '\0';
}

/* Every beginning of it that fits into a name, at every place. */
static void try_names(const struct meanings *all, const char *line)
{
    for (size_t len = 0; len <= COMM_BYTES_MAX && len <= strlen(line); len++) {
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            char said[512];
            snprintf(said, sizeof said, "%.*s%s", (int)len, line, places[i]);
            is_harmless(all, said);
        }
    }
}

static const char *const patterns[] = {
#define KERNEL(code, kind, pattern, act, result, blame, what, source) pattern,
#define KERNEL_XID(number, pattern, source) pattern,
#include "health/kernel.tbl"
};

static void no_name_of_a_process_makes_a_line_of_the_kernels(void **state)
{
    struct meanings *all;
    parse_nothing(&all);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        static const char *const fills[] = {"", "x", "[#1]", "CPU"};
        for (size_t k = 0; k < sizeof fills / sizeof *fills; k++) {
            char line[512];
            instance(patterns[i], fills[k], line, sizeof line);
            try_names(all, line);
        }
    }
    static const char *const more[] = {"NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.",
                                       "nvidia-nvswitch0: SXid (PCI:0000:9b:00): 12020, Fatal, Link 1",
                                       "Oops: 1[#1] SMP", "Oops:[1] SMP x"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        try_names(all, more[i]);
    meanings_destroy(all);
}

static void expect(const struct meanings *all, const char *line, const char *code)
{
    struct finding f;
    struct meaning m;
    bool means = meaning_of(all, line, false, &f, &m);
    assert_string_equal(means ? f.code : "", code);
}

static void a_line_of_a_process_is_known_by_its_number(void **state)
{
    struct meanings *all =
        meanings_parse("meanings.conf",
                       "Line=\"mydriver(0): link dead on <dev>\" Code=my.link Act=reset\nLine=\"mydriver*is "
                       "dead\" Code=my.dead Act=reset\n",
                       strlen("Line=\"mydriver(0): link dead on <dev>\" Code=my.link "
                              "Act=reset\nLine=\"mydriver*is dead\" Code=my.dead Act=reset\n"),
                       NULL);
    assert_non_null(all);
    expect(all, "mydriver(0): link dead on p0", "my.link"); /* its words go on behind the number */
    expect(all, "mydriver: port 0 is dead", "my.dead");
    expect(all, "mydriver(0): port 0 is dead", ""); /* a process may have that name */
    expect(all, "mydriver[7]: port 0 is dead", "");
    expect(all, "mydriver/7: port 0 is dead", "");
    expect(all, "Oops: [1] (4711): whatever", "");
    meanings_destroy(all);
}

static void a_process_that_waits_is_named(void **state)
{
    assert_int_equal(meaning_waits("INFO: task kworker/1:2:71 blocked for more than 120 seconds."), 71);
    assert_int_equal(
        meaning_waits("INFO: task a:9 blocked for more than 1 blocked for more than 120 seconds."), 0);
    assert_int_equal(meaning_waits("INFO: task train:4711 blocked for more than 120 seconds."), 4711);
    assert_int_equal(meaning_waits("INFO: task train blocked for more than 120 seconds."), 0);
    assert_int_equal(meaning_waits("INFO: task train:4711"), 0);
    assert_int_equal(meaning_pid("INFO: task train:4711 blocked for more than 120 seconds."), 4711);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_name_of_a_process_makes_a_line_of_the_kernels),
        cmocka_unit_test(a_line_of_a_process_is_known_by_its_number),
        cmocka_unit_test(a_process_that_waits_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
