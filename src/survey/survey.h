/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_SURVEY_SURVEY_H
#define FETTLE_SURVEY_SURVEY_H

#include "base/clock.h"
#include "base/err.h"
#include "base/hostlist.h"
#include "conform/component.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Reads what a node is made of, from the live system, as the components of its fingerprint
 * (doc/spec/fingerprint.md has the names). Below a root directory that tests can set; what only system
 * calls can tell comes through `struct survey_calls`.
 *
 * A device that is not there is absent. What is there and cannot be read is unknown, with the reason;
 * when not even the number of devices could be found, "KIND.*" is unknown. What only this node can
 * have (addresses, UUIDs, its own name) is taken out by the rules of normal.tbl.
 *
 * Reading may hang, so it runs in a child process with a deadline; NVML, commands and package tools,
 * which may hang by themselves, in children of that child.
 */

/* What the administrator adds on the node: fingerprint.conf. Records, one a line:
 *   Sysctl=vm.swappiness
 *   File=/etc/slurm/gres.conf
 *   Command=ofed Run="/usr/bin/ofed_info -s" Deadline=5s
 *   Ignore=module.*                        components that this node never reports
 */
struct survey_command {
    char *name;
    char *run; /* for /bin/sh -c */
    int deadline_ms;
};
struct survey_conf {
    struct hostlist sysctls, files, ignore; /* plain lists of words, in order */
    size_t n_commands;
    struct survey_command *commands;
};
/* An absent file is an empty configuration. -EINVAL with "PATH:LINE: ..." for a bad one. */
int survey_conf_read(const char *path, struct survey_conf *c, struct err *e);
/* The same of what was read; path is for sentences. */
int survey_conf_parse(const char *path, const char *bytes, size_t len, struct survey_conf *c, struct err *e);
void survey_conf_fini(struct survey_conf *c);
/* Adds what the controller's classes name: "sysctl.NAME" or "file.PATH"; anything else is ignored. */
void survey_conf_name(struct survey_conf *c, const char *component);

/* The longest time that survey_read takes; its caller may then take it for hung. */
struct span survey_deadline(const struct survey_conf *c);

/* System calls that a tree of files cannot stand for. */
struct survey_calls {
    void *arg;
    /* ethtool's driver information of an interface; 0 or -errno. */
    int (*driver)(void *arg, const char *interface, char driver[static 33], char version[static 33],
                  char firmware[static 33]);
    const char *nvml;    /* the library's file name, for dlopen; NULL: do not ask NVML */
    struct span timeout; /* for each thing that may hang; zero: its usual deadline */
};
extern const struct survey_calls survey_system; /* this machine's */

/* A part that costs much and seldom changes: kept by the caller from one reading to the next. */
struct survey_cache {
    uint64_t packages_stamp; /* a stamp of the package database's files; 0: none */
    struct components packages;
};
void survey_cache_fini(struct survey_cache *c);

/* Reads all components, sorted, into out (zero-initialised; the caller's). node is the node's own name,
 * which is taken out of values. The cache is used while the package database stays the same, and is
 * brought up to date. 0, or -errno when root is no directory. A component that cannot stand in a list (too
 * long, too many) becomes unknown, with the limit in words. */
int survey_read(const char *root, const char *node, const struct survey_conf *conf,
                const struct survey_calls *calls, struct survey_cache *cache, struct components *out,
                struct err *e);

/* A number that changes with the cheap part of the list: what /proc and /sys show from the kernel's
 * memory, without a command, a disk or a question to a device (spec/fingerprint.md has these components).
 * It takes a few milliseconds. Call it in a child to be sure that it never blocks. 0 when root is no
 * directory. */
uint64_t survey_glance(const char *root, const char *node, const struct survey_conf *conf);

/* --- whether to read everything anew ------------------------------------------------------------------ */

/* Components that are looked at often: loaded modules, sysctls, kernel settings, mounts; below a root that
 * is not this machine's also boot id and boot parameters, which a running kernel does not change. All of
 * them lie in /proc and /sys, where nothing blocks, so a loop may look. The descriptors stay open. */
struct survey_look;
/* Looks for the first time. inotify, a descriptor of the caller's or -1, becomes readable when one of the
 * files was written. NULL when root is no directory. */
struct survey_look *survey_look_open(const char *root, const struct survey_conf *conf, int inotify);
void survey_look_close(struct survey_look *l);
/* Whether inotify and the list of mounts announce all changes, so that few looks are needed: only the
 * kernel itself, or a container with its own /proc, can change something else. False for a tree of files. */
bool survey_look_told(const struct survey_look *l);
/* True when something changed since the last look. seldom: also looks at the list of modules, which is
 * long, and at files that were missing, which mostly come with modules. The kernel announces those
 * (uevents) to listeners. */
bool survey_look(struct survey_look *l, bool seldom);

/* A number that changes when the package database, a file that conf names or one of the system's own did:
 * from who they are, their sizes and times. Files on servers are passed over. It may wait, for a link may
 * lead to a server: not in a loop. */
uint64_t survey_stamp(const char *root, const struct survey_conf *conf);
/* The same files, also those that are not there: absolute, without root. Their change is to be noticed at
 * once (inotify). */
void survey_watched(const struct survey_conf *conf, struct hostlist *out);
/* Adds those of the paths that are not on a server, as far as the list of mounts tells. */
void survey_local(const char *root, const struct hostlist *paths, struct hostlist *out);

#endif
