/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines, and pieces of lines. A line that is whole in what came is read where it lies; only the rest at the
 * end is copied.
 */
#include "controller/observe/reading.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES_MAX = PICTURE_LINE_BYTES_MAX + 16, NAME_BYTES = 32, ID_BYTES = 64 };

struct reading {
    struct watch *into;
    char *origin;
    reading_whole_fn *fn;
    void *arg;

    size_t head;      /* bytes of the head so far */
    bool in_body;     /* the head was read, */
    bool ok;          /* and its first line said 200 */
    struct text rest; /* a line whose end did not come yet */

    /* The piece whose lines come in. */
    char name[NAME_BYTES], id[ID_BYTES];
    struct text data;

    bool has_begun;
    char leader[ID_BYTES]; /* "TERM.INSTANCE." */
    uint64_t said;         /* pieces */
    bool news;
    struct mono now;
    struct wall wall;
};

struct reading *reading_create(struct watch *into, const char *origin, reading_whole_fn *fn, void *arg)
{
    struct reading *r = mem_alloc(sizeof *r);
    r->into = into;
    r->origin = mem_dup(origin);
    r->fn = fn;
    r->arg = arg;
    return r;
}

void reading_destroy(struct reading *r)
{
    if (!r)
        return;
    free(r->origin);
    text_fini(&r->rest);
    text_fini(&r->data);
    free(r);
}

void reading_into(struct reading *r, struct watch *w)
{
    r->into = w;
}

/* --- pieces ------------------------------------------------------------------------------------------- */

/* "TERM.INSTANCE.N": N is one more than that of the piece before, of the same leader. */
static int check_id(struct reading *r, struct err *e)
{
    const char *dot = strrchr(r->id, '.');
    uint64_t n;
    if (!dot || text_parse_u64(dot + 1, 1, UINT64_MAX, &n, NULL) < 0)
        return err_set(e, -EPROTO, "a piece without a number");
    const size_t len = (size_t)(dot + 1 - r->id);
    if (!r->has_begun) {
        memcpy(r->leader, r->id, len);
        r->leader[len] = '\0';
    }
    if (strncmp(r->leader, r->id, len) != 0 || r->leader[len])
        return err_set(e, -EPROTO, "another leader goes on");
    if (n != r->said + 1)
        return err_set(e, -EPROTO, "piece %" PRIu64 " follows %" PRIu64, n, r->said);
    r->said = n;
    return 0;
}

static int take_begin(struct reading *r, const json_t *is, struct err *e)
{
    uint64_t version;
    const char *origin;
    if (json_take_u64(is, "version", UINT32_MAX, &version, e) < 0 ||
        json_take_string(is, "origin", &origin, e) < 0)
        return -EPROTO;
    if (version != 1)
        return err_set(e, -EPROTO, "its stream has version %" PRIu64 ", and 1 is known here", version);
    if (strcmp(origin, r->origin) != 0)
        return err_set(e, -EPROTO, "it leads another state");
    r->has_begun = true;
    return 0;
}

static int take_picture(struct reading *r, const json_t *is, struct err *e)
{
    for (enum picture_piece k = 0; k < PICTURE_PIECES; k++) {
        if (strcmp(r->name, picture_piece_name(k)) != 0)
            continue;
        int rc = picture_take(r->into, r->now, r->wall, k, is, e);
        if (rc == 0 && k == PICTURE_WHOLE)
            r->fn(r->arg);
        return rc;
    }
    return 0; /* of a newer version, which says more */
}

static int take_piece(struct reading *r, struct err *e)
{
    CLEANUP_JSON json_t *is = json_read(r->data.s, r->data.len, e);
    if (!is)
        return -EPROTO;
    int rc = check_id(r, e);
    if (rc < 0)
        return rc;
    if (strcmp(r->name, "begin") == 0)
        return take_begin(r, is, e);
    if (!r->has_begun)
        return err_set(e, -EPROTO, "a piece before the beginning");
    r->news |= strcmp(r->name, "now") == 0;
    return take_picture(r, is, e);
}

/* --- lines -------------------------------------------------------------------------------------------- */

static int take_head_line(struct reading *r, const char *line, size_t n, struct err *e)
{
    r->head += n + 1;
    if (r->head > READING_HEAD_BYTES_MAX)
        return err_set(e, -E2BIG, "the head of its answer is too long");
    if (n == 0 && !r->ok)
        return err_set(e, -EPROTO, "its answer has no status");
    if (n == 0)
        r->in_body = true;
    if (n == 0 || r->ok)
        return 0;
    if (n < 12 || strncmp(line, "HTTP/1.", 7) != 0)
        return err_set(e, -EPROTO, "it does not answer with HTTP");
    if (strncmp(line + 8, " 200", 4) != 0)
        return err_set(e, -EREMOTE, "it answers with%.*s", 4, line + 8);
    r->ok = true;
    return 0;
}

static bool line_begins(const char *line, size_t n, const char *with)
{
    return n >= strlen(with) && strncmp(line, with, strlen(with)) == 0;
}

static int take_word(const char *line, size_t n, char *out, size_t size, struct err *e)
{
    if (n >= size)
        return err_set(e, -EPROTO, "a name or a number of %zu bytes", n);
    memcpy(out, line, n);
    out[n] = '\0';
    return 0;
}

static int take_line(struct reading *r, const char *line, size_t n, struct err *e)
{
    static const char id[] = "id: ", name[] = "event: ", data[] = "data: ";
    if (n && line[n - 1] == '\r')
        n--;
    if (!r->in_body)
        return take_head_line(r, line, n, e);
    if (line_begins(line, n, id))
        return take_word(line + sizeof id - 1, n - (sizeof id - 1), r->id, sizeof r->id, e);
    if (line_begins(line, n, name))
        return take_word(line + sizeof name - 1, n - (sizeof name - 1), r->name, sizeof r->name, e);
    if (line_begins(line, n, data)) {
        text_clear(&r->data);
        text_add_bytes(&r->data, line + sizeof data - 1, n - (sizeof data - 1));
    }
    if (n || !r->data.len)
        return 0; /* a comment, or the end of one */
    int rc = take_piece(r, e);
    text_clear(&r->data);
    *r->id = *r->name = '\0';
    return rc;
}

int reading_feed(struct reading *r, const char *bytes, size_t n, struct mono now, struct wall wall,
                 bool *news, struct err *e)
{
    int rc = 0;
    r->now = now;
    r->wall = wall;
    r->news = false;
    while (n > 0 && rc == 0) {
        const char *end = memchr(bytes, '\n', n);
        const size_t len = end ? (size_t)(end - bytes) : n, taken = end ? len + 1 : n;
        if (r->rest.len + len > LINE_BYTES_MAX)
            return err_set(e, -E2BIG, "a line of more than %d bytes", LINE_BYTES_MAX);
        if (!end || r->rest.len)
            text_add_bytes(&r->rest, bytes, len);
        if (end && r->rest.len)
            rc = take_line(r, r->rest.s, r->rest.len, e);
        else if (end)
            rc = take_line(r, bytes, len, e);
        if (end)
            text_clear(&r->rest);
        bytes += taken;
        n -= taken;
    }
    *news = r->news;
    return rc;
}
