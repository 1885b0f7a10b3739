/* SPDX-License-Identifier: Apache-2.0 */
/* RoleConf, whose records src/access judges, and the parameters of the tokens' issuer. */
#include "controller/config/config_inside.h"

#include <errno.h>
#include <string.h>

int config_read_roles(struct config *c, struct err *e)
{
    struct conf file;
    int rc = config_part_read(c, CONFIG_ROLES, &file, e);
    if (rc < 0)
        return config_refuse_file(c, SETTING_ROLE_CONF, rc, e);
    rc = grants_read(&file, &c->grants, e);
    for (size_t i = 0; rc == 0 && i < file.n; i++) {
        config_format_record(&file.lines[i], &c->grants_text);
        text_add_char(&c->grants_text, '\n');
    }
    conf_fini(&file);
    return rc;
}

void config_fini_roles(struct config *c)
{
    grants_fini(&c->grants);
    text_fini(&c->grants_text);
}

void config_compare_roles(const struct config *was, const struct config *is, struct text *changes)
{
    const struct text *a = &was->grants_text, *b = &is->grants_text;
    if (a->len != b->len || (a->len && memcmp(a->s, b->s, a->len) != 0))
        text_add(changes, "the records of RoleConf changed\n");
}

static int role_conf_refuse(const struct config *c, enum setting s, const char *why, struct err *e)
{
    return err_set(e, -EINVAL, "%s:%d: %s: %s", c->path, c->line[s], config_name(s), why);
}

/* The issuer is compared letter by letter with what tokens say, so a slash at its end stays. */
int config_check_oidc(const struct config *c, struct err *e)
{
    const char *issuer = c->text[SETTING_OIDC_ISSUER], *audience = c->text[SETTING_OIDC_AUDIENCE];
    if (*audience && !*issuer)
        return role_conf_refuse(c, SETTING_OIDC_AUDIENCE, "an audience without OidcIssuer", e);
    if (!*issuer)
        return 0;
    if (strncmp(issuer, "https://", 8) != 0 || !issuer[8] || strpbrk(issuer, " \t?#@\"\\<>"))
        return role_conf_refuse(c, SETTING_OIDC_ISSUER, "not a URL like https://login.example/realms/hpc", e);
    if (!*audience)
        return role_conf_refuse(c, SETTING_OIDC_ISSUER,
                                "an issuer without OidcAudience: its tokens for other services would count",
                                e);
    return 0;
}
