/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CheckConf, MeaningConf, RemedyConf, BmcConf, and the parameters of health. src/health and src/remedy judge
 * the content of a record; this file judges whether the files fit together.
 */
#include "base/digest.h"
#include "controller/config/check_lines.h"
#include "controller/config/config_inside.h"
#include "link/frame.h"
#include "node/action.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEANINGS_BYTES_MAX = 16 << 10, /* of a file's records, which share one frame with the checks */
    LIST_BYTES_MAX = FRAME_BODY_BYTES_MAX - (4 << 10) /* the rest is for the signature and the certificate */
};

static int check_classes(const struct config *c, const char *path, unsigned line,
                         const struct hostlist *classes, struct err *e)
{
    for (size_t i = 0; i < classes->n; i++) {
        uint16_t number;
        if (classes_find(&c->roster.classes, classes->names[i], &number, e) < 0)
            return err_wrap(e, -EINVAL, "%s:%u: Classes", path, line);
    }
    return 0;
}

static int read_checks(struct config *c, const struct text *bytes, struct err *e)
{
    const char *path = config_part_path(c, CONFIG_CHECKS);
    c->checks = mem_alloc(sizeof *c->checks);
    if (c->number[SETTING_HEALTH] == HEALTH_OFF)
        return 0;
    if (!config_has_part(c, CONFIG_CHECKS)) {
        checks_default(c->checks);
        return 0;
    }
    int rc = checks_parse(path, bytes->s, bytes->len, c->checks, e);
    if (rc < 0)
        return config_refuse_file(c, SETTING_CHECK_CONF, rc, e);
    for (size_t i = 0; i < c->checks->n; i++) {
        const struct check *k = &c->checks->list[i];
        if (check_classes(c, path, k->line, &k->classes, e) < 0)
            return -EINVAL;
    }
    return 0;
}

enum { FILE_CHECKS, FILE_MEANINGS, FILE_REMEDIES, FILE_BMCS };

static const struct {
    enum setting setting;
    enum config_part
        part; /* CONFIG_PARTS: the file decides nothing, because it only says how BMCs are reached */
    const char *name;
} files[HEALTH_FILES] = {[FILE_CHECKS] = {SETTING_CHECK_CONF, CONFIG_CHECKS, "CheckConf"},
                         [FILE_MEANINGS] = {SETTING_MEANING_CONF, CONFIG_MEANINGS, "MeaningConf"},
                         [FILE_REMEDIES] = {SETTING_REMEDY_CONF, CONFIG_REMEDIES, "RemedyConf"},
                         [FILE_BMCS] = {SETTING_BMC_CONF, CONFIG_PARTS, "BmcConf"}};

/* The digest by which config_compare knows a file that was read before. Comments and blanks do not count. */
static uint64_t sum_of(const struct conf *file)
{
    CLEANUP_TEXT struct text t = {0};
    for (size_t k = 0; k < file->n; k++) {
        config_format_record(&file->lines[k], &t);
        text_add_char(&t, '\n');
    }
    return digest_fnv(DIGEST_FNV_START, t.len ? t.s : "", t.len);
}

static int read_bytes(const struct config *c, size_t i, struct text *bytes, struct err *e)
{
    if (files[i].part == CONFIG_PARTS)
        return conf_read_bytes(c->text[files[i].setting], bytes, e);
    return config_part_bytes(c, files[i].part, bytes, e);
}

/* Reads each file once, so that the same bytes are taken and digested. */
static int read_files(struct config *c, struct text bytes[static HEALTH_FILES], struct err *e)
{
    for (size_t i = 0; i < HEALTH_FILES; i++) {
        const bool is_own = files[i].part == CONFIG_PARTS;
        const bool is_given = is_own ? *c->text[files[i].setting] : config_has_part(c, files[i].part);
        const char *path = is_own ? c->text[files[i].setting] : config_part_path(c, files[i].part);
        struct conf file = {0};
        int rc = is_given ? read_bytes(c, i, &bytes[i], e) : 0;
        if (rc == 0 && is_given)
            rc = conf_parse(path, bytes[i].s, bytes[i].len, CONF_RECORDS, &file, e);
        if (rc < 0)
            return config_refuse_file(c, files[i].setting, rc, e);
        if (is_given && !is_own)
            config_keep_part(c, files[i].part, &file);
        c->health_sums[i] = sum_of(&file);
        conf_fini(&file);
    }
    return 0;
}

void config_compare_health(const struct config *was, const struct config *is, struct text *changes)
{
    for (size_t i = 0; i < HEALTH_FILES; i++)
        if (was->health_sums[i] != is->health_sums[i])
            text_printf(changes, "the records of %s changed\n", files[i].name);
}

/* Keeps the records, which agents get with the checks. */
static int keep_meanings(struct config *c, const char *path, const struct text *text, struct err *e)
{
    struct conf file;
    size_t bytes = 0;
    int rc = conf_parse(path, text->s, text->len, CONF_RECORDS, &file, e);
    for (size_t i = 0; rc == 0 && i < file.n; i++) {
        CLEANUP_TEXT struct text line = {0};
        config_format_record(&file.lines[i], &line);
        hostlist_add(&c->meaning_lines, line.s);
        bytes += line.len;
    }
    if (rc == 0)
        conf_fini(&file);
    if (rc == 0 && bytes > MEANINGS_BYTES_MAX)
        return err_set(e, -EINVAL, "%s: its records are %zu bytes; at most %d can be told to the agents",
                       path, bytes, MEANINGS_BYTES_MAX);
    return rc;
}

static int read_meanings(struct config *c, const struct text *bytes, struct err *e)
{
    const char *path = config_part_path(c, CONFIG_MEANINGS);
    const bool is_given = config_has_part(c, CONFIG_MEANINGS);
    struct err why = {0};
    c->meanings = is_given ? meanings_parse(path, bytes->s, bytes->len, &why) : meanings_read(NULL, &why);
    if (!c->meanings) {
        int rc = err_set(e, why.code, "%s", why.msg);
        return config_refuse_file(c, SETTING_MEANING_CONF, rc, e);
    }
    return is_given ? keep_meanings(c, path, bytes, e) : 0;
}

static int read_remedies(struct config *c, const struct text *bytes, struct err *e)
{
    const char *path = config_part_path(c, CONFIG_REMEDIES);
    c->remedies = mem_alloc(sizeof *c->remedies);
    int rc =
        config_has_part(c, CONFIG_REMEDIES) ? remedies_parse(path, bytes->s, bytes->len, c->remedies, e) : 0;
    if (rc < 0)
        return config_refuse_file(c, SETTING_REMEDY_CONF, rc, e);
    for (size_t i = 0; i < c->remedies->n; i++) {
        const struct remedy *r = &c->remedies->list[i];
        if (check_classes(c, path, r->line, &r->classes, e) < 0)
            return -EINVAL;
        if (action_of(r->run).kind == ACTION_REPLACE && !*c->text[SETTING_REPLACE_PROGRAM])
            return err_set(e, -EINVAL,
                           "%s:%u: remedy %s has Run=replace, but there is no ReplaceProgram in %s", path,
                           r->line, r->name, c->path);
        if (action_of(r->run).by == ACTION_BY_BMC && !*c->text[SETTING_BMC_CONF])
            return err_set(e, -EINVAL, "%s:%u: remedy %s has Run=%s, but there is no BmcConf in %s", path,
                           r->line, r->name, r->run, c->path);
    }
    return 0;
}

static int read_bmcs(struct config *c, const struct text *bytes, struct err *e)
{
    const char *path = c->text[SETTING_BMC_CONF];
    int rc = *path ? bmcs_parse(path, bytes->s, bytes->len, &c->bmcs, e) : 0;
    return rc < 0 ? config_refuse_file(c, SETTING_BMC_CONF, rc, e) : 0;
}

struct roll {
    const struct roster *roster;
    struct class_index *index;
};

static const char *node_at(const void *arg, size_t i, const char **class)
{
    const struct roll *r = arg;
    const struct classes *classes = &r->roster->classes;
    const struct roster_node *n = &r->roster->nodes[i];
    *class = classes->list[classes_match(classes, r->index, n->name, &n->spec)].name;
    return n->name;
}

/* All agents get all checks in one frame: signed, as a string in the frame. */
static int check_room(const struct config *c, struct err *e)
{
    CLEANUP_TEXT struct text lines = {0}, told = {0};
    struct roll r = {&c->roster, class_index_create(&c->roster.classes)};
    check_lines(c->checks, &c->meaning_lines, node_at, &r, c->roster.n, &lines);
    class_index_destroy(r.index);
    text_add_json(&told, lines.s);
    if (told.len <= LIST_BYTES_MAX)
        return 0;
    return err_set(
        e, -EINVAL,
        "%s: the records are %zu bytes with the nodes that run them and those of MeaningConf; %d can "
        "be told to agents: shorten them, or name classes that have whole ranges of nodes",
        c->text[SETTING_CHECK_CONF], told.len, LIST_BYTES_MAX);
}

int config_read_health(struct config *c, struct err *e)
{
    struct text bytes[HEALTH_FILES] = {{0}};
    int rc = read_files(c, bytes, e);
    if (rc == 0)
        rc = read_checks(c, &bytes[FILE_CHECKS], e);
    if (rc == 0)
        rc = read_meanings(c, &bytes[FILE_MEANINGS], e);
    if (rc == 0)
        rc = check_room(c, e);
    if (rc == 0)
        rc = read_bmcs(c, &bytes[FILE_BMCS], e);
    if (rc == 0)
        rc = read_remedies(c, &bytes[FILE_REMEDIES], e);
    for (size_t i = 0; i < HEALTH_FILES; i++)
        text_fini(&bytes[i]);
    return rc;
}

void config_fini_health(struct config *c)
{
    if (c->checks)
        checks_fini(c->checks);
    if (c->remedies)
        remedies_fini(c->remedies);
    free(c->checks);
    free(c->remedies);
    hostlist_fini(&c->meaning_lines);
    meanings_destroy(c->meanings);
    bmcs_destroy(c->bmcs);
}

static struct span span_of(const struct config *c, enum setting s)
{
    return (struct span){(int64_t)c->number[s]};
}

void config_set_health(struct config *c)
{
    struct health_policy *p = &c->watch.health;
    const uint64_t *n = c->number;
    *p = (struct health_policy){.limits.act = n[SETTING_HEALTH] == HEALTH_ACT,
                                .limits.percent[SCOPE_CLUSTER] = (unsigned)n[SETTING_MAX_OUT],
                                .limits.percent[SCOPE_CLASS] = (unsigned)n[SETTING_MAX_OUT_CLASS],
                                .limits.percent[SCOPE_GROUP] = (unsigned)n[SETTING_MAX_OUT_GROUP],
                                .limits.percent[SCOPE_PARTITION] = (unsigned)n[SETTING_MAX_OUT_PARTITION],
                                .trials_percent = (unsigned)n[SETTING_MAX_TRIALS],
                                .limits.surge = (unsigned)n[SETTING_SURGE_NODES],
                                .limits.surge_window = span_of(c, SETTING_SURGE_WINDOW),
                                .shared = (unsigned)n[SETTING_SHARED_NODES],
                                .shared_window = span_of(c, SETTING_SHARED_WINDOW),
                                .group = span_of(c, SETTING_INCIDENT_WINDOW),
                                .drain_deadline = span_of(c, SETTING_DRAIN_DEADLINE),
                                .examine_deadline = span_of(c, SETTING_EXAMINE_DEADLINE),
                                .provision_deadline = span_of(c, SETTING_PROVISION_DEADLINE),
                                .wipe_deadline = span_of(c, SETTING_WIPE_TIMEOUT),
                                .inconclusive = (unsigned)n[SETTING_INCONCLUSIVE_TRIES],
                                .limits.remedies_a_week = (unsigned)n[SETTING_REMEDIES_A_WEEK],
                                .fresh = span_of(c, SETTING_EVIDENCE_AGE),
                                .override = span_of(c, SETTING_OVERRIDE_TIME),
                                .provision_new = n[SETTING_PROVISION_NEW],
                                .lost_after = span_of(c, SETTING_LOST_AFTER),
                                .degraded_for = span_of(c, SETTING_DEGRADED_FOR),
                                .checks = c->checks,
                                .remedies = c->remedies,
                                .meanings = c->meanings};
    enum { MINUTE = 1000, DISTURB = 200 };
    p->cost = (struct cost_policy){.minute = MINUTE,
                                   .disturb = DISTURB,
                                   .person = (uint32_t)(n[SETTING_PERSON_COST] / 60000000000u * MINUTE),
                                   .scarce = 100,
                                   .explore = (unsigned)n[SETTING_EXPLORE]};
}

void config_set_slurm(struct config *c)
{
    const char *scontrol = c->text[SETTING_SLURM_SCONTROL], *conf = c->text[SETTING_SLURM_CONF];
    c->slurm = (struct slurm_conf){.scontrol = *scontrol ? scontrol : NULL,
                                   .conf_file = *conf ? conf : NULL,
                                   .every = span_of(c, SETTING_SLURM_INTERVAL),
                                   .deadline = span_s(10),
                                   .user = c->text[SETTING_SLURM_USER]};
}
