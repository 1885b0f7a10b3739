/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/apart.h"
#include "survey/part.h"

#include "probe/shell.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Commands of the node's administrator: each by a shell of its own. */

static void command_run(void *command)
{
    const struct survey_command *c = command;
    shell_become(c->run);
}

static bool command_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* White space at the ends goes; lines stay lines. */
static void command_trim(struct text *t)
{
    size_t from = 0;
    while (t->len > 0 && command_blank(t->s[t->len - 1]))
        t->len--;
    while (from < t->len && command_blank(t->s[from]))
        from++;
    t->len -= from;
    if (t->s) {
        memmove(t->s, t->s + from, t->len);
        t->s[t->len] = '\0';
    }
}

static void note_command(struct notes *n, struct survey_command *c)
{
    CLEANUP_TEXT struct text said = {0};
    struct err e = {0};
    int r = apart_run(-1, span_ms(c->deadline_ms), COMPONENT_VALUE_BYTES_MAX, command_run, c, &said, &e);
    command_trim(&said);
    if (r < 0)
        notes_unknown(n, e.msg, "command.%s", c->name);
    else if (said.len && memchr(said.s, '\0', said.len))
        notes_unknown(n, "it printed a zero byte", "command.%s", c->name);
    else
        notes_value(n, said.s ? said.s : "", "command.%s", c->name);
}

void command_read(const struct reading *r, struct notes *n)
{
    for (size_t i = 0; i < r->conf->n_commands; i++)
        note_command(n, &r->conf->commands[i]);
}
