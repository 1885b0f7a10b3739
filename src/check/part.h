/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CHECK_PART_H
#define FETTLE_CHECK_PART_H

#include "check/look.h"
#include "probe/sys.h"

#include <linux/if_link.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Shared by the probes, for the files of this folder and their tests. Nothing here blocks: only /proc and
 * /sys are read, and of a process only stat, comm and status, because its command line may hang.
 */

#define PROBE_DECLARE_READ(symbol) \
    gather_fn gather_##symbol;     \
    judge_fn judge_##symbol;
#define PROBE_DECLARE_APART(symbol) PROBE_DECLARE_READ(symbol)
#define PROBE_DECLARE_IDLE(symbol) PROBE_DECLARE_READ(symbol)
#define PROBE_DECLARE_BENCH(symbol) PROBE_DECLARE_READ(symbol)
#define PROBE_DECLARE_FOLLOW(symbol) judge_fn judge_##symbol;
#define PROBE(symbol, name, how, every, severity, blame, keys, source, meaning, more) \
    PROBE_DECLARE_##how(symbol)
#include "health/probe.tbl"
#undef PROBE

/* look_parts, of the probes that have some. */
void parts_SMART(const struct look *l, struct text *out);

/* Forgets what was not asked for since the last turn. */
void memory_turn(struct memory *m);

/* --- ports and counters of RDMA devices ----------------------------------------------------- */

struct limit {
    const char *name;   /* the counter's growth */
    bool hw;            /* in hw_counters, not counters */
    uint64_t most;      /* that it may grow */
    int window_s;       /* within this time */
    enum result result; /* of further findings */
};
/* Each port of a device, opened, in order, by the name "DEVICE/PORT". */
typedef void port_fn(int dir, int device, const char *port, struct text *out);
void each_port(int device, const char *name, port_fn *fn, struct text *out);
/* "counter DEVICE NAME VALUE" of a directory with counters below it; nothing where there is no such one. */
void fact_counter(struct text *out, const char *device, int dir, const char *name, bool hw);
/* Judges the device's counter; named is the device as findings have it. One that is not told keeps what it
 * had. */
void judge_limit(struct look *l, const char *facts, const char *device, const char *named,
                 const struct limit *limit, struct verdict *v);

/* --- gathering ------------------------------------------------------------------------------ */

/* The root's descriptor; -errno when there is none, and then "unknown" was written. */
int look_root(const struct look *l, struct text *out);
/* Writes that path could not be read: "unsupported" where it does not exist, else "unknown". */
void fact_cannot(int root, struct text *out, const char *path, int r);
/* "KEY NUMBER" of a file that has one; r as sys_u64, and then nothing is written. */
int fact_file_u64(struct text *out, const char *key, int at, const char *path);
/* Runs fn for each entry of a directory below root, opened, in order. r < 0 when there is no directory. */
typedef void entry_fn(int dir, const char *name, struct text *out);
int each_entry(int root, const char *path, entry_fn *fn, struct text *out);
/* The same below the look's root, as a whole gatherer. without is the fact for a look in which fn wrote
 * nothing. Having none is a fact, and may be a finding where the record has Count=. */
void gather_each(const struct look *l, const char *path, entry_fn *fn, const char *without, struct text *out);

/* A number of n bytes, 8 at most, the least first. */
uint64_t bytes_little(const uint8_t *bytes, size_t n);
/* ioctl(2), or its stand-in: its result, or -errno. */
int device_control(const struct look *l, int fd, unsigned long request, void *what);
/* "work N": how much runs on this machine, as probe_work sees it. */
void fact_work(const struct look *l, struct text *out);

/* A line of the machine's list of mounts, with \040 and its like undone; texts are cut. */
struct mounted {
    char path[512], type[64], source[256];
    char options[256], super[256]; /* options of the mount and of the file system */
};
typedef bool mounted_fn(const struct mounted *m, void *arg);
/* Until fn has enough. The list is that of the first process, because the reader's own may be that of a
 * sandbox in which all is mounted read-only. 0, -ENODATA without a list, -errno. */
int mounts_each(int root, mounted_fn *fn, void *arg);
/* False for a malformed line. */
bool mounted_parse(const char *line, struct mounted *m);
/* The mount on which path lies; -ENOENT when there is none, -errno. With states false, options may be some
 * seconds old. */
int mounts_find(int root, const char *path, bool states, struct mounted *m);
/* It keeps its files on a disk of this machine. */
bool type_disk(const char *type);
/* Whether the list "rw,noatime" has this word. */
bool options_have(const char *options, const char *word, size_t len);

/* A network interface of this machine: its counters as they are now; the rest as the kernel reported it
 * last, within a second of a change. */
struct link {
    char name[IFNAMSIZ];
    int index;
    unsigned type; /* ARPHRD_ETHER, ... */
    uint8_t state; /* IF_OPER_UP, ... */
    bool carrier;
    bool device;      /* there is one behind it; older kernels do not say so */
    bool software;    /* the kernel makes this kind by itself: a bridge, a tunnel */
    uint32_t changes; /* changes of the carrier */
    struct rtnl_link_stats64 stats;
};
typedef void link_fn(const struct link *l, void *arg);
/* Calls fn for each interface. -EINTR when some came or went meanwhile, and some may be missing; -errno. */
int links_each(link_fn *fn, void *arg);

/* Whether a process on this machine listens on the TCP port; -errno when the kernel does not tell. */
int port_listened(uint16_t port);

/* The content of /proc/PID/stat. */
struct process {
    uint64_t pid, ppid, started; /* ticks after the boot */
    uint64_t ticks;              /* the processor time that it took */
    char state;
    char name[64];
};
bool process_parse(const char *stat, struct process *p);
int process_read(int root, const char *pid, struct process *p);
typedef bool process_fn(const struct process *p, void *arg);
/* There are so many processes that a walk takes longer than a loop may be held up: about 10 µs each. */
bool processes_many(int root);
/* Calls fn for each process until it has enough. Processes that end meanwhile are skipped. False when they
 * could not be read, which is then a fact of its own. */
bool processes_each(int root, process_fn *fn, void *arg, struct text *out);
void processes_free(struct processes *p);

/* "process PID" of one process with this command, or 0 for none. The process that was found last is tried
 * first. */
void fact_process(const struct look *l, int root, const char *command, struct text *out);

/* Whether a program of this name lies where packages put programs, or a unit ("munge", "ntp@a.service") where
 * systemd looks for units. They read disks: call them in a child. */
bool program_installed(int root, const char *command);
bool unit_installed(int root, const char *unit);

/* Whether gathering reads no disk now, because the service runs where it was found the last time. */
bool service_stands(const struct look *l);
/* Whether gathering reads no disk now: the clock is synchronised. */
bool time_stands(const struct look *l);

/* Four bytes of a device's configuration space; 0 or -errno. */
typedef int config_fn(void *arg, unsigned at, uint32_t *out);
/* The control register of Access Control Services of a PCIe device; -ENOENT where it has none, -errno. */
int acs_control(config_fn *read, void *arg, uint16_t *out);

/* A disk's answer as facts: the NVMe health log, the sense data of SMART RETURN STATUS, and the page of
 * informational exceptions of LOG SENSE. */
enum { SMART_PAGE_BYTES = 512 };
void smart_nvme(const char *name, const uint8_t page[static SMART_PAGE_BYTES], struct text *out);
void smart_ata(const char *name, const uint8_t *sense, size_t n, struct text *out);
void smart_scsi(const char *name, const uint8_t *page, size_t n, struct text *out);

/* The BMC of this machine. IPMI 2.0 numbers its functions, commands and completion codes. */
enum { BMC_SENSOR = 0x04, BMC_STORAGE = 0x0a };
enum { BMC_COMPLETED = 0x00, BMC_NOT_PRESENT = 0xcb, BMC_REPLY_BYTES = 272 };
struct bmc_reply {
    uint8_t bytes[BMC_REPLY_BYTES]; /* the completion code, then data */
    size_t n;
};
/* A descriptor, or -errno, and then "unsupported" or "unknown" was written. */
int bmc_open(const struct look *l, struct text *out);
/* The completion code, or -errno. */
int bmc_ask(const struct look *l, int fd, uint8_t function, uint8_t lun, uint8_t command, uint8_t *data,
            size_t n, struct bmc_reply *out);
/* Writes that it could not be asked for this, by what bmc_ask returned. */
void bmc_failed(const char *what, int code, struct text *out);
/* The meaning of a sensor's state, by the sensor's type and IPMI's event/reading type; NULL for a good
 * state. */
struct bmc_meaning {
    enum result result;
    const char *what;
    bool lasts; /* the sensor says so as long as it is so */
};
const struct bmc_meaning *bmc_meaning(uint64_t type, uint64_t kind, uint64_t offset);

/* One of a BMC's sensors, as a record of its list has it. */
struct sensor {
    uint8_t lun, number, type, kind;
    uint16_t known; /* the states that it reports; a bit for each limit */
    char name[33];  /* "" for none that can be read */
};
/* False for what is no sensor of the BMC's own. */
bool sensor_parse(const uint8_t *sdr, size_t n, struct sensor *out);
/* The events that began what it is in, a bit for each offset, by the answer to Get Sensor Reading. */
uint16_t sensor_states(const struct sensor *s, const uint8_t *reading, size_t n);
void sensor_fact(const struct sensor *s, uint16_t states, struct text *out);

/* An entry of a BMC's event log, and what it says as a fact; now is the BMC's time. */
struct sel_record {
    uint8_t bytes[16];
};
void sel_fact(const struct sel_record *r, uint32_t now, struct text *out);

/* --- judging -------------------------------------------------------------------------------- */

/* A value's words, between blanks. */
enum { WORDS_MAX = 16 };
struct words {
    size_t n;
    const char *w[WORDS_MAX]; /* "" beyond n */
    char text[512];
};
void words_of(const char *value, struct words *out);
/* The word as a number; false when it is malformed. */
bool word_u64(const struct words *w, size_t i, uint64_t *out);
/* The line with this key. */
bool fact_find(const char *facts, const char *key, struct fact_line *out);
bool fact_u64(const char *facts, const char *key, uint64_t *out);
bool fact_i64(const char *facts, const char *key, int64_t *out);

/* Arguments of the record. False when one is wrong: then *v is unknown and says so. */
bool want_number(const struct look *l, const char *key, int64_t fallback, int64_t *out, struct verdict *v);
bool want_percent(const struct look *l, const char *key, unsigned fallback, unsigned *out, struct verdict *v);
bool want_bytes(const struct look *l, const char *key, uint64_t fallback, uint64_t *out, struct verdict *v);
bool want_span(const struct look *l, const char *key, struct span fallback, struct span *out,
               struct verdict *v);
/* For how long it has been so, as far as looks saw it; 0 in the first one, and while it is not so. */
struct span lasts_for(const struct look *l, const char *what, const char *of, bool so);
/* A link that is down is a warning until it was down for Down=: a switch that boots takes minutes. */
enum { DOWN_S = 600 };
enum result down_result(const struct look *l, const char *name, bool down, struct span most);

/* For a GPU without work: MB in use, MB at most, looks. */
#define LEFT_MEMORY                                                                        \
    "%" PRIu64 " MB of its memory are in use and no process has them, of at most %" PRIu64 \
    " MB, in %" PRId64 " looks in a row"

/* Whether the look was told that no work runs; when it was not, *v says so. */
bool facts_idle(const char *facts, struct verdict *v);

/* The number of processors in the kernel's list ("0-3,8"); false when it is malformed. */
bool cpus_count(const char *list, uint64_t *n);
/* How much the counter of this device grew since the last look; 0 for the first one and after a reset. */
uint64_t look_grown(struct look *l, const char *what, const char *device, uint64_t value);
/* The same within a window. */
uint64_t grown_within(struct look *l, const char *what, const char *device, uint64_t value,
                      struct span window);
/* In how many looks in a row this was so; 0 when it is not so now. */
int64_t in_a_row(struct look *l, const char *what, const char *device, bool so);
/* part of whole in percent, rounded down; 0 of nothing. */
unsigned percent_of(uint64_t part, uint64_t whole);

#endif
