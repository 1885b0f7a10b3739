/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_SURVEY_NORMAL_H
#define FETTLE_SURVEY_NORMAL_H

#include "base/text.h"

#include <stdbool.h>

/*
 * Takes out of texts what only one node can have, by the rules of normal.tbl, so that two nodes that differ
 * in nothing else give the same text. Each removed part leaves a "*".
 */

/* Boot parameters: white space between them becomes single blanks, their order stays. node is the node's
 * name ("" for none); its part before the first dot counts as well. A name without a letter is not looked
 * for, because numbers stand for other things. */
void normal_cmdline(const char *text, const char *node, struct text *out);
/* Options of a mount, with commas between. */
void normal_options(const char *text, const char *node, struct text *out);
/* Any text of a mount: its source. */
void normal_source(const char *text, const char *node, struct text *out);
/* True for a mount that does not count. */
bool normal_left_out(const char *path, const char *type);

#endif
