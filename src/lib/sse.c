/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sse.h"

#include <errno.h>
#include <string.h>

void sse_fini(struct sse *s)
{
    buffer_fini(&s->line);
    buffer_fini(&s->data);
}

void sse_restart(struct sse *s, const char *id)
{
    memmove(s->id, id, strlen(id) + 1);
    memcpy(s->next_id, s->id, sizeof s->id);
    buffer_clear(&s->line);
    buffer_clear(&s->data);
    s->name[0] = '\0';
    s->after_cr = false;
}

static int keep_word(char to[static SSE_WORD_BYTES_MAX], const char *value, struct err *e)
{
    size_t len = strlen(value);
    if (len >= SSE_WORD_BYTES_MAX)
        return err_set(e, -E2BIG, "an event's id or name is longer than %d bytes", SSE_WORD_BYTES_MAX - 1);
    memcpy(to, value, len + 1);
    return 0;
}

static int end_event(struct sse *s, sse_fn *fn, void *arg)
{
    int r = 0;
    memcpy(s->id, s->next_id, sizeof s->id);
    if (s->data.len > 0) /* each line of data added a line end; the last one does not count */
        r = fn(arg, s->name[0] ? s->name : "message", s->id, s->data.s, s->data.len - 1);
    buffer_clear(&s->data);
    s->name[0] = '\0';
    return r;
}

static int end_line(struct sse *s, sse_fn *fn, void *arg, struct err *e)
{
    char *line = s->line.s;
    if (s->line.len == 0)
        return end_event(s, fn, arg);
    size_t field = strcspn(line, ":");
    char *value = line + field;
    if (*value == ':') {
        *value++ = '\0';
        value += *value == ' ';
    }
    if (strcmp(line, "event") == 0)
        return keep_word(s->name, value, e);
    if (strcmp(line, "id") == 0)
        return keep_word(s->next_id, value, e);
    if (strcmp(line, "data") == 0) {
        if (s->data.len + strlen(value) >= SSE_DATA_BYTES_MAX)
            return err_set(e, -E2BIG, "an event is larger than %d MiB", SSE_DATA_BYTES_MAX >> 20);
        buffer_add(&s->data, value);
        buffer_add(&s->data, "\n");
    }
    return buffer_check(&s->data, e);
}

static int add_part(struct sse *s, const char *bytes, size_t n, struct err *e)
{
    if (s->line.len + n > SSE_DATA_BYTES_MAX)
        return err_set(e, -E2BIG, "a line of the event stream is larger than %d MiB",
                       SSE_DATA_BYTES_MAX >> 20);
    buffer_add_bytes(&s->line, bytes, n);
    return buffer_check(&s->line, e);
}

int sse_feed(struct sse *s, const char *bytes, size_t n, sse_fn *fn, void *arg, struct err *e)
{
    for (size_t at = 0; at < n;) {
        if (s->after_cr && bytes[at] == '\n') {
            s->after_cr = false;
            at++;
            continue;
        }
        s->after_cr = false;
        size_t end = at;
        while (end < n && bytes[end] != '\n' && bytes[end] != '\r')
            end++;
        int r = add_part(s, bytes + at, end - at, e);
        if (r == 0 && end < n) {
            s->after_cr = bytes[end] == '\r';
            r = end_line(s, fn, arg, e);
            buffer_clear(&s->line);
        }
        if (r < 0)
            return r;
        at = end + 1;
    }
    return 0;
}
