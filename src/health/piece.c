/* SPDX-License-Identifier: Apache-2.0 */
#include "health/piece.h"

#include <string.h>

bool piece_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\0';
}

struct piece piece_trim(struct piece p)
{
    while (p.at < p.end && piece_is_blank(*p.at))
        p.at++;
    while (p.end > p.at && piece_is_blank(p.end[-1]))
        p.end--;
    return p;
}

/* Cuts at the first c; *rest follows it. Without c, it returns all of p and *rest is empty. */
struct piece piece_cut(struct piece p, char c, struct piece *rest)
{
    const char *at = p.at < p.end ? memchr(p.at, c, (size_t)(p.end - p.at)) : NULL;
    *rest = (struct piece){at ? at + 1 : p.end, p.end};
    return (struct piece){p.at, at ? at : p.end};
}

/* The first line that is not blank; *rest follows it. */
struct piece piece_first_line(const char *output, size_t len, struct piece *rest)
{
    struct piece line, all = {output, output + len};
    do {
        line = piece_cut(all, '\n', rest);
        all = *rest;
    } while (rest->at < rest->end && piece_trim(line).at == piece_trim(line).end);
    return line;
}
