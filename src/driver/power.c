/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One action on a node's power, and the site's own script. A BMC says "done" when it has accepted the
 * command; drivers that can read the power status verify the result afterwards.
 */
#include "driver/power.h"

#include "base/secret.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- the site's script ----------------------------------------------------------------------- */

/* The lines after the first are its log. */
static void take_look(struct power *p, const char *power, const char *rest)
{
    struct err e = {0};
    p->is_on = strcmp(power, "on") == 0;
    if (!p->is_on && strcmp(power, "off") != 0) {
        err_set(&e, -EPROTO, "%s says \"%.40s\" and not whether the power is on", p->bmc.run, power);
        power_end(p, NULL, &e);
        return;
    }
    p->look.log = *rest ? mem_dup(rest) : NULL;
    power_end(p, power, NULL);
}

static void on_script(void *arg, char *text, size_t len, const struct err *why)
{
    CLEANUP_FREE char *said = text;
    struct power *p = arg;
    p->program = NULL;
    size_t line = said ? strcspn(said, "\n") : 0;
    const char *rest = said && said[line] ? said + line + 1 : "";
    if (said)
        said[line] = '\0';
    if (!why && p->verb == VERB_LOOK)
        take_look(p, said ? said : "", rest);
    else
        power_end(p, said && *said ? said : verb_name(p->verb), why);
}

static void script_begin(struct power *p)
{
    CLEANUP_TEXT struct text node = {0}, user = {0}, password = {0};
    struct err e = {0};
    text_printf(&node, "FETTLE_NODE=%s", p->node);
    text_printf(&user, "FETTLE_USER=%s", p->bmc.user);
    text_add(&password, "FETTLE_PASSWORD=");
    if (!program_exec() && bmc_password(&p->bmc, &password, &e) < 0) { /* fettle-exec reads it itself */
        power_end(p, NULL, &e);
        return;
    }
    const char *const argv[] = {p->bmc.run, verb_name(p->verb), p->node, NULL};
    const char *const set[] = {node.s, user.s, password.s, NULL};
    const char *const ask[] = {"power", verb_name(p->verb), p->node, NULL};
    const struct program_run run = {
        .argv = argv, .set = set, .ask = ask, .deadline = span_s(3 * POWER_CALL_S), .limit_bytes = 64 << 10};
    p->is_sent = true;
    if (program_start(p->loop, &run, on_script, p, &p->program, &e) < 0)
        power_end(p, NULL, &e);
}

/* --- the BMC's password ---------------------------------------------------------------------- */

static void driver_begin(struct power *p)
{
    (p->bmc.driver == BMC_IPMI ? ipmi_begin : redfish_begin)(p);
}

static void on_password(void *arg, char *text, size_t len, const struct err *why)
{
    struct power *p = arg;
    p->program = NULL;
    if (!why)
        text_add_bytes(&p->password, text, len);
    free(text);
    if (why)
        power_end(p, NULL, why);
    else
        driver_begin(p);
}

static void bmc_begin(struct power *p)
{
    static const char *const argv[] = {"the BMC's password", NULL};
    const char *const ask[] = {"password", p->node, NULL};
    const struct program_run run = {
        .argv = argv, .ask = ask, .deadline = span_s(POWER_CALL_S), .limit_bytes = SECRET_BYTES_MAX};
    struct err e = {0};
    bool is_asked = *p->bmc.password_file && program_exec();
    int rc = is_asked ? program_start(p->loop, &run, on_password, p, &p->program, &e)
                      : bmc_password(&p->bmc, &p->password, &e);
    if (rc < 0)
        power_end(p, NULL, &e);
    else if (!is_asked)
        driver_begin(p);
}

struct power *power_start(uv_loop_t *loop, const struct bmc *b, const char *node, enum verb verb,
                          operate_done_fn *done, void *arg)
{
    assert(b && node && done);
    struct power *p = mem_alloc(sizeof *p);
    *p = (struct power){.loop = loop, .node = mem_dup(node), .verb = verb, .done = done, .arg = arg};
    bmc_copy(b, node, &p->bmc);
    uv_timer_init(loop, &p->timer);
    p->timer.data = p;
    power_later(p, 0, b->driver == BMC_SCRIPT ? script_begin : bmc_begin);
    return p;
}
