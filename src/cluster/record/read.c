/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of values that many records have: a time, a word, a boot id and the like. */
#include "cluster/record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

json_t *record_object(const char *value, struct err *e)
{
    json_t *o = json_read(value, strlen(value), e);
    if (o && !json_is_object(o)) {
        err_set(e, -EINVAL, "no object");
        json_decref(o);
        return NULL;
    }
    return o;
}

int record_name_check(const char *name, struct err *e)
{
    if (!hostlist_name_ok(name))
        return err_set(e, -EILSEQ, "\"%s\" is not the name of a node", name);
    return 0;
}

int record_time(const json_t *o, const char *key, uint64_t *out, struct err *e)
{
    const char *text;
    if (json_take_string(o, key, &text, e) < 0 || text_parse_u64(text, 0, INT64_MAX, out, e) < 0)
        return err_wrap(e, -EILSEQ, "%s", key);
    return 0;
}

int record_word(const json_t *o, const char *key, char *out, size_t max, struct err *e)
{
    const char *word;
    if (json_take_clause(o, key, max, &word, e) < 0)
        return -EINVAL;
    memcpy(out, word, strlen(word) + 1);
    return 0;
}

int record_id(const json_t *o, const char *key, bool needed, struct err *e)
{
    char id[CLAIM_ID_BYTES_MAX + 1];
    if (record_word(o, key, id, CLAIM_ID_BYTES_MAX, e) < 0)
        return -EINVAL;
    return *id || !needed ? 0 : err_set(e, -EINVAL, "\"%s\" is empty", key);
}

int record_result(const json_t *o, const char *key, enum result *out, struct err *e)
{
    const char *name;
    if (json_take_string(o, key, &name, e) < 0)
        return -EINVAL;
    if (!result_parse(name, out) || *out <= RESULT_OK)
        return err_set(e, -EINVAL, "%s: \"%.40s\" is nothing that a check finds", key, name);
    return 0;
}

bool boot_ok(const char *boot)
{
    size_t len = strlen(boot);
    return len > 0 && len <= sizeof((struct drift *)0)->boot - 1 &&
           strspn(boot, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") == len;
}

int record_boot(const json_t *o, char out[static 37], struct err *e)
{
    const char *boot;
    if (json_take_string(o, "boot", &boot, e) < 0)
        return -EINVAL;
    if (*boot && !boot_ok(boot))
        return err_set(e, -EINVAL, "\"%.80s\" is no boot id", boot);
    memcpy(out, boot, strlen(boot) + 1);
    return 0;
}

int record_hex(const json_t *o, const char *key, uint64_t *out, struct err *e)
{
    const char *hex;
    if (json_take_string(o, key, &hex, e) < 0)
        return -EINVAL;
    size_t len = strlen(hex);
    if (len == 0 || len > 16 || strspn(hex, "0123456789abcdef") != len)
        return err_set(e, -EINVAL, "%s: \"%.40s\" is no number in hex", key, hex);
    *out = strtoull(hex, NULL, 16);
    return 0;
}

int record_fingerprint(const json_t *o, const char *key, struct fingerprint *out, struct err *e)
{
    const char *hex;
    int rc = json_take_string(o, key, &hex, e);
    if (rc == 0 && !fingerprint_parse(hex, out))
        rc = err_set(e, -EINVAL, "%s: \"%.80s\" is no fingerprint", key, hex);
    return rc < 0 ? -EINVAL : 0;
}

int record_named_check(const char *named, struct err *e)
{
    size_t len = strlen(named);
    if (len > DRIFT_NAMED_MAX * (COMPONENT_NAME_BYTES_MAX + 2))
        return err_set(e, -EINVAL, "named: %zu bytes of names", len);
    for (size_t i = 0; i < len; i++)
        if (named[i] < 0x20 || named[i] > 0x7e)
            return err_set(e, -EINVAL, "named: a byte 0x%02x in a name", (unsigned char)named[i]);
    return 0;
}

int record_named(const json_t *o, const char **out, struct err *e)
{
    return json_take_string(o, "named", out, e) < 0 || record_named_check(*out, e) < 0 ? -EINVAL : 0;
}

struct past *member_past(struct member *m)
{
    if (!m->past)
        m->past = mem_alloc(sizeof *m->past);
    return m->past;
}

void past_trim(struct member *m)
{
    const struct past *p = m->past;
    if (p && !p->history && !p->drift && !p->flaps && !p->reboots && !p->ailment && !p->repair &&
        !p->maintenance && !p->window && !p->trial && !p->override) {
        free(m->past);
        m->past = NULL;
    }
}

struct member **members_meet(struct cluster *c, const struct hostlist *nodes)
{
    struct member **all = mem_alloc(nodes->n * sizeof *all);
    size_t place = 0;
    for (size_t i = 0; i < nodes->n; i++) {
        all[i] = cluster_find_next(c, &place, nodes->names[i]);
        if (!all[i] || all[i]->gone)
            all[i] = cluster_meet(c, nodes->names[i]);
    }
    return all;
}

char *members_fold(struct member *const *nodes, size_t n)
{
    CLEANUP_FREE const char **names = mem_alloc(n * sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = nodes[i]->name;
    return hostlist_fold(names, n);
}
