# SPDX-License-Identifier: Apache-2.0
"""Checks that the controller schedules on idle nodes: by themselves, in pairs, with one that is examined, and what
ends them."""
import json
import os

from harness import contains, equal, holds, main, wait
from ward import CHECKS, incidents, repair, step, steps, unmount, wait_step, ward

# A plugin that says who runs it with whom, waits while NODE.wait is there, and does what NODE.does says; with
# others also what stands between two nodes, in A,B.does.
PLUGIN = """#!/bin/sh
echo "${{FETTLE_NODES:-$FETTLE_NODE}} ${{FETTLE_RANK:--}} ${{FETTLE_COUNT:--}}" >>{0}/$FETTLE_NODE.ran
while test -e {0}/$FETTLE_NODE.wait; do sleep 0.05; done
for f in $FETTLE_NODE $FETTLE_NODES; do
    test ! -e {0}/$f.does || . {0}/$f.does
done
echo fine
"""
CHECK = 'Check={1} Probe=plugin Run={0}/plugin When=scheduled Deadline=20s Every=30d {2}\n'
EXAM = 'Check=pair Probe=plugin Run={}/plugin When=extensive Deadline=20s Group=2\n'
MOUNTS = 'Remedy=mount.scratch MOUNT Confidence=80% Because="it is only not mounted" Takes=5s Disturbs=0'
FAILS = 'echo "PAIR CRITICAL - 3 GB/s"; exit 2\n'


def trial_ward(world, names, check='burn', more='', begin=True, **settings):
    """A ward in which the check is scheduled when all are there; what MaxTrials says counts from then on."""
    os.chmod(world.write('plugin', PLUGIN.format(world.dir)), 0o755)
    most = settings.pop('MaxTrials', 100)
    c, agents = ward(world, names, checks=CHECKS + CHECK.format(world.dir, check, more), MaxTrials=0, **settings)
    if begin:
        go(c, most)
    return c, agents


def go(c, most=100):
    c.write(MaxTrials=most)
    c.fettle('reload')


def does(world, name, what):
    world.write(f'{name}.does', what)


def ran(world, node):
    """With whom it ran it, each time."""
    try:
        with open(world.path(f'{node}.ran'), encoding='utf-8') as f:
            return f.read().splitlines()
    except FileNotFoundError:
        return []


def wait_ran(world, names, times=1):
    wait(f'it ran on {names}', lambda: all(len(ran(world, n)) >= times for n in names))


def held(c):
    return [n for n, v in c.table('Name,Why').items() if 'trial by' in (v['Why'] or '')]


def wait_over(c, names):
    wait('the trials are over', lambda: all(n['Schedulable'] for n in c.table('Name,Schedulable').values()))
    equal(held(c), [], 'who is held')


def ends(c):
    return [e['text'] for e in c.journal() if e['what'] == 'trial.end']


def test_a_scheduled_check_runs_once_on_each_idle_node(world):
    names = ['n1', 'n2', 'n3']
    c, _ = trial_ward(world, names)
    wait_ran(world, names)
    wait_over(c, names)
    holds('it does not run again', 3, lambda: all(len(ran(world, n)) == 1 for n in names))
    equal(ran(world, 'n1'), ['n1 - -'], 'who runs it')
    equal([e['nodes'] for e in c.journal() if e['what'] == 'trial.begin'], ['n[1-3]'], 'who was held')
    rows = json.loads(c.fettle('check', 'trials', 'burn', '--json'))
    equal([(r['Node'], r['Began'], r['Result']) for r in rows], [(n, None, 'ok') for n in names], 'what came of it')


def test_one_that_fails_is_isolated_with_what_was_found(world):
    c, _ = trial_ward(world, ['n1', 'n2'], begin=False)
    does(world, 'n2', FAILS)
    go(c)
    wait_step(c, 'n2', 'queue')
    contains(json.dumps(incidents(c, 'n2')), '3 GB/s', 'the evidence')
    wait('the other one is back', lambda: c.node('n1')['Schedulable'])
    equal(held(c), [], 'who is held')
    contains(' '.join(ends(c)), 'n2 fatal', 'the journal')
    contains(' '.join(steps(c, 'n2')), 'examine', 'its steps')
    holds('it was tried once more, in the examination', 2, lambda: len(ran(world, 'n2')) == 2)


DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data', 'records')


def test_a_set_runs_as_it_is_and_says_what_its_tools_say(world):
    """Wrong data and a dead GPU are hardware problems with the tool's own words; a tool that cannot start is unknown."""
    outputs = {'n1': ('good', 0), 'n2': ('wrong', 226), 'n3': ('hardware', 226), 'n4': ('itself', 1)}
    script = '#!/bin/sh\ncase $FETTLE_NODE in\n' + ''.join(
        f'{n}) cat {DATA}/dcgm/{name}.txt; exit {status};;\n' for n, (name, status) in outputs.items()) + 'esac\n'
    os.chmod(world.write('bin/dcgmi', script), 0o755)
    world.env['PATH'] = f'{world.path("bin")}:{os.environ["PATH"]}'
    c, _ = ward(world, list(outputs), checks=CHECKS + 'Include=nvidia\n', MaxTrials=100, InconclusiveTries=1)
    for node, said in (('n2', 'GPU Memory: Fail - GPU: 0; Warning: GPU 0 Detected 1 volatile double-bit ECC error(s)'),
                       ('n3', 'Error: GPU 3 has uncorrectable memory errors and row remappings are pending')):
        wait_step(c, node, 'queue')
        equal(repair(c, node)['problem'], 'hardware_problem', f'what {node} is')
        contains(json.dumps(incidents(c, node)), said, f'the evidence of {node}')
    wait('the others ran it', lambda: {(r['Node'], r['Result']) for r in json.loads(
        c.fettle('check', 'trials', 'dcgm-1', '--json'))} >= {('n1', 'ok'), ('n4', 'unknown')})
    equal((incidents(c, 'n1'), incidents(c, 'n4')), ([], []), 'what follows of the others')
    rows = json.loads(c.fettle('check', 'trials', 'gpu-burn', '--where', 'Result!=', '--json'))
    equal([r['Result'] for r in rows], ['unsupported'] * len(rows), 'gpu_burn')


def test_a_missing_tool_is_no_failure_and_counts_as_run(world):
    c, _ = trial_ward(world, ['n1', 'n2'], begin=False)
    does(world, 'n1', 'exit 127\n')
    go(c)
    wait_ran(world, ['n1', 'n2'])
    wait_over(c, ['n1', 'n2'])
    contains(' '.join(ends(c)), 'n1 unsupported', 'the journal')
    holds('it does not run again', 2, lambda: len(ran(world, 'n1')) == 1)
    equal((incidents(c, 'n1'), c.node('n1')['Health']), ([], 'ok'), 'what follows')


def test_a_busy_node_is_left_alone_and_work_ends_a_trial(world):
    c, _ = trial_ward(world, ['n1', 'n2'], begin=False)
    world.write('n1/run/fettle/work/job.7', '')
    c.wait_nodes('it works', ['n1'], State='BUSY')
    world.write('n2.wait', '')
    go(c)
    wait_ran(world, ['n2'])
    holds('the busy one is not touched', 2, lambda: not ran(world, 'n1') and c.node('n1')['State'] == 'BUSY')
    world.write('n2/run/fettle/work/job.8', '')
    wait('the trial ends', lambda: not held(c))
    contains(' '.join(ends(c)), 'work runs on it', 'why')
    holds('it is left alone', 2, lambda: len(ran(world, 'n2')) == 1)


def test_a_person_ends_a_trial_and_may_hold_the_node(world):
    c, _ = trial_ward(world, ['n1', 'n2'], begin=False)
    for n in ('n1', 'n2'):
        world.write(f'{n}.wait', '')
    go(c)
    wait_ran(world, ['n1', 'n2'])
    contains(c.node('n1')['Why'], 'trial by fettled: check burn', 'why it is held')
    contains(c.fettle('check', 'show', 'n1'), 'burn, for', 'what is said of it')
    contains(c.fettle('check', 'trials'), 'burn', 'what runs')
    c.fettle('node', 'drain', 'n1', '--reason', 'bad DIMM')
    c.fettle('node', 'undrain', 'n2')
    wait('nobody is held for it', lambda: not held(c))
    contains(c.node('n1')['Why'], 'bad DIMM', 'why it is held now')
    wait('the other is back', lambda: c.node('n2')['Schedulable'])
    wait('what ran is ended', lambda: c.log_lines('a person took it back', 'held for something else'))
    holds('nobody is held again', 2, lambda: not held(c))


def test_kill_9_in_a_trial_leaves_nothing_held(world):
    names = ['n1', 'n2']
    c, _ = trial_ward(world, names, begin=False)
    for n in names:
        world.write(f'{n}.wait', '')
    go(c)
    wait_ran(world, names)
    equal(sorted(held(c)), names, 'who is held')
    c.process.kill()
    c.start()
    wait('they are let go', lambda: sum('no controller waits' in text for text in ends(c)) >= 2)
    wait_ran(world, names, 2)   # it is due again, and nothing of the old run stands in its way
    for n in names:
        os.remove(world.path(f'{n}.wait'))
    wait_over(c, names)
    equal([n for n in names if len(ran(world, n)) != 2], [], 'who ran it more often')


def test_results_of_nodes_survive_kill_9(world):
    names = ['n1', 'n2']
    c, _ = ward(world, names, MaxTrials=100, checks=CHECKS + 'Check=disk Probe=bench.disk Path=/etc Size=1MiB '
                                                             'When=scheduled Deadline=20s Every=30d\n')
    said = wait('it is written down', lambda: [e['text'] for e in c.journal() if e['what'] == 'bench.measured'], 100)
    equal(said, ['disk of class default: the results of 2 nodes'], 'what the journal says')
    before = c.status()
    c.process.kill()
    c.start()
    after = c.status()
    equal((after['digest'], after['revision']), (before['digest'], before['revision'] + 1), 'digest and revision')


def test_everything_stopped_ends_trials(world):
    c, _ = trial_ward(world, ['n1'], begin=False)
    world.write('n1.wait', '')
    go(c)
    wait_ran(world, ['n1'])
    c.fettle('brake', 'stop', '--reason', 'something is wrong here')
    wait('nobody is held', lambda: not held(c) and c.node('n1')['Schedulable'])
    holds('nobody is held again', 2, lambda: not held(c))


PAIRS = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6']


def test_pairs_that_pass_run_it_once_together(world):
    c, _ = trial_ward(world, PAIRS[:4], check='pair', more='Group=2')
    wait_ran(world, PAIRS[:4])
    wait_over(c, PAIRS[:4])
    equal([ran(world, n) for n in PAIRS[:4]], [['n1,n2 0 2'], ['n1,n2 1 2'], ['n3,n4 0 2'], ['n3,n4 1 2']],
          'who ran it with whom')


def test_a_person_has_nodes_run_it_together(world):
    c, _ = trial_ward(world, PAIRS[:3], check='pair', more='Group=2', begin=False)
    does(world, 'n1,n3', FAILS)
    results = json.loads(c.fettle('check', 'run', 'pair', 'n1,n3', '--json'))
    equal({r['Node']: r['Result'] for r in results}, {'n1': 'fatal', 'n3': 'fatal'}, 'what they said')
    equal((ran(world, 'n1'), ran(world, 'n3'), ran(world, 'n2')), (['n1,n3 0 2'], ['n1,n3 1 2'], []), 'who ran it')
    holds('nothing follows from it', 2, lambda: not incidents(c, 'n1') and not incidents(c, 'n3'))
    contains(c.fettle('check', 'run', 'pair', 'n1', status=2), '2 to 64 nodes', 'one by itself')


def test_a_bad_node_of_a_pair_is_named(world):
    c, _ = trial_ward(world, PAIRS, check='pair', more='Group=2', begin=False)
    # Each node that runs the check with n3 fails, too, and cannot know whose fault it is.
    for n in PAIRS:
        does(world, n, f'case ",$FETTLE_NODES," in *,n3,*) {FAILS.strip()};; esac\n')
    go(c)
    wait_step(c, 'n3', 'queue')
    found = json.dumps(incidents(c, 'n3'))
    contains(found, 'failed with n4 and n', 'the evidence')
    contains(found, 'which passed with others: PAIR CRITICAL - 3 GB/s', 'the evidence')
    others = [n for n in PAIRS if n != 'n3']
    wait('the others are back', lambda: all(c.node(n)['Schedulable'] for n in others))
    equal([n for n in others if incidents(c, n) or repair(c, n)], [], 'who else is blamed')
    equal(held(c), [], 'who is held')


def shared_causes(c):
    return json.loads(c.fettle('incident', 'list', '--where', 'Scope=shared', '-o', 'json'))


def test_a_bad_link_is_shared_and_blames_nobody(world):
    c, _ = trial_ward(world, PAIRS, check='pair', more='Group=2', begin=False)
    does(world, 'n3,n4', FAILS)
    go(c)
    wait('it is said what is wrong', lambda: shared_causes(c))
    shared = shared_causes(c)[0]
    equal((shared['Node'], shared['Severity']), ('n[3-4]', 'fatal'), 'the shared cause')
    contains(shared['What'], 'between n3 and n4', 'where it lies')
    wait_over(c, PAIRS)
    equal([n for n in PAIRS if incidents(c, n) or repair(c, n)], [], 'who is blamed')
    c.restart()
    holds('it is remembered', 2, lambda: shared_causes(c))


def exam_ward(world, names, waits=(), **settings):
    """The extensive stage of n1, which is ill, has a check of two nodes."""
    os.chmod(world.write('plugin', PLUGIN.format(world.dir)), 0o755)
    for n in waits:
        world.write(f'{n}.wait', '')
    return ward(world, names, checks=CHECKS + EXAM.format(world.dir), remedy=MOUNTS, MaxTrials=100, **settings)


def said(c, node):
    return c.fettle('check', 'show', node)


def nothing_left(c, names):
    """No claim, and no record of a trial under way."""
    rows = json.loads(c.fettle('check', 'trials', '--json'))
    return not held(c) and not any(r['Began'] for r in rows) and all(
        n['Schedulable'] for name, n in c.table('Name,Schedulable').items() if name in names)


def wait_nothing_left(c, names):
    wait('nobody is held, and no record says so', lambda: nothing_left(c, names))


def kill(c):
    c.process.kill()
    c.start()


def test_one_that_is_examined_runs_it_with_idle_nodes(world):
    c, _ = exam_ward(world, PAIRS, waits=['n1'])
    world.write('n2/run/fettle/work/job.7', '')
    c.wait_nodes('it works', ['n2'], State='BUSY')
    unmount(world, 'n1')
    wait_ran(world, ['n1', 'n3', 'n4', 'n5'])
    equal((ran(world, 'n1'), ran(world, 'n3')), (['n1,n3 0 2'], ['n1,n3 1 2']), 'who runs it with whom')
    equal((sorted(held(c)), ran(world, 'n2')), (['n3', 'n4', 'n5'], []), 'who is held')
    contains(c.node('n3')['Why'], 'check pair, to examine n1', 'why it is held')
    equal(c.node('n1')['Claims'], 1, 'what holds the one that is examined')
    os.remove(world.path('n1.wait'))
    wait('it is back', lambda: any('back in service' in s for s in steps(c, 'n1')))
    wait_nothing_left(c, [n for n in PAIRS if n != 'n2'])
    equal(len(ran(world, 'n1')), 2, 'how often: before the remedy and after it')
    equal([n for n in PAIRS if incidents(c, n)], [], 'who is blamed')


def test_one_that_fails_with_all_of_them_is_a_hardware_problem(world):
    c, _ = exam_ward(world, PAIRS)
    does(world, 'n1', FAILS)
    for n in PAIRS[1:]:
        does(world, n, f'case ",$FETTLE_NODES," in *,n1,*) {FAILS.strip()};; esac\n')
    unmount(world, 'n1')
    wait_step(c, 'n1', 'queue')
    equal(repair(c, 'n1')['problem'], 'hardware_problem', 'what it is')
    contains(json.dumps(incidents(c, 'n1')), 'failed with n2 and n', 'the evidence')
    wait_nothing_left(c, PAIRS[1:])
    equal([n for n in PAIRS[1:] if incidents(c, n) or repair(c, n)], [], 'who else is blamed')


def test_a_bad_link_to_a_partner_is_not_its_failure(world):
    c, _ = exam_ward(world, PAIRS)
    does(world, 'n1,n2', FAILS)
    unmount(world, 'n1')
    wait('it is back', lambda: any('back in service' in s for s in steps(c, 'n1')))
    contains(shared_causes(c)[0]['What'], 'between n1 and n2', 'where it lies')
    wait_nothing_left(c, PAIRS)
    equal([n for n in PAIRS if incidents(c, n)], [], 'who is blamed')


def test_without_partners_it_is_said_and_then_inconclusive(world):
    c, _ = exam_ward(world, ['n1', 'n2'], ExamineDeadline='6s', InconclusiveTries=2)
    world.write('n2/run/fettle/work/job.7', '')
    c.wait_nodes('it works', ['n2'], State='BUSY')
    unmount(world, 'n1')
    wait('it is said what it waits for', lambda: 'waits for idle nodes to run it with' in said(c, 'n1'))
    wait_step(c, 'n1', 'queue')
    contains(repair(c, 'n1')['why'], 'nobody was free to run pair with it', 'why')
    equal((repair(c, 'n1')['examined'], ran(world, 'n1') + ran(world, 'n2'), held(c)), ('inconclusive', [], []),
          'what came of it')


def test_it_waits_for_as_many_as_can_tell_also_when_the_controller_is_killed(world):
    c, _ = exam_ward(world, PAIRS, waits=['n1'])
    for n in PAIRS[2:]:
        world.write(f'{n}/run/fettle/work/job.7', '')
    c.wait_nodes('they work', PAIRS[2:], State='BUSY')
    unmount(world, 'n1')
    wait('it is said what it waits for', lambda: 'waits for idle nodes to run it with' in said(c, 'n1'))
    holds('nobody is held for it', 4, lambda: not held(c) and step(c, 'n1') == 'examine')
    kill(c)
    wait('it is said again', lambda: 'waits for idle nodes to run it with' in said(c, 'n1'))
    for n in PAIRS[2:4]:
        os.remove(world.path(f'{n}/run/fettle/work/job.7'))
    wait_ran(world, ['n1', 'n3', 'n4'])
    equal((sorted(held(c)), ran(world, 'n5')), (['n2', 'n3', 'n4'], []), 'who is held')
    os.remove(world.path('n1.wait'))
    wait('it is back', lambda: any('back in service' in s for s in steps(c, 'n1')))
    wait_nothing_left(c, PAIRS[:4])


def test_maintenance_and_people_let_the_partners_go(world):
    c, _ = exam_ward(world, PAIRS, waits=['n1', 'n2'])
    unmount(world, 'n1')
    wait_ran(world, ['n1', 'n2'])
    world.write('n2/run/fettle/work/job.8', '')  # one that leaves holds up nobody else, and is no answer
    wait('it is let go', lambda: 'n2' not in held(c))
    c.fettle('repair', 'move', 'maintenance', 'n1', '--reason', 'the provider takes it')
    wait_step(c, 'n1', 'queue')
    wait_nothing_left(c, PAIRS[2:])
    contains(' '.join(ends(c)), 'work runs on it', 'why the one was let go')


def test_kill_9_at_every_step_of_an_examination_with_partners(world):
    """Before anybody is held, when they are, in mid-run, when the answers come, and when they are let go."""
    c, _ = exam_ward(world, PAIRS, waits=PAIRS)
    unmount(world, 'n1')
    wait_step(c, 'n1', 'examine')
    kill(c)
    wait('partners are held', lambda: held(c))
    kill(c)
    wait_ran(world, ['n1'])  # with whoever is free by then
    kill(c)
    wait('what nobody waits for is ended', lambda: any('no controller waits' in text for text in ends(c)))
    times = len(ran(world, 'n1'))
    wait_ran(world, ['n1'], times + 1)
    equal((step(c, 'n1'), c.node('n1')['Claims']), ('examine', 1), 'the one that is examined')
    for n in PAIRS:
        os.remove(world.path(f'{n}.wait'))
    kill(c)
    wait('it passed', lambda: (repair(c, 'n1') or {}).get('examined') == 'pass')
    kill(c)
    wait('it is back', lambda: any('back in service' in s for s in steps(c, 'n1')), 90)
    wait_nothing_left(c, PAIRS)
    equal([n for n in PAIRS if incidents(c, n)], [], 'who is blamed')
    equal([e['nodes'] for e in c.journal() if e['what'] == 'health.findings' and e['nodes'] != 'n1'], [], 'what was found')


main()
