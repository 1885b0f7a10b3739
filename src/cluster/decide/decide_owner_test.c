/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/fixture_test.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROSTER                                                                                          \
    "lx[01-06] CPUs=2; s[1-4] Sensitive=yes; tenant physics Nodes=4 Allocations=2; tenant bio; tenant " \
    "chem Nodes=2; pool 3; wipes"

static int setup(void **state)
{
    struct world *w = world_create();
    world_configure(w, ROSTER, NULL);
    *state = w;
    return 0;
}

static const char *claim(struct world *w, const char *nodes, const char *to)
{
    CLEANUP_TEXT struct text set = {0};
    text_printf(&set, "{\"to\":\"%s\"}", to);
    return world_ask(w, COMMAND_OWNER_CLAIM, "root", nodes, set.s, "a run");
}

static const char *release(struct world *w, const char *nodes, const char *from)
{
    CLEANUP_TEXT struct text set = {0};
    text_printf(&set, "{\"from\":\"%s\"}", from);
    return world_ask(w, COMMAND_OWNER_RELEASE, "root", nodes, set.s, NULL);
}

static const char *transfer(struct world *w, const char *nodes, const char *from, const char *to)
{
    CLEANUP_TEXT struct text set = {0};
    text_printf(&set, "{\"from\":\"%s\",\"to\":\"%s\"}", from, to);
    return world_ask(w, COMMAND_OWNER_TRANSFER, "root", nodes, set.s, NULL);
}

/* ann claims nodes for herself, and her name is a person's. */
static const char *person(struct world *w, const char *actor, const char *nodes, const char *name,
                          const char *is_person)
{
    CLEANUP_TEXT struct text set = {0};
    text_printf(&set, "{\"to\":\"@%s\",\"person\":%s}", name, is_person);
    return world_ask(w, COMMAND_OWNER_CLAIM, actor, nodes, set.s, NULL);
}

static const char *owner_of(const struct world *w, const char *node)
{
    const struct member *m = cluster_find(w->c, node);
    return m->owner ? m->owner->name : "nobody";
}

static void test_nodes_get_an_owner_and_lose_it(void **state)
{
    struct world *w = *state;
    assert_string_equal(
        claim(w, "lx[01-02]", "physics/batch:12"),
        quoted("owner/physics/batch:12 = {'by':'root','since':'1000','reason':'a run','nodes':'lx[01-02]'}\n"
               "lx[01-02]: owned by physics/batch:12: a run\n"));
    assert_string_equal(world_fields(),
                        quoted("'owners':['physics/batch:12'],'owner_to':'physics/batch:12'"));
    assert_string_equal(world_about(), "physics/batch:12");
    w->at = 2000;
    assert_string_equal(
        claim(w, "lx[02-03]", "physics/batch:12"), /* one more; when it began stays */
        quoted("owner/physics/batch:12 = {'by':'root','since':'1000','reason':'a run','nodes':'lx[01-03]'}\n"
               "lx03: owned by physics/batch:12: a run\n"));
    assert_string_equal(claim(w, "lx[01-03]", "physics/batch:12"), "nothing");
    assert_string_equal(
        release(w, "lx01", "physics/batch:12"),
        quoted("owner/physics/batch:12 = {'by':'root','since':'1000','reason':'a run','nodes':'lx[02-03]'}\n"
               "lx01: released by its owner physics/batch:12\n"));
    assert_string_equal(world_fields(),
                        quoted("'owners':['physics/batch:12'],'owner_from':'physics/batch:12'"));
    assert_string_equal(release(w, "lx01", "physics/batch:12"), "nothing");
    assert_string_equal(release(w, "", "physics/batch:12"),
                        "owner/physics/batch:12 = gone\nlx[02-03]: released by its owner physics/batch:12\n");
    assert_string_equal(release(w, "", "physics/batch:12"), "nothing");
    assert_string_equal(owner_of(w, "lx02"), "nobody");
}

static void test_it_is_all_nodes_or_none(void **state)
{
    struct world *w = *state;
    claim(w, "lx03", "bio");
    assert_string_equal(claim(w, "lx[01-04]", "physics"), "node \"lx03\" is owned by bio");
    assert_int_equal(world_rc(), -EBUSY);
    assert_string_equal(owner_of(w, "lx01"), "nobody");
    assert_string_equal(release(w, "lx[03-04]", "physics"), "node \"lx03\" is owned by bio");
    assert_string_equal(release(w, "lx[02-03]", "bio"), /* lx02 is free already */
                        "owner/bio = gone\nlx03: released by its owner bio\n");
    assert_non_null(strstr(claim(w, "lx[01-02],lx99", "physics"), "no node \"lx99\""));
    assert_string_equal(claim(w, "", "physics"), "no node is named");
}

static void test_a_transfer_compares_and_sets(void **state)
{
    struct world *w = *state;
    claim(w, "lx[01-03]", "physics:1");
    w->at = 2000;
    assert_string_equal(
        transfer(w, "lx01", "physics:1", "bio:9"),
        quoted("owner/physics:1 = {'by':'root','since':'1000','reason':'a run','nodes':'lx[02-03]'}\n"
               "owner/bio:9 = {'by':'root','since':'2000','reason':'','nodes':'lx01'}\n"
               "lx01: owned by bio:9, and by physics:1 no more\n"));
    assert_string_equal(world_fields(), quoted("'owners':['physics:1','bio:9'],'owner_from':'physics:1',"
                                               "'owner_to':'bio:9'"));
    assert_string_equal(transfer(w, "lx01", "physics:1", "bio:9"), "nothing");
    assert_string_equal(transfer(w, "lx01", "physics:1", "physics:2"), "node \"lx01\" is owned by bio:9");
    assert_int_equal(world_rc(), -EBUSY);
    assert_string_equal(transfer(w, "lx04", "physics:1", "bio"), "nobody owns node \"lx04\"");
    assert_string_equal(
        transfer(w, "", "physics:1", "physics"),
        quoted("owner/physics:1 = gone\n"
               "owner/physics = {'by':'root','since':'2000','reason':'','nodes':'lx[02-03]'}\n"
               "lx[02-03]: owned by physics, and by physics:1 no more\n"));
    assert_string_equal(transfer(w, "", "physics:1", "bio"), "nothing");
    assert_string_equal(transfer(w, "lx01", "bio:9", "bio:9"), "both owners are bio:9");
}

static void test_tenants_are_configured(void **state)
{
    struct world *w = *state;
    assert_string_equal(claim(w, "lx01", "physic"), "no tenant \"physic\"; the nearest is \"physics\"");
    assert_int_equal(world_rc(), -ENOENT);
    claim(w, "lx01", "bio");
    world_configure(w, "lx[01-06] CPUs=2", NULL); /* what a tenant has can always be given back */
    assert_string_equal(claim(w, "lx02", "bio"), "no tenant \"bio\" in TenantConf");
    assert_string_equal(owner_of(w, "lx01"), "bio");
    assert_string_equal(release(w, "lx01", "bio"), "owner/bio = gone\nlx01: released by its owner bio\n");
}

static void test_quotas_are_never_passed(void **state)
{
    struct world *w = *state;
    claim(w, "lx[01-03]", "physics:1");
    assert_string_equal(claim(w, "lx[04-05]", "physics:2"),
                        "tenant \"physics\" would own 5 nodes, and its quota is 4");
    assert_int_equal(world_rc(), -EDQUOT);
    claim(w, "lx04", "physics:2");
    release(w, "lx03", "physics:1");
    assert_string_equal(claim(w, "lx03", "physics:3"),
                        "tenant \"physics\" would have 3 allocations, and its quota is 2");
    claim(w, "lx03", "physics/batch"); /* that is none */
    assert_int_equal(world_rc(), 0);
    claim(w, "lx05", "bio:1");
    assert_string_equal(transfer(w, "lx05", "bio:1", "physics:2"),
                        "tenant \"physics\" would own 5 nodes, and its quota is 4");
    /* Within a tenant no node is added, and an allocation may end where another begins. */
    assert_string_equal(transfer(w, "lx01", "physics:1", "physics:3"),
                        "tenant \"physics\" would have 3 allocations, and its quota is 2");
    transfer(w, "", "physics:1", "physics:3");
    assert_int_equal(world_rc(), 0);
    assert_int_equal(cluster_tenant_use(w->c, "physics").nodes, 4);
    assert_int_equal(cluster_tenant_use(w->c, "physics").allocations, 2);
    /* A quota that was lowered takes nothing away. */
    world_configure(w, "lx[01-06]; tenant physics Nodes=1", NULL);
    assert_string_equal(claim(w, "lx06", "physics"),
                        "tenant \"physics\" would own 5 nodes, and its quota is 1");
    assert_string_equal(owner_of(w, "lx04"), "physics:2");
}

static void test_a_sensitive_node_is_a_persons(void **state)
{
    struct world *w = *state;
    assert_string_equal(claim(w, "s1", "physics"),
                        "node \"s1\" is sensitive: a person claims it, and no tenant");
    assert_int_equal(world_rc(), -EACCES);
    assert_string_equal(person(w, "ann", "lx01", "ann", "true"),
                        "node \"lx01\" is not sensitive: it is claimed for a tenant");
    assert_string_equal(person(w, "robot", "s1", "robot", "false"),
                        "\"robot\" is no person; a sensitive node is claimed by the person who works on it");
    assert_string_equal(person(w, "ann", "s1", "eve", "true"),
                        "\"ann\" cannot claim a node for the person \"eve\"");
    assert_int_equal(world_rc(), -EACCES);
    assert_string_equal(person(w, "ann", "s[1-2]", "ann", "true"),
                        quoted("owner/@ann = {'by':'ann','since':'1000','reason':'','nodes':'s[1-2]'}\n"
                               "s[1-2]: owned by @ann\n"));
    assert_string_equal(person(w, "eve", "s[2-3]", "eve", "true"), "node \"s2\" is owned by @ann");
    assert_string_equal(person(w, "eve", "s[3-4]", "eve", "true"),
                        "persons would have 4 sensitive nodes, and SensitivePool is 3");
    assert_int_equal(world_rc(), -EDQUOT);
    assert_string_equal(transfer(w, "s1", "@ann", "@eve"),
                        "a person's nodes are released and wiped; they are not transferred");
}

/* The pool has room for a person, whoever they work for; and the tenant has to be there. */
static void test_a_person_may_work_for_a_tenant(void **state)
{
    struct world *w = *state;
    assert_int_equal(cluster_put(w->c, "feature/level", "{\"level\":2}", NULL), 0);
    assert_string_equal(
        world_ask(w, COMMAND_OWNER_CLAIM, "ann", "s1", quoted("{'to':'physic@ann','person':true}"), NULL),
        "no tenant \"physic\"; the nearest is \"physics\"");
    assert_string_equal(
        world_ask(w, COMMAND_OWNER_CLAIM, "ann", "s1", quoted("{'to':'physics@eve','person':true}"), NULL),
        "\"ann\" cannot claim a node for the person \"eve\"");
    assert_string_equal(
        world_ask(w, COMMAND_OWNER_CLAIM, "ann", "s[1-2]", quoted("{'to':'physics@ann','person':true}"),
                  NULL),
        quoted("owner/physics@ann = {'by':'ann','since':'1000','reason':'','nodes':'s[1-2]'}\n"
               "s[1-2]: owned by physics@ann\n"));
    assert_string_equal(world_fields(), quoted("'owners':['physics@ann'],'owner_to':'physics@ann'"));
    assert_int_equal(cluster_tenant_use(w->c, "physics").nodes, 0);
    assert_int_equal(cluster_sensitive_use(w->c), 2);
    assert_string_equal(person(w, "ann", "s2", "ann", "true"), "node \"s2\" is owned by physics@ann");
    assert_string_equal(person(w, "ann", "s[3-4]", "ann", "true"),
                        "persons would have 4 sensitive nodes, and SensitivePool is 3");
    assert_string_equal(transfer(w, "s1", "physics@ann", "bio"),
                        "a person's nodes are released and wiped; they are not transferred");
    assert_non_null(strstr(world_give(w, COMMAND_OWNER_RELEASE, "Ann Lee (token ann)", "s1",
                                      quoted("{'from':'physics@ann'}"), NULL, "3.1"),
                           "a reason is needed"));
    assert_non_null(strstr(world_give(w, COMMAND_OWNER_RELEASE, "Ann Lee (token ann)", "s2",
                                      quoted("{'from':'physics@ann','person':'ann'}"), NULL, "3.2"),
                           "s2: released by its owner physics@ann"));
    assert_non_null(strstr(world_give(w, COMMAND_OWNER_RELEASE, "root", "s1",
                                      quoted("{'from':'physics@ann'}"), "she left", "3.1"),
                           "s1: released by its owner physics@ann: she left"));
    assert_int_equal(cluster_sensitive_use(w->c), 2); /* it is not wiped yet */
}

static const char *let_go(struct world *w, const char *actor, const char *nodes, const char *why,
                          const char *claim)
{
    return world_give(w, COMMAND_OWNER_RELEASE, actor, nodes, quoted("{'from':'@ann'}"), why, claim);
}

static const char *approve(struct world *w, const char *why)
{
    return world_ask(w, COMMAND_APPROVE, "root", "s1", "{}", why);
}

static void test_a_node_that_could_not_be_wiped_is_nobodys(void **state)
{
    struct world *w = *state;
    world_configure(w, "s[1-4] Sensitive=yes; pool 3", NULL);
    assert_string_equal(person(w, "ann", "s1", "ann", "true"),
                        "no remedy \"wipe\" is configured, so the node could not be wiped");
    world_configure(w, ROSTER, NULL);
    world_tell(
        w, COMMAND_REVISE, "",
        quoted("{'act':false,'out':5,'out_class':5,'out_group':5,'out_partition':5,'surge':0,'surge_s':600,"
               "'remedies_a_week':5}"),
        NULL);
    assert_string_equal(person(w, "ann", "s1", "ann", "true"),
                        "health is only observed, so the node could not be wiped");
}

/* No work comes between the release and the wipe, and no other person before an approval. */
static void test_a_released_node_is_held_until_it_is_approved(void **state)
{
    struct world *w = *state;
    person(w, "ann", "s[1-3]", "ann", "true");
    assert_string_equal(let_go(w, "root", "s1", NULL, "3.1"),
                        "the nodes are those of the person \"ann\": a reason is needed");
    assert_string_equal(let_go(w, "ann", "s1", NULL, "3.1"),
                        quoted("owner/@ann = {'by':'ann','since':'1000','reason':'','nodes':'s[2-3]'}\n"
                               "claim/3.1 = {'kind':'wipe','owner':'ann','reason':'released by "
                               "@ann','since':'1000','nodes':'s1',"
                               "'drained':''}\ns1: released by its owner @ann\n"));
    assert_string_equal(world_fields(), quoted("'claims':['3.1'],'owners':['@ann'],'owner_from':'@ann'"));
    assert_string_equal(person(w, "eve", "s1", "eve", "true"),
                        "node \"s1\" was released and is not wiped yet; `fettle conform approve` ends that");
    world_ask(w, COMMAND_SET, "root", "s1", quoted("{'Sensitive':'no'}"),
              NULL); /* that opens no way round it */
    assert_string_equal(claim(w, "s1", "bio"),
                        "node \"s1\" was released and is not wiped yet; `fettle conform approve` ends that");
    world_ask(w, COMMAND_SET, "root", "s1", quoted("{'Sensitive':null}"), NULL);
    assert_string_equal(person(w, "eve", "s4", "eve", "true"), /* the pool has the released one, too */
                        "persons would have 4 sensitive nodes, and SensitivePool is 3");
    world_do(w, COMMAND_UNDRAIN, "root", "s1", NULL, "3.1");
    assert_int_equal(world_rc(), -EACCES);
    assert_non_null(strstr(approve(w, NULL), "was not wiped: a reason is needed to approve it all the same"));
    assert_int_equal(
        cluster_put(w->c, "wiped/s1", quoted("{'at':'7','remedy':'wipe','operation':'3.2'}"), NULL), 0);
    assert_non_null(strstr(person(w, "eve", "s1", "eve", "true"), "wiped, and waits for an approval"));
    assert_string_equal(approve(w, NULL), "wiped/s1 = gone\nclaim/3.1 = gone\n"
                                          "s1: approved; released from claim 3.1\n");
    person(w, "eve", "s1", "eve", "true");
    assert_int_equal(world_rc(), 0);
    /* By a person's word that it is clean, whatever the remedy came to. */
    assert_int_equal(
        cluster_put(w->c, "wiped/s1", quoted("{'at':'7','remedy':'wipe','operation':'3.2'}"), NULL), 0);
    world_give(w, COMMAND_OWNER_RELEASE, "root", "", quoted("{'from':'@eve'}"), "she left", "3.3");
    assert_null(cluster_find(w->c, "s1")->wiped); /* an earlier wipe is none of this time */
    assert_string_equal(approve(w, "new drives"), "claim/3.3 = gone\ns1: approved: new drives; released from "
                                                  "claim 3.3\n");
}

static void test_only_a_confirmed_wipe_is_one(void **state)
{
    struct world *w = *state;
    static const char
        begin[] = "{'from':'none','to':'wipe','why':'released','problem':'wipe','remedy':'wipe',"
                  "'deadline_s':1800}",
        ends[] = "{'id':'4.1','from':'wipe','to':'provision','why':'wiped'}",
        fails[] = "{'id':'4.1','from':'wipe','to':'quarantine','why':'it was not wiped'}",
        operate[] = "{'id':'4.1','step':'wipe','run':'node:wipe','operation_of':'wipe','deadline_s':60}";
    person(w, "ann", "s1", "ann", "true");
    assert_string_equal(world_tell(w, COMMAND_REPAIR, "s1", quoted(begin), "4.1"),
                        "nobody released node \"s1\"");
    let_go(w, "ann", "s1", NULL, "3.1");
    world_tell(w, COMMAND_REPAIR, "s1", quoted(begin), "4.1");
    assert_int_equal(world_rc(), 0);
    assert_string_equal(world_state(w, "s1"), "remediating");
    assert_string_equal(world_tell(w, COMMAND_REPAIR, "s1", quoted(ends), NULL),
                        "the wipe of node \"s1\" was not confirmed");
    assert_string_equal(approve(w, "in a hurry"), "node \"s1\" is being wiped");
    world_tell(w, COMMAND_OPERATE, "s1", quoted(operate), "4.2");
    assert_int_equal(world_rc(), 0);
    world_tell(w, COMMAND_REPAIR, "s1", quoted(ends), NULL);
    assert_int_equal(world_rc(), -EBUSY);
    world_tell(w, COMMAND_EFFECT, "",
               quoted("{'key':'effect/operate.s1','done':{'id':'4.2','state':'begun','at':'5'}}"), NULL);
    world_ask(w, COMMAND_TRANSITION, "root", "s1", quoted("{'transition':'manual_drain'}"), "a look");
    assert_int_equal(world_rc(), -EBUSY);
    world_tell(w, COMMAND_EFFECT, "",
               quoted("{'key':'effect/operate.s1','done':{'id':'4.2','state':'done','text':'clean'}}"), NULL);
    world_tell(w, COMMAND_REPAIR, "s1", quoted(ends), NULL);
    assert_int_equal(world_rc(), 0);
    assert_string_equal(world_record(w, "wiped/s1"),
                        quoted("{'at':'1000','remedy':'wipe','operation':'4.2'}"));
    assert_non_null(strstr(world_fields(),
                           quoted("'from':'wipe','to':'provision','trigger':'remedied','outcome':'done'")));
    world_tell(w, COMMAND_REPAIR, "s1", quoted(fails), NULL);
    assert_int_equal(world_rc(), -EBUSY);
}

/* --- whatever comes ---------------------------------------------------------------------------- */

enum { NODES = 6, OWNERS = 7, TURNS = 20000 };

static const char *const owners[OWNERS] = {"physics:1", "physics/b:2", "physics:3", "physics",
                                           "bio",       "chem:1",      "chem"};

static unsigned draw(uint64_t *seed, unsigned below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*seed >> 33) % below;
}

/* By the records alone, as another program would count them. */
static void check_records(const struct world *w)
{
    unsigned owned[NODES + 1] = {0}, nodes[3] = {0}, allocations[3] = {0};
    static const char *const tenants[3] = {"physics", "bio", "chem"};
    for (size_t i = 0; i < w->n; i++) {
        struct owner o;
        if (strncmp(w->records[i].key, "owner/", 6) != 0)
            continue;
        assert_int_equal(owner_parse(w->records[i].key + 6, &o, NULL), 0);
        CLEANUP_JSON json_t *r = json_read(w->records[i].value, strlen(w->records[i].value), NULL);
        CLEANUP_HOSTLIST struct hostlist h = {0};
        assert_int_equal(hostlist_parse(json_text(r, "nodes"), &h, NULL), 0);
        for (size_t k = 0; k < h.n; k++)
            assert_int_equal(owned[h.names[k][3] - '0']++, 0);
        for (size_t t = 0; t < 3; t++) {
            bool is_its = strcmp(o.tenant, tenants[t]) == 0;
            nodes[t] += is_its ? (unsigned)h.n : 0;
            allocations[t] += is_its && *o.allocation;
        }
    }
    for (size_t t = 0; t < 3; t++) {
        assert_int_equal(cluster_tenant_use(w->c, tenants[t]).nodes, nodes[t]);
        assert_int_equal(cluster_tenant_use(w->c, tenants[t]).allocations, allocations[t]);
    }
    assert_true(nodes[0] <= 4 && allocations[0] <= 2 && nodes[2] <= 2);
}

static void test_no_node_ever_has_two_owners(void **state)
{
    struct world *w = *state;
    uint64_t seed = 1;
    size_t taken = 0;
    for (int i = 0; i < TURNS; i++) {
        char list[64] = "";
        for (unsigned n = draw(&seed, 4); n > 0; n--)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%slx0%u", *list ? "," : "",
                     draw(&seed, NODES) + 1);
        const char *a = owners[draw(&seed, OWNERS)], *b = owners[draw(&seed, OWNERS)];
        switch (draw(&seed, 3)) {
        case 0: claim(w, list, a); break;
        case 1: release(w, list, a); break;
        default: transfer(w, list, a, b); break;
        }
        taken += world_rc() == 0;
        check_records(w);
    }
    assert_true(taken > TURNS / 10);
    struct cluster *again = world_reload(w, ROSTER, 3, true);
    assert_int_equal(cluster_digest(again), cluster_digest(w->c));
    cluster_destroy(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nodes_get_an_owner_and_lose_it, setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_it_is_all_nodes_or_none, setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_a_transfer_compares_and_sets, setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_tenants_are_configured, setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_quotas_are_never_passed, setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_a_sensitive_node_is_a_persons, setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_a_node_that_could_not_be_wiped_is_nobodys, setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(test_a_person_may_work_for_a_tenant, setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_a_released_node_is_held_until_it_is_approved, setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(test_only_a_confirmed_wipe_is_one, setup, world_teardown),
        cmocka_unit_test_setup_teardown(test_no_node_ever_has_two_owners, setup, world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
