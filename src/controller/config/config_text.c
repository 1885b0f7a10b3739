/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/config/config_text.h"

#include "controller/config/config_inside.h"

#include <errno.h>
#include <string.h>

static const struct {
    const char *name;
    enum setting file; /* SETTINGS: none */
} parts[CONFIG_PARTS] = {[CONFIG_PARAMETERS] = {"parameters", SETTINGS},
                         [CONFIG_PARTITIONS] = {"partitions", SETTING_PARTITION_CONF},
                         [CONFIG_NODES] = {"nodes", SETTING_NODE_SPEC_CONF},
                         [CONFIG_CLASSES] = {"classes", SETTING_CLASS_CONF},
                         [CONFIG_CHECKS] = {"checks", SETTING_CHECK_CONF},
                         [CONFIG_MEANINGS] = {"meanings", SETTING_MEANING_CONF},
                         [CONFIG_REMEDIES] = {"remedies", SETTING_REMEDY_CONF},
                         [CONFIG_TENANTS] = {"tenants", SETTING_TENANT_CONF},
                         [CONFIG_ROLES] = {"roles", SETTING_ROLE_CONF}};

const char *config_part_name(enum config_part p)
{
    return parts[p].name;
}

void config_text_fini(struct config_text *t)
{
    for (int p = 0; p < CONFIG_PARTS; p++)
        text_fini(&t->part[p]);
    *t = (struct config_text){0};
}

size_t config_text_parts(const struct config_text *t, struct revise_part out[static CONFIG_PARTS])
{
    size_t n = 0;
    for (int p = 0; p < CONFIG_PARTS; p++)
        if (t->given[p])
            out[n++] = (struct revise_part){parts[p].name, t->part[p].s};
    return n;
}

int config_text_add(struct config_text *t, const struct revise_part *part, struct err *e)
{
    int p = 0;
    while (p < CONFIG_PARTS && strcmp(parts[p].name, part->name) != 0)
        p++;
    if (p == CONFIG_PARTS)
        return err_set(e, -EINVAL, "the configuration has no part \"%.40s\"", part->name);
    if (t->given[p])
        return err_set(e, -EINVAL, "the part \"%s\" is there twice", part->name);
    t->given[p] = true;
    text_add(&t->part[p], part->text);
    return 0;
}

int config_text_load(const struct cluster *c, struct config_text *out, struct err *e)
{
    int rc = cluster_revision(c)->number ? 0 : err_set(e, -ENOENT, "no configuration is agreed yet");
    *out = (struct config_text){0};
    for (int p = 0; rc == 0 && p < CONFIG_PARTS; p++) {
        rc = cluster_revision_text(c, parts[p].name, &out->part[p], e);
        out->given[p] = rc == 0;
        if (rc == -ENOENT)
            rc = 0;
    }
    if (rc < 0)
        config_text_fini(out);
    return rc;
}

/* The length of a character; 0 for a byte that is not UTF-8. */
static size_t character_bytes(const char *p)
{
    return (unsigned char)*p < 0x80 ? 1 : text_utf8(p);
}

/* Texts are recorded as JSON, which is UTF-8. They are mended before they are read, so that the same
 * decisions follow from files and records. */
void config_mend(struct text *t)
{
    struct text mended = {0};
    const char *p = t->s, *end = t->s + t->len;
    for (size_t n; p < end && (n = character_bytes(p)) > 0;)
        p += n;
    if (p >= end)
        return;
    for (p = t->s; p < end;) {
        size_t n = character_bytes(p);
        if (n)
            text_add_bytes(&mended, p, n);
        else
            text_add(&mended, "\xef\xbf\xbd");
        p += n ? n : 1;
    }
    text_fini(t);
    *t = mended;
}

void config_format_record(const struct conf_line *line, struct text *t)
{
    for (size_t i = 0; i < line->n; i++) {
        text_printf(t, "%s%s=\"", i ? " " : "", line->fields[i].key);
        for (const char *p = line->fields[i].value; *p; p++) {
            if (*p == '"' || *p == '\\')
                text_add_char(t, '\\');
            text_add_char(t, *p);
        }
        text_add_char(t, '"');
    }
}

bool config_has_part(const struct config *c, enum config_part p)
{
    return c->from ? c->from->given[p] : *c->text[parts[p].file] != '\0';
}

const char *config_part_path(const struct config *c, enum config_part p)
{
    return c->from ? parts[p].name : c->text[parts[p].file];
}

int config_part_bytes(const struct config *c, enum config_part p, struct text *bytes, struct err *e)
{
    int rc = 0;
    if (c->from)
        text_add(bytes, c->from->part[p].s);
    else
        rc = conf_read_bytes(c->text[parts[p].file], bytes, e);
    if (rc == 0)
        config_mend(bytes);
    return rc;
}

void config_keep_part(struct config *c, enum config_part p, const struct conf *file)
{
    struct text *t = &c->agreed.part[p];
    c->agreed.given[p] = true;
    for (size_t i = 0; i < file->n; i++) {
        config_format_record(&file->lines[i], t);
        text_add_char(t, '\n');
    }
    text_add(t, "");
}

int config_part_read(struct config *c, enum config_part p, struct conf *file, struct err *e)
{
    CLEANUP_TEXT struct text bytes = {0};
    *file = (struct conf){0};
    if (!config_has_part(c, p))
        return 0;
    int rc = config_part_bytes(c, p, &bytes, e);
    if (rc == 0)
        rc = conf_parse(config_part_path(c, p), bytes.s, bytes.len, CONF_RECORDS, file, e);
    if (rc == 0)
        config_keep_part(c, p, file);
    return rc;
}
