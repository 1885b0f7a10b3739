/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_CONFIG_CONFIG_H
#define FETTLE_CONTROLLER_CONFIG_CONFIG_H

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
 * The configuration: fettle.conf and the files that it names, read to a new structure and
 * checked whole before anything is taken. Every complaint names file, line and key, and for a key
 * or word that is not known the nearest that is. This room keeps nothing. The caller of config_read owns what
 * it read, and gives each part of the controller the values that are for it.
 */

enum setting {
#define SETTING(symbol, name, kind, def, min, max, unit, taken, scope, meaning, more) SETTING_##symbol,
#include "controller/config/setting.tbl"
#undef SETTING
    SETTINGS
};

enum { HEALTH_FILES = 4 }; /* CheckConf, MeaningConf, RemedyConf, BmcConf */

struct config {
    char *path;
    char *text[SETTINGS]; /* as written, or the default; "" for none */
    bool given[SETTINGS];
    int line[SETTINGS];        /* of fettle.conf, where it is given */
    uint64_t number[SETTINGS]; /* NUMBER, FLAG, CHOICE (index); SPAN in ns */
    struct hostlist collectors;
    uint32_t debug_flags;
    struct roster roster; /* emptied by cluster_configure */
    struct watch_policy watch;
    struct span spread;        /* over which all nodes spread their first try to connect */
    struct waits waits;        /* what follows from the interval and the timeouts */
    struct ochami_conf ochami; /* its texts are those above */
    struct slurm_conf slurm;   /* likewise */
    struct {
        char host[256]; /* "" for none */
        uint16_t port;
        struct hostlist topics; /* of events */
    } mqtt;
    struct checks *checks;         /* never NULL; empty where health is off */
    struct remedies *remedies;     /* likewise */
    struct meanings *meanings;     /* the tables with MeaningConf over them */
    struct hostlist meaning_lines; /* records of MeaningConf, one a line */
    struct bmcs *bmcs;             /* NULL without BmcConf */
    uint64_t health_sums[HEALTH_FILES];
    size_t n_classes; /* as written in ClassConf: what config_compare looks at */
    struct class_text {
        char *name, *keys;
        int line;
    } * classes;
    struct config_text agreed;      /* what decides; empty when it was given to config_text_fini */
    const struct config_text *from; /* while it is read from texts; NULL: from the files */
    struct text warnings;           /* what is taken though it looks like a mistake, a sentence a line */
};

/* The words of the parameter Health, and of ApiReaders. */
enum { HEALTH_OFF, HEALTH_OBSERVE, HEALTH_ACT };
enum { READERS_NOBODY, READERS_CERTIFICATE, READERS_ANYONE };

/* Reads everything. On error *c is empty. */
int config_read(const char *path, struct config *c, struct err *e);
/* The same, but the parts that decide are those of the texts. No file is read for them, and none of the
 * AGREED parameters is taken from the file. No warnings. */
int config_read_agreed(const char *path, const struct config_text *from, struct config *c, struct err *e);
void config_fini(struct config *c);

/* One sentence a line for each parameter that differs: "HeartBeatInterval 10 -> 30". Adds for those
 * that are read at start only: "; takes effect when fettled starts anew". For each class: "class gpu added".
 * And for each file of health: "the records of CheckConf changed". */
void config_compare(const struct config *was, const struct config *is, struct text *changes);

const char *config_name(enum setting s); /* "HeartBeatInterval" */

/* Time over which n agents spread their first try to connect: 1.5 ms each. */
struct span config_spread(size_t n);

#endif
