/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_CLIENT_H
#define FETTLE_CLI_CLIENT_H

#include "base/conf.h"

/*
 * client.conf: controllers by name, so that `fettle -C prod status` reaches one over HTTPS with the right
 * certificate. A record for each: Name, Controller, and Cert, Key, CA, Token, Timeout, Default as needed.
 */

/* The settings of one controller; NULL when the file does not have one. */
struct client {
    char *controller, *cert, *key, *ca, *token, *timeout;
};
void client_fini(struct client *c);

/* True when --controller takes the text as a name: it is neither a path nor a URL. */
bool client_is_name(const char *controller);

/* Finds the record of this name; with NULL the one that is Default. 1 when it exists, 0 when not; -EINVAL
 * with "PATH:LINE: ..." for an error anywhere in the file. The caller ends *out after 1. */
int client_take(const struct conf *file, const char *name, struct client *out, struct err *e);

/* The same in the user's file ($XDG_CONFIG_HOME or ~/.config, fettle/client.conf), or in
 * /etc/fettle/client.conf. A missing file counts as empty. -ENOENT when neither has the name. */
int client_find(const char *name, struct client *out, struct err *e);

#endif
