/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the completion for bash, from the table of commands and the fields. Names of nodes are
 * asked of the controller, with a short time limit.
 */
#include "cli/command.h"
#include "cli/field.h"

#include <stdio.h>
#include <string.h>

/* The words that may stand first, or second behind `first`, each once. */
static void print_words(const char *first)
{
    const char *before = "";
    size_t before_len = 0;
    for (size_t i = 0; i < commands_n; i++) {
        const char *path = commands[i].path;
        size_t len = strcspn(path, " ");
        if (first) {
            if (path[len] && strlen(first) == len && strncmp(path, first, len) == 0)
                printf(" %s", path + len + 1);
        } else if (len != before_len || strncmp(path, before, len) != 0) {
            printf(" %.*s", (int)len, path);
        }
        before = path;
        before_len = len;
    }
}

static void print_seconds(void)
{
    const char *before = "";
    size_t before_len = 0;
    for (size_t i = 0; i < commands_n; i++) {
        size_t len = strcspn(commands[i].path, " ");
        if (commands[i].path[len] && (len != before_len || strncmp(commands[i].path, before, len) != 0)) {
            char first[64];
            snprintf(first, sizeof first, "%.*s", (int)len, commands[i].path);
            printf("        %s) words=\"", first);
            print_words(first);
            printf("\" ;;\n");
        }
        before = commands[i].path;
        before_len = len;
    }
}

static void print_options(uint32_t mask)
{
    for (size_t o = 0; o < OPTIONS; o++)
        if (mask & UINT32_C(1) << o)
            printf(" --%s", option_info((enum option)o)->name);
}

static uint32_t common_options(void)
{
    uint32_t mask = 0;
    for (size_t i = 0; i < commands_n; i++)
        mask |= commands[i].options;
    return ~mask & ((UINT32_C(1) << OPTIONS) - 1);
}

static void print_options_of_commands(void)
{
    for (size_t i = 0; i < commands_n; i++) {
        printf("        \"%s\"%s) words=\"", commands[i].path, strchr(commands[i].path, ' ') ? "" : "*");
        print_options(commands[i].options | common_options());
        printf("\" ;;\n");
    }
}

static void print_commands_of_nodes(void)
{
    const char *bar = "";
    for (size_t i = 0; i < commands_n; i++) {
        if (!strstr(commands[i].arguments, "NODES"))
            continue;
        printf("%s\"%s\"%s", bar, commands[i].path, strchr(commands[i].path, ' ') ? "" : "*");
        bar = " | ";
    }
}

int main(void)
{
    printf("# Completion of fettle(1) for bash; made from the table of its commands.\n"
           "_fettle()\n{\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]-} words=\n"
           "    local path=\"${COMP_WORDS[1]-} ${COMP_WORDS[2]-}\"\n"
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
           "    elif (( COMP_CWORD == 1 )); then\n        words=\"");
    print_words(NULL);
    printf("\"\n    elif [[ $cur == -* ]]; then\n        case $path in\n");
    print_options_of_commands();
    printf("        esac\n    elif (( COMP_CWORD == 2 )) && [[ ${COMP_WORDS[1]} != help ]]; then\n"
           "        case ${COMP_WORDS[1]} in\n");
    print_seconds();
    printf("        esac\n    elif [[ ${COMP_WORDS[1]} == help ]] && (( COMP_CWORD == 2 )); then\n"
           "        words=\"");
    print_words(NULL);
    printf("\"\n    fi\n"
           "    case $path in\n    ");
    print_commands_of_nodes();
    printf(")\n        if [[ -z $words && $cur != -* ]]; then\n"
           "            words=$(fettle node list -H -o name --timeout 2s 2>/dev/null |\n"
           "                tr -cd 'A-Za-z0-9._\\n-') # compgen would expand what else may stand there\n"
           "        fi ;;\n"
           "    esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "}\n"
           "complete -F _fettle fettle\n");
    return fflush(stdout) != 0;
}
