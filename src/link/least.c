/* SPDX-License-Identifier: Apache-2.0 */
#include "link/least.h"

#include "base/table.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct row {
    char *subject;
    uint64_t serial;
    UT_hash_handle hh;
};

struct least {
    struct row *rows;
};

struct least *least_create(void)
{
    return mem_alloc(sizeof(struct least));
}

void least_destroy(struct least *l)
{
    struct row *r, *next;
    if (!l)
        return;
    HASH_ITER (hh, l->rows, r, next) {
        HASH_DEL(l->rows, r);
        free(r->subject);
        free(r);
    }
    free(l);
}

static struct row *least_find(const struct least *l, const char *subject)
{
    struct row *r;
    HASH_FIND_STR(l->rows, subject, r);
    return r;
}

static int raise_one(struct least *l, const char *subject, uint64_t serial, bool *rose, struct err *e)
{
    struct row *r = least_find(l, subject);
    if (!r && HASH_COUNT(l->rows) >= LEAST_NAMES_MAX)
        return err_set(e, -E2BIG, "certificates of more than %d names", LEAST_NAMES_MAX);
    if (!r) {
        r = mem_alloc(sizeof *r);
        r->subject = mem_dup(subject);
        HASH_ADD_KEYPTR(hh, l->rows, r->subject, strlen(r->subject), r);
    }
    *rose = serial > r->serial;
    if (*rose)
        r->serial = serial;
    return 0;
}

static int read_number(const char *subject, const json_t *value, uint64_t *out, struct err *e)
{
    const char *hex = json_string_value(value);
    size_t len = hex ? strlen(hex) : 0;
    if (len == 0 || len > 16 || strspn(hex, "0123456789abcdef") != len)
        return err_set(e, -EINVAL, "\"%.80s\" has no number in hexadecimal", subject);
    *out = strtoull(hex, NULL, 16);
    return 0;
}

int least_take(struct least *l, const json_t *o, least_fn *fn, void *arg, struct err *e)
{
    assert(l && o && fn);
    const char *subject, *name;
    json_t *value;
    JSON_OBJECT_EACH (o, subject, value) {
        enum identity_kind kind = identity_of_subject(subject, &name);
        uint64_t serial = 0;
        bool rose = false;
        if (kind == IDENTITY_NONE || strlen(name) >= sizeof((struct identity *)0)->name)
            return err_set(e, -EINVAL, "\"%.80s\" is no holder of certificates", subject);
        int rc = read_number(subject, value, &serial, e);
        if (rc == 0)
            rc = raise_one(l, subject, serial, &rose, e);
        if (rc < 0)
            return rc;
        if (rose)
            fn(arg, kind, name);
    }
    return 0;
}

int least_check(const struct least *l, const struct identity *id, struct err *e)
{
    CLEANUP_FREE char *subject = l ? identity_subject(id) : NULL;
    const struct row *r = l ? least_find(l, subject) : NULL;
    if (!r || id->serial >= r->serial)
        return 0;
    return err_set(e, -EPERM, "certificate %" PRIx64 " of %s was revoked, or there is a later one",
                   id->serial, subject);
}

int least_judge(void *l, const struct identity *id, struct err *e)
{
    return least_check(l, id, e);
}
