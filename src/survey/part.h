/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_SURVEY_PART_H
#define FETTLE_SURVEY_PART_H

#include "survey/notes.h"
#include "survey/survey.h"

#include "probe/sys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The parts of a survey, for survey.c and their tests. Each takes notes of components whose names begin
 * with the part's own word and a dot (doc/spec/fingerprint.md).
 */

struct reading {
    int root; /* open directory */
    const char *root_path;
    bool real;        /* root is this machine's own */
    const char *node; /* its name; "" for none */
    const struct survey_conf *conf;
    const struct survey_calls *calls;
    struct survey_cache *cache;
};

void kernel_read(const struct reading *r, struct notes *n);
void os_read(const struct reading *r, struct notes *n);
void image_read(const struct reading *r, struct notes *n);
void processor_read(const struct reading *r, struct notes *n); /* cpu.* */
void bios_read(const struct reading *r, struct notes *n);
void board_read(const struct reading *r, struct notes *n);
void bmc_read(const struct reading *r, struct notes *n);
void accelerator_read(const struct reading *r, struct notes *n); /* gpu.* */
void card_read(const struct reading *r, struct notes *n);        /* nic.* */
void hca_read(const struct reading *r, struct notes *n);
void cxi_read(const struct reading *r, struct notes *n);
void nvme_read(const struct reading *r, struct notes *n);
void module_read(const struct reading *r, struct notes *n);
void sysctl_read(const struct reading *r, struct notes *n);
void setting_read(const struct reading *r, struct notes *n);
void mount_read(const struct reading *r, struct notes *n);
void file_read(const struct reading *r, struct notes *n);
void command_read(const struct reading *r, struct notes *n);
void package_read(const struct reading *r, struct notes *n);

/* --- what several parts need ------------------------------------------------------------------- */

/* How long what may hang may take before it is killed. */
enum {
    NVML_MS_MAX = 10000, /* the first question wakes an idle GPU, which takes seconds */
    CARDS_MS_MAX = 5000,
    BMC_MS_MAX = 5000,
    FILES_MS_MAX = 5000, /* for each file that hangs; */
    FILES_HUNG_MAX = 2,  /* after this many failures the others are not tried */
    RPM_MS_MAX = 30000,
    REST_MS_MAX = 10000 /* all that does not hang */
};

/* The usual time, unless calls gives another. */
struct span reading_timeout(const struct reading *r, int usual_ms);

/* The devices of a class ("sys/class/net"): physical ones, which have a device behind them, and whole
 * ones: virtual functions of a card are left out. */
struct device {
    char *name;    /* in its class */
    char *address; /* on the bus; its name when it has none */
};
struct devices {
    size_t n;
    struct device *list; /* in the order of the addresses, then of the names */
};
void devices_fini(struct devices *d);
/* 0; no such class where /sys is mounted is no devices. -errno otherwise. bare: also what has no device
 * behind it. */
int devices_read(int root, const char *class, bool bare, struct devices *d);
/* The number of different addresses. */
size_t devices_count(const struct devices *d);
/* "VENDOR:DEVICE SUBVENDOR:SUBDEVICE" in hex, of a PCI device's directory. */
void device_model(struct notes *n, int dir, const char *name);

/* Lines of a file, each of any length, at most limit bytes in all; -EFBIG when the file is longer. */
int stream_lines(int at, const char *path, size_t limit_bytes, sys_line_fn *fn, void *arg);

/* The value of a line NAME=VALUE of os-release, unquoted as a shell does it. False: another line. */
bool os_release_value(const char *line, const char *name, struct text *out);

/* The list of the machine's mounts, below root: that of its first process, because the reader's own may be
 * the list of a sandbox in which all is mounted read-only; the reader's own where that is not to be had. */
const char *mounts_path(int root);
enum { MOUNTS_BYTES_MAX = 4 << 20 };
/* A mount that counts, as it stands in mount.PATH. */
typedef void mount_fn(void *arg, const char *path, const char *value);
/* Reads the text of mountinfo. With node NULL values are as they stand, which is quicker. -EINVAL for one
 * without a single line that is understood, -E2BIG for too many. */
int mounts_parse(const char *text, const char *node, mount_fn *fn, void *arg);
/* True when path lies on a file system that a server may block, or below a place where an automounter
 * mounts one on access. */
bool mounts_remote(const char *text, const char *path);

/* Reads dpkg's status file, line by line. Zero-initialise but for notes; dpkg_end when done. */
struct dpkg {
    struct notes *notes;
    char package[256], version[256], architecture[64];
    bool installed, damaged;
};
bool dpkg_line(const char *line, void *dpkg);
void dpkg_end(struct dpkg *d);
/* A stamp of the database's files; 0 when there is no database. */
uint64_t package_stamp(int root);
/* Adds those files that there may be: absolute, without root. */
void package_files(struct hostlist *out);

/* The path of a sysctl below proc/sys: dots are slashes, and slashes dots. False for a malformed name. */
bool sysctl_path(const char *name, char path[static 300]);
/* The default ones and those that conf names, each once. */
void sysctl_names(const struct survey_conf *conf, struct sys_names *out);
/* Adds the files, below root, of what is cheap to look at of sysctls and settings. */
void setting_paths(const struct survey_conf *conf, struct sys_names *out);

/* The name of a line of /proc/modules, if the module is not on its way in or out. */
bool module_live(const char *line, char name[static 64]);
enum { MODULES_BYTES_MAX = 4 << 20 };

/* Stamps: FNV-1a, 64 bits. */
uint64_t stamp_bytes(uint64_t stamp, const void *bytes, size_t n);
uint64_t stamp_number(uint64_t stamp, uint64_t n);
uint64_t stamp_file(uint64_t stamp, int at, const char *path); /* owner, size and times; not the content */

enum { CONF_NAMED_MAX = 1024, CONF_COMMANDS_MAX = 32, COMMAND_MS_DEFAULT = 5000, COMMAND_S_MAX = 60 };

#endif
