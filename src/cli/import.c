/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the configuration of other programs: reads files of this machine, and asks no controller.
 */
#include "cli/command.h"

#include "base/conf.h"
#include "import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file to be written, and its temporary place until it is whole. */
struct product {
    const char *name;
    struct text text;
    struct text path, draft;
};

static void product_fini(struct product *p)
{
    text_fini(&p->text);
    text_fini(&p->path);
    text_fini(&p->draft);
}

static int import_failed(const char *path, int error, struct err *e)
{
    int code = error == EEXIST || error == EACCES || error == ENOENT || error == ENOSPC ? error : EIO;
    return err_set(e, -code, "%s: %s", path, strerror(error));
}

static int write_all(int fd, const struct text *t)
{
    for (size_t at = 0; at < t->len;) {
        ssize_t n = write(fd, t->s + at, t->len - at);
        if (n < 0 && errno != EINTR)
            return errno;
        at += n > 0 ? (size_t)n : 0;
    }
    return fchmod(fd, 0644) < 0 || fsync(fd) < 0 ? errno : 0;
}

/* Writes beside the final place, under a unique name. */
static int write_draft(struct product *p, struct err *e)
{
    text_printf(&p->draft, "%s.XXXXXX", p->path.s);
    int fd = mkostemp(p->draft.s, O_CLOEXEC), error = fd < 0 ? errno : write_all(fd, &p->text);
    if (fd >= 0 && close(fd) < 0 && error == 0)
        error = errno;
    if (error == 0)
        return 0;
    if (fd >= 0)
        unlink(p->draft.s);
    text_clear(&p->draft);
    return import_failed(p->path.s, error, e);
}

static int put_in_place(const struct product *p, bool overwrite, struct err *e)
{
    int r = overwrite ? rename(p->draft.s, p->path.s) : link(p->draft.s, p->path.s);
    return r < 0 ? import_failed(p->path.s, errno, e) : 0;
}

static int refuse_existing(const struct product *list, size_t n, struct err *e)
{
    struct stat st;
    for (size_t i = 0; i < n; i++)
        if (lstat(list[i].path.s, &st) == 0)
            return err_set(e, -EEXIST, "%s is there already; --overwrite writes it anew", list[i].path.s);
    return 0;
}

/* Writes all of them, or none when one cannot be written. */
static int write_files(struct call *c, struct product *list, size_t n, struct err *e)
{
    bool overwrite = call_has(c, OPTION_OVERWRITE);
    for (size_t i = 0; i < n; i++)
        text_printf(&list[i].path, "%s/%s", c->value[OPTION_DIR], list[i].name);
    int r = overwrite ? 0 : refuse_existing(list, n, e);
    for (size_t i = 0; i < n && r == 0; i++)
        r = write_draft(&list[i], e);
    for (size_t i = 0; i < n && r == 0; i++) {
        r = put_in_place(&list[i], overwrite, e);
        if (r == 0)
            text_printf(&c->out, "%s\n", list[i].path.s);
    }
    for (size_t i = 0; i < n; i++)
        if (list[i].draft.len)
            unlink(list[i].draft.s);
    return r;
}

/* Writes into the named directory, or to standard output, where several texts have their names before
 * them. */
static int import_deliver(struct call *c, struct product *list, size_t n, struct err *e)
{
    if (call_has(c, OPTION_DIR))
        return write_files(c, list, n, e);
    if (call_has(c, OPTION_OVERWRITE))
        return err_set(e, -EINVAL, "--overwrite goes with --dir");
    for (size_t i = 0; i < n; i++) {
        if (n > 1)
            text_printf(&c->out, "%s# --- %s\n", i ? "\n" : "", list[i].name);
        text_add_bytes(&c->out, list[i].text.s, list[i].text.len);
    }
    return 0;
}

static int read_disk(void *arg, const char *path, struct text *bytes, struct err *e)
{
    return conf_read_bytes(path, bytes, e);
}

int import_slurm_files(struct call *c, struct err *e)
{
    struct product list[] = {{.name = "nodes.conf"}, {.name = "partitions.conf"}};
    const char *env = getenv("SLURM_CONF");
    const char *path = c->n_args ? c->args[0] : env && *env ? env : "/etc/slurm/slurm.conf";
    int r = import_slurm(path, read_disk, NULL, &list[0].text, &list[1].text, e);
    if (r == 0)
        r = import_deliver(c, list, 2, e);
    product_fini(&list[0]);
    product_fini(&list[1]);
    return r;
}

int import_nhc_file(struct call *c, struct err *e)
{
    struct product checks = {.name = "checks.conf"};
    CLEANUP_TEXT struct text bytes = {0};
    const char *path = c->n_args ? c->args[0] : "/etc/nhc/nhc.conf";
    int r = conf_read_bytes(path, &bytes, e);
    if (r == 0)
        r = import_nhc(path, bytes.s, bytes.len, &checks.text, e);
    if (r == 0)
        r = import_deliver(c, &checks, 1, e);
    product_fini(&checks);
    return r;
}
