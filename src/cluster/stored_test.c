/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is on the disk stays: records as a store of before holds them come to the same state, and commands
 * write the same bytes beside them, whatever a command looks like inside.
 */
#include "cluster/fixture_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROSTER "lx[01-04] CPUs=2; lx05 CPUs=2; lx06; class gpu Nodes=lx[01-04] Reboot=yes; ochami"

/* With ' in the place of ". */
static const struct {
    const char *key, *value;
} stored[] = {
    {"origin/0011223344556677", "{'at':'1'}"},
    {"node/lx01", "{'admitted':'1000','boot':'b1'}"},
    {"node/lx02", "{'admitted':'1000'}"},
    {"node/lx03", "{'admitted':'1000','boot':'b1'}"},
    {"claim/1.1", "{'kind':'drain','owner':'root','reason':'a \\'bad\\' fan','since':'1000','nodes':'lx[01-"
                  "02]','drained':'lx01'}"},
    {"claim/1.5", "{'kind':'repair','owner':'fettled','reason':'[node_problem] xid.79','since':'1000','node"
                  "s':'lx01','drained':''}"},
    {"claim/1.9", "{'kind':'repair','owner':'fettled','reason':'[node_problem] full','since':'1000','nodes'"
                  ":'lx02','drained':'lx02'}"},
    {"machine/lx01",
     "{'machine':'serial BBB','since':'7000','before':[{'machine':'serial AAA','until':'7000'}"
     "]}"},
    {"bmc/lx01", "{'components':{'redfish.bmc':'2.1'},'unknown':{'redfish.bios':'no such file'}}"},
    {"maintenance/lx01", "{'by':'ann','at':'1000','why':'host retires'}"},
    {"window/lx02", "{'by':'Slurm','at':'5000','why':'reservation root_1'}"},
    {"edit/lx05", "{'set':{'Xname':'x1c0s0b0n1'},'by':'root','at':'1000'}"},
    {"token/0000000000000000000000000000000000000000000000000000000000000000",
     "{'nodes':'lx01','by':'root','expires':'2000','count':1}"},
    {"certificate/node:lx01",
     "{'least':'0','ends':'0','made':[{'serial':'12ab','key':'5f','role':'','at':'1','from':'1"
     "','until':'9000','by':'root'}]}"},
    {"seen/lx03", "{'fingerprint':'8749dd501eb00e1779b3aae8d69dcc761f2837d2a48949df4608c22432f6ffb1','since"
                  "':'2000','history':[{'fingerprint':'cbe63021a040e0664a12103c7810df6b2889612a79b77ccacfcd"
                  "68d479db6f30','since':'1000','named':'kernel.release','count':1}]}"},
    {"drift/lx03", "{'class':'gpu','version':1,'expected':'cbe63021a040e0664a12103c7810df6b2889612a79b77ccac"
                   "fcd68d479db6f30','actual':'8749dd501eb00e1779b3aae8d69dcc761f2837d2a48949df4608c22432f6f"
                   "fb1','severity':'major','named':'kernel.release, nic.count','count':2,'since':'1000','bo"
                   "ot':'b2','state':'persists'}"},
    {"list/cbe63021a040e0664a12103c7810df6b2889612a79b77ccacfcd68d479db6f30",
     "{'components':{'kernel.release':'6.1','nic.count':'2'}}"},
    {"list/8749dd501eb00e1779b3aae8d69dcc761f2837d2a48949df4608c22432f6ffb1",
     "{'components':{'kernel.release':'6.2','nic.count':'2'}}"},
    {"baseline/gpu",
     "{'version':1,'fingerprint':'cbe63021a040e0664a12103c7810df6b2889612a79b77ccacfcd68d479db"
     "6f30','node':'lx01','by':'root','at':'1000','note':'','history':[],'rollout':{'fingerpri"
     "nt':'8749dd501eb00e1779b3aae8d69dcc761f2837d2a48949df4608c22432f6ffb1','node':'lx03','no"
     "des':'lx[02-04]','by':'root','at':'1000','deadline':'9000','note':''}}"},
    {"health/lx01", "{'open':[{'id':'1.4.1','group':'gpu 0','severity':'fatal','act':'reset','since':'1000','"
                    "last':'1000','closed':'0','boot':'b1','count':2,'recurs':1,'observe':false,'findings':[{"
                    "'check':'kernel.gpu','result':'fatal','device':'gpu 0','code':'xid.79','text':'off the b"
                    "us','at':'1000'},{'check':'gpu.ecc','result':'warn','device':'gpu 0','code':'','text':'3"
                    " errors','count':3,'at':'1000','times':3}],'jobs':[{'job':'4711','user':'ann'}]}],'past'"
                    ":[{'id':'1.1.1','group':'sda','severity':'warn','act':'watch','since':'900','last':'900'"
                    ",'closed':'950','boot':'b1','count':24,'recurs':0,'observe':false,'findings':[{'check':'"
                    "k','result':'warn','device':'sda','code':'disk.error','text':'t','count':24,'at':'900','"
                    "times':24}]}],'recurring':[{'group':'sda','observe':false,'sum':2228224,'grave':0,'step'"
                    ":1460}]}"},
    {"repair/lx01", "{'id':'1.5','step':'remedy','began':'1000','since':'1000','deadline':'0','boot':'b1','in"
                    "stance':'beef','problem':'node_problem','why':'because','remedy':'fix','operation':'1.7'"
                    ",'approval':'given','approver':'ann','examined':'not','inconclusive':0,'manual':false,'t"
                    "aken_by':null,'attempts':[{'remedy':'fix','fault':'xid.79,scratch','at':'1000','boot':'b"
                    "1','ended':'0','done':false,'text':'','verdict':'?'}],'notes':[{'at':'1000','by':'ann','"
                    "text':'smoke'}]}"},
    {"repair/lx02", "{'id':'1.9','step':'queue','began':'1000','since':'1000','deadline':'0','boot':'','insta"
                    "nce':'0','problem':'node_problem','why':'because','remedy':'','operation':'','approval':"
                    "'none','approver':null,'examined':'fail','inconclusive':0,'manual':true,'taken_by':'bob'"
                    ",'answered':{'at':'1000','of':[{'fault':'xid.48','device':'gpu 0'}]},'attempts':[],'note"
                    "s':[]}"},
    {"override/lx04",
     "{'by':'ann','source':'Slurm','why':'','at':'1000','spent_s':60,'of':[{'group':'gpu 0','f"
     "ault':'xid.79','severity':'fatal'}]}"},
    {"trial/lx04", "{'now':{'claim':'7.1','check':'pair','began':'1000','deadline':'600000001000'},'last':{'"
                   "scan':{'at':'900','result':'degraded'}}}"},
    {"shared/fs.mounted mount /x",
     "{'nodes':'lx[01-02]','why':'one server','since':'1000','severity':'fatal'}"},
    {"floor/gpu ram",
     "{'at':'1000','sum':'000000000000001f','nodes':[{'node':'lx02','values':{'bandwidth MB/s'"
     ":10}}]}"},
    {"tally/reboot", "{'counts':{'scratch gpu':[1,0],'xid.79 gpu':[1,1]}}"},
    {"switch/stop", "{'on':true,'by':'root','at':'1000','why':'work on the cooling'}"},
    {"surge/isolated", "{'at':['70']}"},
    {"effect/operate.lx01",
     "{'id':'1.7','run':'node:fix it','of':'fix','boot':'b1','instance':'beef','deadline':'300"
     "00001000','done':null}"},
    {"effect/power.lx02",
     "{'id':'7.1','run':'power.off','by':'ann','why':'a \\'bad\\' fan','force':false,'deadline"
     "':'300000003000','done':null}"},
    {"effect/reboot.lx03",
     "{'id':'1000','xname':'x1c0s0b0n1','boot':'b1','image':{'kernel':'http://boot/vmlinuz','i"
     "nitrd':null,'params':null},'times':['1000'],'done':null}"},
    {"effect/slurm.lx01", "{'id':'1000','claim':'1.5','state':'overridden','at':'7','reservation':false}"},
    {"effect/ochami.lx03",
     "{'id':'1000','xname':'x1c0s0b0n1','want':{'flag':'Warning','status':'drift:major:8749dd5"
     "01eb0','group':'drifted','message':'conformance_drift: baseline gpu 1: kernel.release; e"
     "xpected=list_cbe63021a040, actual=list_8749dd501eb0'},'done':null}"},
};

static int setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    struct err e;
    w->c = cluster_create();
    w->at = 5000;
    world_configure(w, ROSTER, NULL);
    for (size_t i = 0; i < sizeof stored / sizeof stored[0]; i++)
        if (cluster_put(w->c, stored[i].key, quoted(stored[i].value), &e) < 0)
            fprintf(stderr, "%s\n", e.msg), abort();
    *state = w;
    return 0;
}

static void an_old_store_is_the_same_state(void **state)
{
    const struct world *w = *state;
    assert_int_equal(cluster_digest(w->c), UINT64_C(0xd1b826cb2bac3213));
}

/* Each after the ones before it. With ' in the place of ". */
static const struct {
    enum command_kind kind;
    const char *actor, *nodes, *note, *claim, *set, *written;
} given[] = {
    {COMMAND_EFFECT, "fettled", "", NULL, NULL,
     "{'key':'effect/operate.lx01','done':{'state':'begun','at':'1','id':'1.7'}}",
     "effect/operate.lx01 = {'id':'1.7','run':'node:fix it','of':'fix','boot':'b1','instance':'bee"
     "f','deadline':'30000001000','done':{'state':'begun','at':'1','id':'1.7'}}\n"
     "lx01: fix: begun\n"},
    {COMMAND_EFFECT, "fettled", "", NULL, NULL,
     "{'key':'effect/slurm.lx01','done':{'claim':'1.5','state':'drained','at':'9','reservation':tr"
     "ue}}",
     "effect/slurm.lx01 = {'id':'1000','claim':'1.5','state':'drained','at':'9','reservation':true"
     "}\n"
     "lx01: Slurm: drained, with a reservation for Fettle\n"},
    {COMMAND_EFFECT, "fettled", "", NULL, NULL,
     "{'key':'effect/ochami.lx03','done':{'flag':'Warning','status':'drift:major:8749dd501eb0','gr"
     "oup':'drifted','message':'m'}}",
     "effect/ochami.lx03 = {'id':'1000','xname':'x1c0s0b0n1','want':{'flag':'Warning','status':'dr"
     "ift:major:8749dd501eb0','group':'drifted','message':'conformance_drift: baseline gpu 1: kern"
     "el.release; expected=list_cbe63021a040, actual=list_8749dd501eb0'},'done':{'flag':'Warning',"
     "'status':'drift:major:8749dd501eb0','group':'drifted','message':'m'}}\n"
     "lx03: OpenCHAMI was told: drift:major:8749dd501eb0\n"},
    {COMMAND_ADMIT, "fettled", "lx[02-06]", NULL, NULL, "{'boots':{'lx02':'b1','lx04':'b2'}}",
     "node/lx04 = {'admitted':'5000','boot':'b2'}\n"
     "node/lx05 = {'admitted':'5000'}\n"
     "node/lx06 = {'admitted':'5000'}\n"
     "lx[04-06]: heard for the first time\n"},
    {COMMAND_WINDOW, "fettled", "lx[02-03]", NULL, NULL, "{'by':'Slurm','why':'reservation root_2'}",
     "window/lx02 = {'by':'Slurm','at':'5000','why':'reservation root_2'}\n"
     "window/lx03 = {'by':'Slurm','at':'5000','why':'reservation root_2'}\n"
     "lx[02-03]: in maintenance: Slurm: reservation root_2\n"},
    {COMMAND_WINDOW, "fettled", "lx02", NULL, NULL, "{'by':'Slurm','why':null}",
     "window/lx02 = gone\n"
     "lx02: Slurm: its maintenance is over\n"},
    {COMMAND_MACHINE, "fettled", "lx[01-02]", NULL, NULL,
     "{'machines':{'lx01':{'machine':'serial DDD','was':'serial BBB'},'lx02':{'machine':'serial CC"
     "C'}}}",
     "machine/lx01 = {'machine':'serial DDD','since':'7000','before':[{'machine':'serial AAA','unt"
     "il':'7000'}]}\n"
     "machine/lx02 = {'machine':'serial CCC','since':'5000','before':[]}\n"
     "lx[01-02]: the identity of the machine is known\n"},
    {COMMAND_BMC, "fettled", "lx[01-02]", NULL, NULL,
     "{'bmcs':{'lx01':null,'lx02':{'components':{'redfish.bmc':'2.2'}}}}",
     "bmc/lx01 = gone\n"
     "bmc/lx02 = {'components':{'redfish.bmc':'2.2'}}\n"
     "lx[01-02]: the firmware versions that the BMC reports\n"},
    {COMMAND_SET, "ann", "lx[04-05]", NULL, NULL, "{'CPUs':'4','Xname':null}",
     "edit/lx04 = {'set':{'CPUs':'4'},'by':'ann','at':'5000'}\n"
     "edit/lx05 = {'set':{'CPUs':'4'},'by':'ann','at':'5000'}\n"
     "lx[04-05]: CPUs=4 Xname=\n"},
    {COMMAND_SEEN, "fettled", "lx03", NULL, NULL,
     "{'fingerprint':'cbe63021a040e0664a12103c7810df6b2889612a79b77ccacfcd68d479db6f30','named':'k"
     "ernel.release','count':1}",
     "seen/lx03 = {'fingerprint':'cbe63021a040e0664a12103c7810df6b2889612a79b77ccacfcd68d479db6f30"
     "','since':'5000','history':[{'fingerprint':'8749dd501eb00e1779b3aae8d69dcc761f2837d2a48949df"
     "4608c22432f6ffb1','since':'2000','named':'kernel.release','count':1},{'fingerprint':'cbe6302"
     "1a040e0664a12103c7810df6b2889612a79b77ccacfcd68d479db6f30','since':'1000','named':'kernel.re"
     "lease','count':1}]}\n"
     "lx03: list_8749dd501eb0 -> list_cbe63021a040: kernel.release\n"},
    {COMMAND_FINDINGS, "fettled", "lx05", NULL, "2.1",
     "{'boot':'b1','open':[{'id':null,'group':'gpu 1','severity':'warn','act':'reset','recurs':0,'"
     "observe':false,'findings':[{'check':'gpu.ecc','result':'warn','device':'gpu 1','code':'','te"
     "xt':'errors'}]}],'close':[],'isolate':{'problem':'node_problem','why':'errors','deadline_s':"
     "60},'jobs':[{'job':'7','user':'eve'}]}",
     "claim/2.1 = {'kind':'repair','owner':'fettled','reason':'[node_problem] errors','since':'500"
     "0','nodes':'lx05','drained':''}\n"
     "repair/lx05 = {'id':'2.1','step':'isolate','began':'5000','since':'5000','deadline':'6000000"
     "5000','boot':'b1','instance':'0','problem':'node_problem','why':'errors','remedy':'','operat"
     "ion':'','approval':'none','approver':null,'examined':'not','inconclusive':0,'manual':false,'"
     "taken_by':null,'attempts':[],'notes':[]}\n"
     "health/lx05 = {'open':[{'id':'2.1.1','group':'gpu 1','severity':'warn','act':'reset','since'"
     ":'5000','last':'5000','closed':'0','boot':'b1','count':1,'recurs':0,'observe':false,'finding"
     "s':[{'check':'gpu.ecc','result':'warn','device':'gpu 1','code':'','text':'errors','at':'5000"
     "'}]}],'past':[]}\n"
     "lx05: opened 2.1.1 (gpu 1): warn gpu.ecc: errors; isolated: errors (claim 2.1)\n"},
    {COMMAND_TICKET, "bob", "lx02", "a new cable", NULL, "{'take':true}",
     "repair/lx02 = {'id':'1.9','step':'queue','began':'1000','since':'1000','deadline':'0','boot'"
     ":'','instance':'0','problem':'node_problem','why':'because','remedy':'','operation':'','appr"
     "oval':'none','approver':null,'examined':'fail','inconclusive':0,'manual':true,'taken_by':'bo"
     "b','answered':{'at':'1000','of':[{'fault':'xid.48','device':'gpu 0'}]},'attempts':[],'notes'"
     ":[{'at':'5000','by':'bob','text':'a new cable'}]}\n"
     "lx02: noted: a new cable\n"},
};

static void commands_write_the_same_bytes(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
        assert_string_equal(world_give(w, given[i].kind, given[i].actor, given[i].nodes, quoted(given[i].set),
                                       given[i].note, given[i].claim),
                            quoted(given[i].written));
    assert_int_equal(cluster_digest(w->c), UINT64_C(0x906be74d9f80b133));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_old_store_is_the_same_state, setup, world_teardown),
        cmocka_unit_test_setup_teardown(commands_write_the_same_bytes, setup, world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
