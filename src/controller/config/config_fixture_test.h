/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CONTROLLER_CONFIG_CONFIG_FIXTURE_TEST_H
#define FETTLE_CONTROLLER_CONFIG_CONFIG_FIXTURE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "controller/config/config.h"

/* What the tests of the configuration share: a directory with files, which is read as fettled reads it. */

extern char config_dir[64];
int config_setup(void **state);
int config_teardown(void **state);
void config_write(const char *name, const char *text);

/* Writes fettle.conf, "nodes" and "partitions", and reads them. The parameters get two lines before them with
 * the others' paths, so that the first stands on line 3; partitions NULL: no PartitionConf. The sentence
 * comes without the directory. */
int config_try(const char *parameters, const char *nodes, const char *partitions, struct config *c,
               char why[512]);
/* The same, which must succeed. */
struct config config_good(const char *parameters, const char *nodes, const char *partitions);
/* The same, which must not, and leaves nothing; its sentence, valid until the next call. */
const char *config_bad(const char *parameters, const char *nodes, const char *partitions);

/* The parameters with ClassConf before them, and its file. Valid until the next call. */
const char *config_with_classes(const char *parameters, const char *classes);
/* The parameters with one that names a file of this text. Valid until the next call. */
const char *config_with_file(const char *parameter, const char *name, const char *file,
                             const char *parameters);

/* "lx01 CPUs=2 Partition=1; ...": the roster. Valid until the next call. */
const char *config_show_roster(const struct config *c);

#endif
