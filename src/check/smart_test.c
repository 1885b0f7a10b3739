/* SPDX-License-Identifier: Apache-2.0 */
#include "check/trial_test.h"

#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Disks of a machine that is a tree: what they answer stands in the file of their device, a log page or sense
 * data. */

struct disks {
    int answer; /* to whatever is asked; with 0 the file's text */
    int host_status;
    unsigned sense_key; /* of a SCSI disk, in place of the page */
    int attentions;     /* that it first gives notice of */
};

static int answer_nvme(const struct disks *d, int fd, const struct nvme_admin_cmd *command)
{
    assert_int_equal(command->opcode, 2);
    assert_int_equal(command->nsid, 0xffffffff);
    assert_int_equal(command->cdw10, 2 | 127 << 16);
    assert_int_equal(command->data_len, 512);
    if (d->answer == 0)
        assert_int_equal(pread(fd, (void *)(uintptr_t)command->addr, 512, 0), 512);
    return d->answer;
}

static int answer_ata(const struct disks *d, int fd, struct sg_io_hdr *h)
{
    static const uint8_t smart_return_status[] = {0x85, 6, 0x20, 0, 0xda, 0, 0,    0,
                                                  0,    0, 0x4f, 0, 0xc2, 0, 0xb0, 0};
    assert_int_equal(h->cmd_len, sizeof smart_return_status);
    assert_memory_equal(h->cmdp, smart_return_status, sizeof smart_return_status);
    ssize_t n = pread(fd, h->sbp, h->mx_sb_len, 0);
    h->sb_len_wr = (unsigned char)n;
    h->host_status = (unsigned short)d->host_status;
    return d->answer;
}

static int answer_scsi(struct disks *d, int fd, struct sg_io_hdr *h)
{
    static const uint8_t log_sense[] = {0x4d, 0, 0x6f, 0, 0, 0, 0, 0, 252, 0};
    assert_int_equal(h->cmd_len, sizeof log_sense);
    assert_memory_equal(h->cmdp, log_sense, sizeof log_sense);
    assert_int_equal(h->dxfer_direction, SG_DXFER_FROM_DEV);
    unsigned key = d->attentions > 0 ? 6 : d->sense_key;
    d->attentions--;
    if (key) {
        h->status = 2;
        h->sbp[0] = 0x70;
        h->sbp[2] = (unsigned char)key;
        h->sb_len_wr = 18;
        return d->answer;
    }
    h->resid = (int)h->dxfer_len - (int)pread(fd, h->dxferp, h->dxfer_len, 0);
    return d->answer;
}

static int control(void *arg, int fd, unsigned long request, void *what)
{
    struct disks *d = arg;
    if (request == NVME_IOCTL_ADMIN_CMD)
        return answer_nvme(d, fd, what);
    assert_int_equal(request, SG_IO);
    struct sg_io_hdr *h = what;
    return h->cmdp[0] == 0x4d ? answer_scsi(d, fd, h) : answer_ata(d, fd, h);
}

/* --- NVMe ----------------------------------------------------------------------------------- */

struct page {
    uint8_t warnings, spare, threshold, used;
    uint16_t kelvin;
    uint64_t media;
};
#define HEALTHY                                                               \
    {                                                                         \
        .spare = 100, .threshold = 10, .used = 3, .kelvin = 310, .media = 700 \
    }

static void put(uint8_t *at, uint64_t n, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(n >> 8 * i);
}

static void add_nvme(struct trial *t, const char *name, const struct page *p)
{
    char path[64];
    uint8_t bytes[512] = {p->warnings, 0, 0, p->spare, p->threshold, p->used};
    put(bytes + 1, p->kelvin, 2);
    put(bytes + 160, p->media, 8);
    snprintf(path, sizeof path, "sys/class/nvme/%s/transport", name);
    trial_add(t, path, "pcie\n");
    snprintf(path, sizeof path, "sys/class/nvme/%s/state", name);
    trial_add(t, path, "live\n");
    snprintf(path, sizeof path, "dev/%s", name);
    tree_add_bytes(t->tree, path, bytes, sizeof bytes);
}

static void nvme_is(struct trial *t, const struct page *p, const char *want)
{
    add_nvme(t, "nvme0", p);
    trial_expect(t, "Probe=smart", want);
}

static void test_nvme(void **state)
{
    struct trial *t = *state;
    struct disks disks = {0};
    struct look_calls calls = {.arg = &disks, .control = control};
    struct page p = HEALTHY;
    t->calls = &calls;
    trial_expect(t, "Probe=smart", "unsupported no disk says how it is");
    nvme_is(t, &p, "ok"); /* what is counted so far is nothing new */
    p.used = 100;
    nvme_is(t, &p, "warn nvme nvme0: 100 % of the life that its maker gives it are used");
    p.spare = 9;
    p.used = 3;
    nvme_is(t, &p, "fatal nvme nvme0: 9 % of its spare blocks are left, of at least 10 %");
    p.warnings = 1;
    p.spare = 10;
    nvme_is(t, &p, "fatal nvme nvme0: 10 % of its spare blocks are left, of at least 10 %");
    p.warnings = 2;
    p.kelvin = 360;
    nvme_is(t, &p, "degraded nvme nvme0: its temperature is beyond a limit of its own (87 C)");
    p.warnings = 4;
    nvme_is(
        t, &p,
        "fatal nvme nvme0: it says that it is not reliable any more, after errors of its media or inside it");
    p.warnings = 8 | 16;
    nvme_is(t, &p,
            "fatal nvme nvme0: its media became read-only\n"
            "fatal nvme nvme0: the backup of its volatile memory failed");
    p.warnings = 32;
    nvme_is(t, &p, "fatal nvme nvme0: its persistent memory is not reliable any more, or read-only");
}

static void test_nvme_media_errors(void **state)
{
    struct trial *t = *state;
    struct disks disks = {0};
    struct look_calls calls = {.arg = &disks, .control = control};
    struct page p = HEALTHY;
    t->calls = &calls;
    nvme_is(t, &p, "ok");
    p.media += 2;
    nvme_is(t, &p, "warn nvme nvme0: 2 media errors within a day");
    p.media = 0; /* another disk */
    nvme_is(t, &p, "warn nvme nvme0: 2 media errors within a day");
    t->now_s += 86400;
    nvme_is(t, &p, "ok");
    p.media = UINT64_MAX;
    nvme_is(t, &p, "warn nvme nvme0: 18446744073709551615 media errors within a day");
}

static void test_nvme_that_does_not_answer(void **state)
{
    struct trial *t = *state;
    struct disks disks = {.answer = -EIO};
    struct look_calls calls = {.arg = &disks, .control = control};
    struct page p = HEALTHY;
    t->calls = &calls;
    nvme_is(t, &p, "unknown the health log of nvme0: Input/output error");
    disks.answer = 0x6; /* internal error */
    nvme_is(t, &p, "unknown the health log of nvme0: NVMe status 0x6");
    disks.answer = 0x4002; /* invalid field, do not retry */
    nvme_is(t, &p, "unsupported no disk says how it is");
    disks.answer = -ENOTTY;
    nvme_is(t, &p, "unsupported no disk says how it is");
    disks.answer = 0;
    trial_add(t, "sys/class/nvme/nvme0/state", "resetting\n");
    trial_expect(t, "Probe=smart", "unknown nvme0 is resetting");
    trial_add(t, "sys/class/nvme/nvme0/transport", "tcp\n");
    trial_expect(t, "Probe=smart", "unsupported no disk says how it is");
    trial_add(t, "sys/class/nvme/nvme1/state", "live\n");
    trial_expect(t, "Probe=smart", "unknown /dev/nvme1: No such file or directory");
}

/* One that cannot be read hides nothing of another. */
static void test_one_of_several(void **state)
{
    struct trial *t = *state;
    struct disks disks = {0};
    struct look_calls calls = {.arg = &disks, .control = control};
    struct page p = HEALTHY, bad = HEALTHY;
    t->calls = &calls;
    bad.warnings = 8;
    add_nvme(t, "nvme0", &p);
    add_nvme(t, "nvme1", &bad);
    trial_expect(t, "Probe=smart", "fatal nvme nvme1: its media became read-only");
    trial_expect(t, "Probe=smart Path=/dev/nvme0", "ok");
    trial_expect(t, "Probe=smart Path=/dev/nvme1", "fatal nvme nvme1: its media became read-only");
    trial_expect(t, "Probe=smart Path=/dev/nvme2", "unsupported no disk says how it is");
    trial_add(t, "sys/class/nvme/nvme0/state", "resetting\n");
    trial_expect(t, "Probe=smart", "fatal nvme nvme1: its media became read-only");
}

/* --- ATA ------------------------------------------------------------------------------------ */

static void ata_is(struct trial *t, const void *sense, size_t n, const char *want)
{
    trial_add(t, "sys/block/sda/device/vendor", "ATA     \n");
    tree_add_bytes(t->tree, "dev/sda", sense, n);
    trial_expect(t, "Probe=smart", want);
}

static void test_ata(void **state)
{
    struct trial *t = *state;
    struct disks disks = {0};
    struct look_calls calls = {.arg = &disks, .control = control};
    uint8_t sense[] = {0x72, 1,  0, 0x1d, 0, 0, 0, 14, /* recovered error: registers follow */
                       0x09, 12, 0, 0,    0, 0, 0, 1,  0, 0x4f, 0, 0xc2, 0, 0x50};
    t->calls = &calls;
    ata_is(t, sense, sizeof sense, "ok");
    sense[17] = 0xf4;
    sense[19] = 0x2c;
    ata_is(t, sense, sizeof sense, "fatal disk sda: it predicts its own failure (SMART)");
    ata_is(t, sense, sizeof sense - 1, "unsupported no disk says how it is"); /* cut */
    sense[21] = 0x51;                                                         /* it aborted the command */
    ata_is(t, sense, sizeof sense, "unsupported no disk says how it is");
    sense[21] = 0x50;
    sense[17] = sense[19] = 0; /* a bridge that keeps the registers to itself */
    ata_is(t, sense, sizeof sense, "unsupported no disk says how it is");
    sense[0] = 0x70;
    ata_is(t, sense, sizeof sense, "unsupported no disk says how it is");
    disks.host_status = 7;
    ata_is(t, sense, sizeof sense, "unknown SMART of sda: the host adapter's status is 0x7");
    disks.answer = -EIO;
    ata_is(t, sense, sizeof sense, "unknown SMART of sda: Input/output error");
}

/* --- SCSI ----------------------------------------------------------------------------------- */

static void add_scsi(struct trial *t, const char *name, const void *page, size_t n)
{
    char path[64];
    snprintf(path, sizeof path, "sys/block/%s/device/vendor", name);
    trial_add(t, path, "SEAGATE \n");
    snprintf(path, sizeof path, "sys/block/%s/device/type", name);
    trial_add(t, path, "0\n");
    snprintf(path, sizeof path, "sys/block/%s/removable", name);
    trial_add(t, path, "0\n");
    snprintf(path, sizeof path, "dev/%s", name);
    tree_add_bytes(t->tree, path, page, n);
}

static void scsi_is(struct trial *t, const void *page, size_t n, const char *want)
{
    add_scsi(t, "sda", page, n);
    trial_expect(t, "Probe=smart", want);
}

/* As Linux's scsi_debug answers, whose disk can be told to test the prediction of a failure. */
#define EXCEPTIONS(asc, ascq)                                \
    {                                                        \
        0x2f, 0, 0, 7, 0x0, 0x0, 0x3, 0x3, (asc), (ascq), 38 \
    }

static void test_scsi(void **state)
{
    struct trial *t = *state;
    struct disks disks = {0};
    struct look_calls calls = {.arg = &disks, .control = control};
    const uint8_t fine[] = EXCEPTIONS(0, 0), test[] = EXCEPTIONS(0x5d, 0xff), ill[] = EXCEPTIONS(0x5d, 0x10);
    const uint8_t hot[] = EXCEPTIONS(0x0b, 0x01), other[] = EXCEPTIONS(0x0b, 0x02);
    t->calls = &calls;
    scsi_is(t, fine, sizeof fine, "ok");
    scsi_is(t, ill, sizeof ill, "fatal disk sda: it predicts its own failure (SMART, 5d/10)");
    scsi_is(t, test, sizeof test, "info disk sda: it was told to predict its failure, as a test");
    scsi_is(t, hot, sizeof hot,
            "warn disk sda: it warns (0b/01): its temperature is beyond a limit of its own");
    scsi_is(t, other, sizeof other, "warn disk sda: it warns (0b/02)");
    disks.attentions = 2; /* it was reset, and tells so first */
    scsi_is(t, ill, sizeof ill, "fatal disk sda: it predicts its own failure (SMART, 5d/10)");
    disks.attentions = 3;
    scsi_is(t, ill, sizeof ill, "unknown SMART of sda: its status is 0x2, its sense key 0x6");
    disks.attentions = 0;
    scsi_is(t, fine, sizeof fine - 2, "unsupported no disk says how it is"); /* cut */
    disks.sense_key = 5;                                                     /* it has no such page */
    scsi_is(t, ill, sizeof ill, "unsupported no disk says how it is");
    disks.sense_key = 4; /* hardware error */
    scsi_is(t, ill, sizeof ill, "unknown SMART of sda: its status is 0x2, its sense key 0x4");
    disks.sense_key = 0;
    trial_add(t, "sys/block/sda/device/type", "5\n"); /* an optical drive */
    trial_expect(t, "Probe=smart", "unsupported no disk says how it is");
    trial_add(t, "sys/block/sda/device/type", "0\n");
    trial_add(t, "sys/block/sda/removable", "1\n");
    trial_expect(t, "Probe=smart", "unsupported no disk says how it is");
}

/* --- one after another ---------------------------------------------------------------------- */

static void test_parts(void **state)
{
    struct trial *t = *state;
    struct disks disks = {.answer = -EIO};
    struct look_calls calls = {.arg = &disks, .control = control};
    struct checks checks = {0};
    struct page p = HEALTHY;
    CLEANUP_TEXT struct text parts = {0}, facts = {0};
    static const char records[] = "Check=smart\nCheck=one Probe=smart Path=/dev/sda\n";
    assert_int_equal(checks_parse("test", records, strlen(records), &checks, NULL), 0);
    struct look l = {.check = &checks.list[0], .root = t->tree->root, .calls = &calls};
    look_parts(&l, &parts);
    assert_int_equal(parts.len, 0);
    add_nvme(t, "nvme1", &p);
    add_scsi(t, "sda", "", 0);
    add_scsi(t, "sdb", "", 0);
    trial_add(t, "sys/block/sdb/device/vendor", "ATA     \n");
    look_parts(&l, &parts);
    assert_string_equal(parts.s, "/dev/nvme1\n/dev/sdb\n/dev/sda\n");
    l.part = "/dev/sda";
    probe_code(PROBE_SMART)->gather(&l, &facts);
    assert_string_equal(facts.s, "unknown SMART of sda: Input/output error\n");
    text_clear(&parts);
    l = (struct look){.check = &checks.list[1], .root = t->tree->root};
    look_parts(&l, &parts);
    assert_int_equal(parts.len, 0); /* the record names the one */
    checks_fini(&checks);
}

/* Without calls of its own it asks the file, which is no device. */
static void test_system_call(void **state)
{
    struct page p = HEALTHY;
    nvme_is(*state, &p, "unsupported no disk says how it is");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TRIAL(test_nvme),
        IN_TRIAL(test_nvme_media_errors),
        IN_TRIAL(test_one_of_several),
        IN_TRIAL(test_nvme_that_does_not_answer),
        IN_TRIAL(test_ata),
        IN_TRIAL(test_scsi),
        IN_TRIAL(test_parts),
        IN_TRIAL(test_system_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
