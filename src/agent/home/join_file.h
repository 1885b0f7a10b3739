/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_HOME_JOIN_FILE_H
#define FETTLE_AGENT_HOME_JOIN_FILE_H

#include "agent/uplink/address.h"
#include "base/err.h"

/*
 * The file with which a machine without a disk joins at each boot: a line "TOKEN HOST[:PORT]" in its image.
 * A reader of the file can join as the nodes of the token, so only its owner may read it.
 */

#define JOIN_FILE_PATH "/etc/fettle/join" /* below the image */

enum { JOIN_TOKEN_BYTES_MAX = 256 };

/* Writes the file below root ("" for this machine), and the directories on its way. -errno. */
int join_file_write(const char *root, const char *token, const struct address *controller, struct err *e);
/* -ENOENT without the file, -EACCES when others may read it, -EINVAL when it has no such line. */
int join_file_read(const char *root, char token[static JOIN_TOKEN_BYTES_MAX], struct address *controller,
                   struct err *e);

#endif
