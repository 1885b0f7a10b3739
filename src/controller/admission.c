/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a controller gets the authority of a state in etcd, and loses its place (doc/adr/0076). Files that an
 * administrator copied by hand are used as they are.
 */
#include "controller/controller_inside.h"

#include "base/log.h"
#include "link/envelope.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The sentence is also what `make up` and tests read the key from, in the log. */
static int say_waits(const struct controller_record *r, const char *name, const char *key, struct err *e)
{
    if (r && r->why)
        return err_set(e, -ENOKEY,
                       "%s removed this controller: %s; to admit it again, type at another controller: "
                       "fettle controller admit %s %s",
                       r->by, r->why, name, key);
    if (r)
        return err_set(
            e, -ENOKEY,
            "controller %s was admitted with another key; if its directory is new, type at another "
            "controller: fettle controller remove %s --reason 'new directory' && fettle controller "
            "admit %s %s",
            name, name, name, key);
    return err_set(e, -ENOKEY,
                   "this controller has to be admitted; type at another controller: fettle controller admit "
                   "%s %s",
                   name, key);
}

static int admission_take(const struct controller *c, const struct controller_record *r, const char *name,
                          bool has_authority, const struct envelope_key *key, struct err *e)
{
    const char *text = envelope_key_public(key);
    if (!r || !r->key || strcmp(r->key, text) != 0)
        return say_waits(r, name, text, e);
    if (has_authority)
        return 0;
    int rc = envelope_open(r->envelope, key, cluster_authority(c->cluster), c->state_dir, e);
    if (rc == 0)
        log_info("%s admitted this controller: it has the authority now", r->by);
    return rc;
}

int admission_open(const struct controller *c, struct err *e)
{
    char host[256];
    const char *name = controller_machine(c, host);
    const struct controller_record *r = cluster_controller(c->cluster, name);
    struct envelope_key *key;
    CLEANUP_TEXT struct text authority = {0}, own = {0};
    text_printf(&authority, "%s/ca.key", c->state_dir);
    text_printf(&own, "%s/member.key", c->state_dir);
    bool has_authority = access(authority.s, F_OK) == 0;
    if (!*cluster_authority(c->cluster) || (has_authority && !(r && r->why)))
        return 0;
    int rc = envelope_key_open(own.s, &key, e);
    if (rc < 0)
        return rc;
    rc = admission_take(c, r, name, has_authority, key, e);
    envelope_key_close(key);
    return rc;
}

bool admission_is_over(const struct controller *c, struct err *why)
{
    char host[256];
    const struct controller_record *r = cluster_controller(c->cluster, controller_machine(c, host));
    if (!r || !r->why)
        return false;
    err_set(why, -EPERM, "%s removed this controller: %s", r->by, r->why);
    return true;
}

int admission_seal(const struct controller *c, const char *name, const char *key, char **envelope,
                   struct err *e)
{
    int rc = controller_name_check(name, e);
    if (rc == 0 && !c->quorum)
        rc = err_set(e, -EOPNOTSUPP,
                     "this controller is alone: its Store is no etcd, which others could share");
    return rc < 0 ? rc : envelope_seal(c->authority, key, envelope, e);
}
