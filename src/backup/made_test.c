/* SPDX-License-Identifier: Apache-2.0 */
#include "backup/made_test.h"

#include <dirent.h>

void made_put(struct made *t, const char *key)
{
    assert_int_equal(fixture_put(t->store, t->term, key, "{\"at\":\"1\"}", &t->revision, &t->e), 0);
}

static void made_file(const char *dir, const char *name, const char *text)
{
    CLEANUP_FREE char *path = fixture_path(dir, name);
    fixture_write(path, text, strlen(text));
}

int made_start(void **state)
{
    struct made *t = mem_alloc(sizeof *t);
    t->state = fixture_dir();
    t->shelf = fixture_dir();
    t->store = fixture_open(t->state);
    assert_int_equal(store_campaign(t->store, &t->term, &t->e), 0);
    made_put(t, "origin/" MADE_ORIGIN);
    made_file(t->state, "ca.pem", "the authority");
    made_file(t->state, "ca.key", "its key");
    *state = t;
    return 0;
}

int made_end(void **state)
{
    struct made *t = *state;
    store_close(t->store);
    fixture_remove(t->state);
    fixture_remove(t->shelf);
    free(t->path);
    free(t);
    return 0;
}

int made_begin(struct made *t, struct backup **b)
{
    struct store_copied copied = {0};
    int r = backup_begin(t->shelf, b, &t->e);
    while (!r && !copied.done)
        r = store_copy(t->store, backup_path(*b), &copied, &t->e);
    t->manifest = (struct manifest){.version = "0.1.0",
                                    .cluster = MADE_ORIGIN,
                                    .digest = "0123456789abcdef",
                                    .term = copied.term,
                                    .revision = copied.revision};
    return r;
}

int made_backup(struct made *t, int64_t second)
{
    struct backup *b = NULL;
    int r = made_begin(t, &b);
    t->manifest.at.ns = second * 1000000000;
    if (!r)
        r = backup_finish(b, t->state, &t->manifest, t->name, &t->e);
    backup_close(b);
    free(t->path);
    t->path = fixture_path(t->shelf, t->name);
    return r;
}

void made_says(const struct err *e, int code, const char *words)
{
    assert_int_equal(e->code, code);
    if (!strstr(e->msg, words))
        fail_msg("\"%s\" does not say \"%s\"", e->msg, words);
}

unsigned made_names(const char *dir)
{
    unsigned n = 0;
    DIR *list = opendir(dir);
    while (readdir(list))
        n++;
    closedir(list);
    return n - 2;
}
