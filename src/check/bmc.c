/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ipmi.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

/* The BMC of this machine, through the kernel's driver, and what its sensors mean. */

static const char device[] = "dev/ipmi0";

int bmc_open(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return root;
    int fd = openat(root, device, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), r = -errno;
    if (fd < 0)
        fact_cannot(root, out, device, r);
    return fd < 0 ? r : fd;
}

/* An answer to an earlier request is skipped. */
static int bmc_receive(const struct look *l, int fd, long id, struct bmc_reply *out)
{
    enum { ANSWER_MS = 5000 };
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

int bmc_ask(const struct look *l, int fd, uint8_t function, uint8_t lun, uint8_t command, uint8_t *data,
            size_t n, struct bmc_reply *out)
{
    static long ids;
    struct ipmi_system_interface_addr bmc = {
        .addr_type = IPMI_SYSTEM_INTERFACE_ADDR_TYPE, .channel = IPMI_BMC_CHANNEL, .lun = lun};
    struct ipmi_req q = {
        .addr = (unsigned char *)&bmc,
        .addr_len = sizeof bmc,
        .msgid = ++ids,
        .msg = {.netfn = function, .cmd = command, .data_len = (unsigned short)n, .data = data}};
    int bad = device_control(l, fd, IPMICTL_SEND_COMMAND, &q);
    return bad < 0 ? bad : bmc_receive(l, fd, q.msgid, out);
}

void bmc_failed(const char *what, int code, struct text *out)
{
    if (code < 0)
        fact_add(out, "unknown", "%s: %s", what, strerror(-code));
    else
        fact_add(out, "unknown", "%s: its completion code is 0x%02x", what, (unsigned)code);
}

/* --- what it means -------------------------------------------------------------------------- */

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

/* IPMI 2.0, tables 42-2 and 42-3. States that stay set for an empty socket, or long after the event, do
 * not last. */
static const struct row {
    int type, kind, offset;
    struct bmc_meaning meaning;
} meanings[] = {
    {ANY, THRESHOLD, 0x2, {RESULT_WARN, "a sensor fell below its critical limit", true}},
    {ANY, THRESHOLD, 0x4, {RESULT_DEGRADED, "a sensor fell below its last limit", true}},
    {ANY, THRESHOLD, 0x9, {RESULT_WARN, "a sensor rose above its critical limit", true}},
    {ANY, THRESHOLD, 0xb, {RESULT_DEGRADED, "a sensor rose above its last limit", true}},
    {ANY, REDUNDANCY, 0x1, {RESULT_WARN, "redundancy is lost", true}},
    {ANY, REDUNDANCY, 0x5, {RESULT_DEGRADED, "the rest is not enough to run", true}},
    {PROCESSOR, SPECIFIC, 0x0, {RESULT_FATAL, "a processor stopped with an internal error", false}},
    {PROCESSOR, SPECIFIC, 0x1, {RESULT_FATAL, "a processor was switched off by heat", false}},
    {PROCESSOR, SPECIFIC, 0x2, {RESULT_FATAL, "a processor failed its own test", false}},
    {PROCESSOR, SPECIFIC, 0x5, {RESULT_FATAL, "a processor has a configuration error", false}},
    {PROCESSOR, SPECIFIC, 0x6, {RESULT_FATAL, "a processor reports an uncorrectable error", false}},
    {PROCESSOR, SPECIFIC, 0x8, {RESULT_FATAL, "a processor was disabled", false}},
    {PROCESSOR, SPECIFIC, 0xa, {RESULT_WARN, "a processor was slowed down", true}},
    {PROCESSOR, SPECIFIC, 0xb, {RESULT_FATAL, "a machine check that could not be corrected", false}},
    {PROCESSOR, SPECIFIC, 0xc, {RESULT_WARN, "a machine check that was corrected", false}},
    {POWER_SUPPLY, SPECIFIC, 0x1, {RESULT_DEGRADED, "a power supply failed", true}},
    {POWER_SUPPLY, SPECIFIC, 0x2, {RESULT_WARN, "a power supply predicts its failure", true}},
    {POWER_SUPPLY, SPECIFIC, 0x3, {RESULT_DEGRADED, "a power supply has no input", true}},
    {MEMORY, SPECIFIC, 0x1, {RESULT_FATAL, "an uncorrectable error of memory", false}},
    {MEMORY, SPECIFIC, 0x2, {RESULT_FATAL, "a parity error of memory", false}},
    {MEMORY, SPECIFIC, 0x3, {RESULT_FATAL, "a bit of memory is stuck", false}},
    {MEMORY, SPECIFIC, 0x4, {RESULT_FATAL, "memory was disabled", false}},
    {MEMORY,
     SPECIFIC,
     0x5,
     {RESULT_WARN, "so many corrected errors of memory that no more are logged", false}},
    {MEMORY, SPECIFIC, 0xa, {RESULT_DEGRADED, "memory is too hot", true}},
    {DRIVE, SPECIFIC, 0x1, {RESULT_DEGRADED, "a drive failed", true}},
    {DRIVE, SPECIFIC, 0x2, {RESULT_WARN, "a drive predicts its failure", true}},
    {DRIVE, SPECIFIC, 0x6, {RESULT_FATAL, "an array of drives failed", true}},
    {FIRMWARE, SPECIFIC, 0x0, {RESULT_WARN, "the system's firmware found an error", false}},
    {FIRMWARE, SPECIFIC, 0x1, {RESULT_FATAL, "the system's firmware hung", false}},
    {INTERRUPT, SPECIFIC, 0x4, {RESULT_FATAL, "a parity error of PCI", false}},
    {INTERRUPT, SPECIFIC, 0x5, {RESULT_FATAL, "a system error of PCI", false}},
    {INTERRUPT, SPECIFIC, 0x7, {RESULT_WARN, "a bus error that was corrected", false}},
    {INTERRUPT, SPECIFIC, 0x8, {RESULT_FATAL, "a bus error that could not be corrected", false}},
    {INTERRUPT, SPECIFIC, 0xa, {RESULT_FATAL, "a fatal bus error", false}},
    {INTERRUPT, SPECIFIC, 0xb, {RESULT_WARN, "a bus runs degraded", true}},
    {CHIPSET, SPECIFIC, 0x1, {RESULT_FATAL, "the chipset was switched off by heat", false}},
    {SLOT, SPECIFIC, 0x0, {RESULT_DEGRADED, "a slot reports a fault", true}},
    {WATCHDOG, SPECIFIC, 0x1, {RESULT_WARN, "the watchdog reset the machine", false}},
    {WATCHDOG, SPECIFIC, 0x3, {RESULT_WARN, "the watchdog cut the power", false}},
};

const struct bmc_meaning *bmc_meaning(uint64_t type, uint64_t kind, uint64_t offset)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        const struct row *m = &meanings[i];
        if ((m->type == ANY || (uint64_t)m->type == type) && (uint64_t)m->kind == kind &&
            (uint64_t)m->offset == offset)
            return &m->meaning;
    }
    return NULL;
}
