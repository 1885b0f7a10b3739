/* SPDX-License-Identifier: Apache-2.0 */
/* bmc.conf(5). */
#include "driver/power.h"

#include "base/conf.h"
#include "base/secret.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { CIPHER_MAX = 17 };

static const char *const keys[] = {"Nodes",  "Driver", "Address", "User", "PasswordFile",
                                   "Cipher", "CaFile", "System",  "Run"};
enum { KEYS = sizeof keys / sizeof keys[0] };

static const char *const verbs[VERBS] = {"status", "on", "off", "cycle", "reset", "netboot", "status"};

const char *verb_name(enum verb v)
{
    assert((size_t)v < sizeof verbs / sizeof *verbs);
    return verbs[v];
}

bool verb_find(const char *name, enum verb *out)
{
    for (int v = 0; v < VERB_LOOK; v++) {
        if (strcmp(name, verbs[v]) == 0) {
            *out = (enum verb)v;
            return true;
        }
    }
    return false;
}

void bmc_fini(struct bmc *b)
{
    hostlist_fini(&b->nodes);
    free(b->address);
    free(b->user);
    free(b->password_file);
    free(b->cipher);
    free(b->ca_file);
    free(b->system);
    free(b->run);
}

void bmcs_destroy(struct bmcs *b)
{
    for (size_t i = 0; b && i < b->n; i++)
        bmc_fini(&b->list[i]);
    if (b)
        free(b->list);
    free(b);
}

const struct bmc *bmcs_find(const struct bmcs *b, const char *node)
{
    for (size_t i = 0; b && i < b->n; i++)
        for (size_t j = 0; j < b->list[i].nodes.n; j++)
            if (strcmp(b->list[i].nodes.names[j], node) == 0)
                return &b->list[i];
    return NULL;
}

static char *fill_in(const char *address, const char *node)
{
    struct text t = {0};
    for (const char *at = address; *at;) {
        const char *mark = strstr(at, "{node}");
        text_add_bytes(&t, at, mark ? (size_t)(mark - at) : strlen(at));
        if (!mark)
            break;
        text_add(&t, node);
        at = mark + strlen("{node}");
    }
    return text_take(&t);
}

void bmc_copy(const struct bmc *b, const char *node, struct bmc *out)
{
    *out = (struct bmc){.driver = b->driver,
                        .address = fill_in(b->address, node),
                        .user = mem_dup(b->user),
                        .password_file = mem_dup(b->password_file),
                        .cipher = mem_dup(b->cipher),
                        .ca_file = mem_dup(b->ca_file),
                        .system = mem_dup(b->system),
                        .run = mem_dup(b->run)};
}

int bmc_password(const struct bmc *b, struct text *out, struct err *e)
{
    return *b->password_file ? secret_read(b->password_file, out, e) : 0;
}

/* --- reading --------------------------------------------------------------------------------- */

static const char *bmc_field(const struct conf_line *line, const char *key)
{
    for (size_t i = 0; i < line->n; i++)
        if (strcasecmp(line->fields[i].key, key) == 0)
            return line->fields[i].value;
    return NULL;
}

static int check_keys(const struct conf *file, const struct conf_line *line, struct err *e)
{
    for (size_t i = 0; i < line->n; i++) {
        size_t k = 0;
        while (k < KEYS && strcasecmp(keys[k], line->fields[i].key) != 0)
            k++;
        if (k == KEYS)
            return conf_unknown_key(file, line, line->fields[i].key, keys, KEYS, e);
    }
    return 0;
}

/* Checks that the driver has the keys that it needs, and no others. */
static int check_one(const char *driver, const char *key, const char *value, bool needed, struct err *e)
{
    if (needed && (!value || !*value))
        return err_set(e, -EINVAL, "Driver=%s needs %s", driver, key);
    if (!needed && value)
        return err_set(e, -EINVAL, "%s is not for Driver=%s", key, driver);
    return 0;
}

static int check_file(const char *key, const char *value, struct err *e)
{
    return !value || *value == '/'
               ? 0
               : err_set(e, -EINVAL, "%s: \"%.200s\" is not an absolute path", key, value);
}

static int take_driver(struct bmc *b, const struct conf_line *line, struct err *e)
{
    static const char *const names[] = {"ipmi", "redfish", "script"};
    const char *name = bmc_field(line, "Driver"), *address = bmc_field(line, "Address");
    int d = 0;
    while (d < 3 && (!name || strcasecmp(name, names[d]) != 0))
        d++;
    if (d == 3)
        return err_set(e, -EINVAL, "Driver is none of ipmi, redfish, script");
    b->driver = (enum bmc_driver)d;
    bool script = b->driver == BMC_SCRIPT;
    if (check_one(names[d], "Address", address, !script, e) < 0 ||
        check_one(names[d], "Run", bmc_field(line, "Run"), script, e) < 0 ||
        check_file("Run", bmc_field(line, "Run"), e) < 0 ||
        check_file("PasswordFile", bmc_field(line, "PasswordFile"), e) < 0 ||
        check_file("CaFile", bmc_field(line, "CaFile"), e) < 0)
        return -EINVAL;
    uint64_t number;
    if (*b->cipher && text_parse_u64(b->cipher, 0, CIPHER_MAX, &number, e) < 0)
        return err_wrap(e, -EINVAL, "Cipher");
    if (b->driver != BMC_IPMI && bmc_field(line, "Cipher"))
        return err_set(e, -EINVAL, "Cipher is not for Driver=%s", names[d]);
    if (b->driver != BMC_REDFISH && (bmc_field(line, "System") || bmc_field(line, "CaFile")))
        return err_set(e, -EINVAL, "System and CaFile are not for Driver=%s", names[d]);
    if (address && *address == '-') /* it becomes a word of a command */
        return err_set(e, -EINVAL, "Address: \"%.200s\" begins with a minus", address);
    if (b->driver == BMC_REDFISH && strncmp(address, "https://", 8) != 0 &&
        strncmp(address, "http://", 7) != 0)
        return err_set(e, -EINVAL, "Address: \"%.200s\" is no URL like https://bmc-{node}", address);
    return 0;
}

static char *dup_or_empty(const char *s)
{
    return mem_dup(s ? s : "");
}

static int take_record(struct bmcs *all, const struct conf *file, const struct conf_line *line, struct err *e)
{
    int rc = check_keys(file, line, e);
    if (rc < 0)
        return rc;
    all->list = mem_grow(all->list, (all->n + 1) * sizeof *all->list);
    struct bmc *b = &all->list[all->n++];
    *b = (struct bmc){.line = (unsigned)line->number,
                      .address = dup_or_empty(bmc_field(line, "Address")),
                      .user = dup_or_empty(bmc_field(line, "User")),
                      .password_file = dup_or_empty(bmc_field(line, "PasswordFile")),
                      .cipher = dup_or_empty(bmc_field(line, "Cipher")),
                      .ca_file = dup_or_empty(bmc_field(line, "CaFile")),
                      .system = dup_or_empty(bmc_field(line, "System")),
                      .run = dup_or_empty(bmc_field(line, "Run"))};
    const char *nodes = bmc_field(line, "Nodes");
    if (!nodes || !*nodes)
        return err_set(e, -EINVAL, "%s:%d: Nodes is missing", file->path, line->number);
    rc = hostlist_parse(nodes, &b->nodes, e);
    if (rc == 0)
        rc = take_driver(b, line, e);
    for (size_t i = 0; rc == 0 && i < b->nodes.n; i++)
        if (bmcs_find(all, b->nodes.names[i]) != b)
            rc = err_set(e, -EINVAL, "node \"%s\" has a BMC in an earlier line", b->nodes.names[i]);
    return rc < 0 ? err_wrap(e, -EINVAL, "%s:%d", file->path, line->number) : 0;
}

int bmcs_each(const struct bmcs *b, bmc_record_fn *fn, void *arg, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; b && i < b->n && rc == 0; i++) {
        const struct bmc *one = &b->list[i];
        const struct bmc_record r = {one->line, &one->nodes, one->password_file, one->ca_file, one->run};
        rc = fn(arg, &r, e);
    }
    return rc;
}

int bmcs_parse(const char *path, const char *bytes, size_t len, struct bmcs **out, struct err *e)
{
    struct conf file;
    int rc = conf_parse(path, bytes, len, CONF_RECORDS, &file, e);
    if (rc < 0)
        return rc;
    struct bmcs *all = mem_alloc(sizeof *all);
    for (size_t i = 0; rc == 0 && i < file.n; i++)
        rc = take_record(all, &file, &file.lines[i], e);
    conf_fini(&file);
    if (rc < 0)
        bmcs_destroy(all);
    else
        *out = all;
    return rc;
}
