/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_EXEC_SITE_H
#define FETTLE_EXEC_SITE_H

#include "base/conf.h"
#include "base/err.h"
#include "base/text.h"

/*
 * The permissions that this site gives fettle-exec: fettle.conf and the files that it names, as fettled reads
 * them. They are trusted only when nobody but root can write them, the directories on their path, or the
 * files that they name.
 */

struct site {
    struct conf conf; /* fettle.conf */
};

/* -errno, or -EPERM for a file that others can write. There is nothing to free then. */
int site_open(const char *conf, struct site *s, struct err *e);
void site_close(struct site *s);

/* 0 when nobody but root (or this process's user) can write the file or any directory that leads to it;
 * -EPERM. */
int site_check_file(const char *path, struct err *e);

/* The program for a node's power: Run, User and PasswordFile of its record in BmcConf. The caller frees the
 * content of *out, even after an error: -ENOENT without such a record. */
struct site_power {
    char *program, *user;
    struct text password; /* empty for none */
};
int site_power(const struct site *s, const char *node, struct site_power *out, struct err *e);
void site_power_fini(struct site_power *p);
/* Reads the password of a node's BMC. -ENOENT without one. */
int site_password(const struct site *s, const char *node, struct text *out, struct err *e);
/* 0 when a record of RemedyConf has this Run, which begins with "script:". */
int site_check_script(const struct site *s, const char *run, struct err *e);
/* 0 when NodeSpecConf has the node. */
int site_check_node(const struct site *s, const char *node, struct err *e);
/* A program of Slurm in the directory of SlurmScontrol; the caller frees it. *conf is SlurmConf, borrowed; ""
 * for none. */
int site_slurm_program(const struct site *s, const char *name, char **program, const char **conf,
                       struct err *e);
/* ReplaceProgram; borrowed. */
int site_replace_program(const struct site *s, const char **out, struct err *e);

#endif
