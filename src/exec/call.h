/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_EXEC_CALL_H
#define FETTLE_EXEC_CALL_H

/*
 * One connection: a request is read, decided, carried out and answered. It blocks, in a process of its own,
 * and logs who asked for what and what came of it: all that changes something, passwords, and whatever is
 * refused.
 */

/* conf: where fettle.conf is. The connection stays the caller's. */
void call_serve(int connection, const char *conf);

/* Answers that it is refused, and waits for nothing. */
void call_refuse(int fd, const char *why);

#endif
