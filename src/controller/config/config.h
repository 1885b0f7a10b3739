/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_CONFIG_CONFIG_H
#define FETTLE_CONTROLLER_CONFIG_CONFIG_H

#include "access/access.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "beat/waits.h"
#include "cluster/cluster.h"
#include "controller/config/config_text.h"
#include "driver/ochami.h"
#include "driver/operate.h"
#include "driver/slurm.h"
#include "watch/watch.h"

/*
 * The configuration: fettle.conf and the files that it names. They are read into a new structure, which is
 * checked as a whole before anything is taken. Every error names the file, the line and the key, and for an
 * unknown key or word the most similar known one. This room keeps nothing. The caller of config_read owns the
 * result, and gives each part of the controller its values.
 */

enum setting {
#define SETTING(symbol, name, kind, def, min, max, unit, taken, scope, meaning, more) SETTING_##symbol,
#include "controller/config/setting.tbl"
#undef SETTING
    SETTINGS
};

/* What Store begins with. */
#define STORE_SCHEME "etcd:"

enum { HEALTH_FILES = 4 }; /* CheckConf, MeaningConf, RemedyConf, BmcConf */

struct config {
    char *path;
    char *text[SETTINGS]; /* as written, or the default; "" for none */
    bool given[SETTINGS];
    int line[SETTINGS];        /* in fettle.conf, if given there */
    uint64_t number[SETTINGS]; /* of NUMBER, FLAG, CHOICE (index) and SPAN (ns) */
    struct hostlist collectors;
    uint32_t debug_flags;
    struct roster roster; /* emptied by cluster_configure */
    struct watch_policy watch;
    struct span spread;        /* the time over which all nodes spread their first try to connect */
    struct waits waits;        /* they follow from the interval and the timeouts */
    struct ochami_conf ochami; /* its texts are owned by `text` above */
    struct slurm_conf slurm;   /* likewise */
    struct {
        char host[256]; /* "" for none */
        uint16_t port;
        struct hostlist topics; /* the topics of incoming events */
    } mqtt;
    struct grants grants;          /* the records of RoleConf */
    struct text grants_text;       /* likewise, for config_compare */
    struct checks *checks;         /* never NULL; empty when health is off */
    struct remedies *remedies;     /* likewise */
    struct meanings *meanings;     /* the tables, changed by MeaningConf */
    struct hostlist meaning_lines; /* the records of MeaningConf, one on each line */
    struct bmcs *bmcs;             /* NULL without BmcConf */
    uint64_t health_sums[HEALTH_FILES];
    size_t n_classes; /* the classes as written in ClassConf, for config_compare */
    struct class_text {
        char *name, *keys;
        int line;
    } * classes;
    size_t n_tenants; /* likewise, of TenantConf */
    struct tenant *tenants;
    struct config_text agreed; /* the parts that decide; empty once they were passed to config_text_fini */
    const struct config_text *from; /* set while it is read from texts; NULL: from the files */
    struct text
        warnings; /* about values that are taken though they look like mistakes, a sentence on each line */
};

/* The words of the parameters Health and ApiReaders. */
enum { HEALTH_OFF, HEALTH_OBSERVE, HEALTH_ACT };
enum { READERS_NOBODY, READERS_CERTIFICATE, READERS_ANYONE };

/* Reads everything. After an error *c is empty. */
int config_read(const char *path, struct config *c, struct err *e);
/* The same, but the parts that decide come from the texts. No file is read for them, and no AGREED parameter
 * is taken from the file. There are no warnings. */
int config_read_agreed(const char *path, const struct config_text *from, struct config *c, struct err *e);
void config_fini(struct config *c);

/* Adds one sentence on a line for each parameter that differs: "HeartBeatInterval 10 -> 30". For parameters
 * that are only read at start the sentence ends with "; takes effect when fettled starts anew". For each
 * class that differs: "class gpu added". For each file of health that differs: "the records of CheckConf
 * changed". */
void config_compare(const struct config *was, const struct config *is, struct text *changes);

const char *config_name(enum setting s); /* "HeartBeatInterval" */

/* The time over which n agents spread their first try to connect: 1.5 ms for each. */
struct span config_spread(size_t n);

#endif
