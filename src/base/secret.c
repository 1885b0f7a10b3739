/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret.h"

#include "base/private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

static ssize_t file_read(const char *path, char *bytes, size_t size, struct err *e)
{
    int fd = private_open(path, e);
    if (fd < 0)
        return fd;
    ssize_t n = read(fd, bytes, size);
    int error = errno;
    close(fd);
    return n < 0 ? err_set(e, -error, "%s: %s", path, strerror(error)) : n;
}

int secret_read(const char *path, struct text *out, struct err *e)
{
    assert(path && out);
    char bytes[SECRET_BYTES_MAX + 1];
    ssize_t n = file_read(path, bytes, sizeof bytes, e);
    if (n < 0)
        return (int)n;
    size_t len = 0;
    while (len < (size_t)n && bytes[len] != '\n' && bytes[len] != '\r')
        len++;
    if (len == 0 || len > SECRET_BYTES_MAX || memchr(bytes, '\0', len))
        return err_set(e, -EINVAL, "%s: its first line is no password of 1 to %d bytes", path,
                       SECRET_BYTES_MAX);
    text_add_bytes(out, bytes, len);
    return 0;
}

/* The length of a name with "=@/" behind it; 0 for any other word. */
static size_t name_length(const char *word)
{
    size_t n = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") > 0 ? strspn(word, NAME_BYTES) : 0;
    return n > 0 && strncmp(word + n, "=@/", 3) == 0 ? n : 0;
}

int secrets_take(const char *command, struct secrets *out, const char **rest, struct err *e)
{
    assert(command && out && rest);
    size_t n = 0, name;
    command += strspn(command, " \t");
    while ((name = name_length(command)) > 0) {
        struct text word = {0};
        const char *at = command + name + 2;
        size_t len = strcspn(at, " \t");
        CLEANUP_FREE char *path = mem_dup_len(at, len);
        if (n == SECRETS_MAX)
            return err_set(e, -E2BIG, "more than %d secrets for one command", SECRETS_MAX);
        text_add_bytes(&word, command, name + 1);
        int rc = secret_read(path, &word, e);
        out->set[n++] = text_take(&word);
        if (rc < 0)
            return rc;
        command = at + len + strspn(at + len, " \t");
    }
    *rest = command;
    return 0;
}

void secrets_fini(struct secrets *s)
{
    for (size_t i = 0; i < SECRETS_MAX; i++)
        free(s->set[i]);
    *s = (struct secrets){0};
}
