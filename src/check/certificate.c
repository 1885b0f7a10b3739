/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include "base/certificate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * certificate   "now SECONDS", "certificate FROM UNTIL NAME" of each in the file, in seconds since 1970, not
 * less than 0; "-" for no name
 */

static void certificate_add(const struct certificate *c, void *arg)
{
    fact_add(arg, "certificate", "%" PRId64 " %" PRId64 " %s", c->from_s > 0 ? c->from_s : 0,
             c->until_s > 0 ? c->until_s : 0, *c->name ? c->name : "-");
}

static void read_file(int root, const char *path, struct text *out)
{
    CLEANUP_FREE char *bytes = mem_alloc(SYS_FILE_BYTES_MAX);
    CLEANUP_TEXT struct text facts = {0};
    struct err e = {0};
    int r = sys_read(root, path, bytes, SYS_FILE_BYTES_MAX);
    if (r == -E2BIG)
        fact_add(out, "unknown", "/%s has more than %d KiB", path, SYS_FILE_BYTES_MAX / 1024);
    else if (r < 0)
        fact_cannot(root, out, path, r);
    if (r < 0)
        return;
    r = certificates_read(bytes, strlen(bytes), certificate_add, &facts, &e);
    fact_add(out, "now", "%" PRId64, wall_now().ns / 1000000000);
    if (r < 0)
        fact_add(out, "unknown", "/%s has %s", path, e.msg);
    else if (r == 0)
        fact_add(out, "unknown", "/%s has no certificate", path);
    else
        text_add(out, facts.s);
}

void gather_CERTIFICATE(const struct look *l, struct text *out)
{
    const char *path = check_arg(l->check, "Path");
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return;
    if (path)
        read_file(root, path + strspn(path, "/"), out);
    else
        fact_add(out, "unknown", "the record has no Path");
}

/* In words; a longer time than a century counts as a century. */
static const char *length_of(int64_t seconds, char about[static 32])
{
    const int64_t century = INT64_C(100) * 365 * 24 * 3600;
    return span_human(span_s(seconds < century ? seconds : century), about);
}

static void judge_one(const struct words *w, int64_t now, struct span warn, const char *device,
                      struct verdict *v)
{
    char about[32];
    const char *name = strcmp(w->w[2], "-") == 0 ? "a certificate" : w->w[2];
    uint64_t from, until;
    if (!word_u64(w, 0, &from) || !word_u64(w, 1, &until) || from > INT64_MAX || until > INT64_MAX)
        return;
    int64_t left = until == INT64_MAX ? INT64_MAX : (int64_t)until - now;
    bool soon = left < warn.ns / 1000000000;
    if ((int64_t)from > now)
        verdict_add(v, RESULT_DEGRADED, device, "", "%s is not valid for another %s", name,
                    length_of((int64_t)from - now, about));
    else if (left <= 0)
        verdict_add(v, RESULT_DEGRADED, device, "", "%s expired %s ago", name, length_of(-left, about));
    else if (soon)
        verdict_add(v, RESULT_WARN, device, "", "%s expires in %s", name, length_of(left, about));
}

void judge_CERTIFICATE(struct look *l, const char *facts, struct verdict *v)
{
    const char *path = check_arg(l->check, "Path");
    char device[FINDING_DEVICE_BYTES_MAX + 1];
    struct fact_line line;
    struct span warn;
    int64_t now;
    snprintf(device, sizeof device, "certificate %s", path ? path : "");
    if (!want_span(l, "Warn", span_s(7 * 24 * 3600), &warn, v) || !fact_i64(facts, "now", &now) || now < 0)
        return;
    for (const char *at = facts; fact_next(&at, &line);) {
        struct words w;
        words_of(line.value, &w);
        if (strcmp(line.key, "certificate") == 0)
            judge_one(&w, now, warn, device, v);
    }
}
