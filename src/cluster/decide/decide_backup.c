/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/decide/decide.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int decide_backup(const struct cluster *c, const struct command *cmd, struct decision *d, struct err *e)
{
    const struct backup_command *b = &cmd->backup;
    struct backup_made made = {.at = b->made, .revision = b->revision, .bytes = b->bytes};
    struct text said = {0};
    if (!*b->name || strlen(b->name) > BACKUP_WORD_BYTES_MAX || b->made.ns <= 0)
        return err_set(e, -EINVAL, "a backup has a name of at most %d characters, and a time",
                       BACKUP_WORD_BYTES_MAX);
    if (strcmp(b->name, c->backup.name) == 0)
        return 0;
    snprintf(made.name, sizeof made.name, "%s", b->name);
    decision_add(d, "backup/", "last", backup_record(&made));
    text_printf(&said, "%s: revision %llu, %llu bytes", b->name, (unsigned long long)b->revision,
                (unsigned long long)b->bytes);
    d->text = text_take(&said);
    struct entry_backup *f = &d->fields.backup;
    snprintf(f->name, sizeof f->name, "%s", b->name);
    f->at_ns = b->made.ns;
    f->revision = b->revision;
    f->bytes = b->bytes;
    return 0;
}
