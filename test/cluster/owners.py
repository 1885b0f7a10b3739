# SPDX-License-Identifier: Apache-2.0
"""For whom nodes work: schedulers that want the same node, quotas, and a controller that is killed meanwhile."""
import json
import os
import threading

from fleet import certificates
from harness import Controller, contains, equal, holds, main, wait
from ward import repair, ward

NODES = [f'n{i:02}' for i in range(1, 9)]
TENANTS = 'Tenant=physics Nodes=4 Allocations=2\nTenant=bio\n'


def controller(world, tenants=TENANTS, **settings):
    world.write('tenants', tenants)
    return Controller(world, 'Name=n[01-08]\nName=s[1-2] Sensitive=yes\n', TenantConf=world.path('tenants'), **settings)


def owners(c):
    return {o['owner']: o['nodes'] for o in c.get('/v1/owners')['owners']}


def test_owners_by_the_tool(world):
    c = controller(world)
    contains(c.fettle('owner', 'claim', 'n[01-03]', '--owner', 'physics/batch:1', '--reason', 'a run'), 'n[01-03]: claimed',
             'a claim')
    contains(c.fettle('owner', 'claim', 'n[03-04]', '--owner', 'bio', status=3), 'node "n03" is owned by physics/batch:1',
             'the refusal')
    contains(c.fettle('owner', 'claim', 'n[04-05]', '--owner', 'physics', status=3), 'its quota is 4', 'a quota')
    contains(c.fettle('owner', 'claim', 'n04', '--owner', 'physic', status=4), 'the nearest is "physics"', 'a slip')
    contains(c.fettle('owner', 'claim', 'n04', '--owner', 'bio', '--dry-run'), 'owned by bio', 'a dry run')
    equal(owners(c), {'physics/batch:1': 'n[01-03]'}, 'owners')
    contains(c.fettle('owner', 'show', 'physics'), '3 of 4 nodes, 1 of 2 allocations', 'what a tenant has')
    equal(c.node('n02')['Owner'], 'physics/batch:1', 'the field')
    c.fettle('owner', 'transfer', 'n03', '--owner', 'physics/batch:1', '--new-owner', 'bio')
    c.process.kill()
    c.start()
    equal(owners(c), {'physics/batch:1': 'n[01-02]', 'bio': 'n03'}, 'owners after kill -9')
    c.fettle('owner', 'release', '--owner', 'physics/batch:1')
    equal([(e['what'], e.get('owner_from'), e.get('owner_to')) for e in c.journal() if e['what'].startswith('owner.')],
          [('owner.claim', None, 'physics/batch:1'), ('owner.transfer', 'physics/batch:1', 'bio'),
           ('owner.release', 'physics/batch:1', None)], 'the journal')
    world.write('tenants', 'Tenant=bio Nodes=1\n')
    contains(c.fettle('reload'), 'tenant physics removed', 'a reload')
    contains(c.fettle('owner', 'claim', 'n04', '--owner', 'bio', status=3), 'its quota is 1', 'the quota of the new file')
    contains(c.fettle('owner', 'claim', 's1', '--owner', 'bio', status=5), 'a person claims it', 'a sensitive node')
    contains(c.fettle('owner', 'claim', 's1', status=5), '"root" is no person', 'root')


def test_schedulers_that_want_the_same_nodes(world):
    """Many at once: each node has one owner in the end, no tenant has more than its quota, and the loser hears whose it is."""
    c = controller(world, 'Tenant=a Nodes=3\nTenant=b Nodes=3\nTenant=c Nodes=3\n')
    lost, won = [], []

    def scheduler(tenant):
        connection = c.connect()
        for n in NODES:
            body = json.dumps({'nodes': n, 'owner': f'{tenant}:{n}'})
            connection.request('POST', '/v1/owners/claim', body)
            answer = connection.getresponse()
            said = json.loads(answer.read())
            (won if answer.status == 200 else lost).append((tenant, n, answer.status, said))
        connection.close()
    threads = [threading.Thread(target=scheduler, args=(t,)) for t in 'abc']
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    equal(len(lost) + len(won), 24, 'answers')
    for _, n, status, said in lost:
        equal(status, 409, 'a refusal')
        if said['error']['code'] == 'conflict':
            equal(said['error']['node'], n, 'whose node it is')
            equal(said['error']['owner'] in {f'{t}:{n}' for t, m, _, _ in won if m == n}, True, 'the present owner')
        else:
            equal(said['error']['code'], 'quota_exceeded', 'the refusal')
    equal(owners(c), {f'{t}:{n}': n for t, n, _, _ in won}, 'who was told that it owns what, owns it')
    equal(max(sum(1 for w in won if w[0] == t) for t in 'abc') <= 3, True, 'quotas')
    wait('the controller is well', lambda: c.status()['revision'] >= len(won))


def claim(c, who, nodes, **more):
    return c.ask_https('POST', '/v1/owners/claim', {'nodes': nodes, **more}, **who)


def wait_wiped(c, node):
    """What is left to do says the dry run of an approval, which needs a reason before the wipe."""
    wait(f'{node} was wiped', lambda: c.fettle_run('conform', 'approve', node, '--dry-run')[0] == 0)
    c.wait_nodes('it waits for an approval', [node], Lifecycle='drained')


def test_a_sensitive_node_is_a_persons(world):
    """It is claimed by a person, wiped when it is released, and approved before the next person gets it; what could not be
    wiped is quarantined, also after kill -9."""
    log = world.path('wiped')
    wipe = (f'Remedy=wipe Run="node:test ! -e {log}.fails && echo $FETTLE_NODE >>{log}" Helps=nothing Confidence=50% '
            'Because="a person released it" Takes=1s')
    c, _ = ward(world, ['s1'], nodes='Name=s1 Sensitive=yes\n', remedy=wipe)
    who = certificates(world, c, ann='admin', eve='admin')
    equal(claim(c, who['ann'], 's1')[0], 200, 'a claim')
    status, answer = claim(c, who['eve'], 's1')
    equal((status, answer['error']['owner']), (409, '@ann'), 'the claim of another person')
    equal(claim(c, who['eve'], 's1', owner='@ann')[0], 403, 'a claim for another person')
    contains(c.fettle('owner', 'release', 's1', '--owner', '@ann', status=2), 'a reason is needed', 'a release by somebody else')
    equal(c.ask_https('POST', '/v1/owners/release', {'nodes': 's1'}, **who['ann'])[0], 200, 'a release')
    wait_wiped(c, 's1')
    with open(log, encoding='utf-8') as f:
        equal(f.read().split(), ['s1'], 'what was done')
    status, answer = claim(c, who['eve'], 's1')
    contains(answer['error']['message'], 'wiped, and waits for an approval', 'a claim before the approval')
    c.fettle('conform', 'approve', 's1')
    c.wait_nodes('it is in service', ['s1'], Lifecycle='available')
    equal(claim(c, who['eve'], 's1')[0], 200, 'a claim after the approval')
    world.write('wiped.fails', '')
    c.ask_https('POST', '/v1/owners/release', {'nodes': 's1'}, **who['eve'])
    c.wait_nodes('it is quarantined', ['s1'], Lifecycle='quarantined')
    c.process.kill()
    c.start()
    c.wait_nodes('it is heard again', ['s1'], Liveness='live')
    holds('it stays in the quarantine', 2, lambda: c.node('s1')['Lifecycle'] == 'quarantined')
    contains(repair(c, 's1')['why'], 'it was not wiped', 'why')
    os.unlink(world.path('wiped.fails'))
    c.fettle('repair', 'move', 'human_intervention', 's1', '--reason', 'the drive is unlocked')
    wait_wiped(c, 's1')
    c.fettle('conform', 'approve', 's1')
    moves = [(e['from'], e['to'], e.get('outcome')) for e in c.journal() if e['what'] == 'repair.step' and 'wipe' in
             (e['from'], e['to'])]
    equal(moves, [('none', 'wipe', None), ('wipe', 'provision', 'done'), ('none', 'wipe', None),
                  ('wipe', 'quarantine', 'failed'), ('none', 'wipe', None), ('wipe', 'provision', 'done')], 'the journal')
    equal([e['outcome'] for e in c.journal() if e['what'] == 'effect.result' and e.get('outcome') in ('done', 'failed')],
          ['done', 'failed', 'done'], 'what became of each wipe')


main()
