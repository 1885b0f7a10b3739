/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/shape.h"

#include <errno.h>
#include <string.h>

enum { WORDS_MAX = 12 };

static int check(const char *const *words, bool *changes, struct err *e)
{
    size_t n = 0;
    while (words[n])
        n++;
    return shape_check(words, n, changes, e);
}

/* All that the driver calls (src/driver/slurm*.c). */
static void test_calls_of_the_driver_are_let_through(void **state)
{
    static const struct {
        bool changes;
        const char *words[WORDS_MAX];
    } cases[] = {
        {false, {"scontrol", "show", "config"}},
        {false, {"scontrol", "-o", "-a", "show", "node"}},
        {false, {"scontrol", "-o", "-a", "show", "node", "gx[001-016,020],lx-a_1.b"}},
        {false, {"scontrol", "-o", "-a", "show", "reservation"}},
        {false,
         {"squeue", "--noheader", "--states=RUNNING,SUSPENDED,CONFIGURING", "--nodelist=n1",
          "--format=%A %u %N"}},
        {true,
         {"scontrol", "update", "NodeName=n[1-2]",
          "Reason=fettle/0123/op-1 [node_problem] /scratch: \"gone\"", "State=DRAIN"}},
        {true, {"scontrol", "update", "NodeName=n1", "Reason=-", "State=UNDRAIN"}},
        {true, {"scontrol", "update", "NodeName=n1", "Reason=", "State=FAIL"}},
        {true, {"scontrol", "update", "NodeName=n1", "Reason=Not responding"}},
        {true,
         {"scontrol", "update", "NodeName=n1", "AvailableFeatures=a,b", "ActiveFeatures=", "Weight=1001"}},
        {true, {"scontrol", "update", "NodeName=n1", "AvailableFeatures=a,b", "ActiveFeatures=a"}},
        {true,
         {"scontrol", "create", "reservation", "ReservationName=suspicious-node-n1.0123", "Nodes=n1",
          "Users=root", "Flags=MAINT,IGNORE_JOBS,NO_HOLD_JOBS_AFTER", "StartTime=now", "Duration=infinite"}},
        {true, {"scontrol", "delete", "ReservationName=suspicious-node-n1.0123"}},
        {true, {"scontrol", "requeue", "12,13_4"}},
        {true, {"scancel", "12"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e = {0};
        bool changes = !cases[i].changes;
        assert_int_equal(check(cases[i].words, &changes, &e), 0);
        assert_int_equal(changes, cases[i].changes);
    }
}

static void test_all_else_is_refused(void **state)
{
    static const struct {
        const char *words[WORDS_MAX];
        const char *why;
    } cases[] = {
        {{"scontrol", "shutdown"}, "no call of Slurm has \"shutdown\" as word 2"},
        {{"/bin/sh", "-c", "id"}, "no call of Slurm has \"/bin/sh\" as word 1"},
        {{"sbatch", "x"}, "no call of Slurm has \"sbatch\" as word 1"},
        {{"scontrol", "show"}, "no call of Slurm ends so"},
        {{"scontrol", "show", "config", "x"}, "no call of Slurm has \"x\" as word 4"},
        {{"scontrol", "-o", "-a", "show", "node", "-M"}, "no call of Slurm has \"-M\" as word 6"},
        {{"scontrol", "-o", "-a", "show", "node", ""}, "no call of Slurm has \"\" as word 6"},
        {{"scontrol", "-o", "-a", "show", "node", "../n1"}, "no call of Slurm has \"../n1\" as word 6"},
        {{"scontrol", "update", "NodeName=n1 State=DOWN"},
         "no call of Slurm has \"NodeName=n1 State=DOWN\" as word 3"},
        {{"scontrol", "update", "NodeName=n1", "Reason=x", "State=DOWN"},
         "no call of Slurm has \"State=DOWN\" as word 5"},
        {{"scontrol", "update", "JobId=12"}, "no call of Slurm has \"JobId=12\" as word 3"},
        {{"scontrol", "update", "NodeName=n1", "AvailableFeatures=a b"},
         "no call of Slurm has \"AvailableFeatures=a b\" as word 4"},
        {{"scontrol", "delete", "ReservationName=theirs"},
         "no call of Slurm has \"ReservationName=theirs\" as word 3"},
        {{"scancel", "-u"}, "no call of Slurm has \"-u\" as word 2"},
        {{"scancel", "12 13"}, "no call of Slurm has \"12 13\" as word 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e = {0};
        bool changes;
        assert_int_equal(check(cases[i].words, &changes, &e), -EPERM);
        assert_string_equal(e.msg, cases[i].why);
    }
}

static void test_words_have_a_length(void **state)
{
    char text[610];
    const char *const words[] = {"scontrol", "update", "NodeName=n1", text, NULL};
    bool changes;
    memset(text, 'x', sizeof text);
    memcpy(text, "Reason=", 7);
    text[7 + 600] = '\0';
    assert_int_equal(check(words, &changes, NULL), 0);
    text[7 + 600] = 'x';
    text[7 + 601] = '\0';
    assert_int_equal(check(words, &changes, NULL), -EPERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_of_the_driver_are_let_through),
        cmocka_unit_test(test_all_else_is_refused),
        cmocka_unit_test(test_words_have_a_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
