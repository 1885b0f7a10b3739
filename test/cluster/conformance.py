# SPDX-License-Identifier: Apache-2.0
"""What nodes are made of, cohorts, baselines and placement, with real controllers and agents."""
import json
import os

from fleet import (CMDLINE, SWAPPINESS, WRONG, accept, alike, certificates, change, diff, entries, fix, fleet,
                   recorded, wait_conformance, wait_drift)
from harness import check, contains, equal, holds, main, wait


def test_equal_nodes_are_one_cohort_and_a_change_is_named(world):
    """A value that only one node can have does not tell nodes apart; a changed component is named, with the time."""
    names = ['n01', 'n02', 'n03']
    c, _ = fleet(world, names)
    groups = c.get('/v1/conform/groups')['groups']
    equal([(g['nodes'], g['standing']) for g in groups], [('n[01-03]', 'none')], 'the groups')
    equal({n['Conformance'] for n in c.table('Name,Conformance').values()}, {'unknown'}, 'without a baseline')
    contains(c.fettle('conform', 'why-not', 'n01'), 'fettle baseline accept', 'the suggestion')

    contains(accept(c, 'n01', '--reason', 'as', 'installed'), 'version 1', 'accept')
    wait_conformance(c, names, 'conformant')
    change(world, 'n02', SWAPPINESS, '60\n')
    wait_conformance(c, ['n02'], 'drifted')
    d = diff(c, 'n02')
    equal([(x['component'], x['severity'], x['expected']['value'], x['actual']['value'])
           for x in d['differences']], [('sysctl.vm.swappiness', 'minor', '10', '60')], 'what differs')
    wait('the drift is a record', lambda: c.node('n02')['Drift'])
    check(diff(c, 'n02')['differences'][0]['since'], 'since when is not known')
    equal([x['component'] for x in diff(c, 'n01', 'n02')['differences']], ['sysctl.vm.swappiness'], 'n01 and n02')
    contains(c.fettle('conform', 'history', 'n02'), 'sysctl.vm.swappiness', 'the history')
    equal(c.node('n02')['Schedulable'], True, 'a drifted node of this class takes work')
    groups = c.get('/v1/conform/groups?class=plain')['groups']
    equal([(g['nodes'], g['standing']) for g in groups], [('n[01,03]', 'baseline'), ('n02', 'other')], 'the groups')

    fix(world, 'n02', SWAPPINESS)
    wait_conformance(c, ['n02'], 'conformant')
    wait('the drift is over', lambda: not c.node('n02')['Drift'])
    equal(len(entries(c, 'conform.restored', 'n02')), 1, 'entries of the end of the drift')


def test_unknown_is_neither_drift_nor_sameness(world):
    """A component that cannot be read makes a node a group of one, not a drifted one."""
    c, _ = fleet(world, ['n01', 'n02', 'n03'])
    alike(c, ['n01', 'n02', 'n03'])
    for node in ('n02', 'n03'):  # both for the same reason: not even then are they the same
        os.remove(world.path(node, 'var/lib/dpkg/status'))
        os.mkdir(world.path(node, 'var/lib/dpkg/status'))  # there, and not to be read
    wait_conformance(c, ['n02', 'n03'], 'unknown')
    equal([c.node(n)['Cohort'] for n in ('n02', 'n03')], ['', ''], 'cohorts of nodes with something unknown')
    contains(c.fettle('conform', 'why-not', 'n02'), 'package.', 'why not')
    contains(c.fettle('baseline', 'accept', 'n02', status=3), 'package.', 'accepting an unknown node')
    check(diff(c, 'n02', 'n03')['unknown'], 'two unknown nodes do not differ')
    holds('unknown is no drift', 3, lambda: not c.node('n02')['Drift'])
    equal(entries(c, 'conform.drift'), [], 'entries of drift')


def test_an_excluding_class_keeps_new_work_away(world):
    """A drifted node of such a class is drained: what runs there ends first. It is back when it is right again."""
    c, _ = fleet(world, ['n01', 'n02'], classes='Class=strict Nodes=n[01-09] Drifted=exclude\n')
    alike(c, ['n01', 'n02'])
    world.write('n02/run/fettle/work/job.7', '')
    c.wait_nodes('it works', ['n02'], State='BUSY')
    change(world, 'n02', SWAPPINESS, '60\n')
    c.wait_nodes('it takes no new work', ['n02'], Schedulable=False, State='DRAINING')
    contains(c.node('n02')['Why'], 'drifted from baseline strict 1: sysctl.vm.swappiness', 'the reason')
    contains(c.fettle('place', '-N', '2', status=3), '1 held_for_drift', 'placing where it is')
    fix(world, 'n02', SWAPPINESS)
    c.wait_nodes('it takes work again', ['n02'], Schedulable=True, Drift='')


def test_another_class_file_is_taken_at_a_reload(world):
    """A component that the class ignores from now on makes no node differ; a bad file is refused and changes nothing."""
    c, _ = fleet(world, ['n01', 'n02'])
    alike(c, ['n01', 'n02'])
    change(world, 'n02', SWAPPINESS, '60\n')
    wait_drift(c, 'n02', 'open')
    world.write('classes.conf', 'Class=plain Nodes=n[01-09] Ignore=sysctl.vm.*\nClass=plain Minor=x\n')
    said = c.fettle('reload', status=2)
    for part in ('classes.conf:2', 'plain'):
        contains(said, part, 'the complaint')
    holds('the old classes stay in force', 2, lambda: c.node('n02')['Conformance'] == 'drifted')
    world.write('classes.conf', 'Class=plain Nodes=n[01-09] Ignore=sysctl.vm.*\n')
    c.fettle('reload')
    wait_conformance(c, ['n01', 'n02'], 'conformant')
    wait('the drift is over', lambda: not c.node('n02')['Drift'])
    cohorts = {n['Cohort'] for n in c.table('Name,Cohort').values()}
    equal(len(cohorts), 1, f'cohorts by what counts: {cohorts}')
    world.write('classes.conf', 'Class=plain Nodes=n[01-09]\n')
    contains(c.fettle('reload'), 'classes.conf:1: class "plain" names nodes that are not in NodeSpecConf: n[03-09]',
             'the warning')
    wait_drift(c, 'n02', 'open')


def test_a_rolling_update_is_one_campaign(world):
    """Two states are right while it lasts; progress is counted; it ends by accept."""
    names = ['n01', 'n02', 'n03', 'n04']
    c, _ = fleet(world, names)
    alike(c, names)
    change(world, 'n02', CMDLINE, WRONG)
    wait_conformance(c, ['n02'], 'drifted')
    recorded(c, 'the rollout begins', 'baseline', 'rollout', 'start', 'plain', '--to', 'n02', '--nodes', 'n[01-03]',
             '--deadline', '1h')
    wait_conformance(c, ['n02'], 'conformant')
    wait('its drift is over', lambda: not c.node('n02')['Drift'])
    change(world, 'n03', CMDLINE, WRONG)
    change(world, 'n04', CMDLINE, WRONG)
    wait('two of three are updated',
         lambda: c.get('/v1/baselines/plain')['rollout']['progress'] == {'to': 2, 'baseline': 1, 'neither': 0, 'unknown': 0})
    wait_conformance(c, ['n03'], 'conformant')
    wait_conformance(c, ['n04'], 'drifted')  # nobody said that it is updated
    equal(entries(c, 'conform.drift', 'n03'), [], 'entries of drift of a node that was updated')
    contains(c.fettle('baseline', 'accept', 'n02', status=3), 'rollout', 'accepting while it lasts')
    c.process.kill()
    c.start()
    wait_conformance(c, ['n01', 'n02', 'n03'], 'conformant')
    c.fettle('baseline', 'rollout', 'accept', 'plain')
    wait_conformance(c, ['n02', 'n03', 'n04'], 'conformant')
    wait_conformance(c, ['n01'], 'drifted')
    equal(c.get('/v1/baselines/plain')['version'], 2, 'the version')
    contains(c.fettle('baseline', 'diff', 'plain', '1', '2'), 'kernel.cmdline', 'the difference of two versions')
    c.fettle('baseline', 'revert', 'plain')
    wait_conformance(c, ['n01'], 'conformant')
    wait_conformance(c, ['n02', 'n03', 'n04'], 'drifted')


def test_each_role_may_do_its_part(world):
    """Over HTTPS a reader sees everything and changes nothing, a stranger sees nothing."""
    c, _ = fleet(world, ['n01', 'n02'])
    alike(c, ['n01', 'n02'])
    change(world, 'n02', CMDLINE, WRONG)
    wait_drift(c, 'n02', 'open')
    who = certificates(world, c, ann='reader', bob='admin')
    revision = c.status()['revision']
    changes = [('baselines/accept', {'node': 'n02'}), ('baselines/revert', {'class': 'plain'}),
               ('rollouts/start', {'class': 'plain', 'to': 'n02', 'nodes': 'n02', 'deadline': 3600}),
               ('rollouts/accept', {'class': 'plain'}), ('rollouts/revert', {'class': 'plain'}),
               ('conform/approve', {'nodes': 'n02'}), ('conform/recheck', {'nodes': 'n02'})]
    for path, body in changes:
        status, answer = c.ask_https('POST', f'/v1/{path}', body, **who['ann'])
        equal(status, 403, f'{path} by a reader: {answer}: the status')
        status, answer = c.ask_https('POST', f'/v1/{path}', body)
        check(status in (401, 403), f'{path} by a stranger: {status} {answer}')
    reads = ['conform/groups', 'conform/diff/n02', 'conform/history/n02', 'classes', 'baselines/plain', 'place?count=1',
             'slurm/features', 'slurm/constraint?count=1']
    for path in reads:
        status, answer = c.ask_https('GET', f'/v1/{path}', **who['ann'])
        equal(status, 200, f'{path} by a reader: {answer}: the status')
        status, answer = c.ask_https('GET', f'/v1/{path}')
        check(status in (401, 403), f'{path} by a stranger: {status} {answer}')
    equal(c.status()['revision'], revision, 'the revision after all that was refused')
    status, answer = c.ask_https('POST', '/v1/baselines/accept', {'node': 'n02'}, **who['bob'])
    equal(status, 200, f'accept by an admin: {answer}: the status')
    equal([e['actor'] for e in entries(c, 'baseline.accept')], ['root', 'bob'], 'who accepted')
    wait_conformance(c, ['n02'], 'conformant')


def test_placement_prefers_and_requires_sameness(world):
    names = ['n01', 'n02', 'n03', 'n04']
    c, _ = fleet(world, names)
    change(world, 'n01', SWAPPINESS, '60\n')
    wait('two cohorts', lambda: len(c.get('/v1/conform/groups')['groups']) == 2)
    wait('all are fit', lambda: all(n['Schedulable'] for n in c.table('Name,Schedulable').values()))
    place = lambda *words, **options: json.loads(c.fettle('place', *words, '--json', **options))
    p = place('-N', '3')
    equal((p['nodes'], p['f9']), ('n[02-04]', 1), 'three of one cohort')
    p = place('-N', '4')
    equal((p['nodes'], p['f9']), ('n[01-04]', 0.75), 'four of two cohorts')
    contains(c.fettle('place', '-N', '4', '--require-conformance', status=3), '4', 'four that are all the same')
    c.fettle('node', 'drain', 'n03', '-r', 'test')
    equal(place('-N', '2')['nodes'], 'n[02,04]', 'with one drained')
    contains(c.fettle('place', '-N', '5', status=3), '5', 'more than there are')
    constraint = c.fettle('slurm', 'constraint', '-N', '2').strip()
    equal(constraint, c.node('n02')['Cohort'], 'the constraint for two nodes')
    contains(c.fettle('slurm', 'features'), constraint, 'the features')


main()
