/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_HOME_HOME_H
#define FETTLE_AGENT_HOME_HOME_H

#include "agent/uplink/address.h"
#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The agent's directory of state: node.key (0600), node.pem and ca.pem, which say who it is and
 * whom it believes, and controllers, the addresses to dial. Every file is replaced whole; a key and
 * its certificate are replaced together, whenever the machine stops.
 */

/*
 * What the agent must know when the disk of its directory of state is dead is kept in memory: below the
 * first directory that RUNTIME_DIRECTORY names, which the service manager makes. Without that variable it
 * lies in the directory of state too.
 */

#define HOME_DEFAULT "/var/lib/fettle-agent"

/* All PEM. Zero-initialise; home_identity_fini when done. */
struct home_identity {
    char *key, *cert, *ca;
    char name[256]; /* the node's name, by its certificate */
};

void home_identity_fini(struct home_identity *id);

/* -ENOENT with advice when the directory has no identity; -EACCES with the command that mends it when others
 * may write what is there, or read a key or state; -errno or -EILSEQ when it is damaged or may not be read.
 */
int home_load(const char *dir, struct home_identity *out, struct err *e);
/* Whether an identity can be stored there: 0, or -errno. Leaves nothing behind. */
int home_try(const char *dir, struct err *e);
/* Stores a key and its certificate, and the authority when ca is not NULL. Makes the directory. */
int home_store(const char *dir, const char *key, const char *cert, const char *ca, struct err *e);

/* Adds the stored addresses to list; none stored is no error. */
int home_load_controllers(const char *dir, struct address_list *list, struct err *e);
/* Likewise those that a controller told of last, in HOME_LEARNED. */
#define HOME_LEARNED "controllers.learned"
int home_load_learned(const char *dir, struct address_list *list, struct err *e);
int home_store_controllers(const char *dir, const struct address_list *list, struct err *e);

/* The node's name in a certificate's SAN URI. -EILSEQ when it has none. */
int home_cert_name(const char *pem, char out[static 256], struct err *e);

/* Whether less than a third of a certificate's life is left that began `age` ago. */
bool home_renewal_due(struct span left, struct span age);

/* Makes the directory in memory, and takes into it what counts and is in the directory of state alone: from
 * before this boot, or from an agent that knew no other place. *out is to be freed; it is dir where there is
 * no RUNTIME_DIRECTORY. -errno as home_load. */
int home_run(const char *dir, char **out, struct err *e);

/* Other files that are kept: the checklist in the directory of state; command, kernel-log and boot-checks
 * in memory; operations in both. The caller frees *out. -ENOENT when there is no such file, -EILSEQ when
 * it is not text or has bytes_max bytes or more. */
int home_read(const char *dir, const char *file, size_t bytes_max, char **out, struct err *e);
/* Replaces the file whole. durable: when it returns, the machine may stop. */
int home_write(const char *dir, const char *file, const char *bytes, bool durable, struct err *e);

#endif
