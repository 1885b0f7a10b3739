/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/operate/deeds.h"

#include "agent/home/home.h"
#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20 };

static const char *const state_names[DEED_STATES] = {[DEED_BEGUN] = "begun",
                                                     [DEED_DONE] = "done",
                                                     [DEED_FAILED] = "failed",
                                                     [DEED_REFUSED] = "refused",
                                                     [DEED_UNKNOWN] = "unknown"};

const char *deed_state_name(enum deed_state s)
{
    return state_names[s];
}

static void deed_fini(struct deed *k)
{
    free(k->cures);
    free(k->text);
    free(k->verdict);
}

void deeds_fini(struct deeds *d)
{
    for (size_t i = 0; i < d->n; i++)
        deed_fini(&d->list[i]);
    *d = (struct deeds){0};
}

struct deed *deeds_find(struct deeds *d, const char *id)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->list[i].id, id) == 0)
            return &d->list[i];
    return NULL;
}

/* Not the one that is under way: nobody would know any more that it was begun. */
static void forget_one(struct deeds *d)
{
    size_t i = 0;
    while (i + 1 < d->n && d->list[i].state == DEED_BEGUN)
        i++;
    deed_fini(&d->list[i]);
    d->n--;
    memmove(d->list + i, d->list + i + 1, (d->n - i) * sizeof *d->list);
}

struct deed *deeds_add(struct deeds *d, const char *id, const char *boot, bool reboot, enum deed_state state)
{
    if (d->n == DEEDS_MAX)
        forget_one(d);
    struct deed *k = &d->list[d->n++];
    *k = (struct deed){.reboot = reboot, .state = state, .text = mem_dup("")};
    snprintf(k->id, sizeof k->id, "%s", id);
    snprintf(k->boot, sizeof k->boot, "%s", boot);
    return k;
}

static bool is_control(char c)
{
    return ((unsigned char)c < ' ' && c != '\n' && c != '\t') || c == 0x7f;
}

void deed_set(struct deed *k, enum deed_state state, const char *text, const char *verdict)
{
    size_t len = strlen(text);
    char *mine = mem_dup(len > DEED_TEXT_BYTES_MAX ? text + len - DEED_TEXT_BYTES_MAX : text);
    for (char *p = mine; *p; p++)
        if (is_control(*p))
            *p = ' ';
    free(k->text);
    free(k->verdict);
    k->state = state;
    k->text = mine;
    k->verdict = mem_dup(verdict);
}

bool deeds_settle(struct deeds *d, const char *boot, const char *running)
{
    bool any = false;
    for (size_t i = 0; i < d->n; i++) {
        struct deed *k = &d->list[i];
        if (k->state != DEED_BEGUN || (running && strcmp(k->id, running) == 0))
            continue;
        any = true;
        if (k->reboot && strcmp(k->boot, boot) != 0)
            deed_set(k, DEED_DONE, "this is another boot", NULL);
        else
            deed_set(k, DEED_UNKNOWN, "the agent ended before it did", NULL);
    }
    return any;
}

static void add_members(const struct deed *k, struct text *out)
{
    text_printf(out, "{\"id\":\"%s\",\"boot\":\"%s\",\"state\":\"%s\",\"text\":", k->id, k->boot,
                state_names[k->state]);
    text_add_json(out, k->text);
    if (k->verdict)
        text_printf(out, ",\"verdict\":%s", k->verdict);
}

void deed_write(const struct deed *k, struct text *out)
{
    add_members(k, out);
    if (k->refusal)
        text_printf(out, ",\"code\":\"%s\"", refusal_name(k->refusal));
    text_add_char(out, '}');
}

void deeds_format(const struct deeds *d, struct text *out)
{
    text_printf(out, "{\"term\":%" PRIu64, d->term);
    if (*d->origin)
        text_printf(out, ",\"origin\":\"%s\"", d->origin);
    text_add(out, ",\"operations\":[");
    for (size_t i = 0; i < d->n; i++) {
        text_add(out, i ? ",\n" : "\n");
        add_members(&d->list[i], out);
        if (d->list[i].cures) {
            text_add(out, ",\"cures\":");
            text_add_json(out, d->list[i].cures);
        }
        text_printf(out, ",\"reboot\":%s}", d->list[i].reboot ? "true" : "false");
    }
    text_add(out, "]}\n");
}

static int take_word(const json_t *o, const char *key, const char **out, struct err *e)
{
    int r = json_take_string(o, key, out, e);
    if (!r && (!**out || strlen(*out) > BODY_WORD_BYTES_MAX || strpbrk(*out, "\"\\ \n")))
        r = err_set(e, -EILSEQ, "\"%s\" is no word", key);
    return r;
}

static int take_state(const char *name, enum deed_state *out, struct err *e)
{
    for (int i = 0; i < DEED_STATES; i++) {
        if (strcmp(name, state_names[i]) == 0) {
            *out = (enum deed_state)i;
            return 0;
        }
    }
    return err_set(e, -EILSEQ, "no state is called \"%s\"", name);
}

static int parse_deed(struct deeds *d, const json_t *o, struct err *e)
{
    const char *id, *boot, *state, *text, *cures = NULL;
    bool reboot = false;
    enum deed_state now = DEED_UNKNOWN;
    int r = take_word(o, "id", &id, e);
    if (!r)
        r = take_word(o, "boot", &boot, e);
    if (!r)
        r = json_take_string(o, "state", &state, e);
    if (!r)
        r = take_state(state, &now, e);
    if (!r)
        r = json_take_string(o, "text", &text, e);
    if (!r)
        r = json_take_bool(o, "reboot", &reboot, e);
    if (!r && json_object_get(o, "cures"))
        r = json_take_string(o, "cures", &cures, e);
    if (r)
        return r;
    const json_t *verdict = json_object_get(o, "verdict");
    CLEANUP_FREE char *s = json_is_object(verdict) ? json_write(verdict) : NULL;
    struct deed *k = deeds_add(d, id, boot, reboot, now);
    k->cures = mem_dup(cures);
    deed_set(k, now, text, s);
    return 0;
}

static int take_origin(struct deeds *d, const json_t *o, struct err *e)
{
    const char *origin;
    int r = take_word(o, "origin", &origin, e);
    if (!r)
        snprintf(d->origin, sizeof d->origin, "%s", origin);
    return r;
}

int deeds_parse(struct deeds *d, const char *text, struct err *e)
{
    CLEANUP_JSON json_t *all = json_read(text, strlen(text), e);
    size_t i;
    json_t *one;
    *d = (struct deeds){0};
    if (!all)
        return -EILSEQ;
    int r = json_take_u64(all, "term", INT64_MAX, &d->term, e);
    if (!r && json_object_get(all, "origin"))
        r = take_origin(d, all, e);
    const json_t *list = json_object_get(all, "operations");
    if (!r && !json_is_array(list))
        r = err_set(e, -EILSEQ, "\"operations\" is no array");
    json_array_foreach (list, i, one)
        if (!r)
            r = parse_deed(d, one, e);
    if (r)
        deeds_fini(d);
    return r ? -EILSEQ : 0;
}

int deeds_load(struct deeds *d, const char *home, struct err *e)
{
    CLEANUP_FREE char *text = NULL;
    *d = (struct deeds){0};
    int r = home_read(home, DEEDS_FILE, FILE_BYTES_MAX, &text, e);
    if (r)
        return r == -ENOENT ? 0 : r;
    r = deeds_parse(d, text, e);
    return r ? err_wrap(e, r, "%s/" DEEDS_FILE, home) : 0;
}

int deeds_store(const struct deeds *d, const char *home, struct err *e)
{
    CLEANUP_TEXT struct text all = {0};
    deeds_format(d, &all);
    return home_write(home, DEEDS_FILE, all.s, true, e);
}
