/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_REACH_H
#define FETTLE_API_REACH_H

#include "api/caller.h"
#include "cluster/cluster.h"

/*
 * How far a caller's rights about owners reach: which owners a caller may name in a change, and sees. A
 * change names each owner that it is about, and its decision compares the present one with what is agreed
 * (cluster/decide/decide_owner.c): so who may name the owner of today and that of tomorrow may make the
 * change. Inside this folder.
 */

/* 0, or -EACCES with the roles that may: nodes may begin to work for this owner, or cease to. */
int reach_check(const struct caller *c, const struct owner *o, struct err *e);
/* The same for a claim, a release or a transfer, which names the owner of today, that of tomorrow, or both.
 */
int reach_change(const struct caller *c, const struct command *cmd, struct err *e);
/* Whether the caller, who has the right OWNERS, reads what this owner has. */
bool reach_sees(const struct caller *c, const struct owner *o);
/* The caller as an owner: a person, and the tenant when the caller's role holds for one tenant alone. -EACCES
 * for a program; -EINVAL when the tenant has to be named. */
int reach_self(const struct caller *c, struct owner *out, struct err *e);

#endif
