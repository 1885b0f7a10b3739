/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_REDFISH_READ_H
#define FETTLE_DRIVER_REDFISH_READ_H

#include "base/text.h"

/*
 * What a Redfish service answers, read: bytes from outside. A path that it names is on the same service, or
 * it is refused: the password goes there.
 */

enum {
    REDFISH_PATH_BYTES_MAX = 1024,
    REDFISH_ETAG_BYTES_MAX = 256,
    REDFISH_WORDS_BYTES_MAX = 300,
    REDFISH_VERSION_BYTES_MAX = 256
};

/* What it may be asked to do with the power; bits. */
enum reset_type {
    RESET_ON = 1,
    RESET_FORCE_OFF = 2,
    RESET_FORCE_RESTART = 4,
    RESET_POWER_CYCLE = 8,
};
const char *reset_name(enum reset_type t);

typedef char redfish_path[REDFISH_PATH_BYTES_MAX + 1];

/* The version of some firmware. */
struct redfish_version {
    bool is_there;
    char text[REDFISH_VERSION_BYTES_MAX + 1]; /* "": it does not say now, or more than fits */
};

struct redfish_system {
    char held[16];            /* the state in which its power is to be left alone: "Updating"; "" for none */
    bool is_on;               /* "PoweringOff" is on, "PoweringOn" is off: neither is there yet */
    redfish_path target;      /* of the action */
    redfish_path action_info; /* "" without */
    unsigned allowed;         /* 0: it does not say */
    char etag[REDFISH_ETAG_BYTES_MAX + 1]; /* "" without */
    redfish_path manager, logs;            /* that it has; "" without */
    struct redfish_version bios;
    char watchdog[REDFISH_WORDS_BYTES_MAX + 1]; /* "enabled, action ResetSystem"; "" without */
};

enum redfish_task { TASK_RUNS, TASK_OVER, TASK_FAILED };

/* Each: 0, or -EPROTO with what is missing. The service root's link to its systems. */
int redfish_read_root(const char *body, size_t len, redfish_path systems, struct err *e);
/* The system whose path ends in this name; with "" the only one. -ENOENT when there is none such. */
int redfish_read_systems(const char *body, size_t len, const char *name, redfish_path system, struct err *e);
int redfish_read_system(const char *body, size_t len, struct redfish_system *out, struct err *e);
int redfish_read_action_info(const char *body, size_t len, unsigned *allowed, struct err *e);
/* A task or what is left of it; words say why it failed. What is no task is over. */
enum redfish_task redfish_read_task(const char *body, size_t len, struct text *words);
/* The manager of a system: its firmware, and its logs ("" without). */
int redfish_read_manager(const char *body, size_t len, struct redfish_version *firmware, redfish_path logs,
                         struct err *e);
/* Of a collection of logs the one named SEL, else the first. -ENOENT when there is none. */
int redfish_read_logs(const char *body, size_t len, redfish_path log, struct err *e);
int redfish_read_log(const char *body, size_t len, redfish_path entries, struct err *e);
/* Adds the latest entries, a line each, the latest last. */
int redfish_read_entries(const char *body, size_t len, struct text *lines, struct err *e);
/* "@odata.id" of it, "" when it has none. */
void redfish_read_id(const char *body, size_t len, redfish_path id);
/* What an error says, for people; nothing is added when it says nothing. */
void redfish_read_error(const char *body, size_t len, struct text *words);
/* A path, or an URL below base, as a path. False when it is neither. */
bool redfish_take_path(const char *base, const char *text, redfish_path out);

#endif
