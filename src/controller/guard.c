/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/guard.h"

#include "base/private.h"
#include "driver/program.h"
#include "link/stream.h"
#include "store/etcd/etcd.h"

#include <errno.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A state has one user: what another one makes in it, its own could not read. */
static int check_owner(const char *dir, struct err *e)
{
    struct stat st;
    uid_t own = geteuid();
    if (stat(dir, &st) < 0 || st.st_uid == own)
        return 0;
    if (own == 0)
        return err_set(e, -EACCES, "%s belongs to user %u; start fettled as that user, not as root", dir,
                       st.st_uid);
    return err_set(e, -EACCES,
                   "%s belongs to user %u, and this is user %u; while no fettled runs, \"chown -hR %u %s\" "
                   "gives it away",
                   dir, st.st_uid, own, own, dir);
}

int guard_state(const char *dir, struct err *e)
{
    int rc = check_owner(dir, e);
    if (rc < 0)
        return rc;
    static const char *const readable[] = {"ca.pem", NULL};
    return private_check_dir(dir, readable, e);
}

static int guard_check(const char *path, enum private_access access, struct err *e)
{
    int rc = *path ? private_check(path, access, e) : 0;
    return rc == -ENOENT ? 0 : rc; /* whoever reads it says that it is missing */
}

struct walk {
    const char *bmc_conf;
};

/* Where this user may not look, fettle-exec does, at each reading. */
static int on_bmc(void *arg, const struct bmc_record *r, struct err *e)
{
    const struct walk *w = arg;
    bool is_hidden = program_exec() && access(r->password_file, F_OK) < 0;
    int rc = is_hidden ? 0 : guard_check(r->password_file, PRIVATE_TO_READ, e);
    return rc < 0 ? err_wrap(e, -EINVAL, "%s:%u: PasswordFile", w->bmc_conf, r->line) : 0;
}

static const char *text_or_null(const char *text)
{
    return *text ? text : NULL;
}

/* Whether Store and the parameters beside it can be used. */
static int check_store(const struct config *c, struct err *e)
{
    const char *given = c->text[SETTING_STORE];
    const struct etcd_options o = {.endpoints = given + strlen(STORE_SCHEME),
                                   .ca = text_or_null(c->text[SETTING_STORE_CA]),
                                   .cert = text_or_null(c->text[SETTING_STORE_CERTIFICATE]),
                                   .key = text_or_null(c->text[SETTING_STORE_KEY]),
                                   .name = "any",
                                   .address = "any:1"};
    if (!*given)
        return 0;
    if (strncmp(given, STORE_SCHEME, strlen(STORE_SCHEME)) != 0)
        return err_set(e, -EINVAL, "\"%s\" does not begin with \"%s\"", given, STORE_SCHEME);
    return etcd_check(&o, e);
}

static int check_file(const struct config *c, enum setting s, enum private_access access, struct err *e)
{
    int rc = guard_check(c->text[s], access, e);
    return rc < 0 ? err_wrap(e, -EINVAL, "%s:%d: %s", c->path, c->line[s], config_name(s)) : 0;
}

int guard_config(const struct config *c, struct err *e)
{
    int rc = check_file(c, SETTING_ROLE_CONF, PRIVATE_TO_WRITE, e);
    return rc < 0 ? rc : guard_own(c, e);
}

int guard_own(const struct config *c, struct err *e)
{
    static const enum setting secrets[] = {SETTING_MQTT_PASSWORD_FILE, SETTING_MQTT_KEY,
                                           SETTING_OPENCHAMI_TOKEN, SETTING_STORE_KEY};
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
        int rc = check_file(c, secrets[i], PRIVATE_TO_READ, e);
        if (rc < 0)
            return rc;
    }
    if (check_store(c, e) < 0)
        return err_wrap(e, -EINVAL, "%s:%d: Store", c->path, c->line[SETTING_STORE]);
    struct walk w = {c->text[SETTING_BMC_CONF]};
    int rc = check_file(c, SETTING_OIDC_CA, PRIVATE_TO_WRITE, e);
    if (rc == 0)
        rc = bmcs_each(c->bmcs, on_bmc, &w, e);
    if (rc < 0)
        return rc;
    CLEANUP_FREE char *name = mem_dup(c->text[SETTING_API_SOCKET]), *socket = listener_local_path(name);
    rc = guard_check(dirname(name), PRIVATE_TO_WRITE, e);
    if (rc == 0)
        rc = guard_check(dirname(socket), PRIVATE_TO_WRITE, e);
    return rc < 0 ? err_wrap(e, -EINVAL, "ApiSocket") : 0;
}
