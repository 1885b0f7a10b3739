/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <errno.h>
#include <linux/ipmi.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* A BMC that has a log and sensors, behind the system calls of its driver. */

enum { LOG_MAX = 64, SENSORS_MAX = 8, NOW = 0x68000000, NOT_PRESENT = 0xcb };

struct sdr {
    uint8_t bytes[64], reading[4]; /* the reading behind the completion code */
    size_t n;
    int bad; /* the completion code of its reading */
};

struct bmc {
    struct sel_record log[LOG_MAX]; /* of which the last is the newest; the numbers stand in them */
    size_t n;
    uint32_t now;
    int bad;       /* -errno of each request, or its completion code */
    bool stranger; /* an answer to somebody else comes first */
    struct sdr sensors[SENSORS_MAX];
    size_t n_sensors;
    bool in_pieces; /* whole records are refused */
    int taken;      /* so often somebody else takes the reservation */
    uint8_t reservation;
    size_t breaks; /* at this request of a look; 0: none */
    long asked;
    uint8_t reply[80];
    size_t reply_len, requests;
};

static uint16_t number_of(const struct sel_record *r)
{
    return (uint16_t)(r->bytes[0] | r->bytes[1] << 8);
}

static const struct sel_record *find(const struct bmc *b, unsigned id)
{
    for (size_t i = 0; i < b->n; i++)
        if (number_of(&b->log[i]) == id || (id == 0xffff && i + 1 == b->n))
            return &b->log[i];
    return NULL;
}

static void give(struct bmc *b, const void *bytes, size_t n)
{
    b->reply[0] = 0;
    memcpy(b->reply + 1, bytes, n);
    b->reply_len = 1 + n;
}

static void refuse(struct bmc *b, uint8_t code)
{
    b->reply[0] = code;
    b->reply_len = 1;
}

static void answer_record(struct bmc *b, const uint8_t *data)
{
    unsigned id = data[2] | (unsigned)data[3] << 8;
    const struct sdr *s = &b->sensors[id];
    size_t n = data[5] == 0xff ? s->n : data[5];
    uint8_t bytes[66] = {(uint8_t)(id + 1)};
    if (id + 1 == b->n_sensors)
        bytes[0] = bytes[1] = 0xff;
    assert_true(id < b->n_sensors && (data[5] == 0xff || n <= 16) && (data[4] == 0 || data[4] + n <= s->n));
    if (data[4] > 0 && (data[0] != b->reservation || b->taken-- > 0)) {
        refuse(b, 0xc5);
    } else if (data[5] == 0xff && b->in_pieces) {
        refuse(b, 0xca);
    } else {
        memcpy(bytes + 2, s->bytes + data[4], n);
        give(b, bytes, 2 + n);
    }
}

static void answer_reading(struct bmc *b, uint8_t number)
{
    for (size_t i = 0; i < b->n_sensors; i++)
        if (b->sensors[i].bytes[7] == number && b->sensors[i].bad)
            refuse(b, (uint8_t)b->sensors[i].bad);
        else if (b->sensors[i].bytes[7] == number)
            give(b, b->sensors[i].reading, 4);
}

/* False for what is no command of these. */
static bool answer_sensors(struct bmc *b, const struct ipmi_req *q)
{
    uint8_t reservation[2] = {b->reservation};
    if (q->msg.cmd == 0x22)
        reservation[0] = ++b->reservation;
    if (q->msg.cmd == 0x22)
        give(b, reservation, 2);
    else if (q->msg.cmd == 0x23)
        answer_record(b, q->msg.data);
    else if (q->msg.cmd == 0x2d)
        answer_reading(b, q->msg.data[0]);
    assert_int_equal(q->msg.netfn, q->msg.cmd == 0x2d ? 0x04 : 0x0a);
    return q->msg.cmd == 0x22 || q->msg.cmd == 0x23 || q->msg.cmd == 0x2d;
}

static int answer(struct bmc *b, const struct ipmi_req *q)
{
    b->asked = q->msgid;
    b->requests = q->msg.cmd == 0x48 ? 1 : b->requests + 1;
    if (b->requests == b->breaks)
        return -EIO;
    memset(b->reply, 0, sizeof b->reply);
    b->reply[0] = b->bad > 0 ? (uint8_t)b->bad : 0;
    b->reply_len = b->bad ? 1 : 5;
    if (b->bad)
        return b->bad < 0 ? b->bad : 0;
    if (answer_sensors(b, q))
        return 0;
    if (q->msg.cmd == 0x48) {
        memcpy(b->reply + 1, &b->now, 4);
        return 0;
    }
    assert_int_equal(q->msg.cmd, 0x43);
    assert_int_equal(q->msg.data_len, 6);
    const struct sel_record *r = find(b, q->msg.data[2] | (unsigned)q->msg.data[3] << 8);
    b->reply[0] = r ? 0 : NOT_PRESENT;
    b->reply_len = r ? 19 : 1;
    if (r)
        memcpy(b->reply + 3, r->bytes, sizeof r->bytes);
    return 0;
}

static int control(void *arg, int fd, unsigned long request, void *what)
{
    struct bmc *b = arg;
    struct ipmi_recv *r = what;
    if (request == IPMICTL_SEND_COMMAND)
        return answer(b, what);
    assert_int_equal(request, IPMICTL_RECEIVE_MSG_TRUNC);
    r->recv_type = IPMI_RESPONSE_RECV_TYPE;
    r->msgid = b->stranger ? b->asked - 1 : b->asked;
    b->stranger = false;
    assert_true(r->msg.data_len >= b->reply_len);
    memcpy(r->msg.data, b->reply, b->reply_len);
    r->msg.data_len = (unsigned short)b->reply_len;
    return 0;
}

/* An entry that was written so long ago: sensor, type, kind (with 0x80 it ends), offset. */
static void add(struct bmc *b, uint32_t ago, uint8_t sensor, uint8_t type, uint8_t kind, uint8_t offset)
{
    uint32_t time = b->now - ago;
    uint16_t id = (uint16_t)(b->n > 0 ? number_of(&b->log[b->n - 1]) + 1 : 1);
    struct sel_record *r = &b->log[b->n++];
    *r = (struct sel_record){{(uint8_t)id, (uint8_t)(id >> 8), 0x02, (uint8_t)time, (uint8_t)(time >> 8),
                              (uint8_t)(time >> 16), (uint8_t)(time >> 24), 0x20, 0, 4, type, sensor, kind,
                              (uint8_t)(0xa0 | offset), 0xff, 0xff}};
}

static struct bmc *start(struct trial *t)
{
    static struct bmc b;
    static struct look_calls calls = {.arg = &b, .control = control};
    b = (struct bmc){.now = NOW};
    t->calls = &calls;
    trial_add(t, "dev/ipmi0", "");
    return &b;
}

static void test_no_bmc(void **state)
{
    trial_expect(*state, "Probe=bmc.sel", "unsupported there is no /dev/ipmi0");
    trial_add(*state, "dev/ipmi0", "");
    trial_expect(*state, "Probe=bmc.sel", "unknown the BMC's event log: Inappropriate ioctl for device");
}

static void test_new_entries(void **state)
{
    struct bmc *b = start(*state);
    trial_expect(*state, "Probe=bmc.sel", "ok"); /* an empty log */
    add(b, 10, 0x4a, 0x0c, 0x6f, 1);
    trial_expect(*state, "Probe=bmc.sel",
                 "fatal bmc 0x4a: an uncorrectable error of memory, 10s ago (entry 1)");
    add(b, 5, 0x51, 0x08, 0x6f, 3);
    trial_begins(*state, "Probe=bmc.sel",
                 "fatal bmc 0x4a: an uncorrectable error of memory, 10s ago (entry 1)\n"
                 "degraded bmc 0x51: a power supply has no input, 5s ago");
    add(b, 0, 0x51, 0x08, 0x6f | 0x80, 3); /* it has one again */
    trial_expect(*state, "Probe=bmc.sel",
                 "fatal bmc 0x4a: an uncorrectable error of memory, 10s ago (entry 1)");
    b->now += 24 * 3600;
    trial_expect(*state, "Probe=bmc.sel", "ok");
    trial_begins(*state, "Probe=bmc.sel Window=7d", "fatal bmc 0x4a");
    b->n = 0; /* somebody clears it */
    trial_expect(*state, "Probe=bmc.sel Window=7d", "ok");
    add(b, 10, 0x20, 0x13, 0x6f, 5);
    trial_begins(*state, "Probe=bmc.sel", "fatal bmc 0x20: a system error of PCI");
}

static void test_old_entries(void **state)
{
    struct bmc *b = start(*state);
    add(b, 3 * 24 * 3600, 0x01, 0x07, 0x6f, 0);
    add(b, 3600, 0x02, 0x07, 0x6f, 0xb);
    trial_begins(*state, "Probe=bmc.sel",
                 "info bmc 0x02: a machine check that could not be corrected, 1h00m ago");
    trial_begins(*state, "Probe=bmc.sel", "info bmc 0x02"); /* it stays so */
    add(b, 0, 0x02, 0x07, 0x6f, 0xb);
    trial_begins(*state, "Probe=bmc.sel", "fatal bmc 0x02");
    trial_forget(*state); /* a boot */
    trial_begins(*state, "Probe=bmc.sel", "info bmc 0x02");
}

/* What a BMC's clock says before it is set is no date. */
static void test_entries_without_a_date(void **state)
{
    struct bmc *b = start(*state);
    b->now = 500;
    add(b, 400, 0x01, 0x07, 0x6f, 0);
    trial_expect(*state, "Probe=bmc.sel", "ok");
    add(b, 10, 0x30, 0x04, 0x0b, 1);
    trial_expect(*state, "Probe=bmc.sel", "warn bmc 0x30: redundancy is lost, some time ago (entry 2)");
}

static void test_meanings(void **state)
{
    static const struct {
        uint8_t type, kind, offset;
        const char *says;
    } rows[] = {
        {0x01, 0x01, 0x9, "warn bmc 0x01: a sensor rose above its critical limit"},
        {0x02, 0x01, 0x4, "degraded bmc 0x01: a sensor fell below its last limit"},
        {0x01, 0x01, 0x7, "ok"}, /* not critical */
        {0x07, 0x6f, 0xa, "warn bmc 0x01: a processor was slowed down"},
        {0x0c, 0x6f, 0x0, "ok"}, /* corrected */
        {0x0d, 0x6f, 0x0, "ok"}, /* a drive is there */
        {0x0d, 0x6f, 0x1, "degraded bmc 0x01: a drive failed"},
        {0x13, 0x6f, 0xa, "fatal bmc 0x01: a fatal bus error"},
        {0x13, 0x70, 0xa, "ok"}, /* its maker's own */
        {0x0c, 0x0b, 0x5, "degraded bmc 0x01: the rest is not enough to run"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bmc *b = start(*state);
        trial_forget(*state);
        trial_expect(*state, "Probe=bmc.sel", "ok");
        add(b, 0, 0x01, rows[i].type, rows[i].kind, rows[i].offset);
        trial_begins(*state, "Probe=bmc.sel", rows[i].says);
    }
    struct bmc *b = start(*state);
    trial_expect(*state, "Probe=bmc.sel", "ok");
    add(b, 0, 0x01, 0x0c, 0x6f, 1);
    b->log[0].bytes[2] = 0xc1; /* a record of its maker's own */
    trial_expect(*state, "Probe=bmc.sel", "ok");
}

/* A long log is not read from its beginning. */
static void test_long_log(void **state)
{
    struct bmc *b = start(*state);
    for (int i = 0; i < 60; i++)
        add(b, 600, 0x01, 0x0c, 0x6f, 0);
    trial_expect(*state, "Probe=bmc.sel", "ok");
    assert_int_equal(b->requests, 1 + 32);
    b->now += 31 * 24 * 3600; /* nobody wants to know what is so old */
    trial_expect(*state, "Probe=bmc.sel", "ok");
    assert_int_equal(b->requests, 2);
    add(b, 0, 0x01, 0x0c, 0x6f, 1);
    b->log[60].bytes[0] = 200; /* numbers with a gap */
    trial_begins(*state, "Probe=bmc.sel", "fatal bmc 0x01");
}

static void test_bmc_that_does_not_answer(void **state)
{
    struct bmc *b = start(*state);
    b->bad = -EIO;
    trial_expect(*state, "Probe=bmc.sel", "unknown the BMC's event log: Input/output error");
    b->bad = 0xc0;
    trial_expect(*state, "Probe=bmc.sel", "unknown the BMC's event log: its completion code is 0xc0");
    b->bad = 0;
    b->stranger = true;
    trial_expect(*state, "Probe=bmc.sel", "ok");
    /* A log that was read in part would make old entries new. */
    add(b, 100, 0x01, 0x0c, 0x6f, 1);
    add(b, 50, 0x02, 0x0c, 0x6f, 2);
    trial_forget(*state);
    b->breaks = 3;
    trial_expect(*state, "Probe=bmc.sel", "unknown the BMC's event log: Input/output error");
    b->breaks = 0;
    trial_begins(*state, "Probe=bmc.sel", "info bmc 0x01");
    b->breaks = 3;
    trial_begins(*state, "Probe=bmc.sel", "unknown");
    b->breaks = 0;
    trial_begins(*state, "Probe=bmc.sel", "info bmc 0x01");
}

/* A BMC that was reset has no date: entries that were too old to be read are read then, and are not new. */
static void test_clock_that_is_lost(void **state)
{
    struct bmc *b = start(*state);
    add(b, 40 * 24 * 3600, 0x01, 0x0c, 0x6f, 1);
    add(b, 3600, 0x02, 0x0c, 0x6f, 0);
    trial_expect(*state, "Probe=bmc.sel", "ok");
    b->now = 100;
    trial_expect(*state, "Probe=bmc.sel", "ok");
    add(b, 0, 0x03, 0x0c, 0x6f, 2);
    trial_expect(*state, "Probe=bmc.sel",
                 "fatal bmc 0x03: a parity error of memory, some time ago (entry 3)");
    trial_expect(*state, "Probe=bmc.sel",
                 "fatal bmc 0x03: a parity error of memory, some time ago (entry 3)");
}

/* --- sensors -------------------------------------------------------------------------------- */

/* The record of a temperature as a BMC of Supermicro's had it (with a head before it), from what the project
 * gebn/bmc keeps for its tests. */
static const uint8_t cpu_temp[] = {0x01, 0x00, 0x51, 0x01, 0x33, 0x20, 0x00, 0x01, 0x03, 0x01, 0x7f, 0x68,
                                   0x01, 0x01, 0x00, 0x72, 0x00, 0x72, 0x3f, 0x3f, 0x80, 0x01, 0x00, 0x00,
                                   0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07, 0x28, 0x59, 0xfc, 0x7f, 0x80,
                                   0x64, 0x64, 0x5f, 0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x00, 0xc8,
                                   'C',  'P',  'U',  ' ',  'T',  'e',  'm',  'p'};

static struct sdr *add_sensor(struct bmc *b, const uint8_t *record, size_t n)
{
    struct sdr *s = &b->sensors[b->n_sensors++];
    *s = (struct sdr){.reading = {40, 0xc0, 0xc0, 0}, .n = n}; /* bits that are reserved are set */
    memcpy(s->bytes, record, n);
    return s;
}

static struct sdr *add_temperature(struct bmc *b)
{
    return add_sensor(b, cpu_temp, sizeof cpu_temp);
}

/* A compact record, after IPMI 2.0, table 43-2: a sensor with states of its own. */
static struct sdr *add_states(struct bmc *b, uint8_t number, uint8_t type, uint8_t kind)
{
    uint8_t record[35] = {2,    0,    0x51, 0x02, 30,   0x20, 0,    number, 0x0a, 1,
                          0x67, 0x40, type, kind, 0xff, 0,    0xff, 0,      0xff, 0};
    record[31] = 0xc3;
    memcpy(record + 32, "PS1", 3);
    return add_sensor(b, record, sizeof record);
}

static void test_sensors(void **state)
{
    struct bmc *b = start(*state);
    struct sdr *temperature = add_temperature(b), *supply = add_states(b, 0x42, 0x08, 0x6f);
    supply->reading[2] = 1; /* it is there */
    trial_expect(*state, "Probe=bmc.sensor", "ok");
    temperature->reading[2] = 0xc0 | 0x08; /* not critical */
    trial_expect(*state, "Probe=bmc.sensor", "ok");
    temperature->reading[2] = 0xc0 | 0x18;
    trial_expect(*state, "Probe=bmc.sensor",
                 "warn bmc 0x01: CPU Temp: a sensor rose above its critical limit");
    temperature->reading[2] = 0xc0 | 0x04;
    trial_expect(*state, "Probe=bmc.sensor",
                 "degraded bmc 0x01: CPU Temp: a sensor fell below its last limit");
    temperature->bytes[15] = 0x32; /* that one is not told */
    supply->reading[2] = 1 | 2 | 8;
    trial_expect(*state, "Probe=bmc.sensor",
                 "degraded bmc 0x42: PS1: a power supply failed\n"
                 "degraded bmc 0x42: PS1: a power supply has no input");
}

/* What is set for ever once it happened is the log's to tell. */
static void test_states_that_do_not_last(void **state)
{
    struct bmc *b = start(*state);
    add_states(b, 1, 0x0c, 0x6f)->reading[2] = 0x02; /* an uncorrectable error, some day */
    add_states(b, 2, 0x07, 0x6f)->reading[3] = 0x01; /* a processor that is not there */
    add_states(b, 3, 0x08, 0x0b)->reading[2] = 0x02;
    trial_expect(*state, "Probe=bmc.sensor", "warn bmc 0x03: PS1: redundancy is lost");
}

static void test_sensors_that_say_nothing(void **state)
{
    struct bmc *b = start(*state);
    add_temperature(b)->bytes[5] = 0x2c; /* of another controller */
    trial_expect(*state, "Probe=bmc.sensor", "unsupported the BMC has no sensor of its own that can be read");
    struct sdr *s = add_temperature(b);
    s->reading[2] = 0x3f;
    s->reading[1] = 0x80; /* not scanned */
    trial_expect(*state, "Probe=bmc.sensor", "ok");
    s->reading[1] = 0x60; /* nothing to read now */
    trial_expect(*state, "Probe=bmc.sensor", "ok");
    s->bad = NOT_PRESENT;
    trial_expect(*state, "Probe=bmc.sensor", "unsupported the BMC has no sensor of its own that can be read");
    b->sensors[0].bytes[3] = 0x11; /* no sensor */
    s->bad = 0;
    s->reading[1] = 0x40;
    trial_begins(*state, "Probe=bmc.sensor",
                 "warn bmc 0x01: CPU Temp: a sensor fell below its critical limit");
    s->bytes[47] = 0x48; /* a name in a code of four bits */
    trial_begins(*state, "Probe=bmc.sensor", "warn bmc 0x01: a sensor fell below its critical limit");
}

static void test_list_in_pieces(void **state)
{
    struct bmc *b = start(*state);
    b->in_pieces = true;
    add_temperature(b)->reading[2] = 0x10;
    add_states(b, 0x42, 0x08, 0x6f)->reading[2] = 2;
    trial_expect(*state, "Probe=bmc.sensor",
                 "warn bmc 0x01: CPU Temp: a sensor rose above its critical limit\n"
                 "degraded bmc 0x42: PS1: a power supply failed");
    b->taken = 1;
    trial_begins(*state, "Probe=bmc.sensor", "warn bmc 0x01: CPU Temp");
    b->taken = 100;
    trial_expect(*state, "Probe=bmc.sensor", "unknown the BMC's sensors: its completion code is 0xc5");
}

static void test_sensors_of_a_bmc_that_does_not_answer(void **state)
{
    trial_expect(*state, "Probe=bmc.sensor", "unsupported there is no /dev/ipmi0");
    struct bmc *b = start(*state);
    add_temperature(b);
    b->bad = -EIO;
    trial_expect(*state, "Probe=bmc.sensor", "unknown the BMC's sensors: Input/output error");
    b->bad = 0xc1;
    trial_expect(*state, "Probe=bmc.sensor", "unsupported the BMC has no list of its sensors");
    b->bad = 0;
    b->breaks = 1;
    b->requests = 0;
    trial_expect(*state, "Probe=bmc.sensor", "unknown the BMC's sensors: Input/output error");
    b->breaks = 0;
    b->stranger = true;
    trial_expect(*state, "Probe=bmc.sensor", "ok");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_no_bmc),
        IN_TRIAL(test_new_entries),
        IN_TRIAL(test_old_entries),
        IN_TRIAL(test_entries_without_a_date),
        IN_TRIAL(test_meanings),
        IN_TRIAL(test_long_log),
        IN_TRIAL(test_bmc_that_does_not_answer),
        IN_TRIAL(test_clock_that_is_lost),
        IN_TRIAL(test_sensors),
        IN_TRIAL(test_states_that_do_not_last),
        IN_TRIAL(test_sensors_that_say_nothing),
        IN_TRIAL(test_list_in_pieces),
        IN_TRIAL(test_sensors_of_a_bmc_that_does_not_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
