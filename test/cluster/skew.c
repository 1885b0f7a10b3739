/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

/*
 * A wall clock that is wrong by FETTLE_SKEW_S seconds, for one process. It is loaded before the system's
 * library.
 */

static time_t skew(void)
{
    const char *s = getenv("FETTLE_SKEW_S");
    return s ? (time_t)strtol(s, NULL, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    int r = (int)syscall(SYS_clock_gettime, clock, out);
    if (r == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        out->tv_sec += skew();
    return r;
}

/* Nobody keeps it. */
int adjtimex(struct timex *out)
{
    int r = (int)syscall(SYS_adjtimex, out);
    if (r < 0 || !skew())
        return r;
    out->time.tv_sec += skew();
    out->status |= STA_UNSYNC;
    return TIME_ERROR;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    int r = clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return r;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
