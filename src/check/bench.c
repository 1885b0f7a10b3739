/* SPDX-License-Identifier: Apache-2.0 */
#include "check/part.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

/*
 * bench.memory.bandwidth   "bandwidth MB/S" of a[i] = b[i] + 3 c[i] over arrays that no cache holds, counted
 *                          as STREAM does: 24 bytes an element
 * bench.memory.latency     "latency NS" of a load whose address the one before it brought
 * bench.disk               "write MB/S", "read MB/S", "latency US" of the median of small writes
 *
 * What they take is bounded: time by Duration, memory by a quarter of what is available, the file by half of
 * what is free. The file has no name as soon as it exists, and all of it ends with the process, so nothing is
 * left when this is killed. What is said ends in "NAME NUMBER UNIT", with commas between.
 */

enum { THREADS_MAX = 32, LINE_BYTES = 64, BLOCK_BYTES = 1 << 20 };
static const uint64_t MIB = 1 << 20;

/* --- memory --------------------------------------------------------------------------------- */

static bool on_available(const char *line, void *arg)
{
    static const char key[] = "MemAvailable:";
    struct words w;
    uint64_t kb;
    if (strncmp(line, key, strlen(key)) != 0)
        return true;
    words_of(line, &w);
    if (word_u64(&w, 1, &kb))
        *(uint64_t *)arg = kb * 1024;
    return false;
}

/* The memory that the record asks for, at most a quarter of what is available; 0, with the reason in *out,
 * when that is too little to measure. */
static uint64_t size_of(const struct look *l, uint64_t fallback, struct text *out)
{
    uint64_t size, available = 0;
    struct err e = {0};
    if (check_arg_bytes(l->check, "Size", fallback, &size, &e) < 0) {
        fact_add(out, "unknown", "%s", e.msg);
        return 0;
    }
    CLEANUP_FD int root = look_root(l, out);
    if (root < 0)
        return 0;
    sys_each_line(root, "proc/meminfo", on_available, &available);
    size = size < available / 4 ? size : available / 4;
    if (size < MIB)
        fact_add(out, "unknown", "too little memory is available");
    return size < MIB ? 0 : size;
}

static bool duration_of(const struct look *l, struct span fallback, struct span *duration, struct text *out)
{
    struct err e = {0};
    int r = check_arg_span(l->check, "Duration", fallback, duration, &e);
    if (r < 0)
        fact_add(out, "unknown", "%s", e.msg);
    return r == 0;
}

static void *bench_map(uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

/* A thread that touches its own part first, on a processor of its own, has it near. */
struct stream {
    pthread_t thread;
    int cpu;
    size_t n; /* elements of each array */
    double *a;
    struct span duration;
    atomic_size_t *ready;
    atomic_bool *go;
    double mb_s;
};

static void bench_pin(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void bench_triad(double *restrict a, const double *restrict b, const double *restrict c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] + 3 * c[i];
}

static void *run_stream(void *arg)
{
    struct stream *s = arg;
    double *b = s->a + s->n, *c = b + s->n;
    bench_pin(s->cpu);
    for (size_t i = 0; i < s->n; i++) {
        s->a[i] = 0;
        b[i] = 1;
        c[i] = 2;
    }
    atomic_fetch_add(s->ready, 1);
    while (!atomic_load(s->go))
        sched_yield();
    struct mono began = mono_now();
    struct span took;
    uint64_t passes = 0;
    do {
        bench_triad(s->a, b, c, s->n);
        /* Each pass reads what the one before it wrote, so that none can be left out. */
        b[passes % s->n] = s->a[passes % s->n] - 6;
        passes++;
        took = mono_sub(mono_now(), began);
    } while (took.ns < s->duration.ns);
    s->mb_s = (double)passes * (double)s->n * 3 * sizeof(double) * 1000 / (double)took.ns;
    return NULL;
}

/* Evenly over the processors that this process may use, so that each memory controller works. */
static size_t choose_cpus(int cpus[static THREADS_MAX])
{
    int all[CPU_SETSIZE];
    cpu_set_t set;
    size_t n = 0;
    if (sched_getaffinity(0, sizeof set, &set) < 0)
        return 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            all[n++] = i;
    size_t threads = n < THREADS_MAX ? n : THREADS_MAX;
    for (size_t i = 0; i < threads; i++)
        cpus[i] = all[i * n / threads];
    return threads;
}

/* Runs the tests for which there is a thread, all at once. Returns their MB/s together. */
static double run_streams(struct stream *streams, size_t n)
{
    atomic_size_t ready = 0;
    atomic_bool go = false;
    size_t begun = 0;
    double sum = 0;
    for (; begun < n; begun++) {
        streams[begun].ready = &ready;
        streams[begun].go = &go;
        if (pthread_create(&streams[begun].thread, NULL, run_stream, &streams[begun]) != 0)
            break;
    }
    while (atomic_load(&ready) < begun)
        sched_yield();
    atomic_store(&go, true);
    for (size_t i = 0; i < begun; i++) {
        pthread_join(streams[i].thread, NULL);
        sum += streams[i].mb_s;
    }
    return sum;
}

void gather_BENCH_BANDWIDTH(const struct look *l, struct text *out)
{
    struct stream streams[THREADS_MAX] = {0};
    int cpus[THREADS_MAX];
    struct span duration;
    uint64_t size = size_of(l, 2048 * MIB, out);
    if (size == 0 || !duration_of(l, span_s(2), &duration, out))
        return;
    size_t threads = choose_cpus(cpus);
    double *all = threads > 0 ? bench_map(size) : NULL;
    if (!all) {
        fact_add(out, "unknown", "%s", threads > 0 ? strerror(ENOMEM) : "there are too many processors");
        return;
    }
    for (size_t i = 0; i < threads; i++) {
        streams[i].cpu = cpus[i];
        streams[i].n = size / threads / 3 / sizeof(double);
        streams[i].a = all + i * streams[i].n * 3;
        streams[i].duration = duration;
    }
    double mb_s = run_streams(streams, threads);
    munmap(all, size);
    if (mb_s < 1)
        fact_add(out, "unknown", "no thread could be made");
    else
        fact_add(out, "bandwidth", "%.0f", mb_s);
}

/* --- latency -------------------------------------------------------------------------------- */

union line {
    union line *next;
    char bytes[LINE_BYTES];
};

/* One ring through all lines in an order that nothing foresees (Sattolo's); the same each time. */
static void make_ring(union line *lines, size_t n)
{
    uint64_t seed = 1;
    for (size_t i = 0; i < n; i++)
        lines[i].next = &lines[i];
    for (size_t i = n - 1; i > 0; i--) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t other = (size_t)((seed >> 33) % i);
        union line *next = lines[i].next;
        lines[i].next = lines[other].next;
        lines[other].next = next;
    }
}

void gather_BENCH_LATENCY(const struct look *l, struct text *out)
{
    enum { STEPS = 4096 }; /* between two looks at the clock */
    struct span duration, took;
    uint64_t size = size_of(l, 256 * MIB, out), steps = 0;
    if (size == 0 || !duration_of(l, span_s(1), &duration, out))
        return;
    union line *lines = bench_map(size);
    if (!lines) {
        fact_add(out, "unknown", "%s", strerror(ENOMEM));
        return;
    }
    make_ring(lines, size / sizeof *lines);
    union line *volatile here = lines; /* read and written between the steps: the walk cannot be left out */
    struct mono began = mono_now();
    do {
        union line *at = here;
        for (int i = 0; i < STEPS; i++)
            at = at->next;
        here = at;
        steps += STEPS;
        took = mono_sub(mono_now(), began);
    } while (took.ns < duration.ns);
    munmap(lines, size);
    fact_add(out, "latency", "%" PRIu64, (uint64_t)took.ns / steps);
}

/* --- disk ----------------------------------------------------------------------------------- */

static const char *path_of(const struct look *l)
{
    const char *path = check_arg(l->check, "Path");
    return path ? path : "/var/tmp";
}

static int open_file(const struct look *l)
{
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "%s%s", l->root, path_of(l));
    int fd = open(path.s, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd < 0 ? -errno : fd;
    text_add(&path, "/.fettle-bench.XXXXXX"); /* a file system that has no files without names */
    fd = mkostemp(path.s, O_CLOEXEC);
    int why = errno;
    if (fd >= 0)
        unlink(path.s);
    return fd < 0 ? -why : fd;
}

/* Blocks that no file system can make small. */
static void bench_fill(char *block, uint64_t *seed)
{
    for (size_t i = 0; i < BLOCK_BYTES; i += sizeof *seed) {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        memcpy(block + i, seed, sizeof *seed);
    }
}

/* MB/s, at least 1. */
static uint64_t bench_speed(uint64_t bytes, struct mono began)
{
    int64_t ns = mono_sub(mono_now(), began).ns;
    uint64_t mb_s = bytes * 1000 / (uint64_t)(ns > 0 ? ns : 1);
    return mb_s > 0 ? mb_s : 1;
}

static int write_all(int fd, const char *block, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        /* A multiple of the block, less where the last one was cut. */
        size_t at = done % BLOCK_BYTES, n = BLOCK_BYTES - at;
        ssize_t w = write(fd, block + at, n < bytes - done ? n : (size_t)(bytes - done));
        if (w <= 0)
            return w < 0 ? -errno : -EIO;
        done += (uint64_t)w;
    }
    return fsync(fd) < 0 ? -errno : 0;
}

/* The cache has been told to forget it, and would give it back where it cannot (tmpfs). */
static int read_all(int fd, char *block, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        ssize_t r = pread(fd, block, BLOCK_BYTES, (off_t)done);
        if (r <= 0)
            return r < 0 ? -errno : -EIO;
        done += (uint64_t)r;
    }
    return 0;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The median time of small writes that the disk confirms; -errno. */
static int64_t write_small(int fd, const char *block)
{
    enum { WRITES = 33, SMALL_BYTES = 4096 };
    int64_t took[WRITES];
    for (int i = 0; i < WRITES; i++) {
        struct mono began = mono_now();
        if (pwrite(fd, block, SMALL_BYTES, (off_t)i * SMALL_BYTES) != SMALL_BYTES || fdatasync(fd) < 0)
            return errno ? -errno : -EIO;
        took[i] = mono_sub(mono_now(), began).ns / 1000;
    }
    qsort(took, WRITES, sizeof *took, by_size);
    return took[WRITES / 2];
}

static int try_file(int fd, uint64_t size, struct text *out)
{
    uint64_t seed = 88172645463325252u;
    CLEANUP_FREE char *block = mem_alloc(BLOCK_BYTES);
    bench_fill(block, &seed);
    struct mono began = mono_now();
    int r = write_all(fd, block, size);
    if (r < 0)
        return r;
    fact_add(out, "write", "%" PRIu64, bench_speed(size, began));
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    began = mono_now();
    r = read_all(fd, block, size);
    if (r < 0)
        return r;
    fact_add(out, "read", "%" PRIu64, bench_speed(size, began));
    int64_t us = write_small(fd, block);
    if (us >= 0)
        fact_add(out, "latency", "%" PRId64, us);
    return us < 0 ? (int)us : 0;
}

void gather_BENCH_DISK(const struct look *l, struct text *out)
{
    uint64_t size;
    struct statvfs fs;
    struct err e = {0};
    if (check_arg_bytes(l->check, "Size", 256 * MIB, &size, &e) < 0) {
        fact_add(out, "unknown", "%s", e.msg);
        return;
    }
    CLEANUP_FD int fd = open_file(l);
    if (fd == -ENOENT || fd == -ENOTDIR) {
        fact_add(out, "unsupported", "%s: %s", path_of(l), strerror(-fd));
        return;
    }
    int r = fd < 0 ? fd : fstatvfs(fd, &fs) < 0 ? -errno : 0;
    uint64_t half = r == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize / 2 : 0;
    size = size < half ? size : half;
    if (r == 0 && size < MIB)
        r = -ENOSPC;
    if (r == 0)
        r = try_file(fd, size - size % MIB, out);
    if (r < 0)
        fact_add(out, "failed", "%d %s", -r, strerror(-r));
}

/* --- judging -------------------------------------------------------------------------------- */

/* Appends what was measured, and says whether it is too little (floor) or too much (ceiling); 0: no limit. */
struct measure {
    const char *name, *unit;
    int64_t floor, ceiling;
};

static bool judge_measure(const char *facts, const struct measure *m, struct text *said)
{
    uint64_t value;
    if (!fact_u64(facts, m->name, &value))
        return false;
    text_printf(said, "%s%s %" PRIu64 " %s", said->len > 0 ? ", " : "", m->name, value, m->unit);
    if (m->floor > 0 && value < (uint64_t)m->floor)
        text_printf(said, " (of at least %" PRId64 ")", m->floor);
    else if (m->ceiling > 0 && value > (uint64_t)m->ceiling)
        text_printf(said, " (of at most %" PRId64 ")", m->ceiling);
    else
        return false;
    return true;
}

static void judge_measures(const char *device, const char *facts, const struct measure *m, size_t n,
                           struct verdict *v)
{
    CLEANUP_TEXT struct text said = {0};
    bool bad = false;
    for (size_t i = 0; i < n; i++)
        bad = judge_measure(facts, &m[i], &said) || bad;
    if (said.len == 0)
        verdict_cannot(v, RESULT_UNKNOWN, "nothing was measured");
    else if (bad)
        verdict_add(v, RESULT_DEGRADED, device, "", "%s", said.s);
    if (said.len > 0)
        verdict_note(v, "%s", said.s);
}

void judge_BENCH_BANDWIDTH(struct look *l, const char *facts, struct verdict *v)
{
    struct measure m = {.name = "bandwidth", .unit = "MB/s"};
    if (want_number(l, "Floor", 0, &m.floor, v))
        judge_measures("memory", facts, &m, 1, v);
}

void judge_BENCH_LATENCY(struct look *l, const char *facts, struct verdict *v)
{
    struct measure m = {.name = "latency", .unit = "ns"};
    if (want_number(l, "Ceiling", 0, &m.ceiling, v))
        judge_measures("memory", facts, &m, 1, v);
}

/* An error of the disk is its own; a lack of room or of rights is not. */
static void judge_disk_failed(const char *device, const char *value, struct verdict *v)
{
    uint64_t code;
    struct words w;
    words_of(value, &w);
    if (word_u64(&w, 0, &code) && (code == EIO || code == ENXIO || code == ENODEV))
        verdict_add(v, RESULT_DEGRADED, device, "", "a file could not be written and read:%s",
                    value + strcspn(value, " "));
    else
        verdict_cannot(v, RESULT_UNKNOWN, "cannot try on %s:%s", device, value + strcspn(value, " "));
}

void judge_BENCH_DISK(struct look *l, const char *facts, struct verdict *v)
{
    struct measure m[] = {{.name = "write", .unit = "MB/s"},
                          {.name = "read", .unit = "MB/s"},
                          {.name = "latency", .unit = "us"}};
    struct fact_line failed;
    char device[FINDING_DEVICE_BYTES_MAX + 1];
    snprintf(device, sizeof device, "fs %.59s", path_of(l));
    if (!want_number(l, "Floor", 0, &m[0].floor, v) || !want_number(l, "Ceiling", 0, &m[2].ceiling, v))
        return;
    m[1].floor = m[0].floor;
    if (fact_find(facts, "failed", &failed))
        judge_disk_failed(device, failed.value, v);
    else
        judge_measures(device, facts, m, sizeof m / sizeof *m, v);
}
