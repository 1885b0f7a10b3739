/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the completion for bash, from the table of commands and the fields. Names of nodes are
 * asked of the controller, with a short time limit.
 */
#include "cli/command.h"
#include "cli/field.h"

#include <stdio.h>
#include <string.h>

/* How long the first n words of the path are; 0 when it has fewer than n, or none behind them. */
static size_t prefix_of(const char *path, int n)
{
    size_t len = 0;
    for (int i = 0; i < n; i++) {
        len += strcspn(path + len, " ");
        if (path[len] == '\0')
            return 0;
        len++;
    }
    return len;
}

/* The words that may follow what is the beginning of `like`, each once. Commands with a word in common
 * stand together in the table. */
static void print_next(const char *like, size_t len)
{
    const char *before = "";
    size_t before_len = 0;
    for (size_t i = 0; i < commands_n; i++) {
        const char *next = commands[i].path + len;
        if (strncmp(commands[i].path, like, len) != 0)
            continue;
        size_t next_len = strcspn(next, " ");
        if (next_len != before_len || strncmp(next, before, next_len) != 0)
            printf(" %.*s", (int)next_len, next);
        before = next;
        before_len = next_len;
    }
}

/* A case for each beginning of a command that is n words long. */
static void print_beginnings(int n)
{
    const char *before = "";
    size_t before_len = 0;
    for (size_t i = 0; i < commands_n; i++) {
        const char *path = commands[i].path;
        size_t len = prefix_of(path, n);
        if (len == 0 || (len == before_len && strncmp(path, before, len) == 0))
            continue;
        printf("    \"%.*s\") words=\"", (int)len, path);
        print_next(path, len);
        printf("\" ;;\n");
        before = path;
        before_len = len;
    }
}

static void print_options(uint64_t mask)
{
    for (size_t o = 0; o < OPTIONS; o++)
        if (mask & UINT64_C(1) << o)
            printf(" --%s", option_info((enum option)o)->name);
}

static uint64_t common_options(void)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < commands_n; i++)
        mask |= commands[i].options;
    return ~mask & ((UINT64_C(1) << OPTIONS) - 1);
}

static void print_options_of_commands(void)
{
    for (size_t i = 0; i < commands_n; i++) {
        printf("        \"%s \"*) words=\"", commands[i].path);
        print_options(commands[i].options | common_options());
        printf("\" ;;\n");
    }
}

/* From which word of the call on it may be a node: behind the path, and behind a CHECK, a VERB or the like. 0
 * where only options name nodes. */
static int first_node(const struct command *k)
{
    const char *node = strstr(k->arguments, "NODE"), *option = strstr(k->arguments, "--");
    int words = 1;
    if (!node || (option && option < node))
        return 0;
    for (const char *p = k->path; *p; p++)
        words += *p == ' ';
    return words + 1 + (node > k->arguments + 1); /* "NODES" or "[NODES" */
}

static void print_commands_of_nodes(void)
{
    for (size_t i = 0; i < commands_n; i++)
        if (first_node(&commands[i]) > 0)
            printf("    \"%s \"*) first=%d ;;\n", commands[i].path, first_node(&commands[i]));
}

int main(void)
{
    printf("# Completion of fettle(1) for bash; made from the table of its commands.\n"
           "_fettle()\n{\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]-} words=\n"
           "    local path=\"${COMP_WORDS[*]:1:3} \" said=\"${COMP_WORDS[*]:1:COMP_CWORD-1}\"\n"
           "    COMPREPLY=()\n"
           "    case $prev in\n"
           "    --role) words=\"reader admin\" ;;\n"
           "    --cert | --key | --ca | -C | --controller) compopt -o default; return ;;\n"
           "    -o | --output | -s | --sort | --unset)\n        words=\"");
    for (size_t i = 0; i < FIELDS; i++)
        printf(" %s", field_info((enum field)i)->name);
    printf("\"\n        local had=\n"
           "        case $cur in *,*) had=${cur%%,*},; cur=${cur##*,} ;; esac\n"
           "        local field\n"
           "        for field in $words; do # in any case, as the tool takes them\n"
           "            [[ ${field,,} == \"${cur,,}\"* ]] && COMPREPLY+=(\"$had$field\")\n"
           "        done\n"
           "        compopt -o nospace\n        return ;;\n"
           "    esac\n"
           "    if [[ -n $words ]]; then\n        :\n"
           "    elif [[ $cur == -* ]]; then\n        case $path in\n");
    print_options_of_commands();
    printf("        esac\n    else\n        case \"${said#help}\" in\n        \"\") words=\"");
    print_next("", 0);
    printf("\" ;;\n        esac\n        case \"$said \" in\n");
    print_beginnings(1);
    print_beginnings(2);
    printf("        esac\n    fi\n"
           "    local first=99\n"
           "    case $path in\n");
    print_commands_of_nodes();
    printf("    esac\n"
           "    case $prev in --nodes | --to) first=0 ;; esac\n"
           "    if [[ -z $words && $cur != -* && $COMP_CWORD -ge $first ]]; then\n"
           "        words=$(fettle node list -H -o name --timeout 2s 2>/dev/null |\n"
           "            tr -cd 'A-Za-z0-9._\\n-') # compgen would expand what else may stand there\n"
           "    fi\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "}\n"
           "complete -F _fettle fettle\n");
    return fflush(stdout) != 0;
}
