/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/request.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const char magic[] = "fettle-exec 1";
static const char *const ends[] = {
    [REQUEST_ENDED] = "ended", [REQUEST_KILLED] = "killed", [REQUEST_REFUSED] = "refused"};

static void word_write(struct text *t, const char *word)
{
    text_add_bytes(t, word, strlen(word) + 1);
}

static void number_write(struct text *t, uint64_t n)
{
    text_add_u64(t, n);
    text_add_bytes(t, "", 1);
}

void request_write(struct span deadline, const char *const *words, struct text *t)
{
    assert(words && words[0]);
    int64_t s = (span_to_ms(deadline) + 999) / 1000;
    word_write(t, magic);
    number_write(t, s < 1 ? 1 : s > REQUEST_SECONDS_MAX ? REQUEST_SECONDS_MAX : (uint64_t)s);
    for (; *words; words++)
        word_write(t, *words);
}

void request_write_answer(const struct request_answer *a, struct text *t)
{
    word_write(t, ends[a->end]);
    if (a->end == REQUEST_REFUSED)
        word_write(t, a->why);
    else
        number_write(t, (uint64_t)a->number);
}

/* --- reading --------------------------------------------------------------------------------- */

/* The next word, or NULL after the last. The last byte of all is zero. */
static const char *word_next(const char **at, const char *end)
{
    const char *word = *at;
    if (word == end)
        return NULL;
    *at += strlen(word) + 1;
    return word;
}

static int bytes_check(const char *bytes, size_t len, struct err *e)
{
    if (len > REQUEST_BYTES_MAX)
        return err_set(e, -E2BIG, "the request is longer than %d bytes", REQUEST_BYTES_MAX);
    if (len == 0 || bytes[len - 1] != '\0')
        return err_set(e, -EINVAL, "the request is not whole");
    for (size_t i = 0; i < len; i++)
        if ((bytes[i] > '\0' && bytes[i] < ' ' && bytes[i] != '\t') || bytes[i] == '\x7f')
            return err_set(e, -EINVAL, "the request has a control character at byte %zu", i + 1);
    return 0;
}

int request_parse(const char *bytes, size_t len, struct request *r, struct err *e)
{
    assert(bytes && r);
    const char *at = bytes, *end = bytes + len;
    uint64_t seconds;
    *r = (struct request){0};
    int rc = bytes_check(bytes, len, e);
    if (rc < 0)
        return rc;
    const char *first = word_next(&at, end), *time = word_next(&at, end);
    r->action = word_next(&at, end);
    if (strcmp(first, magic) != 0)
        return err_set(e, -EINVAL, "the request does not begin with \"%s\"", magic);
    if (!r->action)
        return err_set(e, -EINVAL, "the request is not whole");
    rc = text_parse_u64(time, 1, REQUEST_SECONDS_MAX, &seconds, e);
    if (rc < 0)
        return err_wrap(e, rc, "seconds");
    r->deadline = span_s((int64_t)seconds);
    for (const char *word; (word = word_next(&at, end));) {
        if (r->n == REQUEST_ARGS_MAX)
            return err_set(e, -E2BIG, "the request has more than %d arguments", REQUEST_ARGS_MAX);
        r->args[r->n++] = word;
    }
    return 0;
}

int request_parse_answer(const char *bytes, size_t len, struct request_answer *a, struct err *e)
{
    const char *at = bytes, *end = bytes + len;
    uint64_t number = 0;
    *a = (struct request_answer){.why = ""};
    if (len == 0 || bytes[len - 1] != '\0')
        return err_set(e, -EPROTO, "the answer is not whole");
    const char *first = word_next(&at, end), *second = word_next(&at, end);
    while (a->end <= REQUEST_REFUSED && strcmp(first, ends[a->end]) != 0)
        a->end++;
    if (a->end > REQUEST_REFUSED || !second || at != end)
        return err_set(e, -EPROTO, "the answer is not understood");
    if (a->end == REQUEST_REFUSED)
        a->why = second;
    else if (text_parse_u64(second, 0, 255, &number, NULL) < 0)
        return err_set(e, -EPROTO, "the answer is not understood");
    a->number = (int)number;
    return 0;
}
