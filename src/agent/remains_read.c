/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/remains_read.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <utmp.h>

/* --- pstore ----------------------------------------------------------------------------------- */

enum { KMSG_LINE_BYTES_MAX = 1024 };

/* "<0>[   12.345678] Kernel panic - ..." without what stands before the message. */
static const char *message_of(const char *line)
{
    const char *end;
    if (*line == '<' && (end = strchr(line, '>')))
        line = end + 1;
    line += strspn(line, " ");
    if (*line == '[' && (end = strchr(line, ']')))
        line = end + 1;
    return line + strspn(line, " ");
}

/* Records of the kernel's log begin with the reason for which it was kept: "Panic#1 Part1". The newest part
 * comes first, and a panic's own line stands in it. */
bool remains_panic(const char *bytes, size_t len, char line[static REMAINS_LINE_BYTES_MAX])
{
    static const char head[] = "Panic#", says[] = "Kernel panic - not syncing";
    bool found = false;
    *line = '\0';
    for (size_t at = 0; at < len;) {
        char one[KMSG_LINE_BYTES_MAX];
        const char *end = memchr(bytes + at, '\n', len - at);
        size_t n = end ? (size_t)(end - bytes) - at : len - at;
        snprintf(one, sizeof one, "%.*s", (int)(n < sizeof one ? n : sizeof one - 1), bytes + at);
        const char *message = message_of(one);
        bool is_line = strncmp(message, says, sizeof says - 1) == 0;
        found = found || is_line || strncmp(one, head, sizeof head - 1) == 0;
        if (is_line && !*line)
            text_line(line, REMAINS_LINE_BYTES_MAX, message);
        at += n + 1;
    }
    return found;
}

/* --- wtmp ------------------------------------------------------------------------------------- */

enum { CLOCK_OFF_S = 3600 }; /* a clock may have been set since the boot was noted */

static bool is_shutdown(const struct utmp *u)
{
    return u->ut_type == RUN_LVL && strncmp(u->ut_user, "shutdown", sizeof u->ut_user) == 0;
}

void remains_wtmp(const char *bytes, size_t len, int64_t boot_s, struct remains_wtmp *out)
{
    int64_t began_s = 0, before_s = 0;
    bool orderly = false, shut = false;
    *out = (struct remains_wtmp){0};
    for (size_t at = 0; at + sizeof(struct utmp) <= len; at += sizeof(struct utmp)) {
        struct utmp u;
        memcpy(&u, bytes + at, sizeof u);
        shut = shut || is_shutdown(&u);
        if (u.ut_type != BOOT_TIME)
            continue;
        before_s = began_s;
        began_s = u.ut_tv.tv_sec;
        orderly = shut;
        shut = false;
    }
    int64_t off_s = began_s > boot_s ? began_s - boot_s : boot_s - began_s;
    if (!before_s || off_s > CLOCK_OFF_S)
        return;
    *out = (struct remains_wtmp){true, orderly, before_s};
}

/* --- the journal ------------------------------------------------------------------------------ */

/* systemd's identifiers of messages: the machine is about to go down (logind), the journal ends. */
static const char *const ends[] = {"98268866d1d54a499c4e98921d93bc40", "d93fb3c9c24d451a97cea615ce59c00b"};
/* Units that are started when the machine goes down, and at no other time. */
static const char *const targets[] = {"shutdown.target", "umount.target", "final.target", "reboot.target",
                                      "poweroff.target", "halt.target",   "kexec.target"};

static bool is_one_of(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}

static void take_entry(const json_t *entry, struct remains_journal *out)
{
    const char *message = json_text(entry, "MESSAGE");
    out->known = true;
    out->is_orderly |= is_one_of(json_text(entry, "MESSAGE_ID"), ends, sizeof ends / sizeof *ends) ||
                       is_one_of(json_text(entry, "UNIT"), targets, sizeof targets / sizeof *targets);
    if (*message)
        text_line(out->last, sizeof out->last, message);
}

void remains_journal(const char *bytes, size_t len, struct remains_journal *out)
{
    *out = (struct remains_journal){0};
    for (size_t at = 0; at < len;) {
        const char *end = memchr(bytes + at, '\n', len - at);
        size_t n = end ? (size_t)(end - bytes) - at : len - at;
        CLEANUP_JSON json_t *entry = n ? json_read(bytes + at, n, NULL) : NULL;
        if (json_is_object(entry))
            take_entry(entry, out);
        at += n + 1;
    }
}

/* --- the BMC ---------------------------------------------------------------------------------- */

enum ended remains_restart_cause(uint8_t cause)
{
    switch (cause & 0x0f) {
    case 0x1: /* a command to the chassis */
    case 0x2: /* buttons */
    case 0x3:
    case 0x8: /* a filter of the BMC's own events */
    case 0x9: return ENDED_OUTSIDE;
    case 0x4: return ENDED_WATCHDOG;
    case 0x6: /* the power came back */
    case 0x7: return ENDED_POWER;
    default: return ENDED_UNKNOWN;
    }
}

/* --- together --------------------------------------------------------------------------------- */

void remains_judge(const struct remains *r, struct last_boot *out)
{
    bool orderly = (r->wtmp.known && r->wtmp.is_orderly) || (r->journal.known && r->journal.is_orderly);
    CLEANUP_TEXT struct text t = {0};
    *out = (struct last_boot){.known = true};
    out->ended = r->panicked || *r->dump ? ENDED_PANIC
                 : orderly               ? ENDED_ORDERLY
                 : r->watchdog           ? ENDED_WATCHDOG
                                         : r->cause;
    text_add(&t, "");
    if (*r->panic)
        text_add(&t, r->panic);
    if (*r->dump)
        text_printf(&t, "%sa crash dump lies in /var/crash/%s", t.len ? "; " : "", r->dump);
    if (out->ended != ENDED_PANIC && out->ended != ENDED_ORDERLY && *r->journal.last)
        text_printf(&t, "the journal ends with: %s", r->journal.last);
    text_line(out->text, sizeof out->text, t.s);
}
