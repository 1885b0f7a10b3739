/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first of the list is with the worker; the others wait for it. One that was answered by the clock stays
 * in the list while the worker has it, without its function.
 */
#include "controller/logins.h"

#include "base/loop.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { WAIT_MS = 2000, TICK_MS = 100, ENTRY_BYTES = 16 << 10 };

struct lookup {
    struct logins *logins;
    uid_t uid, login;
    gid_t *groups;
    size_t n_groups;
    struct mono until;
    shell_names_fn *fn; /* NULL: it was called */
    void *arg;
    /* Written by the worker: */
    char *user, *login_name;
    struct hostlist names;
    struct lookup *prev, *next;
};

struct logins {
    uv_loop_t *loop;
    uv_timer_t timer;
    uv_work_t work;
    bool working, destroyed, closed;
    struct lookup *list;
};

/* --- in the worker ------------------------------------------------------------------------------ */

static char *user_name(uid_t uid)
{
    struct passwd entry, *found = NULL;
    char buf[ENTRY_BYTES];
    return getpwuid_r(uid, &entry, buf, sizeof buf, &found) == 0 && found ? mem_dup(found->pw_name) : NULL;
}

static void group_add(gid_t gid, struct hostlist *names)
{
    struct group entry, *found = NULL;
    char buf[ENTRY_BYTES];
    if (getgrgid_r(gid, &entry, buf, sizeof buf, &found) == 0 && found)
        hostlist_add(names, found->gr_name);
}

static void on_work(uv_work_t *work)
{
    struct logins *l = work->data;
    struct lookup *k = l->list;
    k->user = user_name(k->uid);
    if (k->login != STREAM_NO_LOGIN)
        k->login_name = user_name(k->login);
    for (size_t i = 0; i < k->n_groups; i++)
        group_add(k->groups[i], &k->names);
}

/* --- in the loop -------------------------------------------------------------------------------- */

static void name_numbered(struct text *t, const char *name, uid_t uid)
{
    if (name)
        text_add(t, name);
    else
        text_printf(t, "uid:%u", (unsigned)uid);
}

static void lookup_answer(struct lookup *k, bool found)
{
    CLEANUP_TEXT struct text user = {0}, login = {0};
    const struct hostlist none = {0};
    shell_names_fn *fn = STEAL(k->fn);
    if (!fn)
        return;
    name_numbered(&user, found ? k->user : NULL, k->uid);
    name_numbered(&login, found ? k->login_name : NULL, k->login);
    fn(k->arg, user.s, k->login == STREAM_NO_LOGIN ? NULL : login.s, found ? &k->names : &none);
}

static void lookup_free(struct lookup *k)
{
    DL_DELETE(k->logins->list, k);
    free(k->groups);
    free(k->user);
    free(k->login_name);
    hostlist_fini(&k->names);
    free(k);
}

static void logins_release(struct logins *l)
{
    if (l->destroyed && l->closed && !l->working)
        free(l);
}

static void work_begin(struct logins *l);

static void on_worked(uv_work_t *work, int status)
{
    LOOP_DOES("names of users");
    struct logins *l = work->data;
    l->working = false;
    lookup_answer(l->list, true);
    lookup_free(l->list);
    work_begin(l);
    logins_release(l);
}

/* Those whose time is over. The first stays while the worker has it. */
static void on_timer(uv_timer_t *timer)
{
    struct logins *l = timer->data;
    const struct mono now = mono_now();
    struct lookup *k, *next;
    DL_FOREACH_SAFE(l->list, k, next)
    {
        if (k->until.ns > now.ns)
            continue;
        lookup_answer(k, false);
        if (k != l->list || !l->working)
            lookup_free(k);
    }
    if (!l->list)
        uv_timer_stop(timer);
}

static void work_begin(struct logins *l)
{
    if (l->working || !l->list || l->destroyed)
        return;
    l->working = true;
    uv_queue_work(l->loop, &l->work, on_work, on_worked);
}

void logins_find(struct logins *l, const struct shell_process *p, shell_names_fn *fn, void *arg)
{
    struct lookup *k = mem_alloc(sizeof *k);
    *k = (struct lookup){.logins = l,
                         .uid = p->uid,
                         .login = p->login,
                         .groups = mem_alloc((p->n_groups + 1) * sizeof *k->groups),
                         .n_groups = p->n_groups,
                         .until = mono_add(mono_now(), span_ms(WAIT_MS)),
                         .fn = fn,
                         .arg = arg};
    if (p->n_groups)
        memcpy(k->groups, p->groups, p->n_groups * sizeof *k->groups);
    DL_APPEND(l->list, k);
    if (!uv_is_active((uv_handle_t *)&l->timer))
        uv_timer_start(&l->timer, on_timer, TICK_MS, TICK_MS);
    work_begin(l);
}

struct logins *logins_create(uv_loop_t *loop)
{
    struct logins *l = mem_alloc(sizeof *l);
    l->loop = loop;
    uv_timer_init(loop, &l->timer);
    l->timer.data = l->work.data = l;
    return l;
}

static void on_closed(uv_handle_t *handle)
{
    struct logins *l = handle->data;
    l->closed = true;
    logins_release(l);
}

void logins_destroy(struct logins *l)
{
    if (!l)
        return;
    l->destroyed = true;
    struct lookup *k, *next;
    DL_FOREACH_SAFE(l->list, k, next)
    {
        lookup_answer(k, false);
        if (k != l->list || !l->working)
            lookup_free(k);
    }
    uv_close((uv_handle_t *)&l->timer, on_closed);
}
