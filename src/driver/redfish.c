/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redfish, over HTTPS with the user's password. Links lead from the root to the system, because no two
 * vendors name it alike. The permitted actions are in the system itself, or in the action's own info.
 *
 * When PowerCycle is not permitted, a cycle is ForceOff, and On when the power is off: ForceRestart resets
 * only the processors, and not the power of GPUs and other devices. A process that is killed in between
 * leaves the node off; the process that takes up the operation finds that out (operate.c).
 *
 * A command that changes something is sent once: a second one after a lost answer could be a second cycle.
 */
#include "driver/power.h"
#include "driver/redfish_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum at {
    AT_ROOT,
    AT_SYSTEMS,
    AT_SYSTEM,
    AT_INFO,
    AT_BOOT,
    AT_RESET,
    AT_TASK,
    AT_SETTLE,
    AT_MANAGER, /* the following parts of a look are optional */
    AT_LOGS,
    AT_LOG,
    AT_ENTRIES
};

struct redfish {
    char *base; /* the address without a slash at its end */
    enum at at;
    redfish_path system, task;
    redfish_path logs; /* of the manager */
    struct redfish_system state;
    bool is_boot_set, is_boot_anew;
    bool is_half; /* first half of a cycle: it is switched on when it is off */
};

static void on_answer(void *arg, int status, const char *body, size_t len, const struct err *why);

static void redfish_ask(struct power *p, enum at at, const char *method, const char *path, const char *body)
{
    CLEANUP_TEXT struct text url = {0};
    struct redfish *r = p->redfish;
    r->at = at;
    text_printf(&url, "%s%s", r->base, path);
    fetch_start_if(p->fetch, at == AT_BOOT ? r->state.etag : "", method, url.s, body, on_answer, p);
}

static void redfish_look(struct power *p)
{
    redfish_ask(p, AT_SETTLE, "GET", p->redfish->system, NULL);
}

static void look_at_task(struct power *p)
{
    redfish_ask(p, AT_TASK, "GET", p->redfish->task, NULL);
}

static void redfish_settle(struct power *p)
{
    p->tries = 0;
    power_later(p, POWER_SETTLE_MS, redfish_look);
}

/* --- what is asked for ----------------------------------------------------------------------- */

static void redfish_reset(struct power *p, enum reset_type type)
{
    CLEANUP_TEXT struct text body = {0};
    text_printf(&body, "{\"ResetType\":\"%s\"}", reset_name(type));
    redfish_ask(p, AT_RESET, "POST", p->redfish->state.target, body.s);
}

/* The action that begins a restart: the first of the three that the system permits, ForceOff only when it
 * also permits On. A system that does not list its actions gets the first one; a system that permits none of
 * them gets ForceOff. */
static enum reset_type redfish_choose(const struct redfish *r, const enum reset_type order[static 3])
{
    unsigned allowed = r->state.allowed;
    for (int i = 0; i < 3; i++) {
        unsigned needs = order[i] | (order[i] == RESET_FORCE_OFF ? (unsigned)RESET_ON : 0);
        if (!allowed || (allowed & needs) == needs)
            return order[i];
    }
    return RESET_FORCE_OFF;
}

static void redfish_act(struct power *p)
{
    static const enum reset_type resets[] = {RESET_FORCE_RESTART, RESET_POWER_CYCLE, RESET_FORCE_OFF},
                                 cycles[] = {RESET_POWER_CYCLE, RESET_FORCE_OFF, RESET_FORCE_RESTART};
    struct redfish *r = p->redfish;
    enum reset_type type;
    if (p->verb == VERB_OFF)
        type = RESET_FORCE_OFF;
    else if (p->verb == VERB_ON || !p->is_on)
        type = RESET_ON;
    else
        type = redfish_choose(r, p->verb == VERB_RESET ? resets : cycles);
    r->is_half = p->verb != VERB_OFF && type == RESET_FORCE_OFF;
    redfish_reset(p, type);
}

static void set_boot(struct power *p)
{
    static const char *const body =
        "{\"Boot\":{\"BootSourceOverrideEnabled\":\"Once\",\"BootSourceOverrideTarget\":\"Pxe\"}}";
    redfish_ask(p, AT_BOOT, "PATCH", p->redfish->system, body);
}

static void begin_to_act(struct power *p)
{
    p->is_sent = true;
    if (p->verb == VERB_NETBOOT && !p->redfish->is_boot_set)
        set_boot(p);
    else
        redfish_act(p);
}

/* --- a look: the manager, then the log of the system, or of the manager ------------------------- */

static char *version_take(const struct redfish_version *v)
{
    return v->is_there ? mem_dup(v->text) : NULL;
}

static void look_end(struct power *p)
{
    power_end(p, p->is_on ? "on" : "off", NULL);
}

static void look_at_logs(struct power *p)
{
    const struct redfish *r = p->redfish;
    const char *path = *r->state.logs ? r->state.logs : r->logs;
    if (*path)
        redfish_ask(p, AT_LOGS, "GET", path, NULL);
    else
        look_end(p);
}

static void look_begin(struct power *p)
{
    const struct redfish_system *s = &p->redfish->state;
    CLEANUP_TEXT struct text locked = {0};
    text_printf(&locked, "the system is %s", s->held);
    p->look.locked = *s->held ? text_take(&locked) : NULL;
    p->look.watchdog = *s->watchdog ? mem_dup(s->watchdog) : NULL;
    p->look.tells_firmware = true;
    p->look.bios = version_take(&s->bios);
    if (*s->manager)
        redfish_ask(p, AT_MANAGER, "GET", s->manager, NULL);
    else
        look_at_logs(p);
}

/* An optional part of a look failed; later parts may work. A BMC that does not answer at all is not asked
 * further. */
static void look_lacks(struct power *p, bool is_silent)
{
    bool is_manager = p->redfish->at == AT_MANAGER;
    if (is_manager)
        p->look.firmware = mem_dup("");
    if (is_manager && !is_silent)
        look_at_logs(p);
    else
        look_end(p);
}

static void look_take(struct power *p, const char *body, size_t len)
{
    CLEANUP_TEXT struct text lines = {0};
    struct redfish_version firmware = {0};
    redfish_path path;
    enum at at = p->redfish->at;
    int rc = at == AT_MANAGER ? redfish_read_manager(body, len, &firmware, p->redfish->logs, NULL)
             : at == AT_LOGS  ? redfish_read_logs(body, len, path, NULL)
             : at == AT_LOG   ? redfish_read_log(body, len, path, NULL)
                              : redfish_read_entries(body, len, &lines, NULL);
    if (rc < 0) {
        look_lacks(p, false);
    } else if (at == AT_MANAGER) {
        p->look.firmware = version_take(&firmware);
        look_at_logs(p);
    } else if (at == AT_ENTRIES) {
        p->look.log = lines.len ? text_take(&lines) : NULL;
        look_end(p);
    } else {
        redfish_ask(p, at + 1, "GET", path, NULL);
    }
}

/* --- what is answered ------------------------------------------------------------------------ */

static const struct err *say_held(const struct redfish *r, struct err *e)
{
    err_set(e, -EBUSY, "the BMC says that the system is %s: its power is left alone", r->state.held);
    return e;
}

static void take_system(struct power *p, const char *body, size_t len)
{
    struct redfish *r = p->redfish;
    struct err e = {0};
    const char *etag = fetch_header(p->fetch, "ETag");
    if (redfish_read_system(body, len, &r->state, &e) < 0) {
        power_end(p, NULL, &e);
        return;
    }
    if (*etag && strlen(etag) <= REDFISH_ETAG_BYTES_MAX)
        snprintf(r->state.etag, sizeof r->state.etag, "%s", etag);
    p->is_on = r->state.is_on;
    bool is_there = (p->verb == VERB_ON && p->is_on) || (p->verb == VERB_OFF && !p->is_on);
    if (p->verb == VERB_LOOK)
        look_begin(p);
    else if (p->verb == VERB_STATUS || is_there)
        power_end(p, p->is_on ? "on" : "off", NULL);
    else if (*r->state.held)
        power_end(p, NULL, say_held(r, &e));
    else if (!r->state.allowed && *r->state.action_info)
        redfish_ask(p, AT_INFO, "GET", r->state.action_info, NULL);
    else
        begin_to_act(p);
}

static void take_info(struct power *p, const char *body, size_t len)
{
    struct err e = {0};
    if (redfish_read_action_info(body, len, &p->redfish->state.allowed, &e) < 0)
        power_end(p, NULL, &e);
    else
        begin_to_act(p);
}

static void take_state(struct power *p, const char *body, size_t len)
{
    struct redfish *r = p->redfish;
    struct redfish_system now;
    struct err e = {0};
    if (redfish_read_system(body, len, &now, &e) < 0) {
        power_end(p, NULL, &e);
        return;
    }
    p->is_on = now.is_on;
    if (r->is_half && !p->is_on) {
        r->is_half = false;
        redfish_reset(p, RESET_ON);
    } else if (r->is_half) {
        power_wait(p, redfish_look);
    } else {
        power_settle(p, redfish_look);
    }
}

/* With status 202 the action continues as a task. */
static void take_reset(struct power *p, int status, const char *body, size_t len)
{
    struct redfish *r = p->redfish;
    const char *location = fetch_header(p->fetch, "Location");
    r->task[0] = '\0';
    if (status == 202 && !redfish_take_path(r->base, location, r->task))
        redfish_read_id(body, len, r->task);
    if (*r->task)
        power_wait(p, look_at_task);
    else
        redfish_settle(p);
}

static void take_task(struct power *p, int status, const char *body, size_t len)
{
    CLEANUP_TEXT struct text words = {0};
    struct err e = {0};
    enum redfish_task t = status == 202 ? TASK_RUNS : redfish_read_task(body, len, &words);
    if (t == TASK_FAILED) {
        err_set(&e, -EIO, "%s", words.s);
        power_end(p, NULL, &e);
    } else if (t == TASK_RUNS) {
        power_wait(p, look_at_task);
    } else {
        redfish_settle(p);
    }
}

static void redfish_take(struct power *p, int status, const char *body, size_t len)
{
    struct redfish *r = p->redfish;
    struct err e = {0};
    redfish_path path;
    int rc = 0;
    switch (r->at) {
    case AT_ROOT:
        rc = redfish_read_root(body, len, path, &e);
        if (rc == 0)
            redfish_ask(p, AT_SYSTEMS, "GET", path, NULL);
        break;
    case AT_SYSTEMS:
        rc = redfish_read_systems(body, len, p->bmc.system, r->system, &e);
        if (rc == 0)
            redfish_ask(p, AT_SYSTEM, "GET", r->system, NULL);
        break;
    case AT_SYSTEM: take_system(p, body, len); break;
    case AT_INFO: take_info(p, body, len); break;
    case AT_BOOT:
        r->is_boot_set = true;
        redfish_act(p);
        break;
    case AT_RESET: take_reset(p, status, body, len); break;
    case AT_TASK: take_task(p, status, body, len); break;
    case AT_SETTLE: take_state(p, body, len); break;
    case AT_MANAGER:
    case AT_LOGS:
    case AT_LOG:
    case AT_ENTRIES: look_take(p, body, len); break;
    }
    if (rc < 0)
        power_end(p, NULL, &e);
}

/* A finished task may be forgotten. A system that has changed since the look is looked at once more. */
static void take_refusal(struct power *p, int status, const char *body, size_t len)
{
    struct redfish *r = p->redfish;
    CLEANUP_TEXT struct text words = {0};
    struct err e = {0};
    if (r->at == AT_TASK && status == 404) {
        redfish_settle(p);
    } else if (r->at == AT_BOOT && status == 412 && !r->is_boot_anew) {
        r->is_boot_anew = true;
        redfish_ask(p, AT_SYSTEM, "GET", r->system, NULL);
    } else {
        redfish_read_error(body, len, &words);
        err_set(&e, -EIO, "the BMC answers %d%s%s", status, words.len ? ": " : "", words.len ? words.s : "");
        power_end(p, NULL, &e);
    }
}

/* A BMC that is busy with the power may be away for a while; it has the command by then. */
static void on_answer(void *arg, int status, const char *body, size_t len, const struct err *why)
{
    struct power *p = arg;
    bool looks = p->redfish->at == AT_SETTLE || p->redfish->at == AT_TASK;
    if (status == 0 && looks && ++p->tries < POWER_SETTLE_TRIES)
        power_later(p, POWER_SETTLE_MS, p->redfish->at == AT_TASK ? look_at_task : redfish_look);
    else if (p->redfish->at >= AT_MANAGER && (status < 200 || status >= 300))
        look_lacks(p, status == 0);
    else if (status == 0)
        power_end(p, NULL, why);
    else if (status >= 200 && status < 300)
        redfish_take(p, status, body, len);
    else
        take_refusal(p, status, body, len);
}

/* --- life ------------------------------------------------------------------------------------ */

static void redfish_forget(struct power *p)
{
    free(p->redfish->base);
    free(p->redfish);
}

void redfish_begin(struct power *p)
{
    struct redfish *r = mem_alloc(sizeof *r);
    const struct bmc *b = &p->bmc;
    const struct fetch_options options = {.ca = *b->ca_file ? b->ca_file : NULL,
                                          .user = *b->user ? b->user : NULL,
                                          .password = p->password.s,
                                          .answered_ms = POWER_CALL_S * 1000};
    size_t n = strlen(b->address);
    while (n && b->address[n - 1] == '/')
        n--;
    r->base = mem_dup_len(b->address, n);
    p->redfish = r;
    p->forget = redfish_forget;
    p->fetch = fetch_create(p->loop, &options);
    redfish_ask(p, AT_ROOT, "GET", "/redfish/v1/", NULL);
}
