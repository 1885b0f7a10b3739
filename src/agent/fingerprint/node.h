/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_FINGERPRINT_NODE_H
#define FETTLE_AGENT_FINGERPRINT_NODE_H

#include "survey/survey.h"

/*
 * The node as a child of the surveyor sees it: its components, the stamp of the files from which they come,
 * and the watches on these. Each of these may hang.
 */

/* Which components are read, below root. */
#define NODE_CONF_PATH "/etc/fettle/fingerprint.conf"

/* root and path as one; to be freed. */
char *node_path(const char *root, const char *path);
/* Reads the components in their order, of this machine where root is "", else of a tree of files. -errno with
 * a sentence. */
int node_read(const char *root, const char *node, const struct survey_conf *conf, struct survey_cache *cache,
              struct components *out, struct err *e);
/* Another one where a file is not what it was, the configuration among them. */
uint64_t node_stamp(const char *root, const struct survey_conf *conf);
/* Has inotify tell of what is done to the file, and of what comes in its place or on the way to it. */
void node_watch(int inotify, const char *root, const char *path);

#endif
