# SPDX-License-Identifier: Apache-2.0
"""The extensive stage: what is no pass, what its deadline ends, what a maintenance breaks off."""
import contextlib
import os

from harness import check, contains, equal, holds, main, wait
from ward import CHECKS, repair, step, steps, unmount, wait_step, ward

MEND = 'Remedy=mend MOUNT Confidence=90% Because="it is there" Takes=1s Disturbs=0'
EXAM = 'Check=exam Probe=plugin Run={} When=extensive Deadline=60s\n'
# Leaves a child behind, and ends with the result that it is told, or never.
SCRIPT = """#!/bin/sh
echo $$ >>{0}/$FETTLE_NODE.pids
sleep 3600 >/dev/null &
echo $! >>{0}/$FETTLE_NODE.pids
while ! test -e {0}/exam.go; do sleep 0.05; done
exit 0
"""


def exam_ward(world, names, checks='', **settings):
    script = world.write('exam', SCRIPT.format(world.dir))
    os.chmod(script, 0o755)
    return ward(world, names, checks=CHECKS + (checks or EXAM.format(script)), remedy=MEND, SurgeNodes=1000,
                SharedNodes=1000, **settings)


def pids(world, node):
    with contextlib.suppress(FileNotFoundError), open(world.path(f'{node}.pids'), encoding='ascii') as f:
        return [int(pid) for pid in f.read().split()]
    return []


def examined(world, node):
    """How often the check was begun, and its child with it."""
    return len(pids(world, node)) // 2


def test_a_tool_that_is_not_there_is_no_pass(world):
    """Where another check did run, that one counts, and it is said which did not."""
    c, _ = exam_ward(world, ['n1', 'n2'], InconclusiveTries=2, checks=
                     'Check=hpl Probe=plugin Run=/nonexistent/hpl-test When=extensive Deadline=5s\n'
                     'Check=other Probe=plugin Run=/bin/true When=extensive Deadline=5s Nodes=n2\n')
    for n in ('n1', 'n2'):
        unmount(world, n)
    wait_step(c, 'n1', 'queue')
    r = repair(c, 'n1')
    equal((r['examined'], r['attempts']), ('inconclusive', []), 'what it came to')
    contains(r['why'], 'hpl came to no answer: exit status 127, no such program', 'why')
    c.wait_nodes('it is back', ['n2'], Lifecycle='available', Health='ok')
    contains(' '.join(steps(c, 'n2')), 'hpl did not run', 'its steps')


def test_a_class_without_examination_is_doubted(world):
    c, _ = ward(world, ['n1'])
    contains(c.log(), 'class "default" has no check with When=extensive', 'the log')
    c.write(CheckConf=world.write('more.conf', CHECKS + EXAM.format('/bin/true')), ExamineDeadline='30s')
    c.fettle('reload')
    wait('it is said', lambda: c.log_lines('check "exam" is one of class "default" that may take 1m00s together, and '
                                           'ExamineDeadline is 30s'))


def test_the_deadline_ends_what_runs(world):
    c, _ = exam_ward(world, ['n1'], InconclusiveTries=1, ExamineDeadline='3s')
    unmount(world, 'n1')
    wait('it is examined', lambda: examined(world, 'n1') == 1)
    wait_step(c, 'n1', 'queue')
    contains(repair(c, 'n1')['why'], 'it was not examined in time: exam ran for ', 'why')
    wait('nothing of it is left', lambda: not [p for p in pids(world, 'n1') if os.path.exists(f'/proc/{p}')])
    equal(examined(world, 'n1'), 1, 'how often it was examined')


def test_an_examination_that_a_maintenance_broke_off_is_made_up(world):
    c, _ = exam_ward(world, ['n1'])
    unmount(world, 'n1')
    wait('it is examined', lambda: examined(world, 'n1') == 1)
    c.fettle('repair', 'move', 'maintenance', 'n1', '--reason', 'a cable')
    wait_step(c, 'n1', 'queue')
    equal(repair(c, 'n1')['examined'], 'owed', 'what is known')
    wait('nothing of it is left', lambda: not [p for p in pids(world, 'n1') if os.path.exists(f'/proc/{p}')])
    c.fettle('repair', 'move', 'maintenance_over', 'n1', '--reason', 'plugged in')
    world.run(['cp', world.path('n1.mounted'), world.path('n1/proc/self/mountinfo')])
    c.wait_nodes('it is well', ['n1'], Health='ok')
    c.fettle('queue', 'resolve', 'n1', '--reason', 'plugged in')
    wait('it is examined again', lambda: examined(world, 'n1') == 2)
    holds('it is not back', 1, lambda: step(c, 'n1') == 'examine')
    world.write('exam.go', '')
    c.wait_nodes('it is back', ['n1'], Lifecycle='available', Health='ok')
    check('the examination that was broken off is made up' in ' '.join(steps(c, 'n1')), lambda: str(steps(c, 'n1')))


main()
