/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/apart.h"

#include "probe/keeper.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    KILLED_MS = 200,              /* killed processes that are not gone by then are left to the kernel */
    NOTES_BYTES_MAX = 4 << 20,    /* that one child says */
    NOTE_LINE_BYTES_MAX = 8 << 10 /* more than a value has */
};

static int apart_judge(int status, struct err *e)
{
    if (WIFSIGNALED(status))
        return err_set(e, -EIO, "ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return WEXITSTATUS(status) ? err_set(e, -EIO, "exit status %d", WEXITSTATUS(status)) : 0;
}

int apart_run(int keep, struct span deadline, size_t limit_bytes, apart_fn *work, void *arg, struct text *out,
              struct err *e)
{
    const struct keeper_job job = {
        .work = work,
        .arg = arg,
        .keep = keep,
        .until = mono_add(mono_now(), deadline),
        .timeout = span_ms(KILLED_MS),
        .bytes_max = limit_bytes,
    };
    char time[32];
    int status = 0, r = keeper_run(&job, out, &status, e);
    if (r == -ETIMEDOUT)
        return err_set(e, r, "no answer within %s", span_format(deadline, time));
    return r ? r : apart_judge(status, e);
}

/* --- notes in lines ----------------------------------------------------------------------------- */

static const char SIGNS[] = {[COMPONENT_VALUE] = '=', [COMPONENT_ABSENT] = '-', [COMPONENT_UNKNOWN] = '?'};

void apart_say(const char *name, enum component_state state, const char *value)
{
    CLEANUP_TEXT struct text line = {0};
    text_add(&line, value);
    notes_squeeze(&line);
    CLEANUP_FREE char *squeezed = text_take(&line);
    text_printf(&line, "%s%c%s\n", name, SIGNS[state], squeezed);
    const char *p = line.s;
    for (size_t left = line.len; left > 0;) {
        ssize_t n = write(1, p, left);
        if (n < 0 && errno != EINTR)
            _exit(125);
        p += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
}

static void take_line(char *line, struct notes *into)
{
    char *sign = strpbrk(line, "=-?");
    if (!sign || sign == line)
        return;
    enum component_state state = COMPONENT_VALUE;
    while (SIGNS[state] != *sign)
        state++;
    *sign = '\0';
    if (state == COMPONENT_ABSENT)
        notes_absent(into, "%s", line);
    else if (state == COMPONENT_VALUE)
        notes_value(into, sign + 1, "%s", line);
    else
        notes_unknown(into, sign[1] ? sign + 1 : "no reason was given", "%s", line);
}

void apart_take(const struct text *said, struct notes *into)
{
    for (size_t from = 0; from < said->len;) {
        const char *end = memchr(said->s + from, '\n', said->len - from);
        size_t len = end ? (size_t)(end - said->s) - from : 0;
        if (!end)
            return;
        if (len < NOTE_LINE_BYTES_MAX && !memchr(said->s + from, '\0', len)) {
            CLEANUP_FREE char *line = mem_dup_len(said->s + from, len);
            take_line(line, into);
        }
        from += len + 1;
    }
}

void apart_notes(int keep, struct span deadline, apart_fn *work, void *arg, struct notes *into,
                 struct err *why)
{
    CLEANUP_TEXT struct text said = {0};
    if (apart_run(keep, deadline, NOTES_BYTES_MAX, work, arg, &said, why) == 0)
        err_set(why, -ENODATA, "there is no result");
    apart_take(&said, into);
}
