/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/shell.h"

#include "base/secret.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OWN_MAX = 32 /* variables FETTLE_*; the agent sets a few */ };

static char usual_path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
static char home[] = "HOME=/", locale[] = "LC_ALL=C";

static bool shell_begins(const char *variable, const char *with)
{
    return strncmp(variable, with, strlen(with)) == 0;
}

static void exec_with(const char *program, char *const *arguments, const struct secrets *secrets)
{
    char *clean[3 + OWN_MAX + SECRETS_MAX + 1] = {usual_path, home, locale};
    size_t n = 3;
    for (char **v = environ; v && *v; v++) {
        if (shell_begins(*v, "PATH="))
            clean[0] = *v;
        if (shell_begins(*v, "FETTLE_") && n < 3 + OWN_MAX)
            clean[n++] = *v;
    }
    for (size_t i = 0; secrets->set[i]; i++)
        clean[n++] = secrets->set[i];
    umask(022);
    if (chdir("/") == 0)
        execve(program, arguments, clean);
}

void shell_exec(const char *program, char *const *arguments)
{
    exec_with(program, arguments, &(struct secrets){0});
}

_Noreturn static void become_shell(const char *command, const struct secrets *secrets)
{
    static char shell[] = "sh", flag[] = "-c";
    char *const arguments[] = {shell, flag, mem_dup(command), NULL};
    exec_with("/bin/sh", arguments, secrets);
    _exit(127);
}

void shell_become(const char *command)
{
    become_shell(command, &(struct secrets){0});
}

void shell_become_secretly(const char *command)
{
    struct secrets secrets = {0};
    struct err e = {0};
    const char *rest;
    if (secrets_take(command, &secrets, &rest, &e) == 0)
        become_shell(rest, &secrets);
    dprintf(STDOUT_FILENO, "%s\n", e.msg);
    _exit(SHELL_WITHOUT_SECRET);
}
