/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_API_ROUTE_H
#define FETTLE_API_ROUTE_H

#include "access/access.h"
#include "base/err.h"
#include "http/server.h"

/*
 * The routes of the interface, all from route.tbl: the call for a method and a path. Inside this folder.
 */

enum route {
#define ROUTE(operation, method, path, right) ROUTE_##operation,
#include "api/route.tbl"
#undef ROUTE
    ROUTES
};

struct route_row {
    const char *operation; /* "node_list" */
    enum http_method method;
    const char *method_name;
    const char *path;        /* may end in a {parameter} */
    const char *work;        /* "GET /v1/nodes": names the loop's work (base/loop.h) */
    enum access_right right; /* needed by the caller */
};

const struct route_row *route_get(enum route r);

/* Finds the route of a request; *parameter is the part of path that stands for its {parameter}, or NULL.
 * -ENOENT for an unknown path, with the nearest; -EOPNOTSUPP for a method that the path does not have, with
 * those that it has. */
int route_find(enum http_method method, const char *method_name, const char *path, enum route *out,
               const char **parameter, struct err *e);

enum { ROUTE_KEYS_MAX = 10 };

/* The keys that the route's query may have, each once. */
size_t route_keys(enum route r, const char *const **keys);

#endif
