/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/page.h"

#include "cli/print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NO_PROGRAM = 127 };

static bool is_longer(const struct text *out, size_t lines)
{
    for (const char *s = out->s; lines > 0 && s && (s = strchr(s, '\n')); s++)
        lines--;
    return lines == 0;
}

static void become_pager(int from, const char *pager)
{
    dup2(from, STDIN_FILENO);
    close(from);
    setenv("LESS", "FRX", 0); /* ends for a short text, keeps colours and the screen */
    if (pager)
        execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
    else
        execlp("less", "less", (char *)NULL); /* no complaint when it is missing */
    _exit(NO_PROGRAM);
}

/* The reader may end before the text does. */
static void write_all(int to, const struct text *out)
{
    for (size_t at = 0; at < out->len;) {
        ssize_t n = write(to, out->s + at, out->len - at);
        if (n < 0 && errno != EINTR)
            break;
        at += n > 0 ? (size_t)n : 0;
    }
    close(to);
}

bool page_show(const struct text *out)
{
    const char *pager = getenv("PAGER");
    size_t height = print_height();
    int ends[2], status = 0;
    if ((pager && (!*pager || strcmp(pager, "cat") == 0)) || height == 0 || !is_longer(out, height) ||
        pipe(ends) < 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        become_pager(ends[0], pager);
    }
    close(ends[0]);
    if (child < 0) {
        close(ends[1]);
        return false;
    }
    write_all(ends[1], out);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return !(WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM);
}
