# SPDX-License-Identifier: Apache-2.0
"""Many nodes ill at once, for whatever reason: nobody takes the cluster out of service, and people are told."""
import json
import os

from harness import check, contains, equal, holds, main, wait
from ward import CHECKS, health, incidents, mount, repair, step, steps, unmount, wait_health, wait_step, ward

NODES = [f'n{i:02}' for i in range(1, 21)]
FEW = NODES[:12]
# As a site has it that sets nothing, but for a budget that lets two of twenty out.
USUAL = {'MaxOut': 10, 'MaxOutClass': None, 'MaxOutGroup': None, 'MaxOutPartition': None}
PATIENT = {**USUAL, 'SurgeNodes': 1000, 'SharedNodes': 1000}
REMEDY = 'Remedy=mount.scratch MOUNT Confidence=80% Because="it is there, and only not mounted" Takes=5s Disturbs=0'


def out(c, names):
    """The nodes that were taken out of service."""
    table = c.table('Name,Lifecycle')
    return [n for n in names if table[n]['Lifecycle'] != 'available']


def wait_alarm(c, name):
    return wait(f'alarm.{name} is told', lambda: c.log_lines(f' alarm.{name}'))


def wait_ill(c, names):
    """All incidents are recorded; one or the other may have been repaired before it was seen to be shared."""
    wait('all incidents are recorded', lambda: all(incidents(c, n) or health(c, n)['past'] for n in names))


def test_a_broken_check_rolled_out_everywhere(world):
    c, _ = ward(world, FEW, **USUAL)
    broken = world.write('broken', '#!/bin/sh\necho syntax error near unexpected token\nexit 2\n')
    os.chmod(broken, 0o755)
    world.write('checks.conf', CHECKS + f'Check=new Probe=plugin Run={broken} Every=1s\n')
    c.fettle('reload')
    wait_alarm(c, 'shared')
    wait_ill(c, FEW)
    holds('hardly anybody is out', 5, lambda: len(out(c, FEW)) <= 1)
    check(not any(repair(c, n)['attempts'] for n in FEW if repair(c, n)), 'something was done')
    world.write('checks.conf', CHECKS)
    c.fettle('reload')
    wait_health(c, FEW, 'ok')
    wait('all incidents are closed', lambda: not any(incidents(c, n) for n in FEW))
    for n in out(c, FEW):
        if step(c, n) == 'queue':
            c.fettle('queue', 'resolve', n, '--reason', 'the check was broken')
    c.wait_nodes('all are in service', FEW, Lifecycle='available', Schedulable=True)


def test_a_tool_that_is_missing_everywhere(world):
    c, _ = ward(world, FEW, checks=CHECKS + f'Check=tool Probe=plugin Run={world.dir}/no-such-tool Every=1s\n', **USUAL)
    said = json.loads(c.fettle('check', 'show', 'n01', '--all', '--json'))
    contains(json.dumps(said), 'unsupported', 'what the check says')
    holds('nothing follows', 4, lambda: not out(c, FEW) and not any(incidents(c, n) for n in FEW))
    equal(c.log_lines(' alarm.'), [], 'alarms')


def test_the_same_fault_on_all_is_one_cause(world):
    c, _ = ward(world, NODES, remedy=REMEDY, **{**USUAL, 'MaxOut': 100, 'MaxOutClass': 100, 'MaxOutPartition': 100})
    for n in NODES:
        unmount(world, n)
    wait_alarm(c, 'shared')
    check(any(a.startswith('shared ') for a in c.alarms()), f'no shared cause among the alarms {c.alarms()}')
    wait_ill(c, NODES)
    holds('most are in service', 4, lambda: len(out(c, NODES)) < 10)
    for n in NODES:
        mount(world, n)
    wait_health(c, NODES, 'ok')
    wait('all incidents are closed', lambda: not any(incidents(c, n) for n in NODES))
    wait('no alarm of it is left', lambda: not any(a.startswith('shared ') for a in c.alarms()))
    for n in NODES:
        if step(c, n) == 'queue':
            c.fettle('queue', 'resolve', n, '--reason', 'the server is back')
    c.wait_nodes('all are in service', NODES, Lifecycle='available', Schedulable=True)


def own_checks(world):
    """A check for each node that nobody else has, so that nothing is shared."""
    plugin = world.write('own', f'#!/bin/sh\ntest ! -e {world.dir}/$FETTLE_NODE.bad && exit 0\necho it is bad\nexit 2\n')
    os.chmod(plugin, 0o755)
    return ''.join(f'Check=own-{n} Probe=plugin Run={plugin} Every=1s Nodes={n}\n' for n in NODES)


def test_many_different_faults_trip_the_latch(world):
    c, _ = ward(world, NODES, checks=own_checks(world), SurgeNodes=6)
    for n in NODES:
        world.write(f'{n}.bad', '')
    wait_alarm(c, 'surge')
    wait_ill(c, NODES)
    contains(c.fettle('brake', 'list'), 'would have been isolated', 'the brakes')
    holds('nobody follows', 3, lambda: len(out(c, NODES)) < 6)
    c.process.kill()
    c.start()  # it is on the disk
    c.wait_nodes('all are heard', NODES, Liveness='live')
    holds('nobody follows', 3, lambda: len(out(c, NODES)) < 6)
    for n in NODES[3:]:
        os.remove(world.path(f'{n}.bad'))
    c.wait_nodes('most are well', NODES[3:], Health='ok')
    wait('the alarm is told anew', lambda: 'surge' in c.alarms())
    c.fettle('brake', 'release', 'latch', '--reason', 'it was the power')
    wait('the alarm ends', lambda: 'surge' not in c.alarms() and c.log_lines('alarm.over', 'released the latch'))
    for n in NODES[:3]:
        wait_step(c, n, 'queue')


def test_a_restart_gives_the_surge_no_room(world):
    few = NODES[:4]
    c, _ = ward(world, few, checks=own_checks(world), SurgeNodes=3)
    for n in few[:2]:
        world.write(f'{n}.bad', '')
        wait_step(c, n, 'queue')
        c.process.kill()
        c.start()
        c.wait_nodes('all are heard', few, Liveness='live')
    world.write(f'{few[2]}.bad', '')
    wait_alarm(c, 'surge')
    equal(out(c, few), few[:2], 'who is out')


def test_budgets_hold_and_who_waits_goes_next(world):
    c, _ = ward(world, NODES, checks=own_checks(world), **PATIENT)
    ill = NODES[:6]
    for n in ill:
        world.write(f'{n}.bad', '')
    wait_alarm(c, 'budget')
    wait_ill(c, ill)
    wait('two are out', lambda: len(out(c, NODES)) == 2)
    holds('no more than two are out', 3, lambda: len(out(c, NODES)) <= 2)
    while ill:
        n = wait('somebody is in the queue', lambda: [n for n in out(c, ill) if step(c, n) == 'queue'])[0]
        os.remove(world.path(f'{n}.bad'))
        c.fettle('queue', 'resolve', n, '--reason', 'repaired')
        ill.remove(n)
        check(len(out(c, NODES)) <= 2, 'more than two are out')
    c.wait_nodes('all are in service', NODES, Lifecycle='available', Schedulable=True)
    wait('the alarm is over', lambda: c.log_lines(' alarm.over'))
    wait('no alarm is left', lambda: c.alarms() == [])


def test_a_lemon_is_a_person_s_in_the_end(world):
    c, _ = ward(world, ['n01', 'n02'], remedy=REMEDY + ' Tries=32 Settle=1s', RemediesAWeek=3)
    for tried in range(1, 4):
        unmount(world, 'n01')
        wait(f'it was mended for the {tried}. time', lambda: len((repair(c, 'n01') or {}).get('attempts', [])) == tried
             and step(c, 'n01') == 'none')
        c.wait_nodes('it is back', ['n01'], Lifecycle='available', Health='ok')
    unmount(world, 'n01')
    wait_step(c, 'n01', 'queue')
    contains(' '.join(steps(c, 'n01')), 'it had 3 remedies within a week', 'the steps')
    equal(len(repair(c, 'n01')['attempts']), 3, 'attempts')
    equal(c.node('n02')['Lifecycle'], 'available', 'the other one')


main(at_once=2)
