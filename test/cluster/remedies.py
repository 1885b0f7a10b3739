# SPDX-License-Identifier: Apache-2.0
"""Remedies beyond the plain way: one that is tried to learn of it, one that has to follow another, nodes that a person
takes out of the configuration meanwhile, and findings that are hours old."""
import os

from fleet import boot_id, change
from harness import BOOT, CALM, Agent, Controller, Link, contains, equal, holds, main, wait
from ward import (CHECKS, RULES, incidents, kernel_says, mount, repair, step, steps, unmount, wait_step,
                  ward)

QUIET = {'SurgeNodes': 1000, 'SharedNodes': 1000}
XID = 'NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, name=python3, GPU has fallen off the bus.'
CHECKS_FRAME = 19
HOURS_MS = 5 * 3600 * 1000


def wait_mended(c, nodes, tries):
    c.wait_nodes('they are back', nodes, Lifecycle='available', Health='ok', Schedulable=True)
    wait('each had its remedy', lambda: all(len((repair(c, n) or {}).get('attempts', [])) >= tries for n in nodes))


def test_a_remedy_with_few_outcomes_is_tried_now_and_then(world):
    nodes = [f'n{i:02}' for i in range(1, 7)]
    known = 'Remedy=known MOUNT Confidence=90% Because="it always did" Takes=1s Disturbs=0 Tries=32 Settle=1s'
    other = known.replace('=known', '=other').replace('90%', '20%')
    c, _ = ward(world, nodes, remedy=[known, other], Explore=50, RemediesAWeek=30, **QUIET)

    def tried(name):
        return {n for n in nodes for a in repair(c, n)['attempts'] if a['remedy'] == name}
    for rounds in range(1, 6):  # which it is has no rule that a test could know
        for n in nodes:
            unmount(world, n)
        wait_mended(c, nodes, rounds)
        wait('all helped', lambda: all(a['verdict'] == 'helped' for n in nodes for a in repair(c, n)['attempts']))
        if tried('other'):
            break
    equal(len(tried('known')), len(nodes), 'who had what is known to help')
    contains(' '.join(s for n in nodes for s in steps(c, n)), 'to learn about it', 'why one was taken')


def test_a_remedy_that_has_to_follow_follows_at_once(world):
    """Both remedies are carried out in their order, and the first does not count as failed because the second came."""
    log = world.path('done')
    c, _ = ward(world, ['n1'], remedy=[
        f'Remedy=firmware Run="node:echo firmware >>{log}" Helps=scratch Needs=nothing Confidence=90% Because="it is '
        'old" Takes=1s Disturbs=0 After=reset Settle=1s',
        f'Remedy=reset Run="node:echo reset >>{log}; cp {world.dir}/n1.mounted {world.dir}/n1/proc/self/mountinfo" '
        'Helps=nothing Needs=nothing Confidence=10% Because="it follows" Takes=1s Disturbs=0 Settle=1s'])
    unmount(world, 'n1')
    wait('both are judged', lambda: [a['verdict'] for a in (repair(c, 'n1') or {}).get('attempts', [])]
         == ['helped', 'helped'])
    with open(log, encoding='utf-8') as f:
        equal(f.read().split(), ['firmware', 'reset'], 'what was done')
    equal([(a['remedy'], a['done']) for a in repair(c, 'n1')['attempts']], [('firmware', True), ('reset', True)],
          'the attempts')
    wait_mended(c, ['n1'], 2)


def test_a_person_wants_a_node_in_service(world):
    """By command: also over a restart, for what was wrong then, and until the person says otherwise."""
    c, _ = ward(world, ['n1', 'n2'])
    for n in ('n1', 'n2'):
        unmount(world, n)
        wait_step(c, n, 'queue')
    c.fettle('override', 'set', 'n1', '--reason', 'the demo needs it')
    c.wait_nodes('it is in service', ['n1'], Lifecycle='available', Health='fatal', Claims=0)
    contains(c.node('n1')['Override'], 'root (command) for another ', 'what is known of it')
    contains(c.fettle('override', 'list'), 'scratch mount /scratch (fatal)', 'the list')
    c.process.kill()
    c.start()
    c.wait_nodes('it is heard again', ['n1'], Lifecycle='available', Liveness='live', Health='fatal')
    holds('it stays in service', 3, lambda: c.node('n1')['Lifecycle'] == 'available')
    c.fettle('override', 'end', 'n1', '--reason', 'the demo is over')
    wait_step(c, 'n1', 'queue')
    equal([e['what'] for e in c.journal() if e['what'].startswith('override.')], ['override.set', 'override.end'],
          'what the journal has')
    contains(c.fettle('override', 'end', 'n1', '--reason', 'twice', status=3), 'has no override', 'the refusal')


def test_a_remedy_that_needs_the_node_idle_waits_for_work_on_a_node_that_is_lost(world):
    """Whatever it is done for. What needs nothing need not wait on such a node."""
    done = world.path('done')
    line = (f'Remedy=NAME Run="node:echo NAME >>{done}" Helps=HELPS Needs=NEEDS Confidence=80% Because="it is there" '
            'Takes=1s Disturbs=5 Tries=1')
    remedy = [line.replace('NAME', name).replace('HELPS', helps).replace('NEEDS', needs)
              for name, helps, needs in (('reset', 'xid.79', 'idle'), ('poke', 'xid.95', 'nothing'))]
    meanings = world.write('meanings.conf', 'Xid=95 Act=lost Because="here it is"\n')
    c, _ = ward(world, ['n1', 'n2'], remedy=remedy, MeaningConf=meanings, **QUIET)
    jobs = {n: world.write(f'{n}/run/fettle/work/job.7', '') for n in ('n1', 'n2')}
    c.wait_nodes('they work', ['n1', 'n2'], State='BUSY')
    kernel_says(world, 'n1', XID)
    kernel_says(world, 'n2', XID.replace(': 79,', ': 95,'))
    for n in ('n1', 'n2'):
        c.wait_nodes('it is lost', [n], Health='lost')
    wait('what needs nothing is done under the work', lambda: os.path.exists(done))
    holds('nothing else is done', 3, lambda: step(c, 'n1') == 'isolate' and not repair(c, 'n1')['attempts'])
    contains(c.fettle('remedy', 'explain', 'n1'), 'work runs', 'the explanation')
    os.remove(jobs['n1'])
    wait('it is done', lambda: [a['done'] for a in repair(c, 'n1')['attempts']] == [True])
    with open(done, encoding='utf-8') as f:
        equal(f.read().split(), ['poke', 'reset'], 'what was done')


def test_a_fault_that_only_another_boot_ends_is_not_cured_on_this_one(world):
    """A remedy was carried out and did nothing. The kernel's finding of this boot stands."""
    line = ('Remedy=nothing Run="node:true" Helps=xid.* Needs=nothing Confidence=80% Because="nobody knows" Takes=1s '
            'Disturbs=0 Tries=1')
    c, agents = ward(world, ['n1', 'n2'], remedy=line, **QUIET)
    kernel_says(world, 'n1', XID)
    kernel_says(world, 'n2', XID.replace(': 79,', ': 95,'))  # a reset of the device ends that one
    c.wait_nodes('the reset helped', ['n2'], Lifecycle='available', Health='ok')
    wait_step(c, 'n1', 'queue')
    wait('what was tried is judged', lambda: [(a['remedy'], a['done'], a['verdict']) for a in repair(c, 'n1')['attempts']] ==
         [('nothing', True, 'failed')])
    equal([s for s in steps(c, 'n1') if 'back in service' in s], [], 'its steps')
    agents['n1'].process.stop()
    change(world, 'n1', 'proc/sys/kernel/random/boot_id', boot_id() + '\n')
    world.write('n1/dev/kmsg', '')
    agents['n1'].start()
    wait('it is well on another boot', lambda: not incidents(c, 'n1'))
    c.fettle('queue', 'resolve', 'n1', '--reason', 'booted')
    c.wait_nodes('it is back', ['n1'], Lifecycle='available', Health='ok')


def test_a_person_puts_something_right_without_a_boot(world):
    """Earlier findings of the kernel's log do not count against the node any more; later ones do."""
    c, agents = ward(world, ['n1'])
    kernel_says(world, 'n1', XID)
    wait_step(c, 'n1', 'queue')
    said = c.fettle('queue', 'resolve', 'n1', '--reason', 'the GPU was reset')
    contains(said, 'n1: still missing: kernel ', 'what is said at once')
    c.wait_nodes('it is back, on the same boot', ['n1'], Lifecycle='available', Health='ok', Schedulable=True)
    contains(' '.join(e['text'] for e in c.journal() if e['what'] == 'repair.transition'), 'by that word', 'the journal')
    agents['n1'].process.stop()
    agents['n1'].start()
    c.wait_nodes('it is well after a restart of its agent', ['n1'], Liveness='live', Lifecycle='available', Health='ok')
    equal([i['findings'][0]['code'] for i in incidents(c, 'n1')], [], 'incidents')
    kernel_says(world, 'n1', XID)
    wait_step(c, 'n1', 'queue')


def test_a_person_puts_single_findings_right(world):
    """The named findings are closed, judged anew, and forgotten by device; the others keep the node in the queue."""
    c, agents = ward(world, ['n1'])
    xid, other, scratch = ('xid.79', 'gpu 0000:9b:00'), ('xid.79', 'gpu 0000:3b:00'), ('scratch', 'mount /scratch')

    def still_open():
        return {(f['code'] or f['check'], f['device']) for i in incidents(c, 'n1') for f in i['findings']}

    def resolve(*findings, status=0):
        return c.fettle('queue', 'resolve', 'n1', *findings, '--reason', 'put right', status=status)
    kernel_says(world, 'n1', XID)
    kernel_says(world, 'n1', XID.replace('9b', '3b'))
    wait('both GPUs are', lambda: still_open() == {xid, other})  # findings are named in the order in which they came
    unmount(world, 'n1')
    wait('all of it is open', lambda: still_open() == {xid, other, scratch} and step(c, 'n1') == 'queue')
    contains(resolve('xid.79 gpu 0000:aa:00', status=4),
             'no finding "xid.79 gpu 0000:aa:00" is open on node "n1"; open are: xid.79 gpu ', 'what is not open')
    said = resolve('xid.79 gpu 0000:9b:00')
    contains(said, "n1: still missing: a person's word on xid.79 gpu 0000:3b:00 (lost), scratch mount /scratch (fatal)\n",
             'what is said at once')
    holds('it is not told again', 3, lambda: still_open() == {other, scratch} and step(c, 'n1') == 'queue')
    agents['n1'].process.stop()
    agents['n1'].start()
    c.wait_nodes('it is heard again', ['n1'], Liveness='live')
    holds('nor by an agent that starts', 3, lambda: still_open() == {other, scratch})
    before = {i['id'] for i in incidents(c, 'n1')}
    resolve('scratch')
    wait('a check that looks again finds it again', lambda: still_open() == {other, scratch} and
         len({i['id'] for i in incidents(c, 'n1')} - before) == 1)
    kernel_says(world, 'n1', XID)
    wait('what comes again is open again', lambda: still_open() == {xid, other, scratch})
    mount(world, 'n1')
    wait('its check says that it is well', lambda: still_open() == {xid, other})
    equal(step(c, 'n1'), 'queue', 'the step')
    resolve('xid.79')
    c.wait_nodes('it is back, on the same boot', ['n1'], Lifecycle='available', Health='ok', Schedulable=True)


def test_a_shared_cause_grows_and_what_it_used_up_is_given_back(world):
    """Twelve nodes lose the same mount: three early, whose remedy does not help and who are queued."""
    nodes = [f'n{i:02}' for i in range(1, 13)]
    c, _ = ward(world, nodes, remedy='Remedy=mend Run=node:true Helps=scratch Needs=nothing Confidence=80% Tries=1 '
                'Because="a try" Takes=1s Disturbs=0 Settle=1s', SurgeNodes=1000, SharedNodes=5)
    for n in nodes[:3]:
        unmount(world, n)
        wait_step(c, n, 'queue')
    for n in nodes[3:]:
        unmount(world, n)
    wait('all are known to have it', lambda: [s['nodes'] for s in c.get('/v1/incidents')['shared']] == ['n[01-12]'], 60)
    c.fettle('queue', 'take', 'n03')
    for n in nodes:
        mount(world, n)
    c.wait_nodes('they are back by themselves', [n for n in nodes if n != 'n03'], Lifecycle='available', Health='ok',
                 Schedulable=True, within=60)
    equal([a['verdict'] for n in nodes[:2] for a in repair(c, n)['attempts']], 2 * ['not counted'], 'what was tried')
    contains(' '.join(steps(c, 'n01')), 'a cause that it shared', 'why it came back')
    equal(repair(c, 'n03')['step'], 'queue', 'the one that a person took')


def test_nodes_that_are_taken_out_of_the_configuration(world):
    """In each step: nothing is done to them, and when they are back their repair goes on where it was."""
    mend = world.write('mend', f'#!/bin/sh\necho . >>{world.dir}/$FETTLE_NODE.count\n'
                               f'while test -e {world.dir}/hold; do sleep 0.05; done\n'
                               f'cp {world.dir}/$FETTLE_NODE.mounted {world.dir}/$FETTLE_NODE/proc/self/mountinfo\n')
    os.chmod(mend, 0o755)
    hold = world.write('hold', '')
    nodes = {'n1': 'isolate', 'n2': 'remedy', 'n3': 'queue', 'n4': 'none'}
    line = (f'Remedy=mend Run="node:{mend}" Helps=scratch Needs=idle Confidence=80% Because="it is there" Takes=1s '
            'Deadline=5m Disturbs=0 Tries=1')
    c, _ = ward(world, list(nodes), remedy=line, **QUIET)
    job = world.write('n1/run/fettle/work/job.7', '')
    c.wait_nodes('it works', ['n1'], State='BUSY')
    for n in ('n1', 'n2'):
        unmount(world, n)
    kernel_says(world, 'n3', XID)
    wait('n2 is being mended', lambda: os.path.exists(world.path('n2.count')))
    for n, word in nodes.items():
        wait_step(c, n, word)
    c.write(nodes='Name=n4\n')
    c.fettle('reload')
    os.remove(job)
    os.remove(hold)
    unmount(world, 'n4')  # who is left is seen to
    wait_mended(c, ['n4'], 1)
    equal(os.path.exists(world.path('n1.count')), False, 'something was done to who is in no configuration')
    equal(step(c, 'n1'), 'isolate', 'the step')
    c.process.kill()
    c.start()
    c.write(nodes=''.join(f'Name={n}\n' for n in nodes))
    c.fettle('reload')
    wait_mended(c, ['n1', 'n2', 'n4'], 1)
    wait_step(c, 'n3', 'queue')
    for n in ('n1', 'n2', 'n4'):
        with open(world.path(f'{n}.count'), encoding='utf-8') as f:
            equal(f.read().split(), ['.'], f'how often {n} was mended')


def test_a_finding_that_is_hours_old_takes_no_node_out(world):
    """The finding comes from a queue that was cut off. It is recorded, and a fresh look has to find the same."""
    c = Controller(world, 'Name=n1\n', **{**CALM, **RULES, 'CheckConf': world.write('checks.conf', CHECKS)})
    agent = Agent(world, c, 'n1', start=False)
    link = Link(c.port, *agent.certificate())
    link.hello('n1', '0123456789abcdef')
    link.expect('WELCOME')

    def says(result, age_ms, full=False):
        finding = {'findings': [{'result': result, 'device': 'mount /scratch', 'text': 'it is gone'}]}
        link.heartbeat('0123456789abcdef', says.seq)
        says.seq += 1
        link.send(CHECKS_FRAME, boot=BOOT, list='', full=full, checks=[
            {'check': 'scratch', 'result': result, 'age_ms': age_ms, **(finding if result != 'ok' else {})},
            {'check': 'kernel', 'result': 'ok', 'age_ms': 0}])
    says.seq = 1
    says('ok', 0, full=True)
    c.wait_nodes('it is in service', ['n1'], Liveness='live', Lifecycle='available')
    holds('it stays in service', 3, lambda: (says('fatal', HOURS_MS), c.node('n1')['Lifecycle'] == 'available')[1])
    equal(step(c, 'n1'), 'none', 'the step of its repair')
    says('fatal', 0)
    wait_step(c, 'n1', 'queue')
    equal(len(incidents(c, 'n1')), 1, 'incidents')
    link.close()


main(at_once=3)
