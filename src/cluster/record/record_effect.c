/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effect/KIND.NAME: what is to be done outside, and what came of it. An operation and a power command are
 * Fettle's own (record_operate.c). The members of the others belong to a product (product/product.h), but for
 * those that Fettle decides by: the id, the claim of a note, and the boot and the times of a reboot.
 */
#include "cluster/record/record.h"

#include "product/product.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of "times", -EINVAL behind the last. */
static int take_time(const json_t *times, size_t i, uint64_t *out, struct err *e)
{
    const char *at = json_string_value(json_array_get(times, i));
    if (!at)
        return err_set(e, -EINVAL, "times: %zu is no string", i + 1);
    return text_parse_u64(at, 0, INT64_MAX, out, e) < 0 ? err_wrap(e, -EINVAL, "times") : 0;
}

void reboots_take(struct member *m, const json_t *o)
{
    if (m->past)
        free(STEAL(m->past->reboots));
    if (o) {
        struct reboots *r = member_past(m)->reboots = mem_alloc(sizeof *r);
        const char *boot = json_string_value(json_object_get(o, "boot"));
        const json_t *times = json_object_get(o, "times");
        snprintf(r->boot, sizeof r->boot, "%s", boot ? boot : "");
        for (uint64_t at; take_time(times, r->n, &at, NULL) == 0; r->n++)
            r->at[r->n].ns = (int64_t)at;
    }
    past_trim(m);
}

/* There are none in a record that an earlier version made. */
static int check_times(const json_t *times, struct err *e)
{
    if (times && (!json_is_array(times) || json_array_size(times) > REBOOTS_KEPT_MAX))
        return err_set(e, -EINVAL, "\"times\" is no array of at most %d", REBOOTS_KEPT_MAX);
    for (size_t i = 0; i < json_array_size(times); i++) {
        uint64_t at;
        if (take_time(times, i, &at, e) < 0)
            return -EINVAL;
    }
    return 0;
}

static int check_boot(const json_t *o, struct err *e)
{
    const char *boot;
    if (json_is_null(json_object_get(o, "boot")))
        return 0;
    if (json_take_string(o, "boot", &boot, e) < 0)
        return -EINVAL;
    return boot_ok(boot) ? 0 : err_set(e, -EINVAL, "\"%.80s\" is no boot id", boot);
}

static int check_product(const struct product_record *row, const json_t *o, struct err *e)
{
    uint64_t id;
    if (record_time(o, "id", &id, e) < 0 || (row->is_note && record_id(o, "claim", false, e) < 0))
        return -EINVAL;
    if (row == product_record(PRODUCT_REBOOT) &&
        (check_boot(o, e) < 0 || check_times(json_object_get(o, "times"), e) < 0))
        return -EINVAL;
    return row->check(o, e) < 0 ? -EINVAL : 0;
}

int effect_check(const char *key, const json_t *o, struct err *e)
{
    static const struct {
        const char *key;
        int (*check)(const json_t *o, struct err *e);
    } own[] = {{"operate.", check_operate}, {"power.", check_power}};
    enum { OWN = sizeof own / sizeof *own };
    const struct product_record *row = product_record_find(key);
    size_t i = 0;
    while (i < OWN && strncmp(key, own[i].key, strlen(own[i].key)) != 0)
        i++;
    if (!row && i == OWN)
        return err_set(e, -EINVAL, "\"%.80s\" is no kind of effect that this version knows", key);
    if (record_name_check(key + strlen(row ? row->key : own[i].key), e) < 0)
        return -EINVAL;
    if (!o)
        return 0;
    return row ? check_product(row, o, e) : own[i].check(o, e);
}

static struct effect *find_effect(const struct cluster *c, const char *key)
{
    struct effect *f;
    HASH_FIND_STR(c->effects, key, f);
    return f;
}

const struct effect *cluster_effect(const struct cluster *c, const char *key)
{
    return find_effect(c, key);
}

const char *cluster_effect_value(const struct cluster *c, const char *key)
{
    const struct effect *f = find_effect(c, key);
    return f ? f->value : NULL;
}

static void effect_operation(const struct cluster *c, const char *prefix, const struct member *m,
                             struct operation *out)
{
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "%s%s", prefix, m->name);
    operation_parse(out, cluster_effect_value(c, key.s));
}

void cluster_operation(const struct cluster *c, const struct member *m, struct operation *out)
{
    effect_operation(c, OPERATE_KEY, m, out);
}

void cluster_power(const struct cluster *c, const struct member *m, struct operation *out)
{
    effect_operation(c, POWER_KEY, m, out);
}

static void effect_drop(struct cluster *c, struct effect *f)
{
    if (!f)
        return;
    c->sum -= record_sum(f->key, f->value);
    HASH_DEL(c->effects, f);
    free(f->key);
    free(f->value);
    free(f);
}

static void remember_reboots(struct cluster *c, const char *name, const json_t *o)
{
    struct member *m = o ? cluster_meet(c, name) : cluster_find(c, name);
    if (m)
        reboots_take(m, o);
}

/* Until the driver read that its drain or reservation is gone. */
static void note_hold(struct cluster *c, const char *node, const json_t *o)
{
    struct member *m = o ? cluster_meet(c, node) : cluster_find(c, node);
    if (m)
        m->held_outside = product_hold_stands(o);
}

int put_effect(struct cluster *c, const char *rest, const char *value, struct err *e)
{
    CLEANUP_JSON json_t *o = value ? record_object(value, e) : NULL;
    if ((value && !o) || effect_check(rest, o, e) < 0)
        return -EILSEQ;
    CLEANUP_TEXT struct text key = {0};
    text_printf(&key, "effect/%s", rest);
    struct effect *f = find_effect(c, key.s);
    bool was = f != NULL;
    effect_drop(c, f);
    if (value) {
        f = mem_alloc(sizeof *f);
        f->key = mem_dup(key.s);
        f->value = json_write(o);
        f->wants = json_is_object(json_object_get(o, "want"));
        c->sum += record_sum(f->key, f->value);
        HASH_ADD_KEYPTR(hh, c->effects, f->key, strlen(f->key), f);
    }
    const struct product_record *row = product_record_find(rest);
    if (row == product_record(PRODUCT_REBOOT))
        remember_reboots(c, rest + strlen(row->key), o);
    if (row == product_record(PRODUCT_HOLD))
        note_hold(c, rest + strlen(row->key), o);
    if (c->on_effect && (was || value))
        c->on_effect(c->on_effect_arg, key.s, value);
    return 0;
}

void cluster_on_effect(struct cluster *c, cluster_effect_fn *fn, void *arg)
{
    c->on_effect = fn;
    c->on_effect_arg = arg;
    for (const struct effect *f = c->effects; fn && f; f = f->hh.next)
        fn(arg, f->key, f->value);
}

void effects_forget(struct cluster *c)
{
    struct effect *f, *next;
    c->on_effect = NULL;
    HASH_ITER (hh, c->effects, f, next)
        effect_drop(c, f);
}
