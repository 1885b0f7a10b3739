/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_CONFIG_CONFIG_TEXT_H
#define FETTLE_CONTROLLER_CONFIG_CONFIG_TEXT_H

#include "base/err.h"
#include "base/text.h"
#include "cluster/cluster.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The configuration that decides, as text: this is what is agreed (cluster/revision.h). The same decisions
 * follow from the texts as from the files that they were made from. A text has the records of its file, with
 * every value in quotes. Comments, blanks and the path of the file make no difference. The text of the
 * parameters has those parameters of fettle.conf that are AGREED (setting.tbl) and given there.
 */

enum config_part {
    CONFIG_PARAMETERS,
    CONFIG_PARTITIONS,
    CONFIG_NODES,
    CONFIG_CLASSES,
    CONFIG_CHECKS,
    CONFIG_MEANINGS,
    CONFIG_REMEDIES,
    CONFIG_TENANTS,
    CONFIG_ROLES,
    CONFIG_PARTS
};

/* Zero-initialise; config_text_fini. */
struct config_text {
    bool given[CONFIG_PARTS]; /* false: the file does not exist, and the default counts */
    struct text part[CONFIG_PARTS];
};

void config_text_fini(struct config_text *t);
const char *config_part_name(enum config_part p); /* "nodes" */

/* The parts as REVISE has them. Returns their number. They are borrowed from t. */
size_t config_text_parts(const struct config_text *t, struct revise_part out[static CONFIG_PARTS]);
/* Adds the text of a part. -EINVAL: no such part, or it is there already. */
int config_text_add(struct config_text *t, const struct revise_part *part, struct err *e);
/* Loads the agreed texts. -ENOENT: none are agreed. -EILSEQ: a record is missing. *out is empty after an
 * error. */
int config_text_load(const struct cluster *c, struct config_text *out, struct err *e);

#endif
