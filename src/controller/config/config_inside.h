/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_CONFIG_CONFIG_INSIDE_H
#define FETTLE_CONTROLLER_CONFIG_CONFIG_INSIDE_H

#include "base/conf.h"
#include "controller/config/config.h"

/*
 * Shared by config.c, which reads everything in order, and by the readers of one file each: fettle_conf.c,
 * node_conf.c, partition_conf.c, class_conf.c, tenant_conf.c, health_conf.c, role_conf.c; by broker_conf.c;
 * and by doubt_conf.c. Each reader takes its file into *c, or sets the error's sentence. The readers use
 * fettle_conf.c and config_text.c, and never one another.
 */

/* fettle.conf, at c->path: the text and the number of each parameter, given or default. */
int config_read_parameters(struct config *c, struct err *e);
/* Adds one sentence on a line for each parameter that differs. */
void config_compare_parameters(const struct config *was, const struct config *is, struct text *changes);
/* Adds which parameter names the file that cannot be read; the error of a bad line (-EINVAL) has its place
 * already. Returns rc. */
int config_refuse_file(const struct config *c, enum setting s, int rc, struct err *e);
/* The field of a record, in upper or lower case; NULL when the record does not have it. */
const struct conf_field *config_field(const struct conf_line *line, const char *key);

/* --- config_text.c: the parts that decide, from their files or from texts --- */

/* Whether the part exists; and its path, or its name, for sentences. */
bool config_has_part(const struct config *c, enum config_part p);
const char *config_part_path(const struct config *c, enum config_part p);
/* Reads the records of a part, and keeps them in c->agreed. *file is empty when the part does not exist. */
int config_part_read(struct config *c, enum config_part p, struct conf *file, struct err *e);
/* The same in two steps, for bytes that are read more than once. */
int config_part_bytes(const struct config *c, enum config_part p, struct text *bytes, struct err *e);
void config_keep_part(struct config *c, enum config_part p, const struct conf *file);
/* Writes a record as texts have it: every value in quotes. */
void config_format_record(const struct conf_line *line, struct text *t);
/* Replaces bytes that are not UTF-8 by U+FFFD. */
void config_mend(struct text *t);

/* Reads the numbers and names of the partitions. The caller gives *file to conf_fini, also after an error. */
int config_read_partitions(struct config *c, struct conf *file, struct err *e);
/* Call it after the partitions, whose names nodes may use. */
int config_read_nodes(struct config *c, struct err *e);
/* Puts the nodes into the partitions whose records name them. */
int config_fill_partitions(struct config *c, const struct conf *file, struct err *e);
/* Without a file every node is in the class default. */
int config_read_classes(struct config *c, struct err *e);
/* Without a file there is no tenant. */
int config_read_tenants(struct config *c, struct err *e);
void config_fini_tenants(struct config *c);
/* Adds one sentence on a line for each tenant that differs. */
void config_compare_tenants(const struct config *was, const struct config *is, struct text *changes);
/* Checks, meanings and remedies. Call it after the classes, which they name. */
int config_read_health(struct config *c, struct err *e);
void config_fini_health(struct config *c);
/* Adds one sentence on a line for each of the files of health whose records differ. */
void config_compare_health(const struct config *was, const struct config *is, struct text *changes);
/* Sets the policy from the parameters of health and of Slurm. */
void config_set_health(struct config *c);
void config_set_slurm(struct config *c);
/* RoleConf; without it only what caller.h says has a role. */
int config_read_roles(struct config *c, struct err *e);
void config_fini_roles(struct config *c);
/* Adds one sentence on a line when the records differ. */
void config_compare_roles(const struct config *was, const struct config *is, struct text *changes);
/* Checks the parameters of the tokens' issuer. */
int config_check_oidc(const struct config *c, struct err *e);
/* Sets the values from the parameters of MQTT. */
int config_set_broker(struct config *c, struct err *e);
void config_fini_broker(struct config *c);
/* Adds one sentence on a line for each class that differs. */
void config_compare_classes(const struct config *was, const struct config *is, struct text *changes);

/* Called when everything was read: warns about nodes that are not configured, about classes without nodes,
 * and about missing files that are read later. */
void config_doubt(struct config *c);

#endif
