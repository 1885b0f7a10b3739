/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_DRIVER_REDFISH_READ_H
#define FETTLE_DRIVER_REDFISH_READ_H

#include "base/text.h"

/*
 * Parsers of the answers of a Redfish service: bytes from outside. A path in an answer must be on the same
 * service, because the password is sent there.
 */

enum {
    REDFISH_PATH_BYTES_MAX = 1024,
    REDFISH_ETAG_BYTES_MAX = 256,
    REDFISH_WORDS_BYTES_MAX = 300,
    REDFISH_VERSION_BYTES_MAX = 256
};

/* The permitted power actions; bits. */
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
    char text[REDFISH_VERSION_BYTES_MAX + 1]; /* "": unknown now, or too long */
};

struct redfish_system {
    char held[16];            /* a state in which its power must not be touched: "Updating"; "" for none */
    bool is_on;               /* "PoweringOff" counts as on and "PoweringOn" as off: neither is finished */
    redfish_path target;      /* of the action */
    redfish_path action_info; /* "" without */
    unsigned allowed;         /* 0: not given */
    char etag[REDFISH_ETAG_BYTES_MAX + 1]; /* "" without */
    redfish_path manager, logs;            /* that it has; "" without */
    struct redfish_version bios;
    char watchdog[REDFISH_WORDS_BYTES_MAX + 1]; /* "enabled, action ResetSystem"; "" without */
};

enum redfish_task { TASK_RUNS, TASK_OVER, TASK_FAILED };

/* Each returns 0, or -EPROTO with what is missing. This one reads the service root's link to its systems. */
int redfish_read_root(const char *body, size_t len, redfish_path systems, struct err *e);
/* The system whose path ends in this name; with "" the only one. -ENOENT when there is none. */
int redfish_read_systems(const char *body, size_t len, const char *name, redfish_path system, struct err *e);
int redfish_read_system(const char *body, size_t len, struct redfish_system *out, struct err *e);
int redfish_read_action_info(const char *body, size_t len, unsigned *allowed, struct err *e);
/* Reads a task, or the rest of one; words say why it failed. Anything else counts as over. */
enum redfish_task redfish_read_task(const char *body, size_t len, struct text *words);
/* The manager of a system: its firmware, and its logs ("" without). */
int redfish_read_manager(const char *body, size_t len, struct redfish_version *firmware, redfish_path logs,
                         struct err *e);
/* Of a collection of logs the one named SEL, otherwise the first. -ENOENT when there is none. */
int redfish_read_logs(const char *body, size_t len, redfish_path log, struct err *e);
int redfish_read_log(const char *body, size_t len, redfish_path entries, struct err *e);
/* Adds the latest entries, one a line, the latest last. */
int redfish_read_entries(const char *body, size_t len, struct text *lines, struct err *e);
/* "@odata.id" of it, "" when it has none. */
void redfish_read_id(const char *body, size_t len, redfish_path id);
/* Adds the words of an error, for people; nothing when it has none. */
void redfish_read_error(const char *body, size_t len, struct text *words);
/* Reads a path, or a URL below base, as a path. False when it is neither. */
bool redfish_take_path(const char *base, const char *text, redfish_path out);

#endif
