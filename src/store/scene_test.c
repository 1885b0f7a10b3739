/* SPDX-License-Identifier: Apache-2.0 */
#include "store/scene_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* These stand before the C library's. */
unsigned int syncs;
int sync_errno;
bool sync_loses;
char *sync_moves;
const char *sync_away;
enum { FDS = 64 };
static off_t synced[FDS];

static off_t file_len(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? st.st_size : 0;
}

static int sync_counted(long call, int fd)
{
    syncs++;
    if (sync_errno) {
        if (sync_loses && fd < FDS && ftruncate(fd, synced[fd]) != 0)
            abort();
        errno = sync_errno;
        return -1;
    }
    if (sync_moves && rename(sync_moves, sync_away) == 0)
        free(STEAL(sync_moves));
    if (fd < FDS)
        synced[fd] = file_len(fd);
    return (int)syscall(call, fd);
}

int fsync(int fd)
{
    return sync_counted(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return sync_counted(SYS_fdatasync, fd);
}

int scene_start(void **state)
{
    struct scene *t = mem_alloc(sizeof *t);
    *state = t;
    t->dir = fixture_dir();
    t->store = fixture_open(t->dir);
    return store_campaign(t->store, &t->term, NULL);
}

int scene_end(void **state)
{
    struct scene *t = *state;
    sync_errno = 0;
    sync_loses = false;
    store_close(t->store);
    fixture_remove(t->dir);
    text_fini(&t->dump);
    free(t);
    return 0;
}

void scene_reopen(struct scene *t)
{
    store_close(t->store);
    t->store = fixture_open(t->dir);
}

int scene_put(struct scene *t, const char *key, const char *value)
{
    struct store_op op = {.key = key, .value = value};
    struct store_batch b = {.n_ops = 1, .ops = &op};
    return store_commit(t->store, t->term, &b, &t->revision, &t->e);
}

const char *scene_dump(struct scene *t)
{
    assert_int_equal(fixture_dump(t->store, &t->dump, &t->e), 0);
    return t->dump.s;
}

void scene_assert_says(const struct err *e, int code, const char *words)
{
    assert_int_equal(e->code, code);
    if (!strstr(e->msg, words))
        fail_msg("\"%s\" does not say \"%s\"", e->msg, words);
}
