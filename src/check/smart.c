/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

/*
 * smart   "nvme NAME WARNINGS SPARE THRESHOLD USED KELVIN MEDIA" of each NVMe controller of this machine:
 *         bits of its critical warnings, spare blocks and the least of them in percent, percent of its life,
 *         temperature, media errors since it was made;
 *         "ata NAME FAILS" of each ATA disk that knows: 1 where it predicts its own failure;
 *         "scsi NAME ASC ASCQ" of each other SCSI disk that knows: what it would report of itself, or 0 0;
 *         "silent NAME" of each that does not say
 *
 * The device itself is asked. One that does not answer holds the look up until the kernel gives it up, a
 * minute by default, and no time of our own is set: when a command runs out of its time, the kernel resets
 * the controller. NVMe over a network is its server's.
 */

enum { WAITS_NOT = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };

/* --- NVMe ----------------------------------------------------------------------------------- */

/* NVM Express Base Specification, "SMART / Health Information" log page (02h). */
void smart_nvme(const char *name, const uint8_t page[static SMART_PAGE_BYTES], struct text *out)
{
    enum { WARNINGS = 0, KELVIN = 1, SPARE = 3, THRESHOLD = 4, USED = 5, MEDIA = 160 };
    uint64_t media = bytes_little(page + MEDIA, 8), beyond = bytes_little(page + MEDIA + 8, 8);
    fact_add(out, "nvme", "%s %u %u %u %u %" PRIu64 " %" PRIu64, name, page[WARNINGS], page[SPARE],
             page[THRESHOLD], page[USED], bytes_little(page + KELVIN, 2), beyond ? UINT64_MAX : media);
}

/* A device without such a log says so in one of these ways. */
static bool has_no_log(int r)
{
    enum { INVALID_OPCODE = 0x001, INVALID_FIELD = 0x002, INVALID_LOG_PAGE = 0x109, STATUS_CODE = 0x7ff };
    if (r < 0)
        return r == -ENOTTY || r == -EOPNOTSUPP;
    return (r & STATUS_CODE) == INVALID_OPCODE || (r & STATUS_CODE) == INVALID_FIELD ||
           (r & STATUS_CODE) == INVALID_LOG_PAGE;
}

static int read_log(const struct look *l, int fd, uint8_t page[static SMART_PAGE_BYTES])
{
    enum { GET_LOG_PAGE = 0x02, HEALTH = 0x02, DWORDS = SMART_PAGE_BYTES / 4 };
    struct nvme_admin_cmd command = {.opcode = GET_LOG_PAGE,
                                     .nsid = UINT32_MAX,
                                     .addr = (uintptr_t)page,
                                     .data_len = SMART_PAGE_BYTES,
                                     .cdw10 = HEALTH | (DWORDS - 1) << 16};
    return device_control(l, fd, NVME_IOCTL_ADMIN_CMD, &command);
}

static void ask_nvme(const struct look *l, int dir, int fd, const char *name, struct text *out)
{
    char state[SYS_TEXT_BYTES_MAX] = "live";
    uint8_t page[SMART_PAGE_BYTES] = {0};
    sys_text(dir, "state", state);
    if (strcmp(state, "live") != 0) {
        fact_add(out, "unknown", "%s is %s", name, state);
        return;
    }
    int r = read_log(l, fd, page);
    if (r == 0)
        smart_nvme(name, page, out);
    else if (r < 0 && !has_no_log(r))
        fact_add(out, "unknown", "the health log of %s: %s", name, strerror(-r));
    else if (!has_no_log(r))
        fact_add(out, "unknown", "the health log of %s: NVMe status 0x%x", name, (unsigned)r);
}

static bool is_nvme(int dir)
{
    char transport[SYS_TEXT_BYTES_MAX] = "pcie";
    sys_text(dir, "transport", transport);
    return strcmp(transport, "pcie") == 0;
}

/* --- commands of SCSI ----------------------------------------------------------------------- */

enum { CHECK_CONDITION = 2, SENSE_BYTES = 32, ILLEGAL_REQUEST = 5, UNIT_ATTENTION = 6 };

static unsigned sense_key(const uint8_t *sense, size_t n)
{
    enum { DESCRIPTORS = 0x72 };
    if (n < 3)
        return 0;
    return (sense[0] & 0x7e) == DESCRIPTORS ? sense[1] & 0xf : sense[2] & 0xf;
}

/* Whether the command reached the disk and an answer came back. Where it did not, that is a fact, unless
 * the device takes no commands. */
static bool smart_answers(const struct look *l, int fd, const char *name, struct sg_io_hdr *h,
                          struct text *out)
{
    h->interface_id = 'S';
    h->mx_sb_len = SENSE_BYTES;
    int r = device_control(l, fd, SG_IO, h);
    if (r < 0 && r != -ENOTTY)
        fact_add(out, "unknown", "SMART of %s: %s", name, strerror(-r));
    else if (r == 0 && h->host_status != 0)
        fact_add(out, "unknown", "SMART of %s: the host adapter's status is 0x%x", name, h->host_status);
    return r == 0 && h->host_status == 0;
}

static size_t sense_len(const struct sg_io_hdr *h)
{
    return h->sb_len_wr < SENSE_BYTES ? h->sb_len_wr : SENSE_BYTES;
}

/* --- ATA ------------------------------------------------------------------------------------ */

/* The registers after SMART RETURN STATUS, in the sense data of SAT's ATA PASS-THROUGH. A disk whose SMART is
 * off aborts the command, and some bridges return no registers: nothing is known of those. */
void smart_ata(const char *name, const uint8_t *sense, size_t n, struct text *out)
{
    enum { DESCRIPTORS = 0x72, AT = 8, ATA_RETURN = 0x09, ATA_RETURN_BYTES = 14, ERROR_BIT = 1 };
    if (n < AT || (sense[0] & 0x7f) != DESCRIPTORS)
        return;
    for (size_t at = AT; at + ATA_RETURN_BYTES <= n; at += 2 + (size_t)sense[at + 1]) {
        const uint8_t *d = sense + at;
        unsigned signature = (unsigned)d[11] << 8 | d[9];
        if (d[0] != ATA_RETURN || d[13] & ERROR_BIT)
            continue;
        if (signature == 0xc24f || signature == 0x2cf4)
            fact_add(out, "ata", "%s %d", name, signature == 0x2cf4);
    }
}

static void ask_ata(const struct look *l, int dir, int fd, const char *name, struct text *out)
{
    enum { PASS_THROUGH_16 = 0x85, NO_DATA = 3 << 1, WITH_REGISTERS = 0x20 };
    enum { SMART = 0xb0, RETURN_STATUS = 0xda, SIGNATURE_MIDDLE = 0x4f, SIGNATURE_HIGH = 0xc2 };
    uint8_t sense[SENSE_BYTES] = {0};
    uint8_t command[16] = {PASS_THROUGH_16,         NO_DATA, WITH_REGISTERS,        [4] = RETURN_STATUS,
                           [10] = SIGNATURE_MIDDLE, 0,       [12] = SIGNATURE_HIGH, [14] = SMART};
    struct sg_io_hdr h = {
        .dxfer_direction = SG_DXFER_NONE, .cmd_len = sizeof command, .cmdp = command, .sbp = sense};
    (void)dir;
    if (smart_answers(l, fd, name, &h, out))
        smart_ata(name, sense, sense_len(&h), out);
}

static bool is_ata(int dir)
{
    char vendor[SYS_TEXT_BYTES_MAX];
    return sys_text(dir, "device/vendor", vendor) == 0 && strcmp(vendor, "ATA") == 0;
}

/* --- SCSI ----------------------------------------------------------------------------------- */

/* SPC-4, log page 2Fh (Informational Exceptions): its first parameter is 0 and has the additional sense code
 * with its qualifier. */
void smart_scsi(const char *name, const uint8_t *page, size_t n, struct text *out)
{
    enum { EXCEPTIONS = 0x2f, CODE_MASK = 0x3f, HEAD = 4, PARAMETER = 4 };
    if (n < HEAD + PARAMETER + 2 || (page[0] & CODE_MASK) != EXCEPTIONS || page[1] != 0)
        return;
    size_t len = (size_t)page[2] << 8 | page[3];
    const uint8_t *p = page + HEAD;
    if (len >= PARAMETER + 2 && p[0] == 0 && p[1] == 0 && p[3] >= 2)
        fact_add(out, "scsi", "%s %u %u", name, p[PARAMETER], p[PARAMETER + 1]);
}

/* A disk says once to everybody that something happened to it, as a reset, in place of the answer. */
static void ask_scsi(const struct look *l, int dir, int fd, const char *name, struct text *out)
{
    enum { LOG_SENSE = 0x4d, CUMULATIVE = 1 << 6, EXCEPTIONS = 0x2f, PAGE_BYTES = 252, TRIES = 3 };
    uint8_t sense[SENSE_BYTES] = {0}, page[PAGE_BYTES] = {0};
    uint8_t command[10] = {LOG_SENSE, 0, CUMULATIVE | EXCEPTIONS, [8] = PAGE_BYTES};
    unsigned key = UNIT_ATTENTION;
    struct sg_io_hdr h = {.status = 0};
    (void)dir;
    for (int i = 0; i < TRIES && key == UNIT_ATTENTION; i++) {
        h = (struct sg_io_hdr){.dxfer_direction = SG_DXFER_FROM_DEV,
                               .cmd_len = sizeof command,
                               .cmdp = command,
                               .dxferp = page,
                               .dxfer_len = sizeof page,
                               .sbp = sense};
        if (!smart_answers(l, fd, name, &h, out))
            return;
        key = h.status == CHECK_CONDITION ? sense_key(sense, sense_len(&h)) : 0;
    }
    if (h.status == 0)
        smart_scsi(name, page, h.resid >= 0 && h.resid < PAGE_BYTES ? PAGE_BYTES - (size_t)h.resid : 0, out);
    else if (key != ILLEGAL_REQUEST)
        fact_add(out, "unknown", "SMART of %s: its status is 0x%x, its sense key 0x%x", name, h.status, key);
}

/* No optical drive, and no removable device. */
static bool is_scsi(int dir)
{
    enum { DIRECT_ACCESS = 0 };
    uint64_t type, removable;
    char vendor[SYS_TEXT_BYTES_MAX];
    return sys_text(dir, "device/vendor", vendor) == 0 && !is_ata(dir) &&
           sys_u64(dir, "device/type", &type) == 0 && type == DIRECT_ACCESS &&
           sys_u64(dir, "removable", &removable) == 0 && removable == 0;
}

/* --- the devices ---------------------------------------------------------------------------- */

struct kind {
    const char *class;
    bool (*is_one)(int dir);
    void (*ask)(const struct look *l, int dir, int fd, const char *name, struct text *out);
};
static const struct kind kinds[] = {
    {"sys/class/nvme", is_nvme, ask_nvme}, {"sys/block", is_ata, ask_ata}, {"sys/block", is_scsi, ask_scsi}};

static void ask_device(const struct look *l, const struct kind *k, int root, int dir, const char *name,
                       struct text *out)
{
    char path[SYS_TEXT_BYTES_MAX + 8];
    size_t before = out->len;
    snprintf(path, sizeof path, "dev/%.120s", name);
    CLEANUP_FD int fd = openat(root, path, WAITS_NOT);
    if (fd < 0)
        fact_add(out, "unknown", "/%s: %s", path, strerror(errno));
    else
        k->ask(l, dir, fd, name, out);
    if (out->len == before)
        fact_add(out, "silent", "%s", name);
}

/* Names each of a kind, or asks it. */
static void each_of(const struct look *l, const struct kind *k, int root, bool ask, struct text *out)
{
    const char *path = l->part ? l->part : check_arg(l->check, "Path");
    const char *only = path ? strrchr(path, '/') + 1 : NULL;
    struct sys_names names = {0};
    CLEANUP_FD int class = sys_open_dir(root, k->class);
    if (class < 0)
        return;
    sys_names_read(&names, class);
    sys_names_sort(&names);
    for (size_t i = 0; i < names.n; i++) {
        const char *name = names.names[i];
        CLEANUP_FD int dir = sys_open_dir(class, name);
        if (dir < 0 || (only && strcmp(only, name) != 0) || !k->is_one(dir))
            continue;
        if (ask)
            ask_device(l, k, root, dir, name, out);
        else
            text_printf(out, "/dev/%s\n", name);
    }
    sys_names_fini(&names);
}

void parts_SMART(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = sys_open_root(l->root, NULL);
    for (size_t i = 0; root >= 0 && i < sizeof kinds / sizeof *kinds; i++)
        each_of(l, &kinds[i], root, false, out);
}

void gather_SMART(const struct look *l, struct text *out)
{
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        each_of(l, &kinds[i], root, true, out);
    if (out->len > 0)
        return;
    bool known = sys_mounted(root);
    fact_add(out, known ? "unsupported" : "unknown", "%s",
             known ? "no disk says how it is" : "/sys is not mounted");
}

/* --- judging -------------------------------------------------------------------------------- */

/* Bits of the critical warnings; that of the spare blocks is judged with their number. */
static const struct {
    uint64_t bit;
    enum result result;
    const char *what;
} warnings[] = {
    {0x02, RESULT_DEGRADED, "its temperature is beyond a limit of its own"},
    {0x04, RESULT_FATAL, "it says that it is not reliable any more, after errors of its media or inside it"},
    {0x08, RESULT_FATAL, "its media became read-only"},
    {0x10, RESULT_FATAL, "the backup of its volatile memory failed"},
    {0x20, RESULT_FATAL, "its persistent memory is not reliable any more, or read-only"}};
enum { SPARE_LOW = 0x01 };

struct health {
    uint64_t warnings, spare, threshold, used, kelvin, media;
};

static bool health_of(const struct words *w, struct health *h)
{
    return word_u64(w, 1, &h->warnings) && word_u64(w, 2, &h->spare) && word_u64(w, 3, &h->threshold) &&
           word_u64(w, 4, &h->used) && word_u64(w, 5, &h->kelvin) && word_u64(w, 6, &h->media);
}

static void judge_warnings(const struct health *h, const char *device, struct verdict *v)
{
    char heat[32] = "";
    if (h->kelvin > 273)
        snprintf(heat, sizeof heat, " (%" PRIu64 " C)", h->kelvin - 273);
    for (size_t i = 0; i < sizeof warnings / sizeof *warnings; i++)
        if (h->warnings & warnings[i].bit)
            verdict_add(v, warnings[i].result, device, "", "%s%s", warnings[i].what,
                        warnings[i].bit == 0x02 ? heat : "");
    if (h->warnings & SPARE_LOW || h->spare < h->threshold)
        verdict_add(v, RESULT_FATAL, device, "",
                    "%" PRIu64 " %% of its spare blocks are left, of at least %" PRIu64 " %%", h->spare,
                    h->threshold);
}

static void judge_nvme(struct look *l, const struct words *w, struct verdict *v)
{
    char device[FINDING_DEVICE_BYTES_MAX + 1];
    struct health h;
    if (!health_of(w, &h))
        return;
    snprintf(device, sizeof device, "nvme %.50s", w->w[0]);
    judge_warnings(&h, device, v);
    if (h.used >= 100)
        verdict_add(v, RESULT_WARN, device, "", "%" PRIu64 " %% of the life that its maker gives it are used",
                    h.used);
    uint64_t media = grown_within(l, "media", w->w[0], h.media, span_s(24 * 3600));
    if (media > 0)
        verdict_add(v, RESULT_WARN, device, "", "%" PRIu64 " media errors within a day", media);
}

/* The additional sense codes of SPC-4 that a disk gives when it is ill: 0Bh are warnings, 5Dh that its
 * failure is predicted. */
static void judge_scsi(const struct words *w, const char *device, struct verdict *v)
{
    enum { WARNING = 0x0b, PREDICTION = 0x5d, TEST = 0xff, HOT = 0x01 };
    uint64_t code, qualifier;
    if (!word_u64(w, 1, &code) || !word_u64(w, 2, &qualifier))
        return;
    if (code == PREDICTION && qualifier == TEST)
        verdict_add(v, RESULT_INFO, device, "", "it was told to predict its failure, as a test");
    else if (code == PREDICTION)
        verdict_add(v, RESULT_FATAL, device, "", "it predicts its own failure (SMART, 5d/%02" PRIx64 ")",
                    qualifier);
    else if (code == WARNING)
        verdict_add(v, RESULT_WARN, device, "", "it warns (0b/%02" PRIx64 ")%s", qualifier,
                    qualifier == HOT ? ": its temperature is beyond a limit of its own" : "");
}

void judge_SMART(struct look *l, const char *facts, struct verdict *v)
{
    struct fact_line line;
    size_t told = 0;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        char device[FINDING_DEVICE_BYTES_MAX + 1];
        words_of(line.value, &w);
        snprintf(device, sizeof device, "disk %.50s", w.w[0]);
        told += strcmp(line.key, "silent") != 0;
        if (strcmp(line.key, "nvme") == 0)
            judge_nvme(l, &w, v);
        else if (strcmp(line.key, "ata") == 0 && strcmp(w.w[1], "1") == 0)
            verdict_add(v, RESULT_FATAL, device, "", "it predicts its own failure (SMART)");
        else if (strcmp(line.key, "scsi") == 0)
            judge_scsi(&w, device, v);
    }
    if (told == 0)
        verdict_cannot(v, RESULT_UNSUPPORTED, "no disk says how it is");
}
