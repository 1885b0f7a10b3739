/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IPMI over the network, by ipmitool. Most BMCs refuse "cycle" for a node that is off; it is switched on
 * then. The expected result of a command is polled until it is reached.
 */
#include "driver/power.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_LOOK, STEP_WATCHDOG, STEP_LOG, STEP_BOOTDEV, STEP_DO, STEP_VERIFY };
enum { LINE_BYTES = 80 };

static const char INTERLOCKED[] = "its power interlock is active: its chassis is open, or locked by hand";

static void ipmi_next(struct power *p);

/* The text after "KEY   : " in a line of its own; "" without. */
static void take_line(const char *text, const char *key, char out[static LINE_BYTES])
{
    size_t len = strlen(key);
    out[0] = '\0';
    for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL) {
        const char *at = strncmp(line, key, len) == 0 ? line + len : "";
        at += strspn(at, " ");
        if (*at++ != ':')
            continue;
        at += strspn(at, " ");
        snprintf(out, LINE_BYTES, "%.*s", (int)strcspn(at, "\r\n"), at);
        return;
    }
}

int ipmi_read_chassis(const char *text, bool *is_on, bool *is_locked, struct err *e)
{
    char power[LINE_BYTES], interlock[LINE_BYTES];
    take_line(text, "System Power", power);
    take_line(text, "Power Interlock", interlock);
    *is_on = strcmp(power, "on") == 0;
    *is_locked = strcmp(interlock, "active") == 0;
    if (*is_on || strcmp(power, "off") == 0)
        return 0;
    return err_set(e, -EPROTO, "ipmitool does not say whether the power is on");
}

/* The countdown is left out, because it changes each time. */
char *ipmi_read_watchdog(const char *text)
{
    char is[LINE_BYTES], action[LINE_BYTES], flags[LINE_BYTES];
    struct text t = {0};
    take_line(text, "Watchdog Timer Is", is);
    take_line(text, "Watchdog Timer Actions", action);
    if (!*action)
        take_line(text, "Watchdog Timer Action", action);
    take_line(text, "Timer Expiration Flags", flags);
    if (!*is)
        return NULL;
    text_add(&t, is);
    if (*action)
        text_printf(&t, ", action %s", action);
    if (*flags && strcmp(flags, "0x00") != 0 && strcmp(flags, "(0x00)") != 0 &&
        strncmp(flags, "None", 4) != 0)
        text_printf(&t, ", it expired: %s", flags);
    char *line = mem_line(t.s, 3 * LINE_BYTES);
    text_fini(&t);
    return line;
}

/* Optional parts of a look. A BMC that lacks them, or refuses them, says nothing about the node. */
static void take_more(struct power *p, const char *said)
{
    if (p->step == STEP_WATCHDOG)
        p->look.watchdog = said ? ipmi_read_watchdog(said) : NULL;
    else
        p->look.log = said && *said ? mem_dup(said) : NULL;
}

static void on_ended(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *said = text;
    struct power *p = arg;
    p->program = NULL;
    if (p->step == STEP_WATCHDOG || p->step == STEP_LOG) {
        take_more(p, why ? NULL : said);
        ipmi_next(p);
        return;
    }
    bool looked = p->step == STEP_LOOK || p->step == STEP_VERIFY;
    struct err e = {0};
    bool is_locked = false, acts = p->verb != VERB_STATUS && p->verb != VERB_LOOK;
    if (!why && looked && ipmi_read_chassis(said, &p->is_on, &is_locked, &e) < 0)
        why = &e;
    if (!why && is_locked && p->step == STEP_LOOK && acts) {
        err_set(&e, -EBUSY, "the BMC says that %s", INTERLOCKED);
        why = &e;
    }
    if (is_locked && p->verb == VERB_LOOK)
        p->look.locked = mem_dup(INTERLOCKED);
    if (why) {
        power_end(p, NULL, why);
        return;
    }
    ipmi_next(p);
}

/* Splits the address into host and port; without a port it is IPMI's own. */
static void split_address(char *address, const char **host, const char **port)
{
    char *colon = strrchr(address, ':');
    *host = address;
    *port = "623";
    if (colon && strchr(address, ':') == colon) {
        *colon = '\0';
        *port = colon + 1;
    }
}

/* A command that changes something is sent once: a second one after a lost answer could be a second cycle.
 * Its answer may take longer instead. */
static void ipmi_call(struct power *p, bool changes, const char *const *words)
{
    CLEANUP_FREE char *address = mem_dup(p->bmc.address);
    CLEANUP_TEXT struct text secret = {0};
    struct err e = {0};
    const char *host, *port;
    const char *argv[24] = {"ipmitool",          "-I", "lanplus",           "-N",
                            changes ? "8" : "2", "-R", changes ? "1" : "3", "-H"};
    size_t n = 8;
    split_address(address, &host, &port);
    text_printf(&secret, "IPMITOOL_PASSWORD=%s", p->password.s ? p->password.s : "");
    argv[n++] = host;
    argv[n++] = "-p";
    argv[n++] = port;
    argv[n++] = "-U";
    argv[n++] = p->bmc.user;
    argv[n++] = "-E"; /* the password is in the environment, which only this user and root can read */
    if (*p->bmc.cipher) {
        argv[n++] = "-C";
        argv[n++] = p->bmc.cipher;
    }
    while (*words)
        argv[n++] = *words++;
    const char *const set[] = {secret.s, NULL};
    const struct program_run run = {
        .argv = argv, .set = set, .deadline = span_s(POWER_CALL_S), .limit_bytes = 64 << 10};
    if (program_start(p->loop, &run, on_ended, p, &p->program, &e) < 0)
        power_end(p, NULL, &e);
}

static void ipmi_look(struct power *p)
{
    static const char *const words[] = {"chassis", "status", NULL};
    ipmi_call(p, false, words);
}

static void ipmi_act(struct power *p)
{
    p->is_sent = true;
    bool restarts = p->verb == VERB_CYCLE || p->verb == VERB_RESET || p->verb == VERB_NETBOOT;
    const char *verb = restarts && !p->is_on ? "on" : p->verb == VERB_NETBOOT ? "cycle" : verb_name(p->verb);
    const char *const words[] = {"chassis", "power", verb, NULL};
    ipmi_call(p, true, words);
}

static void read_watchdog(struct power *p)
{
    static const char *const words[] = {"mc", "watchdog", "get", NULL};
    ipmi_call(p, false, words);
}

static void read_log(struct power *p)
{
    static const char *const words[] = {"sel", "list", "last", "5", NULL};
    ipmi_call(p, false, words);
}

static void set_bootdev(struct power *p)
{
    static const char *const words[] = {"chassis", "bootdev", "pxe", NULL};
    ipmi_call(p, true, words);
}

/* Runs when a step has ended. */
static void ipmi_next(struct power *p)
{
    if (p->step == STEP_LOOK && p->verb == VERB_STATUS) {
        power_end(p, p->is_on ? "on" : "off", NULL);
    } else if (p->step == STEP_LOOK && p->verb == VERB_LOOK) {
        p->step = STEP_WATCHDOG;
        read_watchdog(p);
    } else if (p->step == STEP_WATCHDOG) {
        p->step = STEP_LOG;
        read_log(p);
    } else if (p->step == STEP_LOG) {
        power_end(p, p->is_on ? "on" : "off", NULL);
    } else if (p->step == STEP_LOOK && p->verb == VERB_NETBOOT) {
        p->step = STEP_BOOTDEV;
        set_bootdev(p);
    } else if (p->step < STEP_DO) {
        p->step = STEP_DO;
        ipmi_act(p);
    } else if (p->step == STEP_DO) {
        p->step = STEP_VERIFY;
        power_later(p, POWER_SETTLE_MS, ipmi_look);
    } else {
        power_settle(p, ipmi_look);
    }
}

void ipmi_begin(struct power *p)
{
    p->step = STEP_LOOK;
    ipmi_look(p);
}
