/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/apart.h"
#include "survey/part.h"

#include "base/digest.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The named files are read in a child process, because one may lie on a server that does not answer. When a
 * child is killed at a file, the next child goes on behind it. After a few children the remaining files are
 * unknown.
 */

enum { FILE_BYTES_MAX = 64 << 20 };

struct job {
    int root;
    const struct hostlist *files;
    size_t next;
};

static void file_say(size_t i, enum component_state state, const char *value)
{
    char name[24];
    snprintf(name, sizeof name, "%zu", i);
    apart_say(name, state, value);
}

static void say_error(size_t i, int code)
{
    if (code == -ENOENT || code == -ENOTDIR)
        file_say(i, COMPONENT_ABSENT, "");
    else
        file_say(i, COMPONENT_UNKNOWN, code == -EFBIG ? "the file has more than 64 MiB" : strerror(-code));
}

static const char *no_file(mode_t mode)
{
    if (S_ISDIR(mode))
        return "a directory, not a file";
    if (S_ISFIFO(mode))
        return "a pipe, not a file";
    return S_ISSOCK(mode) ? "a socket, not a file" : "a device, not a file";
}

static void say_file(const struct job *j, size_t i)
{
    assert(j->files->names[i][0] == '/' && "the configuration takes absolute paths alone");
    const char *path = j->files->names[i] + 1; /* below root */
    CLEANUP_TEXT struct text content = {0};
    struct stat st;
    if (fstatat(j->root, path, &st, 0) < 0) {
        say_error(i, -errno);
        return;
    }
    if (!S_ISREG(st.st_mode)) {
        file_say(i, COMPONENT_UNKNOWN, no_file(st.st_mode));
        return;
    }
    int r = notes_read(j->root, path, FILE_BYTES_MAX, &content);
    if (r < 0) {
        say_error(i, r);
        return;
    }
    char hex[65], value[192];
    snprintf(value, sizeof value, "sha256:%s %zu %04o %u:%u", digest_sha256(content.s, content.len, hex),
             content.len, st.st_mode & 07777, st.st_uid, st.st_gid);
    file_say(i, COMPONENT_VALUE, value);
}

static void say_files(void *job)
{
    const struct job *j = job;
    for (size_t i = j->next; i < j->files->n; i++)
        say_file(j, i);
}

static void note_rest(struct notes *n, struct job *j)
{
    for (; j->next < j->files->n; j->next++)
        notes_unknown(n, "not tried, because files before it gave no answer", "file.%s",
                      j->files->names[j->next]);
}

/* Takes the child's report on the files from j->next on, and moves j->next behind the file at which the
 * child ended. */
static void note_said(struct notes *n, struct job *j, const struct notes *said, const char *why)
{
    for (size_t i = 0; j->next < j->files->n && i < said->n; i++) {
        const char *path = j->files->names[j->next++];
        notes_expect(n, said, said->list[i].name, why, "file.%s", path);
    }
    if (j->next < j->files->n)
        notes_unknown(n, why, "file.%s", j->files->names[j->next++]);
}

void file_read(const struct reading *r, struct notes *n)
{
    struct job j = {.root = r->root, .files = &r->conf->files};
    for (int tries = 0; tries < FILES_HUNG_MAX && j.next < j.files->n; tries++) {
        CLEANUP_NOTES struct notes said = {0};
        struct err why = {0};
        apart_notes(r->root, reading_timeout(r, FILES_MS_MAX), say_files, &j, &said, &why);
        note_said(n, &j, &said, why.msg);
    }
    note_rest(n, &j);
    if (r->conf->files.n >= CONF_NAMED_MAX)
        notes_unknown(n, "too many are named", "file.*");
}
