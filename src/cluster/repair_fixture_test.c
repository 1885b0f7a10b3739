/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/repair_fixture_test.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const struct repair *lx01_repair(const struct world *w)
{
    return member_repair(cluster_find(w->c, "lx01"));
}

const char *lx01_step(const struct world *w)
{
    return lx01_repair(w) ? step_name(lx01_repair(w)->step) : "none";
}

const struct attempt_record *lx01_attempt(const struct world *w)
{
    const struct repair *r = member_repairs(cluster_find(w->c, "lx01"));
    return &r->attempts[r->n_attempts - 1];
}

void lx01_isolate(struct world *w)
{
    world_tell(
        w, COMMAND_FINDINGS, "lx01",
        quoted(
            "{'boot':'b1','open':[{'id':null,'group':'gpu 0','severity':'fatal','act':'reset','recurs':0,"
            "'observe':false,'findings':[{'check':'kernel.gpu','result':'fatal','device':'gpu 0','code':"
            "'xid.79','text':'off the bus'}]},{'id':null,'group':'','severity':'warn','act':'watch','recurs':"
            "0,'observe':false,'findings':[{'check':'scratch','result':'warn','device':'','code':'','text':"
            "''}]}],'isolate':{'problem':'node_problem','why':'xid.79','deadline_s':60}}"),
        "1.5");
    assert(strcmp(lx01_step(w), "isolate") == 0);
}

const char *lx01_move(struct world *w, const char *set)
{
    return world_tell(w, COMMAND_REPAIR, "lx01", quoted(set), "1.6");
}

const char *lx01_operate(struct world *w, const char *claim)
{
    return world_tell(
        w, COMMAND_OPERATE, "lx01",
        quoted("{'id':'1.5','step':'remedy','run':'node:fix it','operation_of':'fix','boot':'b1',"
               "'deadline_s':30}"),
        claim);
}

const char *lx01_effect(struct world *w, const char *done)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{'key':'effect/operate.lx01','done':%s}", done);
    return world_tell(w, COMMAND_EFFECT, "", quoted(t.s), NULL);
}

const char *lx01_hand(struct world *w, const char *transition)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{'transition':'%s'}", transition);
    return world_say(w, COMMAND_TRANSITION, "ann", "lx01", quoted(t.s), "new cable");
}

void lx01_remedy(struct world *w, bool begun)
{
    lx01_isolate(w);
    lx01_move(w, MOVE("isolate", "remedy", ",'remedy':'fix'"));
    lx01_operate(w, "1.7");
    if (begun)
        lx01_effect(w, "{'state':'begun','at':'1','id':'1.7'}");
}

void lx01_tried(struct world *w, const char *at, const char *verdict)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t,
                "{'id':'1.1','step':'none','began':'1','since':'1','deadline':'0','boot':'','instance':'0',"
                "'problem':'manual','why':'','remedy':'','operation':'','approval':'none','approver':null,"
                "'examined':'not','inconclusive':0,'manual':false,'taken_by':null,'attempts':[{'remedy':"
                "'reboot','fault':'xid.79','at':'%s','ended':'6','done':true,'text':'','verdict':'%s'}],"
                "'notes':[]}",
                at, verdict);
    if (cluster_put(w->c, "repair/lx01", quoted(t.s), NULL) < 0)
        abort();
}

const char *lx01_judge(struct world *w, const char *helped)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "{'remedy':'reboot','at':'5','faults':['xid.79','scratch'],'class':'gpu','helped':%s}",
                helped);
    return world_tell(w, COMMAND_OUTCOME, "lx01", quoted(t.s), NULL);
}
