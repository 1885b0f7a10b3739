/* SPDX-License-Identifier: Apache-2.0 */
/* Records and files have the same content: the same decisions follow from both. */
#include "controller/config/check_lines.h"
#include "controller/config/config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64];

static const char *const files[][2] = {
    {"nodes", "# racks\nName=DEFAULT CPUs=2 RealMemory=4096\n\n"
              "Name=lx[01-40]   Partition=batch,3\nName=lx41 CPUs=64 Sensitive=yes Partition= \r\n"},
    {"partitions", "Partition=1 Name=batch\nPartition=2 Name=\"long \\\"x\\\" \\\\\" Nodes=lx[02-03]\n"},
    {"classes",
     "Class=gpu Nodes=lx[01-04] Kernel=http://boot/vmlinuz Reboot=yes\nClass=fat Partition=3 Nodes=lx05\n"},
    {"checks", "Check=a Probe=zombies Nodes=lx[01-02]\n#\nCheck=b Probe=load Classes=gpu\n"},
    {"meanings", "Xid=94 Act=job Because=\"caf\xe9 \xc3\xa4\"\n"}, /* with a byte of Latin-1 */
    {"tenants", "Tenant=physics Nodes=64 Allocations=10\nTenant=bio\n"},
    {"roles", "Role=claimant Subjects=\"a b,77\" Tenants=physics\nRole=viewer Users=ann\n"},
    {"remedies", "Remedy=r Run=\"script:/bin/true\" Helps=a Confidence=50% Because=x Takes=1m\n"},
};

#define OWN "ApiPort = 7000\nSlurmUser = slurm\n"
#define DECIDING                                                                                          \
    "HeartBeatInterval = 5\nHeartBeatTimeout = 50\nMaxOut = 7\nHealth = act\nCollectorNodes = lx01\n"     \
    "DefaultPartition = batch\nOpenChamiPCS = http://pcs/v1/\nOpenChamiBSS = http://bss\nOverrideTime = " \
    "3h\nOidcIssuer = https://login.example/\nOidcAudience = fettle\nOidcTenantsClaim = org\n"

static void file_write(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void file_remove(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    unlink(path);
}

static void conf_write(const char *parameters, bool whole)
{
    static const char *const names[] = {"NodeSpecConf", "PartitionConf", "ClassConf", "CheckConf",
                                        "MeaningConf",  "TenantConf",    "RoleConf",  "RemedyConf"};
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "%s", parameters);
    for (size_t i = 0; i < (whole ? sizeof names / sizeof names[0] : 1); i++)
        text_printf(&t, "%s = %s/%s\n", names[i], dir, files[i][0]);
    file_write("fettle.conf", t.s);
}

static int setup(void **state)
{
    snprintf(dir, sizeof dir, "/tmp/fettle-config-text-XXXXXX");
    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        file_write(files[i][0], files[i][1]);
    return 0;
}

static int teardown(void **state)
{
    file_remove("fettle.conf");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        file_remove(files[i][0]);
    return rmdir(dir);
}

static void read_files(struct config *c)
{
    char path[128];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/fettle.conf", dir);
    if (config_read(path, c, &e) < 0)
        fail_msg("%s", e.msg);
}

static int read_texts(const struct config_text *texts, struct config *c, struct err *e)
{
    char path[128];
    *e = (struct err){0};
    snprintf(path, sizeof path, "%s/fettle.conf", dir);
    return config_read_agreed(path, texts, c, e);
}

/* Commits REVISE until nothing is left to do. Returns how often there was something. */
static unsigned agree(struct cluster *c, const struct config_text *texts)
{
    struct revise_part parts[CONFIG_PARTS];
    const struct command cmd = {.kind = COMMAND_REVISE,
                                .actor = "root",
                                .revise = {.said = "", .n = config_text_parts(texts, parts), .parts = parts}};
    unsigned commits = 0;
    for (size_t n = 1; n > 0; commits += n > 0) {
        struct decision d = {0};
        assert_int_equal(cluster_decide(c, &cmd, 0, &d, NULL), 0);
        n = d.n_ops;
        for (size_t i = 0; i < n; i++)
            assert_int_equal(cluster_put(c, d.ops[i].key, d.ops[i].value, NULL), 0);
        decision_fini(&d);
    }
    return commits;
}

static const char *class_of(const struct cluster *c, const struct member *m)
{
    return cluster_classes(c)->list[m->class].name;
}

static const char *node_at(const void *arg, size_t i, const char **class)
{
    const struct cluster *c = arg;
    const struct member *m = cluster_at(c, i);
    *class = class_of(c, m);
    return m->name;
}

/* The decisions of each part after it was taken. The caller frees the text. */
static char *decisions(struct config *c)
{
    struct text t = {0};
    const struct health_policy *h = &c->watch.health;
    struct cluster *cluster = cluster_create();
    const struct partition *partitions;
    cluster_configure(cluster, &c->roster, NULL);
    for (size_t i = 0; i < cluster_count(cluster); i++) {
        const struct member *m = cluster_at(cluster, i);
        text_printf(&t, "%s %s", m->name, class_of(cluster, m));
        for (int f = 0; f < FIELDS; f++) {
            if (!field_get((enum field)f)->settable)
                continue;
            text_printf(&t, " %s=", field_get((enum field)f)->name);
            spec_format(&m->spec, (enum field)f, &t);
        }
        text_add_char(&t, '\n');
    }
    for (size_t i = 0, n = cluster_partitions(cluster, &partitions); i < n; i++)
        text_printf(&t, "%u \"%s\" %d\n", partitions[i].number, partitions[i].name, partitions[i].is_default);
    check_lines(c->checks, &c->meaning_lines, node_at, cluster, cluster_count(cluster), &t);
    for (size_t i = 0; i < c->remedies->n; i++)
        text_printf(&t, "%s %s\n", c->remedies->list[i].name, c->remedies->list[i].run);
    limits_write(&h->limits, &t);
    text_printf(&t, "%lld %lld %lld %lld %u %lld\n", (long long)c->watch.plain.late.ns,
                (long long)c->watch.plain.silent.ns, (long long)c->watch.sensitive.silent.ns,
                (long long)c->waits.first.ns, h->inconclusive, (long long)h->override.ns);
    text_printf(&t, "%s%s %s %s\n", c->grants_text.s ? c->grants_text.s : "", c->text[SETTING_OIDC_ISSUER],
                c->text[SETTING_OIDC_AUDIENCE], c->text[SETTING_OIDC_TENANTS_CLAIM]);
    CLEANUP_FREE char *collectors = hostlist_fold((const char *const *)c->collectors.names, c->collectors.n);
    text_printf(&t, "%s %s %s\n", collectors, c->ochami.pcs, c->ochami.bss);
    cluster_destroy(cluster);
    return text_take(&t);
}

static void assert_same_texts(const struct config_text *a, const struct config_text *b)
{
    for (int p = 0; p < CONFIG_PARTS; p++) {
        assert_int_equal(a->given[p], b->given[p]);
        assert_string_equal(a->part[p].s ? a->part[p].s : "", b->part[p].s ? b->part[p].s : "");
    }
}

/* Another controller has the records and none of the files. Its own fettle.conf has other paths and ports,
 * and other values for agreed parameters. */
static void test_records_decide_as_the_files(void **state)
{
    struct config leader, follower;
    struct config_text texts;
    struct err e;
    conf_write(OWN DECIDING, true);
    read_files(&leader);
    struct cluster *c = cluster_create();
    assert_int_equal(agree(c, &leader.agreed), 1);
    assert_int_equal(config_text_load(c, &texts, &e), 0);

    file_write("fettle.conf", "ApiPort = 9000\nMaxOut = 50\nCheckConf = /nonexistent\nSensitiveTimeout = 1h\n"
                              "RoleConf = /nonexistent\nOidcIssuer = https://another/\n");
    if (read_texts(&texts, &follower, &e) < 0)
        fail_msg("%s", e.msg);
    assert_same_texts(&leader.agreed, &follower.agreed);
    CLEANUP_TEXT struct text changes = {0};
    config_compare(&leader, &follower, &changes);
    CLEANUP_FREE char *led = decisions(&leader), *followed = decisions(&follower);
    assert_string_equal(led, followed);
    assert_non_null(strstr(led, "lx04 gpu"));
    assert_non_null(strstr(led, "Role=\"claimant\" Subjects=\"a b,77\""));
    assert_non_null(strstr(led, "https://login.example/ fettle org"));
    assert_int_equal(follower.grants.n, 2);
    assert_non_null(strstr(led, "caf\xef\xbf\xbd \xc3\xa4")); /* in both, as in every answer */
    assert_int_equal(follower.number[SETTING_API_PORT], 9000);
    assert_string_equal(follower.text[SETTING_SLURM_USER], "root");
    assert_non_null(strstr(changes.s, "ApiPort \"7000\" -> \"9000\""));
    assert_null(strstr(changes.s, "MaxOut"));
    assert_null(strstr(changes.s, "records of"));
    assert_null(strstr(changes.s, "class gpu")); /* the path of ClassConf belongs to each controller */
    config_text_fini(&texts);
    config_fini(&leader);
    config_fini(&follower);
    cluster_destroy(c);
}

/* Built-in checks, no classes, no partitions: a part that is not given is not given in the records either. */
static void test_defaults_are_agreed_as_defaults(void **state)
{
    struct config leader, follower;
    struct err e;
    file_write("nodes", "Name=lx01\n");
    conf_write("Health = observe\n", false);
    read_files(&leader);
    assert_false(leader.agreed.given[CONFIG_CHECKS]);
    assert_true(leader.checks->n > 0);
    file_write("fettle.conf", "");
    assert_int_equal(read_texts(&leader.agreed, &follower, &e), 0);
    assert_same_texts(&leader.agreed, &follower.agreed);
    assert_int_equal(leader.checks->n, follower.checks->n);
    config_fini(&follower);
    config_fini(&leader);
}

static const char *hash_of(const char *parameters, const char *nodes)
{
    static char hash[REVISION_HASH_BYTES + 1];
    struct config c;
    struct cluster *cluster = cluster_create();
    file_write("nodes", nodes);
    conf_write(parameters, false);
    read_files(&c);
    agree(cluster, &c.agreed);
    memcpy(hash, cluster_revision(cluster)->hash, sizeof hash);
    config_fini(&c);
    cluster_destroy(cluster);
    return hash;
}

/* Comments, blanks, the order of parameters, and a controller's own values make no new revision. */
static void test_meaning_alone_makes_a_revision(void **state)
{
    char first[REVISION_HASH_BYTES + 1];
    memcpy(first, hash_of("MaxOut = 7\nHealth = act\n", "Name=lx01 CPUs=2\n"), sizeof first);
    assert_string_equal(
        hash_of("Health=act\n# a comment\nMaxOut=7\nApiPort = 7000\n", "#\n\n  Name=lx01\tCPUs=\"2\"  \r\n"),
        first);
    assert_string_not_equal(hash_of("MaxOut = 8\nHealth = act\n", "Name=lx01 CPUs=2\n"), first);
    assert_string_not_equal(hash_of("MaxOut = 7\nHealth = act\n", "Name=lx01 CPUs=3\n"), first);
    assert_string_not_equal(hash_of("MaxOut = 7\nHealth = act\n", "Name=lx02 CPUs=2\n"), first);
}

/* 100,000 nodes, one on each line: the largest configuration that a site writes. */
static void test_a_hundred_thousand_lines(void **state)
{
    struct config c;
    CLEANUP_TEXT struct text nodes = {0};
    for (unsigned i = 0; i < 100000; i++)
        text_printf(&nodes, "Name=n%06u Xname=x%uc0s%ub0n0 CPUs=128 RealMemory=512000 Partition=1\n", i,
                    1000 + i / 64, i % 64);
    file_write("nodes", nodes.s);
    conf_write("", false);
    read_files(&c);
    struct cluster *cluster = cluster_create();
    unsigned commits = agree(cluster, &c.agreed);
    assert_in_range(commits, 2, 40);
    struct config_text texts;
    assert_int_equal(config_text_load(cluster, &texts, NULL), 0);
    assert_same_texts(&texts, &c.agreed);
    config_text_fini(&texts);
    config_fini(&c);
    cluster_destroy(cluster);
}

/* A record of another version, or one that a person wrote. */
static void test_texts_are_checked_like_files(void **state)
{
    struct config c;
    struct config_text texts, empty = {0};
    struct err e;
    conf_write(DECIDING, true);
    struct config good;
    read_files(&good);
    texts = good.agreed;
    text_add(&texts.part[CONFIG_PARAMETERS], "NoSuchThing = 7\n");
    assert_int_equal(read_texts(&texts, &c, &e), -EINVAL);
    assert_non_null(strstr(e.msg, "parameters:13: unknown key \"NoSuchThing\""));
    good.agreed = texts;
    config_fini(&good);
    struct cluster *cluster = cluster_create();
    assert_int_equal(config_text_load(cluster, &empty, &e), -ENOENT);
    cluster_destroy(cluster);
}

static void test_texts_are_put_together(void **state)
{
    struct config_text t = {0};
    struct err e = {0};
    assert_int_equal(config_text_add(&t, &(struct revise_part){"nodes", "Name=\"a\"\n"}, &e), 0);
    assert_int_equal(config_text_add(&t, &(struct revise_part){"roles", ""}, &e), 0);
    assert_true(t.given[CONFIG_NODES] && t.given[CONFIG_ROLES] && !t.given[CONFIG_PARAMETERS]);
    assert_string_equal(t.part[CONFIG_NODES].s, "Name=\"a\"\n");
    assert_int_equal(config_text_add(&t, &(struct revise_part){"nodes", ""}, &e), -EINVAL);
    assert_string_equal(e.msg, "the part \"nodes\" is there twice");
    assert_int_equal(config_text_add(&t, &(struct revise_part){"bmcs", ""}, &e), -EINVAL);
    assert_string_equal(e.msg, "the configuration has no part \"bmcs\"");
    config_text_fini(&t);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_records_decide_as_the_files),    TEST(test_defaults_are_agreed_as_defaults),
        TEST(test_meaning_alone_makes_a_revision), TEST(test_a_hundred_thousand_lines),
        TEST(test_texts_are_checked_like_files),   cmocka_unit_test(test_texts_are_put_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
