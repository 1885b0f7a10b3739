/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_CONFIG_CONFIG_INSIDE_H
#define FETTLE_CONTROLLER_CONFIG_CONFIG_INSIDE_H

#include "base/conf.h"
#include "controller/config/config.h"

/*
 * Shared by config.c, which reads everything in order, and the readers of one file each: fettle_conf.c,
 * node_conf.c, partition_conf.c, class_conf.c, health_conf.c; broker_conf.c; and doubt_conf.c. Each takes its
 * file into *c, or leaves a sentence. The readers use fettle_conf.c and config_text.c, and none of them
 * another one.
 */

/* fettle.conf, at c->path: texts and numbers, of each parameter that it gives and of each default. */
int config_read_parameters(struct config *c, struct err *e);
/* One sentence a line for each parameter that differs. */
void config_compare_parameters(const struct config *was, const struct config *is, struct text *changes);
/* Says who wanted a file that cannot be read; a bad line (-EINVAL) has named itself. Returns rc. */
int config_refuse_file(const struct config *c, enum setting s, int rc, struct err *e);
/* The field of a record, in any case; NULL when it has none. */
const struct conf_field *config_field(const struct conf_line *line, const char *key);

/* --- config_text.c: the parts that decide, from their files or from texts --- */

/* Whether there is such a part; and its path, or its name, for sentences. */
bool config_has_part(const struct config *c, enum config_part p);
const char *config_part_path(const struct config *c, enum config_part p);
/* Reads the records of a part, and keeps them in c->agreed. *file is empty when there is no such part. */
int config_part_read(struct config *c, enum config_part p, struct conf *file, struct err *e);
/* The same in two steps, for bytes that are read more than once. */
int config_part_bytes(const struct config *c, enum config_part p, struct text *bytes, struct err *e);
void config_keep_part(struct config *c, enum config_part p, const struct conf *file);
/* A record as it stands in a text: every value in quotes. */
void config_format_record(const struct conf_line *line, struct text *t);
/* Puts U+FFFD in the place of bytes that are no UTF-8. */
void config_mend(struct text *t);

/* Numbers and names of the partitions; *file is the caller's to give to conf_fini, also after an error. */
int config_read_partitions(struct config *c, struct conf *file, struct err *e);
/* After the partitions, whose names they may use. */
int config_read_nodes(struct config *c, struct err *e);
/* Puts the nodes into the partitions whose records name them. */
int config_fill_partitions(struct config *c, const struct conf *file, struct err *e);
/* Also without a file: then every node is in the class default. */
int config_read_classes(struct config *c, struct err *e);
/* Checks, meanings and remedies; after the classes, which they name. */
int config_read_health(struct config *c, struct err *e);
void config_fini_health(struct config *c);
/* One sentence a line for each of its files whose records differ. */
void config_compare_health(const struct config *was, const struct config *is, struct text *changes);
/* What the parameters of health, and of Slurm, come to. */
void config_set_health(struct config *c);
void config_set_slurm(struct config *c);
/* Those of MQTT. */
int config_set_broker(struct config *c, struct err *e);
void config_fini_broker(struct config *c);
/* One sentence a line for each class that differs. */
void config_compare_classes(const struct config *was, const struct config *is, struct text *changes);

/* When everything is read: warns of nodes that nobody configured, of classes without nodes, and of files that
 * are not there and are read later. */
void config_doubt(struct config *c);

#endif
