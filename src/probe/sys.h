/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_PROBE_SYS_H
#define FETTLE_PROBE_SYS_H

#include "base/err.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The small files of /proc and /sys: read relative to an open directory, bounded, and cleaned so that they
 * can stand in JSON and on a screen whatever they hold. Nothing here blocks: a pipe or device in the place
 * of a file reads as empty.
 *
 * All functions return 0 or the system's negative errno without a sentence, because their callers leave out
 * whatever cannot be read.
 */

enum {
    SYS_TEXT_BYTES_MAX = 128,      /* the bytes of one value; the rest is cut */
    SYS_LINE_BYTES_MAX = 4096,     /* the bytes of one line; the rest is dropped */
    SYS_FILE_BYTES_MAX = 64 << 10, /* the bytes of one file that is read whole */
    SYS_STREAM_BYTES_MAX =
        4 << 20,            /* the bytes of one file that is read line by line: cpuinfo of 2,000 processors */
    SYS_ENTRIES_MAX = 4096, /* looked at in one directory */
    SYS_DEVICES_MAX = 256   /* reported of one kind */
};

/* close() at the end of the scope. */
void sys_cleanup_fd(int *fd);
#define CLEANUP_FD __attribute__((cleanup(sys_cleanup_fd)))

/* A descriptor of a directory, or -errno. `path` is relative to the directory `at`. */
int sys_open_dir(int at, const char *path);
/* The same for the directory `root` of the file system, to open others below it; "" is "/". Sets a sentence.
 */
int sys_open_root(const char *root, struct err *e);

/* The file's first line: up to a newline or NUL, control bytes as blanks, trimmed, cut. */
int sys_text(int at, const char *path, char out[static SYS_TEXT_BYTES_MAX]);
/* The file's first line as a decimal number; -EINVAL when it is not a number. */
int sys_u64(int at, const char *path, uint64_t *out);
/* The whole file, zero-terminated, into size bytes; -E2BIG when it is longer. */
int sys_read(int at, const char *path, char *out, size_t size);
/* The same of a file that is one line: its end is not looked for beyond. */
int sys_line(int at, const char *path, char *out, size_t size);
/* The last component of what a symbolic link points to, cleaned like text. */
int sys_link(int at, const char *path, char out[static SYS_TEXT_BYTES_MAX]);

/* Called with each line, without its newline and with blanks for NUL bytes. False: no more. */
typedef bool sys_line_fn(const char *line, void *arg);

/* Lines out of bytes that come in pieces. Zero-initialise. */
struct sys_lines {
    char line[SYS_LINE_BYTES_MAX];
    size_t len;
};
/* Calls fn for every line that is complete; false as soon as fn returns false. */
bool sys_lines_feed(struct sys_lines *l, const char *bytes, size_t n, sys_line_fn *fn, void *arg);
/* Feeds the file, and its last line even without a newline, until fn has enough or the limit. */
int sys_each_line(int at, const char *path, sys_line_fn *fn, void *arg);

/* Names; the struct owns each. Zero-initialise; sys_names_fini when done. */
struct sys_names {
    char **names;
    size_t n;
    size_t cap;
};
void sys_names_fini(struct sys_names *s);
void sys_names_add(struct sys_names *s, const char *name);
/* In the order of their bytes, each once. */
void sys_names_sort(struct sys_names *s);
/* Adds the entries of a directory, at most SYS_ENTRIES_MAX, without those that begin with a dot. */
int sys_names_read(struct sys_names *s, int dir);

/* A JSON string of s. Bytes that are not UTF-8 become U+FFFD. */
json_t *sys_string(const char *s);
/* Sets object[key] to the file's text, or to a link's target; leaves it out when there is no such file. */
void sys_put_text(json_t *object, const char *key, int at, const char *path);
void sys_put_link(json_t *object, const char *key, int at, const char *path);

/* Makes a JSON object of one device, or NULL when it is not of the kind that is asked for. dir is
 * the device's directory, name its name. */
typedef json_t *sys_device_fn(int dir, const char *name);

/* Sets object[key] to the array of the devices in a directory below root, sorted by name. An
 * absent directory gives an empty array where /sys is mounted; anything else leaves the key out. */
void sys_put_devices(json_t *object, const char *key, int root, const char *path, sys_device_fn *fn);

/* True when /sys is mounted below root: a file that is missing there does not exist. */
bool sys_mounted(int root);

#endif
