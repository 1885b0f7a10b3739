/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_EXEC_CALL_H
#define FETTLE_EXEC_CALL_H

/*
 * One connection: a request is read, decided, carried out and answered. It blocks, in a process of its own.
 * It logs caller and outcome of all requests that change something, that read passwords, or that are refused.
 */

/* conf is the path of fettle.conf. The caller keeps the connection. */
void call_serve(int connection, const char *conf);

/* Answers with a refusal, without waiting. */
void call_refuse(int fd, const char *why);

#endif
