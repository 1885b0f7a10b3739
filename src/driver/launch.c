/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child is made by posix_spawn, which copies nothing: fork of a controller with ten thousand connections
 * takes 8 to 16 ms for its page tables alone, and uv_spawn forks.
 */
#include "driver/launch.h"

#include "base/text.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool launch_names(const char *variable, const char *const *list)
{
    for (; list && *list; list++) {
        size_t n = strcspn(*list, "=");
        if (strncmp(variable, *list, n) == 0 && variable[n] == '=')
            return true;
    }
    return false;
}

/* This process's environment without the names that are set or unset, followed by those that are set. */
static char **make_environment(const char *const *set, const char *const *unset)
{
    size_t n = 0, m = 0;
    while (environ[n])
        n++;
    while (set && set[m])
        m++;
    char **all = mem_alloc((n + m + 1) * sizeof *all), **to = all;
    for (size_t i = 0; i < n; i++)
        if (!launch_names(environ[i], set) && !launch_names(environ[i], unset))
            *to++ = mem_dup(environ[i]);
    for (size_t i = 0; i < m; i++)
        *to++ = mem_dup(set[i]);
    return all;
}

static char **copy_list(const char *const *list)
{
    size_t n = 0;
    while (list[n])
        n++;
    char **copy = mem_alloc((n + 1) * sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = mem_dup(list[i]);
    return copy;
}

static void free_list(char **all)
{
    for (char **s = all; *s; s++)
        free(*s);
    free(all);
}

int launch_program(const char *const *argv, const char *const *set, const char *const *unset, int out,
                   int err, pid_t *pid)
{
    assert(argv && argv[0] && pid);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    char **args = copy_list(argv), **env = make_environment(set, unset);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    int rc = posix_spawnp(pid, args[0], &files, &attr, args, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    free_list(env);
    free_list(args);
    return -rc;
}
