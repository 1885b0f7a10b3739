/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of the driver, those about which there is more to know, and calls that are for several of them.
 */
#include "driver/slurm_inside.h"

#include "driver/slurm_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum {
    RETRY_MAX_S = 60,
    LIST_NODES_MAX = 4096, /* nodes in one call: an argument has a limit */
    LIST_BYTES_MAX = 96 << 10,
};

/* --- the nodes ------------------------------------------------------------------------------- */

struct node *node_find(const struct slurm *s, const char *name)
{
    struct node *n;
    HASH_FIND_STR(s->nodes, name, n);
    return n;
}

struct node *node_get(struct slurm *s, const char *name)
{
    struct node *n = node_find(s, name);
    if (n)
        return n;
    n = mem_alloc(sizeof *n);
    *n = (struct node){.name = mem_dup(name), .act = ACT_WAIT, .tried = ACT_NOTHING};
    HASH_ADD_KEYPTR(hh, s->nodes, n->name, strlen(n->name), n);
    return n;
}

void node_open(struct slurm *s, struct node *n)
{
    if (!n->is_open)
        DL_APPEND2(s->open, n, prev_open, next_open);
    n->is_open = true;
}

void node_close(struct slurm *s, struct node *n)
{
    if (n->is_open)
        DL_DELETE2(s->open, n, prev_open, next_open);
    n->is_open = false;
}

void node_drop(struct slurm *s, struct node *n)
{
    node_close(s, n);
    HASH_DEL(s->nodes, n);
    free(n->row_text);
    free(n->reservation);
    free(n->said);
    free(n->name);
    free(n);
}

bool node_is_wanted(const struct node *n)
{
    return slurm_wish_of(&n->want) != WISH_NOTHING;
}

bool node_ask(struct slurm *s, struct node *n)
{
    struct slurm_want w = {0};
    s->sink.wanted(s->sink.arg, n->name, &w);
    bool is_other = w.drain != n->want.drain || w.reserve != n->want.reserve || w.own != n->want.own ||
                    strcmp(w.mark.claim, n->want.mark.claim) != 0 ||
                    strcmp(w.mark.problem, n->want.mark.problem) != 0 ||
                    strcmp(w.reason, n->want.reason) != 0;
    n->want = w; /* `avoid` is examined at the next reading of the node */
    if (is_other)
        node_open(s, n);
    return is_other;
}

static bool has_claim(const struct node *n, const char *claim)
{
    return strcmp(n->want.mark.claim, claim) == 0 || strcmp(n->record.claim, claim) == 0;
}

bool node_is_pasted(const struct slurm *s, const struct node *n, const char *reason)
{
    struct slurm_mark mark;
    const struct node *other;
    if (!slurm_read_mark(reason, s->conf.owner, &mark) || has_claim(n, mark.claim))
        return false;
    if (n->was_pasted && strcmp(reason, n->row.reason) == 0)
        return true; /* even when that claim is over */
    DL_FOREACH2(s->open, other, next_open)
    {
        if (other != n && has_claim(other, mark.claim))
            return true;
    }
    return false;
}

/* --- records --------------------------------------------------------------------------------- */

void node_say(struct slurm *s, struct node *n)
{
    CLEANUP_TEXT struct text key = {0};
    CLEANUP_FREE char *done = mem_dup(n->said);
    text_printf(&key, SLURM_KEY_PREFIX "%s", n->name);
    n->said_at = mono_now();
    s->sink.result(s->sink.arg, key.s, done); /* the sink may return the record at once */
}

/* --- trouble --------------------------------------------------------------------------------- */

void slurm_set_trouble(struct slurm *s, const struct err *why)
{
    bool is_away = why != NULL;
    if (!is_away && !s->is_away)
        return;
    s->is_away = is_away;
    s->sink.trouble(s->sink.arg, why);
}

struct span slurm_backoff(unsigned tries)
{
    int64_t seconds = RETRY_S;
    for (unsigned i = 1; i < tries && seconds < RETRY_MAX_S; i++)
        seconds *= 2;
    return span_s(seconds < RETRY_MAX_S ? seconds : RETRY_MAX_S);
}

void slurm_judge_trouble(struct slurm *s)
{
    struct err e = {0};
    const struct node *n;
    if (s->is_vague)
        err_set(&e, -EPROTO,
                "a reservation is not understood: it is not known which nodes are in maintenance");
    DL_FOREACH2(s->open, n, next_open)
    {
        if (n->want.reserve && n->line && n->guard == GUARD_FOREIGN)
            err_set(&e, -EBUSY, "somebody changed the reservation of %s", n->name);
        else if (n->tries > 1 || (n->tries == 1 && s->why.code))
            err_set(&e, -EIO, "%s: %s: %s", n->name, slurm_act_name(n->tried),
                    s->why.code ? s->why.msg : "Slurm does not show the state that was written");
    }
    if (!e.code)
        s->why = (struct err){0};
    slurm_set_trouble(s, e.code ? &e : NULL);
}

/* --- calls ----------------------------------------------------------------------------------- */

int slurm_run(struct slurm *s, const char *const *args, slurm_call_done_fn *done, struct err *e)
{
    return slurm_call_start(s->call, s->conf.scontrol, args, s->conf.conf_file, s->conf.deadline, done, s, e);
}

/* --- a batch: nodes that one call is for */

bool batch_add(struct slurm *s, struct node *n, size_t *bytes)
{
    if (s->n_batch == LIST_NODES_MAX || *bytes >= LIST_BYTES_MAX)
        return false;
    if (!s->batch)
        s->batch = mem_alloc(LIST_NODES_MAX * sizeof *s->batch);
    s->batch[s->n_batch++] = n;
    *bytes += strlen(n->name) + 1;
    return true;
}

void batch_write(const struct slurm *s, struct text *t)
{
    CLEANUP_FREE const char **names = mem_alloc(LIST_NODES_MAX * sizeof *names);
    for (size_t i = 0; i < s->n_batch; i++)
        names[i] = s->batch[i]->name;
    slurm_write_list(names, s->n_batch, t);
}

int batch_show(struct slurm *s, slurm_call_done_fn *done, struct err *e)
{
    CLEANUP_TEXT struct text list = {0};
    batch_write(s, &list);
    const char *const args[] = {"scontrol", "-o", "-a", "show", "node", list.s, NULL};
    return slurm_run(s, args, done, e);
}
