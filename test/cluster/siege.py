# SPDX-License-Identifier: Apache-2.0
"""All attacks at once against one controller with healthy players, beside a person's commands: nothing is judged
wrongly, each command is answered, and the controller's memory and descriptors return to what they were.

usage: siege.py [SECONDS]      with SECONDS a thousand players at 1 Hz, and each command within a second"""
import itertools
import os
import re
import sys
import time

import attacks
from harness import SANITIZED, Agent, Controller, check, equal, main, need_root, swarm, wait

LONG = len(sys.argv) == 2 and sys.argv[1].isdigit()
SECONDS = int(sys.argv.pop()) if LONG else 120
PLAYERS = 1000 if LONG else 100
ANSWERED_S = 1 if LONG else 10
GROWTH_KIB_MAX = (128 if SANITIZED else 64) << 10
PACE = ({'HeartBeatInterval': '1s', 'LateAfter': '5s', 'HeartBeatTimeout': '10s'} if LONG else
        {'HeartBeatInterval': '5s', 'LateAfter': '90s', 'HeartBeatTimeout': '180s'})
# The checks of the node whose results flip; no other node runs them.
CHECKS = ''.join(f'Check=check{i} Probe=fs.mounted Path=/scratch{i} Every=1s Fails=1 Passes=1 Nodes=e3\n' for i in range(7))
COMMITS_AT_ONCE, COMMIT_S = 20, 6  # of what comes and goes on one node
VICTIM, DRAINED = 'n0000', 'n0002'

COMMANDS = (('brake', 'stop', '--reason', 'a siege'), ('node', 'list', DRAINED), ('node', 'drain', DRAINED, '--reason', 'a siege'),
            ('brake', 'list'), ('node', 'undrain', DRAINED), ('brake', 'release', 'stop', '--reason', 'it goes on'), ('status',))


def open_files(c):
    return len(os.listdir(f'/proc/{c.process.pid}/fd'))


def command(c, words):
    """How long it took; it must not have been refused."""
    began = time.monotonic()
    status, out, err = c.fettle_run(*words)
    equal(status, 0, f'fettle {" ".join(words)}: {out}{err}: the exit status')
    return time.monotonic() - began


def wrongly_judged(c):
    """The log's lines about players that were late, silent or drained, except the one that a person drained."""
    judged = re.compile(r' (?:node\.(?:late|silent|lost|drained)|repair\.\w+|incident\.\w+) n')
    return [line for line in c.log_lines(' node.', ' repair.', ' incident.') if judged.search(line) and ' node.drained ' + DRAINED not in line]


def under_way(a):
    waited_for = [name for name, rounds in a.rounds().items() if not rounds]
    check(not waited_for, f'not yet: {waited_for}')
    return True


def test_siege(world):
    need_root()
    attacks.many_files()
    if SANITIZED:
        world.env['ASAN_OPTIONS'] = 'quarantine_size_mb=8'  # or memory that was freed looks like memory that is held
    healthy = f'n[0001-{PLAYERS:04}]'
    c = Controller(world, f'Name={VICTIM}\nName={healthy}\n{attacks.NODES}', CollectorNodes='k2', Health='act',
                   CheckConf=world.write('checks.conf', CHECKS), **PACE)
    names = [VICTIM] + [f'n{i:04}' for i in range(1, PLAYERS + 1)]
    victim = Agent(world, c, VICTIM)
    swarm(world, c, healthy, within='5s')
    c.wait_nodes('the players are heard', names, Liveness='live', State='IDLE', within=180)
    a = attacks.Attacks(world, c, victim, healthy)
    for words in COMMANDS:
        command(c, words)
    files, memory = open_files(c), c.process.memory_kb()
    for name in a.ALL:
        a.begin(name, nice=10)
    world.releases.append(a.end)
    wait('every attack is under way', lambda: under_way(a), 60)

    until, longest, answered = time.monotonic() + SECONDS, 0, 0
    for words in itertools.cycle(COMMANDS):
        took = command(c, words)
        check(took < ANSWERED_S, f'fettle {" ".join(words)} took {took:.1f} s')
        longest, answered = max(longest, took), answered + 1
        if time.monotonic() > until:
            break
        time.sleep(0.5)
    largest = c.process.memory_kb()
    c.fettle('brake', 'release', 'stop', '--reason', 'it is over')
    a.end()

    wait('the crowds are forgotten', lambda: open_files(c) < files + 50)
    equal(wrongly_judged(c), [], 'what was judged wrongly')
    c.fettle_run('node', 'undrain', DRAINED)
    c.wait_nodes('the players are in service', names, Liveness='live', State='IDLE')
    entries = [e for e in c.journal() if e.get('nodes') == 'e3']
    most = 4 * (COMMITS_AT_ONCE + (SECONDS + 120) // COMMIT_S)
    check(len(entries) < most, f'{len(entries)} entries of the journal are about the node whose checks flip, and {most} are too many')
    wait('memory is what it was', lambda: c.process.memory_kb() < memory + GROWTH_KIB_MAX)
    print(f'{answered} commands, the longest {longest * 1000:.0f} ms; memory {memory} KiB before, {largest} at the end, '
          f'{c.process.memory_kb()} after it; {len(c.log().splitlines())} lines of the log; rounds: {a.rounds()}', flush=True)


main()
