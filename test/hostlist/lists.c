/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hostlist.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * lists expand | lists fold: answers each line of standard input, a host list, with one line: its
 * names separated by blanks, or the folded list of the names that stand there separated by
 * blanks; "! SENTENCE" for a list that is refused.
 */

static void expand(const char *line)
{
    struct err e = {0};
    CLEANUP_HOSTLIST struct hostlist h = {0};
    if (hostlist_parse(line, &h, &e) < 0) {
        printf("! %s\n", e.msg);
        return;
    }
    for (size_t i = 0; i < h.n; i++)
        printf("%s%s", i ? " " : "", h.names[i]);
    putchar('\n');
}

static void fold(char *line)
{
    CLEANUP_HOSTLIST struct hostlist h = {0};
    for (char *name; (name = strsep(&line, " "));)
        if (*name)
            hostlist_add(&h, name);
    CLEANUP_FREE char *list = hostlist_fold((const char *const *)h.names, h.n);
    puts(list);
}

int main(int argc, char **argv)
{
    if (argc != 2 || (strcmp(argv[1], "expand") != 0 && strcmp(argv[1], "fold") != 0)) {
        fputs("usage: lists expand|fold\n", stderr);
        return 2;
    }
    CLEANUP_FREE char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; (n = getline(&line, &cap, stdin)) > 0;) {
        if (line[n - 1] == '\n')
            line[n - 1] = '\0';
        if (argv[1][0] == 'e')
            expand(line);
        else
            fold(line);
    }
    return 0;
}
