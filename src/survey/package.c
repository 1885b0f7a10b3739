/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/apart.h"
#include "survey/part.h"

#include "probe/shell.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * dpkg's database is a text file, and is read as such; RPM's is asked for by rpm, in a child process.
 * Both take much longer than everything else of a reading and change seldom, so the last result is
 * kept with a stamp of the database's files.
 */

enum { DPKG_BYTES_MAX = 64 << 20, RPM_BYTES_MAX = 4 << 20 };

static const char STATUS[] = "var/lib/dpkg/status";
static const char *const RPM_DIRS[] = {"var/lib/rpm", "usr/lib/sysimage/rpm"};
/* The databases that RPM has had: Berkeley DB, ndb, SQLite with the log before it is written back. */
static const char *const RPM_FILES[] = {"Packages", "Packages.db", "rpmdb.sqlite", "rpmdb.sqlite-wal"};
enum { DIRS = 2, FILES = 4 };

/* --- dpkg ------------------------------------------------------------------------------------------------
 */

static void package_clear(struct dpkg *d)
{
    *d->package = *d->version = *d->architecture = '\0';
    d->installed = false;
}

void dpkg_end(struct dpkg *d)
{
    if (d->installed && *d->package && *d->version && *d->architecture) {
        CLEANUP_TEXT struct text value = {0};
        text_printf(&value, "%s %s", d->version, d->architecture);
        notes_value(d->notes, value.s, "package.%s", d->package);
    } else if (d->installed) {
        d->damaged = true;
    }
    package_clear(d);
}

static void package_take(struct dpkg *d, const char *line, const char *field, char *to, size_t size)
{
    size_t n = strlen(field);
    if (strncmp(line, field, n) != 0)
        return;
    const char *value = line + n + strspn(line + n, " \t");
    if (strlen(value) >= size)
        d->damaged = true;
    snprintf(to, size, "%s", value);
}

/* The wanted state does not matter: "install" or "hold". */
static bool ends_with(const char *line, const char *end)
{
    size_t n = strlen(line), k = strlen(end);
    return n >= k && strcmp(line + n - k, end) == 0;
}

bool dpkg_line(const char *line, void *dpkg)
{
    struct dpkg *d = dpkg;
    if (!*line) {
        dpkg_end(d);
        return true;
    }
    package_take(d, line, "Package:", d->package, sizeof d->package);
    package_take(d, line, "Version:", d->version, sizeof d->version);
    package_take(d, line, "Architecture:", d->architecture, sizeof d->architecture);
    if (strncmp(line, "Status:", 7) == 0)
        d->installed = ends_with(line, " ok installed");
    return true;
}

static bool package_exists(int root, const char *path)
{
    return faccessat(root, path, F_OK, 0) == 0;
}

static void read_dpkg(const struct reading *r, struct notes *n, struct err *why)
{
    struct dpkg d = {.notes = n};
    int failed = stream_lines(r->root, STATUS, DPKG_BYTES_MAX, dpkg_line, &d);
    dpkg_end(&d);
    if (failed)
        err_set(why, failed, "/%s: %s", STATUS, strerror(-failed));
    else if (d.damaged)
        err_set(why, -EINVAL, "/%s: an installed package without a name, version or architecture", STATUS);
}

/* --- RPM -------------------------------------------------------------------------------------------------
 */

struct asking {
    char program[PATH_MAX], dir[PATH_MAX];
};

static void ask_rpm(void *asking)
{
    static char rpm[] = "rpm", all[] = "-qa", db[] = "--dbpath", quick[] = "--nosignature", form[] = "--qf";
    static char format[] = "%{NAME} %{EPOCHNUM}:%{VERSION}-%{RELEASE} %{ARCH}\\n";
    struct asking *a = asking;
    char *const arguments[] = {rpm, all, db, a->dir, quick, form, format, NULL};
    shell_exec(a->program, arguments);
    _exit(127);
}

/* "NAME VERSION ARCHITECTURE". False for another line. */
static bool rpm_line(char *line, struct notes *n)
{
    char *version = strchr(line, ' ');
    if (!version || version == line || !strchr(version + 1, ' '))
        return false;
    *version++ = '\0';
    notes_value(n, version, "package.%s", line);
    return true;
}

static int take_rpms(const struct text *said, struct notes *n, struct err *why)
{
    CLEANUP_FREE char *copy = mem_dup_len(said->s ? said->s : "", said->len);
    for (char *rest = copy, *line; (line = strsep(&rest, "\n"));)
        if (*line && !rpm_line(line, n))
            return err_set(why, -EINVAL, "rpm -qa says \"%.64s\"", line);
    return 0;
}

static void read_rpm(const struct reading *r, const char *dir, struct notes *n, struct err *why)
{
    CLEANUP_TEXT struct text said = {0};
    struct asking a;
    const char *root = r->real ? "" : r->root_path;
    snprintf(a.program, sizeof a.program, "%s/usr/bin/rpm", root);
    snprintf(a.dir, sizeof a.dir, "%s/%s", root, dir);
    if (access(a.program, X_OK) != 0)
        err_set(why, -ENOENT, "there is a database in /%s, and no /usr/bin/rpm to read it", dir);
    else if (apart_run(-1, reading_timeout(r, RPM_MS_MAX), RPM_BYTES_MAX, ask_rpm, &a, &said, why) < 0)
        err_wrap(why, why->code, "rpm -qa");
    else
        take_rpms(&said, n, why);
}

/* The first of the directories that has a database; NULL. */
static const char *rpm_dir(int root)
{
    for (size_t i = 0; i < DIRS; i++)
        for (size_t j = 0; j < FILES; j++) {
            char path[64];
            snprintf(path, sizeof path, "%s/%s", RPM_DIRS[i], RPM_FILES[j]);
            if (package_exists(root, path))
                return RPM_DIRS[i];
        }
    return NULL;
}

/* --- both -------------------------------------------------------------------------------------------------
 */

uint64_t package_stamp(int root)
{
    const char *dir = rpm_dir(root);
    bool dpkg = package_exists(root, "var/lib/dpkg");
    uint64_t stamp = stamp_bytes(0, "packages", 8);
    if (!dir && !dpkg)
        return 0;
    stamp = stamp_file(stamp, root, STATUS);
    for (size_t i = 0; dir && i < FILES; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", dir, RPM_FILES[i]);
        stamp = stamp_file(stamp, root, path);
    }
    return stamp ? stamp : 1;
}

void package_files(struct hostlist *out)
{
    char path[64];
    snprintf(path, sizeof path, "/%s", STATUS);
    hostlist_add(out, path);
    for (size_t i = 0; i < DIRS; i++)
        for (size_t j = 0; j < FILES; j++) {
            snprintf(path, sizeof path, "/%s/%s", RPM_DIRS[i], RPM_FILES[j]);
            hostlist_add(out, path);
        }
}

static void package_keep(struct survey_cache *cache, const struct notes *n, uint64_t stamp)
{
    survey_cache_fini(cache);
    for (size_t i = 0; i < n->n; i++) {
        const struct note *note = &n->list[i];
        if (components_add(&cache->packages, note->name, note->state, note->value, NULL) < 0) {
            survey_cache_fini(cache); /* more than a list holds: it is read again each time */
            return;
        }
    }
    cache->packages_stamp = stamp;
}

static void package_recall(const struct survey_cache *cache, struct notes *n)
{
    for (size_t i = 0; i < cache->packages.n; i++) {
        const struct component *c = &cache->packages.list[i];
        notes_take(n, c->name, c->state, c->value);
    }
}

/* The stamp is taken before the reading, so a change in between is read again. */
void package_read(const struct reading *r, struct notes *n)
{
    uint64_t stamp = package_stamp(r->root);
    const char *dir = rpm_dir(r->root);
    struct err why = {0};
    if (stamp && stamp == r->cache->packages_stamp) {
        package_recall(r->cache, n);
        return;
    }
    if (package_exists(r->root, "var/lib/dpkg"))
        read_dpkg(r, n, &why);
    if (why.code == 0 && dir)
        read_rpm(r, dir, n, &why);
    if (why.code) {
        notes_fini(n);
        notes_unknown(n, why.msg, "package.*");
    } else {
        package_keep(r->cache, n, stamp);
    }
}
