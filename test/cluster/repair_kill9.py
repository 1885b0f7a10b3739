# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the controller at every step of a repair, and of the agent while it carries something out: each
effect comes to pass once, nothing is left over in Slurm, and the node is back."""
import http.client
import os
import random
import re
import time

from harness import Failed, check, equal, holds, main, wait
from slurm_ward import began, calls, is_drained, let_exam_end, slurm_ward
from ward import mount, repair, step, unmount, wait_step

# Counts how often it was done, and waits as long as it is to.
MEND = """#!/bin/sh
echo $FETTLE_NODE >> {0}/mended
while test -e {0}/hold; do sleep 0.05; done
cp {0}/$FETTLE_NODE.mounted {0}/$FETTLE_NODE/proc/self/mountinfo
echo mounted
"""
REMEDY = ('Remedy=mend Run=node:{}/mend Helps=scratch Needs=idle Confidence=80% Tries=1 Because="it is only not '
          'mounted" Takes=5s Deadline=2m Disturbs=0')
# The writes into Slurm of one repair with an extensive stage before and after the remedy.
ONCE = {'State=DRAIN': 3, 'State=UNDRAIN': 3, 'create reservation': 2, 'delete Res': 2}
# The same when every check passed after the last stage before that stage's drain could be written.
ONCE_QUICKLY = {**ONCE, 'State=DRAIN': 2, 'State=UNDRAIN': 2}
RANDOM_S = 25


def clinic(world, nodes=1, exam=True):
    os.chmod(world.write('mend', MEND.format(world.dir)), 0o755)
    l, c, agents = slurm_ward(world, nodes, remedy=REMEDY.format(world.dir), exam=exam)
    if exam:
        let_exam_end(world)
    return l, c, agents


def mended(world, node='c1'):
    try:
        with open(world.path('mended'), encoding='utf-8') as f:
            return f.read().split().count(node)
    except FileNotFoundError:
        return 0


def is_back(l, c, node):
    n = c.node(node)
    return (n['Lifecycle'], n['Health'], n['Claims']) == ('available', 'ok', 0) and (repair(c, node) or {}).get(
        'attempts') and not is_drained(l, node) and not any(
            r.startswith(f'suspicious-node-{node}.') for r in l.reservations())


def again(c, agents):
    """It is killed and goes on. Agents would come back ever later, so those with nothing under way begin anew."""
    c.process.kill()
    c.start()
    for agent in agents.values():
        wait('nothing is under way', lambda a=agent: not operates(a))
        agent.process.stop()
        agent.start()


def operates(agent):
    told = re.findall(r'operation (\S+): (done|failed|refused|unknown)?', agent.process.log())
    return bool(told) and not told[-1][1]


def check_once(world, l, c, nodes=('c1',)):
    for n in nodes:
        equal(mended(world, n), 1, f'how often {n} was mended')
        equal([a['done'] for a in repair(c, n)['attempts']], [True], f'attempts on {n}')
    equal(l.reservations(), [], 'reservations')
    check(not any(is_drained(l, n) for n in nodes), 'a drain is left')
    equal(c.log_lines('overridden'), [], 'what was taken for a person')


def test_it_is_killed_after_every_commit(world):
    l, c, agents = clinic(world)
    unmount(world, 'c1')
    revision, kills = c.status()['revision'], 0
    while True:
        wait('something is recorded', lambda: c.status()['revision'] > revision or is_back(l, c, 'c1'))
        if c.status()['revision'] == revision:
            break  # it is back, and there is nothing more to be done
        again(c, agents)
        kills += 1
        revision = c.status()['revision']
        check(kills < 200, f'{kills} kills, and it is still at {step(c, "c1")}')
    wait('it stays', lambda: is_back(l, c, 'c1'))
    check_once(world, l, c)
    equal(began(world), 2, 'how often it was examined')
    print(f'{kills} kills')


# In place of the usual modes: the controller is killed right before each write, which is not done, and, when it
# tries again, right after it.
DEADLY = """#!/bin/sh
case "$*" in
*show*) ;;
*) if test -e {0}/before; then
       rm {0}/before
       {0}/scontrol "$@"
       kill -9 $PPID
   else
       touch {0}/before
       kill -9 $PPID
   fi
   echo >> {0}/kills
   exit 0 ;;
esac
exec {0}/scontrol "$@"
"""


def came_back(l, c):
    """The same of a controller that may be killed just now."""
    try:
        return is_back(l, c, 'c1')
    except (Failed, OSError, http.client.HTTPException):
        return False


def test_it_is_killed_before_and_after_every_write(world):
    l, c, _ = clinic(world)
    home = world.path('scontrol')
    os.chmod(world.write('scontrol/deadly', DEADLY.format(home)), 0o755)
    c.write(SlurmScontrol=f'{home}/deadly')
    c.fettle('reload')
    c.process.wanted = False  # to be running
    unmount(world, 'c1')
    until = time.monotonic() + 120
    while not came_back(l, c):
        if c.process.status() is not None:
            equal(c.process.status(), -9, 'how it ended')
            c.launch()
            c.process.wanted = False
        check(time.monotonic() < until, 'it is not back')
        time.sleep(0.05)
    check_once(world, l, c)
    written = {w: len(calls(world, w)) for w in ONCE}
    check(written in (ONCE, ONCE_QUICKLY), f'what was written into Slurm: {written}')
    with open(f'{home}/kills', encoding='utf-8') as f:
        equal(len(f.readlines()), 2 * sum(written.values()), 'kills')
    c.process.wanted = True


def see_to(world, c, node, unknown):
    """An agent that began an operation right before its end cannot report the outcome: a person decides."""
    r = repair(c, node) or {}
    if r.get('step') == 'queue' and r['attempts'] and not r['attempts'][-1]['done']:
        unknown.add(node)
        mount(world, node)
        c.fettle('queue', 'resolve', node, '--reason', 'it is mounted')
    return False


def test_it_is_killed_at_random(world):
    nodes = 4
    l, c, agents = clinic(world, nodes)
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    print(f'seed {seed}')
    ill, kills, until = list(l.nodes), 0, time.monotonic() + RANDOM_S
    while time.monotonic() < until:
        if ill and chance.random() < 0.5:
            unmount(world, ill.pop())
        time.sleep(chance.uniform(0.05, 1.6))  # the instant of the kill is what is random here
        again(c, agents)
        kills += 1
    for n in ill:
        unmount(world, n)
    unknown = set()
    wait('all are back', lambda: all(is_back(l, c, n) or see_to(world, c, n, unknown) for n in l.nodes), 120)
    check_once(world, l, c, [n for n in l.nodes if n not in unknown])
    print(f'{kills} kills')


def operation_runs(world, c):
    """The remedy is under way, and waits."""
    unmount(world, 'c1')
    wait('it is being mended', lambda: mended(world))
    wait('that is recorded', lambda: step(c, 'c1') == 'remedy' and repair(c, 'c1')['operation'])


def test_an_operation_that_ends_while_the_controller_is_away_is_known(world):
    hold = world.write('hold', '')
    l, c, _ = clinic(world, exam=False)
    operation_runs(world, c)
    c.process.kill()
    os.remove(hold)
    c.start()
    wait('it is back', lambda: is_back(l, c, 'c1'))
    check_once(world, l, c)


def goes_on(world, l, c, hold):
    """An operation goes on without its agent: nothing else is done meanwhile, and the next agent reports the outcome."""
    holds('it is waited for', 3, lambda: mended(world) == 1 and step(c, 'c1') == 'remedy')
    os.remove(hold)
    wait('it is back', lambda: is_back(l, c, 'c1'))
    check_once(world, l, c)
    check('mounted' in repair(c, 'c1')['attempts'][-1]['text'], f'it is said: {repair(c, "c1")["attempts"]}')


def test_an_agent_that_is_killed_meanwhile_waits_for_what_it_began(world):
    hold = world.write('hold', '')
    l, c, agents = clinic(world, exam=False)
    operation_runs(world, c)
    agents['c1'].process.kill()
    agents['c1'].start()
    goes_on(world, l, c, hold)


def test_both_are_killed_meanwhile_and_nothing_is_repeated(world):
    hold = world.write('hold', '')
    l, c, agents = clinic(world, exam=False)
    operation_runs(world, c)
    c.process.kill()
    agents['c1'].process.kill()
    agents['c1'].start()
    c.start()
    goes_on(world, l, c, hold)


def test_an_operation_that_ends_while_both_are_away_is_known(world):
    hold = world.write('hold', '')
    l, c, agents = clinic(world, exam=False)
    operation_runs(world, c)
    c.process.kill()
    agents['c1'].process.kill()
    os.remove(hold)
    wait('it is mounted', lambda: 'scratch' in open(world.path('c1/proc/self/mountinfo'), encoding='utf-8').read())
    agents['c1'].start()
    c.start()
    wait('it is back', lambda: is_back(l, c, 'c1'))
    check_once(world, l, c)


main()
