/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/ipmi.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

/*
 * bmc.sel   "event ENTRY TIME AGE SENSOR TYPE KIND OFFSET ON" of the newest entries of the BMC's event log,
 * the oldest first: number and time of the entry, seconds since then or "-", the sensor's number and type,
 * what its offset counts (IPMI's event/reading type), and whether it begins or ends; "entries N" that were
 * looked at
 *
 * The log is read from its end backwards, wholly or not at all, and is never cleared: it is evidence. The
 * numbers of entries go up by one on most machines; on others the newest entry alone is seen.
 */

enum { READ_MAX = 32, ANSWER_MS = 5000, REPLY_BYTES = 64 };
enum { NETFN_STORAGE = 0x0a, GET_SEL_ENTRY = 0x43, GET_SEL_TIME = 0x48 };
enum { COMPLETED = 0x00, NOT_PRESENT = 0xcb };
enum { NEWEST = 0xffff };

/* --- asking the BMC ------------------------------------------------------------------------- */

struct reply {
    uint8_t bytes[REPLY_BYTES]; /* the completion code, then data */
    size_t n;
};

/* What came for an earlier request is passed over. */
static int receive(const struct look *l, int fd, long id, struct reply *out)
{
    struct ipmi_addr from;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (int i = 0; i < 8; i++) {
        struct ipmi_recv r = {.addr = (unsigned char *)&from,
                              .addr_len = sizeof from,
                              .msg = {.data = out->bytes, .data_len = sizeof out->bytes}};
        if (poll(&p, 1, ANSWER_MS) <= 0)
            break;
        int bad = device_control(l, fd, IPMICTL_RECEIVE_MSG_TRUNC, &r);
        if (bad < 0)
            return bad;
        out->n = r.msg.data_len;
        if (r.msgid == id && r.recv_type == IPMI_RESPONSE_RECV_TYPE)
            return out->n > 0 ? out->bytes[0] : -EPROTO;
    }
    return -ETIMEDOUT;
}

/* The completion code, or -errno. */
static int ask(const struct look *l, int fd, uint8_t command, uint8_t *data, size_t n, struct reply *out)
{
    static long ids;
    struct ipmi_system_interface_addr bmc = {.addr_type = IPMI_SYSTEM_INTERFACE_ADDR_TYPE,
                                             .channel = IPMI_BMC_CHANNEL};
    struct ipmi_req q = {
        .addr = (unsigned char *)&bmc,
        .addr_len = sizeof bmc,
        .msgid = ++ids,
        .msg = {.netfn = NETFN_STORAGE, .cmd = command, .data_len = (unsigned short)n, .data = data}};
    int bad = device_control(l, fd, IPMICTL_SEND_COMMAND, &q);
    return bad < 0 ? bad : receive(l, fd, q.msgid, out);
}

/* --- its log -------------------------------------------------------------------------------- */

static uint32_t little(const uint8_t *bytes, size_t n)
{
    uint32_t number = 0;
    while (n-- > 0)
        number = number << 8 | bytes[n];
    return number;
}

/* A clock that was not set yet counts from the BMC's own start (IPMI 2.0, 37.1). */
static bool is_date(uint32_t time)
{
    return time > 0x20000000 && time < UINT32_MAX;
}

static bool age_of(const struct sel_record *r, uint32_t now, uint32_t *age)
{
    uint32_t then = little(r->bytes + 3, 4);
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
    fact(out, "event", "%" PRIu32 " %" PRIu32 " %s %u %u %u %u %d", little(b, 2), little(b + 3, 4), age,
         b[11], b[10], b[12] & KIND, b[13] & OFFSET, !(b[12] & ENDS));
}

static int read_record(const struct look *l, int fd, uint16_t id, struct sel_record *out)
{
    enum { NEXT_BYTES = 2, WHOLE = 0xff };
    uint8_t data[] = {0, 0, (uint8_t)id, (uint8_t)(id >> 8), 0, WHOLE};
    struct reply r = {.n = 0};
    int code = ask(l, fd, GET_SEL_ENTRY, data, sizeof data, &r);
    if (code != COMPLETED)
        return code;
    if (r.n < 1 + NEXT_BYTES + sizeof out->bytes)
        return -EPROTO;
    memcpy(out->bytes, r.bytes + 1 + NEXT_BYTES, sizeof out->bytes);
    return COMPLETED;
}

/* Backwards from the newest, as long as entries are there and not older than anybody wants to know: how many,
 * or what went wrong. */
static int read_records(const struct look *l, int fd, uint32_t now, struct sel_record *records, size_t *n)
{
    enum { OLD_S = 30 * 24 * 3600 };
    uint16_t id = NEWEST;
    uint32_t age;
    for (*n = 0; *n < READ_MAX && id != 0;) {
        struct sel_record *r = &records[*n];
        int code = read_record(l, fd, id, r);
        if (code == NOT_PRESENT || (code == COMPLETED && age_of(r, now, &age) && age > OLD_S))
            break;
        if (code != COMPLETED)
            return code;
        id = (uint16_t)(little(r->bytes, 2) - 1);
        (*n)++;
    }
    return COMPLETED;
}

static void read_log(const struct look *l, int fd, struct text *out)
{
    struct sel_record records[READ_MAX];
    struct reply r = {.n = 0};
    size_t n = 0;
    int code = ask(l, fd, GET_SEL_TIME, NULL, 0, &r);
    if (code == COMPLETED && r.n < 5)
        code = -EPROTO;
    uint32_t now = little(r.bytes + 1, 4);
    if (code == COMPLETED)
        code = read_records(l, fd, now, records, &n);
    if (code < 0)
        fact(out, "unknown", "the BMC's event log: %s", strerror(-code));
    else if (code != COMPLETED)
        fact(out, "unknown", "the BMC's event log: its completion code is 0x%02x", (unsigned)code);
    else
        fact(out, "entries", "%zu", n);
    for (size_t i = code == COMPLETED ? n : 0; i-- > 0;)
        sel_fact(&records[i], now, out);
}

void gather_BMC_SEL(const struct look *l, struct text *out)
{
    static const char path[] = "dev/ipmi0";
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    CLEANUP_FD int fd = openat(root, path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        fact_cannot(root, out, path, -errno);
    else
        read_log(l, fd, out);
}

/* --- judging -------------------------------------------------------------------------------- */

enum {
    ANY = -1,
    THRESHOLD = 0x01,
    REDUNDANCY = 0x0b,
    SPECIFIC = 0x6f,
    PROCESSOR = 0x07,
    POWER_SUPPLY = 0x08,
    MEMORY = 0x0c,
    DRIVE = 0x0d,
    FIRMWARE = 0x0f,
    INTERRUPT = 0x13,
    CHIPSET = 0x19,
    SLOT = 0x21,
    WATCHDOG = 0x23,
};

/* IPMI 2.0, tables 42-2 and 42-3. */
static const struct meant {
    int type, kind, offset;
    enum result result;
    const char *what;
} meanings[] = {
    {ANY, THRESHOLD, 0x2, RESULT_WARN, "a sensor fell below its critical limit"},
    {ANY, THRESHOLD, 0x4, RESULT_DEGRADED, "a sensor fell below its last limit"},
    {ANY, THRESHOLD, 0x9, RESULT_WARN, "a sensor rose above its critical limit"},
    {ANY, THRESHOLD, 0xb, RESULT_DEGRADED, "a sensor rose above its last limit"},
    {ANY, REDUNDANCY, 0x1, RESULT_WARN, "redundancy is lost"},
    {ANY, REDUNDANCY, 0x5, RESULT_DEGRADED, "what is left is not enough to run"},
    {PROCESSOR, SPECIFIC, 0x0, RESULT_FATAL, "a processor stopped with an internal error"},
    {PROCESSOR, SPECIFIC, 0x1, RESULT_FATAL, "a processor was switched off by heat"},
    {PROCESSOR, SPECIFIC, 0x2, RESULT_FATAL, "a processor failed its own test"},
    {PROCESSOR, SPECIFIC, 0x5, RESULT_FATAL, "a processor has a configuration error"},
    {PROCESSOR, SPECIFIC, 0x6, RESULT_FATAL, "a processor reports an uncorrectable error"},
    {PROCESSOR, SPECIFIC, 0x8, RESULT_FATAL, "a processor was disabled"},
    {PROCESSOR, SPECIFIC, 0xa, RESULT_WARN, "a processor was slowed down"},
    {PROCESSOR, SPECIFIC, 0xb, RESULT_FATAL, "a machine check that could not be corrected"},
    {PROCESSOR, SPECIFIC, 0xc, RESULT_WARN, "a machine check that was corrected"},
    {POWER_SUPPLY, SPECIFIC, 0x1, RESULT_DEGRADED, "a power supply failed"},
    {POWER_SUPPLY, SPECIFIC, 0x2, RESULT_WARN, "a power supply predicts its failure"},
    {POWER_SUPPLY, SPECIFIC, 0x3, RESULT_DEGRADED, "a power supply has no input"},
    {MEMORY, SPECIFIC, 0x1, RESULT_FATAL, "an uncorrectable error of memory"},
    {MEMORY, SPECIFIC, 0x2, RESULT_FATAL, "a parity error of memory"},
    {MEMORY, SPECIFIC, 0x3, RESULT_FATAL, "a bit of memory is stuck"},
    {MEMORY, SPECIFIC, 0x4, RESULT_FATAL, "memory was disabled"},
    {MEMORY, SPECIFIC, 0x5, RESULT_WARN, "so many corrected errors of memory that no more are logged"},
    {MEMORY, SPECIFIC, 0xa, RESULT_DEGRADED, "memory is too hot"},
    {DRIVE, SPECIFIC, 0x1, RESULT_DEGRADED, "a drive failed"},
    {DRIVE, SPECIFIC, 0x2, RESULT_WARN, "a drive predicts its failure"},
    {DRIVE, SPECIFIC, 0x6, RESULT_FATAL, "an array of drives failed"},
    {FIRMWARE, SPECIFIC, 0x0, RESULT_WARN, "the system's firmware found an error"},
    {FIRMWARE, SPECIFIC, 0x1, RESULT_FATAL, "the system's firmware hung"},
    {INTERRUPT, SPECIFIC, 0x4, RESULT_FATAL, "a parity error of PCI"},
    {INTERRUPT, SPECIFIC, 0x5, RESULT_FATAL, "a system error of PCI"},
    {INTERRUPT, SPECIFIC, 0x7, RESULT_WARN, "a bus error that was corrected"},
    {INTERRUPT, SPECIFIC, 0x8, RESULT_FATAL, "a bus error that could not be corrected"},
    {INTERRUPT, SPECIFIC, 0xa, RESULT_FATAL, "a fatal bus error"},
    {INTERRUPT, SPECIFIC, 0xb, RESULT_WARN, "a bus runs degraded"},
    {CHIPSET, SPECIFIC, 0x1, RESULT_FATAL, "the chipset was switched off by heat"},
    {SLOT, SPECIFIC, 0x0, RESULT_DEGRADED, "a slot reports a fault"},
    {WATCHDOG, SPECIFIC, 0x1, RESULT_WARN, "the watchdog reset the machine"},
    {WATCHDOG, SPECIFIC, 0x3, RESULT_WARN, "the watchdog cut the power"},
};

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

static const struct meant *meaning_of(const struct event *e)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        const struct meant *m = &meanings[i];
        if ((m->type == ANY || (uint64_t)m->type == e->type) && (uint64_t)m->kind == e->kind &&
            (uint64_t)m->offset == e->offset)
            return m;
    }
    return NULL;
}

/* What began is told again when it ends, and the last word counts. */
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

static int64_t identity(const struct event *e)
{
    return (int64_t)(e->entry << 32 | (e->time & UINT32_MAX)) & INT64_MAX;
}

/* The last entry that there was in the look before, and whether this look has passed it: what comes behind it
 * is new, and everything is when it is not there any more. */
struct reading {
    int64_t *newest;
    int64_t before;
    bool first, passed;
};

static void begin(struct look *l, const char *facts, struct reading *r)
{
    struct fact_line line;
    struct event e;
    int64_t *begun = memory_number(l->memory, "begun");
    *r = (struct reading){.newest = memory_number(l->memory, "newest"), .first = *begun == 0, .passed = true};
    *begun = 1;
    r->before = *r->newest;
    for (const char *at = facts; fact_next(&at, &line);)
        if (event_of(&line, &e) && identity(&e) == r->before)
            r->passed = false;
}

/* What stood in the log at the first look, or a boot ago, is worth knowing and no more. */
static bool is_new(struct look *l, const struct event *e, const struct reading *r)
{
    enum { OLD = 1, NEW = 2 };
    char key[64];
    snprintf(key, sizeof key, "entry %" PRIi64, identity(e));
    int64_t *seen = memory_number(l->memory, key);
    if (*seen == 0)
        *seen = !r->first && r->passed ? NEW : OLD;
    return *seen == NEW;
}

static void judge_event(const struct event *e, const struct meant *m, bool new, struct verdict *v)
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
    begin(l, facts, &r);
    for (const char *at = facts; fact_next(&at, &line);) {
        if (!event_of(&line, &e))
            continue;
        const struct meant *m = meaning_of(&e);
        bool new = is_new(l, &e, &r);
        bool told = e.dated ? e.age <= (uint64_t)(window.ns / 1000000000) : new;
        if (m && e.on && told && !is_said_again(&e, at))
            judge_event(&e, m, new, v);
        r.passed |= identity(&e) == r.before;
        *r.newest = identity(&e);
    }
}
