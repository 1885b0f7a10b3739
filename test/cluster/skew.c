/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

/*
 * A wall clock that is wrong by FETTLE_SKEW_S seconds, for one process; or by as many as the file
 * FETTLE_SKEW_FILE says at the moment (an int64_t): such a clock can be stepped. It is loaded before the
 * system's library.
 */

static const volatile int64_t *stepped; /* the file; NULL: there is none */

__attribute__((constructor)) static void skew_open(void)
{
    const char *path = getenv("FETTLE_SKEW_FILE");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *stepped, PROT_READ, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (at != MAP_FAILED)
        stepped = at;
}

static time_t skew(void)
{
    const char *s = getenv("FETTLE_SKEW_S");
    if (stepped)
        return (time_t)*stepped;
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
