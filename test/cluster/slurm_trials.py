# SPDX-License-Identifier: Apache-2.0
"""Scheduled checks in a real Slurm: nodes are drained before, given back after, and a person's word stays."""
import os

from harness import contains, equal, holds, main, wait
from slurm_ward import calls, cancel, is_drained, owner, slurm_ward, submit, wait_job, wait_released
from ward import CHECKS, MOUNT, incidents, repair, step, unmount

PLUGIN = """#!/bin/sh
echo . >>{0}/$FETTLE_NODE.ran
while test -e {0}/$FETTLE_NODE.wait; do sleep 0.05; done
echo fine
"""
CHECK = 'Check=burn Probe=plugin Run={0}/plugin When=scheduled Deadline=60s Every=30d\n'


def lab_of_trials(world, waits=(), **settings):
    """Nothing is scheduled until go."""
    os.chmod(world.write('plugin', PLUGIN.format(world.dir)), 0o755)
    for n in waits:
        world.write(f'{n}.wait', '')
    return slurm_ward(world, checks=CHECKS + CHECK.format(world.dir), MaxTrials=0, **settings)


def go(c):
    c.write(MaxTrials=100)
    c.fettle('reload')


def ran(world, node):
    return os.path.exists(world.path(f'{node}.ran'))


def let_end(world, node):
    os.remove(world.path(f'{node}.wait'))


def held(c):
    return [n for n, v in c.table('Name,Why').items() if 'trial by' in (v['Why'] or '')]


def test_it_runs_while_slurm_has_the_drain_and_the_node_is_given_back(world):
    l, c, _ = lab_of_trials(world, ['c1', 'c2'])
    go(c)
    for n in l.nodes:
        wait(f'it runs on {n}', lambda n=n: ran(world, n))
        equal(is_drained(l, n), True, f'{n} is drained in Slurm while it runs')
        contains(l.reason(n), 'trial by fettled: check burn', 'what Slurm shows')
    for n in l.nodes:
        let_end(world, n)
    for n in l.nodes:
        wait_released(l, n)
    c.wait_nodes('they are back', l.nodes, Lifecycle='available', Schedulable=True)
    job = submit(l, 'c1', 'true')
    wait_job(l, job, 'COMPLETED')
    holds('they are left alone', 2, lambda: not held(c) and not is_drained(l, 'c1'))


def test_a_node_with_a_job_is_not_touched(world):
    l, c, _ = lab_of_trials(world)
    job = submit(l, 'c1')
    wait_job(l, job, 'RUNNING')
    c.wait_nodes('it works', ['c1'], Schedulable=True)
    go(c)
    wait('it runs on the other', lambda: ran(world, 'c2'))
    holds('the one with a job is not touched', 3, lambda: not ran(world, 'c1'))
    equal(calls(world, 'NodeName=c1', 'DRAIN'), [], 'what Slurm was told of it')
    cancel(l, job)
    wait('it runs when the job is over', lambda: ran(world, 'c1'))
    for n in l.nodes:
        wait_released(l, n)


def test_a_node_that_a_person_drained_is_not_touched(world):
    l, c, _ = lab_of_trials(world)
    l.scontrol('update', 'nodename=c1', 'state=drain', 'reason=bad DIMM')
    c.write(MaxTrials=100)
    c.restart()  # which knows nothing of Slurm before it has read the drain
    wait('it runs on the other', lambda: ran(world, 'c2'))
    wait_released(l, 'c2')
    holds('the drained one is left alone', 3, lambda: not ran(world, 'c1') and not held(c))
    equal([e['nodes'] for e in c.journal() if e['what'] == 'trial.begin'], ['c2'], 'who was held')


def test_a_persons_drain_in_the_middle_stays(world):
    l, c, _ = lab_of_trials(world, ['c1', 'c2'])
    go(c)
    for n in l.nodes:
        wait(f'it runs on {n}', lambda n=n: ran(world, n))
    l.scontrol('update', 'nodename=c1', 'state=drain', 'reason=bad DIMM')
    l.scontrol('update', 'nodename=c2', 'state=resume')
    wait('nobody is held for it', lambda: not held(c))
    contains(' '.join(e['text'] for e in c.journal() if e['what'] == 'trial.end'), 'person took it back', 'why')
    holds('the drain stays, and the other one is in service', 3,
          lambda: is_drained(l, 'c1') and l.reason('c1').startswith('bad DIMM') and not is_drained(l, 'c2'))
    for n in l.nodes:
        let_end(world, n)


def test_kill_9_in_a_trial_leaves_no_drain(world):
    l, c, _ = lab_of_trials(world, ['c1', 'c2'])
    go(c)
    for n in l.nodes:
        wait(f'it runs on {n}', lambda n=n: ran(world, n))
    c.process.kill()
    c.write(MaxTrials=0)
    c.start()
    for n in l.nodes:
        wait_released(l, n)
    c.wait_nodes('they are back', l.nodes, Lifecycle='available', Schedulable=True)
    equal(held(c), [], 'who is held')


def test_partners_of_one_that_is_examined_are_drained_and_given_back_also_after_kill_9(world):
    """The examined one is in its reservation alone; a controller that is killed in mid-run leaves nobody drained."""
    os.chmod(world.write('plugin', PLUGIN.format(world.dir)), 0o755)
    for n in ('c1', 'c2', 'c3', 'c4'):
        world.write(f'{n}.wait', '')
    pair = CHECK.format(world.dir).replace('burn', 'pair').replace('scheduled', 'extensive').replace('30d', '1d Group=2')
    mounts = MOUNT.format(world.dir, world.dir).replace('Needs=nothing', 'Needs=idle')
    l, c, _ = slurm_ward(world, nodes=5, checks=CHECKS + pair, MaxTrials=100, remedy=(
        f'Remedy=mount.scratch {mounts} Confidence=80% Because="it is only not mounted" Takes=5s Disturbs=0'))
    job = submit(l, 'c5')
    wait_job(l, job, 'RUNNING')
    c.wait_nodes('it works', ['c5'], State='BUSY')
    unmount(world, 'c1')
    wait('it runs on all of them', lambda: all(ran(world, n) for n in ('c1', 'c2', 'c3', 'c4')))
    equal((l.reservations(), is_drained(l, 'c1')), ([f'suspicious-node-c1.{owner(c)}'], False), 'the examined one')
    for n in ('c2', 'c3', 'c4'):
        equal(is_drained(l, n), True, f'{n} is drained in Slurm while it runs')
        contains(l.reason(n), 'trial by fettled: check pair, to examine c1', 'what Slurm shows')
    c.process.kill()
    c.write(MaxTrials=0)
    c.start()
    wait('the partners are given back', lambda: not any(is_drained(l, n) for n in l.nodes))
    equal((held(c), step(c, 'c1'), l.reservations()), ([], 'examine', [f'suspicious-node-c1.{owner(c)}']), 'who is held')
    for n in ('c1', 'c2', 'c3', 'c4'):
        let_end(world, n)
    go(c)
    wait('it is examined and mended', lambda: (repair(c, 'c1') or {}).get('attempts'), 90)
    for n in l.nodes[:4]:
        wait_released(l, n)
    c.wait_nodes('they are back', l.nodes[:4], Lifecycle='available', Schedulable=True)
    equal((incidents(c, 'c1'), held(c), calls(world, 'NodeName=c5', 'DRAIN')), ([], [], []), 'what is left')


main()
