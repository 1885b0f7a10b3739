/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backups: the controller makes and lists them; verifying and restoring need no controller, because there may
 * be none any more.
 */
#include "backup/backup.h"

#include "cli/listing.h"
#include "cli/report.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- asked of the controller ------------------------------------------------------------------- */

int backup_show(struct call *c, struct err *e)
{
    static const struct listing backups = {.record = RECORD_BACKUP, .all = fettle_backup_list};
    return listing_show(c, &backups, NULL, e);
}

/* Asks until the backup with this number has ended. *answer is the list by then. */
static int backup_await(struct call *c, int64_t number, struct fettle_answer **answer, struct err *e)
{
    static const struct timespec pause = {.tv_nsec = 200000000};
    for (;;) {
        int64_t ended = 0;
        int r = call_answer(c, fettle_backup_list, answer, e);
        if (r < 0)
            return r;
        if (fettle_get_number(fettle_answer_value(*answer), "ended", &ended) < 0) {
            fettle_answer_free(*answer);
            return err_set(e, -EPROTO, "the list of backups does not say how many have ended");
        }
        if (ended >= number)
            return 0;
        fettle_answer_free(*answer);
        nanosleep(&pause, NULL);
    }
}

/* The newest one is the one that was made. */
static int backup_report(struct call *c, struct fettle_answer *answer, struct err *e)
{
    const struct fettle_value *v = fettle_answer_value(answer);
    const struct fettle_value *first = fettle_value_first(fettle_value_find(v, "backups"));
    const char *why = report_text(v, "error");
    int r = *why ? err_set(e, -EIO, "%s", why) : 0;
    if (r == 0 && call_has(c, OPTION_JSON) && first) {
        report_json(c, first);
    } else if (r == 0) {
        print_safe(&c->out, report_text(first, "path"));
        text_add_char(&c->out, '\n');
    }
    fettle_answer_free(answer);
    return r;
}

int backup_make(struct call *c, struct err *e)
{
    struct fettle_answer *answer = NULL;
    int64_t number = 0;
    int r = call_answer(c, fettle_backup_create, &answer, e);
    if (r < 0)
        return r;
    if (call_has(c, OPTION_DRY_RUN))
        return report_would(c, answer);
    r = fettle_get_number(fettle_answer_value(answer), "number", &number);
    fettle_answer_free(answer);
    if (r < 0)
        return err_set(e, -EPROTO, "the answer has no number of the backup");
    r = backup_await(c, number, &answer, e);
    return r < 0 ? r : backup_report(c, answer, e);
}

/* --- files of this machine --------------------------------------------------------------------- */

static void say_good(struct call *c, const char *path, const struct manifest *m)
{
    char at[32];
    if (call_has(c, OPTION_JSON)) {
        text_add(&c->out, "{\"path\":");
        text_add_json(&c->out, path);
        text_printf(&c->out, ",\"at\":\"%s\",\"revision\":%llu,\"term\":%llu,\"bytes\":%llu,\"digest\":",
                    wall_format(m->at, at), (unsigned long long)m->revision, (unsigned long long)m->term,
                    (unsigned long long)manifest_bytes(m));
        text_add_json(&c->out, m->digest);
        text_add(&c->out, ",\"cluster\":");
        text_add_json(&c->out, m->cluster);
        text_add(&c->out, ",\"fettle\":");
        text_add_json(&c->out, m->version);
        text_add(&c->out, "}\n");
        return;
    }
    print_safe(&c->out, path);
    text_printf(&c->out, ": good; made %s, revision %llu of cluster %s, %llu bytes in %zu files\n",
                wall_format(m->at, at), (unsigned long long)m->revision, m->cluster,
                (unsigned long long)manifest_bytes(m), m->n);
}

/* All that are named are read. The first that is bad gives the exit status, and is told last. */
int backup_check(struct call *c, struct err *e)
{
    int first = 0;
    for (size_t i = 0; i < c->n_args; i++) {
        struct manifest m;
        struct err why = {0};
        int r = backup_verify(c->args[i], &m, &why);
        if (r == 0) {
            say_good(c, c->args[i], &m);
        } else if (first == 0) {
            first = r;
            *e = why;
        } else {
            print_safe(&c->out, why.msg);
            text_add_char(&c->out, '\n');
        }
    }
    return first;
}

static const char *own_name(void)
{
    const struct passwd *p = getpwuid(geteuid());
    return p ? p->pw_name : "?";
}

int backup_bring(struct call *c, struct err *e)
{
    struct backup_restored is;
    char at[32];
    int r = backup_restore(c->args[0], c->args[1], own_name(), wall_now(), &is, e);
    if (r < 0)
        return r;
    const struct manifest *m = &is.manifest;
    if (call_has(c, OPTION_JSON)) {
        say_good(c, c->args[1], m);
        return 0;
    }
    print_safe(&c->out, c->args[1]);
    text_printf(&c->out,
                " has the state of %s at revision %llu\n"
                "Later decisions are lost. Nodes follow this state from now on, and the one from which the\n"
                "backup was made no more: see that its controller is stopped, then start fettled.\n",
                wall_format(m->at, at), (unsigned long long)m->revision);
    return 0;
}
