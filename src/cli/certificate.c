/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands about certificates: create one for an operator, list them, revoke some.
 */
#include "cli/listing.h"
#include "cli/print.h"
#include "cli/report.h"

#include "base/hostlist.h"
#include "link/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one is made ---- */

static int create_file(const char *path, const char *bytes, struct err *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(e, errno == EEXIST || errno == EACCES ? -errno : -EIO, "%s: %s", path,
                       strerror(errno));
    int r = 0;
    for (size_t at = 0, len = strlen(bytes); at < len && r == 0;) {
        ssize_t n = write(fd, bytes + at, len - at);
        if (n >= 0)
            at += (size_t)n;
        else if (errno != EINTR)
            r = err_set(e, errno == ENOSPC ? -ENOSPC : -EIO, "%s: %s", path, strerror(errno));
    }
    if (close(fd) < 0 && r == 0)
        r = err_set(e, -EIO, "%s: %s", path, strerror(errno));
    if (r < 0)
        unlink(path);
    return r;
}

/* True when the file holds exactly these bytes: a second certificate of one authority. */
static bool holds_already(const char *path, const char *bytes)
{
    char have[16384];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, have, sizeof have);
    if (fd >= 0)
        close(fd);
    return n >= 0 && (size_t)n == strlen(bytes) && memcmp(have, bytes, (size_t)n) == 0;
}

static int keep_certificate(const char *pem_path, const struct fettle_value *answer, struct err *e)
{
    const char *cert = fettle_get_text(answer, "certificate"), *ca = fettle_get_text(answer, "authority");
    if (!cert || !ca)
        return err_set(e, -EPROTO, "the answer holds no certificate");
    bool have_ca = holds_already("ca.pem", ca);
    int r = have_ca ? 0 : create_file("ca.pem", ca, e);
    if (r == 0) {
        r = create_file(pem_path, cert, e);
        if (r < 0 && !have_ca)
            unlink("ca.pem");
    }
    return r;
}

static int request_certificate(struct call *c, struct fettle *f, const char *key_path, const char *pem_path,
                               struct err *e)
{
    CLEANUP_FREE char *key = NULL;
    CLEANUP_FREE char *request = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    int r = tls_new_request(&key, &request, e);
    if (r < 0)
        return r;
    bool dry = call_has(c, OPTION_DRY_RUN);
    if (!dry)
        r = create_file(key_path, key, e);
    explicit_bzero(key, strlen(key));
    if (r < 0)
        return r;
    r = call_told(fettle_certificate_create(f, c->args[0], c->value[OPTION_ROLE], request,
                                            c->value[OPTION_VALID], &answer, &why),
                  &why, e);
    if (r == 0 && dry)
        return report_would(c, answer);
    if (r == 0)
        r = keep_certificate(pem_path, fettle_answer_value(answer), e);
    if (r < 0 && !dry)
        unlink(key_path);
    fettle_answer_free(answer);
    return r;
}

int cert_create(struct call *c, struct err *e)
{
    CLEANUP_TEXT struct text key_path = {0}, pem_path = {0};
    const char *role = c->value[OPTION_ROLE], *name = c->args[0];
    if (!hostlist_name_ok(name) || strcmp(name, "ca") == 0)
        return err_set(e, -EINVAL, "\"%s\" cannot be the name of a certificate", name);
    if (!role || (strcmp(role, "reader") != 0 && strcmp(role, "admin") != 0))
        return err_set(e, -EINVAL, "which role? --role reader, or --role admin");
    text_printf(&key_path, "%s.key", name);
    text_printf(&pem_path, "%s.pem", name);
    if (access(pem_path.s, F_OK) == 0)
        return err_set(e, -EEXIST, "%s is there already", pem_path.s);
    struct fettle *f = call_controller(c, e);
    int r = f ? request_certificate(c, f, key_path.s, pem_path.s, e) : e->code;
    if (r == 0 && !call_has(c, OPTION_DRY_RUN))
        text_printf(&c->out, "%s, %s and ca.pem: %s as %s\n", key_path.s, pem_path.s, name, role);
    return r;
}

/* ---- which there are ---- */

int cert_list(struct call *c, struct err *e)
{
    static const struct listing certificates = {.record = RECORD_CERTIFICATE, .all = fettle_certificate_list};
    return listing_show(c, &certificates, NULL, e);
}

/* ---- some end ---- */

int cert_revoke(struct call *c, struct err *e)
{
    const char *holder = c->n_args == 1 && strchr(c->args[0], ':') ? c->args[0] : NULL;
    CLEANUP_FREE char *nodes = NULL;
    struct fettle_answer *answer = NULL;
    struct fettle_error why;
    if (call_needs_reason(c, e) < 0)
        return e->code;
    int r = holder ? 0 : choice_nodes(c->args, c->n_args, &nodes, e);
    struct fettle *f = r == 0 ? call_controller(c, e) : NULL;
    if (!f)
        return e->code;
    r = call_told(fettle_certificate_revoke(f, nodes, holder, c->value[OPTION_SERIAL],
                                            c->value[OPTION_REASON], &answer, &why),
                  &why, e);
    return r < 0 ? r : report_change(c, answer, "certificates revoked", "certificates revoked");
}
