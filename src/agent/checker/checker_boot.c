/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/booted.h"
#include "agent/checker/checker_inside.h"
#include "agent/home/home.h"
#include "base/log.h"

#include <stdlib.h>

/*
 * Checks that run once a boot, and not at each start of the agent; and what checks have to remember for as
 * long as the boot lasts, as how many interfaces there were. It is written without waiting for the disk:
 * after the machine stopped it is of another boot. An agent that is killed before it wrote looks again when
 * it is back.
 */

static void checker_boot_resume(struct item *k, const json_t *kept)
{
    struct verdict said;
    struct mono at, now = mono_now();
    memory_restore(k->memory, booted_kept(kept, k->check));
    if (!check_once_a_boot(k->check) || !booted_find(kept, k->check, now, &said, &at))
        return;
    steady_resume(&k->steady, at, &said);
    k->any_look = true;
    k->looked = at;
    item_rest(k, now);
}

void checker_resume(struct checker *c, struct item *const *fresh, size_t n)
{
    CLEANUP_FREE char *text = NULL;
    if (!c->settings.home || !n || home_read(c->settings.home, BOOTED_FILE, BOOTED_BYTES_MAX, &text, NULL))
        return;
    CLEANUP_JSON json_t *kept = booted_read(text, c->settings.boot);
    for (size_t i = 0; i < n; i++)
        checker_boot_resume(fresh[i], kept);
}

void checker_keep_boot(struct checker *c)
{
    struct err e = {0};
    CLEANUP_TEXT struct text all = {0};
    CLEANUP_JSON json_t *kept = json_array(); /* owns what the list borrows */
    CLEANUP_FREE struct booted *list = mem_alloc((c->list.checks.n + 1) * sizeof *list);
    size_t n = 0;
    c->boot_news = false;
    for (size_t i = 0; i < c->list.checks.n; i++) {
        const struct item *k = c->items[i];
        bool says = check_once_a_boot(k->check) && k->steady.any;
        json_t *own = json_object();
        json_array_append_new(kept, own);
        memory_save(k->memory, own);
        if (says || json_object_size(own))
            list[n++] = (struct booted){k->check, says ? &k->steady.said : NULL, k->steady.looked, own};
    }
    booted_write(c->settings.boot, list, n, &all);
    if (home_write(c->settings.home, BOOTED_FILE, all.s, false, &e))
        log_debug(LOG_PROBE, "the results of checks that run once a boot are not kept: %s", e.msg);
}
