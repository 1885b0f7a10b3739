/* SPDX-License-Identifier: Apache-2.0 */
/* fettle import: files of this machine become files of Fettle, all of them or none. What becomes of each line
 * is tested in src/import. */
#include "base/text.h"
#include "cli/run_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char SLURM[] =
    "NodeName=lx[01-02] CPUs=4 RealMemory=1000\nPartitionName=batch Nodes=lx[01-02]\n";

struct world {
    char dir[40]; /* without "_", which stands for a blank in a line */
};

static const char *const files[] = {"slurm.conf", "nhc.conf", "nodes.conf", "partitions.conf", "checks.conf"};

static char *path_in(const struct world *w, const char *name)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/%s", w->dir, name);
    return path;
}

static void write_file(const struct world *w, const char *name, const char *text)
{
    FILE *f = fopen(path_in(w, name), "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* What the file holds; "" when it is not there. */
static const char *read_file(const struct world *w, const char *name)
{
    static char text[4096];
    FILE *f = fopen(path_in(w, name), "r");
    text[f ? fread(text, 1, sizeof text - 1, f) : 0] = '\0';
    if (f)
        fclose(f);
    return text;
}

static struct run import(const struct world *w, const char *line)
{
    CLEANUP_TEXT struct text t = {0};
    for (const char *p = line; *p; p++) {
        if (*p == '@')
            text_add(&t, w->dir);
        else
            text_add_char(&t, *p);
    }
    return run(t.s, NULL);
}

static int setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    do {
        snprintf(w->dir, sizeof w->dir, "/tmp/fettle-import-XXXXXX");
        assert_non_null(mkdtemp(w->dir));
    } while (strchr(w->dir, '_') && rmdir(w->dir) == 0);
    write_file(w, "slurm.conf", SLURM);
    unsetenv("SLURM_CONF");
    *state = w;
    return 0;
}

/* Nothing is left behind but what was asked for: no draft. */
static int teardown(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(path_in(w, files[i]));
    assert_int_equal(rmdir(w->dir), 0);
    free(w);
    return 0;
}

static void test_it_prints_both_files(void **state)
{
    struct run r = import(*state, "import slurm @/slurm.conf");
    assert_int_equal(r.status, 0);
    assert_ptr_equal(strstr(r.out, "# --- nodes.conf\n"), r.out);
    assert_non_null(strstr(r.out, "\n# --- partitions.conf\n"));
    assert_true(strstr(r.out, "lx[01-02]") < strstr(r.out, "# --- partitions.conf"));
    assert_non_null(strstr(r.out, "batch"));
}

static void test_it_writes_into_a_directory(void **state)
{
    struct world *w = *state;
    struct stat st;
    char said[200];
    struct run r = import(w, "import slurm @/slurm.conf --dir @");
    assert_int_equal(r.status, 0);
    snprintf(said, sizeof said, "%s/nodes.conf\n%s/partitions.conf\n", w->dir, w->dir);
    assert_string_equal(r.out, said);
    assert_non_null(strstr(read_file(w, "nodes.conf"), "lx[01-02]"));
    assert_non_null(strstr(read_file(w, "partitions.conf"), "batch"));
    assert_int_equal(stat(path_in(w, "nodes.conf"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0644);
}

static void test_a_file_that_is_there_stays(void **state)
{
    struct world *w = *state;
    write_file(w, "partitions.conf", "mine\n");
    struct run r = import(w, "import slurm @/slurm.conf --dir @");
    assert_int_not_equal(r.status, 0);
    assert_non_null(strstr(r.error, "/partitions.conf is there already; --overwrite writes it anew"));
    assert_string_equal(read_file(w, "partitions.conf"), "mine\n");
    assert_string_equal(read_file(w, "nodes.conf"), ""); /* nor is the other one written */
}

static void test_overwrite_writes_it_anew(void **state)
{
    struct world *w = *state;
    write_file(w, "partitions.conf", "mine\n");
    struct run r = import(w, "import slurm @/slurm.conf --dir @ --overwrite");
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(read_file(w, "partitions.conf"), "batch"));
}

static void test_overwrite_wants_a_directory(void **state)
{
    struct run r = import(*state, "import slurm @/slurm.conf --overwrite");
    assert_int_not_equal(r.status, 0);
    assert_string_equal(r.error, "--overwrite goes with --dir");
}

static void test_a_directory_that_is_not_there(void **state)
{
    struct run r = import(*state, "import slurm @/slurm.conf --dir @/nowhere");
    assert_int_not_equal(r.status, 0);
    assert_non_null(strstr(r.error, "/nowhere/nodes.conf: No such file or directory"));
    assert_string_equal(r.out, "");
}

static void test_slurm_conf_of_the_environment(void **state)
{
    struct world *w = *state;
    setenv("SLURM_CONF", path_in(w, "slurm.conf"), 1);
    struct run r = import(w, "import slurm");
    unsetenv("SLURM_CONF");
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "batch"));
}

static void test_a_source_that_is_not_there(void **state)
{
    static const char *const lines[] = {"import slurm @/none.conf", "import nhc @/none.conf"};
    for (size_t i = 0; i < 2; i++) {
        struct run r = import(*state, lines[i]);
        assert_int_not_equal(r.status, 0);
        assert_non_null(strstr(r.error, "/none.conf: No such file or directory"));
    }
}

/* One file has no name before it. */
static void test_checks_of_nhc(void **state)
{
    struct world *w = *state;
    write_file(w, "nhc.conf", "* || check_fs_mount_rw -f /home\n");
    struct run r = import(w, "import nhc @/nhc.conf");
    assert_int_equal(r.status, 0);
    assert_null(strstr(r.out, "# --- "));
    assert_non_null(strstr(r.out, "/home"));
    r = import(w, "import nhc @/nhc.conf --dir @");
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(read_file(w, "checks.conf"), "/home"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_it_prints_both_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_it_writes_into_a_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_file_that_is_there_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(test_overwrite_writes_it_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(test_overwrite_wants_a_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_directory_that_is_not_there, setup, teardown),
        cmocka_unit_test_setup_teardown(test_slurm_conf_of_the_environment, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_source_that_is_not_there, setup, teardown),
        cmocka_unit_test_setup_teardown(test_checks_of_nhc, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
