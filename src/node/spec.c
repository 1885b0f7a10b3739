/* SPDX-License-Identifier: Apache-2.0 */
#include "node/spec.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t AMOUNT_MAX = UINT64_C(1000000000000);

static uint32_t spec_bit(enum field f)
{
    return UINT32_C(1) << f;
}
_Static_assert(FIELD_XNAME < 32, "every settable field has a bit in spec.given");

void spec_init(struct spec *s)
{
    *s = (struct spec){0};
    partition_add(&s->partitions, 0);
}

void spec_fini(struct spec *s)
{
    free(s->os);
    free(s->xname);
    *s = (struct spec){0};
}

void spec_copy(struct spec *to, const struct spec *from)
{
    assert(to != from);
    char *os = mem_dup(from->os), *xname = mem_dup(from->xname);
    free(to->os);
    free(to->xname);
    *to = *from;
    to->os = os;
    to->xname = xname;
}

bool spec_equal(const struct spec *a, const struct spec *b)
{
    return a->given == b->given && a->cpus == b->cpus && a->speed_milli == b->speed_milli &&
           a->real_memory_mb == b->real_memory_mb && a->virtual_memory_mb == b->virtual_memory_mb &&
           a->tmp_disk_mb == b->tmp_disk_mb && a->sensitive == b->sensitive && a->borrowed == b->borrowed &&
           a->excepted == b->excepted && a->group == b->group &&
           strcmp(a->xname ? a->xname : "", b->xname ? b->xname : "") == 0 &&
           memcmp(&a->partitions, &b->partitions, sizeof a->partitions) == 0 &&
           strcmp(a->os ? a->os : "", b->os ? b->os : "") == 0;
}

bool spec_given(const struct spec *s, enum field f)
{
    return s->given & spec_bit(f);
}

bool partition_has(const struct partition_set *p, unsigned number)
{
    return p->bits[number / 64] >> (number % 64) & 1;
}

void partition_add(struct partition_set *p, unsigned number)
{
    assert(p);
    p->bits[number / 64] |= UINT64_C(1) << (number % 64);
}

static int parse_partitions(const char *value, unsigned max, struct partition_set *out, struct err *e)
{
    CLEANUP_FREE char *copy = mem_dup(value);
    struct partition_set found = {0};
    char *rest = copy;
    for (char *item; *value && (item = strsep(&rest, ","));) {
        uint64_t number;
        if (text_parse_u64(item, 0, max, &number, e) < 0)
            return -EINVAL;
        partition_add(&found, (unsigned)number);
    }
    *out = found;
    return 0;
}

/* Where the number of a field is kept; NULL for fields that are not numbers. */
static uint64_t *number_of(struct spec *s, enum field f)
{
    if (f == FIELD_CPUS)
        return &s->cpus;
    if (f == FIELD_SPEED)
        return &s->speed_milli;
    if (f == FIELD_REAL_MEMORY)
        return &s->real_memory_mb;
    if (f == FIELD_VIRTUAL_MEMORY)
        return &s->virtual_memory_mb;
    if (f == FIELD_TMP_DISK)
        return &s->tmp_disk_mb;
    return NULL;
}

static uint64_t number_get(const struct spec *s, enum field f)
{
    struct spec copy = *s;
    const uint64_t *number = number_of(&copy, f);
    assert(number);
    return *number;
}

/* The name of a component in OpenCHAMI, which is put into URLs unchanged. */
static int set_xname(struct spec *s, const char *value, struct err *e)
{
    size_t len = strlen(value);
    if (len > XNAME_BYTES_MAX || strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789") != len)
        return err_set(e, -EINVAL,
                       "\"%.80s\" is not an xname: lower-case letters and digits, as x1000c0s0b0n0", value);
    free(s->xname);
    s->xname = mem_dup(value);
    return 0;
}

static int set_group(struct spec *s, const char *value, struct err *e)
{
    uint64_t group;
    int rc = text_parse_u64(value, 0, GROUP_MAX, &group, e);
    if (rc == 0)
        s->group = (uint16_t)group;
    return rc;
}

static int set_remediate(struct spec *s, const char *value, struct err *e)
{
    bool remediate = true;
    int rc = text_parse_bool(value, &remediate, e);
    if (rc == 0)
        s->excepted = !remediate;
    return rc;
}

static int set_value(struct spec *s, enum field f, const char *value, unsigned partition_max, struct err *e)
{
    if (f == FIELD_PARTITION)
        return parse_partitions(value, partition_max, &s->partitions, e);
    if (f == FIELD_SENSITIVE)
        return text_parse_bool(value, &s->sensitive, e);
    if (f == FIELD_BORROWED)
        return text_parse_bool(value, &s->borrowed, e);
    if (f == FIELD_REMEDIATE)
        return set_remediate(s, value, e);
    if (f == FIELD_SPEED)
        return text_parse_milli(value, &s->speed_milli, e);
    if (f == FIELD_OS) {
        free(s->os);
        s->os = mem_dup(value);
        return 0;
    }
    if (f == FIELD_XNAME)
        return set_xname(s, value, e);
    if (f == FIELD_GROUP)
        return set_group(s, value, e);
    return text_parse_u64(value, 0, AMOUNT_MAX, number_of(s, f), e);
}

static void spec_unset(struct spec *s, enum field f)
{
    uint64_t *number = number_of(s, f);
    if (number)
        *number = 0;
    if (f == FIELD_OS) {
        free(s->os);
        s->os = NULL;
    }
    if (f == FIELD_XNAME) {
        free(s->xname);
        s->xname = NULL;
    }
    if (f == FIELD_GROUP)
        s->group = 0;
    if (f == FIELD_SENSITIVE)
        s->sensitive = false;
    if (f == FIELD_BORROWED)
        s->borrowed = false;
    if (f == FIELD_REMEDIATE)
        s->excepted = false;
    s->given &= ~spec_bit(f);
}

int spec_set(struct spec *s, enum field f, const char *value, unsigned partition_max, struct err *e)
{
    assert(value);
    const struct field_row *row = field_get(f);
    if (!row->settable)
        return err_set(e, -EINVAL, "%s cannot be set: %s", row->name, row->what);
    if (*value == '\0' && f != FIELD_PARTITION) {
        spec_unset(s, f);
        return 0;
    }
    if (set_value(s, f, value, partition_max, e) < 0)
        return err_wrap(e, -EINVAL, "%s", row->name);
    s->given |= spec_bit(f);
    return 0;
}

static void format_partitions(const struct partition_set *p, struct text *t)
{
    const char *comma = "";
    for (unsigned i = 0; i <= PARTITION_MAX; i++) {
        if (partition_has(p, i)) {
            text_printf(t, "%s%u", comma, i);
            comma = ",";
        }
    }
}

static void format_milli(uint64_t milli, struct text *t)
{
    text_add_u64(t, milli / 1000);
    unsigned rest = (unsigned)(milli % 1000);
    if (rest) {
        char digits[8];
        int n = snprintf(digits, sizeof digits, ".%03u", rest);
        while (digits[n - 1] == '0')
            n--;
        text_add_bytes(t, digits, (size_t)n);
    }
}

void spec_format(const struct spec *s, enum field f, struct text *t)
{
    if (!spec_given(s, f))
        return;
    if (f == FIELD_PARTITION)
        format_partitions(&s->partitions, t);
    else if (f == FIELD_OS)
        text_add(t, s->os);
    else if (f == FIELD_XNAME)
        text_add(t, s->xname);
    else if (f == FIELD_GROUP)
        text_add_u64(t, s->group);
    else if (f == FIELD_SENSITIVE)
        text_add(t, s->sensitive ? "yes" : "no");
    else if (f == FIELD_BORROWED)
        text_add(t, s->borrowed ? "yes" : "no");
    else if (f == FIELD_REMEDIATE)
        text_add(t, s->excepted ? "no" : "yes");
    else if (f == FIELD_SPEED)
        format_milli(s->speed_milli, t);
    else
        text_add_u64(t, number_get(s, f));
}

int spec_compare_release(const char *a, const char *b)
{
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            a += strspn(a, "0");
            b += strspn(b, "0");
            size_t na = strspn(a, "0123456789"), nb = strspn(b, "0123456789");
            int d = na != nb ? (na < nb ? -1 : 1) : strncmp(a, b, na);
            if (d != 0)
                return d;
            a += na;
            b += nb;
        } else if (*a != *b) {
            return (unsigned char)*a - (unsigned char)*b;
        } else {
            a++;
            b++;
        }
    }
    return (unsigned char)*a - (unsigned char)*b;
}

/* "Linux.2.4.7-10": the system's name up to the first dot, then its release. */
static bool os_suffices(const char *has, const char *must)
{
    size_t name = strcspn(must, ".");
    if (strcspn(has, ".") != name || strncmp(has, must, name) != 0)
        return false;
    return spec_compare_release(has + name, must + name) >= 0;
}

static void add_missing(struct text *out, const char *field, const char *has, const char *must)
{
    if (out->len)
        text_add(out, "; ");
    if (has)
        text_printf(out, "%s %s < %s", field, has, must);
    else
        text_printf(out, "%s could not be read, %s specified", field, must);
}

static void compare_number(const struct spec *s, enum field f, struct maybe has, struct text *out)
{
    uint64_t must = number_get(s, f);
    if (!spec_given(s, f) || (has.known && has.value >= must))
        return;
    CLEANUP_TEXT struct text have = {0}, want = {0};
    spec_format(s, f, &want);
    if (f == FIELD_SPEED)
        format_milli(has.value, &have);
    else
        text_add_u64(&have, has.value);
    add_missing(out, field_get(f)->name, has.known ? have.s : NULL, want.s);
}

bool spec_shortfall(const struct spec *s, const struct report *r, struct text *out)
{
    assert(s && r && out);
    text_clear(out);
    if (spec_given(s, FIELD_OS) && !(r->os && os_suffices(r->os, s->os)))
        add_missing(out, "OS", r->os, s->os);
    compare_number(s, FIELD_CPUS, r->cpus, out);
    compare_number(s, FIELD_SPEED, r->speed_milli, out);
    compare_number(s, FIELD_REAL_MEMORY, r->real_memory_mb, out);
    compare_number(s, FIELD_VIRTUAL_MEMORY, r->virtual_memory_mb, out);
    compare_number(s, FIELD_TMP_DISK, r->tmp_disk_mb, out);
    return out->len > 0;
}
