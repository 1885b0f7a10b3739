/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backup becomes the state of a directory. The original may still run somewhere, and may have decided more
 * since. So the copy begins with a term that the original cannot have reached: terms count starts, and the
 * copy takes the seconds since 1970. Whoever has heard the copy believes the original no more, and ids, which
 * begin with the term, are never given twice.
 */
#include "store/restore.h"

#include "backup/backup_inside.h"
#include "base/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* What was copied is read again, since the backup was read before. */
static int copy_check(int fd, const struct manifest_file *f, struct err *e)
{
    uint64_t bytes;
    char is[65];
    int r = lseek(fd, 0, SEEK_SET) < 0 ? -errno : digest_sha256_file(fd, &bytes, is);
    if (r)
        return err_set(e, r, "%s: %s", f->name, strerror(-r));
    return bytes == f->bytes && strcmp(is, f->sha256) == 0
               ? 0
               : err_set(e, -EILSEQ, "%s changed while it was copied", f->name);
}

static int file_bring(const char *path, const struct manifest_file *f, struct restore *to, struct err *e)
{
    CLEANUP_FREE char *name = shelf_path(path, f->name);
    int out, in = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (in < 0)
        return shelf_failed(name, e);
    int r = restore_file(to, f->name, &out, e);
    if (r) {
        close(in);
        return r;
    }
    r = shelf_copy(in, out);
    r = r ? err_set(e, r, "%s: %s", f->name, strerror(-r)) : copy_check(out, f, e);
    close(out);
    close(in);
    return r;
}

static int mark_put(const struct manifest *m, const char *actor, struct wall now, struct restore *to,
                    struct backup_restored *out, struct err *e)
{
    CLEANUP_TEXT struct text value = {0}, said = {0}, fields = {0};
    char at[32];
    uint64_t seconds = now.ns > 0 ? (uint64_t)(now.ns / 1000000000) : 0;
    out->term = m->term >= seconds ? m->term + 1 : seconds;
    text_printf(&fields, "\"backup\":{\"at\":\"%lld\",\"revision\":%llu,\"term\":%llu}", (long long)m->at.ns,
                (unsigned long long)m->revision, (unsigned long long)m->term);
    text_printf(&value, "{\"at\":\"%lld\",%s}", (long long)now.ns, fields.s);
    text_printf(&said, "restored from the backup of %s at revision %llu; later decisions are lost here",
                wall_format(m->at, at), (unsigned long long)m->revision);
    const struct store_op op = {"backup/restored", value.s};
    const struct store_entry entry = {
        .at = now, .actor = actor, .what = "state.restored", .nodes = "", .text = said.s, .fields = fields.s};
    const struct store_batch batch = {.n_ops = 1, .ops = &op, .n_entries = 1, .entries = &entry};
    return restore_end(to, out->term, &batch, &out->revision, e);
}

int backup_restore(const char *path, const char *state_dir, const char *actor, struct wall now,
                   struct backup_restored *out, struct err *e)
{
    struct restore *to = NULL;
    *out = (struct backup_restored){0};
    const struct manifest *m = &out->manifest;
    int r = backup_verify(path, &out->manifest, e);
    if (!r)
        r = restore_begin(state_dir, &to, e);
    for (size_t i = 0; i < m->n && !r; i++)
        r = file_bring(path, &m->files[i], to, e);
    if (!r)
        r = mark_put(m, actor, now, to, out, e);
    restore_close(to);
    return r;
}
