/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/config_internal.h"

#include "base/log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum kind {
    IS_TEXT,
    IS_PATH,
    IS_FILE,
    IS_URL,
    IS_NUMBER,
    IS_SPAN,
    IS_FLAG,
    IS_HOSTS,
    IS_WORDS,
    IS_CHOICE,
    IS_ADDRESS
};

enum taken { TAKEN_RELOAD, TAKEN_START };

static const struct row {
    const char *name;
    enum kind kind;
    const char *def;
    uint64_t min, max;
    const char *unit;
    enum taken taken;
    const char *what;
} rows[SETTINGS] = {
#define SETTING(symbol, name, kind, def, min, max, unit, taken, what) \
    [SETTING_##symbol] = {name, IS_##kind, def, min, max, unit, TAKEN_##taken, what},
#include "controller/setting.tbl"
#undef SETTING
};

void config_fini(struct config *c)
{
    for (int i = 0; i < SETTINGS; i++)
        free(c->text[i]);
    free(c->path);
    for (size_t i = 0; i < c->n_classes; i++) {
        free(c->classes[i].name);
        free(c->classes[i].keys);
    }
    free(c->classes);
    text_fini(&c->warnings);
    hostlist_fini(&c->collectors);
    config_fini_health(c);
    config_fini_broker(c);
    roster_fini(&c->roster);
    *c = (struct config){0};
}

struct span config_spread(size_t n)
{
    return (struct span){(int64_t)n * 1500000};
}

/* --- one value ------------------------------------------------------------------------------- */

static int parse_choice(const char *value, const char *choices, uint64_t *out, struct err *e)
{
    CLEANUP_FREE char *copy = mem_dup(choices);
    char *rest = copy;
    uint64_t i = 0;
    for (char *word; (word = strsep(&rest, ",")); i++) {
        if (strcasecmp(word, value) == 0) {
            *out = i;
            return 0;
        }
    }
    return err_set(e, -EINVAL, "\"%s\" is none of %s", value, choices);
}

static int parse_span(const struct row *row, const char *value, uint64_t *out, struct err *e)
{
    struct span s;
    int rc = span_parse(value, &s, e);
    if (rc < 0)
        return rc;
    if ((uint64_t)s.ns < row->min * 1000000000 || (uint64_t)s.ns > row->max * 1000000000)
        return err_set(e, -EINVAL, "\"%s\" is not from %llu to %llu seconds", value,
                       (unsigned long long)row->min, (unsigned long long)row->max);
    *out = (uint64_t)s.ns;
    return 0;
}

static int check_path(const char *value, struct err *e)
{
    if (value[0] != '/')
        return err_set(e, -EINVAL, "\"%s\" is not an absolute path", value);
    if (value[strlen(value) - 1] == '/')
        return err_set(e, -EINVAL, "\"%s\" names a directory, not a file", value);
    return 0;
}

/* Read at start: one that cannot be listened on would otherwise be found when the controller starts next. */
static int check_address(const char *value, struct err *e)
{
    struct in6_addr address;
    if (inet_pton(AF_INET, value, &address) == 1 || inet_pton(AF_INET6, value, &address) == 1)
        return 0;
    return err_set(e, -EINVAL, "\"%.200s\" is no address of IPv4 or IPv6, as 0.0.0.0 or ::1", value);
}

/* What stands before a service's paths. Slashes at the end go. */
static int parse_url(char *value, struct err *e)
{
    const char *host = NULL;
    if (strncmp(value, "http://", 7) == 0)
        host = value + 7;
    else if (strncmp(value, "https://", 8) == 0)
        host = value + 8;
    bool plain = host && *host && *host != '/' && *host != ':';
    for (const char *p = value; *p; p++)
        plain = plain && *p > ' ' && *p < 0x7f && !strchr("?#@\"\\<>", *p);
    if (!plain)
        return err_set(e, -EINVAL, "\"%.200s\" is not a URL like https://smd:27779/hsm/v2", value);
    for (size_t len = strlen(value); value[len - 1] == '/'; len--)
        value[len - 1] = '\0';
    return 0;
}

static int parse_value(struct config *c, enum setting s, struct err *e)
{
    const struct row *row = &rows[s];
    char *value = c->text[s];
    switch (row->kind) {
    case IS_TEXT:
        if (strlen(value) < row->min || strlen(value) > row->max)
            return err_set(e, -EINVAL, "a value of %zu characters; it has %llu to %llu", strlen(value),
                           (unsigned long long)row->min, (unsigned long long)row->max);
        return 0;
    case IS_PATH: return check_path(value, e);
    case IS_FILE: return *value ? check_path(value, e) : 0;
    case IS_URL: return *value ? parse_url(value, e) : 0;
    case IS_NUMBER: return text_parse_u64(value, row->min, row->max, &c->number[s], e);
    case IS_SPAN: return *value ? parse_span(row, value, &c->number[s], e) : 0;
    case IS_ADDRESS: return check_address(value, e);
    case IS_CHOICE: return parse_choice(value, row->unit, &c->number[s], e);
    case IS_WORDS: return log_parse_flags(value, &c->debug_flags, e);
    case IS_HOSTS:
        if (strcasecmp(value, "none") == 0)
            return 0;
        return *value ? hostlist_parse(value, &c->collectors, e) : 0;
    case IS_FLAG: break;
    }
    bool flag;
    int rc = text_parse_bool(value, &flag, e);
    c->number[s] = rc == 0 && flag;
    return rc;
}

/* --- fettle.conf ----------------------------------------------------------------------------- */

static int find_setting(const struct conf *file, const struct conf_line *line, enum setting *out,
                        struct err *e)
{
    const char *names[SETTINGS];
    for (int i = 0; i < SETTINGS; i++) {
        names[i] = rows[i].name;
        if (strcasecmp(names[i], line->fields[0].key) == 0) {
            *out = (enum setting)i;
            return 0;
        }
    }
    return conf_unknown_key(file, line, line->fields[0].key, names, SETTINGS, e);
}

static int take_parameter(struct config *c, const struct conf *file, const struct conf_line *line,
                          struct err *e)
{
    enum setting s = SETTINGS;
    int rc = find_setting(file, line, &s, e);
    if (rc < 0)
        return rc;
    if (c->given[s])
        return err_set(e, -EINVAL, "%s:%d: %s stands twice", file->path, line->number, rows[s].name);
    free(c->text[s]);
    c->text[s] = mem_dup(line->fields[0].value);
    c->given[s] = true;
    c->line[s] = line->number;
    rc = *c->text[s] || rows[s].kind != IS_SPAN ? parse_value(c, s, e)
                                                : err_set(e, -EINVAL, "a length of time is missing");
    return rc < 0 ? err_wrap(e, rc, "%s:%d: %s", file->path, line->number, rows[s].name) : 0;
}

static int read_parameters(struct config *c, struct err *e)
{
    struct conf file;
    int rc = conf_read(c->path, CONF_PARAMETERS, &file, e);
    if (rc < 0)
        return rc;
    for (int i = 0; i < SETTINGS; i++) {
        c->text[i] = mem_dup(rows[i].def);
        rc = parse_value(c, (enum setting)i, e); /* defaults are values like any other */
        if (rc < 0)
            break;
    }
    for (size_t i = 0; rc == 0 && i < file.n; i++)
        rc = take_parameter(c, &file, &file.lines[i], e);
    conf_fini(&file);
    return rc;
}

/* --- patience -------------------------------------------------------------------------------- */

static uint64_t config_larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Both are lengths of time; the sentence stands at the line of the first that was given. */
static int refuse_pair(const struct config *c, enum setting a, const char *how, enum setting b, struct err *e)
{
    char x[32], y[32];
    span_format((struct span){(int64_t)c->number[a]}, x);
    span_format((struct span){(int64_t)c->number[b]}, y);
    int line = c->given[a] ? c->line[a] : c->line[b];
    return err_set(e, -EINVAL, "%s:%d: %s (%s) is %s %s (%s)", c->path, line, rows[a].name, x, how,
                   rows[b].name, y);
}

static int set_patience(struct config *c, enum setting late, enum setting silent, uint64_t late_default,
                        uint64_t grace_default, struct patience *out, struct err *e)
{
    const uint64_t second = UINT64_C(1000000000);
    uint64_t interval = c->number[SETTING_HEARTBEAT_INTERVAL];
    if (!c->given[late])
        c->number[late] = config_larger(late_default * second, interval * 3 / 2);
    if (*c->text[silent] == '\0')
        c->number[silent] = config_larger(c->number[late] + grace_default * second, interval * 2);
    if (!c->given[late] && c->number[late] >= c->number[silent])
        c->number[late] = c->number[silent] * 3 / 4; /* only HeartBeatTimeout was made short */
    out->late = (struct span){(int64_t)c->number[late]};
    out->silent = (struct span){(int64_t)c->number[silent]};
    if (c->number[silent] <= interval)
        return refuse_pair(c, silent, "not longer than", SETTING_HEARTBEAT_INTERVAL, e);
    if (c->number[late] <= interval)
        return refuse_pair(c, late, "not longer than", SETTING_HEARTBEAT_INTERVAL, e);
    if (c->number[late] > c->number[silent])
        return refuse_pair(c, late, "longer than", silent, e);
    return 0;
}

/* A collector that is lost has to be noticed before its nodes count as silent. */
static int set_waits(struct config *c, struct err *e)
{
    static const enum setting late[] = {SETTING_LATE_AFTER, SETTING_SENSITIVE_LATE_AFTER,
                                        SETTING_BORROWED_LATE_AFTER},
                              silent[] = {SETTING_HEARTBEAT_TIMEOUT, SETTING_SENSITIVE_TIMEOUT,
                                          SETTING_BORROWED_TIMEOUT};
    const struct span interval = {(int64_t)c->number[SETTING_HEARTBEAT_INTERVAL]};
    enum setting first = late[0], shortest = silent[0];
    for (int i = 1; i < 3; i++) {
        first = c->number[late[i]] < c->number[first] ? late[i] : first;
        shortest = c->number[silent[i]] < c->number[shortest] ? silent[i] : shortest;
    }
    const struct span timeout = {(int64_t)c->number[shortest]}, least = waits_least_timeout(interval);
    waits_of(interval, (struct span){(int64_t)c->number[first]}, timeout, &c->waits);
    c->watch.quiet =
        waits_quiet(interval, c->watch.plain.late, c->watch.plain.silent, c->watch.silent_share_percent);
    c->spread = config_spread(c->roster.n);
    c->watch.spread = (struct span){c->spread.ns + c->waits.first.ns};
    if (c->collectors.n == 0 || !c->watch.judge || timeout.ns >= least.ns)
        return 0;
    char is[32], needed[32], every[32];
    int line = c->given[shortest] ? c->line[shortest] : c->line[SETTING_HEARTBEAT_INTERVAL];
    return err_set(e, -EINVAL,
                   "%s:%d: %s (%s) is too short for nodes behind collectors: with a HeartBeatInterval of %s "
                   "it has to be "
                   "%s at least, or a collector that dies takes its live nodes down",
                   c->path, line, rows[shortest].name, span_format(timeout, is), span_format(interval, every),
                   span_format(least, needed));
}

static int set_conform(struct config *c, struct err *e)
{
    struct conformity_policy *p = &c->watch.conform;
    uint64_t interval = c->number[SETTING_FINGERPRINT_INTERVAL];
    if (!c->given[SETTING_FINGERPRINT_STALE])
        c->number[SETTING_FINGERPRINT_STALE] = 2 * interval + UINT64_C(3600000000000);
    if (c->number[SETTING_FINGERPRINT_STALE] <= interval)
        return refuse_pair(c, SETTING_FINGERPRINT_STALE, "not longer than", SETTING_FINGERPRINT_INTERVAL, e);
    p->stale = (struct span){(int64_t)c->number[SETTING_FINGERPRINT_STALE]};
    p->timeout = (struct span){(int64_t)c->number[SETTING_DRIFT_TIMEOUT]};
    p->sensitive = (struct span){(int64_t)c->number[SETTING_SENSITIVE_DRIFT_TIMEOUT]};
    p->drift_share_percent = (unsigned)c->number[SETTING_MAX_DRIFT_SHARE];
    return 0;
}

/* NULL for what is not given. */
static const char *given_text(const struct config *c, enum setting s)
{
    return *c->text[s] ? c->text[s] : NULL;
}

static int set_ochami(struct config *c, struct err *e)
{
    const char *group = c->text[SETTING_OPENCHAMI_GROUP];
    if (!hostlist_name_ok(group)) /* it stands in paths */
        return err_set(e, -EINVAL, "%s:%d: OpenChamiGroup: \"%s\" is not the name of a group", c->path,
                       c->line[SETTING_OPENCHAMI_GROUP], group);
    c->ochami = (struct ochami_conf){.smd = given_text(c, SETTING_OPENCHAMI_SMD),
                                     .bss = given_text(c, SETTING_OPENCHAMI_BSS),
                                     .pcs = given_text(c, SETTING_OPENCHAMI_PCS),
                                     .ca = given_text(c, SETTING_OPENCHAMI_CA),
                                     .token = given_text(c, SETTING_OPENCHAMI_TOKEN),
                                     .group = group};
    c->roster.tells_ochami = c->ochami.smd != NULL;
    return 0;
}

static int set_policies(struct config *c, struct err *e)
{
    struct watch_policy *w = &c->watch;
    w->judge = c->number[SETTING_HEARTBEAT_INTERVAL] > 0;
    w->silent_share_percent = (unsigned)c->number[SETTING_MAX_SILENT_SHARE];
    c->api.readers = (enum api_readers)c->number[SETTING_API_READERS];
    c->api.privileged_port = c->number[SETTING_API_PRIVILEGED_PORT];
    int rc = set_patience(c, SETTING_LATE_AFTER, SETTING_HEARTBEAT_TIMEOUT, 30, 60, &w->plain, e);
    if (rc == 0)
        rc = set_patience(c, SETTING_SENSITIVE_LATE_AFTER, SETTING_SENSITIVE_TIMEOUT, 120, 300, &w->sensitive,
                          e);
    if (rc == 0)
        rc = set_patience(c, SETTING_BORROWED_LATE_AFTER, SETTING_BORROWED_TIMEOUT, 30, 30, &w->borrowed, e);
    if (rc == 0)
        rc = set_waits(c, e);
    if (rc == 0)
        rc = set_conform(c, e);
    if (rc == 0)
        rc = set_ochami(c, e);
    if (rc == 0)
        rc = config_set_broker(c, e);
    if (rc == 0) {
        config_set_health(c);
        config_set_slurm(c);
    }
    return rc;
}

/* --- the files ------------------------------------------------------------------------------- */

const char *config_name(enum setting s)
{
    return rows[s].name;
}

int config_refuse_file(const struct config *c, enum setting s, int rc, struct err *e)
{
    if (rc == -EINVAL)
        return rc;
    if (!c->given[s])
        return err_set(e, rc,
                       "%s: %s is not given, and its default, %s, cannot be read (%s): say where the file is",
                       c->path, rows[s].name, c->text[s], strerror(-rc));
    return err_wrap(e, rc, "%s:%d: %s", c->path, c->line[s], rows[s].name);
}

const struct conf_field *config_field(const struct conf_line *line, const char *key)
{
    for (size_t i = 0; i < line->n; i++)
        if (strcasecmp(line->fields[i].key, key) == 0)
            return &line->fields[i];
    return NULL;
}

static int check_names(const struct config *c, struct err *e)
{
    const char *machine = c->text[SETTING_CONTROL_MACHINE];
    if (*machine && !hostlist_name_ok(machine))
        return err_set(e, -EINVAL, "%s:%d: ControlMachine: \"%s\" is not the name of a machine", c->path,
                       c->line[SETTING_CONTROL_MACHINE], machine);
    for (size_t i = 0; i < c->collectors.n; i++)
        if (!hostlist_name_ok(c->collectors.names[i]))
            return err_set(e, -EINVAL, "%s:%d: CollectorNodes: \"%s\" is not the name of a node", c->path,
                           c->line[SETTING_COLLECTOR_NODES], c->collectors.names[i]);
    return 0;
}

static int read_roster(struct config *c, struct err *e)
{
    struct conf partitions = {0};
    int rc = config_read_partitions(c, &partitions, e);
    if (rc == 0)
        rc = config_read_nodes(c, e);
    if (rc == 0)
        rc = config_fill_partitions(c, &partitions, e);
    conf_fini(&partitions);
    return rc;
}

int config_read(const char *path, struct config *c, struct err *e)
{
    *c = (struct config){.path = mem_dup(path)};
    int rc = read_parameters(c, e);
    if (rc == 0)
        rc = read_roster(c, e);
    if (rc == 0)
        rc = config_read_classes(c, e);
    if (rc == 0)
        rc = config_read_health(c, e);
    if (rc == 0)
        rc = check_names(c, e);
    if (rc == 0)
        rc = set_policies(c, e);
    if (rc == 0)
        config_doubt(c);
    c->roster.partition_max = (unsigned)c->number[SETTING_MAX_PARTITION];
    if (rc < 0) {
        config_fini(c);
        if (rc != -ENOENT) /* whatever keeps a file from being read, the mistake is the configuration's */
            rc = -EINVAL;
    }
    return rc;
}

void config_compare(const struct config *was, const struct config *is, struct text *changes)
{
    for (int i = 0; i < SETTINGS; i++) {
        if (strcmp(was->text[i], is->text[i]) == 0)
            continue;
        bool at_start = rows[i].taken == TAKEN_START;
        text_printf(changes, "%s \"%s\" -> \"%s\"%s\n", rows[i].name, was->text[i], is->text[i],
                    at_start ? "; takes effect when fettled starts anew" : "");
    }
    config_compare_classes(was, is, changes);
    config_compare_health(was, is, changes);
}
