/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_BASE_ERR_H
#define FETTLE_BASE_ERR_H

/*
 * Errors: a number for the program and a sentence for the operator.
 *
 * A function that can fail returns 0 or a negative errno, and takes a `struct err *` last, which may be NULL.
 * The sentence is a lower-case clause without full stop and without the names of functions; it names the
 * file, line, key or node. A caller that adds context wraps the error on the way up:
 *
 *     return err_set(e, -ENOENT, "no node \"%s\"", name);
 *     return err_wrap(e, r, "%s:%d", path, line);        gives  nodes.conf:12: no node "lx09"
 */

enum { ERR_MSG_BYTES_MAX = 512 };

struct err {
    int code; /* negative errno, 0 while nothing is wrong */
    char msg[ERR_MSG_BYTES_MAX];
};

/* Sets code and sentence (cut at the limit). Returns code. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "CONTEXT: " before the present sentence and sets code. Returns code. */
int err_wrap(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The code's name in JSON ("not_found"), its HTTP status and its exit status; from err.tbl.
 * Takes the code with either sign. Codes without a row are "internal", 500, 1. */
const char *err_name(int code);
int err_http(int code);
int err_exit(int code);

/* The negative errno whose row has this JSON name, or -EIO. For clients that read an answer. */
int err_code(const char *name);

#endif
