/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *const flag_names[] = {
#define FLAG(symbol, name, what) name,
#include "base/log.tbl"
#undef FLAG
};

static uint32_t flags_on;

/* The reader may hang, as the journal does when its disk hangs. The line is then lost; the daemon does not
 * wait. */
static void write_line(const struct text *line)
{
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (send(STDERR_FILENO, line->s, line->len, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno != ENOTSOCK)
        return;
    if (poll(&out, 1, 0) > 0 && write(STDERR_FILENO, line->s, line->len) < 0)
        return; /* there is nobody to tell */
}

static void log_put(int syslog_level, const char *word, const char *fmt, va_list ap)
{
    char line[2048];
    vsnprintf(line, sizeof line, fmt, ap);
    for (char *p = line; *p; p++) /* one event, one line, whatever a peer sent */
        if ((unsigned char)*p < 0x20)
            *p = ' ';
    CLEANUP_TEXT struct text whole = {0};
    char at[32];
    if (getenv("JOURNAL_STREAM"))
        text_printf(&whole, "<%d>%s\n", syslog_level, line);
    else
        text_printf(&whole, "%s %-5s %s\n", wall_format(wall_now(), at), word, line);
    write_line(&whole);
}

#define LOG_AT(name, level)               \
    void log_##name(const char *fmt, ...) \
    {                                     \
        va_list ap;                       \
        va_start(ap, fmt);                \
        log_put(level, #name, fmt, ap);   \
        va_end(ap);                       \
    }
LOG_AT(error, 3)
LOG_AT(warn, 4)
LOG_AT(info, 6)

void log_debug(enum log_flag flag, const char *fmt, ...)
{
    if (!(flags_on & UINT32_C(1) << flag))
        return;
    va_list ap;
    va_start(ap, fmt);
    log_put(7, "debug", fmt, ap);
    va_end(ap);
}

int log_parse_flags(const char *list, uint32_t *mask, struct err *e)
{
    CLEANUP_FREE char *copy = mem_dup(list);
    uint32_t found = 0;
    char *rest = copy;
    for (char *name; (name = strsep(&rest, ","));) {
        name += strspn(name, " \t");
        name[strcspn(name, " \t")] = '\0';
        if (*name == '\0' && copy[0] == '\0')
            break;
        size_t i = 0;
        while (i < LOG_FLAGS && strcmp(flag_names[i], name) != 0)
            i++;
        if (i == LOG_FLAGS) {
            const char *near = text_nearest(name, flag_names, LOG_FLAGS);
            return err_set(e, -EINVAL, "unknown debug flag \"%s\"%s%s%s", name,
                           near ? "; the nearest known is \"" : "", near ? near : "", near ? "\"" : "");
        }
        found |= UINT32_C(1) << i;
    }
    *mask = found;
    return 0;
}

void log_set_flags(uint32_t mask)
{
    flags_on = mask;
}
