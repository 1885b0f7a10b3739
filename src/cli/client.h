/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_CLIENT_H
#define FETTLE_CLI_CLIENT_H

#include "base/conf.h"

/*
 * client.conf: controllers by name, so that `fettle -C prod status` reaches one over HTTPS with the right
 * certificate. A record for each: Name, Controller, and Cert, Key, CA, Timeout, Default as needed.
 */

/* Of one controller; NULL where the file does not say. */
struct client {
    char *controller, *cert, *key, *ca, *timeout;
};
void client_fini(struct client *c);

/* True for what --controller takes as a name: no path, no URL. */
bool client_is_name(const char *controller);

/* The record of this name among those of a file; with NULL the one that is Default. 1 when it is there, 0
 * when not; -EINVAL with "PATH:LINE: ..." for a file that is wrong anywhere. The caller ends *out after 1. */
int client_take(const struct conf *file, const char *name, struct client *out, struct err *e);

/* The same from the user's file ($XDG_CONFIG_HOME or ~/.config, fettle/client.conf), or
 * /etc/fettle/client.conf. A file that is not there has none. -ENOENT for a name that neither has. */
int client_find(const char *name, struct client *out, struct err *e);

#endif
