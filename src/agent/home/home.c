/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/home/home.h"

#include "base/hostlist.h"
#include "base/private.h"
#include "base/text.h"
#include "link/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Replacing a key and its certificate takes two renames. Both files are first written whole beside
 * the old ones, the key before the certificate; then the key is renamed, then the certificate. A
 * machine that stops in between leaves a new certificate without a new key, and only then: loading
 * finishes the second rename. Anything else that is left over was never in force and is removed.
 */

enum { FILE_BYTES_MAX = 64 << 10, KEPT_BYTES_MAX = 1 << 20 };

void home_identity_fini(struct home_identity *id)
{
    free(id->key);
    free(id->cert);
    free(id->ca);
    *id = (struct home_identity){0};
}

static char *path_of(const char *dir, const char *file)
{
    struct text t = {0};
    text_printf(&t, "%s/%s", dir, file);
    return text_take(&t);
}

static int sync_dir(const char *dir, struct err *e)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = fd < 0 || fsync(fd) ? -errno : 0;
    if (fd >= 0)
        close(fd);
    return r ? err_set(e, r, "%s: %s", dir, strerror(-r)) : 0;
}

static int write_fd(int fd, const char *bytes, bool durable)
{
    for (size_t n = strlen(bytes); n > 0;) {
        ssize_t w = write(fd, bytes, n);
        if (w < 0 && errno != EINTR)
            return -errno;
        if (w > 0) {
            bytes += w;
            n -= (size_t)w;
        }
    }
    return durable && fsync(fd) ? -errno : 0;
}

static int write_some(const char *dir, const char *file, mode_t mode, const char *bytes, bool durable,
                      struct err *e)
{
    CLEANUP_FREE char *path = path_of(dir, file);
    unlink(path); /* so that the mode is the one asked for */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    int r = fd < 0 ? -errno : write_fd(fd, bytes, durable);
    if (fd >= 0)
        close(fd);
    return r ? err_set(e, r, "%s: %s", path, strerror(-r)) : 0;
}

static int write_file(const char *dir, const char *file, mode_t mode, const char *bytes, struct err *e)
{
    return write_some(dir, file, mode, bytes, true, e);
}

static int rename_file(const char *dir, const char *from, const char *to, struct err *e)
{
    CLEANUP_FREE char *a = path_of(dir, from);
    CLEANUP_FREE char *b = path_of(dir, to);
    return rename(a, b) ? err_set(e, -errno, "%s: %s", b, strerror(errno)) : 0;
}

static int move_file(const char *dir, const char *from, const char *to, struct err *e)
{
    int r = rename_file(dir, from, to, e);
    return r ? r : sync_dir(dir, e);
}

static int replace_file(const char *dir, const char *file, const char *bytes, struct err *e)
{
    CLEANUP_TEXT struct text next = {0};
    text_printf(&next, "%s.new", file);
    int r = write_file(dir, next.s, 0644, bytes, e);
    return r ? r : move_file(dir, next.s, file, e);
}

static int read_some(const char *dir, const char *file, size_t bytes_max, char **out, struct err *e)
{
    CLEANUP_FREE char *path = path_of(dir, file);
    CLEANUP_FREE char *bytes = mem_alloc(bytes_max + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, bytes, bytes_max);
    int r = n < 0 ? -errno : 0;
    if (fd >= 0)
        close(fd);
    if (r)
        return err_set(e, r, "%s: %s", path, strerror(-r));
    if (strlen(bytes) != (size_t)n || (size_t)n == bytes_max)
        return err_set(e, -EILSEQ, "%s is damaged", path);
    *out = mem_dup(bytes);
    return 0;
}

static int read_file(const char *dir, const char *file, char **out, struct err *e)
{
    return read_some(dir, file, FILE_BYTES_MAX, out, e);
}

static bool home_has(const char *dir, const char *file)
{
    CLEANUP_FREE char *path = path_of(dir, file);
    return access(path, F_OK) == 0;
}

static void remove_file(const char *dir, const char *file)
{
    CLEANUP_FREE char *path = path_of(dir, file);
    unlink(path);
}

static int finish_replacing(const char *dir, struct err *e)
{
    if (!home_has(dir, "node.key.new") && home_has(dir, "node.pem.new"))
        return move_file(dir, "node.pem.new", "node.pem", e);
    remove_file(dir, "node.pem.new");
    remove_file(dir, "node.key.new");
    return 0;
}

static int value_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* The bytes of the first block of a PEM text. */
static void decode_pem(const char *pem, struct text *out)
{
    const char *at = strstr(pem, "-----BEGIN");
    at = at ? strchr(at, '\n') : NULL;
    uint32_t bits = 0;
    for (int n = 0; at && *at && *at != '-'; at++) {
        int v = value_of(*at);
        if (v < 0)
            continue;
        bits = bits << 6 | (uint32_t)v;
        n += 6;
        if (n >= 8) {
            n -= 8;
            text_add_char(out, (char)(bits >> n & 0xff));
        }
    }
}

/* Our own certificate, which the authority made and the other side verifies: so it is enough to
 * look for the one name of the form in DER, tag 0x86 (URI), length, text. */
int home_cert_name(const char *pem, char out[static 256], struct err *e)
{
    static const char form[] = "urn:fettle:node:";
    CLEANUP_TEXT struct text der = {0};
    decode_pem(pem, &der);
    const char *at = der.s ? memmem(der.s, der.len, form, sizeof form - 1) : NULL;
    if (at && at - der.s >= 2) {
        size_t len = (unsigned char)at[-1];
        /* More than 127 bytes have their length in a second one, with 0x81 before it. */
        bool tagged = len < 128
                          ? (unsigned char)at[-2] == 0x86
                          : at - der.s >= 3 && (unsigned char)at[-2] == 0x81 && (unsigned char)at[-3] == 0x86;
        if (tagged && len >= sizeof form && (size_t)(at - der.s) + len <= der.len) {
            size_t n = len - (sizeof form - 1);
            memcpy(out, at + sizeof form - 1, n);
            out[n] = 0;
            if (hostlist_name_ok(out) && strlen(out) == n)
                return 0;
        }
    }
    return err_set(e, -EILSEQ, "the certificate names no node");
}

int home_load(const char *dir, struct home_identity *out, struct err *e)
{
    static const char *const readable[] = {"*.pem", "controllers", NULL};
    *out = (struct home_identity){0};
    if (access(dir, R_OK | X_OK) && errno != ENOENT)
        return err_set(e, -errno, "%s: %s", dir, strerror(errno));
    int r = private_check_dir(dir, readable, e);
    if (!r)
        r = finish_replacing(dir, e);
    if (r)
        return r;
    if (!home_has(dir, "node.key") && !home_has(dir, "node.pem"))
        return err_set(e, -ENOENT, "%s has no identity yet; make one with \"fettle-agent join TOKEN HOST\"",
                       dir);
    r = read_file(dir, "node.key", &out->key, e);
    if (!r)
        r = read_file(dir, "node.pem", &out->cert, e);
    if (!r)
        r = read_file(dir, "ca.pem", &out->ca, e);
    if (!r && (r = home_cert_name(out->cert, out->name, e)))
        err_wrap(e, r, "%s/node.pem", dir);
    if (r)
        home_identity_fini(out);
    return r;
}

static int make_dir(const char *dir, struct err *e)
{
    if (mkdir(dir, 0700) && errno != EEXIST)
        return err_set(e, -errno, "%s: %s", dir, strerror(errno));
    return 0;
}

int home_try(const char *dir, struct err *e)
{
    static const char file[] = "try.new";
    bool made = !home_has(dir, ".");
    int r = make_dir(dir, e);
    if (r)
        return r;
    r = write_file(dir, file, 0600, "", e);
    remove_file(dir, file);
    if (made)
        rmdir(dir);
    return r;
}

int home_store(const char *dir, const char *key, const char *cert, const char *ca, struct err *e)
{
    int r = make_dir(dir, e);
    if (!r)
        r = finish_replacing(dir, e);
    if (!r && ca)
        r = replace_file(dir, "ca.pem", ca, e);
    if (!r)
        r = write_file(dir, "node.key.new", 0600, key, e);
    if (!r)
        r = write_file(dir, "node.pem.new", 0644, cert, e);
    if (!r)
        r = sync_dir(dir, e);
    if (!r)
        r = move_file(dir, "node.key.new", "node.key", e);
    if (!r)
        r = move_file(dir, "node.pem.new", "node.pem", e);
    return r;
}

static int load_addresses(const char *dir, const char *file, struct address_list *list, struct err *e)
{
    CLEANUP_FREE char *text = NULL;
    int r = read_file(dir, file, &text, e);
    if (r)
        return r == -ENOENT ? 0 : r;
    r = address_list_add(list, text, e);
    return r ? err_wrap(e, r, "%s/%s", dir, file) : 0;
}

int home_load_controllers(const char *dir, struct address_list *list, struct err *e)
{
    return load_addresses(dir, "controllers", list, e);
}

int home_load_learned(const char *dir, struct address_list *list, struct err *e)
{
    return load_addresses(dir, HOME_LEARNED, list, e);
}

int home_store_controllers(const char *dir, const struct address_list *list, struct err *e)
{
    char one[ADDRESS_HOST_BYTES_MAX + 16];
    CLEANUP_TEXT struct text t = {0};
    int r = make_dir(dir, e);
    for (size_t i = 0; i < list->n; i++)
        text_printf(&t, "%s\n", address_format(&list->at[i], one));
    return r ? r : replace_file(dir, "controllers", t.s ? t.s : "", e);
}

bool home_renewal_due(struct span left, struct span age)
{
    int64_t lived = age.ns > 0 ? age.ns : 0;
    return left.ns < lived / 2; /* left < (left + lived) / 3 */
}

/* The older copy is out of date, or damaged in the same way. */
static int take_over(const char *dir, const char *run, const char *file, struct err *e)
{
    CLEANUP_FREE char *bytes = NULL;
    if (home_has(run, file) || read_some(dir, file, KEPT_BYTES_MAX, &bytes, NULL))
        return 0;
    return home_write(run, file, bytes, false, e);
}

int home_run(const char *dir, char **out, struct err *e)
{
    static const char *const none[] = {NULL};
    static const char *const files[] = {"operations", "command", "kernel-log", "boot-checks"};
    const char *given = getenv("RUNTIME_DIRECTORY");
    CLEANUP_TEXT struct text run = {0};
    if (!given || *given != '/') {
        *out = mem_dup(dir);
        return 0;
    }
    text_printf(&run, "%.*s/agent", (int)strcspn(given, ":"), given);
    int r = make_dir(run.s, e);
    if (!r)
        r = private_check_dir(run.s, none, e);
    for (size_t i = 0; !r && i < sizeof files / sizeof *files; i++)
        r = take_over(dir, run.s, files[i], e);
    if (!r)
        *out = text_take(&run);
    return r;
}

int home_read(const char *dir, const char *file, size_t bytes_max, char **out, struct err *e)
{
    return read_some(dir, file, bytes_max, out, e);
}

int home_write(const char *dir, const char *file, const char *bytes, bool durable, struct err *e)
{
    CLEANUP_TEXT struct text next = {0};
    text_printf(&next, "%s.new", file);
    int r = write_some(dir, next.s, 0600, bytes, durable, e);
    if (r)
        remove_file(dir, next.s);
    else
        r = durable ? move_file(dir, next.s, file, e) : rename_file(dir, next.s, file, e);
    return r;
}
