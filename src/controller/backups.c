/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backup goes through stages: its directory is made (thread), the store is copied (committer), the rest is
 * written and hashed (thread), the command is committed. A stage that fails ends it; a thread then removes
 * what there is.
 */
#include "controller/backups.h"

#include "backup/backup.h"
#include "base/log.h"
#include "base/loop.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_S = 1, RETRY_S = 600 };

/* One that is being made. Its thread has no other part of the controller. */
struct making {
    char *directory, *state_dir, *actor;
    size_t keep;
    struct backup *backup;
    struct manifest manifest;
    char name[BACKUP_NAME_BYTES_MAX + 1];
    struct err why;      /* there is none; code 0: there is */
    struct err retained; /* older ones could not be removed */
};

struct shelf_list {
    struct backups *owner;
    uv_work_t work;
    char *directory;
    struct text t; /* the array */
    struct err why;
    backups_list_fn *fn;
    void *arg;
};

struct backups {
    struct backups_setup with;
    char *directory; /* "" for none */
    struct span every;
    size_t keep;
    uv_work_t work;
    bool working, closing;
    struct making *making; /* NULL: none */
    unsigned n_listings;
    uint64_t begun, ended;
    struct err last; /* why the last one that ended was not made; code 0: it was */
    struct mono checked, tried;
    bool tried_any;
};

/* --- the end of one ---------------------------------------------------------------------------- */

static void making_free(struct making *m)
{
    assert(!m->backup && "a thread closes it");
    free(m->directory);
    free(m->state_dir);
    free(m->actor);
    free(m);
}

static void making_end(struct backups *b, const struct err *why)
{
    struct making *m = STEAL(b->making);
    const struct err *trouble = why ? why : m->retained.code ? &m->retained : NULL;
    b->ended++;
    b->last = why ? *why : (struct err){0};
    if (trouble)
        log_warn("backup: %s", trouble->msg);
    if (!b->closing)
        counterpart_answered(b->with.counterparts, COUNTERPART_BACKUP, "", trouble);
    making_free(m);
}

static void close_work(uv_work_t *work)
{
    struct backups *b = work->data;
    backup_close(STEAL(b->making->backup));
}

static void on_given_up(uv_work_t *work, int status)
{
    struct backups *b = work->data;
    const struct err why = b->making->why;
    b->working = false;
    making_end(b, &why);
}

static void making_give_up(struct backups *b, const struct err *why)
{
    b->making->why = *why;
    b->working = true;
    uv_queue_work(b->with.loop, &b->work, close_work, on_given_up);
}

/* --- its stages -------------------------------------------------------------------------------- */

static void on_committed(void *arg, const struct outcome *o)
{
    struct backups *b = arg;
    making_end(b, o->rc < 0 ? o->why : NULL);
}

static void on_finished(uv_work_t *work, int status)
{
    struct backups *b = work->data;
    struct making *m = b->making;
    b->working = false;
    if (m->why.code || b->closing) {
        const struct err why = m->why;
        making_end(b, &why);
        return;
    }
    const struct command cmd = {
        .kind = COMMAND_BACKUP,
        .actor = m->actor,
        .at = wall_now(),
        .backup = {m->name, m->manifest.at, m->manifest.revision, manifest_bytes(&m->manifest)}};
    committer_submit(b->with.committer, &cmd, on_committed, b);
}

static void finish_work(uv_work_t *work)
{
    struct backups *b = work->data;
    struct making *m = b->making;
    if (backup_finish(m->backup, m->state_dir, &m->manifest, m->name, &m->why) == 0)
        backup_retain(m->backup, m->manifest.cluster, m->keep, &m->retained);
    backup_close(STEAL(m->backup));
}

static void on_copied(void *arg, const struct store_copied *copied, uint64_t digest, const struct err *why)
{
    struct backups *b = arg;
    struct making *m = b->making;
    if (why) {
        making_give_up(b, why);
        return;
    }
    m->manifest = (struct manifest){.at = wall_now(), .term = copied->term, .revision = copied->revision};
    snprintf(m->manifest.version, sizeof m->manifest.version, "%s", FETTLE_VERSION);
    snprintf(m->manifest.cluster, sizeof m->manifest.cluster, "%s", cluster_origin(b->with.cluster));
    snprintf(m->manifest.digest, sizeof m->manifest.digest, "%016llx", (unsigned long long)digest);
    b->working = true;
    uv_queue_work(b->with.loop, &b->work, finish_work, on_finished);
}

static void on_prepared(uv_work_t *work, int status)
{
    struct backups *b = work->data;
    struct err stopping;
    b->working = false;
    err_set(&stopping, -EAGAIN, "the controller is stopping");
    if (b->making->why.code || b->closing) {
        const struct err why = b->making->why.code ? b->making->why : stopping;
        making_give_up(b, &why);
        return;
    }
    committer_copy(b->with.committer, backup_path(b->making->backup), on_copied, b);
}

static void prepare_work(uv_work_t *work)
{
    struct backups *b = work->data;
    struct making *m = b->making;
    backup_begin(m->directory, &m->backup, &m->why);
}

static void making_begin(struct backups *b, const char *actor)
{
    struct making *m = b->making = mem_alloc(sizeof *m);
    m->directory = mem_dup(b->directory);
    m->state_dir = mem_dup(b->with.state_dir);
    m->actor = mem_dup(actor);
    m->keep = b->keep;
    b->begun++;
    b->tried = mono_now();
    b->tried_any = b->working = true;
    uv_queue_work(b->with.loop, &b->work, prepare_work, on_prepared);
}

int backups_begin(struct backups *b, const char *actor, bool dry, uint64_t *number, struct err *e)
{
    if (!*b->directory)
        return err_set(e, -ENOENT,
                       "there is no BackupDirectory in fettle.conf; set it, and type \"fettle reload\"");
    if (b->making)
        return err_set(e, -EBUSY, "a backup is being made");
    if (!dry)
        making_begin(b, actor);
    *number = b->begun;
    return 0;
}

/* A time in the future is of a clock that was set back. */
static bool is_due(const struct backups *b, struct mono now)
{
    const struct backup_made *last = cluster_backup(b->with.cluster);
    int64_t age = wall_now().ns - last->at.ns;
    if (!*b->directory || b->every.ns == 0 || b->making)
        return false;
    int64_t pause = b->every.ns < span_s(RETRY_S).ns ? b->every.ns : span_s(RETRY_S).ns;
    if (b->tried_any && mono_sub(now, b->tried).ns < pause)
        return false;
    return age >= b->every.ns || age < 0;
}

void backups_turn(struct backups *b, struct mono now)
{
    LOOP_DOES("backups");
    if (mono_sub(now, b->checked).ns < span_s(CHECK_S).ns)
        return;
    b->checked = now;
    if (is_due(b, now))
        making_begin(b, "fettled");
}

/* --- the list ---------------------------------------------------------------------------------- */

static void entry_write(const struct backup_entry *b, const char *directory, struct text *t)
{
    char at[32];
    const struct manifest *m = &b->manifest;
    text_add(t, "{\"name\":");
    text_add_json(t, b->name);
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "%s/%s", directory, b->name);
    text_add(t, ",\"path\":");
    text_add_json(t, path.s);
    if (b->why.code) {
        text_add(t, ",\"why\":");
        text_add_json(t, b->why.msg);
    } else {
        text_printf(t, ",\"at\":\"%s\",\"revision\":%llu,\"term\":%llu,\"bytes\":%llu,\"digest\":",
                    wall_format(m->at, at), (unsigned long long)m->revision, (unsigned long long)m->term,
                    (unsigned long long)manifest_bytes(m));
        text_add_json(t, m->digest);
        text_add(t, ",\"cluster\":");
        text_add_json(t, m->cluster);
        text_add(t, ",\"fettle\":");
        text_add_json(t, m->version);
    }
    text_add_char(t, '}');
}

/* A directory that is not made yet has none. */
static void list_work(uv_work_t *work)
{
    struct shelf_list *l = work->data;
    struct backup_entry *list = NULL;
    size_t n = 0;
    if (*l->directory && backup_list(l->directory, &list, &n, &l->why) == -ENOENT)
        l->why = (struct err){0};
    for (size_t i = 0; i < n; i++) {
        text_add(&l->t, i ? "," : "");
        entry_write(&list[i], l->directory, &l->t);
    }
    free(list);
}

static void on_listed(uv_work_t *work, int status)
{
    struct shelf_list *l = work->data;
    struct backups *b = l->owner;
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{\"running\":%s,\"ended\":%llu,\"error\":", b->making ? "true" : "false",
                (unsigned long long)b->ended);
    text_add_json(&t, b->last.code ? b->last.msg : "");
    text_add(&t, ",\"directory\":");
    text_add_json(&t, l->directory);
    text_printf(&t, ",\"backups\":[%s]}", l->t.s ? l->t.s : "");
    b->n_listings--;
    l->fn(l->arg, l->why.code ? NULL : t.s, l->why.code ? &l->why : NULL);
    text_fini(&l->t);
    free(l->directory);
    free(l);
}

void backups_list(struct backups *b, backups_list_fn *fn, void *arg)
{
    struct shelf_list *l = mem_alloc(sizeof *l);
    *l = (struct shelf_list){.owner = b, .directory = mem_dup(b->directory), .fn = fn, .arg = arg};
    l->work.data = l;
    b->n_listings++;
    uv_queue_work(b->with.loop, &l->work, list_work, on_listed);
}

/* --- its state --------------------------------------------------------------------------------- */

void backups_status(const struct backups *b, json_t *status)
{
    char at[32], made[32];
    const struct backup_made *last = cluster_backup(b->with.cluster);
    const struct state_restored *r = cluster_restored(b->with.cluster);
    json_t *o = json_pack("{s:s,s:I,s:b}", "directory", b->directory, "every_s",
                          (json_int_t)(b->every.ns / span_s(1).ns), "running", b->making != NULL);
    if (last->at.ns)
        json_object_set_new(o, "last",
                            json_pack("{s:s,s:s,s:I,s:I}", "name", last->name, "at",
                                      wall_format(last->at, at), "revision", (json_int_t)last->revision,
                                      "bytes", (json_int_t)last->bytes));
    json_object_set_new(status, "backup", o);
    if (r->at.ns)
        json_object_set_new(status, "restored",
                            json_pack("{s:s,s:s,s:I}", "at", wall_format(r->at, at), "made",
                                      wall_format(r->made, made), "revision", (json_int_t)r->revision));
}

void backups_configure(struct backups *b, const struct config *conf)
{
    const char *directory = conf->text[SETTING_BACKUP_DIRECTORY];
    if (!b->directory || strcmp(b->directory, directory) != 0)
        b->tried_any = false;
    free(b->directory);
    b->directory = mem_dup(directory);
    b->every = (struct span){(int64_t)conf->number[SETTING_BACKUP_EVERY]};
    b->keep = (size_t)conf->number[SETTING_BACKUP_KEEP];
    counterpart_configure(b->with.counterparts, COUNTERPART_BACKUP, *directory != '\0');
    counterpart_remembered(b->with.counterparts, COUNTERPART_BACKUP, cluster_backup(b->with.cluster)->at);
}

struct backups *backups_create(const struct backups_setup *setup, const struct config *conf)
{
    struct backups *b = mem_alloc(sizeof *b);
    b->with = *setup;
    b->work.data = b;
    backups_configure(b, conf);
    return b;
}

void backups_stop(struct backups *b)
{
    if (b)
        b->closing = true;
}

void backups_destroy(struct backups *b)
{
    if (!b)
        return;
    b->closing = true;
    while (b->making || b->n_listings)
        uv_run(b->with.loop, UV_RUN_ONCE);
    free(b->directory);
    free(b);
}
