/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/tree_test.h"

#include "base/text.h"
#include "probe/probe.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

int tree_setup(void **state)
{
    struct tree *t = mem_alloc(sizeof *t);
    snprintf(t->root, sizeof t->root, "/tmp/fettle-probe-XXXXXX");
    assert_non_null(mkdtemp(t->root));
    *state = t;
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    return remove(path);
}

int tree_teardown(void **state)
{
    struct tree *t = *state;
    int r = nftw(t->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(t);
    return r;
}

/* The path below the root, with the directories that lead to it made. */
static void make_path(const struct tree *t, const char *path, char out[static 512])
{
    int n = snprintf(out, 512, "%s/%s", t->root, path);
    assert_in_range(n, 1, 511);
    for (char *slash = out + strlen(t->root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(out, 0755);
        *slash = '/';
    }
}

void tree_add_bytes(struct tree *t, const char *path, const void *bytes, size_t n)
{
    char full[512];
    make_path(t, path, full);
    int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

void tree_add(struct tree *t, const char *path, const char *text)
{
    char full[512];
    make_path(t, path, full);
    char *last = full + strlen(full) - 1;
    if (*last == '@') {
        *last = '\0';
        assert_int_equal(symlink(text, full), 0);
    } else if (*last != '/') {
        tree_add_bytes(t, path, text, strlen(text));
    }
}

void tree_add_all(struct tree *t, const struct leaf *leaves, size_t n)
{
    for (size_t i = 0; i < n; i++)
        tree_add(t, leaves[i].path, leaves[i].text);
}

json_t *tree_inventory(const struct tree *t)
{
    json_t *inventory = NULL;
    struct err e = {0};
    int r = probe_inventory(t->root, "/tmp", &inventory, &e);
    if (r < 0)
        fail_msg("%s", e.msg);
    return inventory;
}

void tree_expect(const struct tree *t, const char *key, const char *json)
{
    CLEANUP_JSON json_t *inventory = tree_inventory(t);
    const json_t *value = json_object_get(inventory, key);
    if (!json) {
        assert_null(value);
        return;
    }
    CLEANUP_FREE char *want = mem_dup(json);
    for (char *p = want; (p = strchr(p, '\'')); p++)
        *p = '"';
    if (!value)
        fail_msg("no %s in the inventory", key);
    CLEANUP_FREE char *have = json_write(value);
    assert_string_equal(have, want);
}
