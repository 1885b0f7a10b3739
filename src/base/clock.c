/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const int64_t SECOND_NS = 1000000000;
static const int64_t YEARS_MAX_NS = INT64_C(10) * 366 * 86400 * 1000000000;

static const struct {
    const char *name;
    int64_t ns;
} units[] = {{"d", INT64_C(86400000000000)},
             {"h", INT64_C(3600000000000)},
             {"m", INT64_C(60000000000)},
             {"s", INT64_C(1000000000)},
             {"ms", INT64_C(1000000)}};
enum { UNITS = sizeof units / sizeof units[0] };

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * SECOND_NS + t.tv_nsec;
}

struct mono mono_now(void)
{
    return (struct mono){read_clock(CLOCK_MONOTONIC)};
}

struct mono mono_boot(void)
{
    return (struct mono){read_clock(CLOCK_BOOTTIME)};
}

struct wall wall_now(void)
{
    return (struct wall){read_clock(CLOCK_REALTIME)};
}

int span_parse(const char *text, struct span *out, struct err *e)
{
    assert(text && out);
    size_t digits = strspn(text, "0123456789");
    const char *unit = text + digits;
    int64_t per = *unit == '\0' ? SECOND_NS : 0;
    for (size_t i = 0; i < UNITS; i++)
        if (strcmp(unit, units[i].name) == 0)
            per = units[i].ns;
    if (digits == 0 || per == 0)
        return err_set(e, -EINVAL, "\"%s\" is not a length of time (90, 90s, 1500ms, 2m, 6h or 7d)", text);

    int64_t n = 0;
    for (size_t i = 0; i < digits; i++) {
        n = n * 10 + (text[i] - '0');
        if (n > YEARS_MAX_NS / per)
            return err_set(e, -EINVAL, "\"%s\" is more than ten years", text);
    }
    out->ns = n * per;
    return 0;
}

char *span_format(struct span s, char buf[static 32])
{
    snprintf(buf, 32, "0s");
    for (size_t i = 0; s.ns != 0 && i < UNITS; i++) {
        if (s.ns % units[i].ns == 0 || i == UNITS - 1) {
            snprintf(buf, 32, "%" PRId64 "%s", s.ns / units[i].ns, units[i].name);
            break;
        }
    }
    return buf;
}

char *span_human(struct span s, char buf[static 32])
{
    int64_t t = s.ns / SECOND_NS;
    if (t < 0)
        t = 0;
    if (t < 60)
        snprintf(buf, 32, "%" PRId64 "s", t);
    else if (t < 3600)
        snprintf(buf, 32, "%" PRId64 "m%02" PRId64 "s", t / 60, t % 60);
    else if (t < 86400)
        snprintf(buf, 32, "%" PRId64 "h%02" PRId64 "m", t / 3600, t / 60 % 60);
    else
        snprintf(buf, 32, "%" PRId64 "d%02" PRId64 "h", t / 86400, t / 3600 % 24);
    return buf;
}

char *wall_format(struct wall t, char buf[static 32])
{
    time_t s = (time_t)(t.ns / SECOND_NS);
    struct tm tm;
    gmtime_r(&s, &tm);
    size_t n = strftime(buf, 32, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(buf + n, 32 - n, ".%03dZ", (int)(t.ns % SECOND_NS / 1000000));
    return buf;
}
