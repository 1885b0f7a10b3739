# SPDX-License-Identifier: Apache-2.0
"""What follows from drift: who is held, who counts as down, what has to be approved; and that neither a
restart nor a mass of drift does harm."""
import os
import time

from fleet import (CMDLINE, SENSITIVE, SWAPPINESS, WRONG, alike, certificates, change, diff, entries, fix, fleet,
                   recorded, wait_conformance, wait_drift)
from harness import contains, equal, holds, main, wait


def test_a_sensitive_node_is_held_until_somebody_approves(world):
    """Draining at once, with the entry before the effect; fixed, verified and approved before it is free."""
    c, _ = fleet(world, ['n01', 'n02'], nodes=SENSITIVE + 'Name=n01\nName=n02\n')
    alike(c, ['n01', 'n02'])
    change(world, 'n02', CMDLINE, WRONG)
    c.wait_nodes('it is taken out of service', ['n02'], State='DRAINED', Schedulable=False)
    contains(c.node('n02')['Why'], 'kernel.cmdline', 'why it takes no work')
    equal(len(entries(c, 'conform.drift')), 1, 'entries of the drift')
    contains(c.fettle('conform', 'approve', 'n02', status=3), 'n02', 'approving a drifted node')
    claim = c.get('/v1/nodes/n02')['claims'][0]['id']
    contains(c.fettle('node', 'undrain', 'n02', '--claim', claim, status=5), 'conform approve', 'undraining it')

    fix(world, 'n02')
    wait_conformance(c, ['n02'], 'conformant')
    wait_drift(c, 'n02', 'remedied')
    holds('it stays out of service', 2, lambda: c.node('n02')['State'] == 'DRAINED')

    who = certificates(world, c, ann='reader', bob='admin')
    status, answer = c.ask_https('POST', '/v1/conform/approve', {'nodes': 'n02'}, **who['ann'])
    equal(status, 403, f'approval by a reader: {answer}: the status')
    equal(c.node('n02')['State'], 'DRAINED', 'the state after a reader tried')
    status, answer = c.ask_https('POST', '/v1/conform/approve', {'nodes': 'n02', 'reason': 'looked at it'}, **who['bob'])
    equal(status, 200, f'approval by an admin: {answer}: the status')
    c.wait_nodes('it is back', ['n02'], State='IDLE', Schedulable=True)
    equal([e['actor'] for e in entries(c, 'conform.approve')], ['bob'], 'who approved')


def test_a_sensitive_node_that_works_is_left_to_end_its_work(world):
    c, _ = fleet(world, ['n01', 'n02'], nodes=SENSITIVE + 'Name=n01\nName=n02\n')
    alike(c, ['n01', 'n02'])
    job = world.write('n02/run/fettle/work/job.7', '')
    c.wait_nodes('it works', ['n02'], State='BUSY')
    change(world, 'n02', CMDLINE, WRONG)
    c.wait_nodes('it takes no new work', ['n02'], State='DRAINING', Schedulable=False)
    equal(c.node('n02')['Work'], 'busy', 'the work')
    os.remove(job)
    c.wait_nodes('its work has ended', ['n02'], State='DRAINED')


def test_drift_outlives_the_controller_and_a_new_one_makes_none(world):
    """Neither kill -9 of the controller nor a new agent ends a drift, and no node drifts because of them."""
    c, agents = fleet(world, ['n01', 'n02', 'n03'])
    alike(c, ['n01', 'n02', 'n03'])
    change(world, 'n03', CMDLINE, WRONG)
    wait_drift(c, 'n03', 'open')
    since = diff(c, 'n03')['drift']['since']
    for _ in range(2):
        c.process.kill()
        c.start()
        equal(c.node('n03')['Conformance'], 'drifted', 'before it was heard again')
        c.wait_nodes('they are heard', list(agents), Liveness='live')
        wait_conformance(c, ['n01', 'n02'], 'conformant')
    agents['n03'].process.kill()
    agents['n03'].start()
    wait('it is back', lambda: agents['n03'].process.log().count('reports to controller') == 4)
    wait('it said what it is', lambda: diff(c, 'n03')['different'] == 1)
    equal(diff(c, 'n03')['drift']['since'], since, 'since when it is drifted')
    equal(len(entries(c, 'conform.drift')), 1, 'entries of the drift')


def test_overdue_drift_takes_the_node_down(world):
    """A node whose drift is not corrected in time counts as down until somebody approves it."""
    c, _ = fleet(world, ['n01', 'n02'], DriftTimeout='2s', MaxDriftShare=100)
    alike(c, ['n01', 'n02'])
    events = c.events()
    change(world, 'n02', SWAPPINESS, '60\n')
    contains(events.wait('alarm.drift', nodes='n02')['text'], 'time', 'the alarm')
    events.close()
    c.wait_nodes('it is down', ['n02'], State='DOWN', Lifecycle='down')
    c.process.kill()
    c.start()
    equal(c.node('n02')['State'], 'DOWN', 'the state after a restart')
    fix(world, 'n02', SWAPPINESS)
    wait_conformance(c, ['n02'], 'conformant')
    holds('it stays down', 2, lambda: c.node('n02')['State'] == 'DOWN')
    c.fettle('conform', 'approve', 'n02')
    c.wait_nodes('it is back', ['n02'], State='IDLE')


def test_drift_of_a_rollout_is_not_overdue(world):
    names = ['n01', 'n02', 'n03']
    c, _ = fleet(world, names, DriftTimeout='6s', MaxDriftShare=100)
    alike(c, names)
    began = time.monotonic()
    change(world, 'n02', CMDLINE, WRONG)
    change(world, 'n03', SWAPPINESS, '60\n')  # neither what was nor what is to be
    wait_drift(c, 'n03', 'open')
    recorded(c, 'the rollout begins', 'baseline', 'rollout', 'start', 'plain', '--to', 'n02', '--nodes', 'n[02-03]',
             '--deadline', '1h')
    holds('it is not down', began + 10 - time.monotonic(), lambda: c.node('n03')['State'] == 'IDLE')
    equal(diff(c, 'n03')['drift']['state'], 'open', 'its drift')
    c.fettle('baseline', 'rollout', 'revert', 'plain')
    c.wait_nodes('without the rollout they are late', ['n02', 'n03'], State='DOWN')


def test_mass_drift_takes_nobody_down(world):
    """Too many of a class at once: an alarm, and no harm until they are fewer."""
    names = [f'n{i:02}' for i in range(1, 9)]
    c, _ = fleet(world, names, DriftTimeout='6s')
    alike(c, names)
    events = c.events()
    began = time.monotonic()
    for n in ('n01', 'n02', 'n03'):
        change(world, n, SWAPPINESS, '60\n')
    contains(events.wait('alarm.drift', nodes='')['text'], '3 of 8', 'the alarm')
    holds('nobody is down', began + 9 - time.monotonic(), lambda: all(n['State'] == 'IDLE' for n in c.table().values()))
    c.process.kill()  # nor is a restart the moment for it
    c.start()
    holds('nobody is down after a restart', 3, lambda: not entries(c, 'conform.overdue'))
    for n in ('n02', 'n03'):
        fix(world, n, SWAPPINESS)
    wait_conformance(c, ['n02', 'n03'], 'conformant')
    c.wait_nodes('the one that is left is judged', ['n01'], State='DOWN')
    equal([e['nodes'] for e in entries(c, 'conform.overdue')], ['n01'], 'who was too late')
    events.close()


def test_drift_that_comes_and_goes_is_not_taken_as_gone(world):
    """The third time within an hour the node has to stay right for a while; nobody is told at each turn."""
    c, _ = fleet(world, ['n01', 'n02'], classes='Class=strict Nodes=n[01-09] Drifted=exclude\n')
    alike(c, ['n01', 'n02'])
    for turn in range(2):
        change(world, 'n02', SWAPPINESS, '60\n')
        wait_drift(c, 'n02', 'open')
        equal(diff(c, 'n02')['flaps'], False, f'whether it flaps at turn {turn}')
        fix(world, 'n02', SWAPPINESS)
        wait('the drift is over', lambda: not c.node('n02')['Drift'])
    change(world, 'n02', SWAPPINESS, '60\n')
    wait_drift(c, 'n02', 'open')
    equal(diff(c, 'n02')['flaps'], True, 'whether it flaps at the third time')
    fix(world, 'n02', SWAPPINESS)
    wait('it is as the baseline says', lambda: diff(c, 'n02')['different'] == 0)
    holds('its drift stands', 4, lambda: diff(c, 'n02')['drift']['state'] == 'open' and not c.node('n02')['Schedulable'])
    contains(c.fettle('conform', 'why-not', 'n02'), 'comes and goes', 'why not')
    contains(c.fettle('conform', 'diff', 'n02'), 'Flaps', 'the difference')
    equal((len(entries(c, 'conform.drift')), len(entries(c, 'conform.restored'))), (3, 2), 'entries of its turns')


main(at_once=3)
