/* SPDX-License-Identifier: Apache-2.0 */
/* backup/last: the last backup that was made. backup/restored: the backup from which this state came back. */
#include "cluster/record/record.h"

#include <errno.h>
#include <string.h>

char *backup_record(const struct backup_made *b)
{
    struct text t = {0};
    text_printf(&t, "{\"at\":\"%lld\",\"name\":", (long long)b->at.ns);
    text_add_json(&t, b->name);
    text_printf(&t, ",\"revision\":%llu,\"bytes\":%llu}", (unsigned long long)b->revision,
                (unsigned long long)b->bytes);
    return text_take(&t);
}

static uint64_t backup_sum(const struct backup_made *b)
{
    if (!b->at.ns)
        return 0;
    CLEANUP_FREE char *record = backup_record(b);
    return record_sum("backup/last", record);
}

static uint64_t restored_sum(const struct state_restored *r)
{
    CLEANUP_TEXT struct text t = {0};
    if (!r->at.ns)
        return 0;
    text_printf(&t, "%lld %lld %llu %llu", (long long)r->at.ns, (long long)r->made.ns,
                (unsigned long long)r->revision, (unsigned long long)r->term);
    return record_sum("backup/restored", t.s);
}

static int time_read(const json_t *o, struct wall *out, struct err *e)
{
    uint64_t at = 0;
    if (record_time(o, "at", &at, e) < 0)
        return -EILSEQ;
    out->ns = (int64_t)at;
    return at ? 0 : err_set(e, -EILSEQ, "\"at\" is no time");
}

static int last_read(const char *value, struct backup_made *out, struct err *e)
{
    static const char *const keys[] = {"at", "name", "revision", "bytes"};
    CLEANUP_JSON json_t *o = record_object(value, e);
    if (!o || json_only_keys(o, keys, 4, e) < 0 || time_read(o, &out->at, e) < 0 ||
        record_word(o, "name", out->name, BACKUP_WORD_BYTES_MAX, e) < 0 ||
        json_take_u64(o, "revision", INT64_MAX, &out->revision, e) < 0 ||
        json_take_u64(o, "bytes", INT64_MAX, &out->bytes, e) < 0)
        return -EILSEQ;
    return *out->name ? 0 : err_set(e, -EILSEQ, "a backup without a name");
}

static int restored_read(const char *value, struct state_restored *out, struct err *e)
{
    static const char *const keys[] = {"at", "backup"}, *const backup_keys[] = {"at", "revision", "term"};
    CLEANUP_JSON json_t *o = record_object(value, e);
    if (!o || json_only_keys(o, keys, 2, e) < 0 || time_read(o, &out->at, e) < 0)
        return -EILSEQ;
    const json_t *b = json_object_get(o, "backup");
    if (!json_is_object(b))
        return err_set(e, -EILSEQ, "it names no backup");
    if (json_only_keys(b, backup_keys, 3, e) < 0 || time_read(b, &out->made, e) < 0 ||
        json_take_u64(b, "revision", INT64_MAX, &out->revision, e) < 0 ||
        json_take_u64(b, "term", INT64_MAX, &out->term, e) < 0)
        return -EILSEQ;
    return 0;
}

int put_backup(struct cluster *c, const char *name, const char *value, struct err *e)
{
    struct backup_made made = {0};
    struct state_restored restored = {0};
    bool is_last = strcmp(name, "last") == 0;
    if (!is_last && strcmp(name, "restored") != 0)
        return err_set(e, -EILSEQ, "it is no record of a backup");
    if (value && (is_last ? last_read(value, &made, e) : restored_read(value, &restored, e)) < 0)
        return -EILSEQ;
    if (is_last) {
        c->sum += backup_sum(&made) - backup_sum(&c->backup);
        c->backup = made;
    } else {
        c->sum += restored_sum(&restored) - restored_sum(&c->restored);
        c->restored = restored;
    }
    return 0;
}
