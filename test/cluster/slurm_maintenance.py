# SPDX-License-Identifier: Apache-2.0
"""Maintenance that people keep in Slurm: while a node lies in an active reservation with the flag MAINT, Fettle keeps
its hands off; what it cannot read changes nothing."""
from fleet import entries
from harness import check, contains, equal, holds, main, wait
from slurm_ward import (began, calls, is_drained, let_exam_end, owner, set_mode, slurm_ward, token, wait_drained)
from ward import incidents, mount, repair, step, unmount, wait_health, wait_step


def reserve(l, name, nodes, start='now', flags='MAINT,IGNORE_JOBS'):
    l.scontrol('create', 'reservation', f'ReservationName={name}', f'StartTime={start}', 'Duration=60', 'Users=root',
               f'Nodes={nodes}', f'Flags={flags}')


def maintenance(c, node):
    return c.node(node)['Maintenance']


def wait_maintenance(c, node, words):
    wait(f'{node} is in maintenance: {words!r}', lambda: maintenance(c, node) == words)


def test_hands_off_while_it_lasts(world):
    l, c, _ = slurm_ward(world, nodes=3)
    reserve(l, 'later', 'c3', start='now+3hours')
    reserve(l, 'team', 'c3', flags='IGNORE_JOBS')
    l.scontrol('create', 'reservation', 'ReservationName=any', 'StartTime=now', 'Duration=60', 'Users=root', 'NodeCnt=1',
               'PartitionName=all')  # which has no flag at all
    reserve(l, 'fans', 'c[1-2]')
    for n in ('c1', 'c2'):
        wait_maintenance(c, n, 'Slurm: reservation fans')
    equal(maintenance(c, 'c3'), '', 'of one that is reserved for something else')
    check(all('reservation fans' in e['text'] and 'c3' not in e['nodes'] for e in entries(c, 'node.maintenance')),
          'the journal')
    c.fettle('node', 'drain', 'c2', '--reason', 'mine, Ann')  # a person may
    wait('it is drained', lambda: is_drained(l, 'c2'))
    unmount(world, 'c1')
    wait('what is wrong is recorded', lambda: incidents(c, 'c1'))
    holds('nothing follows from it', 4, lambda: step(c, 'c1') == 'none' and not is_drained(l, 'c1'))
    contains(c.fettle('remedy', 'explain', 'c1'), "in maintenance: Slurm's reservation fans", 'the explanation')
    contains(c.node('c1')['Why'], "in maintenance: Slurm's reservation fans", 'why no work is placed on it')
    for mode in ('odd', 'fails', 'nothing', 'half', 'noise'):  # of which nothing follows
        set_mode(world, mode)
        wait('it is noticed', lambda mode=mode: c.log_lines('alarm.slurm' if mode != 'odd' else 'is not understood'))
        holds(f'scontrol {mode}', 3, lambda: maintenance(c, 'c1') and step(c, 'c1') == 'none')
    c.restart()  # and nobody has read it
    c.wait_nodes('they are heard', ['c1', 'c2'], Liveness='live')
    holds('it is remembered', 3, lambda: maintenance(c, 'c1') and step(c, 'c1') == 'none')
    set_mode(world, 'fine')
    l.scontrol('delete', 'ReservationName=fans')
    reason = wait_drained(l, 'c1')  # what is wrong is Fettle's again
    check(token(c, repair(c, 'c1')['id']) in reason, reason)
    wait_maintenance(c, 'c1', '')
    wait_maintenance(c, 'c2', '')
    check(is_drained(l, 'c2'), "a person's drain")
    equal(len(calls(world, 'update', 'c1')), 1, 'what was written of c1')


def test_an_examination_ends_and_begins_anew(world):
    l, c, _ = slurm_ward(world, exam=True)
    c.fettle('repair', 'move', 'maintenance', 'c2', '--reason', 'new fan')  # of which a person says when it is over
    wait_step(c, 'c2', 'queue')
    unmount(world, 'c1')
    wait('it is examined', lambda: began(world))
    wait('it is reserved', lambda: l.reservations() == [f'suspicious-node-c1.{owner(c)}'])
    check(not maintenance(c, 'c1'), 'our own reservation')
    reserve(l, 'fans', 'c[1-2]')
    wait_step(c, 'c1', 'isolate')
    wait('it is cleaned up', lambda: l.reservations() == ['fans'] and is_drained(l, 'c1'))
    wait('what ran has ended', lambda: not world_runs(world))
    contains(repair(c, 'c1')['why'], "maintenance: Slurm's reservation fans", 'why')
    wait_maintenance(c, 'c2', 'root: new fan; Slurm: reservation fans')
    mount(world, 'c1')
    wait_health(c, ['c1'], 'ok')
    holds('it waits', 4, lambda: step(c, 'c1') == 'isolate' and began(world) == 1)
    l.scontrol('delete', 'ReservationName=fans')
    wait('it is examined', lambda: began(world) == 2)
    let_exam_end(world)
    c.wait_nodes('it is back', ['c1'], Lifecycle='available', Schedulable=True)
    wait('nothing is left in Slurm', lambda: not l.reservations() and not is_drained(l, 'c1'))
    wait_maintenance(c, 'c2', 'root: new fan')  # c1 was read on its own before it was acted on; c2 waits for the next reading
    equal(step(c, 'c2'), 'queue', "a person's maintenance")
    equal(c.log_lines('overridden'), [], 'what was taken for a person')


def world_runs(world):
    """Whether the extensive check runs somewhere."""
    return world.run(['pgrep', '-f', world.path('exam')])[0] == 0


def test_a_drain_that_is_decided_meanwhile_waits(world):
    """The claim and the reservation come at the same time: Slurm has the last word."""
    l, c, _ = slurm_ward(world, SlurmInterval='60s')
    reserve(l, 'fans', 'c1')  # nobody has read it
    unmount(world, 'c1')
    wait_step(c, 'c1', 'isolate')
    holds('it is not drained', 4, lambda: not is_drained(l, 'c1'))
    wait_maintenance(c, 'c1', 'Slurm: reservation fans')
    equal(calls(world, 'update'), [], 'what was written')
    c.write(SlurmInterval='1s')
    c.fettle('reload')
    l.scontrol('delete', 'ReservationName=fans')
    wait_drained(l, 'c1')
    wait_step(c, 'c1', 'queue')


main()
