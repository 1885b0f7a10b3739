/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * bmc.sensor   "sensor NUMBER TYPE KIND STATES NAME" of each of the BMC's own sensors that is in some state:
 * type, what its states count (IPMI's event/reading type) and a bit for each, the offset of the event that
 *              began it; "sensors N" that were read
 *
 * The BMC has a list of its sensors (SDR), and compares each with its limits by itself: nothing is computed
 * here. Sensors of other controllers behind it are left out, and so are those that are switched off, or that
 * say that they have no reading now.
 */

enum { SENSORS_MAX = 1024, LAST = 0xffff };
enum { RESERVE_SDR = 0x22, GET_SDR = 0x23, GET_READING = 0x2d };

/* --- a record of the list -------------------------------------------------------------------- */

enum { HEAD_BYTES = 5, LENGTH = 4 };

static void name_of(char out[static 33], const uint8_t *from, size_t n)
{
    size_t len = 0;
    for (; len < n && len < 32; len++)
        out[len] = from[len] >= 0x20 && from[len] < 0x7f ? (char)from[len] : '_';
    out[len] = '\0';
}

/* IPMI 2.0, tables 43-1 and 43-2. */
bool sensor_parse(const uint8_t *sdr, size_t n, struct sensor *out)
{
    enum { TYPE = 3, OWNER = 5, LUN = 6, NUMBER = 7, SENSOR_TYPE = 12, KIND = 13, LOWER = 15, UPPER = 17 };
    enum { STATES = 18, FULL = 0x01, COMPACT = 0x02, FULL_NAME = 47, COMPACT_NAME = 31 };
    enum { BMC = 0x20, THRESHOLD = 0x01, LATIN = 3 };
    if (n < HEAD_BYTES || (sdr[TYPE] != FULL && sdr[TYPE] != COMPACT))
        return false;
    size_t name = sdr[TYPE] == FULL ? FULL_NAME : COMPACT_NAME;
    if (n <= name || sdr[OWNER] != BMC)
        return false;
    bool compares = sdr[KIND] == THRESHOLD;
    unsigned limits = (sdr[LOWER] >> 4 & 7u) | (sdr[UPPER] >> 4 & 7u) << 3;
    *out = (struct sensor){.lun = sdr[LUN] & 3,
                           .number = sdr[NUMBER],
                           .type = sdr[SENSOR_TYPE],
                           .kind = sdr[KIND] & 0x7f,
                           .known = compares ? (uint16_t)limits : (uint16_t)bytes_little(sdr + STATES, 2)};
    size_t len = sdr[name] & 0x1f;
    if (sdr[name] >> 6 == LATIN && len <= n - name - 1)
        name_of(out->name, sdr + name + 1, len);
    return true;
}

/* IPMI 2.0, table 35-15: the result of Get Sensor Reading. */
uint16_t sensor_states(const struct sensor *s, const uint8_t *reading, size_t n)
{
    enum { FLAGS = 2, STATES = 3, SCANNED = 0x40, NOT_NOW = 0x20, THRESHOLD = 0x01 };
    /* The events of the limits, from the mildest lower limit on, that say that the limit was passed for
     * the worse. */
    static const unsigned offsets[] = {0x0, 0x2, 0x4, 0x7, 0x9, 0xb};
    if (n <= STATES || !(reading[FLAGS] & SCANNED) || reading[FLAGS] & NOT_NOW)
        return 0;
    unsigned states = (unsigned)bytes_little(reading + STATES, n > STATES + 1 ? 2 : 1) & s->known;
    if (s->kind != THRESHOLD)
        return states & 0x7fff;
    unsigned events = 0;
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
        if (states & 1u << i)
            events |= 1u << offsets[i];
    return (uint16_t)events;
}

void sensor_fact(const struct sensor *s, uint16_t states, struct text *out)
{
    if (states)
        fact_add(out, "sensor", "%u %u %u %u %s", s->number, s->type, s->kind, states, s->name);
}

/* --- asking the BMC ------------------------------------------------------------------------- */

struct list {
    const struct look *l;
    int fd;
    uint16_t reservation;
    bool in_pieces; /* it does not give whole records */
    uint16_t id, next;
    uint8_t record[HEAD_BYTES + 255];
    size_t n;
};

static int sensor_reserve(struct list *s)
{
    struct bmc_reply r = {.n = 0};
    int code = bmc_ask(s->l, s->fd, BMC_STORAGE, 0, RESERVE_SDR, NULL, 0, &r);
    if (code == BMC_COMPLETED && r.n < 3)
        return -EPROTO;
    s->reservation = (uint16_t)bytes_little(r.bytes + 1, 2);
    return code;
}

/* Adds bytes of the present record, 0xff for all that it has. */
static int read_bytes(struct list *s, uint8_t bytes)
{
    enum { NEXT_BYTES = 2 };
    struct bmc_reply r = {.n = 0};
    uint8_t data[] = {(uint8_t)s->reservation, (uint8_t)(s->reservation >> 8),
                      (uint8_t)s->id,          (uint8_t)(s->id >> 8),
                      (uint8_t)s->n,           bytes};
    int code = bmc_ask(s->l, s->fd, BMC_STORAGE, 0, GET_SDR, data, sizeof data, &r);
    if (code != BMC_COMPLETED)
        return code;
    size_t n = r.n < 1 + NEXT_BYTES ? 0 : r.n - 1 - NEXT_BYTES;
    if (n == 0 || n > sizeof s->record - s->n)
        return -EPROTO;
    memcpy(s->record + s->n, r.bytes + 1 + NEXT_BYTES, n);
    s->n += n;
    s->next = (uint16_t)bytes_little(r.bytes + 1, NEXT_BYTES);
    return code;
}

static int read_pieces(struct list *s)
{
    enum { PIECE_BYTES = 16 };
    int code = read_bytes(s, HEAD_BYTES);
    while (code == BMC_COMPLETED && s->n >= HEAD_BYTES && s->n < HEAD_BYTES + (size_t)s->record[LENGTH]) {
        size_t left = HEAD_BYTES + (size_t)s->record[LENGTH] - s->n;
        code = read_bytes(s, (uint8_t)(left < PIECE_BYTES ? left : PIECE_BYTES));
    }
    return code;
}

/* Another reader of the list takes the reservation, without which the BMC gives no parts. */
static int read_record(struct list *s)
{
    enum { TOO_LONG = 0xc8, CANNOT_RETURN = 0xca, UNSPECIFIED = 0xff, RESERVATION_LOST = 0xc5, TRIES = 3 };
    int code = RESERVATION_LOST;
    for (int i = 0; i < TRIES && code == RESERVATION_LOST; i++) {
        s->n = 0;
        code = s->in_pieces ? read_pieces(s) : read_bytes(s, 0xff);
        if (!s->in_pieces && (code == CANNOT_RETURN || code == TOO_LONG || code == UNSPECIFIED)) {
            s->in_pieces = true;
            code = RESERVATION_LOST;
        }
        int bad = code == RESERVATION_LOST ? sensor_reserve(s) : BMC_COMPLETED;
        if (bad != BMC_COMPLETED)
            return bad;
    }
    return code;
}

/* A sensor that is not there, or busy, says so by a code of its own. */
static int read_sensor(const struct list *s, const struct sensor *sensor, struct text *out, size_t *n)
{
    struct bmc_reply r = {.n = 0};
    uint8_t number = sensor->number;
    int code = bmc_ask(s->l, s->fd, BMC_SENSOR, sensor->lun, GET_READING, &number, 1, &r);
    if (code != BMC_COMPLETED)
        return code < 0 ? code : BMC_COMPLETED;
    sensor_fact(sensor, sensor_states(sensor, r.bytes, r.n), out);
    (*n)++;
    return code;
}

static int read_list(struct list *s, struct text *out)
{
    size_t n = 0;
    int code = sensor_reserve(s);
    for (int i = 0; i < SENSORS_MAX && code == BMC_COMPLETED && s->id != LAST; i++) {
        struct sensor sensor;
        code = read_record(s);
        if (code == BMC_COMPLETED && sensor_parse(s->record, s->n, &sensor))
            code = read_sensor(s, &sensor, out, &n);
        s->id = s->next;
    }
    if (code == BMC_COMPLETED && n > 0)
        fact_add(out, "sensors", "%zu", n);
    else if (code == BMC_COMPLETED)
        fact_add(out, "unsupported", "the BMC has no sensor of its own that can be read");
    return code;
}

void gather_BMC_SENSOR(const struct look *l, struct text *out)
{
    enum { INVALID_COMMAND = 0xc1 };
    CLEANUP_FD int fd = bmc_open(l, out);
    struct list s = {.l = l, .fd = fd};
    if (fd < 0)
        return;
    int code = read_list(&s, out);
    if (code == INVALID_COMMAND)
        fact_add(out, "unsupported", "the BMC has no list of its sensors");
    else if (code != BMC_COMPLETED)
        bmc_failed("the BMC's sensors", code, out);
}

/* --- judging -------------------------------------------------------------------------------- */

static void judge_sensor(const char *value, const struct words *w, struct verdict *v)
{
    char device[FINDING_DEVICE_BYTES_MAX + 1];
    uint64_t number, type, kind, states;
    if (!word_u64(w, 0, &number) || !word_u64(w, 1, &type) || !word_u64(w, 2, &kind) ||
        !word_u64(w, 3, &states))
        return;
    const char *name = value;
    for (int i = 0; i < 4; i++) {
        name += strcspn(name, " ");
        name += *name == ' ';
    }
    snprintf(device, sizeof device, "bmc 0x%02" PRIx64, number);
    for (unsigned offset = 0; offset < 15; offset++) {
        const struct bmc_meaning *m = states >> offset & 1 ? bmc_meaning(type, kind, offset) : NULL;
        if (m && m->lasts)
            verdict_add(v, m->result, device, "", "%s%s%s", name, *name ? ": " : "", m->what);
    }
}

void judge_BMC_SENSOR(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        words_of(line.value, &w);
        if (strcmp(line.key, "sensor") == 0)
            judge_sensor(line.value, &w, v);
    }
}
