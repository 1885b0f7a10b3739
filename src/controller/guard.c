/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/guard.h"

#include "base/private.h"

#include <errno.h>
#include <libgen.h>

int guard_state(const char *dir, struct err *e)
{
    static const char *const readable[] = {"ca.pem", NULL};
    return private_check_dir(dir, readable, e);
}

static int check(const char *path, enum private_access access, struct err *e)
{
    int rc = *path ? private_check(path, access, e) : 0;
    return rc == -ENOENT ? 0 : rc; /* whoever reads it says that it is missing */
}

struct walk {
    const char *bmc_conf;
};

static int on_bmc(void *arg, const struct bmc_record *r, struct err *e)
{
    const struct walk *w = arg;
    int rc = check(r->password_file, PRIVATE_TO_READ, e);
    return rc < 0 ? err_wrap(e, -EINVAL, "%s:%u: PasswordFile", w->bmc_conf, r->line) : 0;
}

int guard_config(const struct config *c, struct err *e)
{
    static const enum setting secrets[] = {SETTING_MQTT_PASSWORD_FILE, SETTING_MQTT_KEY,
                                           SETTING_OPENCHAMI_TOKEN};
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
        int rc = check(c->text[secrets[i]], PRIVATE_TO_READ, e);
        if (rc < 0)
            return err_wrap(e, -EINVAL, "%s:%d: %s", c->path, c->line[secrets[i]], config_name(secrets[i]));
    }
    struct walk w = {c->text[SETTING_BMC_CONF]};
    int rc = bmcs_each(c->bmcs, on_bmc, &w, e);
    if (rc < 0)
        return rc;
    CLEANUP_FREE char *socket = mem_dup(c->text[SETTING_API_SOCKET]);
    rc = check(dirname(socket), PRIVATE_TO_WRITE, e);
    return rc < 0 ? err_wrap(e, -EINVAL, "ApiSocket") : 0;
}
