/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration that decides is agreed before it is taken: its texts are committed as a revision
 * (cluster/state/revision.h), at the start by this file alone, later through the committer. A configuration
 * whose texts are agreed already makes no commit.
 */
#include "controller/controller_inside.h"

#include "controller/commit/commit_alone.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- what changes ------------------------------------------------------------------------------ */

void agreement_say(const char *changes, struct text *out)
{
    enum { BYTES_MAX = 2000 };
    size_t left = 0;
    for (const char *line = changes; *line; line += strcspn(line, "\n") + 1) {
        size_t len = strcspn(line, "\n");
        if (left || out->len + len > BYTES_MAX)
            left++;
        else
            text_printf(out, "%s%.*s", out->len ? "; " : "", (int)len, line);
        if (!line[len])
            break;
    }
    if (left)
        text_printf(out, "%s%zu more changes", out->len ? "; and " : "", left);
    if (!out->len)
        text_add(out, "the same with another hash");
}

static bool texts_equal(const struct config_text *a, const struct config_text *b)
{
    for (int p = 0; p < CONFIG_PARTS; p++)
        if (a->given[p] != b->given[p] || (a->given[p] && strcmp(a->part[p].s, b->part[p].s) != 0))
            return false;
    return true;
}

int agreement_read(const struct controller *c, struct config *out, struct err *e)
{
    struct config_text agreed;
    int rc = config_text_load(c->cluster, &agreed, e);
    if (rc == 0)
        rc = config_read_agreed(c->conf.path, &agreed, out, e) < 0 ? -EINVAL : 0;
    config_text_fini(&agreed);
    return rc;
}

/* From the configuration that is agreed to the one that was read. */
static void compare_agreed(struct controller *c, const struct config_text *agreed, struct text *changes)
{
    struct config was;
    struct err why;
    if (config_read_agreed(c->conf.path, agreed, &was, &why) < 0) {
        text_printf(changes, "the one before cannot be read by this version: %s\n", why.msg);
        return;
    }
    struct cluster *before = cluster_create();
    config_compare(&was, &c->conf, changes);
    cluster_configure(before, &was.roster, NULL);
    cluster_compare(before, &c->conf.roster, changes);
    cluster_destroy(before);
    config_fini(&was);
}

/* Empty: the texts are agreed already. */
static int say_start(struct controller *c, struct text *said, struct err *e)
{
    CLEANUP_TEXT struct text changes = {0};
    struct config_text agreed;
    int rc = config_text_load(c->cluster, &agreed, e);
    if (rc == -ENOENT)
        text_add(said, "it is agreed from now on");
    else if (rc == 0 && !texts_equal(&agreed, &c->conf.agreed)) {
        text_add(&changes, "");
        compare_agreed(c, &agreed, &changes);
        agreement_say(changes.s, said);
    }
    config_text_fini(&agreed);
    return rc == -ENOENT ? 0 : rc;
}

/* --- at the start ------------------------------------------------------------------------------ */

/* What the configuration says of the decisions that are Fettle's own. */
static struct limits limits_of(const struct config *conf)
{
    struct limits limits = conf->watch.health.limits;
    limits.given = true;
    return limits;
}

int agreement_start(struct controller *c, uint64_t *revision, struct err *e)
{
    CLEANUP_TEXT struct text said = {0};
    struct revise_part parts[CONFIG_PARTS];
    text_add(&said, "");
    int rc = say_start(c, &said, e);
    const struct command cmd = {
        .kind = COMMAND_REVISE,
        .actor = "fettled",
        .at = wall_now(),
        .revise = {said.s, config_text_parts(&c->conf.agreed, parts), parts, limits_of(&c->conf)}};
    for (bool more = true; rc == 0 && more;)
        rc = commit_alone(c->store, c->term, c->cluster, &cmd, revision, &more, e);
    config_text_fini(&c->conf.agreed);
    return rc < 0 ? err_wrap(e, rc, "the configuration is not agreed") : 0;
}

/* --- while the controller runs ------------------------------------------------------------------ */

struct agreement {
    struct controller *c;
    const struct config *fresh;
    char *actor, *said;
    uint64_t sum; /* of the revision's records, before the commit under way */
    agreement_fn *fn;
    void *arg;
};

static void agreement_submit(struct agreement *a);

static void on_revised(void *arg, const struct outcome *o)
{
    struct agreement *a = arg;
    if (o->rc == 0 && cluster_revision_sum(a->c->cluster) != a->sum) {
        agreement_submit(a);
        return;
    }
    a->fn(a->arg, o->rc < 0 ? o->why : NULL);
    free(a->actor);
    free(a->said);
    free(a);
}

static void agreement_submit(struct agreement *a)
{
    const struct hostlist nobody = {0};
    struct revise_part parts[CONFIG_PARTS];
    const struct command cmd = {
        .kind = COMMAND_REVISE,
        .actor = a->actor,
        .at = wall_now(),
        .nodes = &nobody,
        .revise = {a->said, config_text_parts(&a->fresh->agreed, parts), parts, limits_of(a->fresh)}};
    a->sum = cluster_revision_sum(a->c->cluster);
    committer_submit(a->c->committer, &cmd, on_revised, a);
}

void agreement_begin(struct controller *c, const struct config *fresh, const char *actor, const char *changes,
                     agreement_fn *fn, void *arg)
{
    CLEANUP_TEXT struct text said = {0};
    struct agreement *a = mem_alloc(sizeof *a);
    agreement_say(changes, &said);
    *a = (struct agreement){
        .c = c, .fresh = fresh, .actor = mem_dup(actor), .said = text_take(&said), .fn = fn, .arg = arg};
    agreement_submit(a);
}
