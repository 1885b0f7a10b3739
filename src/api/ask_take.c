/* SPDX-License-Identifier: Apache-2.0 */
/* Members of bodies. */
#include "api/ask_inside.h"

#include <errno.h>
#include <string.h>

int ask_check_plain(const char *key, const char *s, size_t max, struct err *e)
{
    size_t len = strlen(s);
    if (len == 0 || len > max)
        return err_set(e, -EINVAL, "\"%s\" has %zu bytes; 1 to %zu are allowed", key, len, max);
    for (size_t width; *s; s += width) {
        uint32_t c = text_character(s, &width);
        if (text_misleads(c))
            return err_set(e, -EINVAL, "\"%s\" holds the control character U+%04X", key, c);
    }
    return 0;
}

int ask_want_string(const json_t *o, const char *key, const char **out, struct err *e)
{
    int rc = json_take_string(o, key, out, e);
    return rc == -ENOENT ? err_set(e, -EINVAL, "\"%s\" is missing", key) : rc;
}

int ask_allow_string(const json_t *o, const char *key, const char **out, struct err *e)
{
    return json_object_get(o, key) ? json_take_string(o, key, out, e) : 0;
}

int ask_take_plain(const json_t *o, const char *key, size_t max, char **out, struct err *e)
{
    const char *s;
    int rc = ask_want_string(o, key, &s, e);
    if (rc == 0)
        rc = ask_check_plain(key, s, max, e);
    if (rc == 0)
        *out = mem_dup(s);
    return rc;
}

static int take_list(const char *list, struct hostlist *out, struct err *e)
{
    int rc = hostlist_parse(list, out, e);
    if (rc < 0)
        return err_wrap(e, rc, "\"nodes\"");
    return out->n > 0 ? 0 : err_set(e, -EINVAL, "\"nodes\" names no node");
}

int ask_take_nodes(const json_t *o, struct ask *a, struct err *e)
{
    const char *list;
    int rc = ask_want_string(o, "nodes", &list, e);
    return rc < 0 ? rc : take_list(list, &a->nodes, e);
}

int ask_take_span(const char *key, const char *text, int64_t max_s, struct span *out, struct err *e)
{
    int rc = span_parse(text, out, e);
    if (rc < 0)
        return err_wrap(e, rc, "\"%s\"", key);
    char max[32];
    if (out->ns <= 0 || out->ns > span_s(max_s).ns)
        return err_set(e, -EINVAL, "\"%s\" is \"%s\"; more than 0s and at most %s are allowed", key, text,
                       span_format(span_s(max_s), max));
    return 0;
}

int ask_take_valid(const json_t *o, int64_t usual_s, int64_t max_s, struct ask *a, struct err *e)
{
    const char *text = NULL;
    a->valid = span_s(usual_s);
    int rc = ask_allow_string(o, "valid", &text, e);
    return rc < 0 || !text ? rc : ask_take_span("valid", text, max_s, &a->valid, e);
}
