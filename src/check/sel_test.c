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

/* A BMC that has a log, behind the system calls of its driver. */

enum { LOG_MAX = 64, NOW = 0x68000000, NOT_PRESENT = 0xcb };

struct bmc {
    struct sel_record log[LOG_MAX]; /* of which the last is the newest; the numbers stand in them */
    size_t n;
    uint32_t now;
    int bad;       /* -errno of each request, or its completion code */
    bool stranger; /* an answer to somebody else comes first */
    size_t breaks; /* at this request of a look; 0: none */
    long asked;
    uint8_t reply[64];
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

static int answer(struct bmc *b, const struct ipmi_req *q)
{
    b->asked = q->msgid;
    b->requests = q->msg.cmd == 0x48 ? 1 : b->requests + 1;
    if (b->requests == b->breaks)
        return -EIO;
    assert_int_equal(q->msg.netfn, 0x0a);
    memset(b->reply, 0, sizeof b->reply);
    b->reply[0] = b->bad > 0 ? (uint8_t)b->bad : 0;
    b->reply_len = b->bad ? 1 : 5;
    if (b->bad)
        return b->bad < 0 ? b->bad : 0;
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
        {0x0c, 0x0b, 0x5, "degraded bmc 0x01: what is left is not enough to run"},
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
