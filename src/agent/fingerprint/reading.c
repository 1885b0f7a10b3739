/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/fingerprint/reading.h"

#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A report is lines, for JSON text without white space has none of its own:
 *
 *     FINGERPRINT STAMP PACKAGES_STAMP GLANCE     64, 16, 16 and 16 hex digits
 *     {...}                                       each body of COMPONENTS
 *     .                                           the end; without it the report is cut short
 *
 * The parts are made of neighbours in the sorted list: equal lists give equal parts.
 */

enum { HEAD_BYTES = FINGERPRINT_HEX + 3 * 17 + 1, ENVELOPE_BYTES = 256 };

void reading_fini(struct reading *r)
{
    free(r->report);
    *r = (struct reading){0};
}

/* How much a component adds to a body. */
static size_t json_bytes(const struct component *c, struct text *scratch)
{
    text_clear(scratch);
    text_add_json(scratch, c->name);
    text_add_json(scratch, c->value);
    return scratch->len + 2;
}

/* The end of the part that begins at `from`. */
static size_t end_of_part(const struct components *c, size_t from, struct text *scratch)
{
    size_t bytes = ENVELOPE_BYTES, to = from;
    for (; to < c->n; to++) {
        bytes += json_bytes(&c->list[to], scratch);
        if (bytes > READING_PART_BYTES_MAX && to > from)
            break;
    }
    return to;
}

static size_t count_parts(const struct components *c, struct text *scratch)
{
    size_t n = 0, at = 0;
    do {
        at = end_of_part(c, at, scratch);
        n++;
    } while (at < c->n);
    return n;
}

static void add_part(const struct components *part, const char *hex, size_t i, size_t n, struct text *out)
{
    CLEANUP_TEXT struct text list = {0};
    components_format(part, &list);
    text_printf(out, "{\"fingerprint\":\"%s\",\"part\":%zu,\"parts\":%zu", hex, i, n);
    if (list.len > 2) { /* the members inside the braces follow */
        text_add_char(out, ',');
        text_add_bytes(out, list.s + 1, list.len - 1);
    } else {
        text_add_char(out, '}');
    }
    text_add_char(out, '\n');
}

void reading_report(const struct components *c, const struct reading_stamps *stamps, struct text *out)
{
    CLEANUP_TEXT struct text scratch = {0};
    char hex[FINGERPRINT_HEX + 1];
    struct fingerprint id = components_fingerprint(c);
    size_t n = count_parts(c, &scratch);
    text_printf(out, "%s %016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n", fingerprint_format(&id, hex),
                stamps->files, stamps->packages, stamps->glance);
    for (size_t i = 0, from = 0; i < n; i++) {
        size_t to = end_of_part(c, from, &scratch);
        struct components part = {.n = to - from, .sorted = true, .list = c->n ? c->list + from : NULL};
        add_part(&part, hex, i, n, out);
        from = to;
    }
    text_add(out, ".\n");
}

int reading_take(struct reading *r, const char *report, size_t len, struct err *e)
{
    struct reading next = {.known = true, .told_any = r->told_any, .told = r->told};
    char hex[FINGERPRINT_HEX + 1];
    if (len < HEAD_BYTES + 2 || memcmp(report + len - 3, "\n.\n", 3) != 0)
        return err_set(e, -EINVAL, "the report is cut short");
    snprintf(hex, sizeof hex, "%.*s", FINGERPRINT_HEX, report);
    if (!fingerprint_parse(hex, &next.fingerprint) || report[HEAD_BYTES - 1] != '\n' ||
        sscanf(report + FINGERPRINT_HEX, " %16" SCNx64 " %16" SCNx64 " %16" SCNx64, &next.stamps.files,
               &next.stamps.packages, &next.stamps.glance) != 3)
        return err_set(e, -EINVAL, "the report is damaged");
    next.report = mem_dup_len(report, len);
    next.bodies = next.report + HEAD_BYTES;
    free(r->report);
    *r = next;
    return 0;
}

void reading_forget(struct reading *r)
{
    r->known = false;
}

bool reading_say(struct reading *r, const char *boot, struct text *body)
{
    char hex[FINGERPRINT_HEX + 1];
    if (!r->known)
        return false;
    if (r->told_any && fingerprint_equal(&r->told, &r->fingerprint))
        text_add(body, "{\"same\":true}");
    else
        text_printf(body, "{\"fingerprint\":\"%s\",\"boot\":\"%s\"}",
                    fingerprint_format(&r->fingerprint, hex), boot);
    r->told = r->fingerprint;
    r->told_any = true;
    return true;
}

const char *reading_next_part(const struct reading *r, size_t *at, size_t *len)
{
    if (!r->report || r->bodies[*at] == '.')
        return NULL;
    const char *body = r->bodies + *at;
    *len = (size_t)(strchr(body, '\n') - body);
    *at += *len + 1;
    return body;
}

/* False when some packages could not be read. */
static bool add_packages(struct components *to, const struct components *all)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct component *c = &all->list[i];
        if (strncmp(c->name, "package.", 8) != 0)
            continue;
        if (c->state == COMPONENT_UNKNOWN || components_add(to, c->name, c->state, c->value, NULL))
            return false;
    }
    return true;
}

void reading_packages(const struct reading *r, struct survey_cache *cache)
{
    size_t at = 0, len;
    bool good = r->stamps.packages != 0;
    for (const char *body; good && (body = reading_next_part(r, &at, &len));) {
        struct components all = {0};
        CLEANUP_JSON json_t *part = json_read(body, len, NULL);
        good = part && !components_parse(&all, part, NULL) && add_packages(&cache->packages, &all);
        components_fini(&all);
    }
    if (good)
        good = components_sort(&cache->packages, NULL) == 0;
    if (good)
        cache->packages_stamp = r->stamps.packages;
    else
        survey_cache_fini(cache);
}
