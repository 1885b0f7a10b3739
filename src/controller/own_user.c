/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Root may read everything, so a child becomes the user and tries. What it finds comes back through a pipe.
 */
#include "controller/own_user.h"

#include "driver/program.h"
#include "link/stream.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <libgen.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char service_user[] = "fettle";

struct own_user {
    const struct config *config;
    const char *state, *exec;
    uid_t uid;
    gid_t gid;
    char name[64]; /* for sentences */
    FILE *out;
};

static void user_name(uid_t uid, char out[static 64])
{
    const struct passwd *p = getpwuid(uid);
    if (p)
        snprintf(out, 64, "%s", p->pw_name);
    else
        snprintf(out, 64, "%u", uid);
}

/* --- as the user ------------------------------------------------------------------------------ */

static void say_file(const struct own_user *a, const char *what, const char *path, const char *verb)
{
    struct stat st;
    char owner[64] = "somebody else";
    if (stat(path, &st) == 0)
        user_name(st.st_uid, owner);
    fprintf(a->out, "%s: user %s may not %s %s, which belongs to %s\n", what, a->name, verb, path, owner);
}

static void check_read(const struct own_user *a, const char *what, const char *path)
{
    if (*path && access(path, R_OK) < 0 && errno == EACCES)
        say_file(a, what, path, "read");
}

static int on_bmc(void *arg, const struct bmc_record *r, struct err *e)
{
    const struct own_user *a = arg;
    check_read(a, "bmc.conf", r->ca_file);
    if (!a->exec)
        check_read(a, "bmc.conf", r->password_file);
    return 0;
}

static void check_files(struct own_user *a)
{
    static const enum setting files[] = {
        SETTING_NODE_SPEC_CONF,  SETTING_PARTITION_CONF, SETTING_CLASS_CONF,       SETTING_CHECK_CONF,
        SETTING_MEANING_CONF,    SETTING_REMEDY_CONF,    SETTING_BMC_CONF,         SETTING_MQTT_PASSWORD_FILE,
        SETTING_MQTT_CA,         SETTING_MQTT_KEY,       SETTING_MQTT_CERTIFICATE, SETTING_OPENCHAMI_CA,
        SETTING_OPENCHAMI_TOKEN, SETTING_TENANT_CONF};
    const struct config *c = a->config;
    check_read(a, "the configuration", c->path);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        check_read(a, config_name(files[i]), c->text[files[i]]);
    bmcs_each(c->bmcs, on_bmc, a, NULL);
}

static void check_write(const struct own_user *a, enum setting s, const char *dir)
{
    if (*dir && access(dir, W_OK) < 0 && errno == EACCES)
        say_file(a, config_name(s), dir, "write");
}

/* The socket's is made by the service. */
static void check_directories(const struct own_user *a)
{
    CLEANUP_FREE char *socket = listener_local_path(a->config->text[SETTING_API_SOCKET]);
    check_write(a, SETTING_API_SOCKET, dirname(socket));
    check_write(a, SETTING_BACKUP_DIRECTORY, a->config->text[SETTING_BACKUP_DIRECTORY]);
    check_write(a, SETTING_JOURNAL_EXPORT, a->config->text[SETTING_JOURNAL_EXPORT]);
    check_write(a, SETTING_AUDIT_ARCHIVE, a->config->text[SETTING_AUDIT_ARCHIVE]);
}

/* The service gives nothing away in a directory that is the user's already. */
static void check_state(const struct own_user *a)
{
    struct stat st;
    DIR *list = stat(a->state, &st) == 0 && st.st_uid == a->uid ? opendir(a->state) : NULL;
    for (struct dirent *d; list && (d = readdir(list));) {
        CLEANUP_TEXT struct text path = {0};
        text_printf(&path, "%s/%s", a->state, d->d_name);
        if (strcmp(d->d_name, "..") != 0 && lstat(path.s, &st) == 0 && st.st_uid != a->uid)
            say_file(a, "the state", path.s, "change");
    }
    if (list)
        closedir(list);
}

static void check_exec(const struct own_user *a)
{
    struct err e = {0};
    if (a->exec && program_try_exec(a->exec, &e) < 0)
        fprintf(a->out, "the part that needs root: %s\n", e.msg);
}

static void check_all(struct own_user *a)
{
    check_files(a);
    check_directories(a);
    check_state(a);
    check_exec(a);
}

/* --- who it is -------------------------------------------------------------------------------- */

static int own_user_become(const struct own_user *a)
{
    if (geteuid() == a->uid)
        return 0;
    const struct passwd *p = getpwuid(a->uid);
    int rc = p ? initgroups(p->pw_name, p->pw_gid) : setgroups(0, NULL);
    return rc == 0 && setgid(p ? p->pw_gid : a->gid) == 0 && setuid(a->uid) == 0 ? 0 : -errno;
}

static void check_in_child(struct own_user *a, struct text *out)
{
    int ends[2];
    pid_t pid = pipe(ends) == 0 ? fork() : -1;
    if (pid == 0) {
        close(ends[0]);
        a->out = fdopen(ends[1], "w");
        if (a->out && own_user_become(a) == 0)
            check_all(a);
        _exit(!a->out || fflush(a->out) != 0);
    }
    if (pid < 0)
        return;
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], text_room(out, BUFSIZ), BUFSIZ)) > 0;)
        out->len += (size_t)n;
    close(ends[0]);
    text_add(out, "");
    waitpid(pid, NULL, 0);
}

/* Whether there is somebody to check for, who is not root. */
static bool own_user_find(struct own_user *a, struct text *out)
{
    struct stat st;
    if (stat(a->state, &st) < 0)
        return false;
    a->uid = st.st_uid;
    a->gid = st.st_gid;
    if (a->uid == 0 && strcmp(a->state, STATE_DIRECTORY) == 0) {
        const struct passwd *p = getpwnam(service_user);
        if (!p)
            text_printf(out,
                        "there is no user %s, under which fettled.service runs; \"systemd-sysusers "
                        "fettled.conf\" makes it\n",
                        service_user);
        a->uid = p ? p->pw_uid : 0;
        a->gid = p ? p->pw_gid : 0;
    }
    user_name(a->uid, a->name);
    return a->uid != 0;
}

void own_user_check(const struct config *c, const char *state, const char *exec, struct text *out)
{
    assert(c && state && out);
    struct own_user a = {.config = c, .state = state, .exec = exec};
    if (!own_user_find(&a, out))
        return;
    if (geteuid() == 0 || geteuid() == a.uid)
        check_in_child(&a, out);
    else
        text_printf(out, "the state: %s belongs to user %s, and only root can check for this user\n", state,
                    a.name);
}
