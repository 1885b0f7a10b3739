/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * bmc.sel   "event ENTRY TIME AGE SENSOR TYPE KIND OFFSET ON" of the newest entries of the BMC's event log,
 * the oldest first: number and time of the entry, seconds since then or "-", the sensor's number and type,
 * what its offset counts (IPMI's event/reading type), and whether it begins or ends; "entries N" that were
 * looked at
 *
 * The log is read from its end backwards, wholly or not at all, and is never cleared: it is evidence. The
 * numbers of entries go up by one on most machines; on others the newest entry alone is seen.
 */

enum { READ_MAX = 32, NEWEST = 0xffff };
enum { GET_SEL_ENTRY = 0x43, GET_SEL_TIME = 0x48 };

/* --- its log -------------------------------------------------------------------------------- */

/* A clock that was not set yet counts from the BMC's own start (IPMI 2.0, 37.1). */
static bool is_date(uint32_t time)
{
    return time > 0x20000000 && time < UINT32_MAX;
}

static bool age_of(const struct sel_record *r, uint32_t now, uint32_t *age)
{
    uint32_t then = (uint32_t)bytes_little(r->bytes + 3, 4);
    *age = now > then ? now - then : 0;
    return is_date(now) && is_date(then);
}

void sel_fact(const struct sel_record *r, uint32_t now, struct text *out)
{
    enum { SYSTEM_EVENT = 0x02, ENDS = 0x80, KIND = 0x7f, OFFSET = 0x0f };
    const uint8_t *b = r->bytes;
    char age[16] = "-";
    uint32_t seconds;
    if (b[2] != SYSTEM_EVENT)
        return;
    if (age_of(r, now, &seconds))
        snprintf(age, sizeof age, "%" PRIu32, seconds);
    fact_add(out, "event", "%" PRIu64 " %" PRIu64 " %s %u %u %u %u %d", bytes_little(b, 2),
             bytes_little(b + 3, 4), age, b[11], b[10], b[12] & KIND, b[13] & OFFSET, !(b[12] & ENDS));
}

static int read_record(const struct look *l, int fd, uint16_t id, struct sel_record *out)
{
    enum { NEXT_BYTES = 2, WHOLE = 0xff };
    uint8_t data[] = {0, 0, (uint8_t)id, (uint8_t)(id >> 8), 0, WHOLE};
    struct bmc_reply r = {.n = 0};
    int code = bmc_ask(l, fd, BMC_STORAGE, 0, GET_SEL_ENTRY, data, sizeof data, &r);
    if (code != BMC_COMPLETED)
        return code;
    if (r.n < 1 + NEXT_BYTES + sizeof out->bytes)
        return -EPROTO;
    memcpy(out->bytes, r.bytes + 1 + NEXT_BYTES, sizeof out->bytes);
    return BMC_COMPLETED;
}

/* Walks backwards from the newest entry, while entries exist and are young enough to matter. Returns their
 * number, or the error. */
static int read_records(const struct look *l, int fd, uint32_t now, struct sel_record *records, size_t *n)
{
    enum { OLD_S = 30 * 24 * 3600 };
    uint16_t id = NEWEST;
    uint32_t age;
    for (*n = 0; *n < READ_MAX && id != 0;) {
        struct sel_record *r = &records[*n];
        int code = read_record(l, fd, id, r);
        if (code == BMC_NOT_PRESENT || (code == BMC_COMPLETED && age_of(r, now, &age) && age > OLD_S))
            break;
        if (code != BMC_COMPLETED)
            return code;
        id = (uint16_t)(bytes_little(r->bytes, 2) - 1);
        (*n)++;
    }
    return BMC_COMPLETED;
}

static void read_log(const struct look *l, int fd, struct text *out)
{
    struct sel_record records[READ_MAX];
    struct bmc_reply r = {.n = 0};
    size_t n = 0;
    int code = bmc_ask(l, fd, BMC_STORAGE, 0, GET_SEL_TIME, NULL, 0, &r);
    if (code == BMC_COMPLETED && r.n < 5)
        code = -EPROTO;
    uint32_t now = (uint32_t)bytes_little(r.bytes + 1, 4);
    if (code == BMC_COMPLETED)
        code = read_records(l, fd, now, records, &n);
    if (code != BMC_COMPLETED)
        bmc_failed("the BMC's event log", code, out);
    else
        fact_add(out, "entries", "%zu", n);
    for (size_t i = code == BMC_COMPLETED ? n : 0; i-- > 0;)
        sel_fact(&records[i], now, out);
}

void gather_BMC_SEL(const struct look *l, struct text *out)
{
    CLEANUP_FD int fd = bmc_open(l, out);
    if (fd >= 0)
        read_log(l, fd, out);
}

/* --- judging -------------------------------------------------------------------------------- */

struct event {
    uint64_t entry, time, age, sensor, type, kind, offset, on;
    bool dated;
};

static bool event_of(const struct fact_line *line, struct event *e)
{
    if (strcmp(line->key, "event") != 0)
        return false;
    struct words w;
    words_of(line->value, &w);
    e->dated = word_u64(&w, 2, &e->age);
    return word_u64(&w, 0, &e->entry) && word_u64(&w, 1, &e->time) && word_u64(&w, 3, &e->sensor) &&
           word_u64(&w, 4, &e->type) && word_u64(&w, 5, &e->kind) && word_u64(&w, 6, &e->offset) &&
           word_u64(&w, 7, &e->on);
}

/* An event is reported again when it ends; the last report counts. */
static bool is_said_again(const struct event *e, const char *later)
{
    struct fact_line line;
    struct event other;
    while (fact_next(&later, &line))
        if (event_of(&line, &other) && other.sensor == e->sensor && other.type == e->type &&
            other.kind == e->kind && other.offset == e->offset)
            return true;
    return false;
}

static int64_t sel_identity(const struct event *e)
{
    return (int64_t)(e->entry << 32 | (e->time & UINT32_MAX)) & INT64_MAX;
}

/* The last entry of the look before, and whether this look has passed it: entries behind it are new. All
 * entries are new when it is gone. */
struct reading {
    int64_t *newest;
    int64_t before;
    bool first, passed;
};

static void sel_begin(struct look *l, const char *facts, struct reading *r)
{
    struct fact_line line;
    struct event e;
    int64_t *begun = memory_number(l->memory, "begun");
    *r = (struct reading){.newest = memory_number(l->memory, "newest"), .first = *begun == 0, .passed = true};
    *begun = 1;
    r->before = *r->newest;
    for (const char *at = facts; fact_next(&at, &line);)
        if (event_of(&line, &e) && sel_identity(&e) == r->before)
            r->passed = false;
}

/* Entries from before the first look of this boot are only worth knowing. */
static bool is_new(struct look *l, const struct event *e, const struct reading *r)
{
    enum { OLD = 1, NEW = 2 };
    char key[64];
    snprintf(key, sizeof key, "entry %" PRIi64, sel_identity(e));
    int64_t *seen = memory_number(l->memory, key);
    if (*seen == 0)
        *seen = !r->first && r->passed ? NEW : OLD;
    return *seen == NEW;
}

static void judge_event(const struct event *e, const struct bmc_meaning *m, bool new, struct verdict *v)
{
    char device[FINDING_DEVICE_BYTES_MAX + 1], ago[32] = "some time";
    snprintf(device, sizeof device, "bmc 0x%02" PRIx64, e->sensor);
    if (e->dated)
        span_human(span_s((int64_t)e->age), ago);
    verdict_add(v, new ? m->result : RESULT_INFO, device, "", "%s, %s ago (entry %" PRIu64 ")", m->what, ago,
                e->entry);
}

void judge_BMC_SEL(struct look *l, const char *facts, struct verdict *v)
{
    struct reading r;
    struct fact_line line;
    struct event e;
    struct span window;
    if (!want_span(l, "Window", span_s(24 * 3600), &window, v))
        return;
    sel_begin(l, facts, &r);
    for (const char *at = facts; fact_next(&at, &line);) {
        if (!event_of(&line, &e))
            continue;
        const struct bmc_meaning *m = bmc_meaning(e.type, e.kind, e.offset);
        bool new = is_new(l, &e, &r);
        bool told = e.dated ? e.age <= (uint64_t)(window.ns / 1000000000) : new;
        if (m && e.on && told && !is_said_again(&e, at))
            judge_event(&e, m, new, v);
        r.passed |= sel_identity(&e) == r.before;
        *r.newest = sel_identity(&e);
    }
}
