/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLUSTER_COMMAND_CERTIFICATE_H
#define FETTLE_CLUSTER_COMMAND_CERTIFICATE_H

#include "cluster/state/certificate.h"

/*
 * The structs of commands about tokens and certificates (command.h). Their pointers are borrowed.
 */

/* A certificate, which is given away after its record is committed. */
struct certificate_terms {
    uint64_t serial;
    uint64_t key;                              /* the first bytes of the SHA-256 of its public key */
    char role[CERTIFICATE_ROLE_BYTES_MAX + 1]; /* the role of an operator; else "" */
    struct wall from, until;
};

/* TOKEN_CREATE: the nodes of the command may join with it. */
struct token_create_command {
    const char *hash; /* the token's hash, lower-case hex */
    struct wall expires;
    uint64_t count;   /* how many machines may join; 1 to TOKEN_COUNT_MAX */
    bool again;       /* also nodes with a certificate that is valid */
    const char *from; /* addresses of the machines, as network.h reads them; NULL: any */
    const char *uuid; /* the machine's UUID; NULL: any */
};

/* TOKEN_USE: the node of the command joins. */
struct token_use_command {
    const char *hash;
    struct certificate_terms terms; /* the terms of the certificate that the node gets */
    const char *address;            /* the machine's UUID; "": not known */
    const char *machine;            /* the UUID that the machine says; "": none */
};

struct token_end_command {
    const char *id; /* TOKEN_ID_BYTES of the hash */
};

/* CERTIFICATE: for an operator or a controller. */
struct certificate_command {
    const char *subject; /* "operator:ann" */
    struct certificate_terms terms;
};

/* CERTIFICATE_RENEW: for the node of the command. */
struct renew_command {
    struct certificate_terms next;
    struct certificate_terms of; /* the terms of the certificate with which the node asks */
};

/* CERTIFICATE_USED: the node of the command came with it. */
struct used_command {
    uint64_t serial;
};

/* CERTIFICATE_REVOKE. */
struct revoke_command {
    const char *subject; /* NULL: the node of the command */
    bool one;            /* the certificate with this number alone; else all */
    uint64_t serial;
};

#endif
